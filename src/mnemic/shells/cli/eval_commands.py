"""`mnemic eval`: measures how well memory finds, on LoCoMo, LongMemEval, or conversations and questions of your own.

State, results and report lie in one folder; the same command again goes on where the last one stopped. The figures are
`mnemic.evaluation`'s.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from mnemic.errors import InputError
from mnemic.shells.cli.commands import group
from mnemic.shells.cli.face import Face, face_of

EVAL: Final = group("Measure how well memory finds, on a file of conversations with questions.")

RESULTS: Final = "results.json"
REPORT: Final = "report.html"

File = Annotated[Path, typer.Argument(help="The file to measure on.", show_default=False)]
Out = Annotated[Path | None, typer.Option(help="Folder of state, results and report (default: FILE-eval here).")]
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

BASELINES: Final = "dense,text,rrf"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options of a run say."""

    out: Path | None
    baselines: str
    only: tuple[str, ...]
    first: int | None
    drop: bool
    fresh: bool
    unrefined: bool


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
) -> None:
    """Measure on a file in LoCoMo's layout."""
    measure(face_of(context), "locomo", file, Asked(out, baselines, tuple(only or ()), first, drop, fresh, unrefined))


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
) -> None:
    """Measure on a LongMemEval file: S, M or oracle.

    Each question has a haystack of its own, and so a memory of its own.
    """
    measure(
        face_of(context), "longmemeval", file, Asked(out, baselines, tuple(only or ()), first, drop, fresh, unrefined)
    )


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
) -> None:
    """Measure on conversations of your own, as JSON Lines.

    A line is a message or a question about what was said; docs/evaluation.md tells the fields.
    """
    measure(face_of(context), "jsonl", file, Asked(out, baselines, tuple(only or ()), first, drop, fresh, unrefined))


def measure(face: Face, layout: str, file: Path, asked: Asked) -> None:
    """Run a file, write results and report, and show the tables."""
    from mnemic import config  # noqa: PLC0415 - a second of imports that help does not need
    from mnemic.evaluation.opening import open_dataset  # noqa: PLC0415
    from mnemic.evaluation.running import Options, run  # noqa: PLC0415
    from mnemic.evaluation.summing import document  # noqa: PLC0415
    from mnemic.shells.cli import eval_report, eval_screen  # noqa: PLC0415

    dataset = open_dataset(layout, file)
    names = [name.strip() for name in asked.baselines.split(",") if name.strip() not in ("", "none")]
    options = Options(
        folder=asked.out or Path(f"{file.stem}-eval"),
        settings=config.load(face.home),
        baselines=tuple(names),
        only=asked.only,
        first=asked.first,
        drop=asked.drop,
        fresh=asked.fresh,
        refine=not asked.unrefined,
    )
    with eval_screen.Progress(face, dataset, options.folder) as progress:
        found = document(run(dataset, options, told=progress.told))
    _write(options.folder / RESULTS, json.dumps(found, indent=1) + "\n")
    _write(options.folder / REPORT, eval_report.page(found))
    paths = {"results": str(options.folder / RESULTS), "report": str(options.folder / REPORT)}
    shown: dict[str, Any] = {key: value for key, value in found.items() if key != "questions"} | paths
    face.show(shown, lambda: eval_screen.tables(found, paths))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError("out", f"cannot write {path}: {error.strerror}") from error
