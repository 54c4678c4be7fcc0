"""Which IP addresses are not of the public internet, and which of those a setting has opened.

The tables follow IANA's registries of special-purpose addresses (RFC 6890 and its successors); they stand here, not in
the standard library's, whose answers differ between versions. What carries an IPv4 address inside (mapped, NAT64, 6to4,
ISATAP) is judged by that too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final

from mnemic.errors import InputError

Ip = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_OPENED_BY_NAME: Final = frozenset({"loopback", "private", "shared (carrier-grade NAT)", "unique local"})
"""What a host of the setting may resolve to. The rest, such as the metadata of clouds, only its network opens."""

_TABLE: Final = """
169.254.169.254/32   a cloud's metadata
fd00:ec2::254/128    a cloud's metadata
168.63.129.16/32     a cloud's metadata
100.100.100.200/32   a cloud's metadata
192.0.0.192/32       a cloud's metadata
0.0.0.0/8            unspecified
10.0.0.0/8           private
100.64.0.0/10        shared (carrier-grade NAT)
127.0.0.0/8          loopback
169.254.0.0/16       link-local
172.16.0.0/12        private
192.0.0.0/24         reserved
192.0.2.0/24         reserved for documentation
192.88.99.0/24       reserved (6to4 relays)
192.168.0.0/16       private
198.18.0.0/15        reserved for measurements
198.51.100.0/24      reserved for documentation
203.0.113.0/24       reserved for documentation
224.0.0.0/4          multicast
240.0.0.0/4          reserved
::/128               unspecified
::1/128              loopback
::ffff:0:0/96        carried
64:ff9b::/96         carried
64:ff9b:1::/48       reserved (local NAT64)
100::/64             reserved (discard)
2001::/23            reserved (Teredo and other protocols)
2001:db8::/32        reserved for documentation
2002::/16            carried
3fff::/20            reserved for documentation
5f00::/16            reserved (segment routing)
fc00::/7             unique local
fe80::/10            link-local
fec0::/10            site-local
ff00::/8             multicast
"""

_CARRIED: Final = "carried"
_NETWORKS: Final[tuple[tuple[Network, str], ...]] = tuple(
    (ip_network(row.split(maxsplit=1)[0]), row.split(maxsplit=1)[1]) for row in _TABLE.strip().splitlines()
)
_GLOBAL: Final = IPv6Network("2000::/3")
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR: Final = IPv6Network("2002::/16")
_ISATAP: Final = frozenset({0x0000_5EFE, 0x0200_5EFE})
_HOST: Final = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")


def special(ip: Ip) -> str | None:
    """Return what an address is instead of public; None for a public one."""
    named = next((what for network, what in _NETWORKS if ip in network), None)
    if named is not None and named != _CARRIED:
        return named
    if (inside := carried(ip)) is not None:
        return special(inside)
    return None if isinstance(ip, IPv4Address) or ip in _GLOBAL else "reserved"


def carried(ip: Ip) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address stands for or leads to."""
    if isinstance(ip, IPv4Address):
        return None
    whole = int(ip)
    if ip in _MAPPED or ip in _NAT64 or (whole >> 32) & 0xFFFF_FFFF in _ISATAP:
        return IPv4Address(whole & 0xFFFF_FFFF)
    return IPv4Address((whole >> 80) & 0xFFFF_FFFF) if ip in _SIX_TO_FOUR else None


@dataclass(frozen=True, slots=True)
class Opened:
    """What is reached although it is not public: hosts by their whole name, and networks."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    def refusal(self, host: str, ips: Iterable[Ip]) -> str | None:
        """Return why a host with these addresses is not fetched from: one that is not public is enough."""
        return next(self._refusals(host, ips), None)

    def named(self, host: str) -> str | None:
        """Return why a name is not even looked up."""
        local = host == "localhost" or host.endswith((".localhost", ".localdomain"))
        opened = host in self.hosts or any(network.is_loopback for network in self.networks)
        return f"{host} is this machine itself" if local and not opened else None

    def _refusals(self, host: str, ips: Iterable[Ip]) -> Iterator[str]:
        for ip in ips:
            what = special(ip)
            if what is None or self._holds(ip) or (host in self.hosts and what in _OPENED_BY_NAME):
                continue
            yield f"{host} is {what}" if str(ip) == host else f"{host} is at {ip}, which is {what}"

    def _holds(self, ip: Ip) -> bool:
        inside = carried(ip)
        return any(each in network for network in self.networks for each in (ip, inside) if each is not None)


def opened(setting: str) -> Opened:
    """Read the setting `fetch_private`: host names and networks, comma-separated. Raises `InputError`."""
    hosts: set[str] = set()
    networks: list[Network] = []
    for word in filter(None, (each.strip().lower() for each in setting.split(","))):
        try:
            networks.append(ip_network(word))
        except ValueError as error:
            if not _HOST.fullmatch(word) or word.replace(".", "").isdecimal():
                told = f"{word!r} is no host name and no network such as 10.0.0.0/8 ({error})"
                raise InputError("fetch_private", told) from error
            hosts.add(word)
    return Opened(frozenset(hosts), tuple(networks))
