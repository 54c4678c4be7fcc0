"""LoCoMo's layout as a dataset (Maharana et al., ACL 2024): one conversation holds all questions about it.

Reading is `mnemic.importing.locomo`'s; here evidence is looked up among the turns, and what had to be repaired or
names no turn is told. Adversarial questions are absent: their evidence is the bait, not an answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.evaluation import datasets
from mnemic.evaluation.datasets import Conversation, Dataset, Problem, Question
from mnemic.evaluation.source import fingerprint
from mnemic.importing import locomo

KIND: Final = "locomo"
ADVERSARIAL: Final = 5


def open_file(path: Path) -> Dataset:
    """Return a file in LoCoMo's layout as a dataset. Raises `InputError` naming what is wrong."""
    sha256, _ = fingerprint(path)
    try:
        data = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InputError("file", f"{path} is not JSON: {error}") from error
    samples: Sequence[Any] = [data] if isinstance(data, Mapping) else data
    found = locomo.conversations(data)
    return Dataset(
        KIND,
        path.name,
        sha256,
        len(found),
        sum(len(each.questions) for each in found),
        lambda: _read(found, samples),
        tuple(locomo.CATEGORIES.values()),
    )


def _read(found: Sequence[locomo.Conversation], samples: Sequence[Mapping[str, Any]]) -> Iterator[Conversation]:
    for each, sample in zip(found, samples, strict=True):
        yield _conversation(each, sample)


def _conversation(read: locomo.Conversation, sample: Mapping[str, Any]) -> Conversation:
    sessions = tuple((name, messages) for name, _, messages in read.sessions)
    held = datasets.sessions_of(sessions)
    raw = [turn for key, turns in sample["conversation"].items() if _is_session(key, turns) for turn in turns]
    wordless = [str(turn.get("dia_id")) for turn in raw if str(turn.get("dia_id")) not in held]
    problems = [Problem(read.id, None, turn, "a turn without words or picture: not stored") for turn in wordless]
    questions = []
    for number, (question, entry) in enumerate(zip(read.questions, sample.get("qa") or (), strict=True)):
        name = f"{read.id}/{number + 1}"
        questions.append(_question(name, question, held))
        problems += _problems(read.id, name, question, entry.get("evidence") or (), held)
    return Conversation(read.id, sessions, tuple(questions), len(raw), tuple(problems))


def _is_session(key: object, turns: object) -> bool:
    return str(key).startswith("session_") and isinstance(turns, list)


def _question(name: str, question: locomo.Question, held: Mapping[str, str]) -> Question:
    absent = question.category == ADVERSARIAL
    evidence = () if absent else tuple(each for each in question.evidence if each in held)
    return Question(
        id=name,
        text=question.text,
        category=locomo.CATEGORIES.get(question.category, f"category {question.category}"),
        evidence=evidence,
        sessions=tuple(dict.fromkeys(held[each] for each in evidence)),
        absent=absent,
        answer=question.answer,
    )


def _problems(
    conversation: str, name: str, question: locomo.Question, given: object, held: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield what is wrong with a question's evidence. That of an adversarial one is told too, though it is not used."""
    members = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else []
    repaired = [str(member) for member in members if locomo.evidence(member) != (str(member),)]
    lost = [each for each in question.evidence if each not in held]
    for member in repaired:
        ids = ", ".join(locomo.evidence(member))
        yield Problem(conversation, name, question.text, f"evidence {member!r} is malformed; read as {ids}")
    for each in lost:
        yield Problem(conversation, name, question.text, f"evidence {each!r} names no turn; left out")
    if len(lost) == len(question.evidence) and question.category != ADVERSARIAL:
        what = "no evidence names a turn" if lost else "names no evidence"
        yield Problem(conversation, name, question.text, f"{what}; not scored for recall")
