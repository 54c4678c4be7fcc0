"""How likely memory is to hold an answer at all, judged by what a search has looked at: `Results.confidence`.

Where several people talk and the question names one of them, what tells is whether they say what is asked, rather than
the others: each clue is the mean of their three best passages less that of the three best of everybody else. Where
nobody else can be meant, as in talk with an assistant, what tells is how near the best passages come; in documents, the
plain sum of the best one. The weights
are found by `python -m bench.fitting.certainty`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from mnemic.core.features import Scores
from mnemic.core.fusion import chance
from mnemic.core.ranking import SAID, Looked, is_written
from mnemic.model.index import CubeView
from mnemic.model.message import MessageRole

RIVALS: Final = {"offset": 1.29, "plain": -23.73, "cover": 15.49, "lexical": -16.53, "dense": 7.22}
"""The weights where somebody else may be meant."""

ALONE: Final = {"offset": -3.17, "nearness": 11.17}
"""The weights where nobody else can be."""

WRITTEN: Final = {"offset": -6.61, "plain": 21.48}
"""The weights where documents are searched (`python -m bench.knowledge --fit`)."""

MEASURED: Final = frozenset({"minilm-l6-v2-int8"})
"""The embedders that the weights hold for; how near is near differs between models."""

ROLES: Final = frozenset(role.value for role in MessageRole)
"""Speakers that are nobody in particular; who is asked about is never mistaken for them."""

_BEST: Final = 3
_NEAREST: Final = 10
"""Passages whose nearness is taken together, or a tenth of what a small memory holds: one in many is near by chance."""


@dataclass(frozen=True, slots=True)
class Clues:
    """What the likelihood is made of: `values` by name, weighed by `RIVALS`, by `ALONE` or, of documents, `WRITTEN`."""

    rivals: bool
    values: Mapping[str, float]
    written: bool = False


def clues_of(view: CubeView, speakers: frozenset[str], looked: Looked) -> Clues:
    """Return the clues that a question finds in a cube; `speakers` are those that it names, as stored."""
    if is_written(view):
        return Clues(rivals=False, values={"plain": float(looked.plain.max(initial=0))}, written=True)
    if not (speakers - ROLES and are_several(view.speaker_names)):
        best = np.sort(looked.channels["dense_pair"][looked.places])[::-1]
        return Clues(rivals=False, values={"nearness": _mean(best, max(1, min(_NEAREST, len(view) // 10)))})
    told = np.array([name in SAID for name in view.kind_names], dtype=np.bool_)[view.kinds[looked.places]]
    own = looked.features["subject"] > 0
    seen = np.stack([
        looked.plain,
        looked.features["cover"],
        looked.channels["lexical"][looked.places],
        looked.channels["dense"][looked.places],
    ])  # fmt: skip
    ahead = _means(seen[:, told & own], seen[:, told & ~own])
    return Clues(rivals=True, values=dict(zip(("plain", "cover", "lexical", "dense"), ahead, strict=True)))


def are_several(speakers: Iterable[str]) -> bool:
    """Tell whether several of the speakers are people, not roles."""
    return sum(bool(name) and name.casefold() not in ROLES for name in speakers) > 1


def _means(ours: Scores, theirs: Scores) -> list[float]:
    """Return by row the mean of our best less that of theirs; both have shape (rows, passages)."""
    count = min(_BEST, max(ours.shape[1], theirs.shape[1], 1))
    best = [np.sort(each, axis=1)[:, -count:].sum(axis=1) for each in (ours, theirs)]
    return [float(each) for each in (best[0] - best[1]) / count]


def _mean(best: Scores, count: int) -> float:
    return float(best[:count].sum()) / count


def likelihood(clues: Clues) -> float:
    """Return how likely it is that memory holds an answer, 0 to 1, where as many questions have one as have none."""
    weights = WRITTEN if clues.written else RIVALS if clues.rivals else ALONE
    return chance(weights["offset"] + sum(weights[name] * value for name, value in clues.values.items()))
