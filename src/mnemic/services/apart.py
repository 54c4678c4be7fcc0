"""The cosines of a question and a cube whose vectors the store compares: asked for what may matter, 0 elsewhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnemic.core.scanning import NEAREST, Scores, is_few, lengths_of_pairs, places_apart
from mnemic.model.index import CubeView, Posting, Vector
from mnemic.ports.store import Transaction

_NONE = np.empty(0, dtype=np.int64)


def compared(
    tx: Transaction,
    view: CubeView,
    vector: Vector,
    postings: list[Posting],
    eligible: NDArray[np.bool_],
) -> tuple[Scores, Scores]:
    """Return the product of each entry with a question's vector, and the lengths of pairs (`CubeView.pair_norms`)."""
    near = _NONE if is_few(eligible) else tx.near.nearest(view.cube_key, vector, NEAREST)
    places = places_apart(view, near, postings, eligible)
    found = np.zeros(len(view), dtype=np.float32)
    found[places] = tx.near.cosines(view.cube_key, vector, view.keys[places])
    norms = view.pair_norms.copy()
    paired = places[view.previous[places] >= 0]
    before = view.keys[view.previous[paired]]
    norms[paired] = lengths_of_pairs(tx.near.pairs(view.cube_key, view.keys[paired], before))
    return found, norms
