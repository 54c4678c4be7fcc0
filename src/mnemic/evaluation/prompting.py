"""Makes the prompts of an evaluation: a question with what is known beside it, and an answer to be judged.

Pure. All conditions share one prompt, of which the question and the moment are always there and the context may be
missing. What was said stands in a turn of its own kind, never in the instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from mnemic.core.prompts import load
from mnemic.evaluation.datasets import Conversation, Question, said_at
from mnemic.model.language import Prompt, Turn
from mnemic.model.message import Message
from mnemic.model.parts import searchable_text
from mnemic.text import estimate_tokens

FOLDER: Final = "mnemic.evaluation.prompts"
JUDGE_TOKENS: Final = 512
"""Tokens of a judgement, which is a line; some models think aloud before it."""

VERDICT: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"right": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["right", "reason"],
    "additionalProperties": False,
}

_ABSENT: Final = "What was asked for was never said. The answer is right when it says so, or that it does not know."
_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "temporal-reasoning": "Where days, weeks or months are counted, one more or less is right too.",
        "knowledge-update": "What held before may be told beside it, as long as GOLD is told as what holds now.",
        "single-session-preference": "GOLD tells what a good answer would heed. It is right when it makes use of what "
        "the user likes, owns or avoids, and need not heed all of it.",
    }
)
"""What LongMemEval's own judge is told for some of its kinds of questions, in our words."""


def question_prompt(
    question: Question, when: datetime, context: str, *, layout: str, max_tokens: int, temperature: float
) -> Prompt:
    """Return the prompt for a question asked at a moment, with a context that may be empty."""
    parts = [f"CONTEXT\n{context}"] if context.strip() else []
    parts.append(f"It is now {when.day} {when:%B %Y}.")
    parts.append(f"QUESTION\n{question.text}")
    system = load("assistant_answer" if layout == "longmemeval" else "short_answer", FOLDER)
    turns = (Turn("system", system), Turn("user", "\n\n".join(parts)))
    return Prompt(turns, max_tokens=max_tokens, temperature=temperature)


def judge_prompt(question: Question, answer: str) -> Prompt:
    """Return the prompt that asks whether an answer is right."""
    rule = _ABSENT if question.absent else _RULES.get(question.category, "")
    parts = [f"QUESTION\n{question.text}", f"GOLD\n{question.answer or 'not mentioned'}"]
    parts += [f"RULE\n{rule}"] if rule else []
    parts.append(f"ANSWER\n{answer}")
    turns = (Turn("system", load("judge", FOLDER)), Turn("user", "\n\n".join(parts)))
    return Prompt(turns, schema=VERDICT, max_tokens=JUDGE_TOKENS)


def whole(conversation: Conversation) -> str:
    """Return a conversation as lines with date and speaker, as contexts are written."""
    return "\n".join(_line(message) for _, messages in conversation.sessions for message in messages)


def tokens(text: str) -> int:
    """Return the tokens of a text by Mnemic's estimate, which stays at or above common tokenizers for prose."""
    return estimate_tokens(text) if text else 0


def size(prompt: Prompt) -> int:
    """Return the tokens of a prompt, by the same estimate."""
    return sum(tokens(turn.text) for turn in prompt.turns)


def _line(message: Message) -> str:
    words = " ".join(searchable_text(message.content).split())
    return f"[{said_at(message):%Y-%m-%d %H:%M}] {message.name or message.role}: {words}"
