"""Large cubes' vectors compared by pgvector: the same hits as in this process, however the cube came to be large."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psycopg
import pytest
from sqlalchemy import text

from mnemic import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.backends.sql.postgres_near import CHECKED, Comparing
from mnemic.backends.sql.store import SqlStore
from mnemic.config import Settings
from mnemic.core import scanning
from mnemic.errors import InputError
from mnemic.model.index import Entry
from mnemic.model.scope import Cube
from mnemic.services.embedding import Embedding
from mnemic.testing.postgres_server import PostgresServer, start_postgres
from mnemic.testing.store_contract import WIDTH, new_cube, reading, say, vector, view_of, writing
from tests.databases import fresh_database
from tests.services.opened import Clock, talk

LARGE = 20  # entries from which a cube is large here


def store_at(url: str, by: str = "auto", *, start: int = LARGE, model: str = "test", width: int = WIDTH) -> SqlStore:
    comparing = Comparing(by, start)
    return SqlStore(
        url, model=model, width=lambda: width, cache_bytes=1_000_000, connections=4, comparing=comparing, replacing=True
    )


@pytest.fixture
def store(postgres: str) -> Iterator[SqlStore]:
    with closing(store_at(postgres)) as opened:
        yield opened


def spread(store: SqlStore, cube: Cube) -> int:
    """Do what the background work does with a cube that has grown large."""
    moving = Embedding(store, HashingEmbedder(WIDTH))
    return sum(iter(lambda: moving.spread(cube.key), 0))


def put(store: SqlStore, cube: Cube, count: int, first: int = 0) -> None:
    with writing(store) as tx:
        revision = tx.cubes.touch(cube.key)
        numbers = range(first, first + count)
        tx.index.add(cube.key, revision, [_entry(number) for number in numbers])


def _entry(number: int) -> Entry:
    return Entry(
        "message", f"m{number}", f"passage {number}", "ann", number, vector(number), session_id="s", position=number
    )


def held(store: SqlStore) -> int:
    with store.read() as tx:
        tx.enter_all()
        return int(tx.connection.scalar(text("SELECT count(*) FROM near_vector")) or 0)


def test_a_cube_is_left_to_pgvector_when_it_has_grown_large_and_not_before(store: SqlStore) -> None:
    cube, small = new_cube(store), new_cube(store, "bob")
    put(store, cube, LARGE - 1)
    put(store, small, 3)
    assert spread(store, cube) == 0 and not view_of(store, cube).apart
    put(store, cube, 1, LARGE)
    assert not view_of(store, cube).apart
    assert spread(store, cube) == LARGE == held(store)
    assert spread(store, cube) == spread(store, small) == 0
    view = view_of(store, cube)
    assert view.apart and len(view) == LARGE and view.vectors.shape == (0, WIDTH) and view.codes == ()
    assert not view_of(store, small).apart


def test_what_is_added_changed_and_removed_later_is_so_there_too(store: SqlStore, postgres: str) -> None:
    cube = new_cube(store)
    put(store, cube, LARGE)
    spread(store, cube)
    with writing(store) as tx:
        ids = say(tx, cube, ["one more", "and one"])
    assert held(store) == LARGE + 2
    view = view_of(store, cube)
    assert view.apart and len(view) == LARGE + 2
    with writing(store) as tx:
        revision = tx.cubes.touch(cube.key)
        tx.index.set_vectors(cube.key, revision, [(int(view.keys[0]), vector(500))])
        tx.index.remove(cube.key, ids[:1])
    assert held(store) == LARGE + 1
    with reading(store) as tx:
        found = tx.near.cosines(cube.key, vector(500), view.keys)
        assert found[0] == pytest.approx(1, abs=1e-3)
        assert found[LARGE] == 0, "a cosine with what is removed"
    with closing(store_at(postgres)) as other:
        assert len(view_of(other, cube)) == LARGE + 1 and view_of(other, cube).apart
    with writing(store) as tx:
        tx.cubes.delete(cube.key, at=datetime.now(UTC))
    assert held(store) == 0


def test_cosines_and_pairs_are_those_of_the_rows(store: SqlStore) -> None:
    cube = new_cube(store)
    put(store, cube, 60)
    rows = view_of(store, cube).vectors.astype(np.float32)
    spread(store, cube)
    view = view_of(store, cube)
    asked = vector(1_000)
    with reading(store) as tx:
        order = np.random.default_rng(1).permutation(60)
        assert tx.near.cosines(cube.key, asked, view.keys[order]) == pytest.approx((rows @ asked)[order], abs=2e-3)
        pairs = tx.near.pairs(cube.key, view.keys[order], view.keys[::-1])
        assert pairs == pytest.approx(np.einsum("ij,ij->i", rows[order], rows[::-1]), abs=2e-3)
        nearest = tx.near.nearest(cube.key, asked, 10)
        assert list(nearest) == list(view.keys[np.argsort(-(rows @ asked), kind="stable")[:10]])


def test_another_cubes_vectors_are_not_reached(store: SqlStore) -> None:
    mine, yours = new_cube(store), new_cube(store, "bob")
    for cube in (mine, yours):
        put(store, cube, LARGE)
        spread(store, cube)
    theirs = view_of(store, yours).keys
    with reading(store) as tx:
        assert not set(tx.near.nearest(mine.key, vector(1), 100)) & set(theirs)
        assert not tx.near.cosines(mine.key, vector(1), theirs).any()
    with store.read() as tx:
        tx.enter(mine.key)
        for name in CHECKED:
            assert set(tx.connection.scalars(text(f"SELECT cube_key FROM {name}"))) == {mine.key}
        assert len(tx.near.nearest(yours.key, vector(1), 100)) == 0


def test_a_process_that_does_not_know_of_the_index_leaves_nothing_out(store: SqlStore, postgres: str) -> None:
    cube = new_cube(store)
    put(store, cube, LARGE)
    spread(store, cube)
    with closing(store_at(postgres)) as other:
        other._near = None  # as one that was opened before the index was made
        put(other, cube, 2, LARGE)
    assert not view_of(store, cube).apart, "a vector that the index lacks is looked for there"
    assert len(view_of(store, cube).vectors) == LARGE + 2
    assert spread(store, cube) == 2
    assert view_of(store, cube).apart


def test_one_that_compares_in_memory_puts_its_vectors_there_for_the_others(store: SqlStore, postgres: str) -> None:
    cube = new_cube(store)
    put(store, cube, LARGE)
    spread(store, cube)
    with closing(store_at(postgres, "memory")) as other:
        assert len(view_of(other, cube).vectors) == LARGE
        put(other, cube, 2, LARGE)
        assert spread(other, cube) == 0
    assert view_of(store, cube).apart and held(store) == LARGE + 2


def test_another_model_begins_with_an_empty_index(store: SqlStore, postgres: str) -> None:
    cube = new_cube(store)
    put(store, cube, LARGE)
    spread(store, cube)
    with closing(store_at(postgres, model="other", width=WIDTH * 2)) as other:
        assert held(other) == 0
        assert not view_of(other, cube).apart


@pytest.mark.parametrize("start", [1, LARGE])
def test_a_search_finds_the_same_wherever_vectors_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: int
) -> None:
    """Few enough to be compared one by one, then so many that the index is asked."""
    said = [f"I {verb} {number} {thing} in {place}." for number, (verb, thing, place) in enumerate(_things())]
    asked = [f"How many {thing} did I {verb} in {place}?" for verb, thing, place in _things()[:12]]
    found: dict[str, list[list[tuple[str, float]]]] = {}
    for by in ("memory", "auto"):
        with fresh_database() as url:
            settings = Settings(
                home=str(tmp_path / by), database_url=url, worker=False, vector_index=by, vector_index_from=start
            )
            with Memory(settings=settings, embedder=HashingEmbedder(64), clock=Clock()) as memory:
                for day in range(4):
                    talk(memory, [("ann", words) for words in said[day::4]], session=f"s{day}", day=day + 1)
                memory.jobs.wait(user="ann")
                hits = [memory.search(question, user="ann", limit=5) for question in asked]
                hits += [memory.search(asked[0], user="ann", where={"session": "s1"}, limit=5)]
                monkeypatch.setattr(scanning, "_FEW", 8)
                hits += [memory.search(question, user="ann", limit=5) for question in asked]
                monkeypatch.undo()
                found[by] = [[(hit.text, round(hit.score, 2)) for hit in each] for each in hits]
                cube = memory._parts.scoping.known("ann")
                assert cube is not None
                assert view_of(memory._parts.store, cube).apart == (by == "auto")
    assert [[words for words, _ in each[:3]] for each in found["auto"]] == [
        [words for words, _ in each[:3]] for each in found["memory"]
    ]
    for one, other in zip(found["auto"], found["memory"], strict=True):
        assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=0.03)


def _things() -> list[tuple[str, str, str]]:
    verbs, things, places = ("buy", "sell", "paint"), ("plums", "kites", "bells", "boats"), ("Porto", "Oslo", "Rome")
    return [(verb, thing, place) for verb in verbs for thing in things for place in places]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    started = start_postgres()
    yield started
    started.close()


def test_without_the_extension_vectors_are_compared_here_and_the_check_up_says_so(server: PostgresServer) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE bare TEMPLATE template0")
    url = f"{server.url.rpartition('/')[0]}/bare"
    with closing(store_at(url)) as store:
        told = {what: told for what, _, told in store.check()}
        assert "CREATE EXTENSION vector" in told["vector index"]
        cube = new_cube(store)
        put(store, cube, LARGE)
        assert spread(store, cube) == 0 and not view_of(store, cube).apart
    with pytest.raises(InputError, match=r"^vector_index: `pgvector` cannot be used: this role may not make it"):
        store_at(url, "pgvector")
    with closing(store_at(url, "memory")) as store:
        assert "vector index" not in {what for what, _, _ in store.check()}
    with psycopg.connect(f"{server.admin_url.rpartition('/')[0]}/bare", autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    with closing(store_at(url, "pgvector")) as store:
        assert spread(store, cube) == LARGE
        assert view_of(store, cube).apart


def test_sqlite_has_no_pgvector(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^vector_index: `pgvector` is for PostgreSQL"):
        SqlStore(tmp_path, model="test", width=lambda: WIDTH, cache_bytes=1, comparing=Comparing("pgvector", 1))


def test_vectors_that_are_too_wide_for_its_index_are_compared_here(postgres: str) -> None:
    with closing(store_at(postgres, width=4_001)) as store:
        assert any("4,000 components" in told for _, _, told in store.check())
