"""Every operation, tried by everybody: each ends as the table says; who may not read is told nothing.

What is refused changes nothing.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory, MnemicError
from mnemic.api import Cubes, Jobs, Keys, LanguageModels, acting
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.backends.sql.sqlite import DATABASE_FILE
from mnemic.config import Settings
from mnemic.errors import KeyRefusedError
from mnemic.model.caller import LOCAL
from mnemic.testing.scripted_model import ScriptedModel
from mnemic.wire.routes import ROUTES
from mnemic.wire.values import plain
from tests import permissions as table
from tests.databases import address_of, using
from tests.permissions import CALLERS, OK, SIGHTLESS, TABLE, WORD, World
from tests.services.opened import Clock, new_store

FACES = {"": Memory, "cubes": Cubes, "llm": LanguageModels, "jobs": Jobs, "keys": Keys}


def operations() -> set[str]:
    """Return all that a memory offers, by the names of its verbs."""
    return {
        f"{group}.{name}" if group else name
        for group, face in FACES.items()
        for name, found in vars(face).items()
        if inspect.isfunction(found) and not name.startswith("_")
    }


BUILT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def opened(folder: Path, at: datetime = BUILT + timedelta(hours=1)) -> Memory:
    """Open a memory as servers do: it refuses whoever is not named. Its model says what no memory holds."""
    new_store(folder)
    settings = Settings(home=str(folder), database_url=address_of(folder), worker=False, refine=False)
    return Memory(
        settings=settings, embedder=HashingEmbedder(64), clock=Clock(at), guarded=True,
        llm=ScriptedModel(lambda _: "Hello."),
    )  # fmt: skip


def built(folder: Path) -> World:
    with opened(folder, BUILT) as memory, acting(LOCAL):
        return table.build(memory)


def call(memory: Memory, verb: str, given: dict[str, Any]) -> Any:
    """Call a verb; return what it gives, all of it."""
    found: Any = memory
    for name in verb.split("."):
        found = getattr(found, name)
    result = found(**given)
    return list(result) if isinstance(result, Iterator) else result


def outcome(memory: Memory, world: World, caller: str, verb: str, given: dict[str, Any]) -> tuple[str, Any]:
    """Return how a call ends: `ok` and what it gives, or the code of the error."""
    try:
        who = memory.keys.caller_of(world.secret_of(caller))
        with acting(who):
            return OK, call(memory, verb, given)
    except MnemicError as error:
        return error.code, str(error)


def state(memory: Memory, world: World) -> list[object]:
    """Return all that a refused call must leave as it was."""
    with acting(LOCAL):
        here: dict[str, Any] = {"user": table.OWNER, "cube": world.cube}
        keys = [(key.id, key.expires_at, key.revoked_at) for key in memory.keys.list()]
        jobs = [(job.id, job.state) for job in memory.jobs.list(**here)]
        items = memory.list(limit=1_000, **here)
        shared = memory.cubes.members(world.cube, user=table.OWNER), memory.jobs.share(**here)
        return [keys, jobs, items, shared, memory.changes(**here), memory.llm.usage(**here).total.calls]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, World]]:
    """A memory in which everybody is refused what they may not do: it stays as it is."""
    with using(request.param):
        folder = tmp_path_factory.mktemp("refused")
        world = built(folder)
        with opened(folder) as memory:
            yield memory, world


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World]:
    folder = tmp_path_factory.mktemp("original")
    return folder, built(folder)


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


@pytest.mark.parametrize("verb", sorted(TABLE))
def test_who_may_can(original: tuple[Path, World], tmp_path: Path, verb: str) -> None:
    folder, world = original
    for caller in CALLERS:
        if TABLE[verb][caller] != OK:
            continue
        copy = tmp_path / caller
        copy.mkdir()
        shutil.copy(folder / DATABASE_FILE, copy / DATABASE_FILE)
        with opened(copy) as memory:
            code, told = outcome(memory, world, caller, verb, table.arguments(world, verb, caller))
        assert code == OK, (caller, told)
        if caller in SIGHTLESS:
            shown = str(plain(told))
            assert WORD not in shown
            assert world.cube not in shown


def test_a_stream_ends_when_its_key_does(
    original: tuple[Path, World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.api.calls.LOOK", 0.0)
    folder, world = original
    shutil.copy(folder / DATABASE_FILE, tmp_path / DATABASE_FILE)
    with opened(tmp_path) as memory:
        with acting(memory.keys.caller_of(world.secret_of("owner"))):
            pieces = memory.export(user=table.OWNER, cube=world.cube)
        next(pieces)  # for the caller, wherever it is read
        key = world.keys["owner"]
        assert key is not None
        with acting(LOCAL):
            memory.keys.revoke(key.key.id)
        with pytest.raises(KeyRefusedError):
            next(pieces)
        with acting(LOCAL):
            assert [(row.verb, row.outcome) for row in memory.audit(key=key.key.id)] == [("export", "unauthenticated")]


def test_a_memory_that_is_guarded_does_nothing_for_whom_it_does_not_know(place: tuple[Memory, World]) -> None:
    memory, world = place
    for verb in sorted(TABLE):
        with pytest.raises(KeyRefusedError):
            call(memory, verb, table.arguments(world, verb, "owner"))
