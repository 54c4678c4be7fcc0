"""Following a cube: what is stored or changed in it, piece by piece, for as long as somebody listens.

Writes of this process wake who listens; what other processes write is looked for now and then.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator
from typing import Final

from mnemic.acting import left
from mnemic.core.intake import check_seconds
from mnemic.model.item import Item
from mnemic.ports.queue import Bell
from mnemic.services.newest import Newest, Place

_LOOK: Final = 0.2  # seconds between looks at what other processes write
_KEPT: Final = 1_000  # things told last that are remembered, so that none is told twice as it is


class Following:
    """The use case of `watch`."""

    def __init__(self, newest: Newest, bell: Bell) -> None:
        self._newest = newest
        self._bell = bell

    def watch(self, *, user: object, cube: object = None, timeout: object = None) -> Iterator[Item]:
        """Yield items as they are stored or change, from now on; see `Memory.watch`."""
        patience = None if timeout is None else check_seconds(timeout, "timeout")
        place = self._newest.here(user=user, cube=cube)  # who asks for what there is not, is told at once
        return self._items(place, patience, user, cube)

    def _items(self, place: Place, patience: float | None, user: object, cube: object) -> Iterator[Item]:
        rung = threading.Event()

        def wake(_: Collection[str]) -> None:
            rung.set()

        told: OrderedDict[str, Item] = OrderedDict()
        last = time.monotonic()
        leave = self._bell.listen(wake)
        try:
            while True:
                rung.clear()
                place, items, more = self._newest.since(place, user=user, cube=cube)
                for item in items:
                    if _is_news(told, item):
                        yield item
                        last = time.monotonic()
                if more:
                    continue
                if left() or (patience is not None and time.monotonic() - last > patience):
                    return
                rung.wait(_LOOK)
        finally:
            leave()


def _is_news(told: OrderedDict[str, Item], item: Item) -> bool:
    """Tell whether an item differs from what was told of it, and remember it."""
    if told.get(item.id) == item:
        return False
    told[item.id] = item
    told.move_to_end(item.id)
    if len(told) > _KEPT:
        told.popitem(last=False)
    return True
