"""Which blobs a cube has, in SQL: a row for each, marked when nothing names it any more."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, literal_column, select, update

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.model.moment import from_micros, to_micros
from mnemic.ports.blobs import Blob

_BLOB = s.blob.c
_MINE = _BLOB.digest
_NAMED = (
    select(s.document_version.c.id)
    .where(s.document_version.c.cube_key == _BLOB.cube_key, s.document_version.c.digest == _MINE)
    .exists()
    | select(s.attachment.c.id)
    .where(s.attachment.c.cube_key == _BLOB.cube_key, s.attachment.c.digest == _MINE)
    .exists()
    | select(s.attachment.c.id)
    .where(
        s.attachment.c.cube_key == _BLOB.cube_key,
        s.attachment.c.thumbnail == _MINE,
        s.attachment.c.thumbnail != literal_column("''"),  # written out, as in the condition of its index
    )
    .exists()
)
"""A version, an attachment or a thumbnail names the blob."""


class SqlKeptBlobs:
    """Implements `ports.documents.KeptBlobs`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def note(self, cube_key: int, blobs: Collection[Blob], at: datetime) -> None:
        """Note that these blobs are kept; one that was marked is no more."""
        for blob in {blob.digest: blob for blob in blobs}.values():
            mine = (_BLOB.cube_key == cube_key, _BLOB.digest == blob.digest)
            if not self._connection.execute(update(s.blob).where(*mine).values(doomed=0)).rowcount:
                values = {"cube_key": cube_key, "digest": blob.digest, "size": blob.size, "stored_at": to_micros(at)}
                self._connection.execute(insert(s.blob), values)

    def known(self, cube_key: int, digests: Collection[str]) -> Collection[str]:
        """Return those of these blobs that have a row, marked or not."""
        found: set[str] = set()
        for some in rows.parts(digests):
            query = select(_BLOB.digest).where(_BLOB.cube_key == cube_key, _BLOB.digest.in_(some))
            found.update(self._connection.scalars(query))
        return found

    def size(self, cube_key: int) -> int:
        """Return the bytes of a cube's blobs."""
        query = select(func.coalesce(func.sum(_BLOB.size), 0)).where(_BLOB.cube_key == cube_key, _BLOB.doomed == 0)
        return int(self._connection.scalar(query) or 0)

    def count(self, cube_key: int) -> int:
        """Return how many blobs a cube has."""
        query = select(func.count()).select_from(s.blob).where(_BLOB.cube_key == cube_key, _BLOB.doomed == 0)
        return int(self._connection.scalar(query) or 0)

    def every(self, cube_key: int) -> Mapping[str, int]:
        """Return the digests and sizes of a cube's blobs, without marked ones."""
        query = select(_BLOB.digest, _BLOB.size).where(_BLOB.cube_key == cube_key, _BLOB.doomed == 0)
        return {row.digest: row.size for row in self._connection.execute(query.order_by(_BLOB.digest))}

    def doom(self, cube_key: int) -> Sequence[str]:
        """Mark the blobs that no version, attachment or thumbnail names any more; return all marked ones."""
        mine = _BLOB.cube_key == cube_key
        self._connection.execute(update(s.blob).where(mine, _BLOB.doomed == 0, ~_NAMED).values(doomed=1))
        query = select(_BLOB.digest).where(mine, _BLOB.doomed == 1).order_by(_BLOB.digest)
        return list(self._connection.scalars(query))

    def drop(self, cube_key: int, digests: Collection[str]) -> None:
        """Drop the rows of marked blobs that are erased."""
        for some in rows.parts(digests):
            mine = (_BLOB.cube_key == cube_key, _BLOB.digest.in_(some), _BLOB.doomed == 1)
            self._connection.execute(delete(s.blob).where(*mine))

    def erased_cubes(self) -> Sequence[tuple[str, datetime]]:
        """Return the ids of erased cubes whose files are still to be erased, and when each was erased."""
        query = select(s.erased_cube).order_by(s.erased_cube.c.erased_at)
        return [(row.id, from_micros(row.erased_at)) for row in self._connection.execute(query)]

    def drop_erased(self, cube_id: str) -> None:
        """Note that the files of an erased cube are erased too."""
        self._connection.execute(delete(s.erased_cube).where(s.erased_cube.c.id == cube_id))

    def cubes_with_doomed(self) -> Sequence[tuple[int, str]]:
        """Return the cubes (key, id) that have marked blobs."""
        marked = select(_BLOB.cube_key).where(_BLOB.doomed == 1).distinct()
        query = select(s.cube.c.key, s.cube.c.id).where(s.cube.c.key.in_(marked)).order_by(s.cube.c.key)
        return [(row.key, row.id) for row in self._connection.execute(query)]
