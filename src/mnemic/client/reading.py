"""From a reply to a value or an error, and from the pieces of a stream to what they stand for.

What is none of Mnemic's answers is never taken for one: it becomes an `UnreachableError` that says what came.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, get_origin

from mnemic.client.asking import Ask
from mnemic.client.events import Event, Events
from mnemic.errors import BusyError, InputError, MnemicError, RateError, UnreachableError
from mnemic.model.answer import Answer
from mnemic.model.item import Item
from mnemic.model.job import Job
from mnemic.wire.problems import MEDIA_TYPE, error_of
from mnemic.wire.values import ShapeError, read

_KINDS: Final[Mapping[str, Any]] = {"answer": Answer, "job": Job, "item": Item}
"""What the data of an event is, by the event's name. Events of other names are of a later version, and passed over."""

_SHOWN: Final = 100  # characters of a strange answer that an error shows
_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def kind(self) -> str:
        """The media type, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def value_of(kind: Any, reply: Reply) -> Any:
    """Return the value of a type that a reply brings. Raises the error that it tells, or `UnreachableError`."""
    if reply.status >= 300:
        raise refusal_of(reply)
    if kind is bytes:
        return reply.body
    found = _json(reply)
    if _is_list(kind):
        found = found.get("data", _MISSING) if isinstance(found, Mapping) else _MISSING
    if found is _MISSING:
        raise strange(reply, "it is no list")
    try:
        return read(kind, found)
    except ShapeError as error:
        raise strange(reply, str(error)) from error


def refusal_of(reply: Reply) -> MnemicError:
    """Return the error that a reply with a status of 300 or more stands for."""
    if reply.status < 400:
        place = reply.headers.get("location", "elsewhere")
        return UnreachableError(f"the server sends this call on to {place!r:.200}; give that address as `url`")
    if reply.kind != MEDIA_TYPE:
        return strange(reply, "it is no error that Mnemic tells")
    found = _json(reply)
    if not isinstance(found, Mapping):
        return strange(reply, "it is no error that Mnemic tells")
    return _with_time(error_of(found), reply)


def retry_after(reply: Reply) -> float | None:
    """Return how many seconds a server asks to wait, as RFC 9110 writes it in seconds; None when it does not."""
    told = reply.headers.get("retry-after", "").strip()
    return float(told) if told.isascii() and told.isdecimal() and len(told) < 10 else None


def strange(reply: Reply, why: str) -> UnreachableError:
    """Return the error for an answer that is none of Mnemic's."""
    try:
        phrase = HTTPStatus(reply.status).phrase
    except ValueError:
        phrase = "unknown status"
    shown = reply.body[: _SHOWN * 4].decode("utf-8", "replace")[:_SHOWN]
    told = f"the answer ({reply.status} {phrase}, {reply.kind or 'of no type'}) is none of Mnemic's: {why}"
    return UnreachableError(f"{told}; it begins {shown!r}", status=reply.status)


def _with_time(error: MnemicError, reply: Reply) -> MnemicError:
    """Return an error with the time to wait that the reply's header tells, when its fields tell none."""
    if isinstance(error, RateError | BusyError) and "retry_after" not in error.fields:
        after = retry_after(reply)
        if after is not None:
            error.fields["retry_after"] = after
    return error


def _json(reply: Reply) -> Any:
    if reply.kind != "application/json" and not reply.kind.endswith("+json"):
        raise strange(reply, "it is no JSON")
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError) as error:
        raise strange(reply, "it is no JSON that can be read") from error


def _is_list(kind: Any) -> bool:
    """Tell whether values of a type are lists, which travel as `data` of an object."""
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Sequence)


class Hearing:
    """Makes pieces of what a stream brings. An error comes as the last piece: who hears it raises it.

    `cursor` is where the stream can be gone on with, "" when nowhere.
    """

    def __init__(self, ask: Ask) -> None:
        self._endless = ask.route.verb in ("watch", "jobs.events") and "timeout=" not in ask.path
        self._needs_answer = ask.route.name in ("ask_stream", "chat_stream")
        self._lines = _Lines() if ask.route.lines else None
        self._events = Events()
        self._over = False
        self.cursor = ""

    def heard(self, data: bytes) -> list[Any]:
        """Return the pieces that some bytes complete."""
        if self._over:
            return []
        if self._lines is not None:
            return self._lines.split(data)
        found: list[Any] = []
        try:
            for event in self._events.feed(data):
                found += self._pieces(event)
        except UnicodeDecodeError:
            found.append(UnreachableError("the stream is no text in UTF-8: it is none of Mnemic's"))
        except (ValueError, RecursionError) as error:
            found.append(UnreachableError(f"the stream brought what is none of Mnemic's: {error!s:.200}"))
        return found

    def ended(self) -> MnemicError | None:
        """Return what is wrong with a stream that ends here; None when it is whole."""
        if self._over:
            return None
        if self._lines is not None:
            return UnreachableError("the lines broke off in the middle of one") if self._lines.rest else None
        if self._needs_answer or self._endless or self._events.is_open:
            return UnreachableError("the stream broke off before its end")
        return None

    def _pieces(self, event: Event) -> list[Any]:
        data = json.loads(event.data) if event.data else None
        if event.id:
            self.cursor = event.id
        if event.name == "error":
            self._over = True
            found = error_of(data) if isinstance(data, Mapping) else UnreachableError("the stream ended in an error")
            return [found]
        if event.name == "text":
            return [read(str, data.get("text") if isinstance(data, Mapping) else data, "text")]
        if event.name not in _KINDS:
            return []
        self._over = event.name == "answer"
        return [read(_KINDS[event.name], data, event.name)]


class _Lines:
    """Lines that end with a line feed and nothing else: U+2028 and its like are content."""

    def __init__(self) -> None:
        self.rest = b""

    def split(self, data: bytes) -> list[Any]:
        *whole, self.rest = (self.rest + data).split(b"\n")
        try:
            return [line.decode("utf-8", "surrogatepass") for line in whole]
        except UnicodeDecodeError:
            return [UnreachableError("the lines are no text in UTF-8: they are none of Mnemic's")]


def encoded(line: object) -> bytes:
    """Return a line of an export as it travels. Raises `InputError`."""
    if not isinstance(line, str):
        raise InputError("lines", f"needs lines of text, got {type(line).__name__}")
    return line.rstrip("\n").encode("utf-8", "surrogatepass") + b"\n"
