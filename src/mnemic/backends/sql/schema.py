"""The relational schema, in SQLAlchemy Core, the same for every engine.

Times are microseconds since 1970 in UTC (BIGINT), with the minutes east of UTC beside them where the zone was said.
JSON is kept as text that Python wrote, so that whatever a caller gave comes back verbatim, NUL and lone surrogates
included. What only one engine can do (full text, partial upserts) stands in its dialect file, not here; so do the
conditions of indexes for other engines than SQLite, as naming an engine here imports all of its drivers.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)

HEAD: Final = "0005"
"""The newest migration; a test holds it to the migrations folder."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_Key = BigInteger().with_variant(Integer, "sqlite")


class Words(TypeDecorator[str]):
    """Text that was derived from what people wrote: engines hold no lone surrogates, so these become U+FFFD."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """Return what the engine can hold."""
        if value is None or value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _cube() -> Column[int]:
    return Column("cube_key", _Key, ForeignKey("cube.key", ondelete="CASCADE"), nullable=False)


def _id() -> Column[str]:
    return Column("id", Text, primary_key=True)


store_info = Table(
    "store_info",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

cube = Table(
    "cube",
    metadata,
    Column("key", _Key, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("revision", BigInteger, nullable=False, server_default=text("0")),
    Column("erasures", BigInteger, nullable=False, server_default=text("0")),
    Column("latest_said", BigInteger),
    Column("stale_text", BigInteger, nullable=False, server_default=text("0")),
    UniqueConstraint("owner", "kind", "name"),
    sqlite_autoincrement=True,
)

cube_grant = Table(
    "cube_grant",
    metadata,
    Column("cube_key", _Key, ForeignKey("cube.key", ondelete="CASCADE"), primary_key=True),
    Column("principal", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Index(None, "principal"),
)

session = Table(
    "session",
    metadata,
    _id(),
    _cube(),
    Column("name", Text, nullable=False),
    Column("messages", Integer, nullable=False, server_default=text("0")),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger, nullable=False),
    UniqueConstraint("cube_key", "name"),
)

page = Table(
    "page",
    metadata,
    _id(),
    _cube(),
    Column("session_id", Text, ForeignKey("session.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("opened_by", Text, nullable=False),
    Column("replied", Boolean, nullable=False),
    Column("messages", Integer, nullable=False),
    Column("last_role", Text, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger, nullable=False),
    Column("segment_id", Text, ForeignKey("segment.id", ondelete="SET NULL")),
    Column("chain_id", Text),
    Column("analysed", Boolean, nullable=False, server_default=text("0")),
    UniqueConstraint("session_id", "position"),
    Index(None, "segment_id"),
    Index(None, "cube_key", "segment_id"),
)

message = Table(
    "message",
    metadata,
    _id(),
    _cube(),
    Column("session_id", Text, ForeignKey("session.id", ondelete="CASCADE"), nullable=False),
    Column("page_id", Text, ForeignKey("page.id", ondelete="SET NULL")),
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
    Column("extracted", Boolean, nullable=False, server_default=text("0")),
    Column("refined", Integer, nullable=False, server_default=text("0")),
    UniqueConstraint("session_id", "dedupe"),
    UniqueConstraint("session_id", "position"),
    Index(None, "page_id"),
    Index(None, "cube_key", "id"),
    Index(
        "ix_message_to_extract",
        "cube_key",
        "id",
        sqlite_where=text("extracted = 0"),
    ),
    Index(
        "ix_message_to_refine",
        "cube_key",
        "id",
        sqlite_where=text("refined = 0"),
    ),
)

segment = Table(
    "segment",
    metadata,
    _id(),
    _cube(),
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
    Column("archived", Boolean, nullable=False, server_default=text("0")),
    Index(None, "cube_key"),
)

memory = Table(
    "memory",
    metadata,
    _id(),
    _cube(),
    Column("kind", Text, nullable=False),
    Column("subject", Words, nullable=False),
    Column("subject_key", Words, nullable=False),
    Column("attribute", Words, nullable=False),
    Column("value_key", Words, nullable=False),
    Column("locked", Boolean, nullable=False, server_default=text("0")),
    Column("created_at", BigInteger, nullable=False),
    Index(None, "cube_key", "subject_key", "attribute"),
    Index(None, "cube_key", "id"),
)

memory_version = Table(
    "memory_version",
    metadata,
    _id(),
    _cube(),
    Column("memory_id", Text, ForeignKey("memory.id", ondelete="CASCADE"), nullable=False),
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
    UniqueConstraint("memory_id", "number"),
    Index(None, "cube_key"),
)

source = Table(
    "source",
    metadata,
    Column("version_id", Text, ForeignKey("memory_version.id", ondelete="CASCADE"), primary_key=True),
    Column("message_id", Text, ForeignKey("message.id", ondelete="CASCADE"), primary_key=True),
    Column("quote", Words, primary_key=True),
    Column("holds_from", BigInteger),
    Column("holds_to", BigInteger),
    Index(None, "message_id"),
    sqlite_with_rowid=False,
)

relation = Table(
    "relation",
    metadata,
    _cube(),
    Column("kind", Text, primary_key=True),
    Column("from_id", Text, primary_key=True),
    Column("to_id", Text, primary_key=True),
    Column("created_at", BigInteger, nullable=False),
    Index(None, "cube_key"),
    Index(None, "from_id"),
    Index(None, "to_id"),
)

entity = Table(
    "entity",
    metadata,
    _id(),
    _cube(),
    Column("name", Words, nullable=False),
    Column("name_key", Words, nullable=False),
    Column("type", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("cube_key", "name_key", "type"),
)

mention = Table(
    "mention",
    metadata,
    Column("entity_id", Text, ForeignKey("entity.id", ondelete="CASCADE"), primary_key=True),
    Column("message_id", Text, ForeignKey("message.id", ondelete="CASCADE"), primary_key=True),
    Column("quote", Words, nullable=False),
    Index(None, "message_id"),
    sqlite_with_rowid=False,
)

change = Table(
    "change",
    metadata,
    _id(),
    _cube(),
    Column("kind", Text, nullable=False),
    Column("asked", Words, nullable=False),
    Column("steps", Words, nullable=False),
    Column("made_at", BigInteger, nullable=False),
    Column("undone_at", BigInteger),
    Index(None, "cube_key", "id"),
)

model_call = Table(
    "model_call",
    metadata,
    _id(),
    _cube(),
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
    Column("cube_key", _Key, ForeignKey("cube.key", ondelete="CASCADE"), primary_key=True),
    Column("mark", Text, primary_key=True),
    sqlite_with_rowid=False,
)

entry = Table(
    "entry",
    metadata,
    Column("key", _Key, primary_key=True, autoincrement=True),
    _cube(),
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
    Column("live", Boolean, nullable=False, server_default=text("1")),
    Column("changed", BigInteger, nullable=False),
    Index(None, "cube_key", "changed"),
    Index(None, "owner"),
    sqlite_autoincrement=True,
)

vector = Table(
    "vector",
    metadata,
    Column("entry_key", _Key, ForeignKey("entry.key", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("model", Text, nullable=False),
    Column("width", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

job = Table(
    "job",
    metadata,
    _id(),
    _cube(),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("created_at", BigInteger, nullable=False),
    Column("not_before", BigInteger, nullable=False),
    Column("lease_until", BigInteger),
    Column("worker", Text),
    Column("started_at", BigInteger),
    Column("finished_at", BigInteger),
    Column("done", Integer, nullable=False, server_default=text("0")),
    Column("error", Words),
    Index(
        "uq_job_waiting",
        "cube_key",
        "kind",
        unique=True,
        sqlite_where=text("state = 'queued'"),
    ),
    Index(None, "state", "not_before"),
    Index(None, "cube_key", "id"),
)
