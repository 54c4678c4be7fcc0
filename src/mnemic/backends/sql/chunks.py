"""Passages of documents in SQL, and where they stand in each version."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam, case, delete, func, insert, or_, select

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.model.document import Chunk, ChunkKind, DocumentState, Locator
from mnemic.model.moment import to_micros

_SUMMARIES: Final = (ChunkKind.DOCUMENT.value, ChunkKind.SECTION.value)
_CHUNK = s.chunk.c
_PLACE = s.chunk_place.c
_VERSION = s.document_version.c
_READY: Final = DocumentState.READY.value

_PLACED = (
    select(
        s.chunk, _PLACE.version_id, _PLACE.position, _PLACE.parent, _PLACE.headings, _PLACE.page, _PLACE.last_page,
        _PLACE.row, _PLACE.part, _PLACE.start, _PLACE.end, _VERSION.number, s.document.c.name, s.document.c.address,
    )
    .select_from(s.chunk_place)
    .join(s.chunk, and_(_CHUNK.cube_key == _PLACE.cube_key, _CHUNK.id == _PLACE.chunk_id))
    .join(s.document_version, and_(_VERSION.cube_key == _PLACE.cube_key, _VERSION.id == _PLACE.version_id))
    .join(s.document, and_(s.document.c.cube_key == _CHUNK.cube_key, s.document.c.id == _CHUNK.document_id))
)  # fmt: skip
"""A chunk in a version, with what its locator says."""

_ORDER = (
    _PLACE.position,
    case((_CHUNK.kind == _SUMMARIES[0], 0), (_CHUNK.kind == _SUMMARIES[1], 1), else_=2),
    func.length(_PLACE.headings),  # a section inside another has longer headings
    _PLACE.chunk_id,
)
_other = s.chunk_place.alias("other")
_its = s.document_version.alias("its")
_STANDS = (
    select(_other.c.version_id)
    .join(_its, and_(_its.c.cube_key == _other.c.cube_key, _its.c.id == _other.c.version_id))
    .where(_other.c.cube_key == _PLACE.cube_key, _other.c.chunk_id == _PLACE.chunk_id)
    .limit(1)
)
_CHOSEN = (_PLACE.cube_key == bindparam("cube"), _PLACE.chunk_id.in_(bindparam("ids", expanding=True)))
_GET = Prepared(
    _PLACED.where(
        *_CHOSEN,
        _PLACE.version_id
        == _STANDS.order_by(case((_its.c.state == _READY, 0), else_=1), _its.c.number.desc()).scalar_subquery(),
    ),
    lists=["ids"],
)
_AT = Prepared(
    _PLACED.where(
        *_CHOSEN,
        _PLACE.version_id
        == _STANDS.where(
            _its.c.state == _READY,
            _its.c.valid_from <= bindparam("moment"),
            or_(_its.c.valid_to.is_(None), _its.c.valid_to > bindparam("moment")),
        )
        .order_by(_its.c.number.desc())
        .scalar_subquery(),
    ),
    lists=["ids"],
)
_AROUND = Prepared(
    _PLACED.where(
        _PLACE.cube_key == bindparam("cube"),
        _PLACE.version_id == bindparam("version"),
        _PLACE.position.in_(bindparam("places", expanding=True)),
        *(_CHUNK.kind != kind for kind in _SUMMARIES),
    ).order_by(_PLACE.position),
    lists=["places"],
)
_HASHES = Prepared(
    select(_CHUNK.hash, _CHUNK.id)
    .select_from(s.chunk_place)
    .join(s.chunk, and_(_CHUNK.cube_key == _PLACE.cube_key, _CHUNK.id == _PLACE.chunk_id))
    .where(_PLACE.cube_key == bindparam("cube"), _PLACE.version_id == bindparam("version"))
    .order_by(*_ORDER)
)
_NEW_CHUNK = Prepared(insert(s.chunk), new=True)
_NEW_PLACE = Prepared(insert(s.chunk_place), new=True)


class SqlChunks:
    """Implements `ports.documents.Chunks`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, version_id: str, chunks: Sequence[Chunk], *, known: Collection[str] = ()) -> None:
        """Store where chunks stand in a version, and those of them that are not `known` by id already."""
        have = set(known)
        _NEW_CHUNK.run_each(self._connection, [_values(chunk) for chunk in chunks if chunk.id not in have])
        _NEW_PLACE.run_each(self._connection, [_place(version_id, chunk) for chunk in chunks])

    def get(self, cube_key: int, ids: Collection[str]) -> Mapping[str, Chunk]:
        """Return chunks by id, as they stand in the newest version that has them; one that is ready comes first."""
        found: dict[str, Chunk] = {}
        for some in rows.parts(ids):
            found |= {row.id: _chunk(row) for row in _GET.rows(self._connection, {"cube": cube_key, "ids": some})}
        return found

    def at(self, cube_key: int, ids: Collection[str], moment: datetime) -> Mapping[str, Chunk]:
        """Return chunks by id, as they stood in the version that held at a moment."""
        found: dict[str, Chunk] = {}
        for some in rows.parts(ids):
            values = {"cube": cube_key, "ids": some, "moment": to_micros(moment)}
            found |= {row.id: _chunk(row) for row in _AT.rows(self._connection, values)}
        return found

    def of_version(
        self, cube_key: int, version_id: str, *, kinds: Collection[ChunkKind] = (), after: int = -1, limit: int = 100
    ) -> Sequence[Chunk]:
        """Return the chunks of a version in the order of their positions, summaries before what they are about.

        All that stands at one position comes together, so that who asks for what is behind it misses nothing.
        """
        query = _PLACED.where(_PLACE.cube_key == cube_key, _PLACE.version_id == version_id).order_by(*_ORDER)
        if kinds:
            query = query.where(_CHUNK.kind.in_([kind.value for kind in kinds]))
        found = self._connection.execute(query.where(_PLACE.position > after).limit(limit + 1)).all()
        if len(found) > limit:
            cut = found[limit].position
            whole = [row for row in found if row.position < cut]
            if not whole:  # more at one position than the limit
                whole = list(self._connection.execute(query.where(_PLACE.position == cut)))
            found = whole
        return [_chunk(row) for row in found]

    def around(self, cube_key: int, version_id: str, positions: Collection[int]) -> Sequence[Chunk]:
        """Return the passages at these positions of a version, in order."""
        values = {"cube": cube_key, "version": version_id, "places": sorted(set(positions))}
        return [_chunk(row) for row in _AROUND.rows(self._connection, values)] if positions else []

    def hashes(self, cube_key: int, version_id: str) -> Mapping[str, Sequence[str]]:
        """Return, by hash, the ids of a version's chunks, in the order of their positions."""
        found: dict[str, list[str]] = {}
        for row in _HASHES.rows(self._connection, {"cube": cube_key, "version": version_id}):
            found.setdefault(row.hash, []).append(row.id)
        return found

    def ids(self, cube_key: int, document_ids: Collection[str]) -> Sequence[str]:
        """Return the ids of all chunks of documents, in whichever versions they stand."""
        found: list[str] = []
        for some in rows.parts(document_ids):
            query = select(_CHUNK.id).where(_CHUNK.cube_key == cube_key, _CHUNK.document_id.in_(some))
            found += self._connection.scalars(query.order_by(_CHUNK.id))
        return found

    def clear(self, cube_key: int, version_id: str) -> Sequence[str]:
        """Take all chunks out of a version; erase those that stand in no other, and return their ids."""
        here = (_PLACE.cube_key == cube_key, _PLACE.version_id == version_id)
        elsewhere = (
            select(_other.c.version_id)
            .where(
                _other.c.cube_key == _PLACE.cube_key,
                _other.c.chunk_id == _PLACE.chunk_id,
                _other.c.version_id != _PLACE.version_id,
            )
            .exists()
        )
        alone = list(self._connection.scalars(select(_PLACE.chunk_id).where(*here, ~elsewhere)))
        self._connection.execute(delete(s.chunk_place).where(*here))
        for some in rows.parts(alone):
            self._connection.execute(delete(s.chunk).where(_CHUNK.cube_key == cube_key, _CHUNK.id.in_(some)))
        return alone


def _values(chunk: Chunk) -> dict[str, Any]:
    return {
        "cube_key": chunk.cube_key,
        "id": chunk.id,
        "document_id": chunk.document_id,
        "kind": chunk.kind.value,
        "text": chunk.text,
        "hash": chunk.hash,
        "tokens": chunk.tokens,
    }


def _place(version_id: str, chunk: Chunk) -> dict[str, Any]:
    at = chunk.locator
    return {
        "cube_key": chunk.cube_key,
        "version_id": version_id,
        "chunk_id": chunk.id,
        "position": chunk.position,
        "parent": chunk.parent,
        "headings": rows.to_json(list(at.headings)),
        "page": at.page,
        "last_page": at.last_page,
        "row": at.row,
        "part": at.part,
        "start": at.start,
        "end": at.end,
    }


def _chunk(row: Any) -> Chunk:
    return Chunk(
        id=row.id,
        cube_key=row.cube_key,
        document_id=row.document_id,
        kind=ChunkKind(row.kind),
        text=row.text,
        hash=row.hash,
        tokens=row.tokens,
        position=row.position,
        parent=row.parent,
        locator=Locator(
            document=row.document_id,
            name=row.name,
            version=row.number,
            headings=tuple(rows.from_json(row.headings)),
            page=row.page,
            last_page=row.last_page,
            row=row.row,
            part=row.part,
            start=row.start,
            end=row.end,
            address=row.address,
        ),
    )
