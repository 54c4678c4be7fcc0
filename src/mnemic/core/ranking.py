"""Which entries answer a question best, over one cube's view: channels and boosts, their plain sum, and a closer look.

Every channel gives each entry a number between 0 and 1 that means the same for every question: the cosine, and the
share of the question's weight in words (BM25 against the best that this question could get). Their plain sum is scaled
by nothing that was found, and so can be compared between questions; its weights are values that an evaluation can turn.
The entries that it puts first get their features (`core.features`), and what was learned (`core.fusion`) their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemic.core.asked import Asks
from mnemic.core.features import K1, KINDS_OF, B, Scene, features_of, of_sessions
from mnemic.core.fusion import Fusion, chance, chances
from mnemic.core.scanning import nearness
from mnemic.model.index import CHUNK, SECTION, CubeView, Posting, Vector

Scores = NDArray[np.float32]
"""Shape (entries,), each 0 to 1."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each channel and boost counts."""

    dense: float = 1.0
    """Cosine of the question and the passage."""
    lexical: float = 1.1
    """BM25 of the passage (Robertson & Zaragoza 2009, equation 3.15)."""
    dense_pair: float = 0.7
    """Cosine of the question and the passage together with the one before it."""
    lexical_pair: float = 1.0
    """BM25 of the passage together with the one before it."""
    neighbour: float = 0.3
    """The better of the scores of the passages just before and after."""
    session: float = 0.3
    """The mean of the best three scores of the passage's session."""
    speaker: float = 0.3
    """The question names the speaker."""
    entity: float = 0.1
    """The passage, or the one before it, holds the names and quoted words of the question."""
    time: float = 0.3
    """The question names a time, and the passage was said then or tells of it."""
    recency: float = 0.01
    """exp(-age / 90 days), from the question's reference time."""
    heat: float = 0.02
    """The passage's topic is warm."""
    derived: float = 0.7
    """What a memory's score is multiplied by: a statement is short, and so near to more questions than it answers."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, ready for ranking. Times are microseconds; `speakers` are names that it mentions, as stored.

    `entities` are groups of places in `stems`: each the words of a name or of a quotation, that count only together.
    `products` are those of the view's rows with the vector, when they were worked out for several questions at once, or
    by the store; with these come `pair_norms`, in the place of the view's.
    """

    vector: Vector | None
    stems: Sequence[str]
    speakers: frozenset[str]
    subjects: frozenset[str]
    asks: Asks
    entities: Sequence[Sequence[int]]
    spans: Sequence[tuple[int, int]]
    reference: int
    products: Scores | None = None
    pair_norms: Scores | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """One entry's place in the view, its score, and what made it."""

    place: int
    score: float
    channels: Mapping[str, float]
    boosts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Looked:
    """What a question finds on a closer look: passages by place, the plain sum of each, and the features of each."""

    places: NDArray[np.int64]
    plain: Scores
    features: Mapping[str, Scores]
    channels: Mapping[str, Scores]
    boosts: Mapping[str, Scores]
    verbatim: Scores


SAID: Final = ("message", "segment", CHUNK, SECTION)
"""The kinds of entries that are what was said or written, not a statement that was derived from it."""

_DAY = 86_400_000_000  # microseconds
_LUKEWARM = 5.0  # heat at which a topic gives half of its boost: the threshold of promotion
RECENT: Final = 0.05
WARM: Final = 0.1
"""What recency and heat add to the log-odds at most: set by hand, to part what is else alike."""

VERBATIM: Final = 8.0
"""What it adds that a passage is the question itself: who looks for its own words finds it first."""

_SAME = 0.95  # cosine of a text and the same text in other clothes

FOCUS: Final = 150
"""Entries that go on from the first pass to a closer look."""


def term_weight(documents: int, holding: int) -> float:
    """Return a term's inverse document frequency, never negative (Lucene's form of BM25's)."""
    return math.log1p((documents - holding + 0.5) / (holding + 0.5))


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the terms of a question stand in a view: term `terms[i]` is `counts[i]` times in the entry at `places[i]`.

    `table` has the same counts by term and place, with a last column of zeros for place -1: no entry.
    """

    terms: NDArray[np.int64]
    places: NDArray[np.int64]
    counts: Scores
    table: NDArray[np.float32]

    def in_pairs(self, view: CubeView) -> Standing:
        """Return the same with each passage read together with the one before it."""
        before = self.table[self.terms, view.previous[self.places]]
        after = view.following[self.places]
        spread = (after >= 0) & (self.table[self.terms, after] == 0)  # passages that hold it by the one before alone
        return Standing(
            np.concatenate([self.terms, self.terms[spread]]),
            np.concatenate([self.places, after[spread]]),
            np.concatenate([self.counts + before, self.counts[spread]]),
            self.table,
        )


def standing(view: CubeView, postings: Sequence[Posting]) -> Standing:
    """Find the entries of postings in a view; entries that are not in it are left out."""
    sizes = [len(keys) for keys, _ in postings]
    terms = np.repeat(np.arange(len(postings)), sizes)
    keys = np.concatenate([np.empty(0, dtype=np.int64), *(keys for keys, _ in postings)])
    counts = np.concatenate([np.empty(0, dtype=np.int64), *(counts for _, counts in postings)]).astype(np.float32)
    places = np.minimum(np.searchsorted(view.keys, keys), len(view) - 1)
    held = view.keys[places] == keys
    terms, places, counts = terms[held], places[held], counts[held]
    table = np.zeros((len(postings), len(view) + 1), dtype=np.float32)
    table[terms, places] = counts
    return Standing(terms, places, counts, table)


def bm25(
    view: CubeView, found: Standing, weights: Sequence[float], said: NDArray[np.bool_], *, pairs: bool = False
) -> Scores:
    """Return BM25 of each entry as a share of the most that terms of these weights can give.

    The mean length is that of the messages, which `said` tells. With `pairs`, each passage is read together with the
    one before it, and `found` comes from `in_pairs`.
    """
    lengths = view.lengths[found.places].astype(np.float32)
    total = float(view.lengths[said].sum(dtype=np.int64))
    if pairs:
        before = view.previous[found.places]
        lengths += np.where(before >= 0, view.lengths[before], 0)
        total += float(np.dot(view.lengths, view.following >= 0))
    norms = K1 * (1 - B + B * lengths / np.float32(max(total / max(int(said.sum()), 1), 1.0)))
    given = np.array(weights)[found.terms] * found.counts / (found.counts + norms)
    scores = np.bincount(found.places, weights=given, minlength=len(view))
    return np.asarray(scores / (sum(weights) or 1.0), dtype=np.float32)


def term_weights(found: Standing, terms: int, said: NDArray[np.bool_]) -> list[float]:
    """Return the weight of each term, from how many of the messages hold it."""
    total = int(said.sum())
    held = np.bincount(found.terms[said[found.places]], minlength=terms)
    return [term_weight(total, int(count)) for count in held]


def messages_in(view: CubeView) -> NDArray[np.bool_]:
    """Tell of each entry whether it is of a message or a passage: topics, summaries and memories say the same again."""
    return np.array([name in ("message", CHUNK) for name in view.kind_names] or [False])[view.kinds]


def is_written(view: CubeView) -> bool:
    """Tell whether there are passages of documents in a view."""
    return CHUNK in view.kind_names


def cosine(view: CubeView, question: Question, eligible: NDArray[np.bool_], worded: Scores) -> Scores:
    """Return the cosine of each entry and the question, negative ones as 0.

    In a large view it is true of those only that may matter: see `nearness`, which chooses by the rest.
    """
    if question.vector is None:
        return np.zeros(len(view), dtype=np.float32)
    known = question.products
    return np.maximum(nearness(view, question.vector, eligible, worded) if known is None else known, np.float32(0))


def pair_cosine(view: CubeView, plain: Scores, norms: Scores | None = None) -> Scores:
    """Return the cosine of the question and the sum of each passage's vector and the one before it."""
    before = np.append(plain, np.float32(0))[view.previous]
    lengths = view.pair_norms if norms is None else norms
    return np.asarray(np.minimum((plain + before) / lengths, 1), dtype=np.float32)


def look(
    view: CubeView,
    question: Question,
    postings: Sequence[Posting],
    *,
    eligible: NDArray[np.bool_],
    weights: Weights,
    count: int = FOCUS,
    passed: Callable[[str], object] | None = None,
) -> Looked:
    """Look closely at the `count` entries that the channels put first among the eligible.

    `passed` is told when the words, and then the vectors, are compared: for who measures.
    """
    passed = passed or _unheard
    found = standing(view, postings)
    said = messages_in(view)
    worth = term_weights(found, len(postings), said)
    words, pair_words = bm25(view, found, worth, said), bm25(view, found.in_pairs(view), worth, said, pairs=True)
    passed("words")
    dense = cosine(view, question, eligible, words + pair_words)
    passed("vectors")
    channels = {
        "dense": dense,
        "lexical": words,
        "dense_pair": pair_cosine(view, dense, question.pair_norms),
        "lexical_pair": pair_words,
    }
    shares = shares_of(weights)
    base = _sum(channels, shares)
    focus = _top(np.where(eligible, base, -1), count)
    named = np.array([name in question.speakers for name in view.speaker_names], dtype=np.bool_)
    boosts = _boosts(view, question, named, base, focus) | {"entity": _entities(view, question, found)[focus]}
    told = np.array([name in SAID for name in view.kind_names])[view.kinds[focus]]
    plain = base[focus] + _sum(boosts, shares)
    plain = np.where(told, plain, plain * np.float32(weights.derived))
    scene = Scene(
        view=view, asks=question.asks, focus=focus, channels=channels, base=base, boosts=boosts, counts=found.table,
        worth=np.array(worth, dtype=np.float32), named=named,
        subject=np.array([name in question.subjects for name in view.speaker_names], dtype=np.bool_), told=told,
    )  # fmt: skip
    features = features_of(scene)
    whole = (features["cover"] > 1 - 1e-6) & (view.lengths[focus] <= len(postings) + 1)
    verbatim = ((dense[focus] >= _SAME) | whole).astype(np.float32)
    return Looked(focus, plain, features, channels, boosts, verbatim)


def _unheard(_part: str) -> None:
    """Tell nobody."""


def rank(
    view: CubeView,
    looked: Looked,
    *,
    weights: Weights,
    fusion: Fusion | None,
    limit: int,
    explain: bool = False,
) -> list[Ranked]:
    """Return the best of the entries that were looked at, best first, each owner once.

    They are in the order of `fusion`, or of the plain sum without one. What made a score is told only with `explain`.
    """
    shares = shares_of(weights)
    total, odds = looked.plain, None
    if fusion is not None:
        odds = fusion.odds(looked.features) + np.float32(RECENT) * looked.boosts["recency"]
        odds += np.float32(VERBATIM) * looked.verbatim
        total = odds
    order = _first_of_owners(view, looked.places, np.argsort(-total, kind="stable"), limit)
    scores = (np.clip(total[order], 0, 1) if odds is None else chances(odds[order])).astype(float).tolist()
    places = looked.places[order].tolist()
    if not explain:
        return [Ranked(place, score, {}, {}) for place, score in zip(places, scores, strict=True)]
    if fusion is not None:
        told = [_told(fusion, looked, at) for at in order]
        return [Ranked(place, score, *parts) for place, score, parts in zip(places, scores, told, strict=True)]
    parts = [
        {name: shares[name] * float(values[place]) for name, values in looked.channels.items()} for place in places
    ]
    extra = [{name: shares[name] * float(values[at]) for name, values in looked.boosts.items()} for at in order]
    return [Ranked(*item) for item in zip(places, scores, parts, extra, strict=True)]


def _told(fusion: Fusion, looked: Looked, at: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return what the channels and the rest add to one passage's log-odds; together they make its score."""
    one = {name: values[at : at + 1] for name, values in looked.features.items()}
    scale = fusion.sureness["sum"]
    channels = dict.fromkeys(looked.channels, 0.0)
    boosts = {
        "verbatim": VERBATIM * float(looked.verbatim[at]),
        "recency": RECENT * float(looked.boosts["recency"][at]),
        "question": fusion.sure(looked.features),
    }
    for name, part in zip(fusion.rows, fusion.parts(one)[:, 0].tolist(), strict=True):
        group = KINDS_OF.get(name, name)
        held = channels if group in channels else boosts
        held[group] = held.get(group, 0.0) + scale * part
    return channels, {name: part for name, part in boosts.items() if part}


def _first_of_owners(view: CubeView, focus: NDArray[np.int64], order: NDArray[np.int64], limit: int) -> list[int]:
    """Return where in `focus` the best entries stand, leaving out those of an owner that came before."""
    firsts: dict[str, int] = {}
    for at in order.tolist():
        firsts.setdefault(view.owners[focus[at]], at)
        if len(firsts) == limit:
            break
    return list(firsts.values())


def warmed(ranked: Sequence[Ranked], heats: Sequence[float], weights: Weights, fusion: Fusion | None) -> list[Ranked]:
    """Return the entries in order again once the heat (0 and up) of the topic of each is known."""
    share = shares_of(weights)["heat"] if fusion is None else WARM
    boosted = []
    for item, heat in zip(ranked, heats, strict=True):
        extra = share * heat / (heat + _LUKEWARM)
        score = min(item.score + extra, 1.0) if fusion is None else _moved(item.score, extra)
        boosted.append(Ranked(item.place, score, item.channels, {**item.boosts, "heat": extra}))
    return sorted(boosted, key=lambda item: -item.score)


def _moved(score: float, odds: float) -> float:
    """Return a probability with so much more log-odds."""
    held = min(max(score, 1e-12), 1 - 1e-12)
    return chance(math.log(held / (1 - held)) + odds)


@lru_cache(maxsize=16)
def shares_of(weights: Weights) -> Mapping[str, float]:
    """Return the weights as shares of their sum, so that a passage that is best in everything scores 1."""
    given = {field.name: float(getattr(weights, field.name)) for field in fields(weights) if field.name != "derived"}
    full = sum(given.values()) or 1.0
    return {name: weight / full for name, weight in given.items()}


def _sum(parts: Mapping[str, Scores], shares: Mapping[str, float]) -> Scores:
    return np.asarray(sum(np.float32(shares[name]) * values for name, values in parts.items()), dtype=np.float32)


def _top(scores: Scores, count: int) -> NDArray[np.int64]:
    kept = np.arange(len(scores)) if len(scores) <= count else np.argpartition(-scores, count)[:count]
    return kept[scores[kept] >= 0]


def _boosts(
    view: CubeView, question: Question, named: NDArray[np.bool_], base: Scores, focus: NDArray[np.int64]
) -> dict[str, Scores]:
    padded = np.append(base, np.float32(0))  # the last place serves -1: no neighbour
    neighbour = np.maximum(padded[view.previous[focus]], padded[view.following[focus]])
    ages = np.maximum(question.reference - view.said_at[focus], 0) / _DAY
    return {
        "neighbour": neighbour,
        "session": of_sessions(view.sessions[focus], base[focus], 3),
        "speaker": np.append(named, False)[view.speakers[focus]].astype(np.float32),
        "time": _in_spans(view.said_at[focus], question.spans),
        "recency": np.exp(-ages / 90).astype(np.float32),
    }


def _entities(view: CubeView, question: Question, found: Standing) -> Scores:
    """Return the share of the question's names and quotations that stand in each passage or the one before it."""
    shares = np.zeros(len(view), dtype=np.float32)
    for group in question.entities:
        held = np.all(found.table[list(group)] > 0, axis=0)
        shares += held[:-1] | held[view.previous]
    return shares / np.float32(max(len(question.entities), 1))


def _in_spans(said_at: NDArray[np.int64], spans: Sequence[tuple[int, int]]) -> Scores:
    inside = np.zeros(len(said_at), dtype=np.float32)
    for start, end in spans:
        inside[(said_at >= start) & (said_at < end)] = 1
    return inside
