"""The line to a server for ordinary programs: sends requests, makes them again where that does no harm, hears streams.

What is asked, what an answer means and when a call is made again is decided beside this, once for both kinds of
programs (`asking`, `reading`, `retrying`); here is what waits.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import httpx2

from mnemic.client.address import Address
from mnemic.client.asking import Ask, Gives, ask_of, behind, sending_of, slices
from mnemic.client.reading import Hearing, Reply, encoded, value_of
from mnemic.client.retrying import Failure, refused, unanswered
from mnemic.client.uploading import Body, is_file
from mnemic.errors import MnemicError, UnreachableError, WaitTimeoutError
from mnemic.version import __version__

T = TypeVar("T")

PAGE: Final = 500
"""Rows that are asked for together by who wants them all."""

CONNECT: Final = 5.0
"""Seconds that making a connection may take at most."""

_IDLE: Final = 4.0  # seconds that an idle connection is kept: fewer than the 5 after which servers drop it
_KEPT: Final = 32  # idle connections that are kept


def options_of(address: Address) -> dict[str, Any]:
    """Return what an HTTP client is made with, the same for both kinds."""
    headers = {"User-Agent": f"mnemic/{__version__}"}
    if address.key:
        headers["Authorization"] = f"Bearer {address.key}"
    return {
        "headers": headers,
        "follow_redirects": False,  # a key goes where its owner said, and nowhere else
        "trust_env": not address.is_local,  # proxies of the environment are for what is elsewhere
        "limits": httpx2.Limits(max_connections=None, max_keepalive_connections=_KEPT, keepalive_expiry=_IDLE),
    }


def timeout_of(ask: Ask, address: Address) -> httpx2.Timeout:
    """Return how patient a request is."""
    return httpx2.Timeout(ask.silence, connect=min(CONNECT, address.timeout))


def headers_of(body: Body) -> dict[str, str]:
    """Return the headers that tell of what a request brings."""
    return {"Content-Type": body.media} | ({} if body.length is None else {"Content-Length": str(body.length)})


class Line:
    """Carries calls to a server. Threads may share it."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.pause: Callable[[float], None] = time.sleep
        self._http = httpx2.Client(**options_of(address))

    def close(self) -> None:
        """Close the connections; streams that are open end."""
        self._http.close()

    def call(self, verb: str, gives: Gives[T], /, **given: Any) -> T:
        """Return what a verb gives."""
        if verb == "jobs.wait":
            return self._waited(verb, gives, given)
        return self._called(verb, gives, given)

    def load(self, verb: str, gives: Gives[T], lines: Iterable[str], /, **given: Any) -> T:
        """Return what a verb gives that takes lines: they are sent as they come."""
        body = Body(lambda: map(encoded, lines), "application/x-ndjson")
        found: T = value_of(gives.kind, read(self.send(self._ask(verb, given), content=body)))
        return found

    def upload(self, verb: str, gives: Gives[T], source: object, /, **given: Any) -> T:
        """Return what a verb gives that takes a file: it is sent as it is read."""
        given["source"] = source
        if not is_file(source):
            return self._called(verb, gives, given)
        ask, body = sending_of(verb, given, user=self.address.user, timeout=self.address.timeout)
        found: T = value_of(gives.kind, read(self.send(ask, content=body)))
        return found

    def pages(self, verb: str, gives: Gives[Sequence[T]], /, **given: Any) -> Iterator[T]:
        """Yield all that a list gives, page by page. The first is read at once, so that who asks hears of a refusal."""
        return self._behind(verb, gives, given, self._page(verb, gives, given))

    def stream(self, verb: str, gives: Gives[T], /, **given: Any) -> Stream[T]:
        """Return what comes piece by piece. The request is made at once, so that who asks hears of a refusal."""
        del gives  # it is for the type checker: pieces say themselves what they are
        return Stream(self, self._ask(verb, given))

    def send(self, ask: Ask, *, stream: bool = False, content: Body | None = None) -> httpx2.Response:
        """Return the response to a request, after further tries if need be. Raises the error that it ends in."""
        tried = 0
        while True:
            failure: Failure
            try:
                response = self._sent(ask, stream=stream, content=content)
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
            self.pause(pause)
            tried += 1

    def _sent(self, ask: Ask, *, stream: bool, content: Body | None) -> httpx2.Response:
        if self._http.is_closed:
            raise UnreachableError("this client was closed; make another one")
        request = self._http.build_request(
            ask.route.method,
            self.address.url + ask.path,
            headers={**ask.headers, **({} if content is None else headers_of(content))},
            content=ask.body if content is None else content.pieces(),
            timeout=timeout_of(ask, self.address),
        )
        response = self._http.send(request, stream=stream)
        if stream and response.status_code >= 300:
            response.read()
        return response

    def _ask(self, verb: str, given: dict[str, Any]) -> Ask:
        return ask_of(verb, given, user=self.address.user, timeout=self.address.timeout)

    def _called(self, verb: str, gives: Gives[T], given: dict[str, Any]) -> T:
        found: T = value_of(gives.kind, read(self.send(self._ask(verb, given))))
        return found

    def _waited(self, verb: str, gives: Gives[T], given: dict[str, Any]) -> T:
        for timeout, is_last in slices(given.pop("timeout", None)):
            try:
                return self._called(verb, gives, {**given, "timeout": timeout})
            except WaitTimeoutError:
                if is_last:
                    raise
        raise AssertionError("the last slice returns or raises")  # pragma: no cover

    def _page(self, verb: str, gives: Gives[Sequence[T]], given: dict[str, Any]) -> Sequence[T]:
        return self._called(verb, gives, {**given, "limit": PAGE})

    def _behind(self, verb: str, gives: Gives[Sequence[T]], given: dict[str, Any], first: Sequence[T]) -> Iterator[T]:
        found = first
        while found:
            yield from found
            if len(found) < PAGE:
                return
            found = self._page(verb, gives, {**given, "after": found[-1].id})  # type: ignore[attr-defined]


class Stream(Iterator[T]):
    """What comes piece by piece, until it ends or is closed; closing it ends the work behind it.

    Iterate over it, or use it in a `with` block, which closes it however the block is left. A stream that breaks off
    raises: it never ends as if it were whole. Events of jobs go on where they were cut.
    """

    def __init__(self, line: Line, ask: Ask) -> None:
        self._line = line
        self._ask = ask
        self._hearing = Hearing(ask)
        self._pieces: deque[Any] = deque()
        self._cuts = 0  # in a row, without a piece between them
        self._response: httpx2.Response | None = None
        self._open(ask)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_response", None) is not None:
            self.close()

    def __next__(self) -> T:
        try:
            while not self._pieces:
                self._listen()
        except BaseException:
            self.close()
            raise
        piece = self._pieces.popleft()
        if isinstance(piece, MnemicError):
            self.close()
            raise piece
        self._cuts = 0
        return piece  # type: ignore[no-any-return]  # its event said what it is

    def close(self) -> None:
        """End the stream."""
        self._pieces.clear()
        response, self._response = self._response, None
        if response is not None:
            response.close()

    def _open(self, ask: Ask) -> None:
        self._response = self._line.send(ask, stream=True)
        self._chunks = self._response.iter_bytes()

    def _listen(self) -> None:
        """Hear the next bytes. Raises `StopIteration` at the end."""
        if self._response is None:
            raise StopIteration
        failure: Failure
        try:
            chunk = next(self._chunks, None)
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            failure = unanswered(self._ask, self._line.address.url, error)
            failure.error.__cause__ = error
        else:
            if chunk is not None:
                self._pieces.extend(self._hearing.heard(chunk))
                return
            ended = self._hearing.ended()
            if ended is None:
                raise StopIteration
            failure = Failure(ended, again=self._ask.again)
        self._go_on(failure)

    def _go_on(self, failure: Failure) -> None:
        """Open the stream again where it was cut, when that is known. Raises what it ended in otherwise."""
        pause = failure.pause(self._cuts, self._line.address.retries) if self._hearing.cursor else None
        if pause is None:
            raise failure.error
        self._cuts += 1
        self.close()
        self._line.pause(pause)
        again = behind(self._ask, self._hearing.cursor)
        self._hearing = Hearing(again)
        self._open(again)


def read(response: httpx2.Response) -> Reply:
    """Return a response that was read whole."""
    return Reply(response.status_code, response.headers, response.content)
