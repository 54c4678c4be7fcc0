"""Runs what `mnemic eval` was asked for, search or answers, and hands out figures, page and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnemic import config
from mnemic.errors import InputError
from mnemic.evaluation.answer_running import BUDGET, SEED, Answers, run_answers
from mnemic.evaluation.answer_summing import answers_document
from mnemic.evaluation.running import Options, run
from mnemic.evaluation.summing import document
from mnemic.shells.cli import eval_answer_report, eval_answer_screen, eval_report, eval_screen

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mnemic.evaluation.datasets import Dataset
    from mnemic.shells.cli.eval_options import Asked, Sought
    from mnemic.shells.cli.face import Face


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run gave: the document, the page for the browser, and the tables for a terminal."""

    found: dict[str, Any]
    page: str
    tables: Callable[[Mapping[str, str]], RenderableType]


def find(face: Face, dataset: Dataset, folder: Path, asked: Asked, sought: Sought) -> Ran:
    """Measure what search finds."""
    stray = next((each.name for each in fields(sought) if getattr(sought, each.name) not in (None, False)), None)
    if stray is not None:
        raise InputError(stray, "is an option of answers; add --answers")
    with eval_screen.Progress(face, dataset, folder) as progress:
        found = document(run(dataset, _options(face, folder, asked), told=progress.told))
    return Ran(found, eval_report.page(found), lambda paths: eval_screen.tables(found, paths))


def answer(face: Face, dataset: Dataset, folder: Path, asked: Asked, sought: Sought) -> Ran:
    """Measure answers."""
    if (sought.price_in is None) != (sought.price_out is None):
        raise InputError("price_in" if sought.price_in is None else "price_out", "is missing: give both prices")
    answers = Answers(
        conditions=_names(sought.conditions or ""),
        budget=BUDGET if sought.budget is None else sought.budget,
        limit=sought.limit,
        seed=SEED if sought.seed is None else sought.seed,
        price_in=sought.price_in,
        price_out=sought.price_out,
    )
    with eval_screen.Progress(face, dataset, folder, unit="answers") as progress:
        found = answers_document(run_answers(dataset, _options(face, folder, asked), answers, told=progress.told))
    return Ran(found, eval_answer_report.page(found), lambda paths: eval_answer_screen.tables(found, paths))


def _options(face: Face, folder: Path, asked: Asked) -> Options:
    return Options(
        folder=folder,
        settings=config.load(face.home),
        baselines=tuple(name for name in _names(asked.baselines) if name != "none"),
        only=asked.only,
        first=asked.first,
        drop=asked.drop,
        fresh=asked.fresh,
        refine=not asked.unrefined,
    )


def _names(given: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in given.split(",") if name.strip())
