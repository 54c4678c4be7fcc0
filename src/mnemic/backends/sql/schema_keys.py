"""The tables of those who call from outside: their keys, what they did, and what was replied to them.

None of them holds what people said but `reply`, for a day, and less when it is forgotten. They are not of one cube: a
key is looked up before it is known which cube a call is about. Times are as in `schema`.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, Table, Text, text

from mnemic.backends.sql.columns import metadata

api_key = Table(
    "api_key",
    metadata,
    Column("id", Text, primary_key=True),
    Column("prefix", Text, nullable=False, unique=True),
    Column("digest", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("project", Text, nullable=False),
    Column("users", Text),
    Column("cubes", Text),
    Column("powers", Text, nullable=False),
    Column("per_minute", Integer, nullable=False, server_default=text("0")),
    Column("per_day", Integer, nullable=False, server_default=text("0")),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("last_used_at", BigInteger),
    Column("revoked_at", BigInteger),
)

key_use = Table(
    "key_use",
    metadata,
    Column("key_id", Text, primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("process", Text, primary_key=True),
    Column("calls", Integer, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("key_id", Text),
    Column("project", Text, nullable=False, server_default=text("''")),
    Column("principal", Text),
    Column("verb", Text, nullable=False),
    Column("cube_id", Text),
    Column("outcome", Text, nullable=False),
    Column("trace", Text, nullable=False, server_default=text("''")),
    Column("calls", Integer, nullable=False, server_default=text("1")),
    Index(None, "key_id", "id"),
    Index(None, "cube_id", "id"),
    Index(None, "at"),
)

reply = Table(
    "reply",
    metadata,
    Column("key_id", Text, primary_key=True),
    Column("token", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("cube_id", Text, nullable=False),
    Column("begun_at", BigInteger, nullable=False),
    Column("status", Integer),
    Column("body", LargeBinary),
    Index(None, "begun_at"),
    Index(None, "cube_id"),
)
