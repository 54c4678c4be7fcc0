"""Reading a whole store page by page and summing up what is in it, cube by cube, so that two stores can be compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mnemic.core.digests import Digest, digest
from mnemic.ports.moving import RawReading, Row, Shape, Span

BYTES: Final = 4_000_000
"""About how many bytes a page may have, and a transaction."""

_CUBES: Final = 100
"""Cubes that are taken together, so that small ones cost little more than their rows."""

_FEW: Final = 64
_MANY: Final = 4_000
"""Rows of a table's first page, and of a page at most."""


ALL: Final[Span] = (1, 2**62)
"""Every cube."""


@dataclass(frozen=True, slots=True)
class Place:
    """A row, by its table and its primary key."""

    table: str
    key: Row


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of one table, and about how many bytes they have."""

    shape: Shape
    rows: Sequence[Row]
    bytes: int

    @property
    def last(self) -> Place:
        """Its last row."""
        return Place(self.shape.name, self.shape.key_of(self.rows[-1]))


class Sums:
    """Digests of rows by cube and table. What is not of a cube counts to cube 0, which there is not."""

    def __init__(self) -> None:
        self._found: dict[tuple[Any, str], Digest] = {}

    def add(self, shape: Shape, rows: Sequence[Row]) -> int:
        """Count rows in, those of a cube one behind the other; return about how many bytes they have."""
        size = start = 0
        while start < len(rows):
            cube, end = _cube_of(shape, rows[start]), start + 1
            while end < len(rows) and _cube_of(shape, rows[end]) == cube:
                end += 1
            some = rows[start:end] if shape.plain is None else map(shape.plain, rows[start:end])
            found, written = digest(shape.name, some)
            self._found[cube, shape.name] = self._found.get((cube, shape.name), Digest()) + found
            size, start = size + written, end
        return size

    def take(self, cubes: Collection[int], other: Sums) -> None:
        """Put what another found of these cubes in the place of what is held of them."""
        kept = {key: found for key, found in self._found.items() if key[0] not in cubes}
        self._found = kept | {key: found for key, found in other._found.items() if key[0] in cubes}

    def differing(self, other: Sums) -> set[int]:
        """Return the cubes that are not the same in both."""
        keys = self._found.keys() | other._found.keys()
        return {key[0] for key in keys if self._found.get(key) != other._found.get(key)}

    def add_to(self, tables: dict[str, Digest]) -> None:
        """Count what was found to its tables."""
        for (_, table), found in self._found.items():
            tables[table] = tables.get(table, Digest()) + found


def _cube_of(shape: Shape, row: Row) -> Any:
    return 0 if shape.cube is None else row[shape.cube]


def pages(
    reading: RawReading,
    shapes: Sequence[Shape],
    span: Span | None,
    sums: Sums,
    *,
    behind: Place | None = None,
    until: Place | None = None,
) -> Iterator[Page]:
    """Yield the rows of tables in order, counted into `sums`: those behind one row, and no further than another."""
    first = 0 if behind is None else [shape.name for shape in shapes].index(behind.table)
    for shape in shapes[first:]:
        after = behind.key if behind is not None and shape.name == behind.table else None
        limit, ends = _FEW, until is not None and shape.name == until.table
        while rows := reading.rows(shape, span, after, limit):
            full = len(rows) == limit
            if until is not None and ends:
                keys = [shape.key_of(row) for row in rows]
                if until.key in keys:
                    rows, full = rows[: keys.index(until.key) + 1], False
            size = sums.add(shape, rows)
            yield Page(shape, rows, size)
            if not full:
                break
            after = shape.key_of(rows[-1])
            limit = max(1, min(_MANY, 4 * limit, limit * BYTES // size))
        if ends:
            return


def summed(reading: RawReading, shapes: Sequence[Shape], span: Span | None, *, until: Place | None = None) -> Sums:
    """Return the digests of tables in a store."""
    sums = Sums()
    for _ in pages(reading, shapes, span, sums, until=until):
        pass
    return sums


def stretches(reading: RawReading, ends: Sequence[int] = ()) -> Iterator[tuple[Span, dict[int, str]]]:
    """Yield cubes (ids by key) that are taken together, with their span; no span goes across one of the keys `ends`."""
    after = 0
    while found := reading.cubes(after, _CUBES):
        end = min((key for key in ends if key > after), default=None)
        cubes = {key: name for key, name in found if end is None or key <= end}
        last = max(cubes) if cubes and (end is None or len(cubes) == _CUBES) else end
        if last is None:
            return
        if cubes:
            yield (after + 1, last), cubes
        after = last


def keys_of(reading: RawReading, span: Span) -> Iterator[int]:
    """Yield the keys of the cubes of a span."""
    after = span[0] - 1
    while found := [key for key, _ in reading.cubes(after, _CUBES) if key <= span[1]]:
        yield from found
        after = found[-1]


@dataclass(frozen=True, slots=True)
class Compared:
    """What each table of two stores holds, the ids of the cubes that are not the same, and how many there are."""

    left: dict[str, Digest]
    arrived: dict[str, Digest]
    differing: list[str]
    cubes: int


def compare(
    source: RawReading, target: RawReading, shapes: Sequence[Shape], told: Callable[[int, int], None]
) -> Compared:
    """Read two stores side by side; `told` hears how many rows of the source were read, and of how many."""
    left: dict[str, Digest] = {}
    arrived: dict[str, Digest] = {}
    differing: list[str] = []
    total, cubes = source.count(), 0
    for span, names in _each(source):
        some = [shape for shape in shapes if (shape.cube is None) == (span is None)]
        mine, theirs = summed(source, some, span), summed(target, some, span)
        mine.add_to(left)
        theirs.add_to(arrived)
        differing += [_name(key, names, target) for key in sorted(mine.differing(theirs))]
        told(min(total, sum(each.rows for each in left.values())), total)
        cubes += len(names)
    return Compared(left, arrived, differing, cubes)


def _name(key: int, names: Mapping[int, str], target: RawReading) -> str:
    if key in names:
        return names[key]
    return dict(target.cubes(key - 1, 1)).get(key, "what is of no cube")


def _each(source: RawReading) -> Iterator[tuple[Span | None, dict[int, str]]]:
    """Yield what is of no cube, the stretches of cubes, and the room behind them."""
    yield None, {}
    last = 0
    for span, cubes in stretches(source):
        yield span, cubes
        last = span[1]
    yield (last + 1, ALL[1]), {}
