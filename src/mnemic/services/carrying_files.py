"""Files that come along when a store is moved or backed up: each that a row of the copied moment names, verified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mnemic.errors import NotFoundError, StoreError
from mnemic.ports.blobs import Blobs
from mnemic.ports.moving import RawReading, RawStore, Row, Shape

_CUBES: Final = 100  # read at a time
_ROWS: Final = 1_000
_TABLE: Final = "blob"


@dataclass(frozen=True, slots=True)
class Carried:
    """What came along. `absent` are files that rows name and that are not there: they were forgotten meanwhile."""

    files: int = 0
    bytes: int = 0
    absent: int = 0


class CarryFiles:
    """Brings files from one place to another. What is there already is not brought again, so that it can go on."""

    def __init__(self, source: Blobs, target: Blobs) -> None:
        self._source = source
        self._target = target

    def carry(self, moment: RawReading, store: RawStore) -> Carried:
        """Bring the files that a moment of a store names. Raises `StoreError` for one that is damaged."""
        files = size = absent = 0
        for cube, wanted in _named(moment, store):
            here = {found.digest: found.size for found in self._target.list(cube)}
            for digest, length in wanted.items():
                if here.get(digest) == length or self._bring(cube, digest):
                    files, size = files + 1, size + length
                else:
                    absent += 1
        return Carried(files, size, absent)

    def compare(self, moment: RawReading, store: RawStore) -> Carried:
        """Look which of the files that a moment of a store names are at the target; nothing is brought."""
        files = size = absent = 0
        for cube, wanted in _named(moment, store):
            here = {found.digest: found.size for found in self._target.list(cube)}
            there = {digest: length for digest, length in wanted.items() if here.get(digest) == length}
            files, size, absent = files + len(there), size + sum(there.values()), absent + len(wanted) - len(there)
        return Carried(files, size, absent)

    def _bring(self, cube: str, digest: str) -> bool:
        try:
            with self._source.local(cube, digest) as path:
                self._target.take(cube, digest, path)
        except NotFoundError:
            return False
        except StoreError as error:
            if not self._source.has(cube, digest):  # it went while it was read
                return False
            raise StoreError(f"{self._source.place}: {error}", cube=cube, digest=digest) from error
        return True


def _named(moment: RawReading, store: RawStore) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the digests and sizes of the files that are kept, by cube."""
    shape = next(each for each in store.shapes if each.name == _TABLE)
    after = 0
    while cubes := moment.cubes(after, _CUBES):
        names = dict(cubes)
        first, after = cubes[0][0], cubes[-1][0]
        found: dict[str, dict[str, int]] = {}
        for cube, digest, size in _rows(moment, shape, (first, after)):
            found.setdefault(names[cube], {})[digest] = size
        yield from found.items()


def _rows(moment: RawReading, shape: Shape, span: tuple[int, int]) -> Iterator[tuple[int, str, int]]:
    cube, digest, size, doomed = (shape.columns.index(name) for name in ("cube_key", "digest", "size", "doomed"))
    after: Row | None = None
    while rows := moment.rows(shape, span, after, _ROWS):
        after = shape.key_of(rows[-1])
        for row in rows:
            if not row[doomed]:
                yield int(str(row[cube])), str(row[digest]), int(str(row[size]))
