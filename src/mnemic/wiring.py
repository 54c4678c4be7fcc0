"""The only file that names concrete backends: opens them in order, hands each part the values it needs, closes them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from mnemic.backends.sql.store import SqlStore
from mnemic.config import Settings
from mnemic.core.heat import HeatWeights
from mnemic.core.learned import LEARNED
from mnemic.errors import EmbedderError, InputError, StoreError
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder, questions_of
from mnemic.ports.store import Store
from mnemic.runtime.worker import Worker
from mnemic.services.answer import AnswerService
from mnemic.services.context import Contexts
from mnemic.services.cubes import CubeDesk
from mnemic.services.curate import Curate
from mnemic.services.embedding import Embedding
from mnemic.services.explain import Explain
from mnemic.services.forget import Forget
from mnemic.services.learning import Learning
from mnemic.services.organize import Organize
from mnemic.services.portability import Portability
from mnemic.services.profiles import Profiles
from mnemic.services.promoting import Promoting
from mnemic.services.rebuild import Rebuild
from mnemic.services.recall import Recall
from mnemic.services.reindex import Reindex
from mnemic.services.remember import Remember
from mnemic.services.retexting import Retexting
from mnemic.services.scoping import Scoping
from mnemic.services.tiering import Tiering
from mnemic.version import __version__

_log = logging.getLogger(__name__)

MODELS: Final = "models"
"""The folder in a memory's folder that pulled models lie in."""

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
    contexts: Contexts
    answer: AnswerService
    curate: Curate
    explain: Explain
    cubes: CubeDesk
    forget: Forget
    profiles: Profiles
    portability: Portability
    organize: Organize
    reindex: Reindex
    rebuild: Rebuild
    worker: Worker
    settle: Callable[[], None]
    close_embedder: Callable[[], None]

    def close(self) -> None:
        """Close what was opened, last first, whatever fails on the way."""
        try:
            self.worker.close()
            self.settle()
        except StoreError:
            _log.exception("not_settled")  # visits are not counted; nothing that was acknowledged is lost
        finally:
            self.store.close()
            self.close_embedder()

    def checkup(self) -> Sequence[tuple[str, bool, str]]:
        """Look everything over: the store's parts, then the embedder."""
        found = list(self.store.check())
        try:
            vector = self.embedder.embed(["a first and a last sentence"])[0]
            found.append(("embedder", True, f"{self.embedder.name}, {len(vector)} wide"))
        except EmbedderError as error:
            found.append(("embedder", False, str(error)))
        return found


def build_embedder(settings: Settings) -> Embedder:
    """Return the embedder that the settings name; its model is read when it is first used."""
    if settings.embedder == "bundled":
        from mnemic.backends.models.onnx import OnnxEmbedder  # noqa: PLC0415 - only the chosen backend is imported

        return OnnxEmbedder.bundled(threads=settings.embed_threads)
    if settings.embedder == "hashing":
        from mnemic.backends.models.hashing import HashingEmbedder  # noqa: PLC0415

        return HashingEmbedder()
    if settings.embedder == "openai":
        from mnemic.backends.models.http_json import JsonPoster  # noqa: PLC0415
        from mnemic.backends.models.openai_embeddings import OpenAIEmbedder  # noqa: PLC0415
        from mnemic.backends.models.prefixes import Prefixes  # noqa: PLC0415

        return OpenAIEmbedder(
            JsonPoster(settings.embed_base_url, settings.embed_api_key),
            settings.embed_model,
            prefixes=Prefixes(settings.embed_query_prefix, settings.embed_passage_prefix),
        )
    if settings.embedder == "multilingual":
        from mnemic.backends.models.multilingual import MultilingualEmbedder  # noqa: PLC0415

        return MultilingualEmbedder()
    from mnemic.backends.models.local import open_folder  # noqa: PLC0415

    pulled = settings.folder / MODELS / settings.embedder.replace("/", "--")
    for folder in (Path(settings.embedder).expanduser(), pulled):
        if folder.is_dir():
            return open_folder(folder, threads=settings.embed_threads)
    raise InputError(
        "embedder",
        f"{settings.embedder!r} is not known; use bundled, multilingual, openai, a model's folder or a pulled "
        "model's name",
    )


def pull_model(name: str, into: Path, *, source: str | None = None) -> Path:
    """Bring a sentence embedder from a model hub, or from the folder `source`, into a folder; return where it lies."""
    from mnemic.backends.models.pull import pull  # noqa: PLC0415 - brings the hub's client with it

    return pull(name, into, source=source)


def build(
    settings: Settings, *, embedder: Embedder | None = None, clock: Clock | None = None, replacing: bool = False
) -> Parts:
    """Open a memory's parts; a given embedder or clock takes the place of the configured one.

    With `replacing`, a store whose vectors come from another embedder is opened all the same, to be reindexed.
    """
    close_embedder = _nothing
    if embedder is None:
        embedder = build_embedder(settings)
        close_embedder = getattr(embedder, "close", _nothing)
    clock = clock or SystemClock()
    store = SqlStore(
        settings.folder,
        model=embedder.name,
        width=partial(getattr, embedder, "width"),
        cache_bytes=settings.cache_megabytes * _MEGABYTE,
        replacing=replacing,
    )
    scoping = Scoping(clock)
    warmth = HeatWeights(tau=timedelta(hours=settings.heat_hours))
    recall = Recall(store, questions_of(embedder), clock, scoping, zone=settings.zone, warmth=warmth)
    recall.fusion = LEARNED if settings.ranking == "learned" else None
    organize = _organize(settings, store, embedder, clock, recall, warmth)
    forget = Forget(store, clock, scoping)
    retexting = Retexting(store, clock)
    if not replacing:
        retexting.queue()

    def settle() -> None:
        """Do what waits for a quiet moment."""
        organize.settle()
        forget.settle()

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
        contexts=Contexts(store, recall, scoping),
        answer=AnswerService(store, clock, scoping, recall, zone=settings.zone, threshold=settings.answer_threshold),
        curate=Curate(store, embedder, clock, scoping),
        explain=Explain(store, embedder, clock, scoping, capacity=settings.stm_pages, weights=warmth),
        cubes=CubeDesk(store, clock),
        forget=forget,
        profiles=Profiles(store, clock, scoping, zone=settings.zone),
        portability=Portability(store, embedder, clock, scoping, version=__version__),
        settle=settle,
        close_embedder=close_embedder,
        organize=organize,
        rebuild=Rebuild(store, clock, scoping),
        reindex=Reindex(store, Embedding(store, embedder), retexting),
        worker=Worker(store, clock, scoping, organize.handlers, idle=settle, enabled=settings.worker),
    )


def _nothing() -> None:
    """Close what needs no closing: a given embedder is its owner's to close."""


def _organize(
    settings: Settings, store: Store, embedder: Embedder, clock: Clock, recall: Recall, warmth: HeatWeights
) -> Organize:
    return Organize(
        Learning(store, embedder, clock),
        Tiering(
            store,
            clock,
            capacity=settings.stm_pages,
            quiet=settings.stm_quiet,
            threshold=settings.segment_threshold,
        ),
        Promoting(
            store,
            embedder,
            clock,
            threshold=settings.heat_threshold,
            capacity=settings.mtm_segments,
            weights=warmth,
        ),
        Embedding(store, embedder),
        Retexting(store, clock),
        recall,
    )
