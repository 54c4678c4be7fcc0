"""Lets a reranker put the best hits of a question in order, and lets the ranking stand when it cannot.

No lock and no transaction is held while it answers. After some failures in a row it is left alone for a while, so that
searches do not wait for a server that is gone.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Final

from mnemic.core.breaker import Breaker
from mnemic.core.holding import ROLES
from mnemic.core.reordering import reordered
from mnemic.errors import ModelError
from mnemic.model.query import Hit
from mnemic.ports.clock import Clock
from mnemic.ports.reranker import Reranker

DEPTH: Final = 30
"""Hits of a question that are put in order."""

_log = logging.getLogger(__name__)


class Reranking:
    """A reranker under guard. Threads may share it."""

    def __init__(self, reranker: Reranker, clock: Clock) -> None:
        self._reranker = reranker
        self._clock = clock
        self._breaker = Breaker()
        self._lock = threading.Lock()

    def ordered(self, question: str, hits: Sequence[Hit], *, log_odds: bool) -> tuple[list[Hit], str | None]:
        """Return hits with the first of them in the reranker's order, or as they were and a note that says why."""
        best, rest = hits[:DEPTH], hits[DEPTH:]
        if len(best) < 2:
            return list(hits), None
        now = self._clock.now()
        with self._lock:
            wait = self._breaker.wait(now)
            self._breaker = self._breaker if wait is not None else self._breaker.trying(now)
        if wait is not None:
            again = f"has failed several times in a row, and is asked again in {wait.total_seconds():.0f} s"
            return list(hits), self._note(again)
        try:
            relevance = self._reranker.rerank(question, [_told(hit) for hit in best])
        except ModelError as error:
            self._settle(healthy=False)
            _log.warning("reranking_failed", extra={"model": self._reranker.name, "reason": str(error)})
            return list(hits), self._note(f"did not answer: {error}")
        self._settle(healthy=True)
        return [*reordered(best, relevance, log_odds=log_odds), *rest], None

    def _settle(self, *, healthy: bool) -> None:
        with self._lock:
            self._breaker = self._breaker.succeeded() if healthy else self._breaker.failed(self._clock.now())

    def _note(self, what: str) -> str:
        return f"not reranked: {self._reranker.name} {what}"


def _told(hit: Hit) -> str:
    """Return a hit as the reranker reads it: with its speaker, when that is somebody."""
    return f"{hit.speaker}: {hit.text}" if hit.speaker and hit.speaker not in ROLES else hit.text
