"""Learns the weights of the ranking, shows by cross-validation what they bring, and writes them with `--write`.

    python -m bench.fitting --locomo FILE --assistants FILE --by-hand FILE

The weights are learned from a file in LoCoMo's layout and from the first ten people of `python -m bench.assistants`.
The others, and the chats written by hand, are only measured on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.assistants import split
from bench.fitting.gathering import Sheet, gather
from bench.fitting.learning import learn
from bench.fitting.measuring import GROUPS, Measured, by_fusion, crossed, measure
from bench.fitting.writing import TABLE, written

BESIDES = 0.5
"""How much a question of the generated chats counts in learning: their sentences are templates, and soon learned."""

CLOSE = 100
"""Passages of a question that are learned from: those that the plain sum puts first."""


@dataclass(frozen=True, slots=True)
class Sets:
    """The sheets: cross-validated over, learned from besides, and only measured on."""

    names: Sequence[str]
    crossed: Sequence[Sheet]
    besides: Sequence[Sheet]
    test: Sequence[Sheet]
    by_hand: Sequence[Sheet]


def main(arguments: Sequence[str] | None = None) -> int:
    """Learn, show and perhaps write; return the exit status."""
    parser = argparse.ArgumentParser(prog="bench.fitting", description=__doc__)
    parser.add_argument("--locomo", type=Path, required=True, help="a file in LoCoMo's layout")
    parser.add_argument("--assistants", type=Path, required=True, help="what `python -m bench.assistants` wrote")
    parser.add_argument("--by-hand", type=Path, default=Path(__file__).parents[1] / "assistants" / "by_hand.jsonl")
    parser.add_argument("--folder", type=Path, help="where vectors and memories are kept for another run")
    parser.add_argument("--ablate", action="store_true", help="leave out each kind of feature in turn")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    with TemporaryDirectory() as temporary:
        sets = _sets(options, options.folder or Path(temporary))
    fusion = learn(sets.names, [*sets.crossed, *sets.besides], sets.names)
    _show(sets, ablate=options.ablate)
    if options.write:
        TABLE.write_text(written(fusion), "utf-8")
        print(f"\n{len(fusion.rows)} features written to {TABLE}")
    return 0


def _sets(options: argparse.Namespace, folder: Path) -> Sets:
    names, locomo = gather("locomo", options.locomo, folder / "locomo")
    _, assistants = gather("jsonl", options.assistants, folder / "assistants")
    _, by_hand = gather("jsonl", options.by_hand, folder / "by_hand")
    learned = [replace(sheet, weight=BESIDES) for sheet in assistants if split(sheet.group) == "dev"]
    rest = [sheet for sheet in assistants if split(sheet.group) == "test"]
    return Sets(names, _close(locomo), _close(learned), _close(rest), _close(by_hand))


def _close(sheets: Iterable[Sheet]) -> list[Sheet]:
    return [_first(sheet, np.sort(np.argsort(-sheet.plain, kind="stable")[:CLOSE])) for sheet in sheets]


def _first(sheet: Sheet, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Sheet:
    return replace(
        sheet,
        features=sheet.features[places],
        plain=sheet.plain[places],
        owners=sheet.owners[places],
        turns=[sheet.turns[int(at)] for at in places],
    )


def _show(sets: Sets, *, ablate: bool) -> None:
    print("| ranking | questions | recall@10 | any-hit@10 | recall@20 | lowest | highest |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    files = {"LoCoMo": sets.crossed, "assistants, test": sets.test, "by hand": sets.by_hand}
    for name, sheets in files.items():
        _line(f"plain sum: {name}", measure(sheets, lambda sheet: sheet.plain))
    _learned("learned", sets, sets.names)
    if ablate:
        for kind, left in GROUPS.items():
            _learned(f"without {kind}", sets, [name for name in sets.names if name not in left])


def _learned(title: str, sets: Sets, chosen: Sequence[str]) -> None:
    name = sets.crossed[0].data
    _line(f"{title}: LoCoMo, cross-validated", crossed(sets.names, sets.crossed, sets.besides, chosen, leave=name))
    fusion = learn(sets.names, [*sets.crossed, *sets.besides], chosen)
    for part, sheets in (("assistants, test", sets.test), ("by hand", sets.by_hand)):
        _line(f"{title}: {part}", measure(sheets, by_fusion(fusion, sets.names)))


def _line(title: str, found: Measured) -> None:
    print(f"| {title} | {' | '.join(found.cells)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
