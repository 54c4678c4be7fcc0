"""What only PostgreSQL does for the store: row-level checks, clear errors, going on after a restart, many at once."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from mnemic.backends.sql import postgres as engine
from mnemic.backends.sql import schema
from mnemic.backends.sql.postgres import PostgresDatabase
from mnemic.backends.sql.postgres_checks import CHECKED
from mnemic.backends.sql.store import SqlStore
from mnemic.errors import InputError, StoreError, StoreVersionError
from mnemic.ids import new_id
from mnemic.model.job import ORGANIZE, QUICK, Job, Priority, queued
from mnemic.model.scope import CubeKind
from mnemic.services.scoping import Scoping
from mnemic.testing.postgres_server import Databases, PostgresServer, start_postgres
from mnemic.testing.store_contract import new_cube, say, view_of, writing
from tests.databases import databases, opened
from tests.services.opened import Clock

PATIENCE = 60  # seconds


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server that a test may stop and start."""
    started = start_postgres(settings={"max_connections": "12"})
    yield started
    started.close()


@contextmanager
def store_on(server: PostgresServer) -> Iterator[SqlStore]:
    if not server.running:
        server.start()
    with Databases(server.url).fresh() as url, opened(url) as store:
        yield store


def test_a_new_database_has_the_schema_that_the_code_names(postgres: str) -> None:
    server = create_engine("postgresql+psycopg://", creator=lambda: _connect(postgres))

    def ours(thing: object, name: str | None, kind: str, *_: object) -> bool:
        # full text is the engine's own; names of cubes are unique by an index on a hash, as they may be long
        return not (str(name).startswith("entry_text") or name == "uq_cube_owner_kind_name")

    with server.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": ours, "compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        collations = connection.execute(
            text(
                "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'mnemic'"
                " AND data_type = 'text' AND table_name <> 'alembic_version' AND collation_name IS DISTINCT FROM 'C'"
            )
        )
        assert collations.all() == [], "text that is not compared byte by byte"
    server.dispose()


def _connect(url: str) -> psycopg.Connection[tuple[object, ...]]:
    connection = psycopg.connect(url)
    connection.execute("SET search_path = mnemic, public")
    return connection


def test_every_table_of_cubes_begins_with_the_cube_and_is_checked_by_row(postgres: str) -> None:
    assert set(CHECKED) == {table.name for table in schema.CUBES} | {"entry_text"}
    with _connect(postgres) as connection:
        for name in CHECKED:
            keys = connection.execute(
                "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid"
                " WHERE i.indrelid = %s::regclass AND i.indisprimary AND a.attnum = i.indkey[0]",
                [name],
            ).fetchone()
            assert keys == ("cube_key",), name
            checked = connection.execute(
                "SELECT relrowsecurity AND relforcerowsecurity FROM pg_class WHERE oid = %s::regclass", [name]
            ).fetchone()
            assert checked == (True,), name


def test_a_query_that_forgets_the_cube_sees_no_other_cubes_rows(postgres: str) -> None:
    with opened(postgres) as store:
        mine, yours = new_cube(store), new_cube(store, "bob")
        for cube, words in ((mine, "a plover"), (yours, "a secret")):
            with writing(store) as tx:
                say(tx, cube, [words])
        everything = [text(f"SELECT count(*) FROM {name}") for name in CHECKED]
        full = ("message", "entry", "entry_text", "vector", "session", "page")
        with store.read() as tx:
            assert [tx.connection.scalar(each) for each in everything] == [0] * len(CHECKED), "before a cube is entered"
            tx.enter(mine.key)
            assert tx.connection.scalars(text("SELECT content FROM message")).all() == ['"a plover"']
            counts = {name: tx.connection.scalar(text(f"SELECT count(*) FROM {name}")) for name in full}
            assert counts == dict.fromkeys(full, 1)
            tx.enter(yours.key)
            assert tx.connection.scalar(text("SELECT count(*) FROM message")) == 2
        with store.read() as tx:
            assert tx.connection.scalar(text("SELECT count(*) FROM message")) == 0, "what was entered outlives its end"
        with store.write() as tx:
            tx.enter(mine.key)
            assert tx.connection.execute(text("UPDATE message SET content = '\"gone\"'")).rowcount == 1
            assert tx.connection.execute(text("DELETE FROM entry_text")).rowcount == 1
        with pytest.raises(StoreError, match="row-level security"), store.write() as tx:  # noqa: PT012 - all that is done
            tx.enter(mine.key)
            tx.connection.execute(text(f"INSERT INTO forgotten (cube_key, mark) VALUES ({yours.key}, 'x')"))
        with store.read() as tx:
            tx.enter_all()
            assert set(tx.connection.scalars(text("SELECT content FROM message"))) == {'"gone"', '"a secret"'}


def test_words_of_another_cube_are_not_found_by_their_terms(postgres: str) -> None:
    with opened(postgres) as store:
        mine, yours = new_cube(store), new_cube(store, "bob")
        with writing(store) as tx:
            say(tx, yours, ["a secret secret secret"])
        with store.read() as tx:
            tx.enter(mine.key)
            [(keys, _)] = tx.index.postings(yours.key, ["secret"])
            assert len(keys) == 0
            assert tx.index.frequencies(yours.key, ["secret"]) == ({"secret": 0}, 0)
            tx.enter(yours.key)
            [(keys, counts)] = tx.index.postings(yours.key, ["secret"])
            assert (len(keys), list(counts)) == (1, [3])
            assert tx.connection.scalar(text("SELECT count(*) FROM entry_text")) == 1, "a search hides rows after it"


def test_a_thread_that_has_entered_cubes_reaches_them_in_all_its_transactions(postgres: str) -> None:
    with opened(postgres) as store:
        mine, yours = new_cube(store), new_cube(store, "bob")
        with writing(store) as tx:
            say(tx, mine, ["one"])
            say(tx, yours, ["two"])
        seen: list[int] = []
        with store.entered(mine.key):
            with store.read() as tx:
                assert len(tx.messages.list(mine.key)) == 1 and not tx.messages.list(yours.key)
            with store.entered(yours.key), store.write() as tx:
                assert len(tx.messages.list(mine.key)) == len(tx.messages.list(yours.key)) == 1
            with store.read() as tx:
                assert not tx.messages.list(yours.key)
            other = threading.Thread(target=lambda: seen.append(_count(store, mine.key)))
            other.start()
            other.join(PATIENCE)
        assert seen == [0], "another thread reaches what this one has entered"
        assert _count(store, mine.key) == 0


def _count(store: SqlStore, key: int) -> int:
    with store.read() as tx:
        return len(tx.messages.list(key))


def test_the_check_up_tells_whether_rows_are_checked(postgres: str, server: PostgresServer) -> None:
    with opened(postgres) as store:
        found = {what: (well, told) for what, well, told in store.check()}
        assert found["row-level checks"] == (True, f"on for all {len(CHECKED)} tables of cubes")
        assert found["database server"][0] and "PostgreSQL" in found["database server"][1]
        assert found["full-text index"][0]
        with store.write() as tx:
            tx.connection.execute(text("ALTER TABLE message NO FORCE ROW LEVEL SECURITY"))
        well, told = next((well, told) for what, well, told in store.check() if what == "row-level checks")
        assert not well and "off for message" in told
    with psycopg.connect(server.admin_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE of_admin")
    with opened(f"{server.admin_url.rpartition('/')[0]}/of_admin") as store:
        found = {what: (well, told) for what, well, told in store.check()}
        assert not found["row-level checks"][0] and "superuser" in found["row-level checks"][1]
        assert not found["durability"][0] and "fsync" in found["durability"][1]


@pytest.mark.parametrize("url", ["mysql://a:secret@b/c", "sqlite:///x", "no address", "postgresql:/a", "://"])
def test_an_address_of_something_else_is_refused(url: str) -> None:
    with pytest.raises(InputError, match=r"^database_url: needs an address that begins with postgresql://") as caught:
        SqlStore(url, model="test", width=lambda: 8, cache_bytes=1)
    assert "secret" not in str(caught.value)


def test_an_address_that_cannot_be_read_is_refused_without_its_password() -> None:
    with pytest.raises(InputError, match=r"^database_url: is no address") as caught:
        SqlStore("postgresql://ann:se%zzcret@host/db", model="test", width=lambda: 8, cache_bytes=1)
    assert "cret" not in str(caught.value) and caught.value.__cause__ is None


def test_what_cannot_be_opened_says_what_to_do_and_never_the_password(server: PostgresServer) -> None:
    url, secret = server.url, server.password
    cases = {
        url.replace(secret, "wrong-word"): "refuses this role or its password",
        url.replace("mnemic:", "nobody:"): "refuses this role or its password",
        url.rpartition("/")[0] + "/nowhere": "no such database",
        f"postgresql://ann:{secret}@127.0.0.1:1/db": "is away",
        f"postgresql://ann:{secret}@nowhere.invalid/db": "is away",
        f"{url}?sslmode=require": "do not agree",
    }
    for address, told in cases.items():
        with pytest.raises(StoreError, match=told) as caught:
            SqlStore(address, model="test", width=lambda: 8, cache_bytes=1)
        for word in (secret, "wrong-word"):
            assert word not in str(caught.value) and word not in repr(caught.value.fields)


def test_a_server_without_a_connection_left_says_so(server: PostgresServer) -> None:
    held = []
    try:
        for _ in range(20):
            try:
                held.append(psycopg.connect(server.url))
            except psycopg.OperationalError:
                break
        with pytest.raises(StoreError, match="no connection left"):
            SqlStore(server.url, model="test", width=lambda: 8, cache_bytes=1)
    finally:
        for connection in held:
            connection.close()


def test_a_store_is_of_no_use_while_its_server_is_away_and_goes_on_when_it_is_back(server: PostgresServer) -> None:
    with store_on(server) as store:
        cube = new_cube(store)
        for at_once in (False, True):
            with writing(store) as tx:
                say(tx, cube, ["one"])
            server.stop(at_once=at_once)
            with pytest.raises(StoreError, match="is away"):
                view_of(store, cube)
            server.start()
            with writing(store) as tx:
                say(tx, cube, ["two"])
        assert len(view_of(store, cube)) == 4


def test_a_transaction_that_loses_its_server_leaves_nothing(server: PostgresServer) -> None:
    with store_on(server) as store:
        cube = new_cube(store)
        with pytest.raises(StoreError, match="is away"), writing(store) as tx:  # noqa: PT012 - all that is done
            say(tx, cube, ["never"])
            server.restart(at_once=True)
            say(tx, cube, ["never"])
        assert len(view_of(store, cube)) == 0


def test_a_server_that_goes_away_during_a_commit_leaves_open_whether_it_is_stored(server: PostgresServer) -> None:
    with store_on(server) as store:
        cube = new_cube(store)
        with pytest.raises(StoreError, match="look whether it is"), writing(store) as tx:  # noqa: PT012 - all that is done
            say(tx, cube, ["perhaps"])
            server.restart(at_once=True)
        assert len(view_of(store, cube)) == 0


def test_a_cancelled_statement_says_so(postgres: str) -> None:
    with opened(postgres) as store:
        with pytest.raises(StoreError, match="cancelled the call") as caught, store.read() as tx:  # noqa: PT012
            tx.connection.execute(text("SET LOCAL statement_timeout = 20"))
            tx.connection.execute(text("SELECT pg_sleep(30)"))
        assert caught.value.fields["code"] == "57014"
        assert _count(store, 1) == 0, "the store goes on"


def test_two_calls_that_wait_for_each_other_end_with_one_told_to_try_again(postgres: str) -> None:
    with opened(postgres) as store:
        cubes = [new_cube(store, owner) for owner in ("ann", "bob")]
        both = threading.Barrier(2, timeout=PATIENCE)
        told: list[str] = []

        def lock(first: int, second: int) -> None:
            try:
                with writing(store) as tx:
                    tx.cubes.touch(cubes[first].key)
                    both.wait()
                    tx.cubes.touch(cubes[second].key)
            except StoreError as error:
                told.append(str(error))

        threads = [threading.Thread(target=lock, args=pair) for pair in ((0, 1), (1, 0))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert len(told) == 1 and "waited for each other" in told[0] and "try it again" in told[0]


def test_calls_beyond_the_connections_wait_and_then_say_so(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_POOL_WAIT", 0.2)
    with closing(SqlStore(postgres, model="test", width=lambda: 8, cache_bytes=1, connections=3)) as store:
        with (
            store.read(),
            store.read(),
            pytest.raises(StoreError, match="2 calls and open exports use the store already"),
            store.read(),
        ):
            pass
        with store.read(), store.read():
            pass


def test_many_that_open_a_new_database_at_once_make_its_tables_once() -> None:
    with databases().fresh() as url, ThreadPoolExecutor(6) as pool:
        for store in pool.map(lambda _: SqlStore(url, model="test", width=lambda: 8, cache_bytes=1), range(6)):
            cube = new_cube(store, f"user{id(store)}")
            assert len(view_of(store, cube)) == 0
            store.close()
        with _connect(url) as connection:
            assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(schema.HEAD,)]


def test_a_store_of_a_newer_version_is_refused_and_not_touched(postgres: str) -> None:
    with opened(postgres) as store:
        cube = new_cube(store)
        with writing(store) as tx:
            say(tx, cube, ["kept"])
    with _connect(postgres) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreVersionError, match="newer") as caught:
        PostgresDatabase(postgres, 3)
    assert caught.value.fields == {"found": "9999", "known": schema.HEAD}
    with _connect(postgres) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]


def test_a_database_in_another_encoding_is_refused(server: PostgresServer) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE narrow ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    with pytest.raises(StoreError, match="holds text as LATIN1"):
        PostgresDatabase(f"{server.url.rpartition('/')[0]}/narrow", 3)


def test_a_server_that_is_too_old_is_refused(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "OLDEST", 990_000)
    with pytest.raises(StoreError, match="Mnemic needs 99 or newer"):
        PostgresDatabase(postgres, 3)


def test_a_ring_is_heard_by_every_store_on_the_server_and_again_after_it_was_away(server: PostgresServer) -> None:
    with Databases(server.url).fresh() as url, opened(url) as first, opened(url) as second:
        heard: queue.Queue[tuple[str, frozenset[str]]] = queue.Queue()
        leave = first.bell.listen(lambda lanes: heard.put(("first", frozenset(lanes))))
        second.bell.listen(lambda lanes: heard.put(("second", frozenset(lanes))))
        rung_until_heard(first, heard, {"first", "second"}, "quick")
        server.restart(at_once=True)
        rung_until_heard(second, heard, {"first", "second"}, "slow")
        leave()
        rung_until_heard(first, heard, {"second"}, "quick")
        rung_until_heard(second, heard, {"second"}, "quick")
        assert not [name for name, _ in list(heard.queue) if name == "first"]


def rung_until_heard(store: SqlStore, heard: queue.Queue[tuple[str, frozenset[str]]], who: set[str], lane: str) -> None:
    """Ring until all have heard it: a ring may be lost, while somebody connects."""
    deadline, missing = time.monotonic() + PATIENCE, set(who)
    while missing:
        assert time.monotonic() < deadline, f"{missing} did not hear"
        store.bell.ring([lane])
        with suppress(queue.Empty):
            while True:
                name, lanes = heard.get(timeout=0.5)
                if lane in lanes:
                    missing.discard(name)
    while not heard.empty():
        heard.get()


def test_a_bell_that_cannot_reach_its_server_raises_nothing_and_ends(server: PostgresServer) -> None:
    with Databases(server.url).fresh() as url:
        store = SqlStore(url, model="test", width=lambda: 8, cache_bytes=1, connections=4)
        heard: list[str] = []
        store.bell.listen(heard.extend)
        server.stop()
        for _ in range(5):
            store.bell.ring(["quick"])
        assert heard == ["quick"] * 5, "who listens in the process hears it all the same"
        store.close()
        store.bell.ring(["quick"])
        server.start()


def test_two_processes_that_make_a_users_first_cube_at_once_share_it(postgres: str) -> None:
    with opened(postgres) as first, opened(postgres) as second, ThreadPoolExecutor(2) as pool:
        both = threading.Barrier(2, timeout=PATIENCE)

        def add(store: SqlStore) -> int:
            scoping = Scoping(Clock())
            with store.write() as tx:
                assert tx.cubes.find("ann", CubeKind.PERSONAL, "personal") is None
                both.wait()
                cube = scoping.for_write(tx, "ann", None)
                tx.cubes.touch(cube.key)
                return cube.key

        one, other = pool.map(add, (first, second))
        assert one == other


def test_whoever_begins_a_job_waits_for_nobody_who_begins_one_of_another_cube(postgres: str) -> None:
    with opened(postgres) as store:
        cubes = [new_cube(store, owner) for owner in ("ann", "bob", "cleo")]
        jobs = [queued(new_id(), cube.key, ORGANIZE, Clock().now()) for cube in cubes]

        def charge(job: Job, virtual: float) -> None:
            with store.write() as tx:
                tx.enter_all()
                tx.turns.charge(job, virtual + 0.5, virtual)

        def virtual_time() -> float:
            with store.read() as tx:
                return tx.turns.virtual(QUICK, Priority.NORMAL)

        charge(jobs[0], 1.0)
        with ThreadPoolExecutor(1) as pool, store.write() as tx:
            tx.enter_all()
            tx.turns.charge(jobs[1], 3.5, 3.0)
            pool.submit(charge, jobs[2], 2.0).result(PATIENCE)  # the other transaction is still open
            assert virtual_time() == 1.0
        assert virtual_time() == 3.0
        charge(jobs[0], 2.5)
        assert virtual_time() == 3.0, "it never goes back"
