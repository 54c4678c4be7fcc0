"""What is measured: how documents are read, and whether the citation of each question stands where it should."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.knowledge.documents import HERE
from mnemic.api import Memory
from mnemic.model.document import Document
from mnemic.model.query import Hit

USER: Final = "reader"
TOP: Final = 5
"""Hits among which the citation has to be."""

_LOOKED: Final = 20


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and where its answer stands: a document, the page or row where it has some, and words of it."""

    question: str
    document: str
    quote: str
    page: int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Cited:
    """How a question went: the rank of the citation (None: not among those looked at) with its page or row right."""

    question: Question
    rank: int | None
    quoted: bool
    seconds: float
    first: str


def questions() -> list[Question]:
    """Return the questions, written by hand before anything searched the documents."""
    lines = (HERE / "questions.jsonl").read_text("utf-8").splitlines()
    return [Question(**json.loads(line)) for line in lines]


def added(memory: Memory, base: str, files: Sequence[Path]) -> Iterator[tuple[Document, float]]:
    """Add files one after the other; yield each document with the seconds until it was found, or had failed."""
    for file in files:
        began = time.perf_counter()
        document = memory.knowledge.add(file, cube=base, user=USER, wait=True)
        yield document, time.perf_counter() - began


def cited(memory: Memory, question: Question) -> Cited:
    """Ask a question as a user would: without naming the knowledge base."""
    began = time.perf_counter()
    found = memory.search(question.question, user=USER, limit=_LOOKED)
    seconds = time.perf_counter() - began
    rank = next((place for place, hit in enumerate(found, start=1) if _is_it(question, hit)), None)
    quoted = rank is not None and _plain(question.quote) in _plain(found[rank - 1].sources[0].quote)
    return Cited(question, rank, quoted, seconds, str(found[0].locator) if len(found) else "")


def _is_it(question: Question, hit: Hit) -> bool:
    at = hit.locator
    if at is None or at.name != question.document or _plain(question.quote) not in _plain(hit.text):
        return False
    if question.row is not None and hit.metadata.get("row") != question.row:
        return False
    return question.page is None or (at.page or 0) <= question.page <= (at.last_page or at.page or 0)


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)
