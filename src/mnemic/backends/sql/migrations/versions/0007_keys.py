"""Keys, how often they are used, what was done with them, and replies that are given again."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0007"
down_revision = "0006"

_STATEMENTS: Final = (
    """CREATE TABLE api_key (
    id {text} NOT NULL,
    prefix {text} NOT NULL,
    digest {text} NOT NULL,
    name {text} NOT NULL,
    project {text} NOT NULL,
    users {text},
    cubes {text},
    powers {text} NOT NULL,
    per_minute INTEGER DEFAULT 0 NOT NULL,
    per_day INTEGER DEFAULT 0 NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    revoked_at BIGINT,
    CONSTRAINT pk_api_key PRIMARY KEY (id),
    CONSTRAINT uq_api_key_prefix UNIQUE (prefix)
)""",
    """CREATE TABLE key_use (
    key_id {text} NOT NULL,
    day INTEGER NOT NULL,
    process {text} NOT NULL,
    calls INTEGER NOT NULL,
    CONSTRAINT pk_key_use PRIMARY KEY (key_id, day, process)
)""",
    """CREATE TABLE audit (
    id {text} NOT NULL,
    at BIGINT NOT NULL,
    key_id {text},
    project {text} DEFAULT '' NOT NULL,
    principal {text},
    verb {text} NOT NULL,
    cube_id {text},
    outcome {text} NOT NULL,
    trace {text} DEFAULT '' NOT NULL,
    calls INTEGER DEFAULT 1 NOT NULL,
    CONSTRAINT pk_audit PRIMARY KEY (id)
)""",
    "CREATE INDEX ix_audit_key_id_id ON audit (key_id, id)",
    "CREATE INDEX ix_audit_cube_id_id ON audit (cube_id, id)",
    "CREATE INDEX ix_audit_at ON audit (at)",
    """CREATE TABLE reply (
    key_id {text} NOT NULL,
    token {text} NOT NULL,
    digest {text} NOT NULL,
    cube_id {text} NOT NULL,
    begun_at BIGINT NOT NULL,
    status INTEGER,
    body {bytes},
    CONSTRAINT pk_reply PRIMARY KEY (key_id, token)
)""",
    "CREATE INDEX ix_reply_begun_at ON reply (begun_at)",
    "CREATE INDEX ix_reply_cube_id ON reply (cube_id)",
)


def upgrade() -> None:
    """Create the tables. Text is compared byte by byte on both engines, as in 0006."""
    connection = op.get_bind()
    sqlite = connection.dialect.name == "sqlite"
    kinds = {"text": "TEXT" if sqlite else 'text COLLATE "C"', "bytes": "BLOB" if sqlite else "bytea"}
    for statement in _STATEMENTS:
        connection.exec_driver_sql(statement.format(**kinds))
