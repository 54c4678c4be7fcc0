"""How much of what multiplying a large view finds is found by its codes first, and what that saves.

python -m bench.scanning [--data FILE] [ENTRIES] [QUESTIONS]

The vectors are real: all turns of a file, and as many made of halves of two; what is missing to ENTRIES is mixed of two
of these, with noise. Neighbours in a session are strangers to each other, which is harder than any conversation.
Recall is that of the first ten of the whole ranking, by meaning alone and with words that stand anywhere.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.corpus import LOCOMO, conversation_turns, varied
from bench.tables import Cell, Table
from mnemic.backends.models.onnx import OnnxEmbedder
from mnemic.core.asked import Asks
from mnemic.core.ranking import Question, Weights, look, rank
from mnemic.core.scanning import products
from mnemic.model.index import CubeView, Halves, Ids, Posting, codes_of, widened

TALK = 50
"""Passages in a session."""
SHARES = (1.0, 0.3, 0.02, 0.001)
"""Of the entries that a filter lets through."""
STEP = 4_096


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.scanning")
    parser.add_argument("entries", nargs="?", type=int, default=100_000)
    parser.add_argument("questions", nargs="?", type=int, default=60)
    parser.add_argument("--data", type=Path, default=LOCOMO)
    options = parser.parse_args()
    turns = conversation_turns(options.data)
    asked = [each["question"] for sample in json.loads(options.data.read_text("utf-8")) for each in sample["qa"]]
    embedder = OnnxEmbedder.bundled()
    real = embedder.embed(varied(turns, 2 * len(turns)))
    questions = embedder.embed(asked[:: max(len(asked) // options.questions, 1)][: options.questions])
    print(table(view_of(many_like(real, options.entries)), list(questions)).markdown())


def many_like(real: NDArray[np.float32], count: int) -> Halves:
    """Return the given vectors in any order, among mixtures of two of them with noise."""
    chance = np.random.default_rng(1)
    rows = np.empty((count, real.shape[1]), dtype=np.float16)
    rows[: len(real)] = real[:count]
    for start in range(len(real), count, STEP):
        size = min(STEP, count - start)
        one, other = (real[chance.integers(len(real), size=size)] for _ in range(2))
        share = chance.uniform(0.5, 0.95, (size, 1)).astype(np.float32)
        noise = chance.standard_normal(one.shape, dtype=np.float32) * np.float32(0.4 / np.sqrt(real.shape[1]))
        mixed = share * one + (1 - share) * other + noise
        rows[start : start + size] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return rows[chance.permutation(count)]


def view_of(rows: Halves) -> CubeView:
    """Return a view of messages with these vectors."""
    count = len(rows)
    places, none = np.arange(count, dtype=np.int32), np.zeros(count, dtype=np.int32)
    previous = np.where(places % TALK > 0, places - 1, -1).astype(np.int32)
    following = np.where((places % TALK < TALK - 1) & (places < count - 1), places + 1, -1).astype(np.int32)
    norms = np.ones(count, dtype=np.float32)
    for start in range(0, count, STEP):
        some = places[start : start + STEP]
        pairs = np.einsum("ij,ij->i", widened(rows[some]), widened(rows[previous[some]]))
        norms[some] = np.where(previous[some] >= 0, np.sqrt(np.maximum(2 + 2 * pairs, 1e-3)), 1)
    parts = [codes_of(rows[start : start + STEP]) for start in range(0, count, STEP)]
    return CubeView(
        cube_key=1, revision=1, keys=places.astype(np.int64), kinds=none.astype(np.int16),
        owners=Ids(places.astype("S8")), versions=Ids(np.zeros(count, dtype="S1")), sessions=places // TALK,
        positions=places, speakers=places % 2, said_at=none.astype(np.int64),
        valid_to=np.full(count, 1 << 62, dtype=np.int64), lengths=places % 27 + 3, starts=none, ends=none,
        live=np.ones(count, dtype=np.bool_), previous=previous, following=following, pair_norms=norms, vectors=rows,
        codes=tuple(np.concatenate(words) for words in zip(*parts, strict=True)), kind_names=["message"],
        speaker_names=["ann", "ben"], session_ids=[str(number) for number in range(count // TALK + 1)],
        traits=none.astype(np.int16),
    )  # fmt: skip


def table(view: CubeView, questions: Sequence[NDArray[np.float32]]) -> Table:
    """Rank by both ways."""
    chance = np.random.default_rng(2)
    words = [_words(view, vector, chance) for vector in questions]
    rows: list[list[Cell]] = []
    for share in SHARES:
        eligible = chance.random(len(view)) < share
        for worded in (False, True):
            found = [
                _both(view, vector, postings if worded else [], eligible)
                for vector, postings in zip(questions, words, strict=True)
            ]
            recalls, exact, coded = zip(*found, strict=True)
            kind = "meaning and words" if worded else "meaning only"
            costs = [float(np.median(each)) for each in (exact, coded)]
            rows.append([len(view), f"{share:.1%}", kind, f"{np.mean(recalls):.3f}", *costs])
    return Table(
        "(b) Looking through a large view by signs first",
        ["entries", "let through", "by", "recall@10", "multiplying all: CPU ms", "by signs: CPU ms"],
        rows,
        f"{len(questions)} questions of people over real MiniLM vectors and mixtures of them; ranking only.",
    )


def _words(view: CubeView, vector: NDArray[np.float32], chance: np.random.Generator) -> list[Posting]:
    near = np.argpartition(-products(view.vectors, [vector])[0], 300)[:300]
    found: list[Posting] = []
    for every in (2_000, 200, 50, 20, 10):
        keys = [chance.integers(len(view), size=len(view) // every + 5), near[chance.random(300) < 0.05]]
        held = np.unique(np.concatenate(keys)).astype(np.int64)
        found.append((held, np.ones(len(held), dtype=np.int64)))
    return found


def _both(
    view: CubeView, vector: NDArray[np.float32], postings: list[Posting], eligible: NDArray[np.bool_]
) -> tuple[float, float, float]:
    question = Question(vector, ["word"] * len(postings), frozenset(), frozenset(), Asks(0), [], [], 0)

    def ranked(each: CubeView) -> set[int]:
        looked = look(each, question, postings, eligible=eligible, weights=Weights())
        return {item.place for item in rank(each, looked, weights=Weights(), fusion=None, limit=10)}

    exact, exact_took = _timed(lambda: ranked(replace(view, codes=())))
    coded, coded_took = _timed(lambda: ranked(view))
    return len(exact & coded) / max(len(exact), 1), exact_took, coded_took


def _timed(action: Callable[[], set[int]]) -> tuple[set[int], float]:
    began = time.process_time()
    found = action()
    return found, (time.process_time() - began) * 1e3


if __name__ == "__main__":
    main()
