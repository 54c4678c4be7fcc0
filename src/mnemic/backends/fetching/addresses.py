"""What an address says, read strictly: one scheme of two, no names or passwords in it, a host in one spelling only.

Hosts that libraries read in several ways (127.1, 0x7f.1, 2130706433, 0177.0.0.1, full-width digits, percent signs) are
refused, not guessed: two readers that disagree about a host are how a check is passed by.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

LONGEST: Final = 4_096
"""Characters of an address; browsers and servers stop between 2,000 and 8,000."""

PORTS: Final = {"http": 80, "https": 443}

_UNSEEN: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ufeff\\]")
_BRACKETED: Final = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::([0-9]*))?")
_NAMED: Final = re.compile(r"([^:\[\]%@]+)(?::([0-9]*))?")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_IN_PATH: Final = "/%:@!$&'()*+,;=~-._"
_IN_QUERY: Final = _IN_PATH + "?[]"


class NoAddressError(ValueError):
    """It is no address that can be fetched; the message says why."""


@dataclass(frozen=True, slots=True)
class Address:
    """A checked address. `host` is a name in lower-case ASCII, or an IP address as its own text, without brackets."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def ip(self) -> IPv4Address | IPv6Address | None:
        """The IP address that the host is; None for a name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None

    @property
    def authority(self) -> str:
        """Host and port as the header `Host` has them: the scheme's own port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def path(self) -> str:
        """The path alone."""
        return self.target.partition("?")[0]

    @property
    def told(self) -> str:
        """The address as errors name it: without its query, in which there may be keys, and not endless."""
        return f"{self.scheme}://{self.authority}{self.path}"[:200]

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"

    def joined(self, location: str) -> Address:
        """Return where a redirect from here leads. Raises `NoAddressError`."""
        try:
            return read(urljoin(str(self), location))
        except NoAddressError:
            raise
        except ValueError as error:
            raise NoAddressError("cannot be read as an address") from error


def read(text: str) -> Address:
    """Return the address that a text is. Raises `NoAddressError`."""
    text = text.strip(" \t\r\n")
    if not text:
        raise NoAddressError("is empty")
    if len(text) > LONGEST:
        raise NoAddressError(f"is longer than {LONGEST:,} characters")
    head = re.split(r"[/?#]", text.partition("://")[2], maxsplit=1)[0]
    if _UNSEEN.search(head) or re.search(r"[\x00-\x1f\x7f\\]", text):
        raise NoAddressError("has control characters, spaces or backslashes where there can be none")
    try:
        found = urlsplit(text)
    except ValueError as error:
        raise NoAddressError("cannot be read as an address") from error
    scheme = found.scheme.lower()
    if scheme not in PORTS:
        raise NoAddressError("must begin with http:// or https://")
    if "@" in found.netloc:
        raise NoAddressError("has a user name or password in it, which would be stored with the document; remove it")
    host, port = _place(found)
    return Address(scheme, host, port or PORTS[scheme], _target(found))


def _target(found: SplitResult) -> str:
    query = f"?{quote(found.query, safe=_IN_QUERY)}" if found.query else ""
    return (quote(found.path, safe=_IN_PATH) or "/") + query


def _place(found: SplitResult) -> tuple[str, int]:
    """Return host and port, 0 for the scheme's own."""
    bracketed = _BRACKETED.fullmatch(found.netloc)
    match = bracketed or _NAMED.fullmatch(found.netloc)
    if match is None:
        raise NoAddressError("has no host that can be read" if found.netloc else "names no host")
    digits = (match[2] or "").lstrip("0")
    if match[2] and (not digits or len(digits) > 5 or int(digits) > 65_535):
        raise NoAddressError("has a port that is not from 1 to 65535")
    return (_ipv6(match[1]) if bracketed else _name(match[1])), int(digits or 0)


def _ipv6(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except ValueError as error:
        raise NoAddressError("has no IPv6 address between its brackets") from error


def _name(text: str) -> str:
    name = _ascii(text).removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise NoAddressError("has a host that is no name of the internet")
    if not _NUMBER.fullmatch(labels[-1]):
        return name
    try:
        return str(IPv4Address(name))
    except ValueError as error:
        raise NoAddressError(
            "has a number for a host; only the plain form of an IPv4 address, four decimal parts, is read"
        ) from error


def _ascii(text: str) -> str:
    """Return a name in lower-case ASCII (IDNA 2008 after the mapping of UTS 46)."""
    if text.isascii():
        return text.lower()
    import idna  # noqa: PLC0415 - comes with httpx2; few addresses need it

    try:
        return idna.encode(text, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise NoAddressError("has a host that is no name of the internet") from error
