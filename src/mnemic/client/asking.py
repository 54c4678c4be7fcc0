"""From a verb and its arguments to a request: the path, the query, the body, and whether it may be made twice.

The table `mnemic.wire.routes` says where a verb is; nothing is sent here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote, urlencode

from mnemic.client.uploading import Body, form_of, name_of, with_bytes
from mnemic.errors import InputError
from mnemic.ids import check_id, new_id
from mnemic.model.caller import Power
from mnemic.model.job import Job, cursor_of
from mnemic.model.message import Message
from mnemic.wire.routes import BY_VERB, VERSION, Route
from mnemic.wire.values import plain

T = TypeVar("T")

PATIENT: Final = 10
"""So many times as long as others, a call may be silent that may wait for a language model or reads a whole cube."""

BETWEEN: Final = 45.0
"""Seconds that a stream may be silent at least: a server tells every 15 that it is still there."""

SLICE: Final = 300.0
"""Seconds of a wait that one request asks for; a longer wait is several."""

IDEMPOTENCY_KEY: Final = "Idempotency-Key"

_SLOW: Final = frozenset({
    "ask", "chat", "extract", "feedback", "reorganize", "rebuild", "llm.complete", "export", "load", "search_many",
    "knowledge.add", "knowledge.file", "knowledge.remove", "knowledge.delete",
})  # fmt: skip
_IDS: Final = frozenset(
    {"user", "cube", "session", "after", "task"}
)  # checked as a server would: it gets plain text only
_WORK: Final = frozenset({"rebuild", "knowledge.add", "knowledge.refresh"})  # work of up to an hour may be waited for
_COSTLY: Final = frozenset({"ask", "extract", "search_many"})  # reads that nobody wants to be made again in vain
_ONCE: Final = frozenset({"load", "chat_stream", "keys.create", "keys.rotate"})
"""Writes that are never made again by themselves: a body that is read once, and replies that no server keeps."""


class Gives(Generic[T]):
    """The type of what a verb gives, for a type checker and for who reads the reply: `Gives[Item]()`."""

    @property
    def kind(self) -> Any:
        """The type itself."""
        return self.__orig_class__.__args__[0]  # type: ignore[attr-defined]  # `typing` keeps it there


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that is to be made. `silence` is how many seconds the server may take before it says something.

    `again` tells that it may be made again though it may have been carried out: it only reads, or the server knows it
    again by its key. `late` tells that this holds when no answer came in time, too.
    """

    route: Route
    path: str
    headers: Mapping[str, str]
    silence: float
    body: bytes | None = None
    again: bool = False
    late: bool = False

    @property
    def may_have_changed(self) -> bool:
        """Whether something may be changed by it, as far as who asks can tell."""
        return self.route.power is not Power.READ


def ask_of(verb: str, given: Mapping[str, Any], *, user: str | None, timeout: float) -> Ask:
    """Return the request that a verb with these arguments is. Raises `InputError` for what cannot travel."""
    route = BY_VERB[verb]
    told = {name: value for name, value in given.items() if value is not None}
    if "user" in given and user is not None:
        told.setdefault("user", user)
    rest = {name: value for name, value in told.items() if name not in route.in_path and name != "lines"}
    path = VERSION + "/".join(_part(part, told) for part in route.path.split("/"))
    in_query = route.in_query or verb == "load"
    if in_query and (query := urlencode(list(_texts(rest)), quote_via=quote)):
        path += f"?{query}"
    reads = route.power is Power.READ
    headers = {"Accept": _accepted(route)}
    if not reads and verb not in _ONCE:
        headers[IDEMPOTENCY_KEY] = new_id()
    return Ask(
        route,
        path,
        headers if in_query else {**headers, "Content-Type": "application/json"},
        _silence(route, told, timeout),
        None if in_query else _encoded(_with_files(rest)),
        again=verb not in _ONCE,
        late=reads and verb not in _COSTLY,
    )


def sending_of(verb: str, given: Mapping[str, Any], *, user: str | None, timeout: float) -> tuple[Ask, Body]:
    """Return the request that sends the file `source` as a form, with what it brings. Raises `InputError`."""
    told = {name: value for name, value in given.items() if value is not None}
    source = told.pop("source")
    if told.get("text") is not None:
        raise InputError("text", "was given beside a source; give one of them")
    told.setdefault("name", name_of(source))
    if told["name"] is None and isinstance(source, bytes | bytearray | memoryview):
        raise InputError("name", "is needed for bytes: a document is known by its name")
    if user is not None:
        told.setdefault("user", user)
    route = BY_VERB[verb]
    fields = [(name, value) for name, value in told.items() if name not in route.in_path and value is not None]
    ask = ask_of(verb, {**told, "user": told.get("user")}, user=user, timeout=timeout)
    return replace(ask, body=None), form_of(source, _texts(dict(fields)))


def behind(ask: Ask, cursor: str) -> Ask:
    """Return the request that goes on where a stream was cut."""
    return replace(ask, headers={**ask.headers, "Last-Event-ID": cursor})


def slices(timeout: object) -> Iterator[tuple[Any, bool]]:
    """Yield the waits that a long wait is made of, and whether each is the last."""
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > SLICE:
        yield timeout, True  # also what is no time at all: the server says so
        return
    left = float(timeout)
    while left > SLICE:
        yield SLICE, False
        left -= SLICE
    yield left, True


def _accepted(route: Route) -> str:
    if route.streams:
        return "text/event-stream"
    if route.name == "file":
        return "*/*"
    return "application/x-ndjson" if route.lines else "application/json"


def _silence(route: Route, told: Mapping[str, Any], timeout: float) -> float:
    if route.streams:
        return max(timeout, BETWEEN)
    waits = told.get("timeout") if route.verb == "jobs.wait" else None
    if isinstance(waits, int | float) and not isinstance(waits, bool) and 0 < waits < math.inf:
        return timeout + waits
    if told.get("wait") is True:
        return timeout + (3_600 if route.verb in _WORK else PATIENT * timeout)
    return timeout * PATIENT if route.verb in _SLOW else timeout


def _part(part: str, told: Mapping[str, Any]) -> str:
    """Return a part of a path; an id is percent-encoded whole, its dots too, which addresses would take for folders."""
    if not part.startswith("{"):
        return part
    name, value = part[1:-1], told.get(part[1:-1])
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if not value:
            raise InputError(name, "is an empty list; leave it out for the default")
        value = ",".join(check_id(each, name) for each in value)
        return quote(value, safe="")
    text = check_id(value, name)
    return quote(text, safe="").replace(".", "%2E") if text.strip(".") == "" else quote(text, safe="")


def _texts(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        if isinstance(value, Sequence | AbstractSet) and not isinstance(value, str | bytes):
            if not value:
                raise InputError(name, "is an empty list; leave it out for the default")
            for each in value:
                yield name, _text(each, name)
        else:
            yield name, _text(value, name)


def _text(value: Any, name: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Job):
        return cursor_of(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return _encoded(value, name).decode("ascii")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(name, f"needs a number that is finite, got {value!r}")
    if not isinstance(value, str | int | float):
        raise InputError(name, f"cannot be sent: {type(value).__name__}")
    if isinstance(value, int) and value.bit_length() > 512:
        raise InputError(name, "is a number that is too large")
    text = check_id(value, name) if name in _IDS else str(value)
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise InputError(name, "holds a lone surrogate; it must be plain text here")
    return text


def _encoded(given: Mapping[str, Any], place: str = "") -> bytes:
    """Return arguments as a JSON object, in ASCII: lone surrogates travel, too."""
    try:
        return json.dumps(plain(_sent(given)), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise next(
            _unsendable(given, place), InputError(place or "body", f"cannot be sent as JSON: {error}")
        ) from error


def _with_files(given: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with the files that messages name, and those of the one message of a chat."""
    if "messages" in given:
        return {**given, "messages": with_bytes(given["messages"])}
    if isinstance(parts := given.get("message"), list | tuple):
        return {**given, "message": with_bytes({"content": parts})["content"]}
    return given


def _sent(value: Any) -> Any:
    """Return a value with its messages as objects that have only what they were given."""
    if isinstance(value, Message):
        return {name: inner for name, inner in _fields(value).items() if inner is not None}
    if isinstance(value, Job):
        return cursor_of(value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_sent(inner) for inner in value]
    if isinstance(value, Mapping):
        return {str(name): _sent(inner) for name, inner in value.items()}
    return value


def _fields(message: Message) -> dict[str, Any]:
    return {name: getattr(message, name) for name in Message.__slots__}


def _unsendable(value: Any, place: str) -> Iterator[InputError]:
    """Yield what keeps a value from being JSON, with its place, the first of it first."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _unsendable(inner, f"{place}.{name}" if place else str(name))
    elif isinstance(value, Sequence | AbstractSet) and not isinstance(value, str | bytes):
        for number, inner in enumerate(value):
            yield from _unsendable(inner, f"{place}[{number}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield InputError(place, f"{value!r} is no number that JSON can hold")
    elif not isinstance(value, str | int | float | datetime | None):
        yield InputError(place, f"JSON cannot hold a {type(value).__name__}")
