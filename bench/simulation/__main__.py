"""The command: `python -m bench.simulation [--small] [--seed N] [--workers N] [--cubes N] [--exponent S]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench.simulation import showing
from bench.simulation.scenes import FULL, SMALL, Size
from bench.tables import Table
from mnemic.model.sharding import shard_of


def tables(size: Size) -> Iterator[Table]:
    """Yield all tables, one after another as they are ready."""
    yield from showing.ages(size, shard_of)
    yield showing.burst(size, shard_of)
    yield showing.shards(size, shard_of)
    yield showing.rules()
    yield showing.claiming(size, shard_of)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate and print; return the exit status."""
    parser = argparse.ArgumentParser(prog="bench.simulation", description="Simulate workers and cubes.")
    parser.add_argument("--small", action="store_true", help="a small size: proves in seconds that it works")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--cubes", type=int)
    parser.add_argument("--exponent", type=float)
    given = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    size = SMALL if given.pop("small") else FULL
    for table in tables(replace(size, **given)):
        print(table.markdown(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
