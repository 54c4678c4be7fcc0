"""The command: `python -m bench.scheduling [throughput|acking|sharing …] [--engine …] [--quick]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from bench.scheduling import acking, sharing, throughput
from bench.scheduling.engines import ENGINES, Servers
from bench.tables import Table, circumstances

PARTS: Final[Mapping[str, Callable[..., list[Table]]]] = {
    "throughput": throughput.tables,
    "acking": acking.tables,
    "sharing": sharing.tables,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit status."""
    parser = argparse.ArgumentParser(prog="bench.scheduling", description="Measure the scheduler.")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to measure (all)")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="which engines (all); may be repeated")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: proves in a minute that it works")
    options = parser.parse_args(arguments)
    print(circumstances(["scheduling", *(arguments or sys.argv[1:])]), flush=True)
    with Servers() as servers:
        for part in options.parts or PARTS:
            for engine in options.engine or ENGINES:
                for table in PARTS[part](servers, quick=options.quick, engines=[engine]):
                    print("\n" + table.markdown(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
