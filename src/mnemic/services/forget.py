"""Forgetting: messages and memories go with everything that was derived from them, and the receipt counts it.

What to erase is found in a snapshot; erasing, and making true again what is left, is one transaction. Afterwards the
engine's logs are emptied, so that the words leave the files and not only the results.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mnemic.core.erasure import leaks, marks, remains, without
from mnemic.core.intake import check_flag, check_id
from mnemic.core.mentions import is_part, mentions, phrase_of
from mnemic.errors import InputError, NotFoundError
from mnemic.model.caller import Power
from mnemic.model.job import ORGANIZE
from mnemic.model.memory import Memory, MemoryKind, Version
from mnemic.model.receipt import Forgotten
from mnemic.model.scope import Cube, CubeKind
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store, Transaction
from mnemic.services.blobs import BlobKeeper
from mnemic.services.indexing import put_memory
from mnemic.services.promoting import DERIVED
from mnemic.services.queueing import enqueue
from mnemic.services.remaking import remake_segments
from mnemic.services.sayings import copies_of
from mnemic.services.scoping import Scoping
from mnemic.services.targets import writable
from mnemic.text import stem

_log = logging.getLogger(__name__)

_CHUNK = 500  # ids that one look-up takes
_TOLD = 5  # names in a note


@dataclass(frozen=True, slots=True)
class Targets:
    """What a call asks to erase, by id."""

    messages: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    phrase: tuple[str, ...] = ()
    """Set when only those versions of the memories are meant that mention it."""


class Forget:
    """The use cases of `forget` and of deleting a cube."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping, files: BlobKeeper) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping
        self._files = files
        self._owed = False

    def forget(
        self,
        ids: object = None,
        *,
        user: object,
        session: object = None,
        about: object = None,
        everything: object = False,
        cube: object = None,
    ) -> Forgotten:
        """Erase by one condition; see `Memory.forget`."""
        _check_one(ids, session, about, everything)
        with self._store.read() as tx:
            target = writable(self._scoping, tx, user, cube)
            if target is None or everything:
                targets = Targets()
                if ids is not None or session is not None:
                    _find(tx, target, ids, session)
            elif about is not None:
                targets = _about(tx, target, about)
            else:
                targets = _find(tx, target, ids, session)
        if target is None:
            return Forgotten({}, ())
        with self._store.write() as tx:
            writable(self._scoping, tx, user, cube)
            revision = tx.cubes.touch(target.key)
            tx.turns.wait_for(target.key)  # jobs are silenced, and some may be begun at this moment
            if everything:
                removed: Counter[str] = Counter(tx.erasing.everything(target.key))
            else:
                removed = self._erase(tx, target, targets, revision)
            removed += self._erase_copies(tx, target, user, None if everything else targets.messages)
            removed += _replies(tx, target)
            removed["file"] += self._files.doom(tx, target)
            if removed.total():
                tx.erasing.scrub()
            notes = _staying(tx, target, targets)
        if removed["file"]:
            notes += self._files.settled(target)
        if removed.total():
            notes += self._scrub()
        return Forgotten(dict(removed), (*targets.messages, *targets.memories), notes)

    def delete_cube(self, cube: object, *, user: object) -> Forgotten:
        """Erase a cube with all that is in it; see `Cubes.delete`."""
        with self._store.write() as tx:
            target = self._scoping.owned(tx, user, cube)
            tx.turns.wait_for(target.key)  # a worker may be about to begin a job of it
            removed = Counter(tx.cubes.delete(target.key, self._clock.now()))
            removed += _replies(tx, target)
        self._scoping.drop_cube(target)
        removed["file"] = removed.pop("blob", 0)
        notes = self._files.settled_cube(target.id) if removed["file"] else ()
        return Forgotten({**removed, "cube": 1}, (target.id,), (*notes, *self._scrub()))

    def settle(self) -> None:
        """Empty the engine's logs when a reader kept them from it before."""
        if self._owed:
            self._scrub()

    def scrub(self) -> tuple[str, ...]:
        """Take what was erased out of the engine's logs; return notes on what is still to come."""
        return self._scrub()

    def _erase(self, tx: Transaction, cube: Cube, targets: Targets, revision: int) -> Counter[str]:
        erased = _messages(tx, cube, targets.messages)
        removed = Counter({"entry": tx.index.remove(cube.key, list(erased))})
        for memory in _memories(tx, cube, targets.memories):
            removed += _without_sums(tx, memory)
            removed += _without_mentions(tx, memory, targets.phrase, revision)
        pruned, changed = self._prune(tx, cube, erased, revision)
        removed += pruned
        done = tx.erasing.messages(cube.key, list(erased))
        removed.update(done.removed)
        removed.update({"entity": tx.entities.prune(cube.key)})
        removed += remake_segments(tx, cube.key, done.segments, list(erased.values()), revision)
        removed["entity"] += tx.entities.prune(cube.key)
        tx.changes.erase(cube.key, [*targets.memories, *changed], list(erased))
        if removed.total():  # what is left may be read and promoted anew
            enqueue(tx, cube.key, ORGANIZE, self._clock.now())
        return removed

    def _erase_copies(self, tx: Transaction, cube: Cube, user: object, messages: Sequence[str] | None) -> Counter[str]:
        """Erase what knowledge bases have learned of messages (None: of all of a cube)."""
        removed: Counter[str] = Counter()
        principal = self._scoping.principal(user, Power.WRITE)
        ids = None if messages is None else list(messages)
        for base, copies in list(copies_of(self._scoping, tx, principal, cube, ids)):
            revision = tx.cubes.touch(base.key)
            tx.turns.wait_for(base.key)
            removed += self._erase(tx, base, Targets(messages=tuple(copies)), revision)
            removed += _replies(tx, base)
        return removed

    def _prune(
        self, tx: Transaction, cube: Cube, erased: dict[str, str], revision: int
    ) -> tuple[Counter[str], list[str]]:
        """Take from memories what stood on erased messages only; return what was removed, and of which memories."""
        removed: Counter[str] = Counter()
        changed: list[str] = []
        unread: set[str] = set()
        for memory in _standing_on(tx, cube, list(erased)):
            others = {source.message_id for version in memory.versions for source in version.sources} - erased.keys()
            left = remains(memory, erased, _messages(tx, cube, sorted(others)))
            removed += _put_what_is_left(tx, memory, left.memory, revision)
            if left.memory is None or len(left.memory.versions) < len(memory.versions):
                changed.append(memory.id)
            if memory.kind is not MemoryKind.INSIGHT:
                unread |= left.unread
        tx.erasing.set_unread(cube.key, sorted(unread))
        return removed, changed

    def _scrub(self) -> tuple[str, ...]:
        self._owed = not self._store.scrub()
        if not self._owed:
            return ()
        _log.warning("erased_bytes_wait_for_a_reader")
        return ("nothing finds it any more; its bytes leave the log once a reader that is open now, has ended",)


def _replies(tx: Transaction, cube: Cube) -> Counter[str]:
    """Erase replies that are kept for calls that come again: they may quote what is forgotten."""
    return Counter({"reply": tx.replies.erase(cube.id)})


def _check_one(ids: object, session: object, about: object, everything: object) -> None:
    given = [name for name, value in (("id", ids), ("session", session), ("about", about)) if value is not None]
    given += ["everything"] if check_flag(everything, "everything") else []
    if len(given) != 1:
        told = f"got {' and '.join(given)}" if given else "got none"
        raise InputError(given[1] if given else "id", f"give exactly one of id, session, about and everything; {told}")


def _names(ids: object) -> list[str]:
    names = [check_id(each, "id") for each in (ids if isinstance(ids, list | tuple | set | frozenset) else [ids])]
    if not names:
        raise InputError("id", "is an empty list; name what to forget")
    return list(dict.fromkeys(names))


def _find(tx: Transaction, cube: Cube | None, ids: object, session: object) -> Targets:
    """Return what ids or a session's name mean. Raises `NotFoundError` for what is not there: nothing was erased."""
    if session is not None:
        name = check_id(session, "session")
        found = tx.erasing.session(cube.key, name) if cube else None
        if found is None:
            raise NotFoundError(f"there is no session {name!r} here; `sessions` shows those that are", session=name)
        return Targets(messages=tuple(found))
    names = _names(ids)
    messages = _messages(tx, cube, names) if cube else {}
    memories = tx.memories.get(cube.key, names) if cube else {}
    missing = [name for name in names if name not in messages and name not in memories]
    if missing:
        raise NotFoundError(
            f"there is no message or memory {missing[0]!r} here; nothing was forgotten", id=missing[0], missing=missing
        )
    return Targets(tuple(messages), tuple(memories))


def _about(tx: Transaction, cube: Cube, about: object) -> Targets:
    """Return the messages and memories that mention a phrase: the index finds candidates, their words decide."""
    if not isinstance(about, str):
        raise InputError("about", f"needs a string, got {type(about).__name__}")
    phrase = phrase_of(about)
    if not phrase:
        raise InputError("about", "is empty; say what to forget, or use everything=True to forget all")
    candidates = _holding(tx, cube, phrase)
    messages = [key for key, text in _messages(tx, cube, candidates, attached=True).items() if mentions(text, phrase)]
    memories = [
        memory.id
        for memory in _memories(tx, cube, candidates)
        if mentions(memory.subject, phrase) or any(_mentioning(version, phrase) for version in memory.versions)
    ]
    return Targets(tuple(messages), tuple(memories), phrase)


def _holding(tx: Transaction, cube: Cube, phrase: Sequence[str]) -> list[str]:
    """Return the ids of all messages, memories and segments that hold every word of a phrase somewhere.

    Memories about somebody of that name are among them, whatever their words.
    """
    view = tx.index.view(cube.key)
    if is_part(phrase):
        return sorted(set(view.owners))
    owners = dict(zip(view.keys.tolist(), view.owners, strict=True))
    stems = list(dict.fromkeys(stem(word) for word in phrase))
    found = [{owners[key] for key in keys.tolist() if key in owners} for keys, _ in tx.index.postings(cube.key, stems)]
    named = [place for place, name in enumerate(view.speaker_names) if mentions(name, phrase)]
    about = {view.owners[int(place)] for place in np.flatnonzero(np.isin(view.speakers, named))}
    return sorted(set.intersection(*found) | about)


def _without_mentions(tx: Transaction, memory: Memory, phrase: Sequence[str], revision: int) -> Counter[str]:
    """Remove the versions of a memory that mention a phrase; without a phrase, the memory.

    Their messages stay: marks are kept, so that reading these again does not bring back what was forgotten.
    """
    whole = not phrase or mentions(memory.subject, phrase)
    gone = {version.id for version in memory.versions if whole or _mentioning(version, phrase)}
    tx.memories.disown(memory.cube_key, marks(memory, gone))
    return _put_what_is_left(tx, memory, without(memory, gone), revision)


def _without_sums(tx: Transaction, memory: Memory) -> Counter[str]:
    """Remove the insights that tell what, of all that they sum up, only this memory says."""
    related = tx.memories.relations(memory.cube_key, [memory.id])
    sums = [from_id for kind, from_id, to_id in related if kind == DERIVED and to_id == memory.id]
    telling = [each.id for each in tx.memories.get(memory.cube_key, sums).values() if _tells_of(tx, each, memory)]
    entries = tx.index.remove(memory.cube_key, telling)
    return Counter({"memory": tx.memories.delete(memory.cube_key, telling), "entry": entries})


def _tells_of(tx: Transaction, insight: Memory, memory: Memory) -> bool:
    related = tx.memories.relations(insight.cube_key, [insight.id])
    members = [to_id for kind, from_id, to_id in related if kind == DERIVED and from_id == insight.id]
    others = [each for each in tx.memories.get(insight.cube_key, members).values() if each.id != memory.id]
    left = [insight.subject, *(version.text for each in others for version in each.versions)]
    lost = [version.text for version in memory.versions]
    return any(leaks(f"{version.text} {version.value}", lost, left) for version in insight.versions)


def _put_what_is_left(tx: Transaction, memory: Memory, left: Memory | None, revision: int) -> Counter[str]:
    gone = len(memory.versions) - (len(left.versions) if left else 0)
    if left is not None:
        put_memory(tx, revision, left, {})
        return Counter({"version": gone, "entry": gone})
    entries = tx.index.remove(memory.cube_key, [memory.id])
    return Counter({"memory": tx.memories.delete(memory.cube_key, [memory.id]), "version": gone, "entry": entries})


def _mentioning(version: Version, phrase: Sequence[str]) -> bool:
    return mentions(f"{version.text}\n{version.value}", phrase)


def _messages(tx: Transaction, cube: Cube, ids: Sequence[str], *, attached: bool = False) -> dict[str, str]:
    """Return the texts of those of the ids that are messages of the cube; with `attached`, and of their attachments."""
    texts = {message_id: message.text for message_id, message in tx.messages.get(cube.key, ids).items()}
    if attached:
        for message_id, found in tx.attachments.of_messages(cube.key, list(texts)).items():
            told = [(each.name, each.caption, each.text, each.description, each.seen) for each in found]
            texts[message_id] = "\n".join([texts[message_id], *(str(each) for some in told for each in some if each)])
    return texts


def _staying(tx: Transaction, cube: Cube, targets: Targets) -> tuple[str, ...]:
    """Tell which documents mention what was to be forgotten: they are files, and are removed as such."""
    if not targets.phrase or cube.kind is not CubeKind.KNOWLEDGE:
        return ()
    found = tx.chunks.get(cube.key, _holding(tx, cube, targets.phrase))
    names = sorted({chunk.locator.name for chunk in found.values() if mentions(chunk.text, targets.phrase)})
    told = ", ".join(repr(name) for name in names[:_TOLD]) + (" and others" if len(names) > _TOLD else "")
    return (f"documents mention it and stay: {told}; `knowledge.remove` erases them",) if names else ()


def _memories(tx: Transaction, cube: Cube, ids: Sequence[str]) -> Sequence[Memory]:
    return list(tx.memories.get(cube.key, ids).values())


def _standing_on(tx: Transaction, cube: Cube, message_ids: Sequence[str]) -> Sequence[Memory]:
    found: set[str] = set()
    for start in range(0, len(message_ids), _CHUNK):
        found.update(tx.memories.of_messages(cube.key, message_ids[start : start + _CHUNK]))
    return _memories(tx, cube, sorted(found))
