"""Redis Streams between the rows and the workers: one for each shard and priority, filled in the order of turns.

At most one job of a kind and cube is on its way, and at most `ahead` in all, so that a stream's own order, first in
first out, stays close to that of the turns. A worker asks the priorities as its turn says, and the shards of each in
rotation, so that none is looked at first each time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from bench.simulation.order import LOOKS, PRIORITIES, Head, Order

Shard = Callable[[int, int], int]
"""Says which of so many shards a cube's jobs go to."""


class Streams:
    """The streams of one lane, beside the order that fills them."""

    def __init__(self, order: Order, lane: str, *, shards: int, ahead: int, shard_of: Shard) -> None:
        self._order = order
        self._lane = lane
        self._heads = order.lists[lane]
        self._ahead = ahead
        self._shard_of = shard_of
        self._shards = shards
        self._streams: list[list[deque[Head]]] = [[deque() for _ in range(shards)] for _ in PRIORITIES]
        self._filled: list[dict[int, None]] = [{} for _ in PRIORITIES]
        self._length = [0 for _ in PRIORITIES]
        self.carried = [0] * shards

    def fill(self) -> None:
        """Offer heads until so many of each priority are on their way."""
        for priority in PRIORITIES:
            if not self._heads[priority]:
                continue
            while self._length[priority] < self._ahead:
                head = self._order.of_priority(self._lane, priority)
                if head is None:
                    break
                shard = self._shard_of(head.cube.key, self._shards)
                self._streams[priority][shard].append(head)
                self._filled[priority][shard] = None
                self._length[priority] += 1
                self.carried[shard] += 1

    def next(self, turn: int) -> Head | None:
        """Take what a worker reads that takes its job number `turn`; None when all streams are empty."""
        for priority in LOOKS[turn % len(LOOKS)]:
            filled = self._filled[priority]
            if not filled:
                continue
            shard = next(iter(filled))
            del filled[shard]
            stream = self._streams[priority][shard]
            head = stream.popleft()
            if stream:
                filled[shard] = None
            self._length[priority] -= 1
            return head
        return None
