"""A PostgreSQL server looked over: its version, whether it keeps what it acknowledges, and row-level checks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, text

from mnemic.backends.sql import schema as s

Finding = tuple[str, bool, str]
"""What was looked at, whether it is well, and what was seen."""

SKEW: Final = 2.0
"""Seconds that the clocks of the database and of this machine may be apart: or logs do not fit together."""

CHECKED: Final = (*(table.name for table in s.CUBES), "entry_text")
"""Tables whose rows PostgreSQL checks by cube, but for those that an extension brings."""

_SERVER: Final = text(
    "SELECT current_setting('server_version') AS version, current_setting('max_connections') AS most,"
    " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used"
)
_ROLE: Final = text("SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
_UNCHECKED: Final = text(
    "SELECT relname FROM pg_class"
    " WHERE oid = ANY (SELECT to_regclass(name) FROM unnest(CAST(:names AS text[])) AS name)"
    " AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY relname"
)
_PGVECTOR: Final = text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
_NOW: Final = text("SELECT extract(epoch FROM clock_timestamp())")
_PROMISES: Final = text(
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')"
    " AND setting = 'off' ORDER BY name"
)


def look_over(connection: Connection, place: str) -> Sequence[Finding]:
    """Return what is found; the connection is in a transaction that reaches all cubes."""
    server = connection.execute(_SERVER).one()
    told = f"PostgreSQL {server.version} at {place}, {server.used} of {server.most} connections used"
    off = [row.name for row in connection.execute(_PROMISES)]
    kept = f"{', '.join(off)} off: what was acknowledged may be lost with the machine" if off else "on disk at commit"
    found = [("database server", True, told), ("durability", not off, kept), _row_level(connection)]
    return [*found, _pgvector(connection), _clock(connection)]


def _pgvector(connection: Connection) -> Finding:
    version = connection.scalar(_PGVECTOR)
    absent = "not there: vectors are compared in this process; CREATE EXTENSION vector, by an administrator, adds it"
    return "pgvector", True, absent if version is None else str(version)


def _clock(connection: Connection) -> Finding:
    """Compare the clocks: work goes by the database's, the log and what this machine says of time by its own."""
    before = time.time()
    theirs = float(connection.scalar(_NOW) or 0)
    ours = (before + time.time()) / 2
    return "clock", abs(theirs - ours) < SKEW, f"the database's is {theirs - ours:+.2f} s beside this machine's"


def _row_level(connection: Connection) -> Finding:
    name = "row-level checks"
    role = connection.execute(_ROLE).one()
    if role.rolsuper or role.rolbypassrls:
        why = "is a superuser" if role.rolsuper else "has BYPASSRLS"
        advice = "give Mnemic a role of its own: CREATE ROLE mnemic LOGIN; ALTER DATABASE ... OWNER TO mnemic"
        return name, False, f"off: the role {role.rolname} {why}. Queries still name their cube; {advice}"
    unchecked = list(connection.scalars(_UNCHECKED, {"names": list(CHECKED)}))
    if unchecked:
        return name, False, f"off for {', '.join(unchecked)}; turn them on with ENABLE and FORCE ROW LEVEL SECURITY"
    return name, True, f"on for all {len(CHECKED)} tables of cubes"
