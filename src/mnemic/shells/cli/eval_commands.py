"""`mnemic eval`: measures how well memory finds and answers, on LoCoMo, LongMemEval, or conversations of your own.

State, results and report lie in one folder; the same command again goes on where the last one stopped. The figures are
`mnemic.evaluation`'s.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from mnemic.errors import InputError
from mnemic.shells.cli.commands import group
from mnemic.shells.cli.eval_options import Asked, Sought
from mnemic.shells.cli.face import Face, face_of

EVAL: Final = group("Measure how well memory finds, or answers, on a file of conversations with questions.")

RESULTS: Final = "results.json"
REPORT: Final = "report.html"

PANEL: Final = "With --answers"

File = Annotated[Path, typer.Argument(help="The file to measure on.", show_default=False)]
Out = Annotated[
    Path | None, typer.Option(help="Folder of state, results and report (default: FILE-eval here, or FILE-answers).")
]
Baselines = Annotated[
    str, typer.Option(help="What to compare with: any of dense, text, rrf, mem0, with commas; or none.")
]
Only = Annotated[list[str] | None, typer.Option(help="Only this conversation (of LongMemEval: question); repeatable.")]
First = Annotated[int | None, typer.Option(min=1, help="No more than the first so many conversations.")]
Drop = Annotated[bool, typer.Option("--drop", help="Delete each conversation's memory once it is measured.")]
Unrefined = Annotated[
    bool, typer.Option("--unrefined", help="Search messages alone: run no background work, form no memories.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start anew, whatever an earlier run has done.")]
ToAnswer = Annotated[bool, typer.Option("--answers", help="Measure answers instead of what is found.")]
Conditions = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=PANEL,
        help="What to answer from: any of none, full, mnemic, ask, extractive, with commas "
        "(default: none,full,mnemic,extractive; without a language model, extractive).",
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=PANEL, help="Tokens of the context that memory packs (default: 2000)."),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=PANEL, help="No more than so many questions a category and conversation."),
]
Seed = Annotated[int | None, typer.Option(rich_help_panel=PANEL, help="Which questions a limit draws (default: 2026).")]
PriceIn = Annotated[
    float | None, typer.Option(min=0, rich_help_panel=PANEL, help="What the model costs for a million tokens in.")
]
PriceOut = Annotated[
    float | None, typer.Option(min=0, rich_help_panel=PANEL, help="What it costs for a million tokens out.")
]

BASELINES: Final = "dense,text,rrf"


@EVAL.command("locomo")
def locomo(
    context: typer.Context,
    file: File,
    *,
    out: Out = None,
    baselines: Baselines = BASELINES,
    only: Only = None,
    first: First = None,
    drop: Drop = False,
    fresh: Fresh = False,
    unrefined: Unrefined = False,
    answers: ToAnswer = False,
    conditions: Conditions = None,
    budget: Budget = None,
    limit: Limit = None,
    seed: Seed = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
) -> None:
    """Measure on a file in LoCoMo's layout."""
    measure(
        face_of(context), "locomo", file,
        Asked(out, baselines, tuple(only or ()), first, drop, fresh, unrefined),
        Sought(answers, conditions, budget, limit, seed, price_in, price_out),
    )  # fmt: skip


@EVAL.command("longmemeval")
def longmemeval(
    context: typer.Context,
    file: File,
    *,
    out: Out = None,
    baselines: Baselines = BASELINES,
    only: Only = None,
    first: First = None,
    drop: Drop = False,
    fresh: Fresh = False,
    unrefined: Unrefined = False,
    answers: ToAnswer = False,
    conditions: Conditions = None,
    budget: Budget = None,
    limit: Limit = None,
    seed: Seed = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
) -> None:
    """Measure on a LongMemEval file: S, M or oracle.

    Each question has a haystack of its own, and so a memory of its own.
    """
    measure(
        face_of(context), "longmemeval", file,
        Asked(out, baselines, tuple(only or ()), first, drop, fresh, unrefined),
        Sought(answers, conditions, budget, limit, seed, price_in, price_out),
    )  # fmt: skip


@EVAL.command("jsonl")
def jsonl(
    context: typer.Context,
    file: File,
    *,
    out: Out = None,
    baselines: Baselines = BASELINES,
    only: Only = None,
    first: First = None,
    drop: Drop = False,
    fresh: Fresh = False,
    unrefined: Unrefined = False,
    answers: ToAnswer = False,
    conditions: Conditions = None,
    budget: Budget = None,
    limit: Limit = None,
    seed: Seed = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
) -> None:
    """Measure on conversations of your own, as JSON Lines.

    A line is a message or a question about what was said; docs/evaluation.md tells the fields.
    """
    measure(
        face_of(context), "jsonl", file,
        Asked(out, baselines, tuple(only or ()), first, drop, fresh, unrefined),
        Sought(answers, conditions, budget, limit, seed, price_in, price_out),
    )  # fmt: skip


def measure(face: Face, layout: str, file: Path, asked: Asked, sought: Sought) -> None:
    """Run a file, write results and report, and show the tables."""
    from mnemic.evaluation.opening import open_dataset  # noqa: PLC0415 - a second of imports that help does not need
    from mnemic.shells.cli.eval_answering import answer, find  # noqa: PLC0415

    dataset = open_dataset(layout, file)
    folder = asked.out or Path(f"{file.stem}-{'answers' if sought.answers else 'eval'}")
    ran = answer(face, dataset, folder, asked, sought) if sought.answers else find(face, dataset, folder, asked, sought)
    _write(folder / RESULTS, json.dumps(ran.found, indent=1) + "\n")
    _write(folder / REPORT, ran.page)
    paths = {"results": str(folder / RESULTS), "report": str(folder / REPORT)}
    shown: dict[str, Any] = {key: value for key, value in ran.found.items() if key != "questions"} | paths
    face.show(shown, lambda: ran.tables(paths))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError("out", f"cannot write {path}: {error.strerror}") from error
