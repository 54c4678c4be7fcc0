"""A bounded loader: so many connections on loopback, each sending its next call when the last one is answered.

It speaks HTTP/1.1 with bare sockets, so that what is measured is the server, and reads each answer whole. An answer
with another status than the one that is right counts as an error, and so does a connection that breaks.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bench.timing import quantile


@dataclass(frozen=True, slots=True)
class Call:
    """One request: what it is counted as, and the status that is right."""

    name: str
    path: str
    body: dict[str, object]
    status: int

    def encode(self, host: str) -> bytes:
        body = json.dumps(self.body).encode()
        head = f"POST {self.path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@dataclass(slots=True)
class Load:
    """What came of it: seconds of each call by name, errors by what they were."""

    seconds: float = 0.0
    took: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def answered(self) -> int:
        return sum(map(len, self.took.values()))

    @property
    def rate(self) -> float:
        return self.answered / self.seconds if self.seconds else 0.0

    def milliseconds(self, share: float, name: str | None = None) -> float:
        times = [each for key, times in self.took.items() if name in (None, key) for each in times]
        return quantile(times, share) * 1e3 if times else float("nan")


def load(address: str, call_of: Callable[[int, int], Call], *, connections: int, seconds: float) -> Load:
    """Make calls for so long; `call_of` is given the connection's number and the call's."""
    return asyncio.run(_load(address, call_of, connections, seconds))


async def _load(address: str, call_of: Callable[[int, int], Call], connections: int, seconds: float) -> Load:
    found = Load()
    began = time.perf_counter()
    until = began + seconds
    await asyncio.gather(*(_connection(address, number, call_of, until, found) for number in range(connections)))
    found.seconds = time.perf_counter() - began
    return found


async def _connection(
    address: str, number: int, call_of: Callable[[int, int], Call], until: float, found: Load
) -> None:
    host = urlsplit(address).netloc
    name, _, port = host.rpartition(":")
    count = 0
    while time.perf_counter() < until:
        reader, writer = await asyncio.open_connection(name, int(port))
        try:
            while time.perf_counter() < until:
                call = call_of(number, count)
                count += 1
                began = time.perf_counter()
                writer.write(call.encode(host))
                status = await asyncio.wait_for(_answer(reader), 120)
                if status == call.status:
                    found.took.setdefault(call.name, []).append(time.perf_counter() - began)
                else:
                    found.errors[f"{call.name}: status {status}"] += 1
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            found.errors[type(error).__name__] += 1
        finally:
            writer.close()


async def _answer(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    await reader.readexactly(length)
    return int(head.split(" ", 2)[1])
