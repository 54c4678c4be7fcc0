"""What is stored and asked: real turns of conversations, and made-up ones of any number, the same for the same seed."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.stored import WIDTH
from bench.tables import ROOT

Vectors = NDArray[np.float32]

DEMO: Final = ROOT / "src" / "mnemic" / "data" / "demo.json"
LOCOMO: Final = ROOT.parent / "shared" / "data" / "locomo-dev.json"
WORDS: Final = 20_000
"""Different words of a made-up corpus."""
TOPICS: Final = 50
"""Directions around which the vectors of a user lie."""


def conversation_turns(path: Path) -> list[str]:
    """Return the turns of a file in LoCoMo's layout, in order, with what their photos show."""
    turns: list[str] = []
    for sample in json.loads(path.read_text("utf-8")):
        talk = sample["conversation"]
        for number in itertools.count(1):
            if f"session_{number}" not in talk:
                break
            for turn in talk[f"session_{number}"]:
                caption = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                turns.append(f"{turn['speaker']}: {turn.get('text', '')}{caption}")
    return turns


def varied(turns: Sequence[str], count: int, seed: int = 0) -> list[str]:
    """Return so many different turns of the same kind: the given ones, then new ones made of halves of two."""
    chance = random.Random(seed)
    found = dict.fromkeys(turns[:count])
    while len(found) < count:
        first, second = chance.choice(turns).split(), chance.choice(turns).split()
        found[" ".join(first[: len(first) // 2 + 1] + second[len(second) // 2 :])] = None
    return list(found)


def random_vectors(count: int, seed: int = 0) -> Vectors:
    """Return unit vectors around a few topics, as sentences of one life lie around its subjects."""
    chance = np.random.default_rng(seed)
    topics = chance.standard_normal((TOPICS, WIDTH), dtype=np.float32)
    chosen = chance.integers(TOPICS, size=count)
    vectors = chance.standard_normal((count, WIDTH), dtype=np.float32)
    for start in range(0, count, 10_000):  # a million rows are 1.5 GB: no second copy of them
        some = vectors[start : start + 10_000]
        some += topics[chosen[start : start + 10_000]]
        some /= np.linalg.norm(some, axis=1, keepdims=True)
    return np.asarray(vectors)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one user stores."""

    user: str
    texts: Sequence[str]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Query:
    """A question of one user, near one of the stored texts: some of its rarer words, and a vector not far from it."""

    user: str
    words: Sequence[str]
    vector: Vectors

    @property
    def text(self) -> str:
        """The words as a question, whose other words are not looked for."""
        return f"what did they say about {' '.join(self.words)}"


class Corpus:
    """So many made-up memories in equal shares for so many users. Words follow Zipf's law; each text is different."""

    def __init__(self, memories: int, users: int, seed: int = 7) -> None:
        self.memories = memories
        self.users = users
        self._seed = seed
        chance = random.Random(seed)
        self._words = [_word(chance) for _ in range(WORDS)]
        weights = 1 / (np.arange(WORDS) + 2.7)  # Mandelbrot's form: 1 / (rank + 2.7)
        self._cumulative = np.cumsum(weights / weights.sum())

    def batch(self, number: int) -> Batch:
        """Return all that one user stores; the same at every call."""
        count = self.memories // self.users
        chance = np.random.default_rng((self._seed, number))
        drawn = np.searchsorted(self._cumulative, chance.random((count, 18)))
        texts = [
            " ".join([*(self._words[min(int(word), WORDS - 1)] for word in row), f"n{number}x{place}"])
            for place, row in enumerate(drawn)
        ]
        return Batch(f"user{number}", texts, random_vectors(count, self._seed + number))

    def queries(self, count: int, users: int) -> list[Query]:
        """Return questions of so many different users, one user after the other and round again."""
        chance = np.random.default_rng(self._seed + 1)
        asking = chance.permutation(self.users)[: min(users, self.users)]
        found: list[list[Query]] = []
        common = set(self._words[:60])  # what stop words are in English: not asked for
        for number in asking:
            batch = self.batch(int(number))
            mine = []
            for _ in range(-(-count // len(asking))):
                place = int(chance.integers(len(batch.texts)))
                rare = [word for word in dict.fromkeys(batch.texts[place].split()[:-1]) if word not in common]
                near = batch.vectors[place] + random_vectors(1, int(chance.integers(1 << 30)))[0] * np.float32(0.7)
                mine.append(Query(batch.user, rare[:5], near / np.linalg.norm(near)))
            found.append(mine)
        return [query for turn in zip(*found, strict=True) for query in turn][:count]


def _word(chance: random.Random) -> str:
    syllables = ("ka", "lo", "mi", "tru", "ban", "se", "vor", "pi", "da", "nu", "gel", "rit", "hop", "ze", "cam", "fy")
    return "".join(chance.choice(syllables) for _ in range(chance.randint(2, 5)))
