"""What the demo plays: a conversation, and the eight questions that are asked about it.

For the shipped conversation the questions stand in its file; for others they are picked evenly over categories and
places, by a rule and not by hand, so that what is shown is what one gets.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any, Final

from mnemic.errors import InputError, NotFoundError
from mnemic.importing.locomo import Conversation, Question, conversations
from mnemic.model.message import Message

QUESTIONS: Final = 8
ORDER: Final = (4, 2, 1, 4, 2, 3, 1, 5)
"""Categories of LoCoMo in the order in which questions are picked; see `mnemic.importing.locomo.CATEGORIES`."""

EASY: Final = (4, 2)


@dataclass(frozen=True, slots=True)
class Script:
    """One conversation to play. `golden` tells whether gold answers are shown beside ours."""

    conversation: Conversation
    questions: tuple[Question, ...]
    golden: bool

    @property
    def turns(self) -> int:
        """How many turns the conversation has."""
        return sum(len(messages) for _, _, messages in self.conversation.sessions)

    @property
    def suggested(self) -> str:
        """A question that the demo does not ask and the conversation answers, for whoever goes on."""
        asked = {question.text for question in self.questions}
        plain = [
            question.text for question in self.conversation.questions if question.answer and question.category in EASY
        ]
        return next((text for text in plain if text not in asked), "What did we talk about?")

    @property
    def ends(self) -> datetime:
        """When the last turn was said: what "last week" in a question counts from."""
        return max(said for _, _, messages in self.conversation.sessions for said in map(_said_at, messages))

    @property
    def starts(self) -> datetime:
        """When the first session began."""
        return min(said_at for _, said_at, _ in self.conversation.sessions)


def load(data: Path | None, conversation: str | None) -> Script:
    """Return the shipped conversation, or one of a LoCoMo-format file (the first, when none is named)."""
    if data is None:
        text = resources.files("mnemic").joinpath("data/demo.json").read_text("utf-8")
        found = conversations(json.loads(text))
    else:
        found = conversations(read_json(data, "data"))
    chosen = _choose(found, conversation)
    if not chosen.sessions:
        raise InputError("conversation", f"{chosen.id} has no sessions")
    asked = {question.text: question for question in chosen.questions}
    named = [asked.get(text, Question(text, None, 0, ())) for text in chosen.asked]
    questions = named or pick(chosen.questions)
    return Script(chosen, tuple(questions), golden=data is not None)


def read_json(path: Path, field: str) -> Any:
    """Return a parsed JSON file; raise `InputError` naming the option when it cannot be read."""
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(field, f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(field, f"{path} is not JSON: {error}") from error


def pick(questions: Sequence[Question]) -> list[Question]:
    """Return eight questions, evenly over categories and, within each, over the conversation."""
    picked: list[Question] = []
    for category in dict.fromkeys(ORDER):
        there = [question for question in questions if question.category == category]
        wanted = min(ORDER.count(category), len(there))
        picked += [there[(2 * place + 1) * len(there) // (2 * wanted)] for place in range(wanted)]
    rest = [question for question in questions if question not in picked]
    return [*picked, *rest][:QUESTIONS]


def _choose(found: Sequence[Conversation], wanted: str | None) -> Conversation:
    if not found:
        raise InputError("data", "holds no conversation")
    if wanted is None:
        return found[0]
    chosen = next((one for one in found if one.id == wanted), None)
    if chosen is None:
        raise NotFoundError(f"no conversation {wanted!r} in the data; there are: {', '.join(one.id for one in found)}")
    return chosen


def _said_at(message: Message) -> datetime:
    if not isinstance(message.at, datetime):
        raise InputError("at", "is missing in a turn")
    return message.at
