"""The only file that names concrete backends: opens them in order, hands each part the values it needs, closes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from mnemic.backends.sql.store import SqlStore
from mnemic.config import Settings
from mnemic.errors import InputError
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.core.heat import HeatWeights
from mnemic.ports.store import Store
from mnemic.runtime.worker import Worker
from mnemic.services.cubes import CubeDesk
from mnemic.services.curate import Curate
from mnemic.services.embedding import Embedding
from mnemic.services.explain import Explain
from mnemic.services.forget import Forget
from mnemic.services.learning import Learning
from mnemic.services.organize import Organize
from mnemic.services.promoting import Promoting
from mnemic.services.recall import Recall
from mnemic.services.remember import Remember
from mnemic.services.scoping import Scoping
from mnemic.services.tiering import Tiering

_MEGABYTE: Final = 1_000_000


class SystemClock:
    """The machine's clock, never going back within the process."""

    def __init__(self) -> None:
        self._last = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        """Return the present moment."""
        self._last = max(self._last, datetime.now(UTC))
        return self._last


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that an open memory is made of."""

    settings: Settings
    clock: Clock
    embedder: Embedder
    store: Store
    scoping: Scoping
    remember: Remember
    recall: Recall
    curate: Curate
    explain: Explain
    cubes: CubeDesk
    forget: Forget
    worker: Worker

    def close(self) -> None:
        """Close what was opened, last first."""
        self.worker.close()
        self.store.close()


def build_embedder(settings: Settings) -> Embedder:
    """Return the embedder that the settings name; its model is read when it is first used."""
    if settings.embedder == "bundled":
        from mnemic.backends.models.onnx import OnnxEmbedder  # noqa: PLC0415 - only the chosen backend is imported

        return OnnxEmbedder.bundled(threads=settings.embed_threads)
    if settings.embedder == "hashing":
        from mnemic.backends.models.hashing import HashingEmbedder  # noqa: PLC0415

        return HashingEmbedder()
    raise InputError("embedder", f"{settings.embedder!r} is not known; use bundled, openai or a model's folder")


def build(settings: Settings, *, embedder: Embedder | None = None, clock: Clock | None = None) -> Parts:
    """Open a memory's parts; a given embedder or clock takes the place of the configured one."""
    embedder = embedder or build_embedder(settings)
    clock = clock or SystemClock()
    store = SqlStore(
        settings.folder,
        model=embedder.name,
        width=embedder.width,
        cache_bytes=settings.cache_megabytes * _MEGABYTE,
    )
    scoping = Scoping(clock)
    warmth = HeatWeights(tau=timedelta(hours=settings.heat_hours))
    recall = Recall(store, embedder, clock, scoping, zone=settings.zone, warmth=warmth)
    organize = _organize(settings, store, embedder, clock, recall, warmth)
    return Parts(
        settings=settings,
        clock=clock,
        embedder=embedder,
        store=store,
        scoping=scoping,
        remember=Remember(
            store, embedder, clock, scoping, zone=settings.zone, gap=timedelta(hours=settings.page_gap_hours)
        ),
        recall=recall,
        curate=Curate(store, embedder, clock, scoping),
        explain=Explain(store, embedder, clock, scoping, capacity=settings.stm_pages, weights=warmth),
        cubes=CubeDesk(store, clock),
        forget=Forget(store, clock, scoping),
        worker=Worker(store, clock, scoping, organize.handlers, enabled=settings.worker),
    )


def _organize(settings: Settings, store: Store, embedder: Embedder, clock: Clock, recall: Recall, warmth: HeatWeights) -> Organize:
    return Organize(
        Learning(store, embedder, clock),
        Tiering(store, capacity=settings.stm_pages, quiet=settings.stm_quiet, threshold=settings.segment_threshold),
        Promoting(
            store,
            embedder,
            clock,
            threshold=settings.heat_threshold,
            capacity=settings.mtm_segments,
            weights=warmth,
        ),
        Embedding(store, embedder),
        recall,
    )
