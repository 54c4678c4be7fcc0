"""The parts of a chat, as frozen values: what is said, what is planted, what is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Role = Literal["user", "assistant"]
Entry = str | Mapping[str, str]
"""A word of a list: plain, or in several forms of which `name` is the plain one."""
CATEGORIES = ("single", "update", "preference", "assistant", "list", "date", "several-hop", "absent")


@dataclass(frozen=True, slots=True)
class Line:
    """One turn of a script; lines with a label are evidence."""

    role: Role
    text: str
    label: str = ""
    near: Sequence[str] = ()
    """Questions that recall the turn by its own words; they suit no other way of telling the same."""


Script = Sequence[Line]


@dataclass(frozen=True, slots=True)
class Ask:
    """A question about a thread, in the words of the user (`me`) and of somebody else (`them`)."""

    category: str
    me: Sequence[str]
    them: Sequence[str]
    near: Sequence[str] = ()
    """The user's question in words of the evidence, as one asks about what one half remembers."""
    labels: Sequence[str] = ()
    answer: str = ""
    missing: Sequence[str] = ()
    """What an absent question asks for: words that the whole chat must not hold."""


@dataclass(frozen=True, slots=True)
class Thread:
    """Something that a chat lets fall over one or more sessions, with what is easily taken for it."""

    name: str
    kind: str
    stages: Sequence[Sequence[Script]]
    """In order of time, each told in one of several ways."""
    asks: Sequence[Ask]
    decoys: Sequence[Script] = ()
    slots: Mapping[str, str] = field(default_factory=dict)
    """Names of values and the word list that each is drawn from."""
    each: str = ""
    """For lists: the word list of the items, each told in one of the ways of the only stage."""
    least: int = 3
    most: int = 5
    names: Mapping[str, str] = field(default_factory=dict)
    """What the labels are called, for questions about which came first."""
    apart: int = 0
    """The most sessions from a stage to the next; 0 for any number."""
    not_with: Sequence[str] = ()
    """Threads that the same person cannot have: a question about one would have a second answer in the other."""
    shuffled: bool = False
    """Whether the stages come in any order."""


@dataclass(frozen=True, slots=True)
class Block:
    """A script with the values that it is told with, as it will stand in a session."""

    script: Script
    values: Mapping[str, Any]
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn as it is written to the file."""

    conversation: str
    session: str
    role: Role
    name: str
    content: str
    at: datetime
    id: str
    line: Line
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question as it is written to the file; `missing` stays here, for the tests."""

    conversation: str
    question: str
    evidence: Sequence[str]
    category: str
    answer: str
    at: datetime
    thread: str
    missing: Sequence[str] = ()
