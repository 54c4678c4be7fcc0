"""Knowledge bases (documents, versions, chunks), what comes with messages, and which blobs are kept."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0008"
down_revision = "0007"

_STATEMENTS: Final = (
    "ALTER TABLE cube ADD COLUMN description {text} DEFAULT '' NOT NULL",
    "ALTER TABLE cube ADD COLUMN learns SMALLINT DEFAULT 0 NOT NULL",
    "ALTER TABLE cube_grant ADD COLUMN bound SMALLINT DEFAULT 0 NOT NULL",
    "CREATE INDEX ix_cube_grant_bound ON cube_grant (principal, cube_key) WHERE bound = 1",
    # Knowledge bases that were made as plain cubes are searched by their owners from now on.
    """UPDATE cube_grant SET bound = 1 WHERE role = 'owner' AND cube_key IN (
    SELECT "key" FROM cube WHERE kind = 'knowledge'
)""",
    """CREATE TABLE blob (
    cube_key {key} NOT NULL,
    digest {text} NOT NULL,
    size BIGINT NOT NULL,
    stored_at BIGINT NOT NULL,
    doomed SMALLINT DEFAULT 0 NOT NULL,
    CONSTRAINT pk_blob PRIMARY KEY (cube_key, digest),
    CONSTRAINT fk_blob_cube_key FOREIGN KEY (cube_key) REFERENCES cube ("key") ON DELETE CASCADE
){without_rowid}""",
    "CREATE INDEX ix_blob_doomed ON blob (cube_key, digest) WHERE doomed = 1",
    """CREATE TABLE document (
    cube_key {key} NOT NULL,
    id {text} NOT NULL,
    name {text} NOT NULL,
    name_hash {text} NOT NULL,
    origin {text} NOT NULL,
    address {text} DEFAULT '' NOT NULL,
    metadata {text},
    created_at BIGINT NOT NULL,
    job {text},
    refresh_hours {float},
    refresh_due BIGINT,
    checked_at BIGINT,
    etag {text} DEFAULT '' NOT NULL,
    modified {text} DEFAULT '' NOT NULL,
    found {text} DEFAULT '' NOT NULL,
    CONSTRAINT pk_document PRIMARY KEY (cube_key, id),
    CONSTRAINT uq_document_cube_key_name_hash UNIQUE (cube_key, name_hash),
    CONSTRAINT fk_document_cube_key FOREIGN KEY (cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "CREATE INDEX ix_document_due ON document (refresh_due) WHERE refresh_due IS NOT NULL",
    """CREATE TABLE document_version (
    cube_key {key} NOT NULL,
    id {text} NOT NULL,
    document_id {text} NOT NULL,
    number INTEGER NOT NULL,
    state {text} NOT NULL,
    stored_at BIGINT NOT NULL,
    digest {text} DEFAULT '' NOT NULL,
    size BIGINT DEFAULT 0 NOT NULL,
    media {text} DEFAULT '' NOT NULL,
    title {text} DEFAULT '' NOT NULL,
    summary {text} DEFAULT '' NOT NULL,
    pages INTEGER DEFAULT 0 NOT NULL,
    done_pages INTEGER DEFAULT 0 NOT NULL,
    chunks INTEGER DEFAULT 0 NOT NULL,
    embedded INTEGER DEFAULT 0 NOT NULL,
    reused INTEGER DEFAULT 0 NOT NULL,
    valid_from BIGINT,
    valid_to BIGINT,
    ready_at BIGINT,
    error {text} DEFAULT '' NOT NULL,
    error_page INTEGER,
    seconds {text},
    metadata {text},
    notes {text},
    password {text},
    CONSTRAINT pk_document_version PRIMARY KEY (cube_key, id),
    CONSTRAINT uq_document_version_cube_key_document_id_number UNIQUE (cube_key, document_id, number),
    CONSTRAINT fk_document_version_cube_key_document_id
        FOREIGN KEY (cube_key, document_id) REFERENCES document (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_document_version_cube_key FOREIGN KEY (cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "CREATE INDEX ix_document_version_cube_key_digest ON document_version (cube_key, digest)",
    """CREATE TABLE chunk (
    cube_key {key} NOT NULL,
    id {text} NOT NULL,
    document_id {text} NOT NULL,
    kind {text} NOT NULL,
    text {text} NOT NULL,
    hash {text} NOT NULL,
    tokens INTEGER NOT NULL,
    CONSTRAINT pk_chunk PRIMARY KEY (cube_key, id),
    CONSTRAINT fk_chunk_cube_key_document_id
        FOREIGN KEY (cube_key, document_id) REFERENCES document (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_chunk_cube_key FOREIGN KEY (cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "CREATE INDEX ix_chunk_cube_key_document_id ON chunk (cube_key, document_id)",
    """CREATE TABLE chunk_place (
    cube_key {key} NOT NULL,
    version_id {text} NOT NULL,
    chunk_id {text} NOT NULL,
    position INTEGER NOT NULL,
    parent {text},
    headings {text} DEFAULT '[]' NOT NULL,
    page INTEGER,
    last_page INTEGER,
    "row" INTEGER,
    part {text} DEFAULT '' NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    CONSTRAINT pk_chunk_place PRIMARY KEY (cube_key, version_id, chunk_id),
    CONSTRAINT fk_chunk_place_cube_key_version_id
        FOREIGN KEY (cube_key, version_id) REFERENCES document_version (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_chunk_place_cube_key_chunk_id
        FOREIGN KEY (cube_key, chunk_id) REFERENCES chunk (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_chunk_place_cube_key FOREIGN KEY (cube_key) REFERENCES cube ("key") ON DELETE CASCADE
){without_rowid}""",
    "CREATE INDEX ix_chunk_place_cube_key_chunk_id ON chunk_place (cube_key, chunk_id)",
    "CREATE INDEX ix_chunk_place_cube_key_version_id_position ON chunk_place (cube_key, version_id, position)",
    """CREATE TABLE attachment (
    cube_key {key} NOT NULL,
    id {text} NOT NULL,
    message_id {text} NOT NULL,
    part INTEGER NOT NULL,
    kind {text} NOT NULL,
    state {text} NOT NULL,
    digest {text} NOT NULL,
    size BIGINT NOT NULL,
    media {text} NOT NULL,
    name {text} DEFAULT '' NOT NULL,
    caption {text} DEFAULT '' NOT NULL,
    text {text} DEFAULT '' NOT NULL,
    description {text} DEFAULT '' NOT NULL,
    seen {text},
    thumbnail {text} DEFAULT '' NOT NULL,
    taken_at BIGINT,
    taken_offset INTEGER,
    latitude {float},
    longitude {float},
    error {text} DEFAULT '' NOT NULL,
    CONSTRAINT pk_attachment PRIMARY KEY (cube_key, id),
    CONSTRAINT uq_attachment_cube_key_message_id_part UNIQUE (cube_key, message_id, part),
    CONSTRAINT fk_attachment_cube_key_message_id
        FOREIGN KEY (cube_key, message_id) REFERENCES message (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_attachment_cube_key FOREIGN KEY (cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "CREATE INDEX ix_attachment_cube_key_digest ON attachment (cube_key, digest)",
    "CREATE INDEX ix_attachment_thumbnail ON attachment (cube_key, thumbnail) WHERE thumbnail <> ''",
    """CREATE TABLE erased_cube (
    id {text} NOT NULL,
    erased_at BIGINT NOT NULL,
    CONSTRAINT pk_erased_cube PRIMARY KEY (id)
)""",
    "CREATE INDEX ix_attachment_waiting ON attachment (cube_key, id) WHERE state = 'queued'",
)

_TABLES: Final = ("attachment", "blob", "chunk", "chunk_place", "document", "document_version")

_CHECKED: Final = """DO $$
DECLARE
    reached constant text := $reached$
        CASE WHEN (SELECT current_setting('mnemic.cubes', true)) = '*' THEN true
        ELSE cube_key = ANY (
            (SELECT string_to_array(
                nullif(nullif(current_setting('mnemic.cubes', true), ''), '*'), ','
            )::bigint[])::bigint[]
        ) END
    $reached$;
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[{names}] LOOP
        EXECUTE format('ALTER TABLE %%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY of_cube ON %%I USING (%%s)', name, reached);
    END LOOP;
END $$"""
"""Row-level checks as in 0006."""


def upgrade() -> None:
    """Create the tables. Text is compared byte by byte on both engines, as in 0006."""
    connection = op.get_bind()
    sqlite = connection.dialect.name == "sqlite"
    kinds = {
        "text": "TEXT" if sqlite else 'text COLLATE "C"',
        "key": "INTEGER" if sqlite else "bigint",
        "float": "FLOAT" if sqlite else "double precision",
        "without_rowid": " WITHOUT ROWID" if sqlite else "",
    }
    for statement in _STATEMENTS:
        connection.exec_driver_sql(statement.format(**kinds))
    if not sqlite:
        names = ", ".join(f"'{name}'" for name in _TABLES)
        connection.exec_driver_sql(_CHECKED.format(names=names))
