"""What an engine does for the store, and bringing its tables up.

The store runs on any engine that keeps this: transactions, who they may reach, scrubbing, a check-up, a bell. What is
stored, and how it is asked for, is the same for all of them; where one speaks otherwise, a file beside this says so.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from importlib import resources
from typing import Final, Protocol

from sqlalchemy import Connection, Engine, inspect, text

from mnemic.backends.sql import schema
from mnemic.errors import StoreVersionError
from mnemic.ports.queue import Bell

_log = logging.getLogger(__name__)

Reach = frozenset[int] | None
"""The cubes that a transaction may reach, by their keys; None means all."""

NOWHERE: Final[Reach] = frozenset()
EVERYWHERE: Final[Reach] = None


class Database(Protocol):
    """One open database, brought up to this version's tables. Threads may share it.

    A transaction belongs to the thread that opened it. Errors of the engine leave as `StoreError`, with what to do.
    """

    engine: Engine
    """What makes and keeps the connections."""

    @property
    def has_vectors(self) -> bool:
        """Whether the engine can compare vectors, given an extension."""
        ...

    @property
    def bell(self) -> Bell:
        """Wakes who waits for jobs, as far as this engine reaches."""
        ...

    def read(self, reach: Reach = NOWHERE) -> AbstractContextManager[Connection]:
        """Open a read transaction: one consistent snapshot, never waiting for a writer."""
        ...

    def write(self, reach: Reach = NOWHERE) -> AbstractContextManager[Connection]:
        """Open a write transaction: it commits when the block ends, and leaves no trace when the block raises."""
        ...

    def enter(self, connection: Connection, reach: Reach) -> None:
        """Let an open transaction reach these cubes, and no others."""
        ...

    def setting_up(self) -> AbstractContextManager[Connection]:
        """Open a write transaction that reaches everything, while no other process is in one like it."""
        ...

    def outside_transaction(self) -> AbstractContextManager[Connection]:
        """Open a connection without a transaction, for what the engine refuses inside one."""
        ...

    def time(self) -> datetime | None:
        """Return the server's time; None when there is no server and the machine's clock is everybody's."""
        ...

    def scrub(self) -> bool:
        """Take what was erased out of logs and dead rows, as far as the engine can; False when a reader kept some."""
        ...

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the engine's own part over: (what, whether it is well, what was seen)."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


def version_of(connection: Connection) -> str | None:
    """Return the last migration that a store has seen, None for a new one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return None if found is None else str(found)


def run_migrations(connection: Connection) -> None:
    """Bring the schema to `schema.HEAD` inside the open transaction; Alembic is imported only when there is work."""
    found = version_of(connection)
    if found == schema.HEAD:
        return  # another process was quicker
    from alembic import command  # noqa: PLC0415 - costs 0.2 s, needed once in a store's life
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(resources.files(__package__) / "migrations"))
    config.attributes["connection"] = connection
    known = {revision.revision for revision in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreVersionError(
            f"this store has schema {found}, which this version of Mnemic does not know; it was not touched. "
            "Install the newer Mnemic that wrote it.",
            found=found,
            known=schema.HEAD,
        )
    _log.info("store_migrating", extra={"found": found, "to": schema.HEAD})
    command.upgrade(config, "head")
