"""Server-sent events (WHATWG HTML, section 9.2.6), taken apart as the bytes come in.

Lines end with CR LF, LF or CR, and with nothing else: U+2028 and what else Python takes for the end of a line is
content. Comments are passed over. An event that is cut before its blank line never happened.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 64_000_000
"""Characters of one event at most: a server that never ends one is no server of ours."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name, its data, and the id of the last event that had one."""

    name: str
    data: str
    id: str = ""


class Events:
    """Takes bytes, gives events."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._began = False
        self._after_return = False
        self._line: list[str] = []
        self._size = 0
        self._name = ""
        self._data: list[str] = []
        self._id = ""

    @property
    def is_open(self) -> bool:
        """Whether an event has begun that has not ended."""
        return bool(self._line or self._data or self._name)

    def feed(self, data: bytes) -> Iterator[Event]:
        """Yield the events that some bytes complete. Raises `UnicodeDecodeError`, or `ValueError` for one too long."""
        text = self._decoder.decode(data)
        if text and not self._began:
            self._began = True
            text = text.removeprefix("\ufeff")
        for line in self._lines(text):
            if line:
                self._field(line)
            elif (event := self._event()) is not None:
                yield event

    def _lines(self, text: str) -> Iterator[str]:
        if self._after_return and text:
            self._after_return = False
            text = text.removeprefix("\n")  # the second half of a CR LF that was cut in two
        self._after_return = text.endswith("\r")
        *whole, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in whole:
            yield "".join((*self._line, line))
            self._line = []
        self._size += len(text)
        if self._size > LONGEST:
            raise ValueError(f"an event has more than {LONGEST:,} characters")
        if rest:
            self._line.append(rest)

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id" and "\0" not in value:
            self._id = value

    def _event(self) -> Event | None:
        name, data = self._name or "message", self._data
        self._name, self._data, self._size = "", [], 0
        return Event(name, "\n".join(data), self._id) if data else None
