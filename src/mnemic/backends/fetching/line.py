"""One connection to one checked address: the name is looked up once, what was checked is what is connected to.

Nothing else looks the name up again, so that a server of names that answers otherwise a moment later changes nothing.
Every wait, for names, for the connection and for each piece, ends with the time that the whole fetch has.
"""

from __future__ import annotations

import io
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from mnemic.backends.fetching.addresses import Address
from mnemic.backends.fetching.forbidden import Ip, Opened

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Resolve = Callable[[str, int], Sequence[str]]
"""Gives the IP addresses of a name, as text. Raises `OSError`."""

CONNECT: Final = 10.0
"""Seconds for one try to connect: the next address of the host may answer."""


class RefusedError(Exception):
    """The host is not one that may be reached; the message says why."""


class Deadline:
    """How long there is left. Raises `TimeoutError` when there is nothing."""

    def __init__(self, seconds: float, pause: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds` for all, `pause` for one wait."""
        self._clock = clock
        self._end = clock() + seconds
        self._pause = pause

    def wait(self, most: float | None = None) -> float:
        """Return the seconds that one wait may take."""
        left = self._end - self._clock()
        if left <= 0:
            raise TimeoutError
        return min(left, self._pause if most is None else most)


def system_names(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a name as this machine looks them up."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


@dataclass(frozen=True, slots=True)
class Line:
    """Opens connections. `trust` gives the certificates that a server's is checked against, by its name."""

    opened: Opened
    resolve: Resolve
    trust: Callable[[], ssl.SSLContext]

    @contextmanager
    def to(self, address: Address, deadline: Deadline) -> Iterator[HTTPConnection]:
        """Give a connection to an address for the time of the block. Raises `RefusedError`, `OSError`."""
        connected = self._connected(self.checked(address, deadline), address.port, deadline)
        try:
            if address.scheme == "https":
                connected.settimeout(deadline.wait())
                connected = self.trust().wrap_socket(connected, server_hostname=address.host)
            connection = HTTPConnection(address.host, address.port)
            connection.auto_open = 0  # never opened again by itself: that would look the name up anew
            connection.sock = _Socket(connected, deadline)
            yield connection
        finally:
            connected.close()

    def checked(self, address: Address, deadline: Deadline) -> Sequence[Ip]:
        """Return the addresses of a host when all of them may be reached. Raises `RefusedError`, `OSError`."""
        if address.ip is not None:
            found: Sequence[Ip] = [address.ip]
        else:
            if (why := self.opened.named(address.host)) is not None:
                raise RefusedError(why)
            found = [ip_address(each) for each in self._looked_up(address, deadline)]
        if (why := self.opened.refusal(address.host, found)) is not None:
            raise RefusedError(why)
        return found

    def _looked_up(self, address: Address, deadline: Deadline) -> Sequence[str]:
        """Look a name up beside: the system's own look-up cannot be told when to end."""
        told: queue.SimpleQueue[Sequence[str] | OSError] = queue.SimpleQueue()

        def look() -> None:
            try:
                told.put(self.resolve(address.host, address.port))
            except UnicodeError:
                told.put(socket.gaierror(socket.EAI_NONAME, "no name"))
            except OSError as error:
                told.put(error)

        threading.Thread(target=look, name="mnemic-names", daemon=True).start()
        try:
            found = told.get(timeout=deadline.wait())
        except queue.Empty as error:
            raise TimeoutError from error
        if isinstance(found, OSError):
            raise found
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "no address")
        return found

    @staticmethod
    def _connected(ips: Sequence[Ip], port: int, deadline: Deadline) -> socket.socket:
        """Return a socket to the first of the addresses that answers."""
        failed: OSError | None = None
        for ip in ips:
            connected = socket.socket(socket.AF_INET if ip.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
            try:
                connected.settimeout(deadline.wait(CONNECT))
                connected.connect((str(ip), port))
            except OSError as error:
                connected.close()
                failed = error
            else:
                return connected
        raise failed or TimeoutError()


class _Socket:
    """What `http.client` needs of a socket; each wait is bounded."""

    def __init__(self, line: socket.socket, deadline: Deadline) -> None:
        self._line = line
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        """Send all of it."""
        self._line.settimeout(self._deadline.wait())
        self._line.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Return what the answer is read from."""
        return io.BufferedReader(_Reading(self._line, self._deadline))

    def close(self) -> None:
        """Leave it open: `http.client` closes before the answer is read, and `Line.to` closes at the end."""


class _Reading(io.RawIOBase):
    def __init__(self, line: socket.socket, deadline: Deadline) -> None:
        super().__init__()
        self._line = line
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        self._line.settimeout(self._deadline.wait())
        return self._line.recv_into(buffer)
