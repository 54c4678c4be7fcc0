"""What is stored, one thing at a time: looking at it, and an owner's corrections of memories.

Messages are shown and never changed: they are the truth that memories are derived from. A correction is a new
version, embedded before the transaction that stores it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from mnemic.core.changing import Edit, step_of
from mnemic.core.curating import edited, restored
from mnemic.core.erasure import marks
from mnemic.core.intake import check_count, check_flag, check_id, check_text
from mnemic.errors import EmbedderError, InputError, NotFoundError, StaleError
from mnemic.ids import new_id
from mnemic.model.change import Action, MemoryChange
from mnemic.model.index import Vector
from mnemic.model.item import Item
from mnemic.model.job import EMBED
from mnemic.model.memory import Memory, Version
from mnemic.model.scope import Cube
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.attached import with_attachments
from mnemic.services.indexing import embed_texts, indexed_text, put_memory
from mnemic.services.queueing import enqueue
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable, writable
from mnemic.text import clean

_log = logging.getLogger(__name__)

_NEWEST: Final = 2**31 - 1  # the greatest number that a version can have

Correction = Callable[[Memory, str], Memory]
"""From a memory and the id of its next version to the corrected memory."""


class Curate:
    """The use cases of `get`, `history`, `update`, `lock` and `restore`."""

    def __init__(self, store: Store, embedder: Embedder, clock: Clock, scoping: Scoping) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._scoping = scoping

    def get(self, item_id: object, *, user: object, cube: object = None) -> Item:
        """Return a message or a memory; see `Memory.get`."""
        with self._store.read() as tx:
            item = find_item(tx, readable(self._scoping, tx, user, cube), check_id(item_id, "id"))
            return item if isinstance(item, Memory) else with_attachments(tx, item.cube_key, [item])[0]

    def history(self, item_id: object, *, user: object, cube: object = None) -> Sequence[Version]:
        """Return the versions of a memory; see `Memory.history`."""
        with self._store.read() as tx:
            return _memory(tx, readable(self._scoping, tx, user, cube), check_id(item_id, "id")).versions

    def update(
        self, item_id: object, text: object, *, user: object, cube: object = None, if_version: object = None
    ) -> Memory:
        """Correct a memory's text; see `Memory.update`."""
        needed = None if if_version is None else check_count(if_version, "if_version", most=_NEWEST)
        told = clean(text) if isinstance(text, str) else text
        words = check_text(told, "text", "say what holds, or use `forget` to remove the memory").strip()

        def correction(memory: Memory, version_id: str) -> Memory:
            if needed is not None and memory.current.number != needed:
                raise _stale(memory, needed)
            return edited(memory, words, version_id=version_id, recorded_at=self._clock.now())

        return self._correct(item_id, correction, user=user, cube=cube)

    def restore(self, item_id: object, *, user: object, version: object = None, cube: object = None) -> Memory:
        """Let an earlier version hold again; see `Memory.restore`."""
        if version is not None and (isinstance(version, bool) or not isinstance(version, int)):
            raise InputError("version", f"needs the number of a version, got {version!r}")

        def correction(memory: Memory, version_id: str) -> Memory:
            return restored(memory, version, version_id=version_id, recorded_at=self._clock.now())

        return self._correct(item_id, correction, user=user, cube=cube)

    def lock(self, item_id: object, *, user: object, locked: object = True, cube: object = None) -> Memory:
        """Keep a memory as it is, or let it change again; see `Memory.lock`."""
        wanted, name = check_flag(locked, "locked"), check_id(item_id, "id")
        with self._store.write() as tx:
            target = writable(self._scoping, tx, user, cube)
            memory = _memory(tx, _locked(tx, target), name)
            changed = replace(memory, locked=wanted)
            if target is not None and changed != memory:
                put_memory(tx, tx.cubes.touch(target.key), changed, {})  # no text changes: nothing is embedded
        return changed

    def _correct(self, item_id: object, correction: Correction, *, user: object, cube: object) -> Memory:
        name = check_id(item_id, "id")
        version_id = new_id()
        with self._store.read() as tx:
            planned = correction(_memory(tx, writable(self._scoping, tx, user, cube), name), version_id)
        vectors = self._embed(
            [indexed_text(planned.attribute, each.text) for each in planned.versions if each.id == version_id]
        )
        with self._store.write() as tx:
            target = writable(self._scoping, tx, user, cube)
            memory = _memory(tx, _locked(tx, target), name)
            changed = correction(memory, version_id)
            if target is None or changed == memory:
                return memory
            if not memory.stands:  # it was taken back, and holds again
                tx.memories.own_again(target.key, marks(memory, [version.id for version in memory.versions]))
            fresh = next(version for version in changed.versions if version.id == version_id)
            text = indexed_text(changed.attribute, fresh.text)
            known = {version_id: vectors[text]} if text in vectors else {}
            put_memory(tx, tx.cubes.touch(target.key), changed, known)
            tx.changes.put(_change(target.key, memory, changed, self._clock.now()))
            if not known:
                enqueue(tx, target.key, EMBED, self._clock.now())
        return changed

    def _embed(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Return vectors by text; none when the embedder fails: a job embeds it later, words find it until then."""
        try:
            return embed_texts(self._embedder, texts)
        except EmbedderError as error:
            _log.warning("embedding_deferred", extra={"texts": len(texts), "reason": str(error)})
            return {}


def _locked(tx: Transaction, cube: Cube | None) -> Cube | None:
    """Let nobody else change the cube until the end of the transaction: what is read of it from now on stays true."""
    if cube is not None:
        tx.cubes.touch(cube.key)
    return cube


def _change(cube_key: int, before: Memory, after: Memory, now: datetime) -> MemoryChange:
    """Return the record of a correction by hand: like every change it can be undone."""
    step = step_of(Edit(Action.CORRECT, before, after, "corrected by hand"))
    return MemoryChange(new_id(), cube_key, "edit", "", now, (step,))


def _stale(memory: Memory, needed: int) -> StaleError:
    now = memory.current.number
    return StaleError(
        f"version {now} of memory {memory.id!r} holds by now, not {needed}; look at it with `get` and decide again",
        id=memory.id,
        version=now,
    )


def find_item(tx: Transaction, cube: Cube | None, item_id: str) -> Item:
    """Return a message or a memory of a cube. Raises `NotFoundError`."""
    found: Item | None = None
    if cube is not None:
        found = tx.messages.get(cube.key, [item_id]).get(item_id) or tx.memories.get(cube.key, [item_id]).get(item_id)
    if found is None:
        raise NotFoundError(f"there is no message or memory {item_id!r} here; `list` shows those that are", id=item_id)
    return found


def _memory(tx: Transaction, cube: Cube | None, item_id: str) -> Memory:
    item = find_item(tx, cube, item_id)
    if not isinstance(item, Memory):
        raise InputError("id", f"{item_id!r} is a message; it is kept as it was said, and only memories have versions")
    return item
