"""Moving a cube: out as lines of JSON from one snapshot, and in again as one transaction.

Lines stream: nothing here holds a whole cube. Vectors travel along, so that a store with the same embedder need not
embed again. The layout is `model/archive.py`; putting records in is `services/loading.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, Final

from mnemic.core.archive import encode, read_header, read_lines, write_line
from mnemic.core.intake import check_id
from mnemic.errors import InputError, NotFoundError, StoreError
from mnemic.model.archive import FORMAT, KINDS, PART, SHELVED, Record
from mnemic.model.entity import Entity
from mnemic.model.memory import Memory, Version
from mnemic.model.receipt import Imported
from mnemic.model.scope import Cube
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.loading import Loading
from mnemic.services.loading_files import Files
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable

BATCH: Final = 500
"""Records read at a time."""


class Portability:
    """The use cases of `export` and `load`."""

    def __init__(
        self, store: Store, embedder: Embedder, clock: Clock, scoping: Scoping, files: Files, *, version: str
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._scoping = scoping
        self._files = files
        self._version = version

    def export(self, *, user: object, cube: object = None) -> Iterator[str]:
        """Return the lines of a cube; see `Memory.export`. They are read while they are taken, from one snapshot."""
        with self._store.read() as tx:
            readable(self._scoping, tx, user, cube)
        return self._lines(user, cube)

    def load(self, lines: object, *, user: object, cube: object = None) -> Imported:
        """Put an exported cube into a user's; see `Memory.load`."""
        principal = check_id(user, "user")
        target = None if cube is None else check_id(cube, "cube")
        found = read_lines(_each(lines))
        first = next(found, None)
        if first is None:
            raise InputError("lines", "is empty; an export begins with a header")
        header = read_header(*first)
        self._scoping.drop(principal)  # another process may have deleted the cube that an earlier call has seen
        with self._store.write() as tx:
            into = self._scoping.for_write(tx, principal, target)
            with closing(Loading(tx, into, tx.cubes.touch(into.key), self._embedder, header, self._files)) as loading:
                for number, value in found:
                    loading.take(number, value)
                imported = loading.finish(self._clock.now())
        self._scoping.remember(into)
        return imported

    def _lines(self, user: object, cube: object) -> Iterator[str]:
        with self._store.read() as tx:
            source = readable(self._scoping, tx, user, cube)
            yield write_line(self._header(tx, source))
            if source is None:
                return
            for kind in KINDS:
                for record in self._records(tx, source, kind):
                    yield write_line(encode(kind, record))

    def _header(self, tx: Transaction, cube: Cube | None) -> dict[str, Any]:
        described = None
        if cube is not None:
            described = {
                "id": cube.id,
                "name": cube.name,
                "kind": cube.kind.value,
                "owner": self._scoping.shown(cube).owner,
                "created_at": cube.created_at.isoformat(),
            }
        return {
            "format": FORMAT,
            "version": self._version,
            "exported_at": self._clock.now().isoformat(),
            "cube": described,
            "embedder": {"name": self._embedder.name, "width": self._embedder.width},
            "counts": _counts({} if cube is None else tx.archive.counts(cube.key)),
        }

    def _records(self, tx: Transaction, cube: Cube, kind: str) -> Iterator[Record]:
        cube_key = cube.key
        after: Record | None = None
        while True:
            page: list[Record]
            if kind == "entity":
                yield from map(_entity_record, tx.entities.list(cube_key, limit=None))
                return
            if kind == "memory":
                page = self._memories(tx, cube_key, None if after is None else str(after["id"]))
            else:
                page = list(tx.archive.read(cube_key, kind, after, BATCH))
            if not page:
                return
            after = page[-1]
            if kind == "blob":
                yield from self._parts(cube, page)
            else:
                yield from self._with_vectors(tx, cube_key, kind, page) if kind in _EMBEDDED else page

    def _with_vectors(self, tx: Transaction, cube_key: int, kind: str, page: list[Record]) -> Iterator[Record]:
        keys = [_EMBEDDED[kind](record) for record in page]
        held = tx.archive.vectors(cube_key, [owner for owner, _ in keys], self._embedder.name)
        for key, record in zip(keys, page, strict=True):
            yield {**record, "vectors": held.get(key)}

    def _parts(self, cube: Cube, page: list[Record]) -> Iterator[Record]:
        """Yield files in parts. Raises `StoreError` for one that is not there, or went since the export began."""
        for record in page:
            try:
                file = self._files.blobs.open(cube.id, record["digest"])
            except NotFoundError as error:
                told = "a file was forgotten while it was to be exported, or is lost; export again, `check` tells which"
                raise StoreError(told, digest=record["digest"]) from error
            with file:
                for part in range(max(1, -(-record["size"] // PART))):
                    yield {**record, "part": part, "data": file.read(PART)}

    def _memories(self, tx: Transaction, cube_key: int, after: str | None) -> list[Record]:
        memories = tx.memories.list(cube_key, after=after, limit=BATCH)
        held = tx.archive.vectors(cube_key, [memory.id for memory in memories], self._embedder.name)
        return [_memory_record(memory, held) for memory in memories]


_EMBEDDED: Final[Mapping[str, Callable[[Record], tuple[str, str | None]]]] = {
    "message": lambda record: (str(record["id"]), None),
    "chunk": lambda record: (str(record["id"]), None),
    "attachment": lambda record: (str(record["message_id"]), str(record["id"])),
}
"""The kinds of records that come with vectors, and under which owner and version these are."""


def _counts(found: Mapping[str, int]) -> dict[str, int]:
    return {kind: found.get(kind, 0) for kind in KINDS if kind not in SHELVED or found.get(kind)}


def _each(lines: object) -> Iterable[object]:
    if isinstance(lines, str):
        return lines.split("\n")
    if not isinstance(lines, Iterable) or isinstance(lines, bytes | Mapping):
        raise InputError("lines", f"needs lines of JSON, got {type(lines).__name__}")
    return lines


def _entity_record(entity: Entity) -> Record:
    mentions = [{"message_id": message_id, "quote": quote} for message_id, quote in entity.mentions]
    return {
        "id": entity.id, "name": entity.name, "kind": entity.kind, "created_at": entity.created_at,
        "mentions": mentions,
    }  # fmt: skip


def _memory_record(memory: Memory, vectors: Mapping[tuple[str, str | None], list[bytes]]) -> Record:
    return {
        "id": memory.id,
        "kind": memory.kind.value,
        "subject": memory.subject,
        "attribute": memory.attribute,
        "value_key": memory.value_key,
        "locked": memory.locked,
        "created_at": memory.created_at,
        "versions": [_version_record(each, vectors.get((memory.id, each.id))) for each in memory.versions],
    }


def _version_record(version: Version, vectors: list[bytes] | None) -> Record:
    return {
        "id": version.id,
        "number": version.number,
        "text": version.text,
        "value": version.value,
        "polarity": version.polarity,
        "valid_from": version.valid_from,
        "valid_to": version.valid_to,
        "time": version.time,
        "recorded_at": version.recorded_at,
        "confidence": version.confidence,
        "change": version.change.value,
        "drawn_by": version.drawn_by or None,
        "reason": version.reason or None,
        "vector": vectors[0] if vectors else None,
        "sources": [
            {
                "message_id": source.message_id,
                "quote": source.quote,
                "holds_from": source.holds_from,
                "holds_to": source.holds_to,
            }
            for source in version.sources
        ],
    }
