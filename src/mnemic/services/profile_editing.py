"""An owner's hand on a profile: attributes are set, taken back, locked and unlocked by name.

What is set is its owner's own word: it stands on no message, and no reading of messages changes it back. Each edit is a
change that `undo` takes back; a lock is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from mnemic.core.changing import Edit, retracted
from mnemic.core.curating import in_place_of_current
from mnemic.core.extraction.attributes import attribute_of, kind_of
from mnemic.core.intake import check_flag, check_id
from mnemic.core.profile import described, known_as
from mnemic.core.profile_words import sentence_of
from mnemic.core.templates import check_attribute
from mnemic.core.wording import akin, same_value, stems_key
from mnemic.errors import InputError
from mnemic.ids import new_id
from mnemic.model.caller import Power
from mnemic.model.change import Action, MemoryChange
from mnemic.model.memory import Change, Memory, MemoryKind, Version
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.changing import make, vectors_of
from mnemic.services.paging import every_memory
from mnemic.services.scoping import Scoping
from mnemic.text import clean, fold

LONGEST: Final = 600
"""Characters of a value at most."""

KIND: Final = "profile"
"""The kind of such changes."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A checked call. Without a `value`, and without `remove`, only the lock is meant."""

    attribute: str
    value: str | None
    subject: str
    remove: bool
    locked: bool | None


class ProfileEditing:
    """The use case of `set_profile`."""

    def __init__(self, store: Store, embedder: Embedder, clock: Clock, scoping: Scoping) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._scoping = scoping

    def set(
        self,
        attribute: object,
        value: object = None,
        *,
        user: object,
        subject: object = None,
        remove: object = False,
        locked: object = None,
        cube: object = None,
    ) -> Sequence[Memory]:
        """Set, take back or lock an attribute; see `Memory.set_profile`."""
        name = check_attribute(attribute)
        told = _checked(value, remove, locked)
        principal, target = check_id(user, "user"), None if cube is None else check_id(cube, "cube")
        person = None if subject is None else check_id(subject, "subject")
        wish = _Wish(name, told, person or principal, bool(remove), None if locked is None else bool(locked))
        with self._store.read() as tx:
            found = self._scoping.for_read(tx, principal, target, needed=Power.WRITE).cubes
            key = found[0].key if found else 0
            planned = self._plan(tx, key, _named(tx, key, wish) if person is None else wish)
        vectors = vectors_of(self._embedder, planned)
        if not found:
            self._scoping.drop(principal)
        with self._store.write() as tx:
            held = self._scoping.for_write(tx, principal, target)
            revision = tx.cubes.touch(held.key)
            wish = _named(tx, held.key, wish) if person is None else wish
            edits = self._plan(tx, held.key, wish)
            change = MemoryChange(new_id(), held.key, KIND, "", self._clock.now(), ())
            unlocked = [_unlocked(tx, edit) for edit in edits]
            make(tx, revision, unlocked, vectors, change)
            kept = self._locked(tx, held.key, wish, [edit.before for edit in edits if edit.before])
        self._scoping.remember(held)
        return tuple(kept)

    def _plan(self, tx: Transaction, cube_key: int, wish: _Wish) -> list[Edit]:
        known = tx.memories.find(cube_key, fold(wish.subject), wish.attribute)
        now = self._clock.now()
        if wish.remove:
            gone = [each for each in known if each.stands]
            return [Edit(Action.REMOVE, each, _without(each, now), "taken back by hand") for each in gone]
        if wish.value is None:
            return []
        single = attribute_of(wish.attribute).single
        if single:
            main = next((each for each in known if not each.value_key), None)
        else:
            main = next((each for each in known if any(akin(v.value, wish.value) for v in each.versions)), None)
        if main is None:
            return [Edit(Action.ADD, None, _new(wish, cube_key, now, single=single), "set by hand")]
        if main.stands and main.current.polarity > 0 and same_value(main.current.value, wish.value):
            return []
        return [Edit(Action.CORRECT, main, _with_value(main, wish, now), "set by hand")]

    def _locked(self, tx: Transaction, cube_key: int, wish: _Wish, before: Sequence[Memory]) -> list[Memory]:
        """Return the memories that are left, locked or unlocked as is wished, or as they were."""
        known = tx.memories.find(cube_key, fold(wish.subject), wish.attribute)
        was = {each.id for each in before if each.locked}
        meant = [each for each in known if each.stands] or [each for each in known if not each.value_key]
        if wish.value is not None and not attribute_of(wish.attribute).single:
            meant = [each for each in meant if akin(each.current.value, wish.value)]
        if not meant and wish.locked:
            meant = [_nothing_yet(wish, cube_key, self._clock.now())]
        kept = []
        for memory in meant:
            lock = wish.locked if wish.locked is not None else memory.locked or memory.id in was
            kept.append(replace(memory, locked=lock))
            if kept[-1] != memory or memory not in known:
                tx.memories.put(kept[-1])
        return kept


def _named(tx: Transaction, cube_key: int, wish: _Wish) -> _Wish:
    """Return the wish about the name that its user is known by."""
    every = list(every_memory(tx, cube_key)) if cube_key else []
    return replace(wish, subject=known_as(every, wish.subject))


def _checked(value: object, remove: object, locked: object) -> str | None:
    check_flag(remove, "remove")
    if locked is not None:
        check_flag(locked, "locked")
    if value is not None and not isinstance(value, str):
        raise InputError("value", f"needs a string, got {type(value).__name__}")
    told = None if value is None else " ".join(clean(value).split())
    if told == "":
        raise InputError("value", "is empty; say what holds, or use remove=True to take the attribute back")
    if told is not None and len(told) > LONGEST:
        raise InputError("value", f"has {len(told)} characters; at most {LONGEST} are allowed")
    if told is not None and remove:
        raise InputError("remove", "cannot be wished together with a value")
    if told is None and not remove and locked is None:
        raise InputError("value", "is missing; give a value, remove=True, or locked")
    return told


def _unlocked(tx: Transaction, edit: Edit) -> Edit:
    """Return an edit that its owner's lock does not stand in the way of: it is its owner's hand."""
    if edit.before is None or not edit.before.locked:
        return edit
    before = replace(edit.before, locked=False)
    tx.memories.put(before)
    return replace(edit, before=before, after=replace(edit.after, locked=False))


def _without(memory: Memory, now: datetime) -> Memory:
    return retracted(memory, version_id=new_id(), recorded_at=now)


def _version(wish: _Wish, now: datetime) -> Version:
    value = wish.value or ""
    return Version(
        id=new_id(), number=1, text=sentence_of(wish.subject, wish.attribute, value), value=value, polarity=1,
        valid_from=now, valid_to=None, time=None, recorded_at=now, confidence=1.0, change=Change.EDITED,
    )  # fmt: skip


def _new(wish: _Wish, cube_key: int, now: datetime, *, single: bool) -> Memory:
    key = "" if single else stems_key(wish.value or "")
    if kind_of(wish.attribute) is MemoryKind.EVENT:
        key = f"{key} @{now:%Y-%m-%d}"
    return Memory(
        new_id(), cube_key, kind_of(wish.attribute), wish.subject, wish.attribute, key,
        locked=False, created_at=now, versions=(_version(wish, now),),
    )  # fmt: skip


def _with_value(memory: Memory, wish: _Wish, now: datetime) -> Memory:
    """Return a memory with a value in the current one's place; what says nothing now, says it from now on."""
    version = _version(replace(wish, subject=memory.subject), now)
    if memory.stands and memory.current.valid_to is None:
        version = replace(version, valid_from=memory.current.valid_from)
    return in_place_of_current(memory, version)


def _nothing_yet(wish: _Wish, cube_key: int, now: datetime) -> Memory:
    """Return what a lock on an attribute without a value is: a memory that says nothing, and stays so."""
    if not attribute_of(wish.attribute).single:
        label = described(wish.attribute).label
        raise InputError("locked", f"there is nothing yet under {label!r} that could be locked")
    memory = _new(wish, cube_key, now, single=True)
    said = f"{wish.subject}: nothing about {described(wish.attribute).label.lower()}."
    version = replace(memory.versions[0], text=said, valid_to=now, change=Change.RETRACTED)
    return replace(memory, versions=(version,))
