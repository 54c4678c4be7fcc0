"""Reorganizing: what says the same becomes one memory, old plans are closed, what belongs together is summed up.

A run is bounded and is one change, which `undo` takes back whole; the next run goes on from what this one left. Without
a language model only what rules are sure of is merged, and nothing is summed up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from mnemic.core.changing import Edit, step_of
from mnemic.core.intake import check_flag
from mnemic.core.reorganizing import (
    ASKED,
    Likeness,
    Placed,
    Theme,
    insights,
    likenesses,
    merges,
    overdue,
    pairs_prompt,
    same_pairs,
    themes,
    themes_prompt,
)
from mnemic.errors import ModelError
from mnemic.ids import new_id, new_ids
from mnemic.model.change import Action, MemoryChange
from mnemic.model.index import unit
from mnemic.model.job import OPEN, REORGANIZE
from mnemic.model.memory import Memory, MemoryKind
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.changing import make, vectors_of
from mnemic.services.language import Language
from mnemic.services.paging import every_memory
from mnemic.services.promoting import DERIVED
from mnemic.services.queueing import enqueue
from mnemic.services.scoping import Scoping
from mnemic.services.targets import writable

_log = logging.getLogger(__name__)

KIND: Final = "reorganize"
"""The kind of change that a run makes, and the purpose of its calls."""

_EDITS: Final = 200  # memories changed in one run
_WORTH: Final = 12  # memories from which a cube is put in order by itself
_MERGED: Final = "they say the same"
_OVER: Final = "nothing was heard of this plan for half a year"
_SUMMED: Final = "sums up what belongs together"


@dataclass(frozen=True, slots=True)
class _Sight:
    """What a run looks at: memories with their vectors, and those that an insight sums up already."""

    placed: tuple[Placed, ...]
    memories: tuple[Memory, ...]
    summed: frozenset[str]


class Reorganizing:
    """Puts the memories of a cube in order, by a call or by a periodic job."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        clock: Clock,
        scoping: Scoping,
        language: Language | None,
        *,
        every: timedelta,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._scoping = scoping
        self._language = language
        self._every = every

    def run(self, *, user: object, dry_run: object = False, cube: object = None) -> MemoryChange | None:
        """Put a cube in order; see `Memory.reorganize`."""
        planned = check_flag(dry_run, "dry_run")
        with self._store.read() as tx:
            target = writable(self._scoping, tx, user, cube)
        return None if target is None else self._run(target.key, dry_run=planned)

    def queue(self, cube_key: int) -> None:
        """Plan the next run for a cube that has enough memories, when none is planned."""
        if not self._every:
            return
        with self._store.read() as tx:
            tx.enter(cube_key)
            if len(tx.memories.list(cube_key, limit=_WORTH)) < _WORTH:
                return
            if tx.jobs.list(cube_key, states=OPEN, kinds=[REORGANIZE], limit=1):
                return
        with self._store.write() as tx:
            tx.enter(cube_key)
            now = self._clock.now()
            enqueue(tx, cube_key, REORGANIZE, now, not_before=now + self._every)

    def work(self, cube_key: int, tick: Callable[[int], None]) -> None:
        """Do the job."""
        change = self._run(cube_key, dry_run=False)
        tick(0 if change is None else len(change.steps))

    def _run(self, cube_key: int, *, dry_run: bool) -> MemoryChange | None:
        with self._store.read() as tx:
            tx.enter(cube_key)
            sight = _seen(tx, cube_key)
        pairs = likenesses(sight.placed)
        found = themes(sight.placed, sight.summed)
        same = [(pair.first, pair.second) for pair in pairs if pair.plain]
        same += self._judged(cube_key, [pair for pair in pairs if not pair.plain][:ASKED])
        now = self._clock.now()
        edits = [*merges(same, new_ids(), now, _MERGED), *overdue(sight.memories, now, _OVER)][:_EDITS]
        drawn = self._drawn(cube_key, found)
        edits += [Edit(Action.ADD, None, memory, _SUMMED) for memory, _ in drawn]
        edits = _each_once(edits)
        if not edits:
            return None
        if dry_run:
            steps = tuple(step_of(edit, planned=True) for edit in edits)
            return MemoryChange("", cube_key, KIND, "", now, steps)
        change = MemoryChange(new_id(), cube_key, KIND, "", now, ())
        vectors = vectors_of(self._embedder, edits)
        with self._store.write() as tx:
            tx.enter(cube_key)
            revision = tx.cubes.touch(cube_key)
            drawn = [(memory, theme) for memory, theme in drawn if _are_as_seen(tx, cube_key, theme.members)]
            made = make(tx, revision, _still_so(tx, cube_key, edits, drawn), vectors, change).change
            for memory, theme in drawn:
                for member in theme.members:
                    tx.memories.relate(cube_key, DERIVED, memory.id, member.id, now)
        return made

    def _judged(self, cube_key: int, pairs: Sequence[Likeness]) -> list[tuple[Memory, Memory]]:
        """Return the pairs that the model takes for the same; none without a model, or when it fails."""
        if self._language is None or not pairs:
            return []
        try:
            reply = self._language.complete(pairs_prompt(pairs), purpose=KIND, cube_key=cube_key)
            return same_pairs(pairs, reply)
        except ModelError as error:
            _log.warning("pairs_left_open", extra={"pairs": len(pairs), "reason": str(error)})
            return []

    def _drawn(self, cube_key: int, found: Sequence[Theme]) -> list[tuple[Memory, Theme]]:
        """Return insights with their themes; none without a model, or when it fails."""
        if self._language is None or not found:
            return []
        try:
            reply = self._language.complete(themes_prompt(found), purpose=KIND, cube_key=cube_key)
            return insights(found, reply, new_ids(), self._clock.now(), cube_key)
        except ModelError as error:
            _log.warning("themes_left_open", extra={"themes": len(found), "reason": str(error)})
            return []


def _seen(tx: Transaction, cube_key: int) -> _Sight:
    memories = list(every_memory(tx, cube_key))
    current = [memory for memory in memories if memory.kind is not MemoryKind.INSIGHT and memory.stands]
    vectors = tx.index.vectors(cube_key, [memory.id for memory in current])
    placed = [Placed(memory, unit(vectors[memory.id])) for memory in current if memory.id in vectors]
    standing = {memory.id for memory in memories if memory.kind is MemoryKind.INSIGHT and memory.stands}
    summed = {
        to_id
        for kind, from_id, to_id in tx.memories.relations(cube_key, sorted(standing))
        if kind == DERIVED and from_id in standing
    }
    return _Sight(tuple(placed), tuple(current), frozenset(summed))


def _are_as_seen(tx: Transaction, cube_key: int, memories: Sequence[Memory]) -> bool:
    """Tell whether memories are still what a run has looked at; a lock that came since is theirs to keep."""
    held = tx.memories.get(cube_key, [memory.id for memory in memories])
    return all(held.get(memory.id) == memory for memory in memories)


def _still_so(
    tx: Transaction, cube_key: int, edits: Sequence[Edit], drawn: Sequence[tuple[Memory, Theme]]
) -> list[Edit]:
    """Return the edits without those whose grounds are gone: a merge is made whole or not, and no sum tells more than
    what is left. A model may have taken its time, and words may have been changed or forgotten meanwhile.
    """
    groups: dict[str, list[Memory]] = {}
    for edit in edits:
        if edit.into and edit.before is not None:
            groups.setdefault(edit.into, []).append(edit.before)
    for edit in edits:
        if edit.before is not None and edit.before.id in groups:
            groups[edit.before.id].append(edit.before)
    broken = {kept for kept, members in groups.items() if not _are_as_seen(tx, cube_key, members)}
    sums = {memory.id for memory, _ in drawn}
    return [
        edit
        for edit in edits
        if not {edit.into, edit.after.id} & broken and (edit.before is not None or edit.after.id in sums)
    ]


def _each_once(edits: Sequence[Edit]) -> list[Edit]:
    """Return edits without those of memories that an earlier one changes: a change has one for each."""
    found: dict[str, Edit] = {}
    for edit in edits:
        found.setdefault(edit.after.id, edit)
    return list(found.values())
