"""Prepared statements do what Core would do with the same statement, only quicker."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
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
from mnemic.backends.sql.schema import Words

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


def test_postgresql_takes_a_list_as_one_value_so_that_a_statement_is_one_however_long_lists_are() -> None:
    dialect: Dialect = postgresql.psycopg.dialect()  # type: ignore[no-untyped-call]
    prepared = Prepared(NAMED, lists=["names"])
    compiled = prepared._for(dialect, {"names": ["Ann", "Ben"]})
    assert "people.name = ANY(%(names)s::TEXT[])" in compiled.sql
    assert compiled.bind({"names": ["Cy"]}) == {"names": ["Cy"]}
    assert prepared._for(dialect, {"names": []}) is compiled


def test_what_stands_in_a_statement_comes_with_its_values_and_a_percent_sign_stays_one() -> None:
    dialect: Dialect = postgresql.psycopg.dialect()  # type: ignore[no-untyped-call]
    query = select(PEOPLE.c.key).where(PEOPLE.c.count > bindparam("least"), PEOPLE.c.name != "nobody").limit(3)
    bound = Prepared(query)._for(dialect, {"least": 1}).bind({"least": 5})
    assert sorted(map(str, bound.values())) == ["3", "5", "nobody"]
    assert "LIKE '10%%'" in Prepared(text("SELECT 1 WHERE 'x' LIKE '10%'"))._for(dialect, {}).sql


def test_derived_words_become_what_an_engine_can_hold(connection: Connection) -> None:
    words = Table("said", MetaData(), Column("key", Integer, primary_key=True), Column("words", Words))
    words.create(connection)
    given: list[dict[str, object]] = [
        {"key": 1, "words": "a \ud800 b"},
        {"key": 2, "words": None},
        {"key": 3, "words": "plain"},
    ]
    Prepared(insert(words)).run_each(connection, given)
    sought = Prepared(select(words.c.key).where(words.c.words == bindparam("sought")))
    assert sought.scalar(connection, {"sought": "a \ud800 b"}) == 1
    held = connection.execute(select(words.c.words).order_by(words.c.key)).scalars().all()
    assert held == ["a \ufffd b", None, "plain"]
    dialect: Dialect = postgresql.psycopg.dialect()  # type: ignore[no-untyped-call]
    assert Prepared(insert(words))._for(dialect, given[0]).bind({"key": 1, "words": "a\0b"})["words"] == "a\ufffdb"


def test_a_row_that_is_there_already_is_left_as_it_is(connection: Connection) -> None:
    once = Prepared(insert(PEOPLE), new=True)
    assert once.run(connection, {"name": "Dan", "count": 1, "alive": True}) == 1
    assert once.run(connection, {"name": "Dan", "count": 9, "alive": True}) == 0


def test_real_postgresql_gives_what_core_gives(postgres: str) -> None:
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(postgres))
    everything = select(PEOPLE).where(PEOPLE.c.name.in_(bindparam("names", expanding=True))).order_by(PEOPLE.c.key)
    with engine.connect() as connection:
        PEOPLE.create(connection)
        people = [{"key": at, "name": f"n{at}%", "count": at * 10**at, "alive": at % 2 == 0} for at in range(9)]
        Prepared(insert(PEOPLE)).run_each(connection, people)
        prepared = Prepared(everything, lists=["names"])
        for names in ([], ["n1%"], [f"n{at}%" for at in range(20)]):
            expected = [tuple(row) for row in connection.execute(everything, {"names": names})]
            assert prepared.rows(connection, {"names": names}) == expected
            batches = list(prepared.columns(connection, {"names": names}, rows=2))
            assert [key for _, columns in batches for key in columns["key"]] == [row[0] for row in expected]
            assert all(count <= 2 for count, _ in batches)
        assert Prepared(update(PEOPLE).values(count=0)).run(connection, {}) == 9
        with pytest.raises(IntegrityError):
            Prepared(insert(PEOPLE)).run(connection, people[0])
        connection.rollback()
    engine.dispose()
