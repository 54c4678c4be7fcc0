"""Vectors of large cubes under pgvector's HNSW index (Malkov & Yashunin 2018), beside their rows.

A small cube is compared exactly in the process that searches, as on SQLite. One that has outgrown that is noted in
`near_cube`; its vectors are copied to `near_vector`, in batches, and new ones go there with their rows. When all are
there it is ready, and views of it hold no vectors any more. A process that does not know of this (an older one, or one
that began before pgvector came) may leave a vector out: a trigger sees it at the commit and takes `ready` back.

Only large cubes are in the table, in parts by cube, each with an index of its own: a search walks through few vectors
of other cubes, and goes on until it has enough of this one (pgvector's iterative scan, 0.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    bindparam,
    column,
    exists,
    func,
    insert,
    select,
    table,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError

from mnemic.backends.sql import schema as s
from mnemic.backends.sql.database import EVERYWHERE, Database
from mnemic.backends.sql.prepared import Prepared
from mnemic.errors import InputError
from mnemic.model.index import Vector
from mnemic.ports.near import Cosines, Keys

CHECKED: Final = ("near_cube", "near_vector")
"""Tables whose rows are checked by cube."""

SEARCHING: Final = (
    "SET hnsw.ef_search = 400; SET hnsw.iterative_scan = relaxed_order; SET hnsw.max_scan_tuples = 100000"
)
"""Said to each connection: how thoroughly the index is walked through."""

_SPEAKS: Final = "mnemic_halves"  # among what is known of a connection: it takes vectors
NOTE: Final = "pgvector"
"""Under this name the store keeps whose vectors are in the index, and how wide they are."""

_OLDEST: Final = (0, 8)
_WIDEST: Final = 4_000  # components that HNSW takes of 16-bit floats
_PARTS: Final = 16

IS_READY: Final = "SELECT ready FROM near_cube WHERE near_cube.cube_key = cube_state.cube_key"
"""Asked of a cube's state: whether all of its vectors are in the index."""

_CHUNK: Final = 4_096  # rows at once
_EXTENSION: Final = text(
    "SELECT extversion, extnamespace::regnamespace::text AS place FROM pg_extension WHERE extname = 'vector'"
)
_AVAILABLE: Final = text("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")
_OID: Final = text("SELECT CAST('public.halfvec'::regtype AS oid)")
_KNOWN: Final = text("SELECT value FROM store_info WHERE name = :name AND to_regclass('near_vector') IS NOT NULL")

_TABLES: Final = """
DROP TABLE IF EXISTS near_vector, near_cube;
CREATE TABLE near_cube (
    cube_key bigint PRIMARY KEY REFERENCES cube ("key") ON DELETE CASCADE,
    ready boolean NOT NULL DEFAULT false
);
CREATE TABLE near_vector (
    cube_key bigint NOT NULL,
    entry_key bigint NOT NULL,
    near {type}({width}) NOT NULL,
    PRIMARY KEY (cube_key, entry_key),
    FOREIGN KEY (cube_key, entry_key) REFERENCES vector (cube_key, entry_key) ON DELETE CASCADE
) PARTITION BY HASH (cube_key);
{parts}
CREATE INDEX ix_near_vector_near ON near_vector USING hnsw (near halfvec_cosine_ops);
{policies}
CREATE OR REPLACE FUNCTION near_left_out() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE mnemic.near_cube SET ready = false WHERE cube_key = NEW.cube_key AND ready AND NOT EXISTS (
        SELECT FROM mnemic.near_vector AS n WHERE n.cube_key = NEW.cube_key AND n.entry_key = NEW.entry_key
    );
    RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS near_left_out ON vector;
CREATE CONSTRAINT TRIGGER near_left_out AFTER INSERT OR UPDATE ON vector
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION near_left_out();
"""
_PART: Final = (
    "CREATE TABLE near_vector_{at} PARTITION OF near_vector FOR VALUES WITH (MODULUS {of}, REMAINDER {at});"
    "ALTER TABLE near_vector_{at} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
)
"""Nobody asks a part by its own name: it has no policy, and so shows nothing."""

_POLICY: Final = (
    "ALTER TABLE {name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
    "CREATE POLICY of_cube ON {name} USING ("
    "CASE WHEN (SELECT current_setting('mnemic.cubes', true)) = '*' THEN true ELSE cube_key = ANY ("
    "(SELECT string_to_array(nullif(nullif(current_setting('mnemic.cubes', true), ''), '*'), ',')::bigint[])::bigint[]"
    ") END);"
)
_CUBE: Final = table("near_cube", column("cube_key", BigInteger), column("ready"))
_VECTOR: Final = table("near_vector", column("cube_key", BigInteger), column("entry_key", BigInteger), column("near"))
_OTHER: Final = _VECTOR.alias("other")
_MINE: Final = bindparam("cube", type_=BigInteger)
_FAR: Final = _VECTOR.c.near.op("<=>")(bindparam("asked"))
_OF_CUBE: Final = _VECTOR.c.cube_key == _MINE
_ADD: Final = Prepared(
    text(
        "INSERT INTO near_vector (cube_key, entry_key, near) SELECT :cube, :key, :near"
        " WHERE EXISTS (SELECT FROM near_cube WHERE cube_key = :cube)"
    )
)
_READY: Final = Prepared(select(_CUBE.c.ready).where(_CUBE.c.cube_key == _MINE))
_LARGE: Final = Prepared(
    select(s.entry.c.key).where(s.entry.c.cube_key == _MINE).offset(bindparam("before", type_=Integer)).limit(1)
)
_NOTE: Final = Prepared(insert(_CUBE), new=True)
_SETTLE: Final = Prepared(update(_CUBE).where(_CUBE.c.cube_key == _MINE).values(ready=True))
_LEFT: Final = Prepared(
    select(s.vector.c.entry_key, s.vector.c.data)
    .where(
        s.vector.c.cube_key == _MINE,
        s.vector.c.model == bindparam("model"),
        ~exists().where(_VECTOR.c.cube_key == s.vector.c.cube_key, _VECTOR.c.entry_key == s.vector.c.entry_key),
    )
    .order_by(s.vector.c.entry_key)
    .limit(bindparam("most", type_=Integer))
)
_COSINES: Final = Prepared(
    select(_VECTOR.c.entry_key, _FAR.label("far")).where(
        _OF_CUBE, _VECTOR.c.entry_key.in_(bindparam("keys", expanding=True))
    ),
    lists=["keys"],
)
_NEAREST: Final = Prepared(
    select(_VECTOR.c.entry_key).where(_OF_CUBE).order_by(_FAR).limit(bindparam("most", type_=Integer))
)
_ASKED: Final = (
    func.unnest(text("CAST(:first AS bigint[])"), text("CAST(:second AS bigint[])"))
    .table_valued("one", "two", with_ordinality="place")
    .render_derived()
)
_PAIRS: Final = Prepared(
    select(_ASKED.c.place, _VECTOR.c.near.op("<=>")(_OTHER.c.near).label("far"))
    .select_from(_ASKED)
    .join(_VECTOR, _OF_CUBE & (_VECTOR.c.entry_key == _ASKED.c.one))
    .join(_OTHER, (_OTHER.c.cube_key == _MINE) & (_OTHER.c.entry_key == _ASKED.c.two))
)


@dataclass(frozen=True, slots=True)
class Comparing:
    """Where vectors are compared: `memory`, `pgvector`, or `auto`: there in cubes of so many entries, if it can be."""

    by: str = "auto"
    start: int = 50_000

    @property
    def large(self) -> int | None:
        """From how many entries a cube's vectors go to the engine's index; None for never."""
        return {"memory": None, "pgvector": 1}.get(self.by, self.start)


class PostgresNear:
    """What one open store knows of its index: whose vectors are in it, and from how many entries a cube is large."""

    def __init__(self, model: str, large: int | None, oid: int) -> None:
        """Without `large` vectors are only put there, for other processes: this one compares them itself.

        `oid` is the number that this database has given to the type of the vectors.
        """
        self.model = model
        self.large = large
        self.compares = large is not None
        self._oid = oid
        self._dumper: Any = None

    def add(self, connection: Connection, cube_key: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Put new vectors, as they are stored, into the index if their cube is in it."""
        if vectors:
            self.speak(connection)
            rows = [{"cube": cube_key, "key": key, "near": Halves(data)} for key, data in vectors]
            _ADD.run_each(connection, rows)

    def speak(self, connection: Connection) -> None:
        """Let the driver's connection take vectors as parameters."""
        if _SPEAKS in connection.info:
            return
        if self._dumper is None:
            self._dumper = _dumper(self._oid)
        driver: Any = connection.connection.dbapi_connection
        driver.adapters.register_dumper(Halves, self._dumper)
        connection.info[_SPEAKS] = True


class Halves:
    """A vector of 16-bit floats on its way to the server, from the bytes that are stored of it."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def sent(self) -> bytes:
        """Return it as pgvector receives it: how many, a place that is free, and numbers with the high byte first."""
        numbers = np.frombuffer(self.data, dtype="<f2").astype(">f2")
        return len(numbers).to_bytes(2) + bytes(2) + numbers.tobytes()


def _dumper(type_oid: int) -> Any:
    from psycopg.adapt import Dumper  # noqa: PLC0415 - an extra
    from psycopg.pq import Format  # noqa: PLC0415

    class HalvesDumper(Dumper):
        format = Format.BINARY
        oid = type_oid

        def dump(self, obj: Halves) -> bytes:
            return obj.sent()

    return HalvesDumper


class SqlNear:
    """Implements `ports.near.Near` in one transaction; without an index nothing is ever outgrown."""

    def __init__(self, connection: Connection, near: PostgresNear | None) -> None:
        self._connection = connection
        self._near = near

    def outgrown(self, cube_key: int) -> bool:
        """Tell whether a cube has grown so large that its vectors are to go to the engine's index, and are not yet."""
        if self._near is None or self._near.large is None:
            return False
        ready = _READY.scalar(self._connection, {"cube": cube_key})
        if ready is not None:
            return not ready
        return _LARGE.scalar(self._connection, {"cube": cube_key, "before": self._near.large - 1}) is not None

    def spread(self, cube_key: int, limit: int) -> int:
        """Put so many of a cube's vectors into the index; return how many, 0 when all are there."""
        if self._near is None:
            return 0
        _NOTE.run(self._connection, {"cube_key": cube_key, "ready": False})
        left = _LEFT.rows(self._connection, {"cube": cube_key, "model": self._near.model, "most": limit})
        self._near.add(self._connection, cube_key, [(row.entry_key, row.data) for row in left])
        if not left:
            _SETTLE.run(self._connection, {"cube": cube_key})
        return len(left)

    def nearest(self, cube_key: int, vector: Vector, limit: int) -> Keys:
        """Return entries whose vectors are nearest, the nearest first; a few of them may be missed."""
        found = _NEAREST.rows(self._connection, {"cube": cube_key, "asked": self._sent(vector), "most": limit})
        return np.array([row.entry_key for row in found], dtype=np.int64)

    def cosines(self, cube_key: int, vector: Vector, keys: Keys) -> Cosines:
        """Return the true cosine of a vector with each of these entries, 0 for one that has none."""
        order = np.argsort(keys)
        found = np.zeros(len(keys), dtype=np.float32)
        asked = {"cube": cube_key, "asked": self._sent(vector), "keys": keys.tolist()}
        for _, columns in _COSINES.columns(self._connection, asked, rows=_CHUNK):
            places = order[np.searchsorted(keys, np.array(columns["entry_key"], dtype=np.int64), sorter=order)]
            found[places] = 1 - np.array(columns["far"], dtype=np.float32)
        return np.nan_to_num(found, copy=False)

    def pairs(self, cube_key: int, first: Keys, second: Keys) -> Cosines:
        """Return the true cosine of each of these entries with one other, 0 where one of the two has no vector."""
        found = np.zeros(len(first), dtype=np.float32)
        asked = {"cube": cube_key, "first": first.tolist(), "second": second.tolist()}
        for _, columns in _PAIRS.columns(self._connection, asked, rows=_CHUNK):
            found[np.array(columns["place"], dtype=np.int64) - 1] = 1 - np.array(columns["far"], dtype=np.float32)
        return np.nan_to_num(found, copy=False)

    def _sent(self, vector: Vector) -> Halves:
        if self._near is not None:
            self._near.speak(self._connection)
        return Halves(vector.astype("<f2").tobytes())


def opened_index(database: Database, model: str, width: int, comparing: Comparing) -> tuple[PostgresNear | None, str]:
    """Return the index of an open store, made when it is wanted and can be; and why there is none, when one might be.

    Raises `InputError` for who asked for it and cannot have it.
    """
    if not database.has_vectors:
        if comparing.by == "pgvector":
            raise InputError("vector_index", "`pgvector` is for PostgreSQL; name its address as `database_url`")
        return None, ""
    large = comparing.large
    with database.read(EVERYWHERE) as connection:
        known = known_index(connection, model, width, large)
    if known is not None or large is None:
        return known, ""
    with database.setting_up() as connection:
        known, reason = known_index(connection, model, width, large), None
        if known is None:
            reason = prepare(connection, model, width)
            known = known_index(connection, model, width, large)
    if reason is not None and comparing.by == "pgvector":
        raise InputError("vector_index", f"`pgvector` cannot be used: {reason}")
    return known, reason or ""


def known_index(connection: Connection, model: str, width: int, large: int | None) -> PostgresNear | None:
    """Return the index for these vectors; None when it is not there."""
    if connection.scalar(_KNOWN, {"name": NOTE}) != _signed(model, width):
        return None
    return PostgresNear(model, large, int(connection.scalar(_OID) or 0))


def prepare(connection: Connection, model: str, width: int) -> str | None:
    """Make the index for these vectors, empty; return why it cannot be, None when it is there."""
    reason = _hindrance(connection, width)
    if reason is not None:
        return reason
    policies = "".join(_POLICY.format(name=name) for name in CHECKED)
    parts = "".join(_PART.format(at=at, of=_PARTS) for at in range(_PARTS))
    words = _TABLES.format(type="halfvec", width=width, parts=parts, policies=policies)
    driver: Any = connection.connection.dbapi_connection
    driver.execute(words, prepare=False)
    connection.execute(text("DELETE FROM store_info WHERE name = :name"), {"name": NOTE})
    noted = {"name": NOTE, "value": _signed(model, width)}
    connection.execute(text("INSERT INTO store_info (name, value) VALUES (:name, :value)"), noted)
    return None


def _hindrance(connection: Connection, width: int) -> str | None:
    """Return why there can be no index; make the extension when that is all that is missing."""
    if width > _WIDEST:
        return f"its index takes vectors of up to {_WIDEST:,} components, these have {width:,}"
    found = connection.execute(_EXTENSION).first()
    if found is None and not connection.scalar(_AVAILABLE):
        return "the server does not have it: install the package pgvector there"
    if found is None:
        try:
            with connection.begin_nested():
                connection.execute(text("CREATE EXTENSION vector SCHEMA public"))
        except DBAPIError:
            return "this role may not make it: let a superuser run CREATE EXTENSION vector in the database"
        found = connection.execute(_EXTENSION).one()
    if tuple(int(part) for part in found.extversion.split(".")[:2]) < _OLDEST:
        return f"it is {found.extversion}, and 0.8 is needed: install a newer one and run ALTER EXTENSION vector UPDATE"
    if found.place != "public":
        return f"it is in the schema {found.place}: run ALTER EXTENSION vector SET SCHEMA public"
    return None


def _signed(model: str, width: int) -> str:
    return f"{width} {model}"
