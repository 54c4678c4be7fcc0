"""Reading a JSON array one element at a time: a file of gigabytes needs no more memory than its largest element.

The text is decoded element by element with the standard library; what is incomplete is tried again with twice the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, TextIO

from mnemic.errors import InputError

CHUNK: Final = 1 << 20
"""Characters read at a time, at first."""

_SPACE: Final = " \t\r\n"
_TAIL: Final = 32
"""Characters from the end of the text within which a fault may be a cut and not a fault."""


def elements(file: TextIO, field: str, *, chunk: int = CHUNK) -> Iterator[Any]:
    """Yield the elements of the array in a text file. Raises `InputError` for anything but one whole array."""
    text = _Text(file, chunk)
    if text.next_mark() != "[":
        raise InputError(field, "is not a JSON array")
    text.take(1)
    if text.next_mark() == "]":
        return
    number = 0
    while True:
        yield text.value(f"{field}[{number}]")
        number += 1
        mark = text.next_mark()
        text.take(1)
        if mark == "]":
            return
        if mark != ",":
            raise InputError(f"{field}[{number}]", "the file ends here, or is no JSON from here on")


class _Text:
    """The part of the file that is at hand; it grows when asked for more and drops what was taken."""

    def __init__(self, file: TextIO, chunk: int) -> None:
        self._file = file
        self._chunk = chunk
        self._text = ""
        self._at = 0
        self._ended = False
        self._decoder = json.JSONDecoder()

    def next_mark(self) -> str:
        """Return the next character that is no white space, without taking it; nothing at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._more(self._chunk)

    def take(self, count: int) -> None:
        """Drop characters."""
        self._at += count

    def value(self, field: str) -> Any:
        """Return the next value, taking it."""
        self.next_mark()
        size = self._chunk
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended or not self._may_be_cut(error):
                    raise InputError(field, f"is not JSON: {error.msg}") from error
            else:
                if end < len(self._text) or self._ended:  # a number at the very end may go on
                    self._at = end
                    return value
            self._more(size)
            size = len(self._text)  # twice the text: all attempts together cost twice the last

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _TAIL

    def _more(self, size: int) -> None:
        read = self._file.read(size)
        self._ended = not read
        self._text = self._text[self._at :] + read
        self._at = 0
