"""Plays a conversation into a memory and asks its questions, through the library's face only, with honest clocks.

Each step is handed out as it ends, so that a screen can follow; pauses for the eye are the screen's and not counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from mnemic.errors import JobError, WaitTimeoutError
from mnemic.importing.locomo import Question
from mnemic.model.answer import Answer
from mnemic.model.extraction import Extraction
from mnemic.model.item import Stats
from mnemic.model.profile import Profile
from mnemic.shells.cli.demo_script import Script

if TYPE_CHECKING:
    from mnemic.api import Memory


@dataclass(frozen=True, slots=True)
class SessionStep:
    """One session read: seconds until it was durable and findable (`adding`), and until it was refined.

    `late` tells why refining goes on: a language model that is slow or gone keeps nobody from going on.
    """

    number: int
    name: str
    said_at: datetime
    turns: int
    pictures: int
    stored: int
    adding: float
    refining: float
    stats: Stats
    late: str = ""


@dataclass(frozen=True, slots=True)
class AnswerStep:
    """One question asked, and the seconds that the answer took."""

    question: Question
    answer: Answer
    seconds: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """What the language model draws from the last session in one call of a dry run, which stores nothing."""

    session: str
    messages: int
    seconds: float
    extraction: Extraction


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that a demo found: what the closing lines, the JSON and the HTML report are made of."""

    conversation: str
    speakers: tuple[str, ...]
    starts: datetime
    ends: datetime
    user: str
    folder: str
    opening: float
    sessions: tuple[SessionStep, ...]
    profile: Profile
    stats: Stats
    answers: tuple[AnswerStep, ...]
    golden: bool
    suggested: str
    model: str | None = None
    drawing: Drawing | None = None

    @property
    def turns(self) -> int:
        """Turns read."""
        return sum(step.turns for step in self.sessions)

    @property
    def adding(self) -> float:
        """Seconds until everything was durable and findable."""
        return sum(step.adding for step in self.sessions)

    @property
    def refining(self) -> float:
        """Seconds of refining."""
        return sum(step.refining for step in self.sessions)


def play(memory: Memory, script: Script, user: str) -> Iterator[SessionStep]:
    """Add each session, wait until it is refined, and tell what the tiers hold then."""
    for number, (name, said_at, messages) in enumerate(script.conversation.sessions, start=1):
        start = time.perf_counter()
        receipt = memory.add(messages, user=user, session=f"{script.conversation.id}/{name}")
        added = time.perf_counter()
        late = ""
        try:
            memory.jobs.wait(user=user, timeout=600)
        except (JobError, WaitTimeoutError) as error:
            late = str(error)
        refined = time.perf_counter()
        yield SessionStep(
            number=number,
            name=name,
            said_at=said_at,
            turns=len(messages),
            pictures=sum(not isinstance(message.content, str) for message in messages),
            stored=receipt.stored,
            adding=added - start,
            refining=refined - added,
            stats=memory.stats(user=user),
            late=late,
        )


def draw(memory: Memory, script: Script, user: str) -> Drawing:
    """Let the language model read the last session once more, without storing what it draws."""
    name, _, messages = script.conversation.sessions[-1]
    start = time.perf_counter()
    found = memory.extract(messages, user=user)
    seconds = time.perf_counter() - start
    return Drawing(
        name, len(messages), seconds, replace(found, items=tuple(each for each in found.items if each.drawn_by))
    )


def ask(memory: Memory, script: Script, user: str) -> Iterator[AnswerStep]:
    """Ask each question as if the conversation had just ended."""
    for question in script.questions:
        start = time.perf_counter()
        said = memory.ask(question.text, user=user, reference_time=script.ends)
        yield AnswerStep(question, said, time.perf_counter() - start)
