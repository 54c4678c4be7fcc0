"""The stores that come with Mnemic keep the contract, and their views are the same however they came about."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from mnemic.model.index import Entry
from mnemic.ports.store import Store
from mnemic.testing.store_contract import CHECKS, OpenStore, new_cube, say, seen, vector, view_of, writing
from tests.databases import ENGINES, opener, place_of

ADD, ADD_LONG, REMOVE, SYNC, FAIL, LOOK = "add", "long", "remove", "sync", "fail", "look"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_a_store_keeps_the_contract(place: Path | str, check: Callable[[OpenStore], None]) -> None:
    check(opener(place))


class StopError(Exception):
    pass


def apply(store: Store, step: str, cube_number: int, state: State) -> None:
    """Do one random thing to one of two cubes."""
    cube = state.cubes[cube_number]
    owners = state.owners[cube_number]
    if step == LOOK:
        view_of(store, cube)
        return
    with writing(store) as tx:
        if step == ADD:
            owners += say(tx, cube, ["one", "two"], session=state.draw("xyz"))
        elif step == ADD_LONG:
            revision = tx.cubes.touch(cube.key)
            owner = f"long{len(owners)}"
            passages = [
                Entry("segment", owner, f"part {number}", state.draw("pq"), 5, vector(number), start=number * 10)
                for number in range(3)
            ]
            tx.index.add(cube.key, revision, passages)
            owners.append(owner)
        elif step == REMOVE and owners:
            tx.cubes.touch(cube.key)
            tx.index.remove(cube.key, [owners.pop(state.random.randrange(len(owners)))])
        elif step == SYNC:
            revision = tx.cubes.touch(cube.key)
            state.versions += 1
            known = state.facts.setdefault(cube_number, [])
            known[:] = [replace(entry, valid_to=state.versions, live=False) for entry in known[-2:]]
            known.append(Entry("fact", "fact", "a fact", "ann", 1, vector(state.versions), f"v{state.versions}"))
            tx.index.sync(cube.key, revision, "fact", known)


class State:
    """What a run of random steps has done so far."""

    def __init__(self, store: Store, seed: int) -> None:
        self.random = random.Random(seed)
        self.cubes = (new_cube(store), new_cube(store, "bob"))
        self.owners: tuple[list[str], list[str]] = ([], [])
        self.facts: dict[int, list[Entry]] = {}
        self.versions = 0

    def draw(self, letters: str) -> str:
        return self.random.choice(letters)


def fail(store: Store, state: State, cube_number: int) -> None:
    """Write, look at what was written, and fail."""
    cube = state.cubes[cube_number]
    try:
        with writing(store) as tx:
            say(tx, cube, ["never"])
            tx.index.view(cube.key)
            raise StopError  # noqa: TRY301 - the block is what fails
    except StopError:
        return


steps = st.tuples(st.sampled_from((ADD, ADD, ADD_LONG, REMOVE, SYNC, FAIL, LOOK)), st.integers(0, 1), st.integers(0, 1))


LOST_ITS_PREVIOUS = [
    (REMOVE, 1, 0), (FAIL, 0, 0), (REMOVE, 1, 0), (REMOVE, 0, 0), (FAIL, 0, 1), (ADD_LONG, 0, 1), (ADD, 0, 0),
    (FAIL, 1, 1), (LOOK, 1, 0), (REMOVE, 1, 0), (SYNC, 0, 0),
]  # fmt: skip
"""A passage whose one before is erased kept the length of the two together."""


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=12, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@example(run=LOST_ITS_PREVIOUS, seed=614, cache_bytes=1)
@given(run=st.lists(steps, max_size=25), seed=st.integers(0, 1_000), cache_bytes=st.sampled_from((1, 1_000_000)))
def test_a_view_that_followed_every_change_equals_a_fresh_one(
    engine: str, run: list[tuple[str, int, int]], seed: int, cache_bytes: int
) -> None:
    with place_of(engine) as place:
        open_store = opener(place, cache_bytes)
        with closing(open_store()) as first, closing(open_store()) as second:
            stores, state = (first, second), State(first, seed)
            for step, store_number, cube_number in run:
                if step == FAIL:
                    fail(stores[store_number], state, cube_number)
                else:
                    apply(stores[store_number], step, cube_number, state)
            for cube in state.cubes:
                with closing(open_store()) as fresh:
                    expected = view_of(fresh, cube)
                for store in stores:
                    followed = view_of(store, cube)
                    assert seen(followed) == seen(expected)
                    assert set(followed.speaker_names) == set(expected.speaker_names)
                    assert set(followed.session_ids) == set(expected.session_ids)


def test_what_changed_since_a_place_is_read_in_the_order_of_its_changes(place: Path | str) -> None:
    with closing(opener(place)()) as store, closing(opener(place)()) as other:
        cube = new_cube(store)
        with writing(store) as tx:
            assert tx.index.newest(cube.key) == (0, 0)
            first = say(tx, cube, ["one", "two"])
        with writing(store) as tx:
            begun = tx.index.newest(cube.key)
            assert tx.index.changed(cube.key, begun, 10) == []
        with writing(other) as tx:
            second = say(tx, cube, ["three"])
            revision = tx.cubes.touch(cube.key)
            tx.index.add(cube.key, revision, [Entry("segment", "topic", "a topic", "", 1, vector(1))])
            fact = [Entry("fact", "fact", "a fact", "ann", 1, vector(2), "v1")]
            tx.index.sync(cube.key, revision, "fact", fact)
        with writing(other) as tx:
            [(key, _)] = [(key, owner) for _, key, owner in tx.index.changed(cube.key, (0, 0), 10) if owner == first[0]]
            tx.index.set_vectors(cube.key, tx.cubes.touch(cube.key), [(key, vector(9))])
        with writing(store) as tx:
            found = tx.index.changed(cube.key, begun, 10)
            assert [owner for _, _, owner in found] == [second[0], "fact", first[0]], "a segment is no item"
            assert [key <= begun[1] for _, key, _ in found] == [False, False, True], "keys tell what is new"
            assert found == sorted(found)
            assert tx.index.changed(cube.key, begun, 1) == found[:1]
            assert tx.index.changed(cube.key, found[0][:2], 10) == found[1:]
            assert tx.index.newest(cube.key) == (found[-1][0], found[1][1])
