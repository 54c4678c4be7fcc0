"""Documents and their versions in SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.errors import ConflictError
from mnemic.ids import content_hash
from mnemic.model.document import Document, DocumentState, DocumentVersion, Origin, Refresh
from mnemic.model.moment import from_micros, to_micros

_DOCUMENT = s.document.c
_VERSION = s.document_version.c
_ENDED: Final = (DocumentState.READY, DocumentState.FAILED)

_later = s.document_version.alias("later")
_NEWEST = (
    select(func.max(_later.c.number))
    .where(_later.c.cube_key == _VERSION.cube_key, _later.c.document_id == _VERSION.document_id)
    .scalar_subquery()
)
_CURRENT = (_VERSION.state == DocumentState.READY.value) & _VERSION.valid_to.is_(None)
_DOCUMENTS = select(s.document, s.cube.c.id.label("cube")).join(s.cube, s.cube.c.key == _DOCUMENT.cube_key)
_OF_DOCUMENT = (_VERSION.cube_key == _DOCUMENT.cube_key) & (_VERSION.document_id == _DOCUMENT.id)
_VERSIONS = Prepared(
    select(s.document_version)
    .where(
        _VERSION.cube_key == bindparam("cube"),
        _VERSION.document_id.in_(bindparam("ids", expanding=True)),
        or_(_VERSION.number == _NEWEST, _CURRENT),
    )
    .order_by(_VERSION.number),
    lists=["ids"],
)
_BY_ID = Prepared(
    _DOCUMENTS.where(_DOCUMENT.cube_key == bindparam("cube"), _DOCUMENT.id.in_(bindparam("ids", expanding=True))),
    lists=["ids"],
)
_NAMED = Prepared(_DOCUMENTS.where(_DOCUMENT.cube_key == bindparam("cube"), _DOCUMENT.name_hash == bindparam("called")))


class SqlDocuments:
    """Implements `ports.documents.Documents`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, document: Document) -> None:
        """Store a document (not its versions), new or changed."""
        values = _values(document)
        mine = (_DOCUMENT.cube_key == document.cube_key, _DOCUMENT.id == document.id)
        try:
            with self._connection.begin_nested():  # so that the transaction can go on when the name is taken
                if not self._connection.execute(update(s.document).where(*mine).values(values)).rowcount:
                    new = {"cube_key": document.cube_key, "id": document.id, **values}
                    self._connection.execute(insert(s.document), new)
        except IntegrityError as error:
            told = f"there is a document {document.name!r} already; choose another name"
            raise ConflictError(told, name=document.name) from error

    def put_version(self, cube_key: int, version: DocumentVersion, *, password: str | None = None) -> None:
        """Store a version, new or changed. A password is kept until the version is ready or has failed."""
        values = _version_values(version)
        if version.state in _ENDED:
            values["password"] = None
        elif password is not None:
            values["password"] = password
        mine = (_VERSION.cube_key == cube_key, _VERSION.id == version.id)
        if not self._connection.execute(update(s.document_version).where(*mine).values(values)).rowcount:
            self._connection.execute(insert(s.document_version), {"cube_key": cube_key, "id": version.id, **values})

    def password(self, cube_key: int, version_id: str) -> str:
        """Return the password that a version's file is to be opened with; empty when there is none."""
        query = select(_VERSION.password).where(_VERSION.cube_key == cube_key, _VERSION.id == version_id)
        return self._connection.scalar(query) or ""

    def get(self, cube_key: int, ids: Collection[str]) -> Mapping[str, Document]:
        """Return documents by id, with their current and latest versions."""
        found: list[Any] = []
        for some in rows.parts(ids):
            found += _BY_ID.rows(self._connection, {"cube": cube_key, "ids": some})
        return {document.id: document for document in _whole(self._connection, cube_key, found)}

    def named(self, cube_key: int, name: str) -> Document | None:
        """Return the document of that name."""
        found = _NAMED.rows(self._connection, {"cube": cube_key, "called": content_hash(name)})
        return next(iter(_whole(self._connection, cube_key, found)), None)

    def list(
        self, cube_key: int, *, state: DocumentState | None = None, after: str | None = None, limit: int = 100
    ) -> Sequence[Document]:
        """Return documents in the order of their ids, after the given one."""
        query = _DOCUMENTS.where(_DOCUMENT.cube_key == cube_key).order_by(_DOCUMENT.id).limit(limit)
        if after is not None:
            query = query.where(_DOCUMENT.id > after)
        if state is not None:
            newest = select(_VERSION.id).where(_OF_DOCUMENT, _VERSION.number == _NEWEST, _VERSION.state == state.value)
            query = query.where(newest.exists())
        return _whole(self._connection, cube_key, self._connection.execute(query).all())

    def versions(self, cube_key: int, document_id: str) -> Sequence[DocumentVersion]:
        """Return the versions of a document, oldest first."""
        query = select(s.document_version).where(_VERSION.cube_key == cube_key, _VERSION.document_id == document_id)
        return [_version(row) for row in self._connection.execute(query.order_by(_VERSION.number))]

    def due(self, now: datetime, limit: int) -> Sequence[tuple[int, str]]:
        """Return documents (cube key, id) whose address is to be looked at again."""
        query = select(_DOCUMENT.cube_key, _DOCUMENT.id).where(
            _DOCUMENT.refresh_due.is_not(None), _DOCUMENT.refresh_due <= to_micros(now)
        )
        found = self._connection.execute(query.order_by(_DOCUMENT.refresh_due).limit(limit))
        return [(row.cube_key, row.id) for row in found]

    def counts(self, cube_key: int) -> tuple[Mapping[DocumentState, int], int, int]:
        """Return how many documents are in each state, and the chunks and bytes of their current versions."""
        of_cube = _VERSION.cube_key == cube_key
        states = select(_VERSION.state, func.count().label("documents")).where(of_cube, _VERSION.number == _NEWEST)
        by_state = {
            DocumentState(row.state): int(row.documents)
            for row in self._connection.execute(states.group_by(_VERSION.state))
        }
        sums = select(func.coalesce(func.sum(_VERSION.chunks), 0), func.coalesce(func.sum(_VERSION.size), 0))
        chunks, size = self._connection.execute(sums.where(of_cube, _CURRENT)).one()
        return by_state, int(chunks), int(size)

    def remove(self, cube_key: int, ids: Collection[str]) -> Mapping[str, int]:
        """Erase documents with versions and chunks; return the rows by kind."""
        removed = {"document": 0, "document_version": 0, "chunk": 0}
        for some in rows.parts(ids):
            for table, condition in _going(cube_key, some):
                gone = self._connection.execute(delete(table).where(condition)).rowcount
                if table.name in removed:
                    removed[table.name] += gone
        return removed


def _whole(connection: Connection, cube_key: int, found: Sequence[Any]) -> list[Document]:
    """Return documents with their versions; a document without any is none yet."""
    latest: dict[str, DocumentVersion] = {}
    current: dict[str, DocumentVersion] = {}
    for some in rows.parts([row.id for row in found]):
        for row in _VERSIONS.rows(connection, {"cube": cube_key, "ids": some}):
            version = latest[row.document_id] = _version(row)
            if version.state is DocumentState.READY and version.valid_to is None:
                current[row.document_id] = version
    return [_document(row, latest[row.id], current.get(row.id)) for row in found if row.id in latest]


def _going(cube_key: int, ids: Sequence[str]) -> Sequence[tuple[Any, ColumnElement[bool]]]:
    """Return what goes with documents, in an order in which nothing is left pointing to what went."""
    versions: Select[tuple[str]] = select(_VERSION.id).where(
        _VERSION.cube_key == cube_key, _VERSION.document_id.in_(ids)
    )
    return (
        (s.chunk_place, (s.chunk_place.c.cube_key == cube_key) & s.chunk_place.c.version_id.in_(versions)),
        (s.chunk, (s.chunk.c.cube_key == cube_key) & s.chunk.c.document_id.in_(ids)),
        (s.document_version, (_VERSION.cube_key == cube_key) & _VERSION.document_id.in_(ids)),
        (s.document, (_DOCUMENT.cube_key == cube_key) & _DOCUMENT.id.in_(ids)),
    )


def _values(document: Document) -> dict[str, Any]:
    refresh = document.refresh
    return {
        "name": document.name,
        "name_hash": content_hash(document.name),
        "origin": document.origin.value,
        "address": document.address,
        "metadata": rows.to_json(dict(document.metadata)),
        "created_at": to_micros(document.created_at),
        "job": document.job,
        "refresh_hours": refresh.hours,
        "refresh_due": rows.micros(refresh.due),
        "checked_at": rows.micros(refresh.checked_at),
        "etag": refresh.etag,
        "modified": refresh.modified,
        "found": refresh.found,
    }


def _version_values(version: DocumentVersion) -> dict[str, Any]:
    return {
        "document_id": version.document_id,
        "number": version.number,
        "state": version.state.value,
        "stored_at": to_micros(version.stored_at),
        "digest": version.digest,
        "size": version.size,
        "media": version.media,
        "title": version.title,
        "summary": version.summary,
        "pages": version.pages,
        "done_pages": version.done_pages,
        "chunks": version.chunks,
        "embedded": version.embedded,
        "reused": version.reused,
        "valid_from": rows.micros(version.valid_from),
        "valid_to": rows.micros(version.valid_to),
        "ready_at": rows.micros(version.ready_at),
        "error": version.error,
        "error_page": version.error_page,
        "seconds": rows.to_json(dict(version.seconds)),
        "metadata": rows.to_json(dict(version.metadata)),
        "notes": rows.to_json(list(version.notes)),
    }


def _version(row: Any) -> DocumentVersion:
    return DocumentVersion(
        id=row.id,
        document_id=row.document_id,
        number=row.number,
        state=DocumentState(row.state),
        stored_at=from_micros(row.stored_at),
        digest=row.digest,
        size=row.size,
        media=row.media,
        title=row.title,
        summary=row.summary,
        pages=row.pages,
        done_pages=row.done_pages,
        chunks=row.chunks,
        embedded=row.embedded,
        reused=row.reused,
        valid_from=rows.moment(row.valid_from),
        valid_to=rows.moment(row.valid_to),
        ready_at=rows.moment(row.ready_at),
        error=row.error,
        error_page=row.error_page,
        seconds=rows.from_json(row.seconds) or {},
        metadata=rows.from_json(row.metadata) or {},
        notes=tuple(rows.from_json(row.notes) or ()),
    )


def _document(row: Any, latest: DocumentVersion, current: DocumentVersion | None) -> Document:
    return Document(
        id=row.id,
        cube=row.cube,
        cube_key=row.cube_key,
        name=row.name,
        origin=Origin(row.origin),
        address=row.address,
        created_at=from_micros(row.created_at),
        latest=latest,
        current=current,
        metadata=rows.from_json(row.metadata) or {},
        refresh=Refresh(
            hours=row.refresh_hours,
            due=rows.moment(row.refresh_due),
            checked_at=rows.moment(row.checked_at),
            etag=row.etag,
            modified=row.modified,
            found=row.found,
        ),
        job=row.job,
    )
