"""The relational schema, in SQLAlchemy Core, the same for every engine.

Every primary key begins with the cube, every reference between tables of cubes too, so that a cluster can keep a cube
on one machine (`CUBES`); the few tables that are not of one cube are small or written seldom (`REFERENCE`). Ids are
unique inside their cube. Where SQLite wants a row's number as its primary key (`entry`, `vector`), migrations say so.

Times are microseconds since 1970 in UTC (BIGINT), with the minutes east of UTC beside them where the zone was said.
JSON is kept as text that Python wrote, so that whatever a caller gave comes back verbatim, NUL and lone surrogates
included. What only one engine can do (full text, partial upserts) stands in its dialect file, not here; so do the
conditions of indexes for other engines than SQLite, as naming an engine here imports all of its drivers.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from mnemic.backends.sql.columns import FOLDED, Key, Sought, Words, an_id, flag, metadata, of_cube, refers, some
from mnemic.backends.sql.schema_documents import (
    attachment,
    blob,
    chunk,
    chunk_place,
    document,
    document_version,
    erased_cube,
)
from mnemic.backends.sql.schema_keys import api_key, audit, key_use, reply

__all__ = [
    "FOLDED",
    "Sought",
    "Words",
    "api_key",
    "attachment",
    "audit",
    "blob",
    "chunk",
    "chunk_place",
    "document",
    "document_version",
    "erased_cube",
    "key_use",
    "metadata",
    "reply",
]  # fmt: skip  # from beside this file

HEAD: Final = "0008"
"""The newest migration; a test holds it to the migrations folder."""

store_info = Table(
    "store_info",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

cube = Table(
    "cube",
    metadata,
    Column("key", Key, Identity(), primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("description", Words, nullable=False, server_default=text("''")),
    flag("learns"),
    UniqueConstraint("owner", "kind", "name"),
    sqlite_autoincrement=True,
)

cube_grant = Table(
    "cube_grant",
    metadata,
    Column("cube_key", Key, ForeignKey("cube.key", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("principal", Text, primary_key=True),
    Column("role", Text, nullable=False),
    flag("bound"),
    Index(None, "principal"),
    Index("ix_cube_grant_bound", "principal", "cube_key", **some("bound = 1")),
)

cube_state = Table(
    "cube_state",
    metadata,
    of_cube(),
    Column("revision", BigInteger, nullable=False, server_default=text("0")),
    Column("erasures", BigInteger, nullable=False, server_default=text("0")),
    Column("latest_said", BigInteger),
    Column("stale_text", BigInteger, nullable=False, server_default=text("0")),
)

session = Table(
    "session",
    metadata,
    of_cube(),
    an_id(),
    Column("name", Text, nullable=False),
    Column("messages", Integer, nullable=False, server_default=text("0")),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger, nullable=False),
    UniqueConstraint("cube_key", "name"),
)

segment = Table(
    "segment",
    metadata,
    of_cube(),
    an_id(),
    Column("title", Words, nullable=False, server_default=text("''")),
    Column("summary", Words, nullable=False),
    Column("described", Integer, nullable=False, server_default=text("0")),
    Column("keywords", Text, nullable=False),
    Column("centroid", LargeBinary, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("visits", Integer, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger, nullable=False),
    Column("touched_at", BigInteger, nullable=False),
    Column("archived", Boolean, nullable=False, server_default=text("false")),
)

page = Table(
    "page",
    metadata,
    of_cube(),
    an_id(),
    Column("session_id", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("opened_by", Text, nullable=False),
    Column("replied", Boolean, nullable=False),
    Column("messages", Integer, nullable=False),
    Column("last_role", Text, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger, nullable=False),
    Column("segment_id", Text),
    Column("chain_id", Text),
    Column("analysed", Boolean, nullable=False, server_default=text("false")),
    UniqueConstraint("cube_key", "session_id", "position"),
    refers("session_id", "session"),
    refers("segment_id", "segment", cascade=False),
    Index(None, "cube_key", "segment_id"),
)

message = Table(
    "message",
    metadata,
    of_cube(),
    an_id(),
    Column("session_id", Text, nullable=False),
    Column("page_id", Text),
    Column("position", Integer, nullable=False),
    Column("role", Text, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("said_at", BigInteger, nullable=False),
    Column("said_offset", Integer, nullable=False),
    Column("stored_at", BigInteger, nullable=False),
    Column("external_id", Text),
    Column("agent", Text),
    Column("metadata", Text),
    Column("dedupe", Text, nullable=False),
    flag("extracted"),
    flag("refined"),
    UniqueConstraint("cube_key", "session_id", "dedupe"),
    UniqueConstraint("cube_key", "session_id", "position"),
    refers("session_id", "session"),
    refers("page_id", "page", cascade=False),
    Index(None, "cube_key", "page_id"),
    Index("ix_message_to_extract", "cube_key", "id", **some("extracted = 0")),
    Index("ix_message_to_refine", "cube_key", "id", **some("refined = 0")),
)

memory = Table(
    "memory",
    metadata,
    of_cube(),
    an_id(),
    Column("kind", Text, nullable=False),
    Column("subject", Words, nullable=False),
    Column("subject_key", Sought, nullable=False, info={FOLDED: "subject"}),
    Column("attribute", Words, nullable=False),
    Column("value_key", Words, nullable=False),
    Column("locked", Boolean, nullable=False, server_default=text("false")),
    Column("created_at", BigInteger, nullable=False),
    Index(None, "cube_key", "subject_key", "attribute"),
)

memory_version = Table(
    "memory_version",
    metadata,
    of_cube(),
    an_id(),
    Column("memory_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("text", Words, nullable=False),
    Column("value", Words, nullable=False),
    Column("polarity", Integer, nullable=False),
    Column("valid_from", BigInteger, nullable=False),
    Column("valid_to", BigInteger),
    Column("time", Text),
    Column("recorded_at", BigInteger, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("change", Text, nullable=False),
    Column("drawn_by", Text, nullable=False, server_default=text("''")),
    Column("reason", Words, nullable=False, server_default=text("''")),
    UniqueConstraint("cube_key", "memory_id", "number"),
    refers("memory_id", "memory"),
)

source = Table(
    "source",
    metadata,
    of_cube(),
    Column("version_id", Text, primary_key=True),
    Column("message_id", Text, primary_key=True),
    Column("part", SmallInteger, primary_key=True, autoincrement=False),
    Column("quote", Words, nullable=False),
    Column("holds_from", BigInteger),
    Column("holds_to", BigInteger),
    refers("version_id", "memory_version"),
    refers("message_id", "message"),
    Index(None, "cube_key", "message_id"),
    sqlite_with_rowid=False,
)

relation = Table(
    "relation",
    metadata,
    of_cube(),
    Column("kind", Text, primary_key=True),
    Column("from_id", Text, primary_key=True),
    Column("to_id", Text, primary_key=True),
    Column("created_at", BigInteger, nullable=False),
    Index(None, "cube_key", "from_id"),
    Index(None, "cube_key", "to_id"),
)

entity = Table(
    "entity",
    metadata,
    of_cube(),
    an_id(),
    Column("name", Words, nullable=False),
    Column("name_key", Sought, nullable=False, info={FOLDED: "name"}),
    Column("type", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("cube_key", "name_key", "type"),
)

mention = Table(
    "mention",
    metadata,
    of_cube(),
    Column("entity_id", Text, primary_key=True),
    Column("message_id", Text, primary_key=True),
    Column("quote", Words, nullable=False),
    refers("entity_id", "entity"),
    refers("message_id", "message"),
    Index(None, "cube_key", "message_id"),
    sqlite_with_rowid=False,
)

change = Table(
    "change",
    metadata,
    of_cube(),
    an_id(),
    Column("kind", Text, nullable=False),
    Column("asked", Words, nullable=False),
    Column("steps", Words, nullable=False),
    Column("made_at", BigInteger, nullable=False),
    Column("undone_at", BigInteger),
)

model_call = Table(
    "model_call",
    metadata,
    of_cube(),
    an_id(),
    Column("purpose", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("outcome", Text, nullable=False),
    Index(None, "cube_key", "at"),
)

forgotten = Table(
    "forgotten",
    metadata,
    of_cube(),
    Column("mark", Text, primary_key=True),
    sqlite_with_rowid=False,
)

entry = Table(
    "entry",
    metadata,
    of_cube(),
    Column("key", Key, Identity(), primary_key=True),
    Column("kind", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("version_id", Text),
    Column("session_id", Text),
    Column("position", Integer, nullable=False, server_default=text("0")),
    Column("start", Integer, nullable=False, server_default=text("0")),
    Column("end", Integer, nullable=False, server_default=text("0")),
    Column("speaker", Words, nullable=False),
    Column("said_at", BigInteger, nullable=False),
    Column("valid_to", BigInteger),
    Column("length", Integer, nullable=False),
    Column("traits", Integer, nullable=False, server_default=text("0")),
    Column("live", Boolean, nullable=False, server_default=text("true")),
    Column("changed", BigInteger, nullable=False),
    Index(None, "cube_key", "changed"),
    Index(None, "cube_key", "owner"),
)

vector = Table(
    "vector",
    metadata,
    of_cube(),
    Column("entry_key", Key, primary_key=True, autoincrement=False),
    Column("model", Text, nullable=False),
    Column("width", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["cube_key", "entry_key"], ["entry.cube_key", "entry.key"], name="fk_vector_entry_key", ondelete="CASCADE"
    ),
)

LATER, BEHIND, AT_HEAD, OFFERED = 0, 1, 2, 3
"""Where a waiting job stands (`ports.jobs.Turns`); NULL for one that runs or has ended."""

job = Table(
    "job",
    metadata,
    of_cube(),
    an_id(),
    Column("kind", Text, nullable=False),
    Column("lane", Text, nullable=False),
    Column("priority", SmallInteger, nullable=False),
    Column("alone", SmallInteger, nullable=False),
    Column("merge", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("place", SmallInteger),
    Column("turn", Float, nullable=False, server_default=text("0")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("created_at", BigInteger, nullable=False),
    Column("not_before", BigInteger, nullable=False),
    Column("lease_until", BigInteger),
    Column("worker", Text),
    Column("started_at", BigInteger),
    Column("finished_at", BigInteger),
    Column("changed_at", BigInteger, nullable=False),
    Column("done", Integer, nullable=False, server_default=text("0")),
    Column("error", Words),
    Column("payload", Text, nullable=False, server_default=text("'{}'")),
    Column("parent", Text),
    Column("trace", Text, nullable=False, server_default=text("''")),
    Index("uq_job_waiting", "cube_key", "kind", "merge", unique=True, **some("state = 'queued'")),
    Index("ix_job_heads", "lane", "priority", "turn", **some("place = 2")),
    Index("ix_job_later", "lane", "not_before", **some("place = 0")),
    Index("ix_job_standing", "cube_key", "lane", "kind", "place", "priority", "id", **some("place IS NOT NULL")),
    Index("ix_job_leased", "lane", "lease_until", **some("lease_until IS NOT NULL")),
    Index("ix_job_running", "cube_key", "lane", **some("state = 'running'")),
    Index("ix_job_dead", "cube_key", "id", **some("state = 'dead'")),
    Index("ix_job_parent", "cube_key", "parent", **some("parent IS NOT NULL")),
    Index(None, "cube_key", "changed_at", "id"),
)

job_task = Table(
    "job_task",
    metadata,
    of_cube(),
    Column("task", Text, primary_key=True),
    Column("job_id", Text, primary_key=True),
    refers("job_id", "job"),
    Index(None, "cube_key", "job_id"),
    sqlite_with_rowid=False,
)

cube_share = Table(
    "cube_share",
    metadata,
    of_cube(),
    Column("weight", Float, nullable=False, server_default=text("1")),
    Column("most_running", Integer, nullable=False, server_default=text("0")),
    Column("per_minute", Integer, nullable=False, server_default=text("0")),
    Column("tokens", Float, nullable=False, server_default=text("0")),
    Column("refilled_at", BigInteger),
)

cube_turn = Table(
    "cube_turn",
    metadata,
    of_cube(),
    Column("lane", Text, primary_key=True),
    Column("priority", SmallInteger, primary_key=True, autoincrement=False),
    Column("turn", Float, nullable=False),
    sqlite_with_rowid=False,
)

virtual_time = Table(
    "virtual_time",
    metadata,
    Column("lane", Text, primary_key=True),
    Column("priority", SmallInteger, primary_key=True, autoincrement=False),
    Column("turn", Float, nullable=False),
)

periodic = Table(
    "periodic",
    metadata,
    Column("name", Text, primary_key=True),
    Column("next_due", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("outcome", Text, nullable=False, server_default=text("''")),
    Column("worker", Text),
    Column("lease_until", BigInteger),
)

REFERENCE: Final = (
    store_info, cube, cube_grant, erased_cube, virtual_time, periodic, api_key, key_use, audit, reply,
)  # fmt: skip
"""Tables that are not of one cube. In a cluster they are copied to every machine."""

CUBES: Final = tuple(table for table in metadata.tables.values() if table not in REFERENCE)
"""Tables whose rows are of one cube each. In a cluster they are spread by `cube_key`."""
