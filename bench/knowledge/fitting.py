"""Finds what makes a probability of the plain sum of a passage: the numbers of `core.passages` and `core.holding`.

From the questions of the bench and from as many that no document answers (`absent.txt`): half of these are about the
same things, half are what people ask about their own lives. Logistic regression by Newton's method, with a light ridge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.knowledge.documents import HERE
from bench.knowledge.measuring import USER, questions
from mnemic.api import Memory
from mnemic.core.ranking import Looked
from mnemic.model.index import CubeView

Floats = NDArray[np.float64]

_RIDGE: Final = 1e-3
_STEPS: Final = 100


def fit(memory: Memory) -> str:
    """Return the numbers as they stand in the code, with how well they tell."""
    sums, dense, lexical, right, best, holds = [], [], [], [], [], []
    for looked, evidence, answered in _looks(memory):
        sums.append(looked.plain.astype(float))
        dense.append(np.full(len(evidence), float(looked.features["dense"].max(initial=0))))
        lexical.append(np.full(len(evidence), float(looked.features["lexical"].max(initial=0))))
        right.append(evidence)
        best.append(float(looked.plain.max(initial=0)))
        holds.append(answered)
    seen = np.stack([np.concatenate(each) for each in (sums, dense, lexical)], axis=1)
    first, second, third, offset = _logistic(seen, np.concatenate(right))
    found = np.array(holds, dtype=float)
    weight = np.where(found > 0, 0.5 / found.mean(), 0.5 / (1 - found.mean()))
    slope, start = _logistic(np.array(best)[:, None], found, weight)
    with_one, without = np.array(best)[found > 0], np.array(best)[found == 0]
    ahead = float((with_one[:, None] > without[None, :]).mean())
    sureness = f'{{"sum": {first:.2f}, "dense": {second:.2f}, "lexical": {third:.2f}}}'
    return (
        f"PASSAGES: sureness={sureness}, offset={offset:.2f}\n"
        f'WRITTEN: {{"offset": {start:.2f}, "plain": {slope:.2f}}}\n'
        f"a question with an answer stands above one without in {ahead:.3f} of all pairs\n"
    )


def _looks(memory: Memory) -> Iterator[tuple[Looked, Floats, bool]]:
    """Yield what each question sees, which of it is evidence, and whether any document answers it."""
    absent = (HERE / "absent.txt").read_text("utf-8").splitlines()
    asked = [(each.question, each.document, each.quote) for each in questions()]
    for question, document, quote in [*asked, *((line, "", "") for line in absent)]:
        base = memory.knowledge.list(user=USER)[0].cube
        recall = memory._parts.recall  # noqa: SLF001 - features are not part of the public face
        for _, view, looked in recall.look(question, user=USER, cubes=base.id, kinds="chunk"):
            yield looked, _evidence(memory, base.key, (view, looked), document, quote), bool(document)


def _evidence(memory: Memory, key: int, seen: tuple[CubeView, Looked], document: str, quote: str) -> Floats:
    view, looked = seen
    owners = [view.owners[int(at)] for at in looked.places]
    with memory._parts.store.read() as tx:  # noqa: SLF001 - see above
        tx.enter(key)
        chunks = tx.chunks.get(key, owners) if document else {}
    told = {
        id_: chunk.locator.name == document and re.sub(r"\s+", " ", quote) in re.sub(r"\s+", " ", chunk.text)
        for id_, chunk in chunks.items()
    }
    return np.array([float(told.get(owner, False)) for owner in owners])


def _logistic(seen: Floats, right: Floats, weight: Floats | None = None) -> list[float]:
    columns = np.column_stack([seen, np.ones(len(seen))])
    weights = np.ones(len(seen)) if weight is None else weight
    ridge = np.diag([*[_RIDGE] * seen.shape[1], 1e-9])
    found = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(columns @ found, -30, 30)))
        slope = columns.T @ (weights * (chance - right)) + ridge @ found
        curve = (columns * (weights * chance * (1 - chance))[:, None]).T @ columns + ridge
        found -= np.linalg.solve(curve, slope)
    return [float(each) for each in found]
