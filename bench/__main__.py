"""The command: `./dev bench`, which measures all, or one part of it. `--quick` proves in seconds that it works."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import adding, disk, peers, reopening, searching, startup
from bench.corpus import LOCOMO
from bench.shelves import Shelves
from bench.tables import RESULTS, Table, circumstances, write_results

PARTS = ("add", "search", "disk", "startup", "reopen")
LONG = ("ingest", "million", "simulation", "scheduling")
"""Parts that take long, and are measured only when they are named."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write what was asked for; return the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(given)
    circumstance = circumstances(given)  # before the load that this run makes itself
    tables: list[Table] = []
    with Shelves() as shelves:
        parts: dict[str, Callable[[], list[Table]]] = {
            "add": lambda: adding.tables(quick=options.quick, data=options.data),
            "search": lambda: searching.tables(shelves, quick=options.quick),
            "ingest": lambda: adding.whole(data=options.data, quick=options.quick),
            "million": lambda: [
                *searching.million(shelves, quick=options.quick),
                *reopening.million(shelves, quick=options.quick),
            ],
            "disk": lambda: disk.tables(quick=options.quick),
            "startup": lambda: startup.tables(quick=options.quick),
            "reopen": lambda: reopening.tables(shelves, quick=options.quick),
            "simulation": lambda: _simulation(quick=options.quick),
            "scheduling": lambda: _scheduling(quick=options.quick),
        }
        for part in PARTS if options.part == "all" else (options.part,):
            found = parts[part]()
            tables += found
            print("\n" + "\n".join(table.markdown() for table in found), flush=True)
    if options.part == "all":
        tables += peers.tables()
    if options.json:
        document = {"run": circumstance, "tables": [table.as_json() for table in tables]}
        options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if options.write:
        write_results(tables, circumstance)
        print(f"written to {RESULTS.name}")
    return 0


def _simulation(*, quick: bool) -> list[Table]:
    from bench.simulation.__main__ import tables  # noqa: PLC0415 - only this part needs it
    from bench.simulation.scenes import FULL, SMALL  # noqa: PLC0415 - as above

    return list(tables(SMALL if quick else FULL))


def _scheduling(*, quick: bool) -> list[Table]:
    from bench.scheduling.__main__ import PARTS as MEASURED  # noqa: PLC0415 - only this part needs servers
    from bench.scheduling.engines import Servers  # noqa: PLC0415 - as above

    with Servers() as servers:
        return [table for measure in MEASURED.values() for table in measure(servers, quick=quick)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench", description="Measure speed and size, as ratios to a floor in the same run."
    )
    parser.add_argument(
        "part",
        nargs="?",
        choices=("all", *PARTS, *LONG),
        default="all",
        help=f"what to measure (all: all but {' and '.join(LONG)})",
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes: proves that it works, its figures mean nothing"
    )
    parser.add_argument("--data", type=Path, default=LOCOMO, help="a file in LoCoMo's layout, for adding real turns")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to a file")
    parser.add_argument("--write", action="store_true", help=f"write the tables into {RESULTS.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
