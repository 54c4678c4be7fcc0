"""What Mnemic is compared with in the same run: a small Protocol, and three baselines of a few lines each.

All get the same turns as the same texts and the run's one embedder. They know nothing of Mnemic; a peer that needs a
package of its own has a module beside this one and an extra.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

import numpy as np

from mnemic.errors import InputError
from mnemic.evaluation.datasets import Turn
from mnemic.evaluation.vectors import Embeds, Vectors

K: Final = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""

POOL: Final = 100
"""How deep each ranking is read when two are fused."""

STOP_WORDS: Final = frozenset(
    """a about after all am an and any are as at be been before being but by can could did do does doing down during
    each few for from had has have having he her here hers him his how i if in into is it its itself just me more most
    my no nor not of off on once only or other our out over own same she should so some such than that the their them
    then there these they this those through to too under until up very was we were what when where which while who
    whom why will with would you your""".split()
)
"""English function words, which the full-text baseline does not look for: its own list, so that it stays as it is."""

_WORD: Final = re.compile(r"\w+")


class Peer(Protocol):
    """A memory of one conversation. It is made empty, filled once, asked many times, and closed.

    Errors of its own come through as they are: a peer that fails ends the run, and is not scored as finding nothing.
    """

    def add(self, turns: Sequence[Turn]) -> None:
        """Keep all turns of the conversation, in order."""
        ...

    def search(self, query: str, k: int) -> Sequence[str]:
        """Return the ids of the k best turns at most, best first."""
        ...

    def close(self) -> None:
        """Let go of what was opened."""
        ...


class Questions:
    """Embeds questions, the last one kept, so that a search is timed with the question's embedding and without."""

    def __init__(self, embedder: Embeds) -> None:
        self._embedder = embedder
        self._last: tuple[str, Vectors] | None = None

    def embed(self, question: str) -> Vectors:
        """Return the question's vector, shape (width,)."""
        if self._last is None or self._last[0] != question:
            self._last = (question, self._embedder.embed([question])[0])
        return self._last[1]


class Dense:
    """Exact cosine over the turns' vectors."""

    def __init__(self, embedder: Embeds, questions: Embeds) -> None:
        self._embedder = embedder
        self._questions = Questions(questions)
        self._ids: list[str] = []
        self._matrix: Vectors = np.zeros((0, 0), dtype=np.float32)

    def add(self, turns: Sequence[Turn]) -> None:
        """Embed the turns."""
        self._ids = [turn.id for turn in turns]
        self._matrix = self._embedder.embed([turn.text for turn in turns])

    def search(self, query: str, k: int) -> Sequence[str]:
        """Return the nearest turns."""
        cosines = self._matrix @ self._questions.embed(query)
        return [self._ids[place] for place in np.argsort(-cosines, kind="stable")[:k]]

    def close(self) -> None:
        """Nothing is open."""


class FullText:
    """SQLite FTS5 with Porter's stemmer and its BM25; any of the question's words but function words may match."""

    def __init__(self) -> None:
        self._file = sqlite3.connect(":memory:")
        self._file.execute("CREATE VIRTUAL TABLE turn USING fts5(text, tokenize='porter unicode61')")
        self._ids: list[str] = []

    def add(self, turns: Sequence[Turn]) -> None:
        """Index the turns."""
        self._ids = [turn.id for turn in turns]
        rows = enumerate(turn.text.encode("utf-8", "replace").decode("utf-8") for turn in turns)
        self._file.executemany("INSERT INTO turn (rowid, text) VALUES (?, ?)", rows)

    def search(self, query: str, k: int) -> Sequence[str]:
        """Return the turns that match best."""
        given = list(dict.fromkeys(_WORD.findall(query.lower())))
        kept = [word for word in given if word not in STOP_WORDS] or given
        match = " OR ".join(f'"{word}"' for word in kept)
        if not match:
            return []
        found = self._file.execute("SELECT rowid FROM turn WHERE turn MATCH ? ORDER BY rank, rowid LIMIT ?", (match, k))
        return [self._ids[place] for (place,) in found]

    def close(self) -> None:
        """Drop the index."""
        self._file.close()


class Fused:
    """Reciprocal rank fusion of the two above, at equal weight."""

    def __init__(self, embedder: Embeds, questions: Embeds) -> None:
        self._parts: tuple[Peer, ...] = (Dense(embedder, questions), FullText())

    def add(self, turns: Sequence[Turn]) -> None:
        """Add to both."""
        for part in self._parts:
            part.add(turns)

    def search(self, query: str, k: int) -> Sequence[str]:
        """Return the turns with the highest sum of 1 / (60 + rank)."""
        scores: dict[str, float] = {}
        for part in self._parts:
            for rank, turn in enumerate(part.search(query, max(k, POOL)), 1):
                scores[turn] = scores.get(turn, 0.0) + 1 / (K + rank)
        return sorted(scores, key=lambda turn: -scores[turn])[:k]

    def close(self) -> None:
        """Close both."""
        for part in self._parts:
            part.close()


Maker = Callable[[Embeds, Embeds, Path], Peer]
"""Makes an empty peer from the embedder of texts, that of questions, and an empty folder of its own."""


def _mem0(embedder: Embeds, questions: Embeds, folder: Path) -> Peer:
    try:
        module = import_module("mnemic.evaluation.mem0")
        made: Peer = module.Mem0(embedder, questions, folder)
    except ModuleNotFoundError as error:
        raise InputError("baselines", "mem0 needs packages of its own: pip install 'mnemic[peers]'") from error
    return made


PEERS: Final[Mapping[str, Maker]] = MappingProxyType(
    {
        "dense": lambda embedder, questions, _: Dense(embedder, questions),
        "text": lambda *_: FullText(),
        "rrf": lambda embedder, questions, _: Fused(embedder, questions),
        "mem0": _mem0,
    }
)
"""Every peer by the name that `--baselines` takes."""

DEFAULT: Final = ("dense", "text", "rrf")


def named(given: Sequence[str]) -> tuple[str, ...]:
    """Return the names of peers, each once. Raises `InputError` for one that is not known."""
    unknown = next((name for name in given if name not in PEERS), None)
    if unknown is not None:
        raise InputError("baselines", f"{unknown!r} is not known; known: {', '.join(PEERS)}, or none")
    return tuple(dict.fromkeys(given))
