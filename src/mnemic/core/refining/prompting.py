"""The prompt of a batch: what is told, the shape of the answer, and how messages are numbered.

A message stands on one line, so that nothing in it can look like the beginning of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mnemic.core.extraction.attributes import ATTRIBUTES
from mnemic.core.prompts import load, on_one_line
from mnemic.core.refining.batch import TIES, Batch, Tastes, Topic
from mnemic.core.shapes import FLAG, TEXT, list_of, object_of, one_of
from mnemic.model.language import Prompt, Turn
from mnemic.model.memory import Memory
from mnemic.model.message import StoredMessage

MAX_TOKENS: Final = 3_000
"""Tokens of an answer at most."""

KINDS: Final = ("fact", "preference", "event", "plan", "promise", "learned")
TYPES: Final = ("person", "place", "organisation", "work", "animal", "product", "event", "other")
OPEN: Final = ("preference.favourite.THING", "relation.KIN")
CUSTOM: Final = "custom."

_EXCERPT: Final = 160  # characters of a message that a topic shows


def prompt_of(batch: Batch, *, max_tokens: int = MAX_TOKENS) -> Prompt:
    """Return what the model is asked about a batch."""
    told = "\n\n".join(part for part in (load("refine"), _attributes(batch.tastes), _wishes(batch.tastes)) if part)
    asked = "\n".join(_lines(batch))
    return Prompt((Turn("system", told), Turn("user", asked)), schema=SCHEMA, max_tokens=max_tokens)


def slug(category: str) -> str:
    """Return a category as the last step of an attribute's name."""
    return "_".join(category.lower().replace(".", " ").split())


def _attributes(tastes: Tastes) -> str:
    names = [name for name in ATTRIBUTES if name != "interest.topic"]
    names += OPEN
    names += [f"{CUSTOM}{slug(each)}" for each in tastes.categories]
    told = "Attributes: " + ", ".join(names) + "."
    return f"{told} THING and KIN stand for one English word such as colour or sister."


def _wishes(tastes: Tastes) -> str:
    wishes = []
    if tastes.instructions:
        wishes.append(f"The owner of this memory asks besides: {tastes.instructions}")
    if tastes.categories:
        wishes.append("Use an attribute that begins with custom. wherever it fits.")
    if tastes.include:
        wishes.append(f"Draw memories about these topics only: {', '.join(tastes.include)}.")
    if tastes.exclude:
        wishes.append(f"Draw nothing about: {', '.join(tastes.exclude)}.")
    return "\n".join(wishes)


def _lines(batch: Batch) -> Iterator[str]:
    if batch.known:
        yield "Known already:"
        yield from (_known(number, memory) for number, memory in enumerate(batch.known, 1))
        yield ""
    if batch.topics:
        yield "Topics to describe:"
        for number, topic in enumerate(batch.topics, 1):
            yield from _topic(number, topic)
        yield ""
    if batch.before:
        yield "Said before, read already, only for understanding:"
        yield from (f"- {_said(message, batch.shown)}" for message in batch.before)
        yield ""
    yield "Messages to read:" if batch.messages else "There are no messages to read this time."
    yield from _numbered(batch.messages, batch.shown)


def _known(number: int, memory: Memory) -> str:
    current = memory.current
    since = f"since {current.valid_from:%Y-%m-%d}"
    until = f" until {current.valid_to:%Y-%m-%d}" if current.valid_to is not None else ""
    return f"k{number} | {memory.attribute} | {on_one_line(current.text, 300)} ({since}{until})"


def _topic(number: int, topic: Topic) -> Iterator[str]:
    segment = topic.segment
    span = f"{segment.started_at:%Y-%m-%d} to {segment.ended_at:%Y-%m-%d}"
    yield f"t{number} | {segment.pages} exchanges, {span} | {', '.join(segment.keywords)}"
    yield from (f"   {message.speaker}: {on_one_line(message.text, _EXCERPT)}" for message in topic.messages)


def _numbered(messages: Sequence[StoredMessage], shown: int) -> Iterator[str]:
    place: tuple[str, str] | None = None
    for number, message in enumerate(messages, 1):
        here = (message.session, f"{message.said_at:%A %Y-%m-%d}")
        if here != place:
            yield f"== {here[1]} =="
            place = here
        yield f"m{number} | {message.said_at:%H:%M} | {_said(message, shown)}"


def _said(message: StoredMessage, shown: int) -> str:
    return f"{on_one_line(message.speaker, 80)} ({message.role.value}): {on_one_line(message.text, shown)}"


SCHEMA: Final = object_of(
    memories=list_of(
        object_of(
            kind=one_of(KINDS),
            about=TEXT,
            attribute=TEXT,
            value=TEXT,
            statement=TEXT,
            negated=FLAG,
            said=FLAG,
            reason=TEXT,
            when=object_of(words=TEXT, **{"from": TEXT, "to": TEXT}),
            evidence=list_of(object_of(message=TEXT, quote=TEXT)),
            known=TEXT,
            change=one_of(TIES),
        )
    ),
    entities=list_of(object_of(name=TEXT, type=one_of(TYPES), messages=list_of(TEXT))),
    relations=list_of(object_of(relation=TEXT, to=TEXT, message=TEXT, quote=TEXT, **{"from": TEXT})),
    topics=list_of(object_of(topic=TEXT, title=TEXT, summary=TEXT, keywords=list_of(TEXT))),
)
"""The shape of an answer."""
