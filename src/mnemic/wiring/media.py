"""What comes with messages: what keeps it, what reads it, and which models look at pictures and hear recordings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mnemic.config import Settings
from mnemic.core.attaching import AttachmentLimits
from mnemic.ports.blobs import Blobs
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.runtime.metered import MeteredStore
from mnemic.services.attaching import Attaching
from mnemic.services.blobs import BlobKeeper
from mnemic.services.describing import Describing
from mnemic.services.language import Budget, Language
from mnemic.services.listening import Listening
from mnemic.services.looking import Looking
from mnemic.services.perceiving import Perceiving, Senses
from mnemic.services.scoping import Scoping
from mnemic.wiring.models import build_hearing, build_vision
from mnemic.wiring.senses import senses_of


@dataclass(frozen=True, slots=True)
class Media:
    """The parts that are about what comes with messages; `close` ends the connections of their models."""

    attaching: Attaching
    describing: Describing
    senses: Senses
    close: Callable[[], None]


def media_of(
    settings: Settings,
    store: MeteredStore,
    files: tuple[Blobs, BlobKeeper],
    embedder: Embedder,
    clock: Clock,
    scoping: Scoping,
) -> Media:
    """Return the parts. `files` are where bytes are kept, and who keeps them in step with their rows."""
    blobs, keeper = files
    senses = senses_of(settings)
    limits = AttachmentLimits(settings.attachment_megabytes, settings.attachments)
    looking, listening, close = _models(settings, store, clock)
    whole = Senses(senses.pictures, senses.words, senses.reader, looking, listening, senses.fetcher)
    perceiving = Perceiving(store, blobs, whole, limits=limits)
    return Media(
        Attaching(store, blobs, keeper, scoping, whole.pictures, limits=limits, fetching=whole.fetcher is not None),
        Describing(store, keeper, embedder, clock, perceiving),
        whole,
        close,
    )


def _models(
    settings: Settings, store: MeteredStore, clock: Clock
) -> tuple[Looking | None, Listening | None, Callable[[], None]]:
    budget = Budget(settings.llm_daily_calls, settings.llm_daily_tokens)
    vision, hearing = build_vision(settings), build_hearing(settings)
    looking = None if vision is None else Looking(Language(vision, store, clock, budget=budget, watch=store.watch))
    listening = None if hearing is None else Listening(hearing, store, clock, budget=budget, watch=store.watch)

    def close() -> None:
        for each in (vision, hearing):
            if each is not None:
                each.close()

    return looking, listening, close
