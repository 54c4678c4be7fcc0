"""Looking at addresses again: what has not changed is left alone, what has becomes a version, what is gone is told.

A server that says that nothing has changed, or sends the same bytes, changes nothing but when it was looked at. What is
gone, or cannot be reached, is told in `Refresh.found`; the version that is there stays and answers.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from mnemic.errors import FetchError, NotFoundError
from mnemic.model.document import Document, Refresh
from mnemic.model.scope import Cube
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.services.fetching import Brought, Fetching, is_gone

_log = logging.getLogger(__name__)

SOON: Final = timedelta(hours=1)
"""After so long, an address that could not be reached is looked at again, unless it is due before."""


class Refreshing:
    """Looks at the addresses of documents that were fetched before."""

    def __init__(self, store: Store, clock: Clock, fetching: Fetching) -> None:
        self._store = store
        self._clock = clock
        self._fetching = fetching

    def look(self, cube: Cube, document: Document) -> Brought | None:
        """Return what a document's address holds now when it has changed; None when it has not, or was not reached.

        What came of a look that brings nothing is stored with the document (`Refresh`); nothing is raised for it, as
        what is there stays good. With what is returned, `marked` gives the `Refresh` to store with the new version.
        """
        known, held = document.refresh, document.latest.digest
        etag, modified = (known.etag, known.modified) if held else ("", "")
        try:
            brought = self._fetching.bring(cube.id, document.address, etag=etag, modified=modified)
        except FetchError as error:
            _log.info("address_not_refreshed", extra={"document": document.id, "passing": error.passing})
            self._keep(document, failed(error, kept=bool(held)), soon=_soon(error))
            return None
        if brought is not None and brought.blob.digest != held:
            return brought
        self._keep(document, "unchanged", brought)
        return None

    def _keep(
        self, document: Document, found: str, brought: Brought | None = None, *, soon: timedelta | None = None
    ) -> None:
        """Store what came of a look that brought nothing new."""
        with self._store.write() as tx:
            tx.enter(document.cube_key)
            try:
                tx.cubes.touch(document.cube_key)
            except NotFoundError:  # erased meanwhile
                return
            present = tx.documents.get(document.cube_key, [document.id]).get(document.id)
            if present is not None and present.address == document.address:
                refresh = looked(present.refresh, found, self._clock.now(), soon=soon)
                if brought is not None:
                    refresh = replace(refresh, etag=brought.etag, modified=brought.modified)
                tx.documents.put(replace(present, refresh=refresh))


def marked(refresh: Refresh, brought: Brought, now: datetime, found: str = "changed") -> Refresh:
    """Return how a document is kept current after something new was fetched: when again, and what its server said."""
    return replace(looked(refresh, found, now), etag=brought.etag, modified=brought.modified)


def looked(refresh: Refresh, found: str, now: datetime, *, soon: timedelta | None = None) -> Refresh:
    """Return when an address is to be looked at again after a look, and what came of it."""
    later = None if refresh.hours is None else timedelta(hours=refresh.hours)
    if later is not None and soon is not None:
        later = min(later, soon)
    return replace(refresh, due=None if later is None else now + later, checked_at=now, found=found)


def failed(error: FetchError, *, kept: bool) -> str:
    """Return what came of a look that failed, in words; `kept`: there is something that was fetched before."""
    stays = "; what was fetched before stays" if kept else ""
    return f"{'gone' if is_gone(error) else 'not fetched'}: {error}{stays}"


def _soon(error: FetchError) -> timedelta | None:
    """Return after how long to look again at what may be there again; as long as its server wants, at least."""
    if not error.passing:
        return None
    wait = error.fields.get("retry_after")
    return max(SOON, timedelta(seconds=wait)) if isinstance(wait, float) else SOON
