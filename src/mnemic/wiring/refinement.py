"""What reads with a language model, put together from the settings; imported only when a model is configured."""

from __future__ import annotations

from datetime import timedelta

from mnemic.config import Settings
from mnemic.core.refining import Tastes
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store
from mnemic.services.language import Language
from mnemic.services.reader import Reader, Waiting
from mnemic.services.refining import Pace, Refining


def refining_of(settings: Settings, store: Store, embedder: Embedder, clock: Clock, language: Language) -> Refining:
    """Return what reads one batch."""
    return Refining(
        store,
        embedder,
        clock,
        language,
        pace=Pace(settings.refine_messages, settings.llm_context),
        tastes=_tastes(settings),
    )


def reader_of(settings: Settings, store: Store, embedder: Embedder, clock: Clock, language: Language) -> Reader:
    """Return what reads by jobs."""
    waiting = Waiting(settings.refine_messages, timedelta(seconds=settings.refine_quiet_seconds))
    return Reader(store, clock, refining_of(settings, store, embedder, clock, language), waiting)


def _tastes(settings: Settings) -> Tastes:
    """Return what the settings want drawn."""

    def listed(value: str) -> tuple[str, ...]:
        return tuple(each.strip() for each in value.split(",") if each.strip())

    return Tastes(
        instructions=settings.refine_instructions.strip(),
        categories=listed(settings.refine_categories),
        include=listed(settings.refine_include),
        exclude=listed(settings.refine_exclude),
    )
