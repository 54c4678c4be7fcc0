"""Answers in a terminal: tables by category and by condition, from the document that is also written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from mnemic.shells.cli.eval_screen import median_and_tail, table_of, title, with_interval
from mnemic.shells.cli.wording import DASH, one_line, plural

ALL: Final = "all answerable"
EVERYTHING: Final = "all"
WHOLE: Final = (ALL, EVERYTHING)
COLUMNS: Final = (("F1", "F1"), ("BLEU-1", "BLEU-1"), ("date\nexact", "date exact"), ("date\ninside", "date inside"),
                  ("judged\nright", "judged right"))  # fmt: skip
"""Headings and measures of the answerable questions."""

LISTED: Final = 8
"""Failures that the terminal lists; the report has all."""


def tables(found: Mapping[str, Any], paths: Mapping[str, str]) -> RenderableType:
    """Return all tables of a run of answers."""
    return Group(
        title("How right the answers are", "F1 of the answerable, share withheld of the absent; 95% over questions"),
        _categories(found),
        title("By condition", "what the question was answered from"),
        _conditions(found),
        *_judge(found),
        title("What a question takes", "means; p50 / p95 of the time"),
        _costs(found),
        *_paired(found),
        *_failed(found),
        Text(),
        Text(sampled(found), "bold"),
        Text.assemble("results: ", (paths["results"], "bold cyan"), "   report: ", (paths["report"], "bold cyan")),
    )


def sampled(found: Mapping[str, Any]) -> str:
    """Return which questions were asked, in a sentence."""
    dataset, sample = found["dataset"], found["sample"]
    asked = f"{plural(dataset['questions'], 'question')} of {dataset['questions in the file']:,} in the file"
    if dataset["conversations"] < dataset["conversations in the file"]:
        asked += f", from {dataset['conversations']:,} of {dataset['conversations in the file']:,} conversations"
    drawn = (
        f", no more than {sample['limit']} a category and conversation, drawn by the seed {sample['seed']}"
        if sample["limit"] is not None
        else ""
    )
    without = len(sample["without a gold answer"])
    left = f"; {plural(without, 'question')} without a gold answer left out" if without else ""
    return f"{asked}{drawn}{left}; {dataset['absent']:,} absent"


def _categories(found: Mapping[str, Any]) -> RenderableType:
    names = list(found["conditions"])
    table = table_of("questions", ["n", *names])
    groups = next(iter(found["conditions"].values()))["groups"]
    for group, figures in groups.items():
        cells = []
        for name in names:
            own = found["conditions"][name]["groups"][group]
            cell = with_interval(own["measures"].get("score"))
            if own["answered"] < own["n"]:
                cell.append(f"\n{own['answered']} of {own['n']}", "yellow")
            cells.append(cell)
        table.add_row(group, f"{figures['n']:,}", *cells, style="bold" if group in WHOLE else "")
    return table


def _conditions(found: Mapping[str, Any]) -> RenderableType:
    held = [each for each in COLUMNS if any(each[1] in _whole(one) for one in found["conditions"].values())]
    absent = bool(found["dataset"]["absent"])
    headings = [heading for heading, _ in held] + ["withheld\nothers", *(["withheld\nabsent"] if absent else [])]
    table = table_of("condition", headings)
    for name, condition in found["conditions"].items():
        measures = _whole(condition)
        cells: list[Text | str] = [with_interval(measures.get(measure)) for _, measure in held]
        cells.append(with_interval(measures.get("withheld")))
        cells += [with_interval(_absent(condition))] if absent else []
        table.add_row(name, *cells, style="bold" if name == "mnemic" else "")
    return table


def _whole(condition: Mapping[str, Any]) -> Mapping[str, Any]:
    group = condition["groups"].get(ALL)
    measures: Mapping[str, Any] = {} if group is None else group["measures"]
    return measures


def _absent(condition: Mapping[str, Any]) -> Mapping[str, float] | None:
    """Return the share withheld of the absent questions: of their last group, for the benchmarks have one."""
    names = list(condition["groups"])
    after = names[names.index(ALL) + 1 : -1] if ALL in names else names[:-1]
    estimate: Mapping[str, float] | None = condition["groups"][after[0]]["measures"].get("withheld") if after else None
    return estimate


def _judge(found: Mapping[str, Any]) -> list[RenderableType]:
    if found["about"]["judge"] is None:
        return []
    lines = [
        f"{name}: {each['judged']['readable']:,} judged, {each['judged']['unreadable']:,} judgements could not be read"
        for name, each in found["conditions"].items()
    ]
    return [Text(f"judge {found['about']['judge']}", "dim"), *(Text(line, "dim") for line in lines)]


def _costs(found: Mapping[str, Any]) -> RenderableType:
    priced = any("cost" in each["usage"] for each in found["conditions"].values())
    headings = ["done", "fail", "too\nlong", "context\ntokens", "calls", "tokens\nin", "tokens\nout"]
    table = table_of("condition", [*headings, *(["cost"] if priced else []), "time to answer"])
    for name, condition in found["conditions"].items():
        usage, everything = condition["usage"], condition["groups"][EVERYTHING]
        cells = [f"{everything[key]:,}" for key in ("answered", "failed", "does not fit")]
        longer = condition["too long, tokens"]
        cells += [DASH if longer is None else f"({longer:,.0f})", *[DASH] * 3] if not usage else [
            f"{usage['context tokens']:,.0f}", f"{usage['calls']:.2f}", f"{usage['tokens in']:,.0f}",
            f"{usage['tokens out']:,.1f}",
        ]  # fmt: skip
        cells += [f"{usage['cost']:.6f}" if usage else DASH] if priced else []
        table.add_row(name, *cells, median_and_tail(condition["latency"]["answer"]))
    return table


def _paired(found: Mapping[str, Any]) -> list[RenderableType]:
    if not found["paired"]:
        return []
    lines = []
    for pair in found["paired"]:
        for name, each in pair["measures"].items():
            told = "F1, or withheld when absent" if name == "score" else name
            lines.append(Text.assemble(
                f"{pair['of']} over {pair['over']}, {told}: ", (f"{each['mean']:+.3f}", "bold"),
                f"  ({each['low']:+.3f} to {each['high']:+.3f}, {each['n']:,} questions that both answered)",
            ))  # fmt: skip
    return [title("Difference", "paired, with its 95% interval over questions"), *lines]


def _failed(found: Mapping[str, Any]) -> list[RenderableType]:
    failed = found["failed"]
    if not failed:
        return []
    lines = [
        Text.assemble((f"{each['id']} {each['condition']} ", "cyan"), one_line(f"{each['stage']}: {each['error']}", 90))
        for each in failed[:LISTED]
    ]
    more = [Text(f"and {len(failed) - LISTED:,} more, in the report", "dim")] if len(failed) > LISTED else []
    return [title("Failed", "not scored; the same command asks them again"), *lines, *more]
