"""What a model is told when it answers from memory: our rules, the caller's manner, and the data with the question.

What was said, stored or found stands in one part between marks that nothing in it holds, so that no memory can end it;
words of the caller (persona, style, system) stand with the rules. Content is passed on as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mnemic.core.prompts import load
from mnemic.model.language import Turn
from mnemic.model.message import MessageRole, StoredMessage
from mnemic.model.query import Hit
from mnemic.text import fold


@dataclass(frozen=True, slots=True)
class Manner:
    """How the assistant speaks, in the caller's words: who it is, its style, what it is to the user, and more."""

    persona: str = ""
    style: str = ""
    relationship: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """A numbered line of a prompt: the number, the line without it, and the hit that it stands for."""

    number: int
    line: str
    hit: Hit

    def __str__(self) -> str:
        return f"[{self.number}] {self.line}"


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the data: when it is asked, who asks whom, and what is wanted beside the reply."""

    now: datetime
    asker: str
    agent: str = ""
    as_of: datetime | None = None
    searches: int = 0
    suggest: int = 0


def rules(
    kind: Literal["ask", "chat"],
    manner: Manner,
    *,
    documents: bool = False,
    searching: bool = False,
    suggesting: bool = False,
) -> str:
    """Return the system turn: the caller's own instructions, our rules, and the manner to speak in."""
    parts = [manner.system, load(kind)]
    parts += [load("documents")] if documents else []
    parts += [load("search")] if searching else []
    parts += [load("suggest")] if suggesting else []
    told = (("Who you are", manner.persona), ("How you speak", manner.style),
            ("What you are to the person", manner.relationship))  # fmt: skip
    parts.append("\n".join(f"{name}: {words}" for name, words in told if words))
    return "\n\n".join(part for part in parts if part)


def say(
    frame: Frame, sections: Sequence[tuple[str, Sequence[str]]], words: str, *, kind: Literal["ask", "chat"]
) -> str:
    """Return the user turn: what is so now, the data, and the words to reply to, as they are."""
    head = [f"now: {frame.now:%A, %Y-%m-%d %H:%M} ({frame.now:%Z})"]
    if frame.as_of is not None:
        head.append(f"answer from what held on {frame.as_of:%Y-%m-%d %H:%M}")
    head.append(f"the person: {_plain(frame.asker)}")
    head += [f"you: {_plain(frame.agent)}"] if frame.agent else []
    head += [f"searches left: {frame.searches}"] if frame.searches else []
    head += [f"next questions: {frame.suggest}"] if frame.suggest else []
    noun = "question" if kind == "ask" else "message"
    return "\n".join(head) + f"\n\n{_data(sections)}\n\n{noun}:\n{words}"


def more_text(found: Sequence[Reference], searches: int) -> str:
    """Return the user turn that brings what further searches found."""
    told = "searches left: " + (str(searches) if searches else "0; reply now")
    return f"{_data([('found', [str(one) for one in found])])}\n\n{told}"


def talk_with(asker: str, message: StoredMessage) -> str:
    """Return an earlier message as a turn of a conversation; others than the two who talk are named."""
    if message.role is MessageRole.ASSISTANT or fold(message.speaker) in {fold(asker), "user", ""}:
        return message.text
    return f"{_plain(message.speaker)}: {message.text}"


def talk_turns(said: Sequence[tuple[MessageRole, str]]) -> list[Turn]:
    """Return what was said as turns that chat templates take: a user's first, the roles by turns."""
    turns: list[Turn] = []
    for role, text in said:
        who: Literal["user", "assistant"] = "assistant" if role is MessageRole.ASSISTANT else "user"
        if turns and turns[-1].role == who:
            turns[-1] = Turn(who, f"{turns[-1].text}\n{text}")
        elif turns or who == "user":
            turns.append(Turn(who, text))
    return turns


def put_together(system: str, talk: Sequence[Turn], asked: str) -> tuple[Turn, ...]:
    """Return a prompt's turns. What the user said last without a reply joins the last turn: roles take turns."""
    before, last = (talk[:-1], f"{talk[-1].text}\n\n{asked}") if talk and talk[-1].role == "user" else (talk, asked)
    return (Turn("system", system), *before, Turn("user", last))


def _data(sections: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return lines under their headings, between marks that do not stand in them."""
    lines: list[str] = []
    for name, inner in sections:
        if inner:
            lines += [f"{name}:", *inner]
    body = "\n".join(lines) or "(nothing)"
    mark, count = "data", 1
    while f"{mark}>" in body:
        count += 1
        mark = f"data-{count}"
    return f"<{mark}>\n{body}\n</{mark}>"


def _plain(name: str) -> str:
    return " ".join(name.split())
