"""Measures a server under load, beside a route that only embeds and inserts, and whether its memory stays flat.

    python -m bench.serving                              # 64 connections: 60 seconds of load, 10 minutes of memory
    python -m bench.serving --seconds 5 --minutes 0      # a quick look

Server and loader share the machine: run it where nothing else does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.serving.loading import Call, Load, load
from bench.tables import ROOT

USERS = 64
THINGS = "tea coffee chess hiking jazz bread swimming maps birds cinema tomatoes sailing poetry robots".split()
PLACES = "Porto Faro Braga Oslo Lyon Turin Ghent Leeds Cork Bergen Graz Trieste Bilbao Tampere".split()
EVERY = 5.0  # seconds between looks at the server's memory


def sentence(chance: random.Random) -> str:
    thing, place = chance.choice(THINGS), chance.choice(PLACES)
    day, number = chance.randrange(10_000), chance.randrange(10_000)  # people have words in common
    return f"On day {day} I was in {place} and talked about {thing} with number {number}."


def add(number: int, count: int) -> Call:
    chance = random.Random(number * 1_000_003 + count)
    body: dict[str, object] = {"user": f"user-{number % USERS}", "messages": sentence(chance), "session": "load"}
    return Call("add", "/v1/messages", body, 201)


def mixed(number: int, count: int) -> Call:
    if count % 2 == 0:
        return add(number, count)
    chance = random.Random(number * 999_983 + count)
    question = f"What did I say about {chance.choice(THINGS)} in {chance.choice(PLACES)}?"
    return Call("search", "/v1/search", {"user": f"user-{number % USERS}", "query": question}, 200)


def plain(number: int, count: int) -> Call:
    chance = random.Random(number * 1_000_003 + count)
    return Call("plain", "/add", {"user": f"user-{number % USERS}", "text": sentence(chance)}, 201)


@contextmanager
def process(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start a server; yield its address, and end it as it should be ended."""
    path = os.pathsep.join([str(ROOT), *(entry for entry in sys.path if entry)])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_")}
    started = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
        env={**environment, "PYTHONPATH": path},
    )  # fmt: skip
    try:
        line = started.stdout.readline() if started.stdout is not None else ""
        yield str(json.loads(line)["address"]), started
    finally:
        started.terminate()
        started.wait(120)


def resident(pid: int) -> float:
    """Return the megabytes that a process holds in memory."""
    for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1_000
    return float("nan")


def in_views(address: str) -> float:
    """Return the megabytes in which a server keeps what it searches, up to its setting `cache_megabytes`."""
    with urllib.request.urlopen(f"{address}/metrics", timeout=60) as told:  # noqa: S310 - on loopback
        lines = told.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("mnemic_view_cache_bytes")) / 1e6


def memory_under_load(address: str, pid: int, minutes: float, connections: int) -> list[tuple[float, float]]:
    """Return the server's memory during a long load, every few seconds: all of it, and what of it is views."""
    samples: list[tuple[float, float]] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(EVERY):
            samples.append((resident(pid), in_views(address)))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        load(address, mixed, connections=connections, seconds=minutes * 60)
    finally:
        over.set()
        watcher.join()
    return samples


def row(name: str, found: Load, only: str | None = None) -> str:
    times = " | ".join(f"{found.milliseconds(share, only):,.1f}" for share in (0.5, 0.95, 0.99))
    count = len(found.took.get(only, ())) if only else found.answered
    return f"| {name} | {count / found.seconds:,.0f} | {times} | {sum(found.errors.values())} |"


def show_memory(samples: Sequence[tuple[float, float]]) -> None:
    tenth = max(1, len(samples) // 10)
    begin, end = (mean(some or samples) for some in (samples[3 * tenth :][:tenth], samples[-tenth:]))
    print(f"\nMemory: {samples[0][0]:,.0f} MB at first, {max(held for held, _ in samples):,.0f} at most; after three")
    print(f"tenths of the time {begin:,.0f} MB beside the views of cubes, in the end {end:,.0f} MB "
          f"({(end / begin - 1) * 100:+.1f}%); the views are {samples[-1][1]:,.1f} MB.")  # fmt: skip


def mean(samples: Sequence[tuple[float, float]]) -> float:
    return sum(held - views for held, views in samples) / len(samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="of each kind of load")
    parser.add_argument("--minutes", type=float, default=10, help="of load while memory is looked at; 0 leaves it out")
    parser.add_argument("--connections", type=int, default=64)
    asked = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, "
          f"{asked.connections} connections, {time.strftime('%Y-%m-%d')}\n")  # fmt: skip
    samples: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        home = str(Path(folder) / "served")
        Path(folder, "plain").mkdir()
        with process("-m", "mnemic", "--home", home, "--json", "serve", "--port", "0") as (address, server):
            load(address, mixed, connections=8, seconds=min(3.0, asked.seconds))  # it is warm
            both = load(address, mixed, connections=asked.connections, seconds=asked.seconds)
            adds = load(address, add, connections=asked.connections, seconds=asked.seconds)
            if asked.minutes:
                samples = memory_under_load(address, server.pid, asked.minutes, 8)
        with process("-m", "bench.serving.plain", str(Path(folder, "plain"))) as (address, _):
            load(address, plain, connections=8, seconds=min(3.0, asked.seconds))
            bare = load(address, plain, connections=asked.connections, seconds=asked.seconds)
    print("| load | answers/s | p50 ms | p95 ms | p99 ms | errors |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    print(row("add and search", both), row("  add", both, "add"), row("  search", both, "search"), sep="\n")
    print(row("add only", adds), row("a route that embeds and inserts", bare), sep="\n")
    ratios = f"{both.rate / bare.rate:.2f} for add and search, {adds.rate / bare.rate:.2f} for add only"
    print(f"\nRatio to that route: {ratios}.")
    for told in (both, adds, bare):
        for what, count in told.errors.items():
            print(f"error: {what} ({count})")
    if samples:
        show_memory(samples)


if __name__ == "__main__":
    main()
