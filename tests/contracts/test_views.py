"""A view that was given out never changes, and what a cube gains does not copy what is held of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from mnemic.backends.sql import views
from mnemic.backends.sql.store import SqlStore
from mnemic.model.index import CubeView, codes_of
from mnemic.testing.store_contract import new_cube, reading, say, seen, vector, view_of, writing
from tests.databases import opened


@pytest.fixture
def store(place: Path | str) -> Iterator[SqlStore]:
    with opened(place, 10_000_000) as found:
        yield found


def fresh(place: Path | str, key: int) -> CubeView:
    with opened(place) as other, reading(other) as tx:
        return tx.index.view(key)


def test_a_view_that_was_given_out_stays_as_it_was(store: SqlStore) -> None:
    cube = new_cube(store)
    given = []
    for number in range(12):
        with writing(store) as tx:
            ids = say(tx, cube, ["one", "two", "three"], session="ab"[number % 2])
        view = view_of(store, cube)
        given.append((view, seen(view)))
        if number == 6:
            with writing(store) as tx:
                tx.cubes.touch(cube.key)
                tx.index.remove(cube.key, ids[:1])
        if number == 8:
            with writing(store) as tx:
                revision = tx.cubes.touch(cube.key)
                tx.index.set_vectors(cube.key, revision, [(int(view.keys[2]), vector(77))])
    for view, before in given:
        assert seen(view) == before
    with pytest.raises(ValueError, match="read-only"):
        given[-1][0].vectors[0] = 0


def test_an_add_does_not_copy_the_matrix(store: SqlStore) -> None:
    cube = new_cube(store)
    with writing(store) as tx:
        say(tx, cube, ["word"] * 40)
    shared = []
    view = view_of(store, cube)
    for _ in range(10):
        with writing(store) as tx:
            say(tx, cube, ["another"])
        before, view = view, view_of(store, cube)
        shared.append(np.shares_memory(before.vectors, view.vectors))
    assert shared == [False, *[True] * 9], "the room behind the first rows is made once"


def test_what_a_failed_write_saw_is_not_what_comes_after(store: SqlStore, place: Path | str) -> None:
    cube = new_cube(store)
    for number in range(4):
        with writing(store) as tx:
            say(tx, cube, [f"kept {number}"])
        view_of(store, cube)
        with pytest.raises(RuntimeError, match="no"), writing(store) as tx:  # noqa: PT012 - the block is what fails
            say(tx, cube, ["never"] * 3)
            inside = tx.index.view(cube.key)
            held = seen(inside)
            raise RuntimeError("no")
        with writing(store) as tx:
            say(tx, cube, ["after"])
        assert seen(view_of(store, cube)) == seen(fresh(place, cube.key))
        assert seen(inside) == held


def test_a_view_follows_another_process_through_adds_removals_and_new_vectors(place: Path | str) -> None:
    with opened(place) as store, opened(place) as other:
        cube = new_cube(store)
        for number in range(6):
            with writing(other) as tx:
                ids = say(tx, cube, ["one", "two"], session=f"s{number}")
                revision = tx.cubes.touch(cube.key)
                tx.index.remove(cube.key, ids[:1] if number % 2 else [])
            with reading(other) as tx:
                keys = tx.index.view(cube.key).keys
            with writing(other) as tx:
                revision = tx.cubes.touch(cube.key)
                tx.index.set_vectors(cube.key, revision, [(int(keys[0]), vector(100 + number))])
            assert seen(view_of(store, cube)) == seen(fresh(place, cube.key))


def test_codes_follow_the_rows(store: SqlStore, place: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "CODED", 5)
    cube = new_cube(store)
    ids: list[str] = []
    for number in range(6):
        with writing(store) as tx:
            ids += say(tx, cube, ["one", "two"], session=f"s{number % 2}")
        if number == 4:
            with writing(store) as tx:
                revision = tx.cubes.touch(cube.key)
                tx.index.set_vectors(cube.key, revision, [(int(view_of(store, cube).keys[1]), -vector(3))])
        view = view_of(store, cube)
        assert bool(view.codes) == (len(view) >= 5)
        for held, expected in zip(view.codes, codes_of(view.vectors), strict=False):
            assert np.array_equal(held, expected)
    with writing(store) as tx:
        tx.cubes.touch(cube.key)
        tx.index.remove(cube.key, ids[4:])
    view = view_of(store, cube)
    assert view.codes == () and len(view) == 4
    assert seen(view) == seen(fresh(place, cube.key))


def test_threads_that_ask_for_a_view_at_once_share_it(store: SqlStore) -> None:
    cube = new_cube(store)
    with writing(store) as tx:
        say(tx, cube, ["word"] * 50)
    found: list[CubeView] = []
    threads = [Thread(target=lambda: found.append(view_of(store, cube))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(found) == 6 and len({id(view) for view in found}) == 1


def test_the_cache_counts_what_it_holds(place: Path | str) -> None:
    with opened(place, 20_000) as store:
        cubes = [new_cube(store, f"user{number}") for number in range(8)]
        for cube in cubes:
            with writing(store) as tx:
                say(tx, cube, ["word"] * 30)
            view_of(store, cube)
        cache = store._cache
        assert 0 < cache.nbytes <= 20_000
        assert cache.nbytes == sum(held.nbytes for held in cache._views.values())
        assert cache.find(cubes[-1].key) is not None and cache.find(cubes[0].key) is None
        held = cache.find(cubes[-1].key)
        assert held is not None
        cache.put(replace(held))
        cache.drop(cubes[-1].key)
        assert cache.nbytes == sum(held.nbytes for held in cache._views.values())
