"""The line to a server for programs with an event loop; see `mnemic.client.line`, whose twin it is."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import anyio
import httpx2

from mnemic.client.address import Address
from mnemic.client.asking import Ask, Gives, ask_of, behind, sending_of, slices
from mnemic.client.line import PAGE, headers_of, options_of, read, timeout_of
from mnemic.client.reading import Hearing, encoded, value_of
from mnemic.client.retrying import Failure, refused, unanswered
from mnemic.client.uploading import Body, brings_files, is_file
from mnemic.errors import MnemicError, UnreachableError, WaitTimeoutError

T = TypeVar("T")

Lines = AsyncIterable[str] | Iterable[str]


class AsyncLine:
    """Carries calls to a server. It belongs to the event loop that uses it first."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.pause: Callable[[float], Awaitable[None]] = anyio.sleep
        self._http = httpx2.AsyncClient(**options_of(address))

    async def close(self) -> None:
        """Close the connections; streams that are open end."""
        await self._http.aclose()

    async def call(self, verb: str, gives: Gives[T], /, **given: Any) -> T:
        """Return what a verb gives."""
        if verb == "jobs.wait":
            return await self._waited(verb, gives, given)
        return await self._called(verb, gives, given)

    async def load(self, verb: str, gives: Gives[T], lines: Lines, /, **given: Any) -> T:
        """Return what a verb gives that takes lines: they are sent as they come."""
        body = Body(lambda: _sent(lines), "application/x-ndjson")
        found: T = value_of(gives.kind, read(await self.send(self._ask(verb, given), content=body)))
        return found

    async def upload(self, verb: str, gives: Gives[T], source: object, /, **given: Any) -> T:
        """Return what a verb gives that takes a file: it is sent as it is read, on a thread."""
        given["source"] = source
        if not is_file(source):
            return await self._called(verb, gives, given)
        do = partial(sending_of, verb, given, user=self.address.user, timeout=self.address.timeout)
        ask, body = await anyio.to_thread.run_sync(do)
        found: T = value_of(gives.kind, read(await self.send(ask, content=body)))
        return found

    async def pages(self, verb: str, gives: Gives[Sequence[T]], /, **given: Any) -> AsyncIterator[T]:
        """Yield all that a list gives, page by page."""
        page = {**given, "limit": PAGE}
        while found := await self._called(verb, gives, page):
            for each in found:
                yield each
            if len(found) < PAGE:
                return
            page["after"] = found[-1].id  # type: ignore[attr-defined]  # rows that come in pages have one

    def stream(self, verb: str, gives: Gives[T], /, **given: Any) -> AsyncStream[T]:
        """Return what comes piece by piece. The request is made with the first piece that is asked for."""
        del gives  # it is for the type checker: pieces say themselves what they are
        return AsyncStream(self, self._ask(verb, given))

    async def send(self, ask: Ask, *, stream: bool = False, content: Body | None = None) -> httpx2.Response:
        """Return the response to a request, after further tries if need be. Raises the error that it ends in."""
        tried = 0
        while True:
            failure: Failure
            try:
                response = await self._sent(ask, stream=stream, content=content)
            except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
                failure = unanswered(ask, self.address.url, error)
                failure.error.__cause__ = error
            else:
                if response.status_code < 300:
                    return response
                failure = refused(ask, read(response))
            pause = failure.pause(tried, self.address.retries if content is None or content.again else 0)
            if pause is None:
                raise failure.error
            await self.pause(pause)
            tried += 1

    async def _sent(self, ask: Ask, *, stream: bool, content: Body | None) -> httpx2.Response:
        if self._http.is_closed:
            raise UnreachableError("this client was closed; make another one")
        request = self._http.build_request(
            ask.route.method,
            self.address.url + ask.path,
            headers={**ask.headers, **({} if content is None else headers_of(content))},
            content=ask.body if content is None else _beside(content.pieces()),
            timeout=timeout_of(ask, self.address),
        )
        response = await self._http.send(request, stream=stream)
        if stream and response.status_code >= 300:
            await response.aread()
        return response

    def _ask(self, verb: str, given: dict[str, Any]) -> Ask:
        return ask_of(verb, given, user=self.address.user, timeout=self.address.timeout)

    async def _called(self, verb: str, gives: Gives[T], given: dict[str, Any]) -> T:
        ask = await anyio.to_thread.run_sync(self._ask, verb, given) if brings_files(given) else self._ask(verb, given)
        found: T = value_of(gives.kind, read(await self.send(ask)))
        return found

    async def _waited(self, verb: str, gives: Gives[T], given: dict[str, Any]) -> T:
        for timeout, is_last in slices(given.pop("timeout", None)):
            try:
                return await self._called(verb, gives, {**given, "timeout": timeout})
            except WaitTimeoutError:
                if is_last:
                    raise
        raise AssertionError("the last slice returns or raises")  # pragma: no cover


class AsyncStream(AsyncIterator[T]):
    """What comes piece by piece, until it ends or is closed; closing it ends the work behind it.

    Iterate over it, best in an `async with` block, which opens it and closes it however the block is left; without, it
    opens with the first piece that is asked for. A stream that breaks off raises: it never ends as if it were whole.
    Events of jobs go on where they were cut.
    """

    def __init__(self, line: AsyncLine, ask: Ask) -> None:
        self._line = line
        self._ask = ask
        self._next: Ask | None = ask  # what is still to be opened
        self._hearing = Hearing(ask)
        self._pieces: deque[Any] = deque()
        self._cuts = 0  # in a row, without a piece between them
        self._response: httpx2.Response | None = None

    async def __aenter__(self) -> Self:
        await self._opened()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def __anext__(self) -> T:
        try:
            while not self._pieces:
                await self._listen()
        except BaseException:
            await self.aclose()
            raise
        piece = self._pieces.popleft()
        if isinstance(piece, MnemicError):
            await self.aclose()
            raise piece
        self._cuts = 0
        return piece  # type: ignore[no-any-return]  # its event said what it is

    async def aclose(self) -> None:
        """End the stream."""
        self._pieces.clear()
        self._next = None
        response, self._response = self._response, None
        if response is not None:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def _opened(self) -> None:
        """Open it, unless it is open or over."""
        if self._next is not None:
            opening, self._next = self._next, None
            self._response = await self._line.send(opening, stream=True)
            self._chunks = self._response.aiter_bytes()

    async def _listen(self) -> None:
        """Hear the next bytes. Raises `StopAsyncIteration` at the end."""
        await self._opened()
        if self._response is None:
            raise StopAsyncIteration
        failure: Failure
        try:
            chunk = await anext(self._chunks, None)
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            failure = unanswered(self._ask, self._line.address.url, error)
            failure.error.__cause__ = error
        else:
            if chunk is not None:
                self._pieces.extend(self._hearing.heard(chunk))
                return
            ended = self._hearing.ended()
            if ended is None:
                raise StopAsyncIteration
            failure = Failure(ended, again=self._ask.again)
        await self._go_on(failure)

    async def _go_on(self, failure: Failure) -> None:
        """Open the stream again where it was cut, when that is known. Raises what it ended in otherwise."""
        pause = failure.pause(self._cuts, self._line.address.retries) if self._hearing.cursor else None
        if pause is None:
            raise failure.error
        self._cuts += 1
        await self.aclose()
        await self._line.pause(pause)
        self._next = behind(self._ask, self._hearing.cursor)
        self._hearing = Hearing(self._next)


async def _sent(lines: Lines) -> AsyncIterator[bytes]:
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            yield encoded(line)
    else:
        for line in lines:
            yield encoded(line)


async def _beside(pieces: Iterable[bytes] | AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Yield what is read from a file on a thread; what comes in the event loop as it comes."""
    if isinstance(pieces, AsyncIterable):
        async for piece in pieces:
            yield piece
        return
    coming = iter(pieces)
    while (piece := await anyio.to_thread.run_sync(next, coming, b"")) != b"":
        yield piece
