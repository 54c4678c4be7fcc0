"""The background work on one cube: read new messages, move pages, promote and archive segments, embed what is missing,
index anew what an upgrade reads otherwise, and let a language model read what has gathered, when there is one.

Every step is a transaction of its own and leaves its mark on the rows that it did, so that a run can stop anywhere,
even in the middle of a power cut, and the next run goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Protocol

from mnemic.services.embedding import Embedding
from mnemic.services.learning import Learning
from mnemic.services.promoting import Promoting
from mnemic.services.recall import Recall
from mnemic.services.retexting import Retexting
from mnemic.services.tiering import Tiering

Tick = Callable[[int], None]
"""Told how much was done since the last call; raises when the work is to stop."""


class Further(Protocol):
    """Work that follows when a cube is organized."""

    def queue(self, cube_key: int) -> None:
        """Queue a job when there is something to do."""
        ...


class Organize:
    """Runs the steps until none has anything left to do."""

    def __init__(
        self,
        learning: Learning,
        tiering: Tiering,
        promoting: Promoting,
        embedding: Embedding,
        retexting: Retexting,
        recall: Recall,
        further: Sequence[Further] = (),
    ) -> None:
        self._learning = learning
        self._tiering = tiering
        self._promoting = promoting
        self._embedding = embedding
        self._retexting = retexting
        self._recall = recall
        self._further = further

    def settle(self) -> None:
        """Write down what is only counted in memory: the visits of searches."""
        self._promoting.count_visits(self._recall.take_visits())

    def organize(self, cube_key: int, tick: Tick) -> None:
        """Refine everything that was added to a cube."""
        self.settle()
        while done := self._learning.step(cube_key):
            tick(done)
        for done in chain(self._tiering.run(cube_key), self._promoting.run(cube_key)):
            tick(done)
        self._promoting.archive(cube_key)
        while done := self._embedding.spread(cube_key):
            tick(done)
        for each in self._further:
            each.queue(cube_key)

    def embed(self, cube_key: int, tick: Tick) -> None:
        """Give a vector to every entry that has none of this store's model."""
        while done := self._embedding.step(cube_key):
            tick(done)

    def retext(self, cube_key: int, tick: Tick) -> None:
        """Index the words of passages from before an upgrade anew."""
        while done := self._retexting.step(cube_key):
            tick(done)
