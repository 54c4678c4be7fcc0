"""Does the server keep to its own description? Schemathesis calls every operation of it, with all of its checks.

    python -m bench.conformance                     # at least 5,000 examples, a few minutes
    python -m bench.conformance --examples 200      # for each operation and phase at most so many more

A server is started on loopback with an empty store and a key that may do all. What is configured, and why, stands in
`CONFIGURED`. The table is what schemathesis has counted; a figure other than 0 below its total is a fault of ours.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mnemic import Memory

CONFIGURED: Final = """
[checks.positive_data_acceptance]
# 400 and 422 say what a schema cannot: that an id is a message's and not a memory's, that exactly one of several
# conditions must be given, that a door lacks what the original had. 412, 413, 415: conditions, sizes, media types.
expected-statuses = ["2xx", "400", "401", "403", "404", "409", "412", "413", "415", "422", "429", "5xx"]

[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "412", "413", "415", "422", "428", "429", "5xx"]
"""
"""Only where our statuses differ from those that schemathesis knows; no check is left out."""

PATIENCE: Final = 120.0  # seconds for the server to start and to end
_SUMMARY: Final = re.compile(r"(\d+) generated(?:, (\d+) found (\d+) unique failures)?")
_FAILURES: Final = re.compile(r"^\s+❌ (ST\d+ .+): (\d+)$", re.MULTILINE)
_OPERATIONS: Final = re.compile(r"Tested: (\d+)")


@contextmanager
def served(home: Path) -> Iterator[tuple[str, str]]:
    """Start a server in a process of its own; yield its address and a key."""
    settings = {"embedder": "hashing", "worker": False}
    with Memory(home, settings=settings) as memory:
        secret = memory.keys.create("conformance", powers=["read", "write", "admin"]).secret
        memory.add(["I moved to Porto last week.", "I like tea."], user="ann", session="monday", wait=True)
    (home / "mnemic.toml").write_text('embedder = "hashing"\n', "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemic", "--home", str(home), "--json", "serve", "--port", "0"],
        stdout=subprocess.PIPE, stderr=(home / "server.log").open("wb"), text=True,
    )  # fmt: skip
    try:
        line = process.stdout.readline() if process.stdout is not None else ""
        yield str(json.loads(line)["address"]), secret
    finally:
        process.terminate()
        if process.wait(PATIENCE) != 0:
            sys.stderr.write(f"the server has ended with {process.returncode}\n")


def run(address: str, secret: str, folder: Path, *, examples: int, seed: int, phases: str) -> str:
    """Let schemathesis call everything; return what it has printed."""
    config = folder / "schemathesis.toml"
    config.write_text(CONFIGURED, "utf-8")
    program = "from schemathesis.cli import schemathesis; schemathesis()"
    command = [
        sys.executable, "-c", program, "--config-file", str(config), "run", f"{address}/openapi.json",
        "--checks", "all", "--max-examples", str(examples), "--phases", phases,
        "--request-timeout", "60", "--seed", str(seed),
        "--continue-on-failure", "-H", f"Authorization: Bearer {secret}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return done.stdout + done.stderr


def table(printed: str, log: str) -> tuple[str, bool]:
    """Return the figures as Markdown, and whether they are as they should be."""
    counted = _SUMMARY.search(printed)
    if counted is None:
        return f"schemathesis has told no figures:\n{printed[-4_000:]}", False
    failures = {name: int(count) for name, count in _FAILURES.findall(printed)}
    of_server = sum(count for name, count in failures.items() if "erver error" in name)
    of_schema = sum(failures.values()) - of_server
    operations = _OPERATIONS.search(printed)
    unforeseen = log.count("request_failed") + log.count("stream_failed")
    rows = [
        ("operations", operations[1] if operations else "?"),
        ("examples", f"{int(counted[1]):,}"),
        ("server errors", str(of_server)),
        ("violations of the description", str(of_schema)),
        ("errors in the log that nobody foresaw", str(unforeseen)),
        *((f"  {name}", str(count)) for name, count in failures.items()),
    ]
    told = "\n".join(["| what | count |", "| --- | ---: |", *(f"| {name} | {count} |" for name, count in rows)])
    return told, not failures and not unforeseen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=30, help="random examples for each operation, at most")
    parser.add_argument("--seed", type=int, default=1, help="of what is generated")
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful", help="phases of schemathesis")
    parser.add_argument("--keep", type=Path, help="file for all that schemathesis prints")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with served(home) as (address, secret):
            printed = run(address, secret, home, examples=asked.examples, seed=asked.seed, phases=asked.phases)
        told, well = table(printed, (home / "server.log").read_text("utf-8"))
    if asked.keep is not None:
        asked.keep.write_text(printed, "utf-8")
    print(told)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
