"""Every way to make this machine fetch what is not public, tried for real: `python -m bench.knowledge.ssrf`.

A server on loopback stands for what must not be reached, and counts who reached it. Names are looked up in a table, so
that nothing leaves the machine. It prints a Markdown table, and ends with 1 when one of the ways was open.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, ip_address
from typing import Final
from urllib.parse import quote, unquote

from mnemic.backends.fetching.fetcher import FetchLimits, HttpFetcher
from mnemic.backends.fetching.forbidden import opened
from mnemic.errors import FetchError, InputError
from mnemic.testing.loopback import Answer, Loopback, Request

FORBIDDEN: Final[Mapping[str, str]] = {
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "0.0.0.0": "unspecified",  # noqa: S104 - what is tried, not bound to
    "10.0.0.1": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.1.1": "private",
    "169.254.1.1": "link-local",
    "169.254.169.254": "metadata",
    "168.63.129.16": "metadata",
    "100.64.0.1": "shared",
    "100.100.100.200": "metadata",
    "192.0.0.192": "metadata",
    "192.0.2.1": "reserved",
    "198.18.0.1": "reserved",
    "224.0.0.1": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "reserved",
    "::1": "loopback",
    "::": "unspecified",
    "fd00:ec2::254": "metadata",
    "fc00::1": "unique local",
    "fe80::1": "link-local",
    "fec0::1": "site-local",
    "ff02::1": "multicast",
    "100::1": "reserved",
    "2001:db8::1": "reserved",
    "2001::1": "reserved",
    "64:ff9b:1::a00:1": "reserved",
    "::127.0.0.1": "reserved",
}
"""Addresses by what they are; each is tried by every way below."""

PUBLIC: Final = "93.184.216.34"
FRONT: Final = "front.example"
"""A server that is allowed, and redirects to wherever it is told to."""
SECRET: Final = b"the secret of this machine"


@dataclass(frozen=True, slots=True)
class Row:
    """One try: by which way, where to, what came of it."""

    way: str
    address: str
    refused: bool
    told: str


@dataclass
class Stage:
    """The server that must not be reached, the one that may be, and the names of this little internet."""

    names: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    looked_up: list[str] = field(default_factory=list)
    reached: int = 0

    def __post_init__(self) -> None:
        self.server = Loopback(self.answer)
        self.names[FRONT] = [["127.0.0.1"]]
        limits = FetchLimits(size=100_000, seconds=5, pause=2)
        self.fetcher = HttpFetcher(opened(f"{FRONT},turning.example"), limits, resolve=self.resolve)

    def resolve(self, host: str, _port: int) -> Sequence[str]:
        """Give the next answer for a name; the last one again and again."""
        self.looked_up.append(host)
        answers = self.names[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def answer(self, request: Request) -> Answer:
        """Redirect who came by the allowed name and asked for it; tell all others the secret."""
        if request.headers["host"].startswith(FRONT) and request.path.startswith("/to/"):
            return Answer(status=302, headers={"location": unquote(request.path[4:])}, raw=b"")
        self.reached += 1
        return Answer(raw=SECRET, headers={"content-type": "text/plain"})

    def at(self, host: str, path: str = "/") -> str:
        """Return an address on the server's port."""
        return f"http://{host}:{self.server.port}{path}"

    def front(self, target: str) -> str:
        """Return an address that redirects."""
        return self.at(FRONT, f"/to/{quote(target, safe='')}")

    def tried(self, way: str, address: str, shown: str = "") -> Row:
        """Fetch, and say what came of it."""
        before = self.reached
        try:
            with self.fetcher.fetch(address) as found:
                told = f"fetched {found.address}"
                return Row(way, shown or address, refused=False, told=told)
        except (FetchError, InputError) as error:
            firm = not error.fields.get("passing") and self.reached == before
            reason = str(error).partition("was not fetched: ")[2] or str(error)
            return Row(way, shown or address, refused=firm, told=reason.partition("; only")[0])


def rows() -> Sequence[Row]:
    """Try all ways; return what came of each."""
    stage = Stage()
    stage.server.start()
    try:
        return [*_by_address(stage), *_by_name(stage), *_by_spelling(stage), *_by_turning(stage)]
    finally:
        stage.server.stop()


def _by_address(stage: Stage) -> Iterator[Row]:
    for text in FORBIDDEN:
        host = f"[{text}]" if ":" in text else text
        yield stage.tried("literal", stage.at(host), text)
        yield stage.tried("redirect", stage.front(stage.at(host)), text)
        stage.names["evil.example"] = [[text]]
        yield stage.tried("DNS", stage.at("evil.example"), text)
        stage.names["half.example"] = [[PUBLIC, text]]
        yield stage.tried("DNS, beside a public one", stage.at("half.example"), text)
        yield stage.tried("redirect to a name", stage.front(stage.at("evil.example")), text)
        found = ip_address(text)
        if isinstance(found, IPv4Address):
            yield from _in_ipv6(stage, found)
            yield from _spelled(stage, found)


def _in_ipv6(stage: Stage, ip: IPv4Address) -> Iterator[Row]:
    whole = int(ip)
    high, low = whole >> 16, whole & 0xFFFF
    forms = {
        "IPv6-mapped": f"::ffff:{ip}",
        "IPv6-mapped, in hex": f"::ffff:{high:x}:{low:x}",
        "NAT64": f"64:ff9b::{high:x}:{low:x}",
        "6to4": f"2002:{high:x}:{low:x}::1",
        "ISATAP": f"2600::5efe:{high:x}:{low:x}",
    }
    for way, text in forms.items():
        yield stage.tried(way, stage.at(f"[{text}]"), text)
    stage.names["mapped.example"] = [[forms["IPv6-mapped"]]]
    yield stage.tried("DNS, IPv6-mapped", stage.at("mapped.example"), forms["IPv6-mapped"])


def _spelled(stage: Stage, ip: IPv4Address) -> Iterator[Row]:
    whole, parts = int(ip), str(ip).split(".")
    forms = {
        "decimal": str(whole),
        "hex": f"0x{whole:08x}",
        "octal": f"0{whole:o}",
        "octal parts": ".".join(f"0{int(part):o}" for part in parts),
        "hex parts": ".".join(f"0x{int(part):x}" for part in parts),
        "short": f"{parts[0]}.{whole & 0xFFFFFF}",
        "full-width digits": "".join(chr(ord(each) + 0xFEE0) if each.isdigit() else each for each in str(ip)),
        "a dot behind": f"{ip}.",
    }
    for way, text in forms.items():
        yield stage.tried(way, stage.at(text), text)


def _by_name(stage: Stage) -> Iterator[Row]:
    for name in ("localhost", "LOCALHOST", "localhost.", "any.localhost", "localhost.localdomain"):
        stage.names[name.lower().removesuffix(".")] = [[PUBLIC]]
        yield stage.tried("name", stage.at(name), name)
    yield stage.tried("redirect to a name", stage.front(stage.at("localhost")), "localhost")


def _by_spelling(stage: Stage) -> Iterator[Row]:
    port = stage.server.port
    odd = {
        "user name": f"http://{FRONT}@127.0.0.1:{port}/",
        "password": f"http://user:secret@{FRONT}:{port}/",
        "backslash": f"http://{FRONT}\\@127.0.0.1:{port}/",
        "percent sign in the host": f"http://127.0.0.%31:{port}/",
        "zone": f"http://[fe80::1%25eth0]:{port}/",
        "two ports": f"http://{FRONT}:{port}:{port}/",
        "space in the host": f"http://{FRONT} 127.0.0.1:{port}/",
        "line break in the host": f"http://{FRONT}\r\nhost: 127.0.0.1:{port}/",
        "no host": "http:///etc/passwd",
        "scheme": "file:///etc/passwd",
        "other scheme": f"gopher://127.0.0.1:{port}/",
        "port": "http://93.184.216.34:0/",
    }
    for way, address in odd.items():
        yield stage.tried(way, address)
    for way in ("file:///etc/passwd", f"ftp://127.0.0.1:{port}/", f"//127.0.0.1:{port}/", f"http://u:p@{FRONT}/"):
        yield stage.tried("redirect", stage.front(way), way)


def _by_turning(stage: Stage) -> Iterator[Row]:
    """A name that stands elsewhere a moment later: between check and connection, and between two redirects."""
    stage.names["turning.example"] = [["127.0.0.1"], ["10.0.0.1"]]
    stage.looked_up.clear()
    with stage.fetcher.fetch(stage.at("turning.example")) as found:
        kept = found.path is not None and found.path.read_bytes() == SECRET
    once = stage.looked_up == ["turning.example"]
    told = "connected to what was checked; the name was looked up once"
    yield Row("DNS change before connecting", "127.0.0.1, then 10.0.0.1", kept and once, told)
    stage.names["evil.example"] = [[PUBLIC], ["169.254.169.254"]]
    stage.resolve("evil.example", 80)
    yield stage.tried("DNS change before a redirect", stage.front(stage.at("evil.example")), "public, then metadata")


def table(found: Sequence[Row]) -> str:
    """Return the tries as Markdown."""
    lines = ["| way | address | refused | what is told |", "| --- | --- | --- | --- |"]
    for row in found:
        cells = (row.way, f"`{row.address.strip()!s}`".replace("\r\n", "\\r\\n"), "yes" if row.refused else "**NO**")
        lines.append("| " + " | ".join((*cells, row.told.replace("|", "\\|"))) + " |")
    return "\n".join(lines)


def main() -> int:
    """Print the table; return the exit code."""
    found = rows()
    open_ways = sum(not row.refused for row in found)
    sys.stdout.write(f"{table(found)}\n\n{len(found)} tries, {open_ways} not refused\n")
    return 1 if open_ways else 0


if __name__ == "__main__":
    sys.exit(main())
