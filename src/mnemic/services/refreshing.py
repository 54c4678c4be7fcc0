"""Keeping addresses current: those whose time has come are looked at again, by the job that reads documents.

What that job finds (nothing new, another version, nothing any more) is stored with the document, see
`mnemic.services.ingesting`; here it is only said whose turn it is.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from mnemic.errors import FetchError, NotFoundError
from mnemic.model.document import Document, DocumentState, Refresh
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.services.versions import due_after, look_again, told, try_again

_AT_ONCE: Final = 1_000
"""Addresses whose jobs are queued each time; the others' turn comes the next time."""

_SOON: Final = timedelta(hours=1)
"""After so long, an address that could not be reached is looked at again, unless it is due before."""

_GONE: Final = frozenset({404, 410})


class Refreshing:
    """The periodic work `refresh`. It can stop anywhere, and be done twice."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def run(self) -> str:
        """Queue a look at each address that is due; return what was done."""
        with self._store.read() as tx:
            tx.enter_all()
            due = tx.documents.due(self._clock.now(), _AT_ONCE)
        asked = sum(self._ask(cube_key, document_id) for cube_key, document_id in due)
        return f"{asked} addresses to be looked at"

    def _ask(self, cube_key: int, document_id: str) -> bool:
        """Queue a look at one address, unless it was removed, or its turn has passed, meanwhile.

        It is due anew at once, so that it is not asked for again while its job waits or when that fails.
        """
        now = self._clock.now()
        with self._store.write() as tx:
            tx.enter(cube_key)
            try:
                tx.cubes.touch(cube_key)
            except NotFoundError:
                return False
            found = tx.documents.get(cube_key, [document_id]).get(document_id)
            if found is None or found.refresh.due is None or found.refresh.due > now:
                return False
            document = told(tx, found)
            document = replace(document, refresh=replace(document.refresh, due=due_after(document, now)))
            tx.documents.put(document)
            if document.state is DocumentState.FAILED and not document.latest.digest:
                try_again(tx, document, now)  # it was never fetched
            else:
                look_again(tx, document, now)
        return True


def in_vain(document: Document, error: FetchError, now: datetime) -> Refresh:
    """Return how a document is kept current after a look that failed: what is told of it, and when to look again.

    What may pass is looked at again soon, but not before its server wants it.
    """
    due = due_after(document, now)
    if due is not None and error.passing:
        wait = error.fields.get("retry_after")
        soon = max(_SOON, timedelta(seconds=wait)) if isinstance(wait, float) else _SOON
        due = min(due, now + soon)
    gone = "gone: " if error.fields.get("status") in _GONE else ""
    found = f"{gone}{error}; what was fetched before stays" if document.current is not None else f"{gone}{error}"
    return replace(document.refresh, due=due, checked_at=now, found=found)
