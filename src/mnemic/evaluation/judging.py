"""Puts an answer before the judge and reads the verdict, which is right, wrong or unreadable: never guessed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Final

from mnemic.evaluation.answered import Answered, Judged
from mnemic.evaluation.datasets import Question
from mnemic.evaluation.language import Completes
from mnemic.evaluation.prompting import judge_prompt

_REASON: Final = 300
"""Letters of a reason that are kept."""


def judge(model: Completes, question: Question, answered: Answered) -> Judged:
    """Return the judgement of an answer. Raises `LanguageError` when the judge cannot be reached."""
    began = time.perf_counter()
    reply = model.complete(judge_prompt(question, answered.text))
    right, reason = read_verdict(reply.text) if not reply.cut else (None, "cut short")
    return Judged(
        id=answered.id,
        condition=answered.condition,
        judge=model.name,
        right=right,
        reason=reason,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        seconds=time.perf_counter() - began,
    )


def read_verdict(text: str) -> tuple[bool | None, str]:
    """Return whether a reply calls the answer right, and why; None, and the reply itself, where it cannot be read.

    Words and fences around the object do no harm. Two objects that disagree cannot be read.
    """
    found = [each for each in _objects(text) if isinstance(each.get("right"), bool)]
    if len({each["right"] for each in found}) != 1:
        return None, text[:_REASON]
    return found[0]["right"], str(found[0].get("reason") or "")[:_REASON]


def _objects(text: str) -> list[Mapping[str, Any]]:
    """Return the JSON objects that stand in a text."""
    decoder, found, at = json.JSONDecoder(), [], text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            end = at + 1
        else:
            found.append(value)
        at = text.find("{", end)
    return found
