"""Sums a run of answers up into one document: every measure by condition and category, with counts and intervals.

Only answers are scored: what failed and what did not fit is counted beside them. Scores follow from the journal, so
that the same answers give the same document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from mnemic.evaluation import scoring
from mnemic.evaluation.answer_running import AnswerRun, Posed
from mnemic.evaluation.answered import FULL, MNEMIC, Answered, Judged, plain
from mnemic.evaluation.estimating import Row, by, estimates, means_of, quantiles
from mnemic.evaluation.metrics import share
from mnemic.evaluation.summing import ALL, storing_of

FORMAT: Final = "mnemic-eval-answers-1"
EVERYTHING: Final = "all"
"""The group of all questions: the answerable by their F1, the absent by whether they were withheld, as in LoCoMo."""

TEMPORAL: Final = "temporal"
"""What the categories are called whose dates are compared."""

MILLION: Final = 1_000_000


def answers_document(run: AnswerRun) -> dict[str, Any]:
    """Return all figures of a run as one JSON document."""
    conditions = run.about["conditions"]
    groups = _groups(run)
    return {
        "format": FORMAT,
        "dataset": {
            "kind": run.dataset.kind,
            "file": run.dataset.name,
            "sha256": run.dataset.sha256,
            "conversations": len(run.stored),
            "conversations in the file": run.dataset.conversations,
            "questions": len(run.posed),
            "questions in the file": run.dataset.questions,
            "absent": sum(1 for each in run.posed if each.question.absent),
        },
        "sample": {
            "limit": run.answers.limit,
            "seed": run.answers.seed,
            "eligible": run.chosen.eligible,
            "without a gold answer": list(run.chosen.unanswered),
        },
        "about": dict(run.about) | {"prices": {"in": run.answers.price_in, "out": run.answers.price_out}},
        "conditions": {name: _condition(run, name, groups) for name in conditions},
        "paired": [
            found
            for other in conditions
            if other != MNEMIC and MNEMIC in conditions and (found := _paired(run, MNEMIC, other)) is not None
        ],
        "storing": storing_of(run.stored),
        "failed": [plain(each) for each in run.failed],
        "undated": _undated(run),
        "questions": [_question(run, posed, conditions) for posed in run.posed],
    }


def scores(posed: Posed, answered: Answered, judged: Judged | None, *, layout: str) -> Row:
    """Return the measures of one answer by name; those that do not apply are absent, all where nothing was asked."""
    if not answered.fits:
        return {}
    question, withheld = posed.question, float(answered.withheld)
    found: dict[str, float] = {}
    if question.absent:
        found |= {"withheld": withheld, "score": withheld}
    elif question.answer is not None:
        found |= scoring.word_scores(answered.text, question.answer, layout=layout, category=question.category)
        found |= {"withheld": withheld, "score": found["F1"]}
        if question.category.startswith(TEMPORAL):
            found |= scoring.date_scores(answered.text, question.answer, posed.at)
    if judged is not None and judged.right is not None:
        found["judged right"] = float(judged.right)
    if question.evidence and answered.condition in (FULL, MNEMIC):
        found["evidence in context"] = share(question.evidence, answered.held)
    return found


def _groups(run: AnswerRun) -> dict[str, list[Posed]]:
    """Return the questions by category: answerable ones in the dataset's order, all of them, the absent, everything."""
    answerable = [each for each in run.posed if not each.question.absent]
    absent = [each for each in run.posed if each.question.absent]
    ordered: dict[str, list[Posed]] = {category: [] for category in run.dataset.categories}
    for posed in answerable:
        ordered.setdefault(posed.question.category, []).append(posed)
    found = {name: held for name, held in ordered.items() if held} | {ALL: answerable}
    found |= by(absent, lambda posed: posed.question.category)
    return {name: held for name, held in found.items() if held} | {EVERYTHING: list(run.posed)}


def _condition(run: AnswerRun, name: str, groups: Mapping[str, Sequence[Posed]]) -> dict[str, Any]:
    held = [each for posed in run.posed if (each := run.answered.get((posed.question.id, name)))]
    given, too_long = ([each for each in held if each.fits is fits] for fits in (True, False))
    judged = [each for key, each in run.judged.items() if key[1] == name]
    return {
        "groups": {group: _group(run, name, posed) for group, posed in groups.items()},
        "conversations": {
            conversation: {"n": len(of), **_means_of(run, name, of)}
            for conversation, of in by(groups[EVERYTHING], lambda posed: posed.conversation).items()
        },
        "usage": _usage(run, given),
        "latency": {
            "context": quantiles([each.finding for each in given if each.finding]),
            "answer": quantiles([each.seconds for each in given]),
        },
        "too long, tokens": fmean(each.context for each in too_long) if too_long else None,
        "cut short": sum(1 for each in given if each.cut),
        "judged": {
            "by": run.about["judge"],
            "readable": sum(1 for each in judged if each.right is not None),
            "unreadable": sum(1 for each in judged if each.right is None),
            "tokens in": sum(each.tokens_in for each in judged),
            "tokens out": sum(each.tokens_out for each in judged),
        },
    }


def _group(run: AnswerRun, condition: str, posed: Sequence[Posed]) -> dict[str, Any]:
    given = [run.answered.get((each.question.id, condition)) for each in posed]
    return {
        "n": len(posed),
        "answered": sum(1 for each in given if each is not None and each.fits),
        "does not fit": sum(1 for each in given if each is not None and not each.fits),
        "failed": sum(1 for each in given if each is None),
        "measures": estimates([(each.conversation, row) for each in posed if (row := _row(run, each, condition))]),
    }


def _row(run: AnswerRun, posed: Posed, condition: str) -> Row:
    key = (posed.question.id, condition)
    answered = run.answered.get(key)
    return {} if answered is None else scores(posed, answered, run.judged.get(key), layout=run.dataset.kind)


def _means_of(run: AnswerRun, condition: str, posed: Sequence[Posed]) -> dict[str, float]:
    found = means_of([_row(run, each, condition) for each in posed])
    return {name: found[name] for name in ("score", "judged right") if name in found}


def _usage(run: AnswerRun, given: Sequence[Answered]) -> dict[str, Any]:
    """Return what a question takes in the mean; the cost only where prices are known."""
    if not given:
        return {}
    found: dict[str, Any] = {
        "context tokens": fmean(each.context for each in given),
        "calls": fmean(each.calls for each in given),
        "tokens in": fmean(each.tokens_in for each in given),
        "tokens out": fmean(each.tokens_out for each in given),
    }
    if run.answers.price_in is not None and run.answers.price_out is not None:
        spent = found["tokens in"] * run.answers.price_in + found["tokens out"] * run.answers.price_out
        found["cost"] = spent / MILLION
    return found


def _paired(run: AnswerRun, one: str, other: str) -> dict[str, Any] | None:
    """Return by how much one condition is better than another, over the questions that both answered."""
    rows: list[tuple[str, Row]] = []
    for posed in run.posed:
        first, second = _row(run, posed, one), _row(run, posed, other)
        both = [name for name in ("score", "judged right") if name in first and name in second]
        if both:
            rows.append((posed.conversation, {name: first[name] - second[name] for name in both}))
    return {"of": one, "over": other, "measures": estimates(rows)} if rows else None


def _undated(run: AnswerRun) -> list[str]:
    """Return the temporal questions in whose gold answer no date can be read: they are not scored for dates."""
    return [
        posed.question.id
        for posed in run.posed
        if posed.question.category.startswith(TEMPORAL)
        and posed.question.answer is not None
        and not scoring.dates_of(posed.question.answer, posed.at)
    ]


def _question(run: AnswerRun, posed: Posed, conditions: Sequence[str]) -> dict[str, Any]:
    question = posed.question
    told: dict[str, Any] = {}
    for condition in conditions:
        key = (question.id, condition)
        answered, judged = run.answered.get(key), run.judged.get(key)
        told[condition] = None if answered is None else {
            **{name: value for name, value in plain(answered).items() if name not in ("id", "conversation", "held")},
            "held": list(answered.held),
            "scores": dict(_row(run, posed, condition)),
            "judged": None if judged is None else {"right": judged.right, "reason": judged.reason},
        }  # fmt: skip
    return {
        "id": question.id, "conversation": posed.conversation, "category": question.category, "text": question.text,
        "absent": question.absent, "gold": question.answer, "asked at": posed.at.isoformat(), "answers": told,
    }  # fmt: skip
