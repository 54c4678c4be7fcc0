"""What an evaluation reads: conversations with questions, whose evidence is turns; and what is wrong with a file.

A dataset hands out one conversation at a time, so that a file need not fit into memory. Nothing is dropped in silence:
a question whose evidence names no turn, and a turn that has no words, is a `Problem`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from mnemic.errors import InputError
from mnemic.model.message import Message
from mnemic.model.parts import searchable_text

ABSENT: Final = "absent"
"""The category of questions that memory cannot answer, where the file does not name one."""

Session = tuple[str, tuple[Message, ...]]
"""A name, and the messages said under it, in order."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as every system gets it: `text` begins with the speaker's name when the message has one."""

    id: str
    session: str
    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation. `evidence` are ids of its turns that exist, `sessions` where they were said.

    With `absent`, memory does not hold the answer: nothing is to be found. `at` is when it is asked (None: when the
    conversation ends). `id` is unique in the dataset.
    """

    id: str
    text: str
    category: str
    evidence: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    absent: bool = False
    answer: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the file that cannot be used as it stands, and what was done about it."""

    conversation: str
    question: str | None
    text: str
    what: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """One memory to fill and the questions to ask of it. `turns` counts those of the file, wordless ones included."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    turns: int
    problems: tuple[Problem, ...] = ()

    @property
    def messages(self) -> int:
        """How many messages there are to store."""
        return sum(len(messages) for _, messages in self.sessions)

    @property
    def ends(self) -> datetime:
        """When the last turn was said."""
        return max(said_at(message) for _, messages in self.sessions for message in messages)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A file of conversations. `read` yields them; `questions` and `conversations` are known before reading.

    `kind` is the layout, `categories` the order of the categories in tables (others follow as they come).
    """

    kind: str
    name: str
    sha256: str
    conversations: int
    questions: int
    read: Callable[[], Iterator[Conversation]]
    categories: tuple[str, ...] = ()


def said_at(message: Message) -> datetime:
    """Return when a message was said, in UTC where it names no zone. Raises `InputError` when it does not say."""
    at = message.at
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    if not isinstance(moment, datetime):
        raise InputError("at", f"{at!r} is not a time")
    return zoned(moment)


def zoned(moment: datetime) -> datetime:
    """Return a time with its zone, UTC where it names none."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def has_words(message: Message) -> bool:
    """Tell whether a message holds anything that can be stored and found."""
    return bool(searchable_text(message.content).strip())


def turns_of(conversation: Conversation) -> list[Turn]:
    """Return the messages as turns, each `Name: words`, or the words alone when nobody is named."""
    return [
        Turn(
            str(message.id),
            session,
            f"{message.name}: {searchable_text(message.content)}" if message.name else searchable_text(message.content),
            said_at(message),
        )
        for session, messages in conversation.sessions
        for message in messages
    ]


def sessions_of(sessions: Sequence[Session]) -> Mapping[str, str]:
    """Return the session of each turn by the turn's id. Raises `InputError` for an id that is missing or not unique."""
    held: dict[str, str] = {}
    for name, messages in sessions:
        for place, message in enumerate(messages):
            if message.id is None:
                raise InputError(f"{name}[{place}].id", "is missing: evidence names turns by their ids")
            if str(message.id) in held:
                raise InputError(f"{name}[{place}].id", f"{message.id!r} is the id of another turn of the conversation")
            held[str(message.id)] = name
    return held


def in_order(sessions: Sequence[Session]) -> tuple[Session, ...]:
    """Return the sessions that have messages, in the order of time."""
    return tuple(sorted((each for each in sessions if each[1]), key=lambda each: said_at(each[1][0])))
