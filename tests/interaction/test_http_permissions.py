"""Every operation over HTTP, tried by everybody: each ends as the table of permissions says."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from fastapi import FastAPI

from mnemic import Memory
from mnemic.shells.http.app import build
from mnemic.wire.routes import BY_VERB, ROUTES
from mnemic.wire.values import plain
from tests import permissions as table
from tests.interaction.http_served import asking, request_of
from tests.permissions import CALLERS, OK, SIGHTLESS, TABLE, WORD, World
from tests.services.permitted import built, opened, state

VERBS = sorted(route.verb for route in ROUTES)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World]:
    folder = tmp_path_factory.mktemp("original")
    return folder, built(folder)


@pytest.fixture(scope="module")
def place(
    original: tuple[Path, World], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Memory, FastAPI, World]]:
    """A memory in which everybody is refused what they may not do: it stays as it is."""
    folder = tmp_path_factory.mktemp("refused")
    shutil.copytree(original[0], folder, dirs_exist_ok=True)
    with opened(folder) as memory:
        yield memory, build(memory), original[1]


def outcomes(app: FastAPI, world: World, verb: str, given: Mapping[str, dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """Return how a call ends for each caller: `ok` or the code of the problem, and what was told."""

    async def each() -> dict[str, tuple[str, str]]:
        async with asking(app) as client:
            return {caller: await _outcome(client, world, caller, verb, one) for caller, one in given.items()}

    return anyio.run(each)


async def _outcome(
    client: httpx2.AsyncClient, world: World, caller: str, verb: str, given: dict[str, Any]
) -> tuple[str, str]:
    secret = world.secret_of(caller)
    headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    response = await client.request(**request_of(BY_VERB[verb], plain(given)), headers=headers)
    if response.status_code < 400:
        assert response.status_code == BY_VERB[verb].status
        return OK, response.text
    assert response.headers["content-type"] == "application/problem+json"
    return str(response.json()["code"]), response.text


@pytest.mark.parametrize("verb", VERBS)
def test_who_may_not_is_refused_over_http_too(place: tuple[Memory, FastAPI, World], verb: str) -> None:
    memory, app, world = place
    before = state(memory, world)
    refused = [caller for caller in CALLERS if TABLE[verb][caller] != OK]
    found = outcomes(app, world, verb, {caller: table.arguments(world, verb, caller) for caller in refused})
    assert {caller: code for caller, (code, _) in found.items()} == {caller: TABLE[verb][caller] for caller in refused}
    assert not [caller for caller, (_, told) in found.items() if WORD in told]
    assert state(memory, world) == before


@pytest.mark.parametrize("verb", VERBS)
def test_an_id_alone_opens_nothing_over_http(place: tuple[Memory, FastAPI, World], verb: str) -> None:
    memory, app, world = place
    before = state(memory, world)
    callers = ("stranger", "reader", "editor", "other_project", "other_cube")
    given = {caller: table.by_id(world, verb, caller) for caller in callers}
    known = {caller: each for caller, each in given.items() if each is not None}
    for caller, (code, told) in outcomes(app, world, verb, known).items():
        assert code == "not_found", (caller, code, told)
        assert WORD not in told
    assert state(memory, world) == before


@pytest.mark.parametrize("verb", VERBS)
def test_who_may_can_over_http(original: tuple[Path, World], tmp_path: Path, verb: str) -> None:
    folder, world = original
    for caller in CALLERS:
        if TABLE[verb][caller] != OK:
            continue
        copy = tmp_path / caller
        shutil.copytree(folder, copy)
        with opened(copy) as memory:
            given = {caller: table.arguments(world, verb, caller)}
            code, told = outcomes(build(memory), world, verb, given)[caller]
        assert code == OK, (caller, told)
        if caller in SIGHTLESS:
            assert WORD not in told and world.cube not in told


def test_figures_are_for_admins(place: tuple[Memory, FastAPI, World]) -> None:
    _, app, world = place

    async def each() -> dict[str, int]:
        found = {}
        async with asking(app) as client:
            for caller in CALLERS:
                secret = world.secret_of(caller)
                headers = {} if secret is None else {"X-API-Key": secret}
                found[caller] = (await client.get("/metrics", headers=headers)).status_code
        return found

    found = anyio.run(each)
    assert {caller: status == 200 for caller, status in found.items()} == {
        caller: TABLE["metrics"][caller] == OK for caller in CALLERS
    }
