"""Prepared statements do what Core would do with the same statement, only quicker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Dialect,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    create_engine,
    event,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import IntegrityError, OperationalError

from mnemic.backends.sql.prepared import Prepared

PEOPLE = Table(
    "people",
    MetaData(),
    Column("key", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("count", Integer, nullable=False),
    Column("alive", Boolean, nullable=False),
)
NAMED = select(PEOPLE).where(PEOPLE.c.name.in_(bindparam("names", expanding=True))).order_by(PEOPLE.c.key)


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    event.listen(engine, "connect", lambda raw, _: setattr(raw, "isolation_level", None))
    with engine.connect() as connection:
        PEOPLE.create(connection)
        new = Prepared(insert(PEOPLE))
        new.run_each(connection, [{"name": name, "count": 1, "alive": name != "Cy"} for name in ("Ann", "Ben", "Cy")])
        yield connection
    engine.dispose()


def test_rows_are_those_of_core(connection: Connection) -> None:
    prepared = Prepared(NAMED, lists=["names"])
    for names in (["Ann"], ["Cy", "Ann"], [], ["Ben", "nobody", "Cy"]):
        rows = prepared.rows(connection, {"names": names})
        assert rows == [tuple(row) for row in connection.execute(NAMED, {"names": names})]
        assert all(row.alive is (row.name != "Cy") for row in rows)


def test_the_first_row_or_field_may_be_missing(connection: Connection) -> None:
    one = Prepared(select(PEOPLE.c.key).where(PEOPLE.c.name == bindparam("name")))
    assert one.first(connection, {"name": "Ben"}).key == 2
    assert one.scalar(connection, {"name": "Ben"}) == 2
    assert one.first(connection, {"name": "Zoe"}) is None
    assert one.scalar(connection, {"name": "Zoe"}) is None


def test_changes_are_counted_and_new_keys_returned(connection: Connection) -> None:
    grown = Prepared(update(PEOPLE).where(PEOPLE.c.count < bindparam("most")).values(count=PEOPLE.c.count + 1))
    assert grown.run(connection, {"most": 2}) == 3
    assert grown.run(connection, {"most": 2}) == 0
    added = Prepared(insert(PEOPLE).returning(PEOPLE.c.key))
    assert added.scalar(connection, {"name": "Dan", "count": 0, "alive": True}) == 4


def test_errors_are_those_that_core_raises(connection: Connection) -> None:
    with pytest.raises(IntegrityError, match="UNIQUE"):
        Prepared(insert(PEOPLE)).run(connection, {"name": "Ann", "count": 0, "alive": True})
    with pytest.raises(OperationalError, match="no such table"):
        Prepared(text("SELECT 1 FROM nowhere")).rows(connection, {})


def test_engines_that_take_parameters_by_name_get_them_by_name() -> None:
    dialect: Dialect = postgresql.psycopg.dialect()  # type: ignore[no-untyped-call]
    compiled = Prepared(NAMED, lists=["names"])._for(dialect, {"names": ["Ann", "Ben"]})
    assert "%(names_1)s" in compiled.sql
    assert compiled.bind({"names": ["Cy", "Dan"]}) == {"names_1": "Cy", "names_2": "Dan"}
