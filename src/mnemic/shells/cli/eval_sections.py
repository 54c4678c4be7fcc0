"""The sections of an evaluation's report that are plots and tables of figures; lists and facts are beside this module.

Each takes the whole document (`mnemic.evaluation.summing`) and returns HTML, nothing when it has no such figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mnemic.shells.cli.eval_lists import about, conversations, missed, problems
from mnemic.shells.cli.eval_plots import Axis, Curve, Point, Row, Span, curves, rows, spans
from mnemic.shells.cli.report_frame import section
from mnemic.shells.cli.report_plots import safe, tag
from mnemic.shells.cli.wording import DASH, plural, took

__all__ = [
    "about", "absent", "budgets", "by_age", "by_category", "by_depth", "by_time", "by_tokens", "categories",
    "conversations", "head", "missed", "problems", "systems", "times",
]  # fmt: skip

ALL: Final = "all answerable"
OURS: Final = "mnemic"
DEPTHS: Final = (1, 3, 5, 10, 20, 50)
BUDGETS: Final = (500, 1_000, 2_000, 4_000)
NAMES: Final[Mapping[str, str]] = {
    "mnemic": "Mnemic", "dense": "dense (cosine)", "text": "full text (BM25)", "rrf": "rank fusion of both",
}  # fmt: skip
"""What the systems are called in the report."""

TURN: Final = ("turn recall@1", "turn recall@10", "turn recall@20", "turn any-hit@10",
               "turn all-hit@10", "turn MRR", "turn nDCG@10", "session recall@10")  # fmt: skip
"""The measures of the tables."""

UNITS: Final = ((365.0, "y"), (30.0, "mo"), (7.0, "w"), (1.0, "d"))
"""Units of age, in days."""

WITHOUT: Final = "search without"


def head(found: Mapping[str, Any]) -> str:
    """Return the title and the figures that matter most."""
    dataset, storing = found["dataset"], found["storing"]
    cards = [
        *_card(found, "turn recall@10", "recall@10, turns"),
        *_card(found, "turn any-hit@10", "any-hit@10, turns"),
        *_card(found, "session recall@10", "recall@10, sessions"),
        *_card(found, "context recall@2000", "evidence in 2,000 tokens"),
    ]
    surest = [value for value in found["abstention"]["AUC"].values() if value is not None]
    if surest:
        cards.append((f"{max(surest):.3f}", "AUC of abstention"))
    without = found["latency"][OURS][WITHOUT]["p50"] if OURS in found["latency"] else None
    if without is not None:
        cards.append((took(without), "search p50, question embedded"))
    told = (
        f"{dataset['kind']}: {storing['turns stored']:,} of {storing['turns in the file']:,} turns of "
        f"{plural(dataset['conversations'], 'conversation')} stored, {plural(dataset['questions'], 'question')} asked, "
        f"{dataset['scored by turns']:,} with evidence, {dataset['absent']:,} of what memory does not hold."
    )
    shown = "".join(tag("li", tag("b", value) + tag("span", safe(label))) for value, label in cards)
    return tag("header", tag("h1", safe(dataset["file"])) + tag("p", safe(told)) + tag("ul", shown, class_="cards"))


def _card(found: Mapping[str, Any], measure: str, label: str) -> Iterator[tuple[str, str]]:
    estimate = _measures(found, OURS).get(measure)
    if estimate is not None:
        yield f"{estimate['mean']:.3f}", label


def categories(found: Mapping[str, Any]) -> str:
    """Return the table of categories."""
    names = [*TURN, "context recall@2000"]
    lines = []
    for group, figures in found["systems"][OURS]["groups"].items():
        cells = [estimate_cell(figures["measures"].get(name)) for name in names]
        lines.append((group, [f"{figures['scored']:,}", *cells], group == ALL))
    return section("By category", "Mnemic: means, and below them 95% bootstrap intervals over questions.",
                   figures_table("questions", ["n", *names], lines))  # fmt: skip


def systems(found: Mapping[str, Any]) -> str:
    """Return the table of systems."""
    if len(found["systems"]) < 2:
        return ""
    lines = [
        (NAMES.get(name, name), [estimate_cell(_measures(found, name).get(measure)) for measure in TURN], False)
        for name in found["systems"]
    ]
    told = "All answerable questions, on the same turns and with the same embedder in the same run."
    return section("Beside others", told, figures_table("system", TURN, lines))


def by_depth(found: Mapping[str, Any], level: str) -> str:
    """Return recall by k, of turns or of sessions."""
    drawn = []
    for name in found["systems"]:
        measures = _measures(found, name)
        held = [(k, measures[f"{level} recall@{k}"]) for k in DEPTHS if f"{level} recall@{k}" in measures]
        points = [Point(k, each["mean"], each["low"], each["high"], told=_told(name, f"recall@{k}", each))
                  for k, each in held]  # fmt: skip
        drawn.append(Curve(NAMES.get(name, name), style(name), points))
    axis = Axis([(float(k), str(k)) for k in DEPTHS], "k, the first hits", log=True)
    told = {
        "turn": "The share of a question's evidence turns among the first k hits, with its interval.",
        "session": "The share of the sessions with evidence on which any of the first k hits stands.",
    }[level]
    plot = curves([curve for curve in drawn if curve.points], axis, f"recall by k, of {level}s")
    return section(f"Recall by k, {level}s", told, legend(found) + plot)


def by_category(found: Mapping[str, Any]) -> str:
    """Return recall@10 by category for every system."""
    groups = []
    for group in found["systems"][OURS]["groups"]:
        each = []
        for name, system in found["systems"].items():
            estimate = system["groups"].get(group, {"measures": {}})["measures"].get("turn recall@10")
            if estimate is not None:
                told = _told(name, "recall@10", estimate)
                each.append(Row(style(name), estimate["mean"], estimate["low"], estimate["high"], told))
        if each:
            groups.append((f"{group} ({found['systems'][OURS]['groups'][group]['scored']:,})", each))
    return section("Recall@10 by category", "Means with 95% intervals; in parentheses the number of questions.",
                   legend(found) + rows(groups, "recall@10 by category"))  # fmt: skip


def by_age(found: Mapping[str, Any]) -> str:
    """Return recall@10 by how old the evidence is when the question is asked."""
    bins = list(dict.fromkeys((each["from"], each["to"]) for ages in found["ages"].values() for each in ages))
    bins.sort()
    if not bins:
        return ""
    at = {each: float(place) for place, each in enumerate(bins)}
    drawn = []
    for name, ages in found["ages"].items():
        points = [Point(at[each["from"], each["to"]], each["recall@10"], each["low"], each["high"],
                        told=f"{NAMES.get(name, name)}: {each['recall@10']:.3f} of {each['n']:,} turns")
                  for each in ages]  # fmt: skip
        drawn.append(Curve(NAMES.get(name, name), style(name), points))
    marks = [(at[each], _age(*each)) for each in bins]
    return section("By age of the evidence", "The share of evidence turns of an age that are among the first 10 hits.",
                   legend(found) + curves(drawn, Axis(marks, "from the turn to the question"),
                                          "recall@10 by age"))  # fmt: skip


def by_tokens(found: Mapping[str, Any]) -> str:
    """Return the evidence inside a context against the tokens that it takes."""
    measures = _measures(found, OURS)
    points = [
        Point(measures[f"context tokens@{budget}"]["mean"], estimate["mean"], estimate["low"], estimate["high"],
              f"{estimate['mean']:.2f}", f"budget {budget:,}: {estimate['mean']:.3f}")
        for budget in BUDGETS
        if (estimate := measures.get(f"context recall@{budget}")) is not None
    ]  # fmt: skip
    if not points:
        return ""
    marks = [(0.0, "0"), *((float(budget), f"{budget:,}") for budget in BUDGETS)]
    told = "The share of the evidence inside a packed context, by the tokens that contexts really take."
    return section("Tokens against recall", told,
                   curves([Curve("Mnemic", OURS, points)], Axis(marks, "tokens used, mean"), told))  # fmt: skip


def by_time(found: Mapping[str, Any]) -> str:
    """Return the latencies as spans from the median to the 95th percentile."""
    kinds = dict.fromkeys(kind for times in found["latency"].values() for kind in times)
    groups = []
    for kind in kinds:
        each = []
        for name, times in found["latency"].items():
            figures = times.get(kind)
            if figures is not None and figures["p50"] is not None:
                told = f"{NAMES.get(name, name)}: {took(figures['p50'])}, 95%: {took(figures['p95'])}"
                each.append(Span(style(name), figures["p50"], figures["p95"], told))
        groups.append((kind, each))
    return section("Time of one question", "From the median (dot) to the 95th percentile.",
                   legend(found) + spans(groups, "time of one question"))  # fmt: skip


def budgets(found: Mapping[str, Any]) -> str:
    """Return the table of contexts by category and budget."""
    if f"context recall@{BUDGETS[0]}" not in _measures(found, OURS):
        return ""
    lines = []
    for group, figures in found["systems"][OURS]["groups"].items():
        measures = figures["measures"]
        cells = [
            estimate_cell(measures.get(f"context recall@{budget}"))
            + _small(f"{measures[f'context tokens@{budget}']['mean']:,.0f} tokens")
            for budget in BUDGETS
            if f"context recall@{budget}" in measures
        ]
        lines.append((group, cells, group == ALL))
    told = "The share of the evidence inside the packed context, and the mean of the tokens used."
    return section("Evidence in a context", told,
                   figures_table("questions", [f"{budget:,} tokens" for budget in BUDGETS], lines))  # fmt: skip


def absent(found: Mapping[str, Any]) -> str:
    """Return how well absent questions are told from others."""
    told = found["abstention"]
    if not told["absent"] or not told["answerable"]:
        return ""
    lines = [(f"AUC of {name}", [f"{value:.3f}"], False) for name, value in told["AUC"].items() if value is not None]
    lines += [
        (name, [f"{told[key]:.3f}"], False)
        for name, key in (
            ("accuracy at the shipped threshold", "accuracy"),
            ("balanced accuracy", "balanced accuracy"),
            (f"withheld, of {told['absent']:,} absent", "absent withheld"),
            (f"answered, of {told['answerable']:,} others", "answerable answered"),
        )
    ]
    return section("Not in memory", "Questions that memory cannot answer, against those that it can: area under the "
                   "curve of each confidence, and what ask decides.", figures_table("", [""], lines))  # fmt: skip


def times(found: Mapping[str, Any]) -> str:
    """Return the table of latencies and the speed of storing."""
    kinds = list(dict.fromkeys(kind for times in found["latency"].values() for kind in times))
    lines = []
    for name, each in found["latency"].items():
        cells = [quantiles_cell(each.get(kind)) for kind in kinds]
        lines.append((NAMES.get(name, name), cells, False))
    storing = found["storing"]
    told = (
        f"p50 and below it p95. {storing['turns stored']:,} turns were added in {took(storing['seconds adding'])}, "
        f"{storing['texts embedded']:,} texts being embedded and the others known from an earlier run; refining them "
        f"took {took(storing['seconds refining'])}."
    )
    return section("Times", told, figures_table("system", kinds, lines))


def legend(found: Mapping[str, Any]) -> str:
    """Return the keys of the systems' colours."""
    keys = "".join(
        tag("li", tag("i", class_=f"key {style(name)}") + safe(NAMES.get(name, name))) for name in found["systems"]
    )
    return tag("ul", keys, class_="legend")


def figures_table(first: str, headings: Sequence[str], lines: Sequence[tuple[str, Sequence[str], bool]]) -> str:
    """Return a table of figures; each line is (name, cells as markup, whether it sums the others up)."""
    top = tag("tr", "".join(tag("th", safe(name), scope="col") for name in (first, *headings)))
    body = "".join(
        tag("tr", tag("th", safe(name), scope="row") + "".join(tag("td", cell) for cell in cells),
            **({"class_": "whole"} if whole else {}))
        for name, cells, whole in lines
    )  # fmt: skip
    head_ = tag("thead", top) if any((first, *headings)) else ""
    return tag("div", tag("table", head_ + tag("tbody", body), class_="figures"), class_="scroll")


def style(system: str) -> str:
    """Return the class of a system's colour."""
    return system if system in NAMES else "other"


def _measures(found: Mapping[str, Any], system: str) -> Mapping[str, Any]:
    measures: Mapping[str, Any] = found["systems"][system]["groups"][ALL]["measures"]
    return measures


def estimate_cell(estimate: Mapping[str, float] | None) -> str:
    """Return a mean with its interval below it."""
    if estimate is None:
        return DASH
    return f"{estimate['mean']:.3f}" + _small(f"{estimate['low']:.2f}{DASH}{estimate['high']:.2f}")


def _small(text: str) -> str:
    return tag("small", safe(text))


def _told(system: str, measure: str, estimate: Mapping[str, float]) -> str:
    return (
        f"{NAMES.get(system, system)}: {measure} {estimate['mean']:.3f} "
        f"({estimate['low']:.3f}{DASH}{estimate['high']:.3f})"
    )


def quantiles_cell(figures: Mapping[str, float | None] | None) -> str:
    """Return the median with the 95th percentile below it."""
    if figures is None or figures["p50"] is None or figures["p95"] is None:
        return DASH
    return took(figures["p50"]) + _small(took(figures["p95"]))


def _age(low: float, high: float | None) -> str:
    """Return bounds in days as a span in the unit of the lower one: 1-4 w."""
    size, unit = next(((size, unit) for size, unit in UNITS if low >= size), UNITS[-1])
    if high is None:
        return f"> {low / size:.0f} {unit}"
    return f"{low / size:.0f}{DASH}{high / size:.0f} {unit}" if low else f"< {high / size:.0f} {unit}"
