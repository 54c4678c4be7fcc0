"""Profiles: what memories say about people at one moment, with evidence and history. Nothing is stored for them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import Final

from mnemic.core.intake import check_id, read_time
from mnemic.core.profile import build_profile
from mnemic.model.memory import Memory
from mnemic.model.profile import Profile
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store, Transaction
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable
from mnemic.text import fold

_BATCH: Final = 1_000


class Profiles:
    """The use case of `profile`."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping, *, zone: tzinfo) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping
        self._zone = zone

    def profile(self, *, user: object, subject: object = None, as_of: object = None, cube: object = None) -> Profile:
        """Return what is known about people; see `Memory.profile`.

        Without `as_of`, it is what held when the cube's newest message was said, and not later than now.
        """
        named = None if subject is None else fold(check_id(subject, "subject"))
        moment = None if as_of is None else read_time(as_of, "as_of", now=self._clock.now(), zone=self._zone)[0]
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            if target is None:
                return Profile(())
            found = [each for each in _every(tx, target.key) if named is None or fold(each.subject) == named]
            latest = tx.cubes.latest_said(target.key)
            return Profile(build_profile(found, moment or (latest and min(latest, self._clock.now()))))


def _every(tx: Transaction, cube_key: int) -> Iterator[Memory]:
    after: str | None = None
    while page := tx.memories.list(cube_key, after=after, limit=_BATCH, standing=True):
        yield from page
        after = page[-1].id
