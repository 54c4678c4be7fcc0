"""What is stored, chosen by a filter: lists of messages and memories of which `where` holds.

A filter is asked of the whole cube, as searches ask it; what is listed of it comes in pages, in order of id.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from mnemic.core.filtering import parse_filter
from mnemic.core.intake import check_count, check_flag, check_id
from mnemic.errors import InputError
from mnemic.model.item import Item
from mnemic.model.query import AllOf, Compare
from mnemic.model.scope import Cube
from mnemic.ports.store import Store, Transaction
from mnemic.services.curate import LIMIT, MESSAGE, kinds_of
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable


class Choosing:
    """The use case of `list` with a filter."""

    def __init__(self, store: Store, scoping: Scoping, *, zone: tzinfo) -> None:
        self._store = store
        self._scoping = scoping
        self._zone = zone

    def list(  # noqa: PLR0913 - what `Memory.list` takes
        self,
        where: object,
        *,
        user: object,
        kinds: Sequence[str] | str | None = None,
        session: object = None,
        after: object = None,
        limit: object = 100,
        newest: object = False,
        cube: object = None,
    ) -> Sequence[Item]:
        """Return messages and memories that a filter lets through; see `Memory.list`."""
        wanted, back = kinds_of(kinds), check_flag(newest, "newest")
        found = parse_filter(where, self._zone)
        if found is None:
            raise InputError("where", "is missing")
        if session is not None:
            found = AllOf((found, Compare("session", None, "eq", check_id(session, "session"))))
        start = None if after is None else check_id(after, "after")
        most = check_count(limit, "limit", most=LIMIT)
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            if target is None:
                return ()
            ids = sorted(tx.messages.find_matching(target.key, found), reverse=back)
            if start is not None:
                ids = [each for each in ids if (each < start if back else each > start)]
            return _items(tx, target, ids, wanted, most)


def _items(tx: Transaction, cube: Cube, ids: Sequence[str], kinds: Sequence[str], most: int) -> Sequence[Item]:
    """Return the first of these that are messages and memories of these kinds, in the order of their ids."""
    found: list[Item] = []
    for start in range(0, len(ids), LIMIT):
        part = ids[start : start + LIMIT]
        held: dict[str, Item] = {}
        if MESSAGE in kinds:
            held.update(tx.messages.get(cube.key, part))
        memories = tx.memories.get(cube.key, part)
        held.update({each: memory for each, memory in memories.items() if memory.stands and memory.kind.value in kinds})
        found += [held[each] for each in part if each in held]
        if len(found) >= most:
            break
    return tuple(found[:most])
