"""The search index in SQL: entries, their vectors and their terms.

Its views are brought up to date from the rows that changed since their revision, so that another process's write is
seen by the next search and a large cube is not read again for each new message. Vectors are stored as little-endian
16-bit floats: half the bytes, and the cosine differs by less than 0.001.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection, Integer, bindparam, delete, func, insert, literal_column, select, update

from mnemic.backends.sql import fulltext, rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.postgres_near import IS_READY, PostgresNear
from mnemic.backends.sql.prepared import Prepared
from mnemic.backends.sql.views import Held, ViewCache, follow, read_view
from mnemic.errors import NotFoundError
from mnemic.model.index import CubeView, Entry, Posting, Vector
from mnemic.text import index_terms, traits_of

_CHUNK: Final = 500  # ids in one statement
_NEW_ENTRY = Prepared(insert(s.entry).returning(s.entry.c.key))
_KEYED_ENTRY = Prepared(insert(s.entry))
_NEXT_KEYS = Prepared(
    select(func.nextval(func.pg_get_serial_sequence("entry", "key")).label("key")).select_from(
        func.generate_series(1, bindparam("count", type_=Integer))
    )
)
_NEW_VECTOR = Prepared(insert(s.vector))
_STATE = s.cube_state.c
_REVISION = Prepared(select(_STATE.revision, _STATE.erasures).where(_STATE.cube_key == bindparam("cube")))
_REVISION_BESIDE = Prepared(
    select(_STATE.revision, _STATE.erasures, literal_column(f"({IS_READY})").label("ready")).where(
        _STATE.cube_key == bindparam("cube")
    )
)
_NEWEST = Prepared(select(func.max(s.entry.c.key).label("key")).where(s.entry.c.cube_key == bindparam("cube")))
_CHANGED = Prepared(
    select(s.entry.c.changed, s.entry.c.key, s.entry.c.owner)
    .where(
        s.entry.c.cube_key == bindparam("cube"),
        s.entry.c.changed >= bindparam("revision"),  # by the index; the next condition is the true one
        (s.entry.c.changed > bindparam("revision")) | (s.entry.c.key > bindparam("behind")),
        s.entry.c.kind != "segment",
    )
    .order_by(s.entry.c.changed, s.entry.c.key)
    .limit(bindparam("most", type_=Integer))
)
_MOVING: Final = ("session_id", "position", "valid_to", "live", "changed")
_PLACED = (
    update(s.entry)
    .where(s.entry.c.cube_key == bindparam("cube"), s.entry.c.owner == bindparam("of"))
    .values({name: bindparam(f"new_{name}") for name in _MOVING})
)
_EMBEDDED = (s.vector.c.cube_key == s.entry.c.cube_key) & (s.vector.c.entry_key == s.entry.c.key)


@dataclass(frozen=True, slots=True)
class _Moment:
    """What a transaction sees of a cube; `light` when the engine compares its vectors."""

    revision: int
    erasures: int
    light: bool

    def shows(self, held: Held) -> bool:
        """Tell whether a view is of this moment."""
        same = (held.view.revision, held.erasures) == (self.revision, self.erasures)
        return same and (not len(held.view) or held.view.apart == self.light)


class SqlIndex:
    """Implements `ports.store.Index`."""

    def __init__(
        self, connection: Connection, cache: ViewCache, near: PostgresNear | None = None, *, writing: bool = False
    ) -> None:
        """`near` is the engine's own index of vectors, where there is one."""
        self._connection = connection
        self._cache = cache
        self._near = near
        self._writing = writing

    def add(self, cube_key: int, revision: int, entries: Sequence[Entry]) -> None:
        """Index entries: text and vector, in this transaction."""
        documents, vectors = [], []
        read = [index_terms(entry.text) for entry in entries]
        rows_of = [
            _entry_values(cube_key, revision, entry, length) for entry, (_, length) in zip(entries, read, strict=True)
        ]
        for entry, (stems, _), key in zip(entries, read, self._stored(rows_of), strict=True):
            documents.append(fulltext.document(cube_key, key, stems))
            if entry.vector is not None:
                vectors.append(vector_values(cube_key, key, self._cache.model, entry.vector))
        fulltext.insert(self._connection, documents)
        self._put_vectors(cube_key, vectors)

    def _stored(self, entries: Sequence[dict[str, object]]) -> Sequence[int]:
        """Store entries; return their keys. PostgreSQL gives the keys of several at once, and takes them together."""
        if len(entries) < 2 or self._connection.dialect.name != "postgresql":
            return [_NEW_ENTRY.scalar(self._connection, values) for values in entries]
        keys = [row.key for row in _NEXT_KEYS.rows(self._connection, {"count": len(entries)})]
        _KEYED_ENTRY.run_each(self._connection, [{**each, "key": key} for each, key in zip(entries, keys, strict=True)])
        return keys

    def _put_vectors(self, cube_key: int, vectors: Sequence[Mapping[str, Any]]) -> None:
        _NEW_VECTOR.run_each(self._connection, vectors)
        if self._near is not None:
            self._near.add(self._connection, cube_key, [(each["entry_key"], each["data"]) for each in vectors])

    def sync(self, cube_key: int, revision: int, owner: str, entries: Sequence[Entry]) -> None:
        """Make these the owner's entries: known versions get their new validity, new ones are added, others go.

        A version's text never changes under its id, so that nothing known is embedded or indexed again.
        """
        mine = select(s.entry.c.version_id, s.entry.c.key).where(
            s.entry.c.cube_key == cube_key, s.entry.c.owner == owner
        )
        known: dict[str | None, int] = {row.version_id: row.key for row in self._connection.execute(mine)}
        wanted = {entry.version_id for entry in entries}
        self._remove_keys(cube_key, [key for version_id, key in known.items() if version_id not in wanted])
        for entry in entries:
            if entry.version_id in known:
                values = {"said_at": entry.said_at, "valid_to": entry.valid_to, "live": entry.live, "changed": revision}
                this = (s.entry.c.cube_key == cube_key, s.entry.c.key == known[entry.version_id])
                self._connection.execute(update(s.entry).where(*this).values(values))
        self.add(cube_key, revision, [entry for entry in entries if entry.version_id not in known])

    def place(self, cube_key: int, revision: int, entries: Sequence[Entry]) -> None:
        """Give the entries of these owners another session, position and end of validity; the rest of them stays."""
        placed = [
            {
                "cube": cube_key,
                "of": entry.owner,
                "new_session_id": entry.session_id,
                "new_position": entry.position,
                "new_valid_to": entry.valid_to,
                "new_live": entry.live,
                "new_changed": revision,
            }
            for entry in entries
        ]
        if placed:
            self._connection.execute(_PLACED, placed)

    def indexed(self, cube_key: int, owners: Sequence[str]) -> set[str]:
        """Return those of these owners that have entries."""
        found: set[str] = set()
        for some in rows.parts(owners):
            query = select(s.entry.c.owner).where(s.entry.c.cube_key == cube_key, s.entry.c.owner.in_(some))
            found.update(self._connection.scalars(query))
        return found

    def versions(self, cube_key: int, owners: Sequence[str]) -> set[str]:
        """Return the ids of the versions of these memories that are indexed."""
        query = select(s.entry.c.version_id).where(s.entry.c.cube_key == cube_key, s.entry.c.owner.in_(list(owners)))
        return {str(version_id) for version_id in self._connection.scalars(query)}

    def newest(self, cube_key: int) -> tuple[int, int]:
        """Return a cube's revision, and the key of its newest entry (0: none)."""
        key = _NEWEST.scalar(self._connection, {"cube": cube_key})
        return self._moment(cube_key).revision, key or 0

    def changed(self, cube_key: int, since: tuple[int, int], limit: int) -> Sequence[tuple[int, int, str]]:
        """Return entries of messages and memories as (revision, key, owner), from behind (revision, key) on."""
        behind = {"cube": cube_key, "revision": since[0], "behind": since[1], "most": limit}
        return [(row.changed, row.key, row.owner) for row in _CHANGED.rows(self._connection, behind)]

    def without_vector(self, cube_key: int, limit: int) -> Sequence[tuple[int, Entry]]:
        """Return entries (key and entry, without text) of a cube that have no vector of this store's model."""
        query = (
            select(s.entry)
            .outerjoin(s.vector, _EMBEDDED & (s.vector.c.model == self._cache.model))
            .where(s.entry.c.cube_key == cube_key, s.vector.c.entry_key.is_(None))
            .order_by(s.entry.c.key)
            .limit(limit)
        )
        return [(row.key, rows.entry(row)) for row in self._connection.execute(query)]

    def count_without_vector(self, cube_key: int) -> int:
        """Return how many entries of a cube have no vector of this store's model."""
        query = (
            select(func.count())
            .select_from(s.entry)
            .outerjoin(s.vector, _EMBEDDED & (s.vector.c.model == self._cache.model))
            .where(s.entry.c.cube_key == cube_key, s.vector.c.entry_key.is_(None))
        )
        return self._connection.scalar(query) or 0

    def set_vectors(self, cube_key: int, revision: int, vectors: Sequence[tuple[int, Vector]]) -> None:
        """Store the vectors of entries, in the place of those of another model."""
        keys = [key for key, _ in vectors]
        present = (s.entry.c.cube_key == cube_key, s.entry.c.key.in_(keys))
        alive = set(self._connection.scalars(select(s.entry.c.key).where(*present)))
        old = (s.vector.c.cube_key == cube_key, s.vector.c.entry_key.in_(alive))
        self._connection.execute(delete(s.vector).where(*old))
        values = [vector_values(cube_key, key, self._cache.model, vector) for key, vector in vectors if key in alive]
        if values:
            self._put_vectors(cube_key, values)
            self._connection.execute(update(s.entry).where(*present).values(changed=revision))

    def remove(self, cube_key: int, owners: Sequence[str]) -> int:
        """Take all entries of these owners out of the index; return how many there were."""
        keys: list[int] = []
        for start in range(0, len(owners), 500):
            chosen = s.entry.c.owner.in_(list(owners[start : start + 500]))
            query = select(s.entry.c.key).where(s.entry.c.cube_key == cube_key, chosen)
            keys.extend(self._connection.scalars(query))
        return self._remove_keys(cube_key, keys)

    def _remove_keys(self, cube_key: int, keys: Sequence[int]) -> int:
        if not keys:
            return 0
        fulltext.delete(self._connection, cube_key, keys)
        for start in range(0, len(keys), 500):
            gone = (s.entry.c.cube_key == cube_key, s.entry.c.key.in_(list(keys[start : start + 500])))
            self._connection.execute(delete(s.entry).where(*gone))
        counted = update(s.cube_state).where(_STATE.cube_key == cube_key).values(erasures=_STATE.erasures + 1)
        self._connection.execute(counted)
        return len(keys)

    def view(self, cube_key: int) -> CubeView:
        """Return the cube's entries as of this transaction, from the cache when it is current."""
        current = self._moment(cube_key)
        held = self._cache.find(cube_key)
        if held is not None and current.shows(held):
            return held.view
        if self._writing:  # what is not committed is for this transaction only
            return self._made(cube_key, held, current, aside=True).view
        with self._cache.making(cube_key):
            held = self._made(cube_key, self._cache.find(cube_key), current)
            self._cache.put(held)
        return held.view

    def _moment(self, cube_key: int) -> _Moment:
        beside = self._near is not None and self._near.compares
        found = (_REVISION_BESIDE if beside else _REVISION).first(self._connection, {"cube": cube_key})
        if found is None:
            raise NotFoundError("this cube was deleted by another call")
        return _Moment(found.revision, found.erasures, light=beside and bool(found.ready))

    def _made(self, cube_key: int, held: Held | None, current: _Moment, *, aside: bool = False) -> Held:
        older = held is not None and held.view.revision > current.revision  # this transaction sees an older moment
        if held is None or older or (len(held.view) and held.view.apart != current.light):
            args = (cube_key, current.revision, current.erasures)
            return read_view(self._connection, self._cache, *args, light=current.light)
        if current.shows(held):
            return held
        return follow(self._connection, self._cache, held, current.revision, current.erasures, apart=aside)

    def postings(self, cube_key: int, stems: Sequence[str]) -> Sequence[Posting]:
        """Return, for each stem, the entries that hold it."""
        return fulltext.postings(self._connection, cube_key, stems)

    def frequencies(self, cube_key: int, stems: Sequence[str]) -> tuple[Mapping[str, int], int]:
        """Return in how many entries of the cube each stem stands, and how many entries there are."""
        held = fulltext.frequencies(self._connection, cube_key, stems)
        total = self._connection.scalar(select(func.count()).where(s.entry.c.cube_key == cube_key))
        return held, total or 0

    def vectors(self, cube_key: int, owners: Sequence[str]) -> Mapping[str, Vector]:
        """Return the mean vector of each owner's entries, of those that have one."""
        query = (
            select(s.entry.c.owner, s.vector.c.data)
            .join(s.vector, _EMBEDDED)
            .where(s.entry.c.cube_key == cube_key, s.vector.c.model == self._cache.model)
            .where(s.entry.c.owner.in_(bindparam("owners", expanding=True)))
            .order_by(s.entry.c.key)
        )
        found: dict[str, list[Vector]] = {}
        for start in range(0, len(owners), _CHUNK):
            for owner, data in self._connection.execute(query, {"owners": list(owners[start : start + _CHUNK])}):
                found.setdefault(owner, []).append(np.frombuffer(data, dtype="<f2").astype(np.float32))
        return {owner: np.mean(np.stack(parts), axis=0) for owner, parts in found.items()}

    @property
    def no_vector(self) -> Vector:
        """A vector of zeros, of this store's width."""
        return np.zeros(self._cache.width, dtype=np.float32)


def vector_values(cube_key: int, key: int, model: str, vector: Vector) -> dict[str, Any]:
    """Return a vector's row."""
    data = vector.astype("<f2").tobytes()
    return {"cube_key": cube_key, "entry_key": key, "model": model, "width": len(vector), "data": data}


def _entry_values(cube_key: int, revision: int, entry: Entry, length: int) -> dict[str, object]:
    return {
        "cube_key": cube_key,
        "kind": entry.kind,
        "owner": entry.owner,
        "version_id": entry.version_id,
        "session_id": entry.session_id,
        "position": entry.position,
        "start": entry.start,
        "end": entry.end,
        "speaker": entry.speaker,
        "said_at": entry.said_at,
        "valid_to": entry.valid_to,
        "length": length,
        "traits": entry.traits | traits_of(entry.text),
        "live": entry.live,
        "changed": revision,
    }
