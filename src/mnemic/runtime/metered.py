"""A store and an embedder that are watched: each does what it did before, and says how long that took.

They stand in front of whatever the settings chose, so that no backend and no service has to count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Final

from mnemic.errors import EmbedderError, StoreError
from mnemic.model.figure import EMBEDDED, EMBEDDER_CALLS, EMBEDDER_SECONDS, STORE_ERRORS, STORE_SECONDS
from mnemic.ports.counts import Sizes
from mnemic.ports.embedder import Embedder, questions_of
from mnemic.ports.queue import Bell
from mnemic.ports.spans import Watch
from mnemic.ports.store import Store, Transaction

if TYPE_CHECKING:  # annotations only, as in `mnemic.ports.embedder`
    import numpy as np
    from numpy.typing import NDArray

SLOW: Final = 0.1
"""Seconds from which on a transaction is told as a span."""

Timer = Callable[[], float]
Recorder = Callable[[AbstractContextManager[Transaction]], AbstractContextManager[Transaction]]


class MeteredStore:
    """A `Store` whose transactions are timed. `recorded` makes those that write keep what is told of their call."""

    def __init__(self, store: Store, watch: Watch, *, timer: Timer = time.perf_counter, slow: float = SLOW) -> None:
        self._store = store
        self.watch = watch
        self.timer = timer
        self._slow = slow
        self.recorded: Recorder | None = None

    def read(self) -> AbstractContextManager[Transaction]:
        """Open a snapshot for reading."""
        return _Timed(self, self._store.read(), "read")

    def write(self) -> AbstractContextManager[Transaction]:
        """Open a write transaction."""
        inner = self._store.write()
        return _Timed(self, inner if self.recorded is None else self.recorded(inner), "write")

    def entered(self, *cube_keys: int) -> AbstractContextManager[None]:
        """Let all transactions that this thread opens inside the block reach these cubes."""
        return self._store.entered(*cube_keys)

    @property
    def bell(self) -> Bell:
        """Wakes who waits for jobs."""
        return self._store.bell

    def scrub(self) -> bool:
        """Take what was erased out of the engine's logs."""
        return self._store.scrub()

    def time(self) -> datetime | None:
        """Return the time of a server that several machines share."""
        return self._store.time()

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the store over."""
        return self._store.check()

    def sizes(self) -> Sizes:
        """Return how much the store holds."""
        return self._store.sizes()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def ended(self, mode: str, began: float, error: StoreError | None) -> None:
        """Tell of a transaction that has ended."""
        seconds = self.timer() - began
        self.watch.meter.observe(STORE_SECONDS, seconds, mode)
        if error is not None:
            self.watch.meter.add(STORE_ERRORS, 1, mode, error.code)
        if seconds >= self._slow:
            self.watch.spans.past(f"store {mode}", seconds, {"outcome": "ok" if error is None else error.code})


class _Timed(AbstractContextManager[Transaction]):
    """One transaction."""

    __slots__ = ("_began", "_inner", "_mode", "_store")

    def __init__(self, store: MeteredStore, inner: AbstractContextManager[Transaction], mode: str) -> None:
        self._store = store
        self._inner = inner
        self._mode = mode
        self._began = 0.0

    def __enter__(self) -> Transaction:
        self._began = self._store.timer()
        try:
            return self._inner.__enter__()
        except StoreError as error:
            self._store.ended(self._mode, self._began, error)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        failed: StoreError | None = None
        try:
            return self._inner.__exit__(kind, error, trace)
        except StoreError as told:
            failed = None if told is error else told  # what the block raised itself, its own transaction has told
            raise
        finally:
            self._store.ended(self._mode, self._began, failed)


class MeteredEmbedder:
    """An `Embedder` whose calls are timed; `use` is what its texts are, passages or questions."""

    def __init__(
        self, embedder: Embedder, watch: Watch, *, use: str = "passages", timer: Timer = time.perf_counter
    ) -> None:
        self._embedder = embedder
        self._watch = watch
        self._use = use
        self._timer = timer

    @property
    def name(self) -> str:
        """The model's name."""
        return self._embedder.name

    @property
    def width(self) -> int:
        """The number of components of a vector."""
        return self._embedder.width

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts."""
        if not texts:
            return self._embedder.embed(texts)
        meter, began = self._watch.meter, self._timer()
        outcome = "failed"
        try:
            vectors = self._embedder.embed(texts)
            outcome = "ok"
        except EmbedderError as error:
            outcome = error.code
            raise
        finally:
            meter.add(EMBEDDER_CALLS, 1, self._use, outcome)
            meter.observe(EMBEDDER_SECONDS, self._timer() - began, self._use)
        meter.add(EMBEDDED, len(texts), self._use)
        return vectors

    def for_queries(self) -> Embedder:
        """Return the embedder of questions."""
        return MeteredEmbedder(questions_of(self._embedder), self._watch, use="questions", timer=self._timer)
