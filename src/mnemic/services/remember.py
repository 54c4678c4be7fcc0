"""Adding messages: checked, embedded, then stored with page, text index, vectors and job in one transaction.

Nothing here waits for a model to think: the embedder runs before the transaction, refining after it. When the
embedder fails, messages are stored all the same and found by their words; the reply says so and a job embeds them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import Final

from mnemic.core.intake import Incoming, check_id, read_messages
from mnemic.core.tiers import OpenPage, place
from mnemic.errors import ConflictError, EmbedderError, NotFoundError
from mnemic.ids import new_id
from mnemic.model.caller import Power
from mnemic.model.index import Vector
from mnemic.model.job import EMBED, ORGANIZE
from mnemic.model.message import MessageRole, Page, Session, StoredMessage
from mnemic.model.receipt import Added, Skipped
from mnemic.model.scope import Cube
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import SessionTail, Store, Transaction
from mnemic.services.attaching import Attaching
from mnemic.services.indexing import message_entries
from mnemic.services.queueing import enqueue
from mnemic.services.sayings import check_bases, learning_bases, pointer
from mnemic.services.scoping import Scoping
from mnemic.text import passages

_log = logging.getLogger(__name__)

DEFAULT_SESSION: Final = "default"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A message on its way in: its place in the call, its passages and their vectors (None: still to be embedded)."""

    index: int
    message: Incoming
    spans: Sequence[tuple[int, int]]
    vectors: Sequence[Vector | None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that is checked and embedded, and whose messages are still to be stored."""

    user: str
    cube: str | None
    session: str
    agent: str | None
    filled: Sequence[tuple[int, Incoming]]
    pieces: dict[int, _Piece]
    now: datetime
    empty: tuple[Skipped, ...]
    notes: tuple[str, ...]
    task: str | None = None
    learn: tuple[str, ...] = ()


class Remember:
    """The use case of `add`."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        clock: Clock,
        scoping: Scoping,
        attaching: Attaching,
        *,
        zone: tzinfo,
        gap: timedelta,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._scoping = scoping
        self._attaching = attaching
        self._zone = zone
        self._gap = gap

    def add(
        self,
        messages: object,
        *,
        user: object,
        session: object = None,
        agent: object = None,
        cube: object = None,
        task: object = None,
        learn: object = None,
    ) -> Added:
        """Store messages; see `Memory.add`."""
        bases = check_bases(learn)
        prepared = self.prepare(messages, user=user, session=session, agent=agent, cube=cube, task=task)
        prepared = replace(prepared, learn=bases)
        self._keep_files(prepared)
        try:
            stored = self._write(prepared)
        except NotFoundError:
            if prepared.cube is not None or self._scoping.known(prepared.user) is None:
                raise
            self._scoping.drop(prepared.user)  # the personal cube was deleted by another process: make it anew
            stored = self._write(prepared)
        return stored

    def prepare(
        self,
        messages: object,
        *,
        user: object,
        session: object = None,
        agent: object = None,
        cube: object = None,
        task: object = None,
    ) -> Prepared:
        """Return messages checked and embedded, for `put`; nothing is stored yet."""
        principal = check_id(user, "user")
        name = DEFAULT_SESSION if session is None else check_id(session, "session")
        assistant = None if agent is None else check_id(agent, "agent")
        target = None if cube is None else check_id(cube, "cube")
        work = None if task is None else check_id(task, "task")
        now = self._clock.now()
        incoming = read_messages(
            messages, user=principal, agent=assistant, now=now, zone=self._zone, intake=self._attaching.intake()
        )
        empty = [Skipped(number, "empty: it has nothing that can be remembered") for number, message
                 in enumerate(incoming) if not message.text.strip()]  # fmt: skip
        filled = [(number, message) for number, message in enumerate(incoming) if message.text.strip()]
        fresh = self._without_known(principal, target, name, filled)
        pieces, notes = self._embed(fresh)
        if any(not message.zoned for _, message in filled):
            notes.append(f"times without a zone were read as {self._zone}")
        return Prepared(principal, target, name, assistant, filled, pieces, now, tuple(empty), tuple(notes), work)

    def put(self, tx: Transaction, prepared: Prepared) -> tuple[Cube, Added]:
        """Store what was prepared in the caller's transaction; return the cube that it went to, and the receipt."""
        bases = learning_bases(self._scoping, tx, prepared.user, prepared.learn)
        cube = self._scoping.for_write(tx, prepared.user, prepared.cube)
        filled, pieces, session = prepared.filled, prepared.pieces, prepared.session
        if not filled:  # no session is made for nothing
            return cube, Added(cube.id, session, (), 0, prepared.empty, notes=prepared.notes)
        latest = max(message.said_at for _, message in filled)
        revision = tx.cubes.touch(cube.key, said_at=latest)
        tail = tx.messages.tail(cube.key, session, session_id=new_id(), at=latest)
        ids, skipped, fresh = _sort_out(tx, cube, tail.session, filled)
        missing = [number for number in fresh if number not in pieces]
        if missing:  # erased by another call since they were looked up: embed them now, inside the transaction
            pieces = {**pieces, **self._embed([(n, m) for n, m in filled if n in missing])[0]}
        stored = [
            _stored(pieces[number].message, message_id, cube, tail.session, prepared.agent, prepared.now)
            for number, message_id in fresh.items()
        ]
        job = _append(tx, tail, stored, [pieces[number] for number in fresh], revision, prepared.now, self._gap)
        brought = [pieces[number].message.brought for number in fresh]
        self._attaching.note(tx, cube, list(zip(stored, brought, strict=True)), prepared.now)
        if prepared.task is not None and job is not None:
            tx.jobs.note_task(cube.key, prepared.task, job)
        notes = prepared.notes
        for base in bases:
            told = [message for message in stored if message.role is MessageRole.USER]
            if _learn(tx, base, cube, told, {fresh[number]: pieces[number] for number in fresh}, self._gap):
                notes += (f"remembered in the knowledge base {base.name!r} too",)
        left = tuple(sorted((*prepared.empty, *skipped), key=_by_index))
        return cube, Added(cube.id, session, tuple(ids), len(stored), left, job, notes)

    def _write(self, prepared: Prepared) -> Added:
        with self._store.write() as tx:
            cube, added = self.put(tx, prepared)
        self._scoping.remember(cube)
        return added

    def _keep_files(self, prepared: Prepared) -> None:
        """Write down what messages bring, before the transaction; a cube that is not there yet gets it in that."""
        brought = [each for piece in prepared.pieces.values() for each in piece.message.brought]
        if not any(each.data is not None for each in brought):
            return
        with self._store.read() as tx:
            scope = self._scoping.for_read(tx, prepared.user, prepared.cube, needed=Power.WRITE)
        for cube in scope.cubes:
            self._attaching.keep(cube.id, brought)

    def _without_known(
        self, user: str, cube: str | None, session: str, filled: Sequence[tuple[int, Incoming]]
    ) -> Sequence[tuple[int, Incoming]]:
        """Leave out what the store holds already, so that adding a file again does not embed it again."""
        keys = [message.dedupe for _, message in filled if message.dedupe is not None]
        if not keys:
            return filled
        with self._store.read() as tx:
            scope = self._scoping.for_read(tx, user, cube, needed=Power.WRITE)
            known = tx.messages.known_in(scope.cubes[0].key, session, keys) if scope.cubes else {}
        return [(number, message) for number, message in filled if message.dedupe not in known]

    def _embed(self, filled: Sequence[tuple[int, Incoming]]) -> tuple[dict[int, _Piece], list[str]]:
        spans = [passages(message.text) for _, message in filled]
        texts = [
            message.text[start:end] for (_, message), cuts in zip(filled, spans, strict=True) for start, end in cuts
        ]
        notes: list[str] = []
        vectors: list[Vector | None]
        try:
            vectors = list(self._embedder.embed(texts)) if texts else []
        except EmbedderError as error:
            _log.warning("embedding_deferred", extra={"texts": len(texts), "reason": str(error)})
            vectors = [None] * len(texts)
            notes.append(f"stored without vectors, found by words only until a job embeds them: {error}")
        pieces: dict[int, _Piece] = {}
        place_of = 0
        for (number, message), cuts in zip(filled, spans, strict=True):
            pieces[number] = _Piece(number, message, cuts, vectors[place_of : place_of + len(cuts)])
            place_of += len(cuts)
        return pieces, notes


def _by_index(skipped: Skipped) -> int:
    return skipped.index


def _sort_out(
    tx: Transaction, cube: Cube, session: Session, filled: Sequence[tuple[int, Incoming]]
) -> tuple[list[str], list[Skipped], dict[int, str]]:
    """Return the ids of all messages, those that are duplicates, and the new ones' ids by their place in the call."""
    keys = [message.dedupe for _, message in filled if message.dedupe is not None]
    known = dict(tx.messages.known(session.cube_key, session.id, keys)) if keys else {}
    known |= _told_with_an_id(tx, session, [message for _, message in filled if message.dedupe not in known])
    _refuse_other_content(tx, cube, known, filled)
    ids: list[str] = []
    skipped: list[Skipped] = []
    fresh: dict[int, str] = {}
    contents: dict[str, Incoming] = {}
    for number, message in filled:
        if message.dedupe is not None and message.dedupe in known:
            ids.append(known[message.dedupe])
            skipped.append(Skipped(number, "stored already", known[message.dedupe]))
            _refuse_difference(contents.get(message.dedupe), message, number)
            continue
        ids.append(new_id())
        fresh[number] = ids[-1]
        if message.dedupe is not None:
            known[message.dedupe] = ids[-1]
            contents[message.dedupe] = message
    return ids, skipped, fresh


def _told_with_an_id(tx: Transaction, session: Session, messages: Sequence[Incoming]) -> dict[str, str]:
    """Return, by key, the ids of messages that are stored under an id of their caller's and come again without one."""
    unnamed = {message.dedupe: message for message in messages if message.dedupe and message.external_id is None}
    if not unnamed:
        return {}
    times = {message.said_at for message in unnamed.values()}
    named = tx.messages.named_at(session.cube_key, session.id, times)
    stored = {(each.said_at, each.speaker, each.role, each.text): each for each in named}
    found: dict[str, str] = {}
    for key, message in unnamed.items():
        same = stored.get((message.said_at, message.speaker, message.role, message.text))
        if same is not None and same.content == message.content:
            found[key] = same.id
    return found


def _refuse_other_content(
    tx: Transaction, cube: Cube, known: dict[str, str], filled: Sequence[tuple[int, Incoming]]
) -> None:
    """Raise `ConflictError` when a caller's id is taken by a message with other words: nothing is overwritten."""
    named = [(number, message) for number, message in filled if message.external_id and message.dedupe in known]
    held = tx.messages.get(cube.key, [known[message.dedupe] for _, message in named if message.dedupe]) if named else {}
    for number, message in named:
        stored = held.get(known[message.dedupe or ""])
        if stored is not None and stored.content != message.content:
            raise _conflict(number, message)


def _refuse_difference(first: Incoming | None, second: Incoming, number: int) -> None:
    if first is not None and first.content != second.content:
        raise _conflict(number, second)


def _conflict(number: int, message: Incoming) -> ConflictError:
    return ConflictError(
        f"messages[{number}].id: {message.external_id!r} is taken in this session by a message with other content; "
        "nothing of this call was stored. Give the message its own id.",
        field=f"messages[{number}].id",
    )


def _stored(
    message: Incoming, message_id: str, cube: Cube, session: Session, agent: str | None, now: datetime
) -> StoredMessage:
    return StoredMessage(
        id=message_id,
        cube_key=cube.key,
        session_id=session.id,
        session=session.name,
        page_id=None,
        position=0,
        role=message.role,
        speaker=message.speaker,
        content=message.content,
        text=message.text,
        said_at=message.said_at,
        stored_at=now,
        external_id=message.external_id,
        agent=agent,
        metadata=message.metadata,
    )


def _append(
    tx: Transaction,
    tail: SessionTail,
    messages: Sequence[StoredMessage],
    pieces: Sequence[_Piece],
    revision: int,
    now: datetime,
    gap: timedelta,
) -> str | None:
    if not messages:
        return None
    placed, pages = _place(tail, messages, gap)
    session = replace(
        tail.session,
        messages=tail.session.messages + len(placed),
        started_at=min(tail.session.started_at, *(message.said_at for message in placed)),
        ended_at=max(tail.session.ended_at, *(message.said_at for message in placed))
        if tail.session.messages
        else max(message.said_at for message in placed),
    )
    keys = [piece.message.dedupe or f"new:{message.id}" for piece, message in zip(pieces, placed, strict=True)]
    tx.messages.append(list(zip(placed, keys, strict=True)), pages, session)
    entries = [
        entry
        for message, piece in zip(placed, pieces, strict=True)
        for entry in message_entries(message, piece.spans, piece.vectors)
    ]
    cube_key = session.cube_key
    tx.index.add(cube_key, revision, entries)
    if any(entry.vector is None for entry in entries):
        enqueue(tx, cube_key, EMBED, now)
    return enqueue(tx, cube_key, ORGANIZE, now)


def _learn(
    tx: Transaction,
    base: Cube,
    cube: Cube,
    told: Sequence[StoredMessage],
    pieces: Mapping[str, _Piece],
    gap: timedelta,
) -> bool:
    """Store copies of messages in a knowledge base; tell whether there were any."""
    known = tx.messages.get(base.key, [message.id for message in told])
    told = [message for message in told if message.id not in known]
    if not told:
        return False
    latest = max(message.said_at for message in told)
    revision = tx.cubes.touch(base.key, said_at=latest)
    tail = tx.messages.tail(base.key, told[0].session, session_id=new_id(), at=latest)
    copies = [
        replace(
            message,
            cube_key=base.key,
            session_id=tail.session.id,
            page_id=None,
            position=0,
            content=message.text,
            external_id=None,
            metadata=pointer(cube, message.session, message.id),
        )
        for message in told
    ]
    own = [replace(pieces[message.id], message=_unnamed(pieces[message.id].message, message.id)) for message in told]
    _append(tx, tail, copies, own, revision, told[0].stored_at, gap)
    return True


def _unnamed(message: Incoming, id_: str) -> Incoming:
    """Return a message as a copy is known in its session: by the id of the one that was said."""
    return replace(message, external_id=None, dedupe=f"learned:{id_}")


def _place(
    tail: SessionTail, messages: Sequence[StoredMessage], gap: timedelta
) -> tuple[list[StoredMessage], list[Page]]:
    """Give each message its position and page; return them with the pages that are new or grew."""
    page = tail.page
    position = tail.session.messages
    pages: dict[str, Page] = {}
    placed: list[StoredMessage] = []
    next_page = page.position + 1 if page else 0
    if page is not None and page.segment_id is not None:
        page = None  # it has left short-term memory and is closed
    for message in messages:
        placement = place(_open_page(page), message.speaker, message.role, message.said_at, gap)
        if placement is None:
            placed.append(replace(message, position=position))
            position += 1
            continue
        if page is None or placement.opens:
            page = _new_page(message, next_page)
            next_page += 1
        page = replace(
            page,
            replied=placement.replied,
            messages=page.messages + 1,
            last_role=message.role,
            started_at=min(page.started_at, message.said_at),
            ended_at=max(page.ended_at, message.said_at),
        )
        pages[page.id] = page
        placed.append(replace(message, position=position, page_id=page.id))
        position += 1
    return placed, list(pages.values())


def _open_page(page: Page | None) -> OpenPage | None:
    if page is None:
        return None
    return OpenPage(page.id, page.opened_by, page.replied, page.messages, page.last_role, page.ended_at)


def _new_page(message: StoredMessage, position: int) -> Page:
    said_at = message.said_at
    return Page(
        new_id(), message.cube_key, message.session_id, position, message.speaker, replied=False,
        started_at=said_at, ended_at=said_at,
    )  # fmt: skip
