"""What is new in a cube: messages and memories that were stored or changed behind a place that a reader has got to.

Every write stamps the entries of what it changes with the cube's next revision, in any process, so that one query
finds them. Messages never change: one that is only indexed anew is none that is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mnemic.model.item import Item
from mnemic.model.message import StoredMessage
from mnemic.ports.store import Store, Transaction
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable

PAGE: Final = 500
"""Entries that are looked at in one transaction."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reader has got to: behind an entry as of a revision. `first` was the newest entry when it began."""

    cube_key: int = 0
    revision: int = 0
    entry: int = 0
    first: int = 0


class Newest:
    """Reads what was stored or changed in a cube."""

    def __init__(self, store: Store, scoping: Scoping) -> None:
        self._store = store
        self._scoping = scoping

    def here(self, *, user: object, cube: object) -> Place:
        """Return the end of what there is; what comes later is behind it. Raises `NotFoundError`."""
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            if target is None:
                return Place()
            revision, entry = tx.index.newest(target.key)
        return Place(target.key, revision, entry, entry)

    def since(self, place: Place, *, user: object, cube: object) -> tuple[Place, Sequence[Item], bool]:
        """Return what is behind a place in the order of its changes, where that ends, and whether there is more.

        A personal cube that did not exist yet, or was deleted and made anew, is read from its beginning.
        """
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            if target is None:
                return Place(), (), False
            begun = place if place.cube_key == target.key else Place(target.key)
            found = tx.index.changed(target.key, (begun.revision, begun.entry), PAGE)
            if not found:
                return begun, (), False
            newest = {owner: key for _, key, owner in found}  # of several entries of one, the last decides
            items = _items(tx, target.key, newest, begun.first)
        revision, entry, _ = found[-1]
        return replace(begun, revision=revision, entry=entry), items, len(found) == PAGE


def _items(tx: Transaction, cube_key: int, newest: dict[str, int], first: int) -> Sequence[Item]:
    owners = list(newest)
    held: dict[str, Item] = {**tx.messages.get(cube_key, owners), **tx.memories.get(cube_key, owners)}
    return [
        held[owner]
        for owner, key in newest.items()
        if owner in held and (key > first or not isinstance(held[owner], StoredMessage))
    ]
