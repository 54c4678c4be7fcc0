"""Every operation, tried by who may: it is carried out, and shows nothing of a cube that the caller may not read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mnemic.api import acting
from mnemic.errors import KeyRefusedError
from mnemic.model.caller import LOCAL
from mnemic.wire.values import plain
from tests import permissions as table
from tests.permissions import CALLERS, OK, SIGHTLESS, TABLE, WORD, World
from tests.services.permitted import built, opened, outcome


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World]:
    folder = tmp_path_factory.mktemp("original")
    return folder, built(folder)


@pytest.mark.parametrize("verb", sorted(TABLE))
def test_who_may_can(original: tuple[Path, World], tmp_path: Path, verb: str) -> None:
    folder, world = original
    for caller in CALLERS:
        if TABLE[verb][caller] != OK:
            continue
        copy = tmp_path / caller
        shutil.copytree(folder, copy)
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
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
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
