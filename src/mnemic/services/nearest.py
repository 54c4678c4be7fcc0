"""Which live memories are closest in meaning to something, by the vectors of a cube's view."""

from __future__ import annotations

import numpy as np

from mnemic.model.index import Vector, widened
from mnemic.model.memory import MemoryKind
from mnemic.ports.store import Transaction


def nearest(tx: Transaction, cube_key: int, vectors: Vector) -> list[tuple[str, float]]:
    """Return live memories with their best cosine to any of some vectors, (n, width), the closest first."""
    view = tx.index.view(cube_key)
    names = [kind.value for kind in MemoryKind]
    kinds = [place for place, name in enumerate(view.kind_names) if name in names]
    rows = np.flatnonzero(view.live & np.isin(view.kinds, kinds))
    if not rows.size:
        return []
    if view.apart:
        every = [tx.near.cosines(cube_key, vector, view.keys[rows]) for vector in vectors]
        cosines = np.max(np.stack(every), axis=0)
    else:
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = (widened(view.vectors[rows]) @ (vectors / np.where(norms > 0, norms, 1)).T).max(axis=1)
    order = np.argsort(-cosines, kind="stable")
    return [(view.owners[int(rows[place])], float(cosines[place])) for place in order]
