"""What shows a memory to those who watch it: its figures as text, and the server beside a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from mnemic.runtime.exposition import Exposition, Sources
from mnemic.runtime.metrics import Kept
from mnemic.runtime.readiness import Question, Readiness, parts_of
from mnemic.version import __version__
from mnemic.wiring.parts import Parts

if TYPE_CHECKING:
    from mnemic.runtime.exposing import Exposed


_NAMED: Final = ("bundled", "multilingual", "openai", "hashing")  # others are paths and names of models


def exposition_of(parts: Parts, further: Mapping[str, Question] | None = None) -> Exposition:
    """Return what shows a memory's figures; `further` are parts that are asked whether they are ready, by name."""
    settings, meter = parts.settings, parts.watch.meter
    info = (
        __version__,
        "postgresql" if settings.database_url else "sqlite",
        "redis" if settings.redis_url else "database",
        settings.embedder if settings.embedder in _NAMED else "folder",
    )
    kept = meter if isinstance(meter, Kept) else Kept()
    return Exposition(Sources(kept, parts.store, parts.clock, readiness_of(parts, further), info))


def expose(parts: Parts, host: str, port: int, *, further: Mapping[str, Question] | None = None) -> Exposed:
    """Show a memory to who watches it, over HTTP: `/metrics`, `/health`, `/ready`; `close` what is returned.

    `further` are parts beside store and queue that must be ready, such as a worker that is not being drained. Raises
    `InputError` when the package prometheus-client is missing, or the address cannot be listened on.
    """
    from mnemic.runtime.exposing import Exposed  # noqa: PLC0415 - a server is wanted by few

    return Exposed(exposition_of(parts, further).text, readiness_of(parts, further), host=host, port=port)


def readiness_of(parts: Parts, further: Mapping[str, Question] | None = None) -> Readiness:
    """Return what asks a memory's parts whether they answer, and the further ones."""
    return Readiness({**parts_of(parts.store, parts.queue), **(further or {})})
