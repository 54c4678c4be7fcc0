"""Fetches an address over HTTP/1.1 and hands out what it holds as a file, within limits that no server can stretch.

Each redirect is checked as the first address was. There are no proxies, no cookies, no credentials, and nothing is kept
between two fetches. What came is looked at before it is handed out: an error page is not the document.
"""

from __future__ import annotations

import logging
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from mnemic.backends.fetching.addresses import Address, NoAddressError, read
from mnemic.backends.fetching.forbidden import Opened
from mnemic.backends.fetching.kinds import LOOKED_AT, settled
from mnemic.backends.fetching.line import Deadline, Line, RefusedError, Resolve, system_names
from mnemic.backends.fetching.naming import name_of, plain_name
from mnemic.backends.fetching.unpacking import ACCEPTED, PackedError, pieces_of
from mnemic.errors import FetchError, InputError, StoreError
from mnemic.ports.fetch import Fetched
from mnemic.version import __version__

_log = logging.getLogger(__name__)

REDIRECTS: Final = 5
"""Redirects that are followed."""

AGENT: Final = f"Mnemic/{__version__} (fetches documents that its users name)"
"""Who asks."""

_REDIRECTED: Final = frozenset({301, 302, 303, 307, 308})
_PASSING: Final = frozenset({408, 425, 429})
_LONGEST_WAIT: Final = 86_400.0
_MARK: Final = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,999}")
_MEDIA: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127}")  # RFC 6838, 4.2
_SAID: Final = {
    401: "asks for a password or a key (401); only what is public is fetched",
    403: "does not give it to us (403)",
    404: "has no such page (404)",
    410: "says that it is gone for good (410)",
    429: "was asked too often (429)",
}


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bytes that a file may have, seconds for all of it, and seconds that one wait may take."""

    size: int = 100_000_000
    seconds: float = 120.0
    pause: float = 20.0


class HttpFetcher:
    """Fetches addresses (`mnemic.ports.fetch`)."""

    def __init__(
        self,
        opened: Opened,
        limits: FetchLimits,
        *,
        resolve: Resolve = system_names,
        trust: Callable[[], ssl.SSLContext] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Reach what is public, and what is `opened`. `clock` gives seconds since the epoch."""
        self._line = Line(opened, resolve, trust or _trusted)
        self._opened = opened
        self._limits = limits
        self._clock = clock

    def check(self, address: str) -> str:
        """Return an address in its one spelling; an IP address that may not be reached is refused here already."""
        try:
            found = read(address)
        except NoAddressError as error:
            raise InputError("address", str(error)) from error
        why = self._opened.named(found.host) or (self._opened.refusal(found.host, [found.ip]) if found.ip else None)
        if why:
            raise InputError("address", f"{why}; {_OPENING}")
        return str(found)

    @contextmanager
    def fetch(self, address: str, *, etag: str = "", modified: str = "") -> Iterator[Fetched]:
        """Give what an address holds; see the port."""
        asked = {"if-none-match": etag, "if-modified-since": modified}
        known = {name: value for name, value in asked.items() if _MARK.fullmatch(value)}
        with _making_room():
            folder = TemporaryDirectory(prefix="mnemic-", ignore_cleanup_errors=True)
        with folder as place:
            yield self._followed(address, known, Path(place) / "fetched")

    # -- steps -----------------------------------------------------------------------------------------------------

    def _followed(self, given: str, known: dict[str, str], place: Path) -> Fetched:
        deadline = Deadline(self._limits.seconds, self._limits.pause)
        told, at = given[:200], None
        try:
            first = at = read(given)
            for _ in range(REDIRECTS + 1):
                told = at.told
                with self._line.to(at, deadline) as connection:
                    response = _asked(connection, at, known)
                    if response.status not in _REDIRECTED:
                        return self._received(response, (first, at), known, place)
                    at = at.joined(_location(response))
        except RefusedError as error:
            raise FetchError(f"{told} was not fetched: {error}; {_OPENING}", address=given) from error
        except NoAddressError as error:
            where = "where it leads" if at else "the address"
            raise FetchError(f"{told} was not fetched: {where} {error}", address=given) from error
        except (PackedError, HTTPException, OSError) as error:
            why, passing = _told(error, self._limits)
            raise FetchError(f"{told} was not fetched: {why}", address=given, passing=passing) from error
        raise FetchError(f"{first.told} was not fetched: it redirects more than {REDIRECTS} times", address=given)

    def _received(
        self, response: HTTPResponse, way: tuple[Address, Address], known: dict[str, str], place: Path
    ) -> Fetched:
        first, at = way
        etag, modified = _mark(response, "etag"), _mark(response, "last-modified")
        if response.status == 304 and known:
            return Fetched(None, str(at), etag=etag, modified=modified)
        if response.status not in (200, 203):
            raise self._refused(response, at)
        beginning = self._written(response, at, place)
        media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        media = media if _MEDIA.fullmatch(media) else ""
        name = name_of(response.headers.get("content-disposition", ""), at)
        media, wrong = settled(beginning, (plain_name(first.path), plain_name(at.path), name), media)
        if wrong or not beginning:
            raise FetchError(f"{at.told} {wrong or 'gave an empty answer'}", address=str(at))
        _log.debug("address_fetched", extra={"address": at.told, "bytes": place.stat().st_size})
        return Fetched(place, str(at), media, name, etag, modified)

    def _written(self, response: HTTPResponse, at: Address, place: Path) -> bytes:
        """Write the body to a file; return its beginning. Raises `FetchError` when it is larger than it may be."""
        most = self._limits.size
        if (response.length or 0) > most:
            raise _too_large(at, most)
        size, beginning = 0, b""
        with _opened_file(place) as write:
            for piece in pieces_of(response, response.headers.get("content-encoding", "").strip().lower()):
                size += len(piece)
                if size > most:
                    raise _too_large(at, most)
                if len(beginning) < LOOKED_AT:
                    beginning += piece[: LOOKED_AT - len(beginning)]
                write(piece)
        return beginning

    def _refused(self, response: HTTPResponse, at: Address) -> FetchError:
        status = response.status
        passing = status in _PASSING or (status >= 500 and status not in (501, 505))
        said = _SAID.get(status, f"answered with status {status}")
        wait = _wait(response.headers.get("retry-after", ""), self._clock()) if passing else None
        return FetchError(f"{at.told} {said}", address=str(at), passing=passing, status=status, retry_after=wait)


_OPENING: Final = "only the public internet is fetched from (the setting fetch_private opens networks of your own)"


def _asked(connection: HTTPConnection, at: Address, known: dict[str, str]) -> HTTPResponse:
    connection.putrequest("GET", at.target, skip_host=True, skip_accept_encoding=True)
    headers = {"host": at.authority, "user-agent": AGENT, "accept": "*/*", "accept-encoding": ACCEPTED, **known}
    for name, value in {**headers, "connection": "close"}.items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection.getresponse()


def _location(response: HTTPResponse) -> str:
    """Return where a redirect leads, read as UTF-8 where it is that."""
    found = response.headers.get("location", "").strip()
    if not found:
        raise NoAddressError("is not said")
    try:
        return found.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return found


def _mark(response: HTTPResponse, name: str) -> str:
    """Return a header that is sent back the next time, when it is fit for that."""
    found = response.headers.get(name, "").strip()
    return found if _MARK.fullmatch(found) else ""


def _wait(asked: str, now: float) -> float | None:
    """Return the seconds that Retry-After asks for (RFC 9110, 10.2.3), a day at most; None when it asks for none."""
    if asked.strip().isdecimal():
        return min(float(asked), _LONGEST_WAIT)
    try:
        return min(max(parsedate_to_datetime(asked).timestamp() - now, 0.0), _LONGEST_WAIT)
    except (ValueError, OverflowError):
        return None


@contextmanager
def _opened_file(place: Path) -> Iterator[Callable[[bytes], object]]:
    """Give what writes to a file; that there is no room is told apart from what fails on the line."""
    with ExitStack() as stack:
        with _making_room():
            file = stack.enter_context(place.open("wb"))

        def write(piece: bytes) -> None:
            with _making_room():
                file.write(piece)

        yield write
        with _making_room():
            file.flush()


@contextmanager
def _making_room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"what was fetched cannot be written ({error.strerror or error}); make room for temporary files"
        ) from error


def _too_large(at: Address, most: int) -> FetchError:
    return FetchError(f"{at.told} gives more than {most / 1e6:,g} MB, the most that is taken", address=str(at))


def _told(error: Exception, limits: FetchLimits) -> tuple[str, bool]:
    """Return what went wrong on the line, in words, and whether it may pass."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not good ({error.verify_message})", False
    if isinstance(error, TimeoutError):
        return f"it did not answer in time ({limits.pause:g} s for each step, {limits.seconds:g} s in all)", True
    if isinstance(error, socket.gaierror):
        if error.errno == socket.EAI_AGAIN:
            return "its name cannot be looked up at the moment", True
        return "there is no host of this name", False
    if isinstance(error, PackedError):
        return f"it {error}", True
    if isinstance(error, HTTPException):
        return f"it did not answer as a web server does ({type(error).__name__})", True
    return f"it cannot be reached ({getattr(error, 'strerror', None) or type(error).__name__})", True


def _trusted() -> ssl.SSLContext:
    """Return what certificates are checked against: the system's, as for model servers."""
    import httpx2  # noqa: PLC0415 - a tenth of a second that only who fetches needs

    return httpx2.create_ssl_context()
