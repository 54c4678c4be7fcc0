"""Conversations in the layout of the LoCoMo benchmark (Maharana et al., ACL 2024), read into messages and questions.

It relies on nothing but parsed JSON and keeps every turn with its own id, caption and place. It is not an evaluation:
questions are handed on as they stand, with gold answers and evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.model.message import Message

CATEGORIES: Final[Mapping[int, str]] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""The kinds of questions, by the benchmark's numbers."""

_WHEN: Final = ("%I:%M %p on %d %B, %Y", "%d %B, %Y")
_SESSION: Final = re.compile(r"session_(\d+)")
_TURN: Final = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation. `answer` is None when the conversation does not say; `wrong` is then the bait.

    `evidence` are turn ids, repaired where the file has them malformed; what cannot be read is kept as it is.
    """

    text: str
    answer: str | None
    category: int
    evidence: tuple[str, ...]
    wrong: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: its sessions in order, each (name, said_at, messages), and the questions about it.

    Times have no zone in the files and are read as UTC. `asked` are the texts of the questions that a demo asks.
    """

    id: str
    speakers: tuple[str, ...]
    sessions: tuple[tuple[str, datetime, tuple[Message, ...]], ...]
    questions: tuple[Question, ...]
    asked: tuple[str, ...] = ()


def conversations(data: object) -> list[Conversation]:
    """Return the conversations of a parsed file: a list of samples, or one. Raises `InputError` naming the place."""
    samples = [data] if isinstance(data, Mapping) else data
    if not isinstance(samples, Sequence) or isinstance(samples, str | bytes):
        raise InputError("data", "is not in LoCoMo's layout: a list of objects with sample_id and conversation")
    return [_conversation(sample, f"data[{number}]") for number, sample in enumerate(samples)]


def _conversation(sample: object, field: str) -> Conversation:
    if not isinstance(sample, Mapping) or not isinstance(sample.get("conversation"), Mapping):
        raise InputError(f"{field}.conversation", "is missing: this is not LoCoMo's layout")
    talk = sample["conversation"]
    numbers = sorted(int(found[1]) for key in talk if (found := _SESSION.fullmatch(str(key))))
    sessions = [_session(talk, number, f"{field}.conversation") for number in numbers]
    named = [str(talk[key]) for key in ("speaker_a", "speaker_b") if talk.get(key)]
    spoken = [message.name for _, _, messages in sessions for message in messages if message.name]
    asked = sample.get("demo_questions") or ()
    return Conversation(
        id=str(sample.get("sample_id") or field),
        speakers=tuple(dict.fromkeys([*named, *spoken])),
        sessions=tuple(session for session in sessions if session[2]),
        questions=tuple(
            _question(entry, f"{field}.qa[{number}]") for number, entry in enumerate(sample.get("qa") or ())
        ),
        asked=tuple(str(text) for text in asked),
    )


def _session(talk: Mapping[str, Any], number: int, field: str) -> tuple[str, datetime, tuple[Message, ...]]:
    name = f"session_{number}"
    turns = talk[name]
    if not isinstance(turns, Sequence) or isinstance(turns, str):
        raise InputError(f"{field}.{name}", "needs a list of turns")
    said_at = _moment(talk.get(f"{name}_date_time"), f"{field}.{name}_date_time")
    messages = [_message(turn, said_at, place, f"{field}.{name}[{place}]") for place, turn in enumerate(turns)]
    return name, said_at, tuple(message for message in messages if message is not None)


def _moment(given: object, field: str) -> datetime:
    for layout in _WHEN:
        try:
            return datetime.strptime(str(given).strip(), layout).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise InputError(field, f"{given!r} is not a time such as '1:56 pm on 8 May, 2023'")


def _message(turn: object, said_at: datetime, place: int, field: str) -> Message | None:
    """Return a turn as a message; None when it has neither words nor a picture."""
    if not isinstance(turn, Mapping) or not turn.get("speaker"):
        raise InputError(f"{field}.speaker", "is missing")
    text, caption = str(turn.get("text") or ""), turn.get("blip_caption")
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    if caption:
        links = turn.get("img_url") or ()
        link = links if isinstance(links, str) else next(iter(links), None)
        parts.append({"type": "image", "caption": str(caption), **({"url": str(link)} if link else {})})
    if not parts:
        return None
    return Message(
        role="user",
        name=str(turn["speaker"]),
        content=parts if caption else text,
        at=said_at + timedelta(seconds=place),  # the file times sessions only; this keeps the order of turns
        id=str(turn["dia_id"]) if turn.get("dia_id") else None,
    )


def _question(entry: object, field: str) -> Question:
    if not isinstance(entry, Mapping) or not entry.get("question"):
        raise InputError(f"{field}.question", "is missing")
    category = entry.get("category", 4)
    if not isinstance(category, int) or isinstance(category, bool):
        raise InputError(f"{field}.category", f"needs a number from 1 to 5, got {category!r}")
    answer, wrong = entry.get("answer"), entry.get("adversarial_answer")
    return Question(
        text=str(entry["question"]),
        answer=None if answer is None or category == 5 else str(answer),
        category=category,
        evidence=evidence(entry.get("evidence") or ()),
        wrong=None if wrong is None else str(wrong),
    )


def evidence(given: object) -> tuple[str, ...]:
    """Return turn ids such as `D8:6`, from a list whose members may hold several or be malformed (`D8:6; D9:17`)."""
    members = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else []
    found: list[str] = []
    for member in members:
        ids = [f"D{int(session)}:{int(turn)}" for session, turn in _TURN.findall(str(member))]
        found += ids or [str(member)]
    return tuple(dict.fromkeys(found))
