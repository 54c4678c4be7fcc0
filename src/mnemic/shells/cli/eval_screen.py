"""An evaluation in a terminal: a bar while it runs, and the tables when it is done.

Without a terminal the bar is one line for each conversation. All figures come from the document that is also written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from rich import box, progress
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from mnemic.shells.cli.wording import DASH, one_line, plural, took

if TYPE_CHECKING:
    from mnemic.evaluation.datasets import Dataset
    from mnemic.evaluation.running import Step
    from mnemic.shells.cli.face import Face

ALL: Final = "all answerable"
COLUMNS: Final = (
    ("recall@10", "turn recall@10"),
    ("any-hit\n@10", "turn any-hit@10"),
    ("recall@20", "turn recall@20"),
    ("nDCG@10", "turn nDCG@10"),
    ("session\nrecall@10", "session recall@10"),
)
"""Headings and measures of the tables."""

PACKED: Final = ("in 2,000\ntokens", "context recall@2000")
LISTED: Final = 12
"""Conversations and problems that the terminal lists; the report has all."""


class Progress:
    """A bar of questions (or of a `unit`) on stderr, or a note for each conversation where there is no terminal."""

    def __init__(self, face: Face, dataset: Dataset, folder: Path, *, unit: str = "questions") -> None:
        self._face = face
        self._dataset = dataset
        self._folder = folder
        self._begun = False
        self._live = not (face.quiet or not face.err.is_terminal)
        self._bar = progress.Progress(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}", table_column=None),
            progress.BarColumn(bar_width=24),
            progress.MofNCompleteColumn(),
            progress.TextColumn(unit),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
            console=face.err,
            transient=True,
            disable=not self._live,
        )
        self._task = self._bar.add_task("opening", total=dataset.questions)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        if kind is not None and self._begun:
            self._face.note(f"what is done lies in {self._folder}; the same command goes on from there")

    def told(self, step: Step) -> None:
        """Show where a run is."""
        name = one_line(step.conversation, 30)
        if step.stage == "start":
            self._begin(step)
        elif step.stage == "read":
            self._bar.update(self._task, description=f"{name}: storing")
        elif step.stage == "store" and step.stored is not None:
            record = step.stored
            self._bar.update(self._task, description=f"{name}: asking")
            self._face.note(
                f"{name}: {plural(record.messages, 'turn')} stored in {took(record.adding)}"
                f"{f', refined in {took(record.refining)}' if record.refining else ''}; "
                f"{plural(record.questions, 'question')}"
            )
        self._bar.update(self._task, completed=step.asked, total=step.questions or None)

    def _begin(self, step: Step) -> None:
        self._begun = True
        dataset = self._dataset
        self._face.note(
            f"{dataset.name}: {plural(dataset.conversations, 'conversation')}, "
            f"{plural(dataset.questions, 'question')}; state in {self._folder}"
        )
        if step.changed:
            self._face.note(f"starting anew; changed since the last run: {', '.join(step.changed)}")
        elif step.resumed:
            self._face.note("going on where the last run stopped (--fresh starts anew)")


def tables(found: Mapping[str, Any], paths: Mapping[str, str]) -> RenderableType:
    """Return all tables of an evaluation."""
    return Group(
        title("How well it finds", "mean, and 95% interval over questions"),
        _categories(found),
        *_compared(found),
        *_spread(found),
        *_absent(found),
        title("Time", "p50 / p95 of one question"),
        _times(found),
        *_problems(found),
        Text(),
        _stored(found),
        Text.assemble("results: ", (paths["results"], "bold cyan"), "   report: ", (paths["report"], "bold cyan")),
    )


def title(name: str, more: str = "") -> RenderableType:
    """Return a heading with a rule."""
    return Group(Text(), Rule(Text.assemble((name, "bold"), (f"  {more}" if more else "", "dim")), align="left",
                              style="dim"))  # fmt: skip


def table_of(first: str, headings: Sequence[str]) -> Table:
    """Return an empty table whose figures stand on the right."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    table.add_column(first, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True, vertical="top")
    return table


def _categories(found: Mapping[str, Any]) -> Table:
    table = table_of("questions", ["n", *(heading for heading, _ in COLUMNS), PACKED[0]])
    for name, group in found["systems"]["mnemic"]["groups"].items():
        measures = group["measures"]
        cells = [with_interval(measures.get(measure)) for _, measure in (*COLUMNS, PACKED)]
        table.add_row(name, f"{group['scored']:,}", *cells, style="bold" if name == ALL else "", end_section=False)
    return table


def with_interval(estimate: Mapping[str, float] | None) -> Text:
    """Return a mean with its interval below it."""
    if estimate is None:
        return Text(DASH, "dim")
    return Text.assemble(f"{estimate['mean']:.3f}", (f"\n{estimate['low']:.2f}{DASH}{estimate['high']:.2f}", "dim"))


def _compared(found: Mapping[str, Any]) -> list[RenderableType]:
    if len(found["systems"]) < 2:
        return []
    table = table_of("system", [heading for heading, _ in COLUMNS])
    for name, system in found["systems"].items():
        measures = system["groups"][ALL]["measures"]
        cells = [f"{measures[measure]['mean']:.3f}" if measure in measures else DASH for _, measure in COLUMNS]
        table.add_row(name, *cells, style="bold" if name == "mnemic" else "")
    return [title("Beside", "the same turns, the same embeddings, all answerable questions"), table]


def _spread(found: Mapping[str, Any]) -> list[RenderableType]:
    system = found["systems"]["mnemic"]
    if len(system["conversations"]) < 2 or all(row["n"] < 2 for row in system["conversations"].values()):
        return []
    table = table_of("over conversations", ["mean", "lowest", "highest", "sd", "95%, resampling conversations"])
    for measure, spread in system["spread"].items():
        estimate = system["groups"][ALL]["measures"][measure]
        interval = f"{estimate['cluster low']:.3f}{DASH}{estimate['cluster high']:.3f}"
        table.add_row(measure, *(f"{spread[key]:.3f}" for key in ("mean", "min", "max", "sd")), interval)
    return [title("Spread", f"means of {plural(len(system['conversations']), 'conversation')}"), table]


def _absent(found: Mapping[str, Any]) -> list[RenderableType]:
    told = found["abstention"]
    if not told["absent"] or not told["answerable"]:
        return []
    curves = ", ".join(f"{name} {value:.3f}" for name, value in told["AUC"].items() if value is not None)
    lines = [
        Text.assemble("AUC of the confidence  ", (curves, "bold")),
        Text(
            f"`ask` withholds {told['absent withheld']:.3f} of {plural(told['absent'], 'absent question')} and answers "
            f"{told['answerable answered']:.3f} of {told['answerable']:,} others:"
        ),
        Text(
            f"accuracy {told['accuracy']:.3f} at the shipped threshold, balanced {told['balanced accuracy']:.3f}",
        ),
    ]
    return [title("Not in memory", "questions that memory cannot answer, against the others"), *lines]


def _times(found: Mapping[str, Any]) -> Table:
    table = table_of("system", ["search", "without embedding", "context", "ask"])
    for name, times in found["latency"].items():
        keys = ("search with the question's embedding", "search without", "context of 2000 tokens", "ask")
        table.add_row(name, *(median_and_tail(times.get(key)) for key in keys))
    return table


def median_and_tail(times: Mapping[str, float | None] | None) -> str:
    """Return the median and the 95th percentile."""
    if times is None or times["p50"] is None or times["p95"] is None:
        return DASH
    return f"{took(times['p50'])} / {took(times['p95'])}"


def _problems(found: Mapping[str, Any]) -> list[RenderableType]:
    problems = found["problems"]
    if not problems:
        return []
    lines = [
        Text.assemble(
            (f"{each['question'] or each['conversation']}  ", "cyan"), one_line(each["what"], 80),
            (f"\n  {one_line(each['text'], 90)}", "dim"),
        )
        for each in problems[:LISTED]
    ]  # fmt: skip
    rest = len(problems) - LISTED
    more = [Text(f"and {rest:,} more, in the report", "dim")] if rest > 0 else []
    return [title("Wrong in the file", "nothing is dropped in silence"), *lines, *more]


def _stored(found: Mapping[str, Any]) -> Text:
    storing, dataset = found["storing"], found["dataset"]
    whole = storing["turns stored"] == storing["turns in the file"]
    counted = (
        f"all {storing['turns stored']:,} turns stored"
        if whole
        else f"{storing['turns stored']:,} of {storing['turns in the file']:,} turns stored, the others have no words"
    )
    return Text(
        f"{counted} in {took(storing['seconds adding'])}; {plural(dataset['questions'], 'question')} asked, "
        f"{dataset['scored by turns']:,} with evidence, {dataset['absent']:,} absent",
        "bold",
    )
