"""Which topic segment a page belongs to, and which pages continue one another.

The score is MemoryOS's (Kang et al., EMNLP 2025): cosine(page, centroid) + Jaccard(keywords), joined at 0.6. Two
things keep it meaningful for embeddings of short talk, whose vectors all share a direction: a page is seen in its
context, and the common direction is taken back before the cosine (Mu and Viswanath, "All-but-the-Top", ICLR 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from mnemic.core.keywords import overlap, stems
from mnemic.model.index import Vector, unit

THRESHOLD: Final = 0.6
"""Score from which a page joins a segment."""

BACKGROUND: Final = 0.1
"""Cosine that two pages of a cube picked at random are left with once the common direction is taken back."""

CONTEXT: Final = 0.5
"""Weight of the pages before and after a page in its vector."""

ALIKE: Final = 0.4
"""Cosine from which a page continues the one just before it. Of real neighbours four in five have it, of pairs at
random one in four.
"""

PAUSE: Final = timedelta(minutes=30)
"""After a pause so long, twice the cosine is asked for."""

_PRIOR: Final = 5
"""Pages without any common direction that the estimate of it starts from."""


@dataclass(frozen=True, slots=True)
class SegmentMatrix:
    """The live segments of a cube: n ids, unit centroids (n, d), n sets of keyword stems, n numbers of pages."""

    ids: tuple[str, ...]
    centroids: Vector
    keywords: tuple[frozenset[str], ...]
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """The segment that a page joins, None for a new one, with the score of the best segment and its parts."""

    segment_id: str | None
    score: float
    cosine: float
    jaccard: float


def assign(
    page_vector: Vector, page_keywords: Sequence[str], segments: SegmentMatrix, threshold: float = THRESHOLD
) -> Assignment:
    """Return the segment with the best score for a page vector (d,), or none when it is below `threshold`.

    Equal scores go to the segment that comes first. A page that is no likelier than any other to be here, such as
    one with a vector of zeros, has cosine 0 to all.
    """
    if not segments.ids:
        return Assignment(None, 0.0, 0.0, 0.0)
    middle = centre(segments)
    cosines = _cosines(page_vector, segments.centroids, middle)
    mine = stems(page_keywords)
    shared = np.fromiter((overlap(mine, each) for each in segments.keywords), np.float32, len(segments.ids))
    scores = cosines + shared
    best = int(scores.argmax())
    score = float(scores[best])
    found = segments.ids[best] if score >= threshold else None
    return Assignment(found, score, float(cosines[best]), float(shared[best]))


def centre(segments: SegmentMatrix) -> Vector:
    """Return the part (d,) of the cube's mean page vector that is subtracted before a cosine.

    With a mean m of unit vectors, two random pages have cosine |m|^2. As much of m is subtracted as brings that down
    to `BACKGROUND`: none when it is there already, nearly all for an embedder whose vectors all point one way. Few
    pages say little about the mean, so it is shrunk towards zero.
    """
    counts = np.asarray(segments.pages, dtype=np.float32)
    mean: Vector = (counts @ segments.centroids / (counts.sum() + _PRIOR)).astype(np.float32)
    square = float(mean @ mean)
    if square <= BACKGROUND:
        return np.zeros_like(mean)
    left = (BACKGROUND / (1 - BACKGROUND) * max(1 - square, 0.0) / square) ** 0.5
    return mean * np.float32(1 - left)


def in_context(vector: Vector, neighbours: Sequence[Vector]) -> Vector:
    """Return the unit vector (d,) of a page with its neighbours' vectors added at half weight.

    `neighbours` are the page before and the page after in the same session, those that exist; a page of a few words
    ("Yeah, it is tough.") is about what they are about.
    """
    for neighbour in neighbours:
        vector = vector + np.float32(CONTEXT) * neighbour
    return unit(vector)


def merge_centroid(centroid: Vector, pages: int, vector: Vector) -> Vector:
    """Return the unit centroid (d,) of a segment of `pages` pages once one more page has joined (a running mean)."""
    return unit(centroid * np.float32(pages) + vector)


def chain(previous: Vector, vector: Vector, gap: timedelta) -> bool:
    """Tell whether a page continues the one before it in its session: soon after it, and about the same.

    `previous` and `vector` are the unit vectors (d,) of the two pages, `gap` the pause between them. The longer the
    pause, the more alike they must be: the cosine has to reach `ALIKE` * (1 + gap / `PAUSE`).
    """
    return float(unit(previous) @ unit(vector)) >= ALIKE * (1.0 + max(gap, timedelta()) / PAUSE)


def _cosines(vector: Vector, rows: Vector, middle: Vector) -> Vector:
    """Return the cosine of `vector - middle` with each unit row less `middle`, without a copy of the rows (n, d)."""
    moved = vector - middle
    products = rows @ np.stack([moved, middle], axis=1)
    squares = 1.0 - 2.0 * products[:, 1] + middle @ middle
    lengths = np.sqrt(np.maximum(squares, 0.0)) * np.linalg.norm(moved)
    cosines: Vector = ((products[:, 0] - middle @ moved) / np.maximum(lengths, 1e-6)).astype(np.float32)
    return cosines
