"""Tables of knowledge bases and of what comes with messages: documents, their versions, chunks, attachments, blobs."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, Table, Text, UniqueConstraint, text

from mnemic.backends.sql.columns import Words, an_id, flag, metadata, of_cube, refers, some

blob = Table(
    "blob",
    metadata,
    of_cube(),
    Column("digest", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("stored_at", BigInteger, nullable=False),
    flag("doomed"),
    Index("ix_blob_doomed", "cube_key", "digest", **some("doomed = 1")),
    sqlite_with_rowid=False,
)

document = Table(
    "document",
    metadata,
    of_cube(),
    an_id(),
    Column("name", Words, nullable=False),
    Column("name_hash", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("address", Words, nullable=False, server_default=text("''")),
    Column("metadata", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("job", Text),
    Column("refresh_hours", Float),
    Column("refresh_due", BigInteger),
    Column("checked_at", BigInteger),
    Column("etag", Words, nullable=False, server_default=text("''")),
    Column("modified", Words, nullable=False, server_default=text("''")),
    Column("found", Words, nullable=False, server_default=text("''")),
    UniqueConstraint("cube_key", "name_hash"),
    Index("ix_document_due", "refresh_due", **some("refresh_due IS NOT NULL")),
)

document_version = Table(
    "document_version",
    metadata,
    of_cube(),
    an_id(),
    Column("document_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("stored_at", BigInteger, nullable=False),
    Column("digest", Text, nullable=False, server_default=text("''")),
    Column("size", BigInteger, nullable=False, server_default=text("0")),
    Column("media", Text, nullable=False, server_default=text("''")),
    Column("title", Words, nullable=False, server_default=text("''")),
    Column("summary", Words, nullable=False, server_default=text("''")),
    Column("pages", Integer, nullable=False, server_default=text("0")),
    Column("done_pages", Integer, nullable=False, server_default=text("0")),
    Column("chunks", Integer, nullable=False, server_default=text("0")),
    Column("embedded", Integer, nullable=False, server_default=text("0")),
    Column("reused", Integer, nullable=False, server_default=text("0")),
    Column("valid_from", BigInteger),
    Column("valid_to", BigInteger),
    Column("ready_at", BigInteger),
    Column("error", Words, nullable=False, server_default=text("''")),
    Column("error_page", Integer),
    Column("seconds", Text),
    Column("metadata", Words),
    Column("notes", Words),
    Column("password", Words),
    UniqueConstraint("cube_key", "document_id", "number"),
    refers("document_id", "document"),
    Index(None, "cube_key", "digest"),
)

chunk = Table(
    "chunk",
    metadata,
    of_cube(),
    an_id(),
    Column("document_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Words, nullable=False),
    Column("hash", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    refers("document_id", "document"),
    Index(None, "cube_key", "document_id"),
)

chunk_place = Table(
    "chunk_place",
    metadata,
    of_cube(),
    Column("version_id", Text, primary_key=True),
    Column("chunk_id", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("parent", Text),
    Column("headings", Words, nullable=False, server_default=text("'[]'")),
    Column("page", Integer),
    Column("last_page", Integer),
    Column("row", Integer),
    Column("part", Words, nullable=False, server_default=text("''")),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    refers("version_id", "document_version"),
    refers("chunk_id", "chunk"),
    Index(None, "cube_key", "version_id", "position"),
    Index(None, "cube_key", "chunk_id"),
    sqlite_with_rowid=False,
)
"""Where a chunk stands in a version of its document. What stands in several versions is one chunk."""

attachment = Table(
    "attachment",
    metadata,
    of_cube(),
    an_id(),
    Column("message_id", Text, nullable=False),
    Column("part", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("media", Text, nullable=False),
    Column("name", Words, nullable=False, server_default=text("''")),
    Column("caption", Words, nullable=False, server_default=text("''")),
    Column("text", Words, nullable=False, server_default=text("''")),
    Column("description", Words, nullable=False, server_default=text("''")),
    Column("seen", Words),
    Column("thumbnail", Text, nullable=False, server_default=text("''")),
    Column("taken_at", BigInteger),
    Column("taken_offset", Integer),
    Column("latitude", Float),
    Column("longitude", Float),
    Column("error", Words, nullable=False, server_default=text("''")),
    UniqueConstraint("cube_key", "message_id", "part"),
    refers("message_id", "message"),
    Index("ix_attachment_waiting", "cube_key", "id", **some("state = 'queued'")),
    Index(None, "cube_key", "digest"),
    Index("ix_attachment_thumbnail", "cube_key", "thumbnail", **some("thumbnail <> ''")),
)

erased_cube = Table(
    "erased_cube",
    metadata,
    Column("id", Text, primary_key=True),
    Column("erased_at", BigInteger, nullable=False),
)
"""Cubes that are erased, and whose files are still to be."""
