"""Taking documents out of a cube, with all that was made of them: one way, for whoever removes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from mnemic.model.scope import Cube
from mnemic.ports.store import Transaction


def remove_documents(tx: Transaction, cube: Cube, ids: Collection[str]) -> Counter[str]:
    """Erase documents with versions, passages, entries and vectors; return how many of each kind there were.

    The cube is touched already. Their files are marked, counted as `file`, and erased by `BlobKeeper.settled` after the
    commit.
    """
    chunks = list(tx.chunks.ids(cube.key, ids))
    removed = Counter({"entry": tx.index.remove(cube.key, chunks)})
    removed.update(tx.documents.remove(cube.key, ids))
    if removed.total():
        tx.erasing.scrub()
    removed["file"] = len(tx.blobs.doom(cube.key))
    return removed
