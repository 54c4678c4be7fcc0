"""A user's own conversations and questions, one JSON object a line; `docs/evaluation.md` tells the format.

All lines are checked before anything runs, and every fault names its line and field. Then conversations are read one
at a time, from the places of their lines, in the order of their first lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.evaluation import datasets
from mnemic.evaluation.datasets import ABSENT, Conversation, Dataset, Problem, Question, Session
from mnemic.evaluation.source import fingerprint
from mnemic.model.message import Message
from mnemic.model.parts import check_content

KIND: Final = "jsonl"
MESSAGE: Final = ("conversation", "session", "role", "name", "content", "at", "id")
QUESTION: Final = ("conversation", "question", "evidence", "category", "answer", "at", "absent")
ROLES: Final = ("user", "assistant")
UNNAMED: Final = "unnamed"
"""The category of questions that name none."""


@dataclass(slots=True)
class _Place:
    """Where the lines of a conversation lie: (number from 1, byte offset), in order."""

    lines: list[tuple[int, int]] = field(default_factory=list)
    messages: int = 0
    questions: int = 0


def open_file(path: Path) -> Dataset:
    """Return a file of lines as a dataset, all of them checked. Raises `InputError` naming the line and the field."""
    sha256, _ = fingerprint(path)
    places = _index(path)
    for name, place in places.items():
        if not place.messages:
            raise InputError(f"lines[{place.lines[0][0]}].conversation", f"{name!r} has questions and no message")
    questions = sum(place.questions for place in places.values())
    if not questions:
        raise InputError("file", f"{path.name} holds no question")
    return Dataset(KIND, path.name, sha256, len(places), questions, lambda: _read(path, places))


def _index(path: Path) -> Mapping[str, _Place]:
    places: dict[str, _Place] = {}
    with path.open("rb") as file:
        offset = 0
        for number, line in enumerate(file, 1):
            if line.strip():
                entry = _parsed(line, number)
                place = places.setdefault(_named(entry, "conversation", number), _Place())
                place.lines.append((number, offset))
                if "question" in entry:
                    _question(entry, number)
                    place.questions += 1
                else:
                    _message(entry, number)
                    place.messages += 1
            offset += len(line)
    return places


def _read(path: Path, places: Mapping[str, _Place]) -> Iterator[Conversation]:
    with path.open("rb") as file:
        for name, place in places.items():
            entries: list[tuple[int, Mapping[str, Any]]] = []
            for number, offset in place.lines:
                file.seek(offset)
                entries.append((number, _parsed(file.readline(), number)))
            yield _conversation(name, entries)


def _conversation(name: str, entries: Sequence[tuple[int, Mapping[str, Any]]]) -> Conversation:
    said: dict[str, list[Message]] = {}
    problems: list[Problem] = []
    lines = [(number, entry) for number, entry in entries if "question" not in entry]
    for number, entry in lines:
        message = _message(entry, number)
        if datasets.has_words(message):
            said.setdefault(str(entry["session"]), []).append(message)
        else:
            problems.append(Problem(name, None, str(message.id), f"line {number}: without words, not stored"))
    sessions: tuple[Session, ...] = datasets.in_order([(each, tuple(messages)) for each, messages in said.items()])
    held = datasets.sessions_of(sessions)
    questions: list[Question] = []
    for number, entry in entries:
        if "question" not in entry:
            continue
        question, wanted = _question(entry, number)
        evidence = tuple(each for each in wanted if each in held)
        label = f"{name}/line {number}"
        where = tuple(dict.fromkeys(held[each] for each in evidence))
        questions.append(_placed(question, label, evidence, where))
        lost = [each for each in wanted if each not in held]
        problems += [Problem(name, label, question.text, f"evidence {each!r} names no message; left out")
                     for each in lost]  # fmt: skip
        if not evidence and not question.absent:
            problems.append(Problem(name, label, question.text, "no evidence names a message; not scored for recall"))
    return Conversation(name, sessions, tuple(questions), len(lines), tuple(problems))


def _placed(question: Question, label: str, evidence: tuple[str, ...], sessions: tuple[str, ...]) -> Question:
    return Question(
        id=label,
        text=question.text,
        category=question.category,
        evidence=evidence,
        sessions=sessions,
        absent=question.absent,
        answer=question.answer,
        at=question.at,
    )


def _message(entry: Mapping[str, Any], number: int) -> Message:
    _known(entry, MESSAGE, "message", number)
    for key in ("session", "id"):
        _named(entry, key, number)
    if entry.get("role") not in ROLES:
        raise InputError(f"lines[{number}].role", f"needs one of {', '.join(ROLES)}, got {entry.get('role')!r}")
    content = entry.get("content")
    if not isinstance(content, str | list):
        raise InputError(f"lines[{number}].content", f"needs a string or a list of parts, got {content!r:.60}")
    check_content(content, f"lines[{number}].content")
    name = entry.get("name")
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise InputError(f"lines[{number}].name", f"needs the speaker's name, got {name!r}")
    return Message(
        role=str(entry["role"]),
        content=content,
        name=name,
        at=_moment(entry.get("at"), number),
        id=str(entry["id"]),
    )


def _question(entry: Mapping[str, Any], number: int) -> tuple[Question, tuple[str, ...]]:
    """Return a question without its place, and the ids that it names as evidence."""
    _known(entry, QUESTION, "question", number)
    text, absent, evidence = entry["question"], entry.get("absent", False), entry.get("evidence", [])
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"lines[{number}].question", f"needs text, got {text!r:.60}")
    if not isinstance(absent, bool):
        raise InputError(f"lines[{number}].absent", f"needs true or false, got {absent!r}")
    if not isinstance(evidence, list) or not all(isinstance(each, str) for each in evidence):
        raise InputError(f"lines[{number}].evidence", f"needs a list of message ids, got {evidence!r:.60}")
    if absent and evidence:
        raise InputError(f"lines[{number}].evidence", "must be empty when the question is absent from memory")
    category, answer = entry.get("category"), entry.get("answer")
    question = Question(
        id="",
        text=text,
        category=str(category) if category is not None else ABSENT if absent else UNNAMED,
        absent=absent,
        answer=None if answer is None else str(answer),
        at=None if entry.get("at") is None else _moment(entry["at"], number),
    )
    return question, tuple(dict.fromkeys(evidence))


def _parsed(line: bytes, number: int) -> Mapping[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise InputError(f"lines[{number}]", f"is not JSON: {error}") from error
    if not isinstance(entry, Mapping):
        raise InputError(f"lines[{number}]", f"needs an object, got {type(entry).__name__}")
    return entry


def _known(entry: Mapping[str, Any], fields: Sequence[str], what: str, number: int) -> None:
    unknown = next((key for key in entry if key not in fields), None)
    if unknown is not None:
        raise InputError(f"lines[{number}].{unknown}", f"is not a field of a {what}: {', '.join(fields)}")


def _named(entry: Mapping[str, Any], key: str, number: int) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"lines[{number}].{key}", f"needs a name, got {value!r:.60}")
    return value


def _moment(given: object, number: int) -> datetime:
    try:
        moment = datetime.fromisoformat(given) if isinstance(given, str) else None
    except ValueError:
        moment = None
    if moment is None:
        raise InputError(f"lines[{number}].at", f"needs an ISO 8601 time such as 2025-03-02T08:00Z, got {given!r:.60}")
    return datasets.zoned(moment)
