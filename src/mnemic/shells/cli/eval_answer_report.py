"""Answers as one page for the browser: tables, plots by category, against tokens and over time, and every answer.

It stands alone (`mnemic.shells.cli.report_frame`); whatever file and model said passes through `safe`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mnemic.shells.cli import report_frame
from mnemic.shells.cli.eval_answer_screen import ALL, EVERYTHING, WHOLE, sampled
from mnemic.shells.cli.eval_plots import Axis, Curve, Point, Row, Span, curves, rows, spans
from mnemic.shells.cli.eval_sections import estimate_cell, figures_table, quantiles_cell
from mnemic.shells.cli.report_frame import section
from mnemic.shells.cli.report_plots import safe, tag
from mnemic.shells.cli.wording import DASH, one_line, plural, took

STYLE: Final = "eval_report.css"

STYLES: Final[Mapping[str, str]] = {
    "mnemic": "mnemic", "full": "dense", "none": "text", "extractive": "rrf", "ask": "other",
}  # fmt: skip
"""The colours of the conditions, which are those of the systems of a search."""

NAMES: Final[Mapping[str, str]] = {
    "mnemic": "Mnemic's context", "full": "the whole conversation", "none": "nothing", "extractive": "ask, no model",
    "ask": "ask, with the model",
}  # fmt: skip

MEASURES: Final = ("F1", "BLEU-1", "date exact", "date inside", "judged right", "withheld", "evidence in context")
LISTED: Final = 400
"""Questions whose answers are listed; the results have all."""


def page(found: Mapping[str, Any]) -> str:
    """Return the report of a document (`mnemic.evaluation.answer_summing`) as HTML."""
    plots = [by_category(found), by_tokens(found), by_time(found), judgements(found)]
    body = [
        head(found),
        categories(found),
        conditions(found),
        tag("div", "".join(plots), class_="pair"),
        costs(found),
        paired(found),
        failed(found),
        listed(found),
        about(found),
    ]
    return report_frame.page(f"{found['dataset']['file']}: answers", [part for part in body if part], STYLE)


def head(found: Mapping[str, Any]) -> str:
    """Return the title and the F1 of each condition."""
    cards = [
        (f"{estimate['mean']:.3f}", f"F1, {NAMES[name]}")
        for name, condition in found["conditions"].items()
        if (estimate := _measure(condition, ALL, "F1")) is not None
    ]
    model = found["about"]["depends"]["the model"]
    told = f"{found['dataset']['kind']}: {sampled(found)}; answered by {model or 'rules alone, without a model'}."
    shown = "".join(tag("li", tag("b", value) + tag("span", safe(label))) for value, label in cards)
    return tag("header", tag("h1", safe(found["dataset"]["file"])) + tag("p", safe(told))
               + tag("ul", shown, class_="cards"))  # fmt: skip


def categories(found: Mapping[str, Any]) -> str:
    """Return the table of categories by condition."""
    names = list(found["conditions"])
    lines = []
    for group, first in _groups(found).items():
        cells = [f"{first['n']:,}"]
        for name in names:
            own = found["conditions"][name]["groups"][group]
            counted = "" if own["answered"] == own["n"] else tag("small", f"{own['answered']} of {own['n']}")
            cells.append(estimate_cell(own["measures"].get("score")) + counted)
        lines.append((group, cells, group in WHOLE))
    told = "F1 of answerable questions, the share withheld of absent ones; below it 95% intervals over questions."
    return section("By category", told, figures_table("questions", ["n", *(NAMES[name] for name in names)], lines))


def conditions(found: Mapping[str, Any]) -> str:
    """Return all measures of the answerable questions by condition, with what was not answered."""
    held = [each for each in MEASURES if any(_measure(one, ALL, each) for one in found["conditions"].values())]
    lines = []
    for name, condition in found["conditions"].items():
        everything = condition["groups"][EVERYTHING]
        counts = [f"{everything[key]:,}" for key in ("answered", "does not fit", "failed")] + [
            f"{condition['cut short']:,}"
        ]
        lines.append((NAMES[name], [estimate_cell(_measure(condition, ALL, each)) for each in held] + counts, False))
    told = "Answerable questions that were answered. What failed or does not fit is counted, not scored."
    headings = [*held, "answered", "do not fit", "failed", "cut short"]
    return section("By condition", told, figures_table("answered from", headings, lines))


def by_category(found: Mapping[str, Any]) -> str:
    """Return the scores by category for every condition."""
    groups = []
    for group, first in _groups(found).items():
        each = [
            Row(STYLES[name], estimate["mean"], estimate["low"], estimate["high"], _told(name, estimate))
            for name, condition in found["conditions"].items()
            if (estimate := _measure(condition, group, "score")) is not None
        ]
        if each:
            groups.append((f"{group} ({first['n']:,})", each))
    return section("Answers by category", "Means with 95% intervals; in parentheses the number of questions.",
                   legend(found) + rows(groups, "answers by category and condition"))  # fmt: skip


def by_tokens(found: Mapping[str, Any]) -> str:
    """Return the F1 of each condition against the tokens of its context."""
    drawn = [
        Curve(NAMES[name], STYLES[name], [Point(condition["usage"]["context tokens"], estimate["mean"],
              estimate["low"], estimate["high"], f"{estimate['mean']:.2f}", _told(name, estimate))])
        for name, condition in found["conditions"].items()
        if condition["usage"] and (estimate := _measure(condition, ALL, "F1")) is not None
    ]  # fmt: skip
    most = max((curve.points[0].x for curve in drawn), default=0.0)
    if not most:
        return ""
    marks = [(most * part / 4, f"{most * part / 4:,.0f}") for part in range(5)]
    told = "F1 of answerable questions by the mean of the tokens that stood beside the question."
    return section("F1 against tokens", told, legend(found) + curves(drawn, Axis(marks, "context tokens"), told))


def by_time(found: Mapping[str, Any]) -> str:
    """Return the times of one question as spans from the median to the 95th percentile."""
    groups = []
    for kind, key in (("until the context is there", "context"), ("until the answer is there", "answer")):
        each = [
            Span(STYLES[name], times["p50"], times["p95"],
                 f"{NAMES[name]}: {took(times['p50'])}, 95%: {took(times['p95'])}")
            for name, condition in found["conditions"].items()
            if (times := condition["latency"][key])["p50"] is not None
        ]  # fmt: skip
        if each:
            groups.append((kind, each))
    return section("Time of one question", "From the median (dot) to the 95th percentile.",
                   legend(found) + spans(groups, "time of one question"))  # fmt: skip


def judgements(found: Mapping[str, Any]) -> str:
    """Return what the judge said, and how often that could not be read."""
    if found["about"]["judge"] is None:
        return ""
    lines = []
    for name, condition in found["conditions"].items():
        told = condition["judged"]
        cells = [estimate_cell(_measure(condition, group, "judged right")) for group in WHOLE]
        lines.append((NAMES[name], [*cells, f"{told['readable']:,}", f"{told['unreadable']:,}"], False))
    return section("Judged", f"By {found['about']['judge']}. What cannot be read counts neither as right nor as wrong.",
                   figures_table("answered from", [*WHOLE, "readable", "unreadable"], lines))  # fmt: skip


def costs(found: Mapping[str, Any]) -> str:
    """Return what a question takes by condition."""
    priced = any("cost" in each["usage"] for each in found["conditions"].values())
    lines = []
    for name, condition in found["conditions"].items():
        usage = condition["usage"]
        if not usage:
            continue
        cells = [f"{usage['context tokens']:,.0f}", f"{usage['calls']:.2f}", f"{usage['tokens in']:,.0f}",
                 f"{usage['tokens out']:,.1f}", *([f"{usage['cost']:.6f}"] if priced else []),
                 *(quantiles_cell(condition["latency"][key]) for key in ("context", "answer"))]  # fmt: skip
        lines.append((NAMES[name], cells, False))
    headings = ["context tokens", "calls", "tokens in", "tokens out", *(["cost"] if priced else []), "time to context",
                "time to answer"]  # fmt: skip
    told = "Means over answered questions; of the times p50 and below it p95."
    return section("What a question takes", told, figures_table("answered from", headings, lines))


def paired(found: Mapping[str, Any]) -> str:
    """Return the differences between Mnemic's context and the other conditions."""
    lines = [
        (f"over {NAMES[pair['over']]}", [safe(name if name != "score" else "F1, or withheld when absent"),
                                         f"{each['mean']:+.3f}", f"{each['low']:+.3f} to {each['high']:+.3f}",
                                         f"{each['n']:,}"], False)
        for pair in found["paired"]
        for name, each in pair["measures"].items()
    ]  # fmt: skip
    told = "Mnemic's context against the others, over the questions that both answered."
    return section("Difference", told, figures_table("", ["measure", "mean", "95%", "n"], lines)) if lines else ""


def failed(found: Mapping[str, Any]) -> str:
    """Return what failed, all of it."""
    if not found["failed"]:
        return ""
    items = "".join(
        tag("li", tag("code", safe(f"{each['id']} {each['condition']} {each['stage']}")) + " " + safe(each["error"]))
        for each in found["failed"]
    )
    return section(f"Failed ({len(found['failed']):,})", "Not scored; the same command asks them again.",
                   tag("ul", items, class_="listed"))  # fmt: skip


def listed(found: Mapping[str, Any]) -> str:
    """Return the questions with every answer."""
    shown = found["questions"][:LISTED]
    items = "".join(_question(each) for each in shown)
    summary = tag("summary", safe(f"{plural(len(found['questions']), 'question')}, the first {len(shown)} shown"))
    return section("Every answer", "The gold answer, then what each condition answered and its score.",
                   tag("details", summary + tag("ul", items, class_="listed")))  # fmt: skip


def about(found: Mapping[str, Any]) -> str:
    """Return what the figures were measured with, and what they mean."""
    run, dataset, depends = found["about"], found["dataset"], found["about"]["depends"]
    undated = found["undated"]
    facts = {
        "file": f"{dataset['file']}, SHA-256 {dataset['sha256'][:16]}\u2026",
        "questions": sampled(found),
        "answered by": f"{depends['the model'] or 'rules'}; judged by {run['judge'] or 'nobody'}",
        "Mnemic": f"{run['mnemic']}, code {depends['the code'][1]}; contexts of {depends['the budget']:,} tokens",
        "settings": json.dumps(depends["the settings"]).strip("{}").replace('"', ""),
        "machine": f"{run['machine']}, Python {run['python']}",
        "run": f"{run['began']} to {run['ended']}{', resumed' if run['resumed'] else ''}",
        "F1": "As LoCoMo's scorer has it: stems, multi-hop answers part by part, an open-domain gold up to its first "
        "semicolon. docs/evaluation.md defines every measure.",
        "tokens": "Context tokens by Mnemic's estimate; tokens in and out as the model counts them.",
        "intervals": "95% percentile bootstrap, 2,000 resamples with a fixed seed, over questions.",
    }
    if undated:
        facts["dates"] = f"{plural(len(undated), 'temporal question')} whose gold names no date that can be read: " + (
            ", ".join(undated)
        )
    items = "".join(tag("dt", safe(name)) + tag("dd", safe(value)) for name, value in facts.items())
    return section("What this is", "What the figures depend on, and what they mean.", tag("dl", items, class_="facts"))


def legend(found: Mapping[str, Any]) -> str:
    """Return the keys of the conditions' colours."""
    keys = "".join(
        tag("li", tag("i", class_=f"key {STYLES[name]}") + safe(NAMES[name])) for name in found["conditions"]
    )
    return tag("ul", keys, class_="legend")


def _question(each: Mapping[str, Any]) -> str:
    gold = "(not in the conversation)" if each["absent"] else str(each["gold"])
    lines = [tag("code", safe(each["id"])), " ", safe(one_line(each["text"], 300)),
             tag("p", safe(f"{each['category']}; gold: {one_line(gold, 300)}"), class_="dim"),
             *_given(each["answers"])]  # fmt: skip
    return tag("li", "".join(lines))


def _given(answers: Mapping[str, Any]) -> Iterator[str]:
    for name, given in answers.items():
        if given is None:
            told: Sequence[str] = ("failed", "")
        elif not given["fits"]:
            told = (f"does not fit: {given['context']:,} tokens", "")
        else:
            score = given["scores"].get("score")
            verdict = "" if given["judged"] is None else f", judged {_verdict(given['judged']['right'])}"
            told = (one_line(given["text"], 300), f" {DASH if score is None else f'{score:.2f}'}{verdict}")
        yield tag("p", tag("b", safe(f"{name}: ")) + safe(told[0]) + tag("small", safe(told[1])))


def _verdict(right: bool | None) -> str:
    return "unreadable" if right is None else "right" if right else "wrong"


def _groups(found: Mapping[str, Any]) -> Mapping[str, Any]:
    groups: Mapping[str, Any] = next(iter(found["conditions"].values()))["groups"]
    return groups


def _measure(condition: Mapping[str, Any], group: str, name: str) -> Mapping[str, float] | None:
    figures = condition["groups"].get(group)
    estimate: Mapping[str, float] | None = None if figures is None else figures["measures"].get(name)
    return estimate


def _told(name: str, estimate: Mapping[str, float]) -> str:
    return f"{NAMES[name]}: {estimate['mean']:.3f} ({estimate['low']:.3f}{DASH}{estimate['high']:.3f})"
