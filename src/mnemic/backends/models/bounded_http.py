"""The HTTP client beneath the providers' libraries, which bounds an answer as they do not: altogether, not by read.

A server that trickles is timed out; what it may send is limited; a wait that it asks for is not waited for when it is
longer than a request may take; and redirects are not followed, so that no key and no prompt goes elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import httpx2

from mnemic.backends.models.http_json import MAX_ANSWER_BYTES, asked_wait

_BEGAN: Final = "mnemic.began"


def bounded_client(timeout: float, clock: Callable[[], float] = time.monotonic) -> httpx2.Client:
    """Return a client whose requests take at most `timeout` seconds, not counting what its user does between reads.

    A last read that began within them may take as long again.
    """

    def sending(request: httpx2.Request) -> None:
        request.extensions[_BEGAN] = clock()

    def received(response: httpx2.Response) -> None:
        began = response.request.extensions.get(_BEGAN, clock())
        if not isinstance(
            response.stream, httpx2.SyncByteStream
        ):  # pragma: no cover - a client without async has no other
            return
        response.stream = _Bounded(response.stream, response.request, timeout, began, clock)
        asked = asked_wait(response.headers, time.time())
        if asked is not None and asked > timeout:
            response.headers["x-should-retry"] = "false"  # both libraries heed it

    hooks: dict[str, list[Callable[..., Any]]] = {"request": [sending], "response": [received]}
    return httpx2.Client(timeout=timeout, follow_redirects=False, event_hooks=hooks)


class _Bounded(httpx2.SyncByteStream):
    """The body of an answer within its bounds."""

    def __init__(
        self,
        stream: httpx2.SyncByteStream,
        request: httpx2.Request,
        timeout: float,
        began: float,
        clock: Callable[[], float],
    ) -> None:
        self._stream = stream
        self._request = request
        self._timeout = timeout
        self._clock = clock
        self._spent = clock() - began

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        pieces = iter(self._stream)
        while (piece := self._read(pieces)) is not None:
            size += len(piece)
            if self._spent > self._timeout:
                raise httpx2.ReadTimeout("the answer did not end in time", request=self._request)
            if size > MAX_ANSWER_BYTES:
                raise httpx2.ReadError("the answer is too long to be one", request=self._request)
            yield piece

    def _read(self, pieces: Iterator[bytes]) -> bytes | None:
        began = self._clock()
        try:
            return next(pieces, None)
        finally:
            self._spent += self._clock() - began

    def close(self) -> None:
        self._stream.close()
