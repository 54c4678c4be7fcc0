"""The endpoint of each verb: reads the call, makes it on a thread for its caller, and answers in JSON.

One maker for all of them. What is special about a verb is told in small tables here: who has pages, who waits for
long, whose version travels as an ETag.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import anyio
from starlette.requests import Request
from starlette.responses import Response

from mnemic.api import Memory
from mnemic.api.threads import Threads
from mnemic.errors import InputError, MnemicError
from mnemic.model.caller import Caller
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.shells.http import adding, bodies
from mnemic.shells.http.arguments import from_json, from_texts, takes_several
from mnemic.shells.http.draining import Draining
from mnemic.shells.http.files import file_reply
from mnemic.shells.http.forms import form_of
from mnemic.shells.http.repeating import carried_out_once, refuse_once
from mnemic.shells.http.streaming import EventStream, LineStream, until_left
from mnemic.shells.http.telling import MethodError
from mnemic.shells.http.uploads import lines_of, taken_in
from mnemic.shells.http.verbs import ADDS_FILES, Verb
from mnemic.wire.forms import FORM, FormLimits
from mnemic.wire.values import plain

WRITTEN: Final = frozenset({"ask_stream", "chat_stream"})
"""Streams that a model writes: their first piece is awaited for a moment, so that a refusal still has a status."""

LONGEST: Final = 600.0
"""Seconds that a call may wait for work, whatever it asks for; the work goes on, and can be waited for again."""

_ETAG: Final = re.compile(r'"([0-9]{1,9})"')
_BATCH: Final = 64_000  # characters of lines that are sent at once

Endpoint = Callable[[Request], Awaitable[Response]]


class Calls:
    """Makes endpoints."""

    def __init__(self, memory: Memory, threads: Threads, draining: Draining, limits: FormLimits) -> None:
        self._memory = memory
        self._threads = threads
        self._draining = draining
        self._limits = limits

    def endpoint(self, verb: Verb) -> Endpoint:
        """Return what answers calls of a verb."""
        if verb.route.streams:
            return self._events(verb)
        if verb.route.lines:
            return self._lines(verb)
        return self._answers(verb)

    def _answers(self, verb: Verb) -> Endpoint:
        async def answer(request: Request) -> Response:
            caller: Caller = request.state.caller
            if verb.route.verb == "load" and bodies.media_type(request) == bodies.LINES:
                return await self._load(verb, request, caller)
            if verb.route.verb == ADDS_FILES and bodies.media_type(request) == FORM:
                return await self._add_files(verb, request, caller)
            given = await self.given(verb, request, caller)
            do = await carried_out_once(self._memory, verb, request, lambda: self._reply(verb, given))
            if verb.may_wait and (verb.route.name == "wait" or given.get("wait") is True):
                return await self._waiting(do, request, caller)
            return await self._threads.call(do, who=caller)

        return answer

    def _reply(self, verb: Verb, given: dict[str, Any]) -> Response:
        """Make a call; return what tells its result."""
        if verb.route.verb == ADDS_FILES:
            given = adding.given_by_json(given, self._limits)
        value = verb.method(**given)
        if isinstance(value, bytes):
            return file_reply(self._memory, verb.route.verb, given, value)
        return reply(verb, given, value)

    async def _add_files(self, verb: Verb, request: Request, caller: Caller) -> Response:
        """Add the files of a form."""
        given = self._in_path(verb, request)
        if texts := bodies.query_texts(request):
            raise InputError(next(iter(texts))[:100], "stands in the query; put it into the form")
        async with form_of(request, self._threads, self._limits) as form:
            given |= adding.given_by_form(verb, form)
            if "user" not in given:
                given["user"] = user_of(caller)

            def add() -> Response:
                if len(form.files) > 1:
                    return adding.several(verb, given, form.files, self._limits)
                one = adding.one_of_form(given, form.files[0], self._limits)
                return reply(verb, one, verb.method(**one))

            do = await carried_out_once(self._memory, verb, request, add, body=form.told())
            if given.get("wait") is True:
                return await self._waiting(do, request, caller)
            return await self._threads.call(do, who=caller)

    async def _load(self, verb: Verb, request: Request, caller: Caller) -> Response:
        """Read an export that comes as lines; whose it is to be stands in the query."""
        request.state.route = verb.route.path
        refuse_once(verb, request)
        others = [each for each in verb.parameters if each.name != "lines"]
        given = from_texts(others, bodies.query_texts(request), verb.route.verb)
        if "user" not in given:
            given["user"] = user_of(caller)
        async with taken_in(request, self._threads) as file:

            def do() -> Response:
                return reply(verb, given, verb.method(lines_of(file), **given))

            return await self._threads.wait(do, who=caller)

    async def _waiting(self, do: Callable[[], Response], request: Request, caller: Caller) -> Response:
        """Make a call that waits for work; it ends early when the client leaves or the server shuts down."""
        left = threading.Event()
        found: list[Response] = []
        refused: list[MnemicError] = []

        async def wait(scope: anyio.CancelScope) -> None:
            try:
                found.append(await self._threads.wait(do, who=caller, left=left))
            except MnemicError as error:
                refused.append(error)
            scope.cancel()

        with self._draining.told(left.set):
            async with anyio.create_task_group() as group:
                group.start_soon(until_left, request.receive, left, anyio.CancelScope())
                group.start_soon(wait, group.cancel_scope)
        if refused:
            raise self._draining.refusal() if self._draining.begun else refused[0]
        return found[0]

    def _events(self, verb: Verb) -> Endpoint:
        async def stream(request: Request) -> Response:
            caller: Caller = request.state.caller
            refuse_once(verb, request)
            given = await self.given(verb, request, caller)
            left = threading.Event()
            pieces = await self._threads.pieces(lambda: verb.method(**given), who=caller, left=left)
            patient = verb.route.name in WRITTEN
            return EventStream(pieces, left=left, draining=self._draining, patient=patient)

        return stream

    def _lines(self, verb: Verb) -> Endpoint:
        async def stream(request: Request) -> Response:
            caller: Caller = request.state.caller
            given = await self.given(verb, request, caller)
            left = threading.Event()
            pieces = await self._threads.pieces(lambda: batches(verb.method(**given)), who=caller, left=left)
            first = await anext(pieces, b"")
            return LineStream(pieces, first=first, left=left, media_type=bodies.LINES)

        return stream

    async def given(self, verb: Verb, request: Request, caller: Caller) -> dict[str, Any]:
        """Return what a verb is called with. Raises `InputError` naming the field."""
        given = self._in_path(verb, request)
        others = [each for each in verb.parameters if each.place != "path"]
        if verb.route.in_query:
            texts = bodies.query_texts(request)
            _take_over(request, verb, texts)
            given |= from_texts(others, texts, verb.route.verb)
        else:
            texts = bodies.query_texts(request)
            if texts:
                raise InputError(next(iter(texts))[:100], "stands in the query; this call takes a JSON object")
            given |= from_json(others, await bodies.json_object(request), verb.route.verb)
        if verb.takes_user and "user" not in given:
            given["user"] = user_of(caller)
        _take_condition(request, verb, given)
        if verb.route.name == "wait":
            given["timeout"] = min(given.get("timeout", 60.0), LONGEST)
        return given

    def _in_path(self, verb: Verb, request: Request) -> dict[str, Any]:
        """Return what stands in the path; where several ids may, commas are between them."""
        request.state.route = verb.route.path
        in_path = [each for each in verb.parameters if each.place == "path"]
        texts = bodies.path_texts(request)
        for each in in_path:
            if takes_several(each):
                texts[each.name] = texts[each.name][0].split(",")
        return from_texts(in_path, texts, verb.route.verb)


def by_method_of(endpoints: Mapping[str, Endpoint]) -> Endpoint:
    """Return what answers all methods of a path. No HEAD: it would make a call and throw the answer away."""

    async def answer(request: Request) -> Response:
        endpoint = endpoints.get(request.method)
        if endpoint is None:
            raise MethodError(request.method, endpoints)
        return await endpoint(request)

    return answer


def user_of(caller: Caller) -> str:
    """Return the user that a call is for which names none. Raises `InputError`."""
    if caller.user is None:
        raise InputError("user", "is missing; say whose memory this is about")
    return caller.user


def reply(verb: Verb, given: Mapping[str, Any], value: Any) -> Response:
    """Return what tells a verb's result."""
    body = json.dumps(shaped(verb, given, value), allow_nan=False).encode("ascii")
    response = Response(body, verb.route.status, media_type=bodies.JSON)
    if verb.route.verb in ("get", "update") and isinstance(value, MemoryRecord):
        response.headers["ETag"] = f'"{value.current.number}"'
    return response


def shaped(verb: Verb, given: Mapping[str, Any], value: Any) -> Any:
    """Return a result as JSON: lists as `data`, with where the next page begins when there may be one."""
    told = plain(value)
    if not isinstance(told, list):
        return told
    if not verb.has_pages:
        return {"data": told}
    limit = given.get("limit", next((each.default for each in verb.parameters if each.name == "limit"), 0))
    mark = "position" if verb.counts_pages else "id"
    return {"data": told, "next": told[-1][mark] if told and len(told) >= limit else None}


def batches(lines: Iterator[str]) -> Iterator[bytes]:
    """Yield lines in batches, so that not each costs a change of threads."""
    held: list[str] = []
    size = 0
    try:
        for line in lines:
            held.append(line)
            size += len(line)
            if size > _BATCH:
                yield _encoded(held)
                held, size = [], 0
        if held:
            yield _encoded(held)
    finally:
        close = getattr(lines, "close", None)
        if close is not None:
            close()


def _encoded(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def _take_over(request: Request, verb: Verb, texts: dict[str, list[str]]) -> None:
    """Let a stream go on behind the event that its client has seen last."""
    last = request.headers.get("last-event-id")
    if last and any(each.name == "since" for each in verb.parameters):
        texts["since"] = [last]


def _take_condition(request: Request, verb: Verb, given: dict[str, Any]) -> None:
    """Let an update be made only of the version that its client has seen."""
    condition = request.headers.get("if-match")
    if condition is None or not any(each.name == "if_version" for each in verb.parameters):
        return
    if condition.strip() == "*":
        return
    found = _ETAG.fullmatch(condition.strip())
    if found is None:
        raise InputError("If-Match", 'needs the ETag of one version, such as "3", or *')
    if given.get("if_version") not in (None, int(found[1])):
        raise InputError("if_version", "says another version than the header If-Match")
    given["if_version"] = int(found[1])
