"""Puts an answer before the judge and reads the verdict, which is right, wrong or unreadable: never guessed."""

from __future__ import annotations

import time
from typing import Final

from mnemic.core.replies import json_in
from mnemic.errors import LanguageError
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
    """Return whether a reply calls the answer right, and why; None, and the reply itself, where it cannot be read."""
    try:
        found = json_in(text)
    except LanguageError:
        found = {}
    right = found.get("right")
    return (right, str(found.get("reason") or "")[:_REASON]) if isinstance(right, bool) else (None, text[:_REASON])
