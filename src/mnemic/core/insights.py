"""What a warm topic says about the people in it: a statement that counts and cites, and claims no more than that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core.keywords import stems
from mnemic.model.memory import Segment
from mnemic.model.message import MessageRole, StoredMessage
from mnemic.text import terms

ATTRIBUTE: Final = "interest.topic"
"""The attribute of insights about topics."""

_PAGES: Final = 3
"""Pages in which a keyword must stand."""

_SHARE: Final = 0.6
"""Share of a topic's words from which it is one person's topic rather than everybody's."""


@dataclass(frozen=True, slots=True)
class Insight:
    """A statement about a segment: who, about what, in words, with a confidence that grows with the pages."""

    subject: str
    value: str
    text: str
    confidence: float


def insight(segment: Segment, pages: Sequence[Sequence[StoredMessage]]) -> Insight | None:
    """Return what a segment's pages say about its speakers; None when no word recurs or nobody but assistants spoke.

    A keyword counts when it stands in at least three pages, and in a third of them: what came up once is no topic.
    """
    spoken: Counter[str] = Counter()
    for message in (message for messages in pages for message in messages):
        if message.role is MessageRole.USER:
            spoken[message.speaker] += len(message.text.split())
    present = [{term for message in messages for term in terms(message.text)} for messages in pages]
    needed = max(_PAGES, len(pages) / 3)
    topic = [each for each in segment.keywords if sum(stems([each]) <= page for page in present) >= needed][:3]
    if not spoken or not topic:
        return None
    leader, words = spoken.most_common(1)[0]
    people = [leader] if words >= _SHARE * spoken.total() or len(spoken) == 1 else sorted(spoken)
    subject = _join(people)
    verb = "talks" if len(people) == 1 else "talk"
    start, end = f"{segment.started_at:%B %Y}", f"{segment.ended_at:%B %Y}"
    time = start if start == end else f"{start} to {end}"
    text = f"{subject} {verb} about {_join(topic)} ({segment.pages} exchanges, {time})."
    return Insight(subject, ", ".join(topic), text, 1 - 1 / (1 + segment.pages / 2))


def _join(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
