"""Changes of several memories made as one, in one transaction: making them, listing them, taking them back.

Whoever plans a change hands over edits (`core.changing.Edit`: a memory before and after) inside a write transaction;
`make` stores them with a record that `undo` reads. Nobody's lock is broken, and a memory that is not as the plan has
seen it is left alone; both are told.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from mnemic.core.changing import CHANGED, LOCKED, Edit, marks_of, marks_undone, stands_in_the_way, step_of, undone
from mnemic.core.intake import check_count, check_id
from mnemic.errors import ConflictError, EmbedderError, NotFoundError
from mnemic.ids import new_id
from mnemic.model.change import MemoryChange, Step, Undone
from mnemic.model.index import Vector
from mnemic.model.job import EMBED
from mnemic.model.memory import Memory
from mnemic.model.scope import Cube
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.indexing import embed_texts, put_memory, unindexed
from mnemic.services.queueing import enqueue
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable, writable

_log = logging.getLogger(__name__)

_Restored = list[tuple[Memory, Memory, Step]]
"""Memories before and after a step is taken back, with the step."""

_Left = list[Step]

LIMIT = 1_000
"""Changes on one page of a list."""


@dataclass(frozen=True, slots=True)
class Made:
    """What became of edits: the change that was stored (None: nothing was changed), and steps left out, with why."""

    change: MemoryChange | None
    skipped: tuple[Step, ...] = ()


def make(
    tx: Transaction,
    revision: int,
    edits: Sequence[Edit],
    vectors: Mapping[str, Vector],
    change: MemoryChange,
    *,
    source: str = "",
) -> Made:
    """Store edits and the change that they make up, in the caller's write transaction.

    `revision` is what `tx.cubes.touch` gave, `vectors` those of `vectors_of(edits)` (a job embeds what is missing),
    `change` the change without its steps, `source` the message that asked for it. A memory has one edit at most.
    """
    steps: list[Step] = []
    skipped: list[Step] = []
    for edit in edits:
        why = _hindrance(tx, change.cube_key, edit)
        if why is not None:
            skipped.append(replace(step_of(edit, planned=True), reason=why))
            continue
        tx.memories.disown(change.cube_key, marks_of(edit, source))
        _put(tx, revision, edit.after, vectors, change.made_at)
        steps.append(step_of(edit, source=source))
    if not steps:
        return Made(None, tuple(skipped))
    made = replace(change, steps=tuple(steps))
    tx.changes.put(made)
    return Made(made, tuple(skipped))


def vectors_of(embedder: Embedder, edits: Sequence[Edit]) -> dict[str, Vector]:
    """Return the vectors of what edits will have search read, by the texts; none when the embedder fails."""
    known = {version.id for edit in edits if edit.before for version in edit.before.versions}
    return embedded(embedder, [edit.after for edit in edits], known)


def embedded(embedder: Embedder, memories: Sequence[Memory], known: set[str]) -> dict[str, Vector]:
    """Return the vectors of the versions that are not known, by their texts; none when the embedder fails."""
    texts = list(unindexed(memories, known).values())
    try:
        return embed_texts(embedder, texts)
    except EmbedderError as error:
        _log.warning("embedding_deferred", extra={"texts": len(texts), "reason": str(error)})
        return {}


class Changing:
    """The use cases of `changes` and `undo`."""

    def __init__(self, store: Store, embedder: Embedder, clock: Clock, scoping: Scoping) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._scoping = scoping

    def list(self, *, user: object, limit: object = 100, cube: object = None) -> Sequence[MemoryChange]:
        """Return changes, newest first; see `Memory.changes`."""
        most = check_count(limit, "limit", most=LIMIT)
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            return () if target is None else tuple(tx.changes.list(target.key, limit=most))

    def undo(self, change_id: object, *, user: object, cube: object = None) -> Undone:
        """Take a change back; see `Memory.undo`."""
        name = check_id(change_id, "change")
        ids: dict[str, str] = {}
        with self._store.read() as tx:
            _, change = self._find(tx, name, user, cube)
            restored, _ = self._restored(tx, change, ids)
        known = {version.id for before, _, _ in restored for version in before.versions}
        vectors = embedded(self._embedder, [after for _, after, _ in restored], known)
        with self._store.write() as tx:
            target, _ = self._find(tx, name, user, cube)
            revision = tx.cubes.touch(target.key)
            _, change = self._find(tx, name, user, cube)  # as it is now that no other can change it
            restored, left = self._restored(tx, change, ids)
            if not restored:
                why = "; ".join(dict.fromkeys(step.reason for step in left)) or "nothing is left of it"
                raise ConflictError(f"nothing of change {name!r} can be taken back: {why}", change=name)
            for before, after, step in restored:
                lifted, kept = marks_undone(step, before, after)
                tx.memories.own_again(target.key, lifted)
                tx.memories.disown(target.key, kept)
                _put(tx, revision, after, vectors, self._clock.now())
            now = self._clock.now()
            tx.changes.set_undone(target.key, name, now)
        return Undone(replace(change, undone_at=now), tuple(step for _, _, step in restored), tuple(left))

    def _find(self, tx: Transaction, name: str, user: object, cube: object) -> tuple[Cube, MemoryChange]:
        target = writable(self._scoping, tx, user, cube)
        change = None if target is None else tx.changes.get(target.key, name)
        if target is None or change is None:
            raise NotFoundError(f"there is no change {name!r} here; `changes` shows those that are", change=name)
        if change.undone_at is not None:
            raise ConflictError(f"change {name!r} was taken back already", change=name, undone_at=change.undone_at)
        return target, change

    def _restored(self, tx: Transaction, change: MemoryChange, ids: dict[str, str]) -> tuple[_Restored, _Left]:
        """Return the memories before and after undoing, with their steps; and the steps that are left, with why."""
        held = tx.memories.get(change.cube_key, [step.memory_id for step in change.steps])
        restored: _Restored = []
        left: _Left = []
        for step in reversed(change.steps):
            memory = held.get(step.memory_id)
            why = stands_in_the_way(step, memory)
            if why is not None or memory is None:
                left.append(replace(step, reason=why or ""))
                continue
            version_id = ids.setdefault(step.memory_id, new_id())
            after = undone(memory, step, version_id=version_id, recorded_at=self._clock.now())
            restored.append((memory, after, step))
        return restored, left


def _hindrance(tx: Transaction, cube_key: int, edit: Edit) -> str | None:
    """Return why an edit is not made; None when it is."""
    if edit.before is None:
        return None
    stored = tx.memories.get(cube_key, [edit.before.id]).get(edit.before.id)
    if stored is not None and stored.locked:
        return LOCKED
    return None if stored == edit.before else CHANGED


def _put(tx: Transaction, revision: int, memory: Memory, vectors: Mapping[str, Vector], now: datetime) -> None:
    """Store a memory with the vectors of its new versions; what has none is embedded by a job."""
    texts = unindexed([memory], tx.index.versions(memory.cube_key, [memory.id]))
    fresh = {version_id: vectors[text] for version_id, text in texts.items() if text in vectors}
    put_memory(tx, revision, memory, fresh)
    if len(fresh) < len(texts):
        enqueue(tx, memory.cube_key, EMBED, now)
