"""Every operation, tried by who may not: each is refused as the table says, changes nothing and tells nothing."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

from mnemic import Memory
from mnemic.api import Cubes, Jobs, Keys, LanguageModels
from mnemic.api.attachments import Attachments
from mnemic.api.knowledge import Knowledge
from mnemic.api.relaying import Relay
from mnemic.errors import KeyRefusedError
from mnemic.wire.routes import ROUTES
from tests import permissions as table
from tests.databases import using
from tests.permissions import CALLERS, OK, TABLE, WORD, World
from tests.services.permitted import built, call, opened, outcome, state

FACES = {
    "": Memory, "cubes": Cubes, "llm": LanguageModels, "jobs": Jobs, "keys": Keys, "relay": Relay,
    "knowledge": Knowledge, "attachments": Attachments,
}  # fmt: skip


def operations() -> set[str]:
    """Return all that a memory offers, by the names of its verbs."""
    return {
        f"{group}.{name}" if group else name
        for group, face in FACES.items()
        for name, found in vars(face).items()
        if inspect.isfunction(found) and not name.startswith("_")
    }


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, World]]:
    """A memory in which everybody is refused what they may not do: it stays as it is."""
    with using(request.param):
        folder = tmp_path_factory.mktemp("refused")
        world = built(folder)
        with opened(folder) as memory:
            yield memory, world


def test_every_operation_has_a_row_and_every_row_an_operation() -> None:
    offered = operations()
    assert offered - set(TABLE) == table.LOCAL_ONLY, "say in tests/permissions.py who may do it"
    assert {route.verb for route in ROUTES} <= set(TABLE)
    assert set(TABLE) - offered == set(), "no such operation any more"
    assert all(row.keys() == set(CALLERS) for row in TABLE.values())


@pytest.mark.parametrize("verb", sorted(TABLE))
def test_who_may_not_is_refused_and_nothing_is_changed_or_told(place: tuple[Memory, World], verb: str) -> None:
    memory, world = place
    before = state(memory, world)
    refused = [caller for caller in CALLERS if TABLE[verb][caller] != OK]
    found = {caller: outcome(memory, world, caller, verb, table.arguments(world, verb, caller)) for caller in refused}
    assert {caller: code for caller, (code, _) in found.items()} == {caller: TABLE[verb][caller] for caller in refused}
    assert not [caller for caller, (_, told) in found.items() if WORD in told]
    assert state(memory, world) == before


@pytest.mark.parametrize("verb", sorted(TABLE))
def test_an_id_alone_opens_nothing(place: tuple[Memory, World], verb: str) -> None:
    memory, world = place
    before = state(memory, world)
    for caller in ("stranger", "reader", "editor", "other_project", "other_cube"):
        given = table.by_id(world, verb, caller)
        if given is not None:  # its own cube is meant, in which no such thing is
            code, told = outcome(memory, world, caller, verb, given)
            assert code == "not_found", (caller, code, told)
            assert WORD not in told
    assert state(memory, world) == before


def test_a_memory_that_is_guarded_does_nothing_for_whom_it_does_not_know(place: tuple[Memory, World]) -> None:
    memory, world = place
    for verb in sorted(TABLE):
        with pytest.raises(KeyRefusedError):
            call(memory, verb, table.arguments(world, verb, "owner"))
