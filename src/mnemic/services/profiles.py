"""Profiles: what memories say about people at one moment, with evidence and history. Nothing is stored for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from types import MappingProxyType

from mnemic.core.intake import check_id, read_time
from mnemic.core.profile import build_profile, known_as
from mnemic.core.templates import check_template, templated
from mnemic.model.memory import Memory
from mnemic.model.profile import Profile
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.services.paging import every_memory
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable
from mnemic.text import fold


class Profiles:
    """The use case of `profile`."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        scoping: Scoping,
        *,
        zone: tzinfo,
        templates: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping
        self._zone = zone
        self._templates = templates

    def profile(
        self,
        *,
        user: object,
        subject: object = None,
        as_of: object = None,
        template: object = None,
        cube: object = None,
    ) -> Profile:
        """Return what is known about people; see `Memory.profile`.

        Without `as_of`, it is what held when the cube's newest message was said, and not later than now; what was set
        by hand since then holds too.
        """
        named = None if subject is None else check_id(subject, "subject")
        shown = None if template is None else check_template(template, self._templates)
        moment = None if as_of is None else read_time(as_of, "as_of", now=self._clock.now(), zone=self._zone)[0]
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            if target is None:
                return Profile((), shown or ())
            everyone = list(every_memory(tx, target.key))
            latest = tx.cubes.latest_said(target.key)
        if shown is not None and named is None:
            named = known_as(everyone, str(user))
        found = [each for each in everyone if named is None or fold(each.subject) == fold(named)]
        entries = build_profile([each for each in found if each.stands], moment or self._latest(latest, found))
        if shown is None:
            return Profile(entries)
        return templated(entries, shown, [each.attribute for each in found if each.locked])

    def _latest(self, said: datetime | None, memories: Sequence[Memory]) -> datetime | None:
        """Return the moment that a profile is of: the newest of what was said and of what was set by hand."""
        by_hand = [
            version.valid_from
            for memory in memories
            for version in memory.versions
            if not version.sources and version.valid_to != version.valid_from
        ]
        newest = max([*by_hand, *([said] if said else [])], default=None)
        return newest and min(newest, self._clock.now())
