"""The command: `./dev faults [--engine sqlite|postgres|redis …] [--seconds 120] [--seed 7] [--kills N]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bench.faults.campaign import Plan, run
from bench.faults.places import ENGINES


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaigns and print what they come to; 1 when anything was lost, invented or done twice."""
    parser = argparse.ArgumentParser(prog="faults", description="Kill and disturb everything, and count what is lost.")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="which engines (all); may be repeated")
    parser.add_argument("--seconds", type=float, default=120.0, help="how long each campaign lasts at most")
    parser.add_argument("--seed", type=int, default=7, help="what happens, and in which order")
    parser.add_argument("--kills", type=int, default=0, help="end a campaign after so many kills")
    parser.add_argument("--adders", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", action="append", default=[], help="only this trouble; may be repeated")
    options = parser.parse_args(arguments)
    wrong = 0
    for engine in options.engine or ENGINES:
        plan = Plan(engine, options.seed, options.seconds, options.kills, options.adders, options.workers, options.only)
        course = run(plan, lambda line: print(line, file=sys.stderr, flush=True))
        print("\n" + course.table().markdown(), flush=True)
        for each in course.findings.wrong[:40]:
            print(f"WRONG: {each}", flush=True)
        wrong += len(course.findings.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
