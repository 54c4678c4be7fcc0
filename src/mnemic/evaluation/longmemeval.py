"""LongMemEval's layout as a dataset (Wu et al., ICLR 2025): the S, M and oracle files, one haystack for each question.

An M file holds gigabytes, so questions are read one at a time. A turn is evidence where the file marks it
(`has_answer`); a question of which it marks none is scored by its sessions (`answer_session_ids`) only, and told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.evaluation import datasets
from mnemic.evaluation.datasets import Conversation, Dataset, Problem, Question, Session
from mnemic.evaluation.json_array import elements
from mnemic.evaluation.source import fingerprint
from mnemic.model.message import Message

KIND: Final = "longmemeval"
CATEGORIES: Final = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
    "abstention",
)
ABSTENTION: Final = "abstention"
_ABSENT: Final = "_abs"
"""The end of the ids of questions that the haystack does not answer."""

_WHEN: Final = ("%Y/%m/%d (%a) %H:%M", "%Y/%m/%d %H:%M", "%Y/%m/%d")
_LISTS: Final = ("haystack_session_ids", "haystack_dates", "haystack_sessions")


def open_file(path: Path) -> Dataset:
    """Return a file in LongMemEval's layout as a dataset. Faults are found when its question is read."""
    sha256, questions = fingerprint(path, b'"question_id"')
    return Dataset(KIND, path.name, sha256, questions, questions, lambda: _read(path), CATEGORIES)


def _read(path: Path) -> Iterator[Conversation]:
    with path.open(encoding="utf-8") as file:
        for number, entry in enumerate(elements(file, "data")):
            yield conversation(entry, f"data[{number}]")


def conversation(entry: object, field: str = "data") -> Conversation:
    """Return one question with its haystack as a conversation. Raises `InputError` naming the place."""
    if not isinstance(entry, Mapping):
        raise InputError(field, "needs an object with question_id, question and a haystack")
    name, asked = (_text(entry, key, field) for key in ("question_id", "question"))
    lists = [_list(entry, key, field) for key in _LISTS]
    if len({len(each) for each in lists}) != 1:
        counts = ", ".join(f"{len(each)} {key}" for key, each in zip(_LISTS, lists, strict=True))
        raise InputError(field, f"the haystack's lists differ in length: {counts}")
    sessions, marked, problems = _sessions(name, lists, f"{field}.haystack_sessions")
    held = datasets.sessions_of(sessions)
    given = [str(each) for each in entry.get("answer_session_ids") or ()]
    present = {session for session, _ in sessions}
    absent = name.endswith(_ABSENT)
    question = Question(
        id=name,
        text=asked,
        category=ABSTENTION if absent else str(entry.get("question_type") or "unnamed"),
        evidence=() if absent else tuple(marked),
        sessions=() if absent else tuple(dict.fromkeys(each for each in given if each in present)),
        absent=absent,
        answer=None if entry.get("answer") is None else str(entry["answer"]),
        at=_moment(entry.get("question_date"), f"{field}.question_date"),
    )
    problems += _problems(question, given, [each for each in marked if each not in held])
    return Conversation(name, sessions, (question,), sum(map(len, lists[2])), tuple(problems))


def _sessions(
    name: str, lists: Sequence[Sequence[Any]], field: str
) -> tuple[tuple[Session, ...], list[str], list[Problem]]:
    """Return the sessions in the order of time, the turns marked as evidence, and the turns without words."""
    sessions: list[Session] = []
    marked: list[str] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for number, (session, when, turns) in enumerate(zip(*lists, strict=True)):
        seen[str(session)] = seen.get(str(session), 0) + 1
        label = str(session) if seen[str(session)] == 1 else f"{session}#{seen[str(session)]}"
        began = _moment(when, f"{field}[{number}] of haystack_dates")
        if not isinstance(turns, Sequence) or isinstance(turns, str):
            raise InputError(f"{field}[{number}]", "needs a list of turns")
        messages: list[Message] = []
        for place, turn in enumerate(turns):
            message = _message(turn, f"{label}:{place + 1}", began, place, f"{field}[{number}][{place}]")
            if not datasets.has_words(message):
                problems.append(Problem(name, None, str(message.id), "a turn without words: not stored"))
                continue
            messages.append(message)
            if turn.get("has_answer") is True:
                marked.append(str(message.id))
        sessions.append((label, tuple(messages)))
    return datasets.in_order(sessions), marked, problems


def _message(turn: object, name: str, began: datetime, place: int, field: str) -> Message:
    if not isinstance(turn, Mapping):
        raise InputError(field, "needs an object with role and content")
    return Message(
        role=_text(turn, "role", field),
        content=str(turn.get("content") or ""),
        at=began + timedelta(seconds=place),  # the file times sessions only; this keeps the order of turns
        id=name,
    )


def _problems(question: Question, given: Sequence[str], lost: Sequence[str]) -> list[Problem]:
    if question.absent:
        return []
    told = [f"evidence session {each!r} is not in the haystack; left out" for each in given
            if each not in question.sessions]  # fmt: skip
    told += [f"evidence turn {each!r} is not stored; left out" for each in lost]
    if not question.evidence:
        scored = "scored by its sessions only" if question.sessions else "not scored for recall"
        told.append(f"no turn is marked as evidence; {scored}")
    return [Problem(question.id, question.id, question.text, what) for what in told]


def _text(entry: Mapping[str, Any], key: str, field: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{field}.{key}", f"needs text, got {value!r:.60}")
    return value


def _list(entry: Mapping[str, Any], key: str, field: str) -> Sequence[Any]:
    value = entry.get(key)
    if not isinstance(value, list):
        raise InputError(f"{field}.{key}", "needs a list: is this LongMemEval's layout?")
    return value


def _moment(given: object, field: str) -> datetime:
    for layout in _WHEN:
        try:
            return datetime.strptime(str(given).strip(), layout).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise InputError(field, f"{given!r} is not a time such as '2023/05/20 (Sat) 02:21'")
