"""What a call that was not answered comes to, and whether and when it is made again.

Again goes what never arrived, what the server refused before doing anything (too busy, too many calls), and what can be
made twice without harm. The pause grows with each try and is never the same for all clients (full jitter, as in
"Exponential Backoff And Jitter", AWS Architecture Blog, 2015), unless the server says how long it should be.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

import httpx2

from mnemic.client.asking import IDEMPOTENCY_KEY, Ask
from mnemic.client.reading import Reply, refusal_of, retry_after
from mnemic.errors import BusyError, ConflictError, MnemicError, RateError, UnreachableError

FIRST: Final = 0.25
"""Seconds that the first pause takes at most; each further one may take twice as many."""

LONGEST: Final = 30.0
"""Seconds of the longest pause. When the server asks for more, its refusal is told instead."""

_NEVER_ARRIVED: Final = (
    httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
)  # fmt: skip
_GATEWAY: Final = frozenset({502, 503, 504})  # statuses of who stands between, when it is not Mnemic that speaks


@dataclass(frozen=True, slots=True)
class Failure:
    """How a try failed. `again`: it can be made again; `after`: seconds that the server asks to wait."""

    error: MnemicError
    again: bool
    after: float | None = None

    def pause(self, tried: int, retries: int) -> float | None:
        """Return how many seconds to wait before the next try; None when there is none."""
        if not self.again or tried >= retries:
            return None
        if self.after is None:
            return random.uniform(0, min(LONGEST, FIRST * 2**tried))  # noqa: S311 - it only spreads calls over time
        return None if self.after > LONGEST else self.after


def unanswered(ask: Ask, url: str, error: httpx2.HTTPError | httpx2.InvalidURL | httpx2.StreamError) -> Failure:
    """Return what a call comes to that got no answer."""
    if isinstance(error, _NEVER_ARRIVED) or not isinstance(error, httpx2.HTTPError):
        told = f"{url} cannot be reached: {_reason(error)}; is the server running (`mnemic serve`)?"
        return Failure(UnreachableError(told), again=isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout))
    late = isinstance(error, httpx2.TimeoutException)
    what = f"has not answered within {ask.silence:g} s" if late else f"broke the connection off: {_reason(error)}"
    doubt = "; whether it was carried out is not known" if ask.may_have_changed else ""
    return Failure(UnreachableError(f"{url} {what}{doubt}"), again=ask.late if late else ask.again)


def refused(ask: Ask, reply: Reply) -> Failure:
    """Return what a call comes to that was answered with an error."""
    error = refusal_of(reply)
    if isinstance(error, RateError | BusyError):
        after = error.fields.get("retry_after")
        known = isinstance(after, int | float) and not isinstance(after, bool) and after >= 0
        return Failure(error, again=True, after=float(str(after)) if known else None)
    if isinstance(error, ConflictError) and error.fields.get("token", "") == ask.headers.get(IDEMPOTENCY_KEY):
        # It is our own first try, whose reply was lost on the way or is still to come.
        lost = UnreachableError("the call was begun and its reply is lost; whether all of it was done is not known")
        return Failure(lost, again=True)
    foreign = isinstance(error, UnreachableError) and reply.status in _GATEWAY
    return Failure(error, again=foreign and ask.again, after=retry_after(reply))


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
