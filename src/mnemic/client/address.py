"""Where a server is, who calls it, and how patiently: what a client is made with, checked.

A key is never shown: not here, not in an error. It goes over the network in the clear only where that was asked for.
"""

from __future__ import annotations

import ipaddress
import math
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from mnemic import config
from mnemic.errors import InputError
from mnemic.ids import check_id

DEFAULT_URL: Final = "http://127.0.0.1:8765"
"""Where `mnemic serve` listens unless it is told otherwise."""

TIMEOUT: Final = 30.0
"""Seconds that a server may be silent before a call counts as unanswered."""

RETRIES: Final = 2
"""Further tries of a call that can be made again without harm."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to call, and as whom. `user` is for whom calls are that name none."""

    url: str
    key: str | None = field(repr=False)
    user: str | None
    timeout: float
    retries: int

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        return _is_loopback(urlsplit(self.url).hostname or "")


def address_of(
    url: object, key: object, user: object, timeout: object, retries: object, *, allow_http: bool
) -> Address:
    """Return a checked address; what is not given is taken from the environment. Raises `InputError`."""
    told = config.remote()
    secret = _key(told.key or None if key is None else key)
    place = _url(url or told.url or DEFAULT_URL)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise InputError("timeout", f"needs a number of seconds above 0, got {timeout!r}")
    if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= 100:
        raise InputError("retries", f"needs a whole number from 0 to 100, got {retries!r}")
    found = Address(place, secret, None if user is None else check_id(user, "user"), float(timeout), retries)
    if secret and place.startswith("http:") and not found.is_local and not allow_http:
        # An error, not a warning: a warning is read after the key has gone over the wire, and then it is too late.
        raise InputError(
            "url",
            f"{place} would carry the key over the network in the clear, where others can read it; use https, or say "
            "allow_http=True where the network is yours alone",
        )
    return found


def _url(given: object) -> str:
    if not isinstance(given, str):
        raise InputError("url", f"needs an address such as {DEFAULT_URL}, got {type(given).__name__}")
    try:
        parts = urlsplit(given.strip())
        is_fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_fine = False
        parts = urlsplit("")
    if parts.username is not None or parts.password is not None:
        raise InputError("url", "holds a name or a password; give the key as `key`")
    if not is_fine or parts.query or parts.fragment or not given.isascii() or not given.strip().isprintable():
        raise InputError("url", f"{given!r} is no address such as {DEFAULT_URL} or https://memory.example.org")
    return given.strip().rstrip("/")


def _key(given: object) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or not given.isascii() or not given.isprintable() or " " in given or not given:
        raise InputError("key", "is no key: it needs to be one word of letters, digits and signs")
    return given


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
