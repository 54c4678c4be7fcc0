"""Views of cubes: read once, then kept current from the rows that changed.

A view's arrays are the filled part of longer ones. What a cube gains is written behind what older views show, so that
an add does not copy the matrix; what changes is copied, the one column that holds it. A view that was given out never
changes. Keys only grow, so that what is new comes last.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, case, func, select

from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.model.index import CODED, STRANGERS, CubeView, Ids, codes_of, widened

Array = NDArray[Any]

_CHUNK: Final = 512  # rows that are read at once
_LOCKS: Final = 64
_NEVER: Final = np.iinfo(np.int64).max
_NUMBERS: Final[Mapping[str, type[np.generic]]] = {
    "keys": np.int64,
    "positions": np.int32,
    "said_at": np.int64,
    "valid_to": np.int64,
    "lengths": np.int32,
    "starts": np.int32,
    "ends": np.int32,
    "traits": np.int16,
    "live": np.bool_,
}
"""Columns that are held as they are read."""

_TABLES: Final[Mapping[str, type[np.generic]]] = {"kinds": np.int16, "speakers": np.int32, "sessions": np.int32}
"""Columns that hold places in a table of names."""

_NAMES: Final = {"kinds": "kind_names", "speakers": "speaker_names", "sessions": "session_ids"}
_IDS: Final = ("owners", "versions")
_CODE: Final = "code{}"
_NO_PLACES: Final[Array] = np.empty(0, dtype=np.int32)
_EMPTY: Final[Array] = np.empty(0, dtype=np.int64)

_COLUMNS: Final = (
    s.entry.c.key.label("keys"),
    s.entry.c.kind.label("kinds"),
    s.entry.c.owner.label("owners"),
    func.coalesce(s.entry.c.version_id, "").label("versions"),
    func.coalesce(s.entry.c.session_id, "").label("sessions"),
    s.entry.c.position.label("positions"),
    s.entry.c.start.label("starts"),
    s.entry.c.end.label("ends"),
    s.entry.c.speaker.label("speakers"),
    s.entry.c.said_at.label("said_at"),
    func.coalesce(s.entry.c.valid_to, _NEVER).label("valid_to"),
    s.entry.c.length.label("lengths"),
    s.entry.c.traits.label("traits"),
    s.entry.c.live.label("live"),
)
_MINE: Final = s.entry.c.cube_key == bindparam("cube_key")
_LIGHT: Final = select(*_COLUMNS).where(_MINE)  # in no order: sorting these rows would cost more than reading them
_ROWS: Final = (
    select(*_COLUMNS, case((s.vector.c.model == bindparam("model"), s.vector.c.data)).label("vectors"))
    .outerjoin(s.vector, (s.vector.c.cube_key == s.entry.c.cube_key) & (s.vector.c.entry_key == s.entry.c.key))
    .where(_MINE)
)
_SINCE: Final = s.entry.c.changed > bindparam("revision")
_ALL: Final = Prepared(_ROWS)
_CHANGED: Final = Prepared(_ROWS.where(_SINCE))
_ALL_LIGHT: Final = Prepared(_LIGHT)
_CHANGED_LIGHT: Final = Prepared(_LIGHT.where(_SINCE))
_COUNT: Final = Prepared(select(func.count().label("entries")).where(s.entry.c.cube_key == bindparam("cube_key")))
_KEYS: Final = Prepared(select(s.entry.c.key.label("keys")).where(s.entry.c.cube_key == bindparam("cube_key")))


@dataclass(frozen=True, slots=True)
class Held:
    """A view, with what makes the next one: arrays with room at the end, and the tables of names as numbers.

    `erasures` is the count of erasures that it knows of.
    """

    view: CubeView
    erasures: int
    arrays: Mapping[str, Array]
    tables: Mapping[str, Mapping[str, int]]
    nbytes: int = field(init=False)

    def __post_init__(self) -> None:
        links = (self.view.previous, self.view.following, self.view.pair_norms)
        object.__setattr__(self, "nbytes", sum(array.nbytes for array in (*self.arrays.values(), *links)))


class ViewCache:
    """Views of the cubes searched last, within a budget of bytes; the newest is kept whatever its size."""

    def __init__(self, budget: int, model: str, width: int) -> None:
        self._budget = budget
        self.model = model
        self.width = width
        self.nbytes = 0
        self._views: OrderedDict[int, Held] = OrderedDict()
        self._lock = threading.Lock()
        self._making = [threading.Lock() for _ in range(_LOCKS)]

    def __len__(self) -> int:
        return len(self._views)

    def making(self, cube_key: int) -> threading.Lock:
        """Return the lock to hold while a cube's view is made: nobody reads what another thread is reading."""
        return self._making[cube_key % _LOCKS]

    def find(self, cube_key: int) -> Held | None:
        """Return the cached view."""
        with self._lock:
            if cube_key in self._views:
                self._views.move_to_end(cube_key)
            return self._views.get(cube_key)

    def put(self, held: Held) -> None:
        """Keep a view, unless a newer one is there; the ones used longest ago make room."""
        cube_key = held.view.cube_key
        with self._lock:
            known = self._views.get(cube_key)
            if known is not None and known.view.revision > held.view.revision:
                return
            self._take_out(cube_key)
            self._views[cube_key] = held
            self.nbytes += held.nbytes
            while len(self._views) > 1 and self.nbytes > self._budget:
                self._take_out(next(iter(self._views)))

    def drop(self, cube_key: int) -> None:
        """Forget a cube's view."""
        with self._lock:
            self._take_out(cube_key)

    def _take_out(self, cube_key: int) -> None:
        known = self._views.pop(cube_key, None)
        if known is not None:
            self.nbytes -= known.nbytes


def read_view(
    connection: Connection, cache: ViewCache, cube_key: int, revision: int, erasures: int, *, light: bool = False
) -> Held:
    """Read all entries of a cube; without their vectors for a `light` view."""
    count = _COUNT.scalar(connection, {"cube_key": cube_key})
    growing = Growing(cache.width, _nothing(cache.width, light=light), {name: {} for name in _TABLES})
    growing.reserve(count)
    mine = {"cube_key": cube_key} if light else {"cube_key": cube_key, "model": cache.model}
    for _, columns in (_ALL_LIGHT if light else _ALL).columns(connection, mine, rows=_CHUNK):
        growing.take(columns)
    return growing.finished(cube_key, revision, erasures)


def follow(
    connection: Connection, cache: ViewCache, base: Held, revision: int, erasures: int, *, apart: bool = False
) -> Held:
    """Bring a view up to date. `apart` keeps off the room behind it, which is there for what is committed."""
    cube_key = base.view.cube_key
    growing = Growing.after(base, cache.width, apart=apart)
    if base.erasures != erasures:
        read = _KEYS.columns(connection, {"cube_key": cube_key}, rows=_CHUNK)
        growing.keep(np.concatenate([_EMPTY, *(np.array(columns["keys"]) for _, columns in read)]))
    light = base.view.apart
    mine = {"cube_key": cube_key} if light else {"cube_key": cube_key, "model": cache.model}
    since = {**mine, "revision": base.view.revision}
    for _, columns in (_CHANGED_LIGHT if light else _CHANGED).columns(connection, since, rows=_CHUNK):
        growing.take(columns)
    return growing.finished(cube_key, revision, erasures)


class Growing:
    """A view in the making. It writes only behind what the views before it show, and into arrays of its own."""

    def __init__(self, width: int, arrays: Mapping[str, Array], tables: Mapping[str, Mapping[str, int]]) -> None:
        self._width = width
        self._arrays = dict(arrays)
        self._tables = dict(tables)
        self._known = self._size = 0  # rows of the view before, and those by now
        self._links: tuple[Array, Array, Array] = (_NO_PLACES, _NO_PLACES, np.empty(0, dtype=np.float32))
        self._changed: list[Array] = []  # places of known rows
        self._all_linked = False  # whether all links are to be found again, not only those of what has changed

    @classmethod
    def after(cls, base: Held, width: int, *, apart: bool) -> Growing:
        """Go on from a view."""
        view = base.view
        arrays = {name: array[: len(view)] for name, array in base.arrays.items()} if apart else base.arrays
        growing = cls(width, arrays, base.tables)
        growing._known = growing._size = len(view)
        growing._links = (view.previous, view.following, view.pair_norms)
        return growing

    def reserve(self, size: int) -> None:
        """Make room for so many rows."""
        if size > len(self._arrays["keys"]):
            self._arrays = {name: _longer(array, self._size, size) for name, array in self._arrays.items()}

    def keep(self, alive: NDArray[np.int64]) -> None:
        """Leave out the rows whose key is not among these, and the names that no row has any more."""
        kept = np.flatnonzero(np.isin(self._arrays["keys"][: self._size], alive))
        if len(kept) == self._size:
            return
        moved = np.full(self._size + 1, -1, dtype=np.int32)  # the last place serves -1: no neighbour
        moved[kept] = np.arange(len(kept), dtype=np.int32)
        previous, following, norms = self._links
        previous = moved[previous[kept]]
        self._links = (previous, moved[following[kept]], np.where(previous >= 0, norms[kept], np.float32(1)))
        self._arrays = {name: array[kept] for name, array in self._arrays.items()}
        for name in _TABLES:
            self._arrays[name], self._tables[name] = _used(self._arrays[name], self._tables[name])
        self._known = self._size = len(kept)
        self._all_linked = True

    def take(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Put rows in that were read: the place of known ones, behind the others the new ones."""
        rows = self._as_arrays(columns)
        keys, places = rows["keys"], np.searchsorted(self._arrays["keys"][: self._known], rows["keys"])
        known = self._arrays["keys"][np.minimum(places, self._known - 1)] == keys if self._known else places < 0
        if bool(known.any()):
            self._change(places[known], {name: values[known] for name, values in rows.items()})
            rows = {name: values[~known] for name, values in rows.items()}
        size = self._size + len(rows["keys"])
        if size > len(self._arrays["keys"]):
            self.reserve(size + size // 4)
        for name, values in rows.items():
            self._fitting(name, values)[self._size : size] = values
        self._size = size

    def _as_arrays(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, Array]:
        rows: dict[str, Array] = {name: np.array(columns[name], dtype=kind) for name, kind in _NUMBERS.items()}
        rows |= {name: _encoded(columns[name]) for name in _IDS}
        rows |= {name: self._numbers(name, columns[name]) for name in _TABLES}
        if "vectors" in self._arrays:
            rows["vectors"] = _halves(columns["vectors"], self._width)
        if _CODE.format(0) in self._arrays:
            rows |= _codes(rows["vectors"])
        return rows

    def _numbers(self, name: str, names: Sequence[str]) -> Array:
        table = self._tables[name]
        new = [each for each in dict.fromkeys(names) if each not in table and (each or name != "sessions")]
        if new:
            table = self._tables[name] = {**table, **{each: len(table) + at for at, each in enumerate(new)}}
        return np.fromiter(map(table.get, names, repeat(-1)), dtype=_TABLES[name], count=len(names))

    def _change(self, places: NDArray[np.int64], rows: Mapping[str, Array]) -> None:
        """Change known rows, in copies of the columns that differ."""
        for name, values in rows.items():
            array = self._fitting(name, values)
            if not np.array_equal(array[places], values):
                array = self._arrays[name] = _longer(array, self._size, len(array))
                array[places] = values
        self._changed.append(places)

    def _fitting(self, name: str, values: Array) -> Array:
        """Return a column, made anew when it holds shorter ids than these."""
        array = self._arrays[name]
        if values.dtype.itemsize > array.dtype.itemsize:
            longer = _longer(array.astype(values.dtype), self._size, len(array))
            array = self._arrays[name] = longer
        return array

    def finished(self, cube_key: int, revision: int, erasures: int) -> Held:
        """Return the view."""
        self._sort()
        if self._size < CODED or "vectors" not in self._arrays:
            self._arrays = {name: array for name, array in self._arrays.items() if not name.startswith(_CODE[:4])}
        elif _CODE.format(0) not in self._arrays:
            found = _codes(self._arrays["vectors"][: self._size])
            room = len(self._arrays["keys"])
            self._arrays |= {name: _longer(array, self._size, room) for name, array in found.items()}
        previous, following, norms = self._linked()
        parts: dict[str, Any] = {name: _shown(array[: self._size]) for name, array in self._arrays.items()}
        parts.setdefault("vectors", np.empty((0, self._width), np.float16))
        parts["codes"] = tuple(parts.pop(name) for name in sorted(parts) if name.startswith(_CODE[:4]))
        parts |= {name: Ids(parts[name]) for name in _IDS}
        parts |= {listed: list(self._tables[name]) for name, listed in _NAMES.items()}
        parts |= {"previous": _shown(previous), "following": _shown(following), "pair_norms": _shown(norms)}
        view = CubeView(cube_key=cube_key, revision=revision, **parts)
        return Held(view, erasures, self._arrays, self._tables)

    def _sort(self) -> None:
        """Bring what is new in the order of keys."""
        new = slice(self._known, self._size)
        keys = self._arrays["keys"][new]
        if bool(np.any(keys[1:] < keys[:-1])):
            order = np.argsort(keys)
            for array in self._arrays.values():
                array[new] = array[new][order]

    def _linked(self) -> tuple[Array, Array, Array]:
        """Return each passage's neighbours in its session, and the length of its vector added to the one before."""
        sessions, positions, starts = (self._arrays[name][: self._size] for name in ("sessions", "positions", "starts"))
        fresh = np.zeros(self._size + 1, dtype=np.bool_)  # the last place serves -1: no neighbour
        fresh[self._known : self._size] = True
        for places in self._changed:
            fresh[places] = True
        previous, following, norms = (_longer(link, self._known, self._size) for link in self._links)
        previous[self._known :], following[self._known :], norms[self._known :] = -1, -1, 1
        touched = np.full(len(self._tables["sessions"]) + 1, self._all_linked)
        touched[sessions[fresh[:-1]]] = True
        touched[-1] = False  # what is in no session has no neighbours
        rows = np.flatnonzero(touched[sessions])
        rows = rows[np.lexsort((starts[rows], positions[rows], sessions[rows]))]
        together = sessions[rows][1:] == sessions[rows][:-1]
        before = np.full(len(rows), -1, dtype=np.int32)
        before[1:][together] = rows[:-1][together]
        again = (previous[rows] != before) | fresh[rows] | fresh[before]
        previous[rows] = before
        following[rows] = -1
        following[rows[:-1][together]] = rows[1:][together]
        norms[rows[again]] = self._pair_norms(rows[again], before[again])
        return previous, following, norms

    def _pair_norms(self, rows: Array, before: Array) -> Array:
        if "vectors" not in self._arrays:
            return np.where(before >= 0, STRANGERS, np.float32(1))
        vectors, norms = self._arrays["vectors"], np.ones(len(rows), dtype=np.float32)
        paired = np.flatnonzero(before >= 0)
        for start in range(0, len(paired), _CHUNK):
            some = paired[start : start + _CHUNK]
            one, other = widened(vectors[rows[some]]), widened(vectors[before[some]])
            # |a + b|^2 = |a|^2 + |b|^2 + 2ab, which is 2 + 2ab for unit vectors
            norms[some] = np.sqrt(np.maximum(2 + 2 * np.einsum("ij,ij->i", one, other), 1e-3))
        return norms


def _nothing(width: int, *, light: bool) -> dict[str, Array]:
    arrays: dict[str, Array] = {name: np.empty(0, dtype=kind) for name, kind in (*_NUMBERS.items(), *_TABLES.items())}
    arrays |= {name: np.empty(0, dtype="S1") for name in _IDS}
    return arrays if light else arrays | {"vectors": np.empty((0, width), np.float16)}


def _encoded(ids: Sequence[str]) -> Array:
    joined = "".join(ids).encode()
    if len(joined) == len(ids[0]) * len(ids) and set(map(len, ids)) == {len(ids[0])}:  # nearly all have one length
        return np.frombuffer(joined, dtype=f"S{len(ids[0])}") if joined else np.zeros(len(ids), dtype="S1")
    return np.array([each.encode() for each in ids])


def _halves(data: Sequence[bytes | None], width: int) -> Array:
    """Return rows of vectors, of zeros where there is none."""
    if None not in data:
        return np.frombuffer(b"".join(data), dtype="<f2").reshape(-1, width).astype(np.float16, copy=False)  # type: ignore[arg-type]  # bytes all
    rows = np.zeros((len(data), width), dtype=np.float16)
    held = np.array([each is not None for each in data])
    rows[held] = np.frombuffer(b"".join(each for each in data if each is not None), dtype="<f2").reshape(-1, width)
    return rows


def _longer(array: Array, filled: int, size: int) -> Array:
    """Return a copy with room for `size` rows; room that is not written to takes no memory in most systems."""
    longer = np.empty((size, *array.shape[1:]), dtype=array.dtype)
    longer[:filled] = array[:filled]
    return longer


def _shown(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _codes(vectors: Array) -> dict[str, Array]:
    parts = [codes_of(vectors[start : start + _CHUNK]) for start in range(0, len(vectors), _CHUNK)]
    return {_CODE.format(at): np.concatenate(words) for at, words in enumerate(zip(*parts, strict=True))}


def _used(numbers: Array, table: Mapping[str, int]) -> tuple[Array, dict[str, int]]:
    """Return a column and its table without the names that no row has: a forgotten speaker must not be looked for."""
    used = np.unique(numbers[numbers >= 0])
    moved = np.full(len(table) + 1, -1, dtype=numbers.dtype)  # the last place serves -1: none
    moved[used] = np.arange(len(used), dtype=numbers.dtype)
    names = list(table)
    return moved[numbers], {names[int(number)]: at for at, number in enumerate(used)}
