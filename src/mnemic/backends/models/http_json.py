"""Posts JSON to a model server and tries again when that can help: connection faults, 429 and 5xx, with backoff.

It relies on httpx2, which the tokenizers library already brings; imported at the first request, as many stores never
make one. It knows no API: what an answer means is its caller's business.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from mnemic import tracing
from mnemic.errors import EmbedderError, InputError, ModelError

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger(__name__)

MAX_ANSWER_BYTES: Final = 64 << 20
"""128 vectors of 8,192 components written out are some 25 MB; more is a server gone wrong."""

_EXCERPT = 300

HIDDEN: Final = "[key]"
"""What stands in the place of a key that a server has repeated."""
HINTS: Final = {
    400: "the server refused the request: check the model's name and its limit of text",
    401: "check the API key",
    402: "the account behind the key has no credit left",
    403: "the API key may not use this model",
    404: "no such route or model there: check the address (it usually ends in /v1) and the model's name",
    413: "the request was too large for the server",
    501: "the server was not started for this: see its own manual",
}
_PASSING: Final = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try: seconds for one request, tries in all, first and longest wait between them in seconds."""

    timeout: float = 30.0
    tries: int = 4
    first_wait: float = 0.5
    longest_wait: float = 60.0


@dataclass(frozen=True, slots=True)
class Terms:
    """How a fault is told: as which error, what it leaves as it was, and what the names of the settings begin with."""

    error: type[ModelError] = EmbedderError
    kept: str = "nothing was stored"
    settings: str = ""


class JsonPoster:
    """Posts to the routes under one address. Safe in threads; connections are kept until `close`.

    `sleep` and `clock` (seconds since the epoch) are arguments so that a test never waits.
    """

    def __init__(
        self,
        address: str,
        key: str | None = None,
        *,
        patience: Patience | None = None,
        terms: Terms | None = None,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        terms = terms or Terms()
        if not address.startswith(("http://", "https://")):
            raise InputError(f"{terms.settings}base_url", "must begin with http:// or https://")
        if key and not (key.isascii() and key.isprintable()):
            raise InputError(
                f"{terms.settings}api_key", "must be printable ASCII: it was probably copied with something else"
            )
        self._address = address.rstrip("/")
        self._key = key
        self._patience = patience or Patience()
        self._terms = terms
        self._sleep = sleep
        self._clock = clock
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None

    def post(self, route: str, payload: dict[str, object]) -> object:
        """Return the parsed JSON of a 200 answer; raises an error that says what happened and what to do."""
        url = f"{self._address}/{route}"
        content = json.dumps(payload).encode()
        for attempt in range(1, self._patience.tries + 1):
            answer = self._try(url, content)
            if isinstance(answer, bytes):
                return self._parse(answer, url)
            if not answer.passing or attempt == self._patience.tries:
                raise answer.error(url, attempt, self._terms) from answer.cause
            wait = self._wait(attempt, answer)
            log.warning("model_server_retry", extra={"url": url, "attempt": attempt, "wait": wait, "why": answer.what})
            self._sleep(wait)
        raise self._terms.error("patience allows no tries: set tries to 1 or more", url=url)

    def close(self) -> None:
        """Close the connections; a later post opens them again."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _wait(self, attempt: int, answer: _Refusal) -> float:
        backoff = min(self._patience.first_wait * 2.0 ** (attempt - 1), self._patience.longest_wait)
        asked = seconds_asked(answer.retry_after, self._clock())
        if asked is None:
            return backoff
        if asked > self._patience.longest_wait:
            raise self._terms.error(
                f"the model server asks to wait {asked:.0f} s ({answer.what}), longer than the "
                f"{self._patience.longest_wait:.0f} s allowed; try again later",
                retry_after=asked,
            )
        return max(asked, 0.0)

    def _try(self, url: str, content: bytes) -> bytes | _Refusal:
        import httpx2  # noqa: PLC0415 - see above

        headers = {"content-type": "application/json", "accept": "application/json", **tracing.headers()}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        try:
            with self._open().stream("POST", url, content=content, headers=headers) as response:
                body = self._read(response, url)
        except httpx2.TransportError as error:
            return _Refusal(f"{type(error).__name__}: {error}".rstrip(": "), passing=True, cause=error)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return _Refusal(f"{type(error).__name__}: {error}", passing=False, cause=error)
        if response.status_code == httpx2.codes.OK:
            return body
        said = self._excerpt(body)
        return _Refusal.of_status(response.status_code, said, response.headers.get("retry-after"))

    def _excerpt(self, body: bytes) -> str:
        """Return the beginning of what a server said, on one line, without the key: some repeat it."""
        said = " ".join(body.decode("utf-8", "replace").split())
        return (said.replace(self._key, HIDDEN) if self._key else said)[:_EXCERPT]

    def _open(self) -> httpx2.Client:
        import httpx2  # noqa: PLC0415 - see above

        with self._lock:
            if self._client is None:
                self._client = httpx2.Client(timeout=self._patience.timeout, follow_redirects=False)
            return self._client

    def _read(self, response: httpx2.Response, url: str) -> bytes:
        """Return the body, bounded in bytes and in time: a server may trickle for ever within each read's timeout."""
        began = self._clock()
        body = bytearray()
        for piece in response.iter_bytes():
            body += piece
            if len(body) > MAX_ANSWER_BYTES or self._clock() - began > self._patience.timeout:
                raise self._terms.error(
                    f"{url} did not end its answer within {MAX_ANSWER_BYTES >> 20} MiB and "
                    f"{self._patience.timeout:g} s; {self._terms.kept}",
                    url=url,
                )
        return bytes(body)

    def _parse(self, body: bytes, url: str) -> object:
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self._terms.error(
                f"{url} answered with something that is not JSON: {self._excerpt(body)!r}; "
                f"{self._terms.kept}: check the address",
                url=url,
            ) from error


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why there is no answer, and whether it may pass by itself."""

    what: str
    passing: bool
    hint: str = "check that the server runs and that the address is right"
    retry_after: str | None = None
    status: int | None = None
    cause: Exception | None = None

    @classmethod
    def of_status(cls, status: int, said: str, retry_after: str | None) -> _Refusal:
        passing = is_passing(status)
        hint = HINTS.get(status, "try again later" if passing else "check the address")
        return cls(f"status {status} {said}".rstrip(), passing, hint, retry_after, status)

    def error(self, url: str, attempts: int, terms: Terms) -> ModelError:
        return terms.error(
            f"{url} failed after {attempts} {'try' if attempts == 1 else 'tries'}: {self.what}; {terms.kept}: "
            f"{self.hint}",
            url=url,
            status=self.status,
            attempts=attempts,
        )


def is_passing(status: int) -> bool:
    """Tell whether a status may pass by itself."""
    return status in _PASSING or (status >= 500 and status != 501)


def asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that a server asks to wait, by retry-after-ms or Retry-After; None when it does not."""
    try:
        return float(headers["retry-after-ms"]) / 1_000
    except (KeyError, ValueError):
        return seconds_asked(headers.get("retry-after"), now)


def seconds_asked(value: str | None, now: float) -> float | None:
    """Return the seconds that a Retry-After header asks for (RFC 9110, 10.2.3), None when it is unreadable."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
