"""The search index in SQL: entries, their vectors and their terms, and the cache of views over them.

A view is brought up to date from the rows that changed since its revision, so that another process's write is seen
by the next search and a large cube is not read again for each new message. Vectors are stored as little-endian
16-bit floats: half the bytes, and the cosine differs by less than 0.001.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from mnemic.backends.sql import fulltext
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.errors import NotFoundError
from mnemic.model.index import CubeView, Entry, Posting, Vector
from mnemic.text import terms

_NEVER: Final = np.iinfo(np.int64).max
_CHUNK: Final = 500  # ids in one statement
_BYTES_PER_ENTRY: Final = 400  # of a view besides its vector: arrays, owner ids
_NO_LINKS: Final[NDArray[np.int32]] = np.empty(0, dtype=np.int32)
_NO_KEYS: Final[NDArray[np.int64]] = np.empty(0, dtype=np.int64)
_NO_NORMS: Final[NDArray[np.float32]] = np.empty(0, dtype=np.float32)
_NEW_ENTRY = Prepared(insert(s.entry).returning(s.entry.c.key))
_NEW_VECTOR = Prepared(insert(s.vector))
_REVISION = Prepared(select(s.cube.c.revision, s.cube.c.erasures).where(s.cube.c.key == bindparam("cube_key")))
_CHANGED = Prepared(
    select(s.entry, s.vector.c.data, s.vector.c.model)
    .outerjoin(s.vector, s.vector.c.entry_key == s.entry.c.key)
    .where(s.entry.c.cube_key == bindparam("cube_key"), s.entry.c.changed > bindparam("revision"))
    .order_by(s.entry.c.key)
)
_KEYS = select(s.entry.c.key).where(s.entry.c.cube_key == bindparam("cube_key")).order_by(s.entry.c.key)


class ViewCache:
    """Views of the cubes searched last, within a budget of bytes; the newest is kept whatever its size."""

    def __init__(self, budget: int, model: str, width: int) -> None:
        self._budget = budget
        self.model = model
        self.width = width
        self._views: OrderedDict[int, tuple[CubeView, int]] = OrderedDict()  # with the erasures it knows of
        self._lock = threading.Lock()

    def find(self, cube_key: int) -> tuple[CubeView, int] | None:
        """Return the cached view and the count of erasures that it knows of."""
        with self._lock:
            if cube_key in self._views:
                self._views.move_to_end(cube_key)
            return self._views.get(cube_key)

    def put(self, view: CubeView, erasures: int) -> None:
        """Keep a view, unless a newer one is there; the ones used longest ago make room."""
        with self._lock:
            held = self._views.get(view.cube_key)
            if held is not None and held[0].revision > view.revision:
                return
            self._views[view.cube_key] = (view, erasures)
            self._views.move_to_end(view.cube_key)
            while len(self._views) > 1 and sum(_size(kept) for kept, _ in self._views.values()) > self._budget:
                self._views.popitem(last=False)

    def drop(self, cube_key: int) -> None:
        """Forget a cube's view."""
        with self._lock:
            self._views.pop(cube_key, None)

    @property
    def nbytes(self) -> int:
        """How many bytes the views hold, about."""
        with self._lock:
            return sum(_size(view) for view, _ in self._views.values())


def _size(view: CubeView) -> int:
    return view.vectors.nbytes + len(view) * _BYTES_PER_ENTRY


class SqlIndex:
    """Implements `ports.store.Index`."""

    def __init__(self, connection: Connection, cache: ViewCache, *, writing: bool = False) -> None:
        self._connection = connection
        self._cache = cache
        self._writing = writing

    def add(self, cube_key: int, revision: int, entries: Sequence[Entry]) -> None:
        """Index entries: text and vector, in this transaction."""
        documents, vectors = [], []
        for entry in entries:
            stems = terms(entry.text)
            values = _entry_values(cube_key, revision, entry, len(stems))
            key = _NEW_ENTRY.scalar(self._connection, values)
            documents.append(fulltext.document(cube_key, key, stems))
            if entry.vector is not None:
                vectors.append(vector_values(key, self._cache.model, entry.vector))
        fulltext.insert(self._connection, documents)
        _NEW_VECTOR.run_each(self._connection, vectors)

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
                changed = update(s.entry).where(s.entry.c.key == known[entry.version_id]).values(values)
                self._connection.execute(changed)
        self.add(cube_key, revision, [entry for entry in entries if entry.version_id not in known])

    def versions(self, cube_key: int, owners: Sequence[str]) -> set[str]:
        """Return the ids of the versions of these memories that are indexed."""
        query = select(s.entry.c.version_id).where(s.entry.c.cube_key == cube_key, s.entry.c.owner.in_(list(owners)))
        return {str(version_id) for version_id in self._connection.scalars(query)}

    def without_vector(self, cube_key: int, limit: int) -> Sequence[tuple[int, Entry]]:
        """Return entries (key and entry, without text) of a cube that have no vector of this store's model."""
        query = (
            select(s.entry)
            .outerjoin(s.vector, (s.vector.c.entry_key == s.entry.c.key) & (s.vector.c.model == self._cache.model))
            .where(s.entry.c.cube_key == cube_key, s.vector.c.entry_key.is_(None))
            .order_by(s.entry.c.key)
            .limit(limit)
        )
        return [(row.key, _entry(row)) for row in self._connection.execute(query)]

    def count_without_vector(self, cube_key: int) -> int:
        """Return how many entries of a cube have no vector of this store's model."""
        query = (
            select(func.count())
            .select_from(s.entry)
            .outerjoin(s.vector, (s.vector.c.entry_key == s.entry.c.key) & (s.vector.c.model == self._cache.model))
            .where(s.entry.c.cube_key == cube_key, s.vector.c.entry_key.is_(None))
        )
        return self._connection.scalar(query) or 0

    def set_vectors(self, cube_key: int, revision: int, vectors: Sequence[tuple[int, Vector]]) -> None:
        """Store the vectors of entries, in the place of those of another model."""
        keys = [key for key, _ in vectors]
        present = select(s.entry.c.key).where(s.entry.c.cube_key == cube_key, s.entry.c.key.in_(keys))
        alive = set(self._connection.scalars(present))
        self._connection.execute(delete(s.vector).where(s.vector.c.entry_key.in_(alive)))
        rows = [vector_values(key, self._cache.model, vector) for key, vector in vectors if key in alive]
        if rows:
            _NEW_VECTOR.run_each(self._connection, rows)
            self._connection.execute(update(s.entry).where(s.entry.c.key.in_(alive)).values(changed=revision))

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
        fulltext.delete(self._connection, keys)
        for start in range(0, len(keys), 500):
            self._connection.execute(delete(s.entry).where(s.entry.c.key.in_(list(keys[start : start + 500]))))
        counted = update(s.cube).where(s.cube.c.key == cube_key).values(erasures=s.cube.c.erasures + 1)
        self._connection.execute(counted)
        return len(keys)

    def view(self, cube_key: int) -> CubeView:
        """Return the cube's entries as of this transaction, from the cache when it is current."""
        current = _REVISION.first(self._connection, {"cube_key": cube_key})
        if current is None:
            raise NotFoundError("this cube was deleted by another call")
        held = self._cache.find(cube_key)
        if held is not None and (held[0].revision, held[1]) == (current.revision, current.erasures):
            return held[0]
        if held is not None and held[0].revision > current.revision:
            return self._build(cube_key, current.revision, None)  # an older snapshot than the cache's: read it apart
        base = held[0] if held is not None else None
        if base is not None and held is not None and held[1] != current.erasures:
            base = self._without_erased(base)
        view = self._build(cube_key, current.revision, base)
        if not self._writing:  # what is not committed is for this transaction only
            self._cache.put(view, current.erasures)
        return view

    def _without_erased(self, base: CubeView) -> CubeView:
        alive = np.fromiter(self._connection.scalars(_KEYS, {"cube_key": base.cube_key}), dtype=np.int64)
        return _linked(_compacted(_select(base, np.isin(base.keys, alive, assume_unique=True))))

    def _build(self, cube_key: int, revision: int, base: CubeView | None) -> CubeView:
        since = base.revision if base is not None else -1
        count, changed = _CHANGED.columns(self._connection, {"cube_key": cube_key, "revision": since})
        fresh = _from_columns(cube_key, revision, count, changed, self._cache.model, self._cache.width)
        if base is None:
            return _linked(fresh)
        if not count:
            return replace(base, revision=revision)
        return _linked(_merge(_select(base, ~np.isin(base.keys, fresh.keys)), fresh), base, fresh.keys)

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
            .join(s.vector, s.vector.c.entry_key == s.entry.c.key)
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


def vector_values(key: int, model: str, vector: Vector) -> dict[str, object]:
    """Return a vector's row."""
    data = vector.astype("<f2").tobytes()
    return {"entry_key": key, "model": model, "width": len(vector), "data": data}


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
        "live": entry.live,
        "changed": revision,
    }


def _entry(row: Row[Any]) -> Entry:
    return Entry(
        kind=row.kind, owner=row.owner, text="", speaker=row.speaker, said_at=row.said_at, vector=None,
        version_id=row.version_id, session_id=row.session_id, position=row.position, start=row.start, end=row.end,
        valid_to=row.valid_to, live=row.live,
    )  # fmt: skip


def _from_columns(
    cube_key: int, revision: int, count: int, given: Mapping[str, Sequence[Any]], model: str, width: int
) -> CubeView:
    held = np.fromiter((name == model for name in given["model"]), dtype=np.bool_, count=count)
    halves = b"".join(compress(given["data"], held))
    vectors = np.zeros((count, width), dtype=np.float32)
    vectors[held] = np.frombuffer(halves, dtype="<f2").reshape(-1, width)
    kinds, kind_names = _numbered(given["kind"])
    speakers, speaker_names = _numbered(given["speaker"])
    sessions, session_ids = _numbered(given["session_id"])
    return CubeView(
        cube_key=cube_key,
        revision=revision,
        keys=np.array(given["key"], dtype=np.int64),
        kinds=kinds.astype(np.int16),
        owners=list(given["owner"]),
        versions=list(given["version_id"]),
        sessions=sessions,
        positions=np.array(given["position"], dtype=np.int32),
        speakers=speakers,
        said_at=np.array(given["said_at"], dtype=np.int64),
        valid_to=np.array([_NEVER if moment is None else moment for moment in given["valid_to"]], dtype=np.int64),
        lengths=np.array(given["length"], dtype=np.int32),
        starts=np.array(given["start"], dtype=np.int32),
        ends=np.array(given["end"], dtype=np.int32),
        live=np.array(given["live"], dtype=np.bool_),
        previous=_NO_LINKS,
        following=_NO_LINKS,
        pair_norms=_NO_NORMS,
        vectors=vectors,
        kind_names=kind_names,
        speaker_names=speaker_names,
        session_ids=session_ids,
    )


def _numbered(names: Sequence[str | None]) -> tuple[NDArray[np.int32], list[str]]:
    """Return each name's place in the list of different names, -1 for none, and that list."""
    different = [name for name in dict.fromkeys(names) if name is not None]
    places: dict[str | None, int] = {name: place for place, name in enumerate(different)}
    return np.array([places.get(name, -1) for name in names], dtype=np.int32), different


def _linked(view: CubeView, known: CubeView | None = None, fresh: NDArray[np.int64] = _NO_KEYS) -> CubeView:
    """Find each passage's neighbours in its session.

    `known` is an older view, and `fresh` the keys of what is not as it was there: pairs of all others have their norm.
    """
    order = np.lexsort((view.starts, view.positions, view.sessions))
    order = order[view.sessions[order] >= 0]
    together = view.sessions[order][1:] == view.sessions[order][:-1]
    previous = np.full(len(view), -1, dtype=np.int32)
    following = np.full(len(view), -1, dtype=np.int32)
    previous[order[1:][together]] = order[:-1][together]
    following[order[:-1][together]] = order[1:][together]
    norms = np.ones(len(view), dtype=np.float32)
    new = previous >= 0
    if known is not None and len(known):
        before = np.append(view.keys, -1)[previous]
        places = np.minimum(np.searchsorted(known.keys, view.keys), len(known) - 1)
        same = (known.keys[places] == view.keys) & (np.append(known.keys, -1)[known.previous[places]] == before)
        same &= ~np.isin(view.keys, fresh) & ~np.isin(before, fresh)
        norms[same] = known.pair_norms[places[same]]
        new &= ~same
    pairs = np.flatnonzero(new)
    # |a + b|^2 = |a|^2 + |b|^2 + 2ab, which is 2 + 2ab for unit vectors
    products = np.einsum("ij,ij->i", view.vectors[pairs], view.vectors[previous[pairs]])
    norms[pairs] = np.sqrt(np.maximum(2 + 2 * products, 1e-3))
    return replace(view, previous=previous, following=following, pair_norms=norms)


def _select(view: CubeView, kept: NDArray[np.bool_]) -> CubeView:
    if bool(kept.all()):
        return view
    places = np.flatnonzero(kept)
    return replace(
        view,
        keys=view.keys[places],
        kinds=view.kinds[places],
        owners=[view.owners[int(place)] for place in places],
        versions=[view.versions[int(place)] for place in places],
        sessions=view.sessions[places],
        positions=view.positions[places],
        speakers=view.speakers[places],
        said_at=view.said_at[places],
        valid_to=view.valid_to[places],
        lengths=view.lengths[places],
        starts=view.starts[places],
        ends=view.ends[places],
        live=view.live[places],
        vectors=view.vectors[places],
    )


def _merge(old: CubeView, new: CubeView) -> CubeView:
    """Put the rows of both views together, ordered by key; names of the new one are mapped to the old one's."""
    kinds, kind_names = _renumber(new.kinds, old.kind_names, new.kind_names)
    speakers, speaker_names = _renumber(new.speakers, old.speaker_names, new.speaker_names)
    sessions, session_ids = _renumber(new.sessions, old.session_ids, new.session_ids)
    view = replace(
        new,
        keys=np.concatenate([old.keys, new.keys]),
        kinds=np.concatenate([old.kinds, kinds]),
        owners=[*old.owners, *new.owners],
        versions=[*old.versions, *new.versions],
        sessions=np.concatenate([old.sessions, sessions]),
        positions=np.concatenate([old.positions, new.positions]),
        speakers=np.concatenate([old.speakers, speakers]),
        said_at=np.concatenate([old.said_at, new.said_at]),
        valid_to=np.concatenate([old.valid_to, new.valid_to]),
        lengths=np.concatenate([old.lengths, new.lengths]),
        starts=np.concatenate([old.starts, new.starts]),
        ends=np.concatenate([old.ends, new.ends]),
        live=np.concatenate([old.live, new.live]),
        vectors=np.concatenate([old.vectors, new.vectors]),
        kind_names=kind_names,
        speaker_names=speaker_names,
        session_ids=session_ids,
    )
    if len(old) and len(new) and new.keys[0] < old.keys[-1]:
        return _reorder(view, np.argsort(view.keys, kind="stable"))
    return view


_Number = TypeVar("_Number", np.int16, np.int32)


def _renumber(
    numbers: NDArray[_Number], old: Sequence[str], new: Sequence[str]
) -> tuple[NDArray[_Number], Sequence[str]]:
    places: dict[str, int] = {name: place for place, name in enumerate(old)}
    mapped: list[int] = [places.setdefault(name, len(places)) for name in new]
    table = np.array([*mapped, -1], dtype=numbers.dtype)  # the last place serves -1: none
    return table[numbers], list(places)


def _compacted(view: CubeView) -> CubeView:
    """Leave out the names that no entry has any more: a forgotten speaker must not be looked for."""
    kinds, kind_names = _used(view.kinds, view.kind_names)
    speakers, speaker_names = _used(view.speakers, view.speaker_names)
    sessions, session_ids = _used(view.sessions, view.session_ids)
    return replace(
        view,
        kinds=kinds,
        speakers=speakers,
        sessions=sessions,
        kind_names=kind_names,
        speaker_names=speaker_names,
        session_ids=session_ids,
    )


def _used(numbers: NDArray[_Number], names: Sequence[str]) -> tuple[NDArray[_Number], Sequence[str]]:
    used = np.unique(numbers[numbers >= 0])
    table = np.full(len(names) + 1, -1, dtype=numbers.dtype)  # the last place serves -1: none
    table[used] = np.arange(len(used), dtype=numbers.dtype)
    return table[numbers], [names[int(number)] for number in used]


def _reorder(view: CubeView, order: NDArray[np.int64]) -> CubeView:
    moved = {
        name: getattr(view, name)[order]
        for name in (
            "keys",
            "kinds",
            "sessions",
            "positions",
            "speakers",
            "said_at",
            "valid_to",
            "lengths",
            "starts",
            "ends",
            "live",
            "vectors",
        )
    }
    return replace(
        view,
        owners=[view.owners[int(place)] for place in order],
        versions=[view.versions[int(place)] for place in order],
        **moved,
    )
