"""Every key begins with the cube; jobs get lanes, places and tasks; and PostgreSQL gets its tables.

On SQLite nearly all tables are made anew, filled from the old ones and put in their place, as
https://sqlite.org/lang_altertable.html#otheralter says. The number of a row of `entry` stays its primary key there: it
is the row's number in the full-text index.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import sqlalchemy as sa
from alembic import op

from mnemic.backends.sql import fulltext

revision = "0006"
down_revision = "0005"

_TABLES: Final = {
    "store_info": """(
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT pk_store_info PRIMARY KEY (name)
)""",
    "cube": """(
    "key" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT uq_cube_owner_kind_name UNIQUE (owner, kind, name),
    CONSTRAINT uq_cube_id UNIQUE (id)
)""",
    "cube_grant": """(
    cube_key INTEGER NOT NULL,
    principal TEXT NOT NULL,
    role TEXT NOT NULL,
    CONSTRAINT pk_cube_grant PRIMARY KEY (cube_key, principal),
    CONSTRAINT fk_cube_grant_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "session": """(
    cube_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    messages INTEGER DEFAULT 0 NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    CONSTRAINT pk_session PRIMARY KEY (cube_key, id),
    CONSTRAINT uq_session_cube_key_name UNIQUE (cube_key, name),
    CONSTRAINT fk_session_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "segment": """(
    cube_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    title TEXT DEFAULT '' NOT NULL,
    summary TEXT NOT NULL,
    described INTEGER DEFAULT 0 NOT NULL,
    keywords TEXT NOT NULL,
    centroid BLOB NOT NULL,
    pages INTEGER NOT NULL,
    visits INTEGER NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    touched_at BIGINT NOT NULL,
    archived BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_segment PRIMARY KEY (cube_key, id),
    CONSTRAINT fk_segment_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "page": """(
    cube_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    opened_by TEXT NOT NULL,
    replied BOOLEAN NOT NULL,
    messages INTEGER NOT NULL,
    last_role TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    segment_id TEXT,
    chain_id TEXT,
    analysed BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_page PRIMARY KEY (cube_key, id),
    CONSTRAINT uq_page_cube_key_session_id_position UNIQUE (cube_key, session_id, position),
    CONSTRAINT fk_page_cube_key_session_id
        FOREIGN KEY(cube_key, session_id) REFERENCES session (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_page_cube_key_segment_id
        FOREIGN KEY(cube_key, segment_id) REFERENCES segment (cube_key, id),
    CONSTRAINT fk_page_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "message": """(
    cube_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    page_id TEXT,
    position INTEGER NOT NULL,
    role TEXT NOT NULL,
    speaker TEXT NOT NULL,
    content TEXT NOT NULL,
    said_at BIGINT NOT NULL,
    said_offset INTEGER NOT NULL,
    stored_at BIGINT NOT NULL,
    external_id TEXT,
    agent TEXT,
    metadata TEXT,
    dedupe TEXT NOT NULL,
    extracted SMALLINT DEFAULT 0 NOT NULL,
    refined SMALLINT DEFAULT 0 NOT NULL,
    CONSTRAINT pk_message PRIMARY KEY (cube_key, id),
    CONSTRAINT uq_message_cube_key_session_id_dedupe UNIQUE (cube_key, session_id, dedupe),
    CONSTRAINT uq_message_cube_key_session_id_position UNIQUE (cube_key, session_id, position),
    CONSTRAINT fk_message_cube_key_session_id
        FOREIGN KEY(cube_key, session_id) REFERENCES session (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_message_cube_key_page_id FOREIGN KEY(cube_key, page_id) REFERENCES page (cube_key, id),
    CONSTRAINT fk_message_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "memory": """(
    cube_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_key TEXT NOT NULL,
    attribute TEXT NOT NULL,
    value_key TEXT NOT NULL,
    locked BOOLEAN DEFAULT false NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_memory PRIMARY KEY (cube_key, id),
    CONSTRAINT fk_memory_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "memory_version": """(
    cube_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    value TEXT NOT NULL,
    polarity INTEGER NOT NULL,
    valid_from BIGINT NOT NULL,
    valid_to BIGINT,
    time TEXT,
    recorded_at BIGINT NOT NULL,
    confidence FLOAT NOT NULL,
    change TEXT NOT NULL,
    drawn_by TEXT DEFAULT '' NOT NULL,
    reason TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_memory_version PRIMARY KEY (cube_key, id),
    CONSTRAINT uq_memory_version_cube_key_memory_id_number UNIQUE (cube_key, memory_id, number),
    CONSTRAINT fk_memory_version_cube_key_memory_id
        FOREIGN KEY(cube_key, memory_id) REFERENCES memory (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_memory_version_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "source": """(
    cube_key INTEGER NOT NULL,
    version_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    part SMALLINT NOT NULL,
    quote TEXT NOT NULL,
    holds_from BIGINT,
    holds_to BIGINT,
    CONSTRAINT pk_source PRIMARY KEY (cube_key, version_id, message_id, part),
    CONSTRAINT fk_source_cube_key_version_id
        FOREIGN KEY(cube_key, version_id) REFERENCES memory_version (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_source_cube_key_message_id
        FOREIGN KEY(cube_key, message_id) REFERENCES message (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_source_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
) WITHOUT ROWID""",
    "relation": """(
    cube_key INTEGER NOT NULL,
    kind TEXT NOT NULL,
    from_id TEXT NOT NULL,
    to_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_relation PRIMARY KEY (cube_key, kind, from_id, to_id),
    CONSTRAINT fk_relation_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "entity": """(
    cube_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    type TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_entity PRIMARY KEY (cube_key, id),
    CONSTRAINT uq_entity_cube_key_name_key_type UNIQUE (cube_key, name_key, type),
    CONSTRAINT fk_entity_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "mention": """(
    cube_key INTEGER NOT NULL,
    entity_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    quote TEXT NOT NULL,
    CONSTRAINT pk_mention PRIMARY KEY (cube_key, entity_id, message_id),
    CONSTRAINT fk_mention_cube_key_entity_id
        FOREIGN KEY(cube_key, entity_id) REFERENCES entity (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_mention_cube_key_message_id
        FOREIGN KEY(cube_key, message_id) REFERENCES message (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_mention_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
) WITHOUT ROWID""",
    "change": """(
    cube_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    asked TEXT NOT NULL,
    steps TEXT NOT NULL,
    made_at BIGINT NOT NULL,
    undone_at BIGINT,
    CONSTRAINT pk_change PRIMARY KEY (cube_key, id),
    CONSTRAINT fk_change_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "model_call": """(
    cube_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    purpose TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    at BIGINT NOT NULL,
    seconds FLOAT NOT NULL,
    outcome TEXT NOT NULL,
    CONSTRAINT pk_model_call PRIMARY KEY (cube_key, id),
    CONSTRAINT fk_model_call_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "forgotten": """(
    cube_key INTEGER NOT NULL,
    mark TEXT NOT NULL,
    CONSTRAINT pk_forgotten PRIMARY KEY (cube_key, mark),
    CONSTRAINT fk_forgotten_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
) WITHOUT ROWID""",
    "entry": """(
    cube_key INTEGER NOT NULL,
    "key" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    version_id TEXT,
    session_id TEXT,
    position INTEGER DEFAULT 0 NOT NULL,
    start INTEGER DEFAULT 0 NOT NULL,
    "end" INTEGER DEFAULT 0 NOT NULL,
    speaker TEXT NOT NULL,
    said_at BIGINT NOT NULL,
    valid_to BIGINT,
    length INTEGER NOT NULL,
    traits INTEGER DEFAULT 0 NOT NULL,
    live BOOLEAN DEFAULT true NOT NULL,
    changed BIGINT NOT NULL,
    CONSTRAINT uq_entry_cube_key_key UNIQUE (cube_key, "key"),
    CONSTRAINT fk_entry_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "vector": """(
    cube_key INTEGER NOT NULL,
    entry_key INTEGER NOT NULL PRIMARY KEY,
    model TEXT NOT NULL,
    width INTEGER NOT NULL,
    data BLOB NOT NULL,
    CONSTRAINT fk_vector_entry_key
        FOREIGN KEY(cube_key, entry_key) REFERENCES entry (cube_key, "key") ON DELETE CASCADE
)""",
    "job": """(
    cube_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    lane TEXT NOT NULL,
    priority SMALLINT NOT NULL,
    alone SMALLINT NOT NULL,
    merge TEXT NOT NULL,
    state TEXT NOT NULL,
    place SMALLINT,
    turn FLOAT DEFAULT 0 NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    created_at BIGINT NOT NULL,
    not_before BIGINT NOT NULL,
    lease_until BIGINT,
    worker TEXT,
    started_at BIGINT,
    finished_at BIGINT,
    changed_at BIGINT NOT NULL,
    done INTEGER DEFAULT 0 NOT NULL,
    error TEXT,
    payload TEXT DEFAULT '{}' NOT NULL,
    parent TEXT,
    trace TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_job PRIMARY KEY (cube_key, id),
    CONSTRAINT fk_job_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "cube_state": """(
    cube_key INTEGER NOT NULL,
    revision BIGINT DEFAULT 0 NOT NULL,
    erasures BIGINT DEFAULT 0 NOT NULL,
    latest_said BIGINT,
    stale_text BIGINT DEFAULT 0 NOT NULL,
    CONSTRAINT pk_cube_state PRIMARY KEY (cube_key),
    CONSTRAINT fk_cube_state_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "job_task": """(
    cube_key INTEGER NOT NULL,
    task TEXT NOT NULL,
    job_id TEXT NOT NULL,
    CONSTRAINT pk_job_task PRIMARY KEY (cube_key, task, job_id),
    CONSTRAINT fk_job_task_cube_key_job_id
        FOREIGN KEY(cube_key, job_id) REFERENCES job (cube_key, id) ON DELETE CASCADE,
    CONSTRAINT fk_job_task_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
) WITHOUT ROWID""",
    "cube_share": """(
    cube_key INTEGER NOT NULL,
    weight FLOAT DEFAULT 1 NOT NULL,
    most_running INTEGER DEFAULT 0 NOT NULL,
    per_minute INTEGER DEFAULT 0 NOT NULL,
    tokens FLOAT DEFAULT 0 NOT NULL,
    refilled_at BIGINT,
    CONSTRAINT pk_cube_share PRIMARY KEY (cube_key),
    CONSTRAINT fk_cube_share_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
)""",
    "cube_turn": """(
    cube_key INTEGER NOT NULL,
    lane TEXT NOT NULL,
    priority SMALLINT NOT NULL,
    turn FLOAT NOT NULL,
    CONSTRAINT pk_cube_turn PRIMARY KEY (cube_key, lane, priority),
    CONSTRAINT fk_cube_turn_cube_key FOREIGN KEY(cube_key) REFERENCES cube ("key") ON DELETE CASCADE
) WITHOUT ROWID""",
    "virtual_time": """(
    lane TEXT NOT NULL,
    priority SMALLINT NOT NULL,
    turn FLOAT NOT NULL,
    CONSTRAINT pk_virtual_time PRIMARY KEY (lane, priority)
)""",
    "periodic": """(
    name TEXT NOT NULL,
    next_due BIGINT NOT NULL,
    ended_at BIGINT,
    outcome TEXT DEFAULT '' NOT NULL,
    worker TEXT,
    lease_until BIGINT,
    CONSTRAINT pk_periodic PRIMARY KEY (name)
)""",
}
"""All tables, those that are referred to first."""

_INDEXES: Final = (
    "CREATE INDEX ix_cube_grant_principal ON cube_grant (principal)",
    "CREATE INDEX ix_page_cube_key_segment_id ON page (cube_key, segment_id)",
    "CREATE INDEX ix_message_cube_key_page_id ON message (cube_key, page_id)",
    "CREATE INDEX ix_message_to_extract ON message (cube_key, id) WHERE extracted = 0",
    "CREATE INDEX ix_message_to_refine ON message (cube_key, id) WHERE refined = 0",
    "CREATE INDEX ix_memory_cube_key_subject_key_attribute ON memory (cube_key, subject_key, attribute)",
    "CREATE INDEX ix_source_cube_key_message_id ON source (cube_key, message_id)",
    "CREATE INDEX ix_relation_cube_key_from_id ON relation (cube_key, from_id)",
    "CREATE INDEX ix_relation_cube_key_to_id ON relation (cube_key, to_id)",
    "CREATE INDEX ix_mention_cube_key_message_id ON mention (cube_key, message_id)",
    "CREATE INDEX ix_model_call_cube_key_at ON model_call (cube_key, at)",
    "CREATE INDEX ix_entry_cube_key_changed ON entry (cube_key, changed)",
    "CREATE INDEX ix_entry_cube_key_owner ON entry (cube_key, owner)",
    "CREATE INDEX ix_job_cube_key_changed_at_id ON job (cube_key, changed_at, id)",
    "CREATE INDEX ix_job_dead ON job (cube_key, id) WHERE state = 'dead'",
    "CREATE INDEX ix_job_heads ON job (lane, priority, turn) WHERE place = 2",
    "CREATE INDEX ix_job_later ON job (lane, not_before) WHERE place = 0",
    "CREATE INDEX ix_job_leased ON job (lane, lease_until) WHERE lease_until IS NOT NULL",
    "CREATE INDEX ix_job_parent ON job (cube_key, parent) WHERE parent IS NOT NULL",
    "CREATE INDEX ix_job_running ON job (cube_key, lane) WHERE state = 'running'",
    "CREATE INDEX ix_job_standing ON job (cube_key, lane, kind, place, priority, id) WHERE place IS NOT NULL",
    "CREATE UNIQUE INDEX uq_job_waiting ON job (cube_key, kind, merge) WHERE state = 'queued'",
    "CREATE INDEX ix_job_task_cube_key_job_id ON job_task (cube_key, job_id)",
)

_NEW: Final = ("cube_state", "job_task", "cube_share", "cube_turn", "virtual_time", "periodic")

_STORE, _CUBE, _FEW, _CHOSEN = 10_000_000, 100_000, 4, 1_000
"""Rows that SQLite's planner shall expect of a store, a cube, a further column; and what part a partial index holds."""

_OF_VERSION: Final = "(SELECT cube_key FROM memory_version WHERE id = old.version_id)"
_FILLED: Final[Mapping[str, Mapping[str, str]]] = {
    "source": {
        "cube_key": _OF_VERSION,
        "part": "row_number() OVER (PARTITION BY version_id, message_id ORDER BY quote) - 1",
    },
    "mention": {"cube_key": "(SELECT cube_key FROM entity WHERE id = old.entity_id)"},
    "vector": {"cube_key": '(SELECT cube_key FROM entry WHERE "key" = old.entry_key)'},
    "job": {
        "lane": "CASE WHEN kind IN ('refine', 'reorganize') THEN 'slow' ELSE 'quick' END",
        "priority": "CASE WHEN kind IN ('retext', 'reorganize') THEN 2 ELSE 1 END",
        "alone": "1",
        "merge": "''",
        "place": "CASE WHEN state IN ('queued', 'failed') THEN 0 END",
        "turn": "0",
        "changed_at": "coalesce(finished_at, started_at, created_at)",
        "payload": "'{}'",
        "parent": "NULL",
        "trace": "''",
    },
}
"""What columns are filled with that the old table does not have."""


def upgrade() -> None:
    """Create the tables of this schema, with all that the old ones hold."""
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        from mnemic.backends.sql import postgres_schema  # noqa: PLC0415 - needed once in the life of a store there

        postgres_schema.create(connection)
    elif sa.inspect(connection).has_table("cube"):
        _rebuild(connection)
    else:
        _create(connection)


def _create(connection: sa.Connection) -> None:
    for name, columns in _TABLES.items():
        connection.exec_driver_sql(f'CREATE TABLE "{name}" {columns}')
    for statement in (*_INDEXES, *fulltext.create("sqlite")):
        connection.exec_driver_sql(statement)
    _tell_planner(connection)


def _rebuild(connection: sa.Connection) -> None:
    if connection.exec_driver_sql("PRAGMA foreign_keys").scalar():
        raise RuntimeError("references are looked at: to drop a table would empty those that refer to it")
    counted = {row[0]: row[1] for row in connection.exec_driver_sql("SELECT name, seq FROM sqlite_sequence")}
    old = [name for name in _TABLES if name not in _NEW]
    for name in _TABLES:
        connection.exec_driver_sql(f'CREATE TABLE "{"" if name in _NEW else "new_"}{name}" {_TABLES[name]}')
    for name in old:
        _fill(connection, name)
    connection.exec_driver_sql(
        "INSERT INTO cube_state (cube_key, revision, erasures, latest_said, stale_text)"
        ' SELECT "key", revision, erasures, latest_said, stale_text FROM cube'
    )
    connection.exec_driver_sql('INSERT INTO cube_share (cube_key) SELECT "key" FROM cube')
    for name in old:
        connection.exec_driver_sql(f"DROP TABLE {name}")
        connection.exec_driver_sql(f"ALTER TABLE new_{name} RENAME TO {name}")
    for statement in _INDEXES:
        connection.exec_driver_sql(statement)
    _tell_planner(connection)
    for name, number in counted.items():  # a number that was used once is never used again
        connection.exec_driver_sql("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        connection.exec_driver_sql("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, number))


def _tell_planner(connection: sa.Connection) -> None:
    """Write down what SQLite's planner cannot know: a cube holds many rows, the columns after it find few of them.

    Without it a condition on the cube alone is thought to find as few rows as one on three columns, and whole cubes are
    walked to save the sorting of some (https://sqlite.org/fileformat2.html#the_sqlite_stat1_table).
    """
    connection.exec_driver_sql("ANALYZE cube_state")  # makes the table
    connection.exec_driver_sql("DELETE FROM sqlite_stat1")
    for table in _TABLES:
        for _, index, unique, _, partial in connection.exec_driver_sql(f"PRAGMA index_list({table})").all():
            columns = [row[2] for row in connection.exec_driver_sql(f"PRAGMA index_info({index})")]
            if columns[0] == "cube_key":
                told = [_STORE, _CUBE, *[_FEW] * (len(columns) - 1)]
                told = [max(number // _CHOSEN, 1) for number in told] if partial else told
                told[-1] = 1 if unique else told[-1]
                values = (table, index, " ".join(map(str, told)))
                connection.exec_driver_sql("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", values)
    connection.exec_driver_sql("ANALYZE sqlite_schema")  # has this connection read them


def _fill(connection: sa.Connection, name: str) -> None:
    columns = [f'"{row[1]}"' for row in connection.exec_driver_sql(f"PRAGMA table_info(new_{name})")]
    filled = {f'"{column}"': value for column, value in _FILLED.get(name, {}).items()}
    values = ", ".join(filled.get(column, column) for column in columns)
    copied = f"INSERT INTO new_{name} ({', '.join(columns)}) SELECT {values} FROM {name} AS old"  # noqa: S608 - all ours
    connection.exec_driver_sql(copied)
