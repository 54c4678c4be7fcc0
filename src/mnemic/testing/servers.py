"""Runs a command with a PostgreSQL and a Redis server of its own: `python -m mnemic.testing.servers -- pytest ...`.

The command finds their addresses in its environment; those that are there already are left as they are. Both servers
end with the command. When one does not start, nothing is run: tests that need it would be left out unseen.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Final

from mnemic.errors import StoreError
from mnemic.testing import postgres_server
from mnemic.testing.redis_server import RedisServer

REDIS_VARIABLE: Final = "TEST_REDIS_URL"
"""In the environment: the Redis that tests use."""

_PASSED_ON: Final = (signal.SIGINT, signal.SIGTERM)


def run(command: Sequence[str]) -> int:
    """Run a command beside the servers; return its exit status."""
    with ExitStack() as stack:
        addresses = {}
        if postgres_server.URL_VARIABLE not in os.environ:
            postgres = postgres_server.start_postgres()
            stack.callback(postgres.close)
            addresses[postgres_server.URL_VARIABLE] = postgres.url
        if REDIS_VARIABLE not in os.environ:
            redis = RedisServer().start()
            stack.callback(redis.stop)
            addresses[REDIS_VARIABLE] = redis.url
        return _waited_for(command, {**os.environ, **addresses})


def _waited_for(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end; what would end this process is passed on to it, as the servers end after it."""
    with subprocess.Popen(list(command), env=dict(environment)) as process:  # noqa: S603 - what the caller wants run
        before = {each: signal.signal(each, lambda number, _: process.send_signal(number)) for each in _PASSED_ON}
        try:
            return process.wait()
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def main(arguments: Sequence[str]) -> int:
    """Run what the command line says."""
    command = list(arguments[1:] if arguments[:1] == ["--"] else arguments)
    if not command:
        sys.stderr.write("usage: python -m mnemic.testing.servers -- COMMAND [ARGUMENTS]\n")
        return 2
    try:
        return run(command)
    except (StoreError, RuntimeError, OSError) as error:
        sys.stderr.write(f"the servers that tests need could not be started: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
