"""What knowledge bases are made of: who keeps, fetches, reads, cuts and publishes documents."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.backends.folders.local import LocalFolders
from mnemic.config import Settings
from mnemic.ports.blobs import Blobs
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store
from mnemic.services.abstracting import Abstracting
from mnemic.services.bases import Bases
from mnemic.services.blobs import BlobKeeper
from mnemic.services.forget import Forget
from mnemic.services.ingesting import Cutting, Ingesting
from mnemic.services.language import Language
from mnemic.services.library import Files, Library
from mnemic.services.publishing import Publishing
from mnemic.services.scoping import Scoping
from mnemic.services.syncing import Syncing
from mnemic.wiring.fetching import fetcher_of
from mnemic.wiring.readers import readers_of


@dataclass(frozen=True, slots=True)
class KnowledgeParts:
    """All that is about documents in an open memory."""

    bases: Bases
    library: Library
    ingesting: Ingesting
    syncing: Syncing


def knowledge_of(
    settings: Settings,
    store: Store,
    embedder: Embedder,
    clock: Clock,
    scoping: Scoping,
    language: Language | None,
    kept: tuple[Blobs, BlobKeeper, Forget],
) -> KnowledgeParts:
    """Return what knowledge bases are made of."""
    blobs, keeper, forget = kept
    files = Files(blobs, keeper, fetcher_of(settings), settings.file_megabytes)
    ingesting = Ingesting(
        store,
        clock,
        files,
        readers_of(settings),
        Cutting(settings.chunk_tokens, settings.chunk_overlap),
        Abstracting(language),
        Publishing(store, embedder),
    )
    library = Library(store, clock, scoping, files, forget)
    syncing = Syncing(store, scoping, LocalFolders(), library)
    return KnowledgeParts(Bases(store, clock, scoping, forget), library, ingesting, syncing)
