"""Which entries answer a question best: channels, boosts and their sum, over one cube's view.

Every channel gives each entry a number between 0 and 1 that means the same for every question: the cosine, and the
share of the question's weight in words (BM25 against the best that this question could get). Nothing is scaled by
what else was found, so scores can be compared between questions and cut at a threshold. Weights are values: an
evaluation can turn each of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from mnemic.model.index import CubeView, Vector

Scores = NDArray[np.float32]
"""Shape (entries,), each 0 to 1."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each channel and boost counts."""

    dense: float = 1.0
    """Cosine of the question and the passage."""
    lexical: float = 0.7
    """BM25 of the passage (Robertson & Zaragoza 2009, equation 3.15)."""
    dense_pair: float = 0.7
    """Cosine of the question and the passage together with the one before it."""
    lexical_pair: float = 0.7
    """BM25 of the passage together with the one before it."""
    neighbour: float = 0.3
    """The better of the scores of the passages just before and after."""
    session: float = 0.3
    """The mean of the best three scores of the passage's session."""
    speaker: float = 0.3
    """The question names the speaker."""
    time: float = 0.3
    """The question names a time, and the passage was said then or tells of it."""
    recency: float = 0.03
    """exp(-age / 90 days), from the question's reference time."""
    heat: float = 0.02
    """The passage's topic is warm."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, ready for ranking. Times are microseconds; `speakers` are names that it mentions, as stored."""

    vector: Vector | None
    stems: Sequence[str]
    speakers: frozenset[str]
    spans: Sequence[tuple[int, int]]
    reference: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """One entry's place in the view, its score, and what made it."""

    place: int
    score: float
    channels: Mapping[str, tuple[int, float]]
    boosts: Mapping[str, float]


K1 = 1.2
B = 0.6
_DAY = 86_400_000_000  # microseconds
_FOCUS = 400  # entries that go on from the first pass to the boosts


def term_weight(documents: int, holding: int) -> float:
    """Return a term's inverse document frequency, never negative (Lucene's form of BM25's)."""
    return math.log1p((documents - holding + 0.5) / (holding + 0.5))


def bm25(
    view: CubeView, postings: Sequence[Sequence[tuple[int, int]]], *, pairs: bool = False
) -> Scores:
    """Return BM25 of each entry as a share of the most that these terms can give.

    `postings` holds for each term of the question the entries with it: (entry key, count). With `pairs`, each passage
    is read together with the one before it.
    """
    count = len(view)
    scores = np.zeros(count, dtype=np.float32)
    lengths = view.lengths.astype(np.float32)
    if pairs:
        before = view.previous
        lengths = lengths + np.where(before >= 0, lengths[before], 0)
    mean = float(lengths.mean()) if count else 1.0
    norms = K1 * (1 - B + B * lengths / max(mean, 1.0))
    best = 0.0
    for posting in postings:
        weight = term_weight(count, min(len(posting), count))
        best += weight * (K1 + 1)
        if not posting:
            continue
        frequency = _frequencies(view, posting)
        if pairs:
            frequency = frequency + np.where(view.previous >= 0, frequency[view.previous], 0)
        scores += weight * frequency * (K1 + 1) / (frequency + norms)
    return scores / np.float32(best) if best else scores


def _frequencies(view: CubeView, posting: Sequence[tuple[int, int]]) -> Scores:
    keys, counts = np.array(posting, dtype=np.int64).T
    places = np.searchsorted(view.keys, keys)
    places = np.minimum(places, len(view) - 1)
    held = view.keys[places] == keys
    frequency = np.zeros(len(view), dtype=np.float32)
    frequency[places[held]] = counts[held]
    return frequency


def cosine(view: CubeView, vector: Vector | None) -> Scores:
    """Return the cosine of each entry and the question, negative ones as 0."""
    if vector is None or not len(view):
        return np.zeros(len(view), dtype=np.float32)
    return np.maximum(view.vectors @ vector, 0).astype(np.float32)


def pair_cosine(view: CubeView, plain: Scores) -> Scores:
    """Return the cosine of the question and the mean of each passage's vector and the one before it."""
    before = view.previous
    places = np.flatnonzero(before >= 0)
    result = plain.copy()
    # |a + b|^2 = 2 + 2ab for unit vectors: the norm needs one product a pair, not a new matrix
    products = np.einsum("ij,ij->i", view.vectors[places], view.vectors[before[places]]) if len(places) else 0
    norms = np.sqrt(np.maximum(2 + 2 * products, 1e-6))
    result[places] = (plain[places] + plain[before[places]]) / norms
    return np.minimum(result, 1)


def rank(
    view: CubeView,
    question: Question,
    postings: Sequence[Sequence[tuple[int, int]]],
    *,
    eligible: NDArray[np.bool_],
    heat: Mapping[str, float],
    weights: Weights,
    limit: int,
) -> list[Ranked]:
    """Return the best entries of a view, best first, each owner once.

    `eligible` tells which entries may be returned, `heat` the warmth (0 to 1) of the segments' messages by owner id.
    """
    if not len(view) or not bool(eligible.any()):
        return []
    dense = cosine(view, question.vector)
    channels = {
        "dense": dense,
        "lexical": bm25(view, postings),
        "dense_pair": pair_cosine(view, dense),
        "lexical_pair": bm25(view, postings, pairs=True),
    }
    base = _sum(channels, weights)
    focus = _top(np.where(eligible, base, -1), max(_FOCUS, limit))
    boosts = _boosts(view, question, base, focus, heat)
    total = base[focus] + sum(
        (getattr(weights, name) / _full(weights) * values for name, values in boosts.items()), start=np.float32(0)
    )
    order = np.argsort(-total, kind="stable")
    found: list[Ranked] = []
    seen: set[str] = set()
    for place_in_focus in order:
        place = int(focus[place_in_focus])
        if view.owners[place] in seen:
            continue
        seen.add(view.owners[place])
        found.append(_explained(place, int(place_in_focus), float(total[place_in_focus]), channels, boosts, weights))
        if len(found) == limit:
            break
    return found


def _full(weights: Weights) -> float:
    """Return the sum of all weights: what a passage that is best in everything gets, so that scores end at 1."""
    return sum(getattr(weights, field.name) for field in fields(weights)) or 1.0


def _sum(channels: Mapping[str, Scores], weights: Weights) -> Scores:
    total = sum((getattr(weights, name) * values for name, values in channels.items()), start=np.float32(0))
    return np.asarray(total / _full(weights), dtype=np.float32)


def _top(scores: Scores, count: int) -> NDArray[np.int64]:
    kept = np.arange(len(scores)) if len(scores) <= count else np.argpartition(-scores, count)[:count]
    return kept[scores[kept] >= 0]


def _boosts(
    view: CubeView, question: Question, base: Scores, focus: NDArray[np.int64], heat: Mapping[str, float]
) -> dict[str, Scores]:
    padded = np.append(base, np.float32(0))  # the last place serves -1: no neighbour
    neighbour = np.maximum(padded[view.previous[focus]], padded[view.following[focus]])
    named = np.array([name in question.speakers for name in view.speaker_names] or [False])
    ages = np.maximum(question.reference - view.said_at[focus], 0) / _DAY
    return {
        "neighbour": neighbour,
        "session": _session_means(view, base, focus),
        "speaker": named[view.speakers[focus]].astype(np.float32),
        "time": _in_spans(view.said_at[focus], question.spans),
        "recency": np.exp(-ages / 90).astype(np.float32),
        "heat": np.array([heat.get(view.owners[int(place)], 0.0) for place in focus], dtype=np.float32),
    }


def _session_means(view: CubeView, base: Scores, focus: NDArray[np.int64]) -> Scores:
    best: dict[int, list[float]] = {}
    for place in focus[np.argsort(-base[focus], kind="stable")]:
        kept = best.setdefault(int(view.sessions[place]), [])
        if len(kept) < 3:
            kept.append(float(base[place]))
    best.pop(-1, None)
    means = {session: sum(kept) / 3 for session, kept in best.items()}
    return np.array([means.get(int(session), 0.0) for session in view.sessions[focus]], dtype=np.float32)


def _in_spans(said_at: NDArray[np.int64], spans: Sequence[tuple[int, int]]) -> Scores:
    inside = np.zeros(len(said_at), dtype=np.float32)
    for start, end in spans:
        inside[(said_at >= start) & (said_at < end)] = 1
    return inside


def _explained(
    place: int,
    place_in_focus: int,
    score: float,
    channels: Mapping[str, Scores],
    boosts: Mapping[str, Scores],
    weights: Weights,
) -> Ranked:
    full = _full(weights)
    return Ranked(
        place,
        min(max(score, 0.0), 1.0),
        {name: (-1, float(getattr(weights, name) * values[place] / full)) for name, values in channels.items()},
        {name: float(getattr(weights, name) * values[place_in_focus] / full) for name, values in boosts.items()},
    )
