"""Sums a run up into one document: every measure by group, with intervals, spread, ages, tokens, times and problems.

The document is plain JSON, and all that the tables and the report show is read from it. Names of measures are those of
`mnemic.evaluation.metrics`, with `context recall@B` and `context tokens@B` for a budget of B tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from mnemic.evaluation.estimating import Row, by, estimates, means_of, quantiles
from mnemic.evaluation.metrics import area_under_curve, of_ranking, recall_at, share
from mnemic.evaluation.records import MNEMIC, Asked, Found, Stored, plain
from mnemic.evaluation.resampling import over_questions, spread
from mnemic.evaluation.running import Run

FORMAT: Final = "mnemic-eval-1"
ALL: Final = "all answerable"
"""The group of all questions but the absent ones: of LoCoMo, categories 1 to 4."""

SPREAD: Final = ("turn recall@10", "turn any-hit@10", "turn recall@20", "session recall@10", "context recall@2000")
"""Measures that are also told by conversation."""

AGES: Final = ((0.0, 1.0), (1.0, 7.0), (7.0, 30.0), (30.0, 90.0), (90.0, 180.0), (180.0, 365.0), (365.0, float("inf")))
"""Bounds in days from the evidence to the question, the upper one excluded."""

AGE_DEPTH: Final = 10


def document(run: Run) -> dict[str, Any]:
    """Return all figures of a run as one JSON document."""
    systems = list(dict.fromkeys(name for record in run.asked for name in record.systems))
    answerable = [record for record in run.asked if not record.absent]
    groups = _groups(run)
    return {
        "format": FORMAT,
        "dataset": _dataset(run),
        "about": dict(run.about),
        "systems": {name: _system(name, groups, answerable) for name in systems},
        "abstention": abstention(run.asked),
        "ages": {name: ages(name, answerable) for name in systems},
        "latency": _latency(run.asked, systems),
        "storing": storing_of(run.stored),
        "agreement": fmean([record.same for record in run.asked]) if run.asked else None,
        "problems": [problem for record in run.stored for problem in record.problems],
        "conversations": _conversations(run),
        "questions": [plain(record) for record in run.asked],
    }


def rows_of(record: Asked, system: str) -> Row:
    """Return the measures of one question for one system; those that its evidence does not allow are absent."""
    found = record.systems[system]
    measures: dict[str, float] = {}
    if record.evidence:
        measures |= of_ranking(_ranks(record.evidence, found.turns), "turn")
        strict = _ranks(record.evidence, found.strict)
        measures |= {f"strict turn recall@{k}": recall_at(strict, k) for k in (10, 20)}
        if system == MNEMIC:
            measures |= {f"context recall@{budget}": share(record.evidence, packed.turns)
                         for budget, packed in record.packed.items()}  # fmt: skip
            measures |= {f"context tokens@{budget}": float(packed.tokens) for budget, packed in record.packed.items()}
    if record.sessions:
        measures |= of_ranking(_ranks(record.sessions, found.sessions), "session")
    return measures


def _ranks(wanted: Sequence[str], found: Mapping[str, int]) -> list[int | None]:
    return [found.get(each) for each in wanted]


def _groups(run: Run) -> dict[str, list[Asked]]:
    """Return the answerable questions by category in the dataset's order, then all of them."""
    found: dict[str, list[Asked]] = {category: [] for category in run.dataset.categories}
    for record in run.asked:
        if not record.absent:
            found.setdefault(record.category, []).append(record)
    kept = {name: records for name, records in found.items() if records}
    return {**kept, ALL: [record for record in run.asked if not record.absent]}


def _system(name: str, groups: Mapping[str, Sequence[Asked]], answerable: Sequence[Asked]) -> dict[str, Any]:
    by_conversation = by(answerable, lambda record: record.conversation)
    tables = {each: _means(name, records) for each, records in by_conversation.items()}
    return {
        "groups": {group: _estimates(name, records) for group, records in groups.items()},
        "conversations": {each: {"n": len(by_conversation[each]), **means} for each, means in tables.items()},
        "spread": {
            measure: _spread(spread(means))
            for measure in SPREAD
            if (means := {each: row[measure] for each, row in tables.items() if measure in row})
        },
    }


def _estimates(system: str, records: Sequence[Asked]) -> dict[str, Any]:
    found = estimates([(record.conversation, rows_of(record, system)) for record in records])
    scored = max((int(each["n"]) for each in found.values()), default=0)
    return {"n": len(records), "scored": scored, "measures": found}


def _means(system: str, records: Sequence[Asked]) -> dict[str, float]:
    return means_of([rows_of(record, system) for record in records])


def _spread(found: Any) -> dict[str, float]:
    return {"mean": found.mean, "min": found.low, "max": found.high, "sd": found.sd, "n": found.conversations}


def abstention(records: Sequence[Asked]) -> dict[str, Any]:
    """Return how well absent questions are told from others: by each confidence, and by what `ask` decided."""
    absent = [record for record in records if record.absent]
    others = [record for record in records if not record.absent]
    names = dict.fromkeys(name for record in records for name in record.scores)
    curves = {
        name: area_under_curve(
            [record.scores[name] for record in others if name in record.scores],
            [record.scores[name] for record in absent if name in record.scores],
        )
        for name in names
    }
    withheld = [not record.answered for record in absent]
    answered = [record.answered for record in others]
    return {
        "absent": len(absent),
        "answerable": len(others),
        "AUC": curves,
        "accuracy": fmean([*withheld, *answered]) if records else None,
        "balanced accuracy": (fmean(withheld) + fmean(answered)) / 2 if withheld and answered else None,
        "absent withheld": fmean(withheld) if withheld else None,
        "answerable answered": fmean(answered) if answered else None,
    }


def ages(system: str, records: Sequence[Asked]) -> list[dict[str, Any]]:
    """Return, for each span of ages, how many evidence turns are that old and the share of them among the first 10."""
    pieces = [
        (age, float((record.systems[system].turns.get(turn) or AGE_DEPTH + 1) <= AGE_DEPTH))
        for record in records
        for turn, age in record.ages.items()
    ]
    found: list[dict[str, Any]] = []
    for low, high in AGES:
        held = [[hit] for age, hit in pieces if low <= max(age, 0.0) < high]
        if held:
            interval = over_questions(held)[0]
            found.append({"from": low, "to": high if high < float("inf") else None, "n": len(held),
                          "recall@10": fmean(hit for (hit,) in held), "low": interval.low,
                          "high": interval.high})  # fmt: skip
    return found


def _latency(records: Sequence[Asked], systems: Sequence[str]) -> dict[str, Any]:
    def times(pick: Callable[[Found], float], name: str) -> dict[str, float | None]:
        return quantiles([pick(record.systems[name]) for record in records if name in record.systems])

    found: dict[str, Any] = {
        name: {
            "search with the question's embedding": times(lambda found: found.seconds, name),
            "search without": times(lambda found: found.again, name),
        }
        for name in systems
    }
    if MNEMIC in found:
        packed = [each["2000"].seconds for each in (record.packed for record in records) if "2000" in each]
        found[MNEMIC]["context of 2000 tokens"] = quantiles(packed)
        found[MNEMIC]["ask"] = quantiles([record.ask_seconds for record in records])
    return found


def storing_of(records: Sequence[Stored]) -> dict[str, float]:
    """Return what was stored, and how long it took."""
    return {
        "turns in the file": sum(record.turns for record in records),
        "turns stored": sum(record.messages for record in records),
        "sessions": sum(record.sessions for record in records),
        "texts embedded": sum(record.embedded for record in records),
        "seconds adding": sum(record.adding for record in records),
        "seconds refining": sum(record.refining for record in records),
        "model calls": sum(record.calls for record in records),
        "model tokens in": sum(record.tokens_in for record in records),
        "model tokens out": sum(record.tokens_out for record in records),
    }


def _dataset(run: Run) -> dict[str, Any]:
    scored = sum(1 for record in run.asked if not record.absent and record.evidence)
    return {
        "kind": run.dataset.kind,
        "file": run.dataset.name,
        "sha256": run.dataset.sha256,
        "conversations": len(run.stored),
        "conversations in the file": run.dataset.conversations,
        "questions": len(run.asked),
        "questions in the file": run.dataset.questions,
        "scored by turns": scored,
        "scored by sessions": sum(1 for record in run.asked if not record.absent and record.sessions),
        "absent": sum(1 for record in run.asked if record.absent),
    }


def _conversations(run: Run) -> list[dict[str, Any]]:
    return [{key: value for key, value in plain(record).items() if key != "problems"} for record in run.stored]
