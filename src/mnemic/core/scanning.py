"""How near a question is to the passages of a view: half-precision rows multiplied, in large views the likely ones.

A row is kept as it is stored, in 16-bit floats, whose bits are moved into 32 when they are multiplied. A large view is
first looked through by the signs of its rows' components (`codes_of`): a sixteenth of the memory, no multiplication.
The nearest by code, and those that hold the question's words, get their true cosine; the others that which their code
tells. Codes follow from rows: there is nothing to train, to keep or to rebuild. Of a view whose vectors are apart, the
store is asked for the likely ones (`ports.near`), and what it is asked is said here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemic.model.index import REBIAS, Codes, CubeView, Halves, Posting, Vector, codes_of, moved

Scores = NDArray[np.float32]
"""Shape (rows,)."""

NEAREST: Final = 400
"""Entries that the store is asked for, when it compares vectors itself: true cosines need no more to choose from."""

_ROWS: Final = 512  # multiplied at once: their 32-bit floats stay in the processor's second cache
_COLUMNS: Final = 16_384  # codes compared at once, for the same reason
_LIKELY: Final = 2_000  # entries by code, and as many by words, whose cosine is true
_SHARE: Final = 100  # or one of so many entries, when that is more
_FAR: Final = 1 << 13  # bits: more than a code has
_FEW: Final = 10_000  # entries that the store compares one by one
_LEADING: Final = 500  # of them bring their neighbours along, or a quarter when that is more


def products(rows: Halves, vectors: Sequence[Vector]) -> NDArray[np.float32]:
    """Return the products of rows with each of these vectors, of shape (vectors, rows).

    Each vector is multiplied by itself, so that what it gives does not depend on the others.
    """
    halves = np.ascontiguousarray(rows).view(np.int16)
    scaled = [vector * REBIAS for vector in vectors]
    wide = np.empty((min(_ROWS, len(rows)), rows.shape[1]), dtype=np.int32)
    found = np.empty((len(vectors), len(rows)), dtype=np.float32)
    for start in range(0, len(rows), _ROWS):
        some = halves[start : start + _ROWS]
        floats = moved(some, wide[: len(some)])
        for vector, into in zip(scaled, found, strict=True):
            np.dot(floats, vector, out=into[start : start + len(some)])
    return found


def worked_out(view: CubeView, vectors: Sequence[Vector | None]) -> list[Scores | None]:
    """Return the products of a view's rows with the vectors of questions; None where each is to do its own."""
    if view.codes or view.apart or len(vectors) < 2:
        return [None] * len(vectors)
    given = [vector for vector in vectors if vector is not None]
    found = iter(products(view.vectors, given))
    return [None if vector is None else next(found) for vector in vectors]


def nearness(view: CubeView, vector: Vector, eligible: NDArray[np.bool_] | None, worded: Scores | None) -> Scores:
    """Return the cosine of a question and each entry; in a large view the true one only of those that may matter.

    These are chosen among the `eligible` (None: all) by their code, and by `worded`, the score of their words.
    """
    if not view.codes:
        return products(view.vectors, [vector]).reshape(-1)
    width = view.vectors.shape[1]
    distances = _distances(view.codes, codes_of(vector[None].astype(np.float16)))
    told = np.cos(np.pi * np.arange(len(view.codes) * 64 + 1) / width).astype(np.float32)
    found: Scores = np.take(told, distances)
    count = max(_LIKELY, len(view) // _SHARE)
    likely = _nearest(distances, count, eligible)
    if worded is not None:
        held = np.flatnonzero(worded > 0 if eligible is None else (worded > 0) & eligible)
        likely = np.union1d(likely, held[_best(worded[held] + found[held], count)])
    found[likely] = products(np.take(view.vectors, likely, axis=0), [vector])[0]
    order = found[likely] if worded is None else found[likely] + worded[likely]
    around = _around(view, likely[_best(order, max(_LEADING, count // 4))])
    found[around] = products(np.take(view.vectors, around, axis=0), [vector])[0]
    return found


def is_few(eligible: NDArray[np.bool_]) -> bool:
    """Tell whether so few may be found that the store compares them all."""
    return int(np.count_nonzero(eligible)) <= _FEW


def places_apart(
    view: CubeView, near: NDArray[np.int64], postings: Sequence[Posting], eligible: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the places in a view, whose vectors are apart, of which the true cosine is worth asking the store for.

    All of them when these are few; else those near the question, by their keys, the best by its words, and what was
    said around both.
    """
    if is_few(eligible):
        likely = np.flatnonzero(eligible)
    else:
        by_vector = _places_of(view, near)
        likely = np.union1d(by_vector[eligible[by_vector]], _by_words(view, postings, eligible))
    return likely if len(likely) > 2 * _LIKELY else np.union1d(likely, _around(view, likely)).astype(np.int64)


def lengths_of_pairs(cosines: Scores) -> Scores:
    """Return the lengths of sums of two unit vectors, from their cosines."""
    return np.sqrt(np.maximum(2 + 2 * cosines, np.float32(1e-3)))


def _places_of(view: CubeView, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    places = np.minimum(np.searchsorted(view.keys, keys), len(view) - 1)
    return np.asarray(places[view.keys[places] == keys], dtype=np.int64)


def _by_words(view: CubeView, postings: Sequence[Posting], eligible: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the eligible that hold the most of the question's words, the rare ones first."""
    scores = np.zeros(len(view), dtype=np.float32)
    for keys, _ in postings:
        if len(keys):
            scores[_places_of(view, keys)] += np.float32(np.log1p(len(view) / len(keys)))
    held = np.flatnonzero((scores > 0) & eligible)
    return held[_best(scores[held], NEAREST)]


def _around(view: CubeView, places: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return what was said up to two passages before and after these: a passage counts by its neighbours' pairs too."""
    near = [view.previous[places], view.following[places]]
    near = [step[step >= 0] for step in near]
    further = [view.previous[near[0]], view.following[near[1]]]
    found = np.unique(np.concatenate([*near, *further]))
    return found[found >= 0]


def _distances(codes: Codes, code: Codes) -> NDArray[np.uint16]:
    """Return in how many bits each code differs from one."""
    size = len(codes[0])
    found = np.zeros(size, dtype=np.uint16)
    differing = np.empty(min(_COLUMNS, size), dtype=np.uint64)
    counted = np.empty(len(differing), dtype=np.uint8)
    for start in range(0, size, _COLUMNS):
        some = found[start : start + _COLUMNS]
        for word, asked in zip(codes, code, strict=True):
            np.bitwise_xor(word[start : start + _COLUMNS], asked, out=differing[: len(some)])
            np.bitwise_count(differing[: len(some)], out=counted[: len(some)])
            some += counted[: len(some)]
    return found


def _nearest(distances: NDArray[np.uint16], count: int, eligible: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """Return the places of the smallest distances, `count` of them and those that are as small as the last."""
    chosen = distances if eligible is None else np.where(eligible, distances, np.uint16(_FAR))
    reached = np.cumsum(np.bincount(chosen, minlength=_FAR + 1)[:_FAR])
    return np.flatnonzero(chosen <= min(int(np.searchsorted(reached, count)), _FAR - 1))


def _best(scores: Scores, count: int) -> NDArray[np.int64]:
    if len(scores) <= count:
        return np.arange(len(scores))
    return np.argpartition(-scores, count)[:count]
