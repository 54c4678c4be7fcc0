"""A memory for trying out who may do what, opened as servers open it, and one call of one caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mnemic import Memory, MnemicError
from mnemic.api import acting
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.config import Settings
from mnemic.model.caller import LOCAL
from mnemic.testing.scripted_model import ScriptedModel
from tests import permissions as table
from tests.databases import address_of
from tests.permissions import OK, World
from tests.services.opened import Clock, new_store


class Obliging(ScriptedModel):
    """A scripted model that takes requests of OpenAI's chat API, too."""

    def relay(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an answer."""
        return {"model": request["model"], "choices": [{"index": 0, "message": {"content": "Hello."}}]}

    def relay_stream(self, request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield an answer in one event."""
        yield {"model": request["model"], "choices": [{"index": 0, "delta": {"content": "Hello."}}]}


BUILT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def opened(folder: Path, at: datetime = BUILT + timedelta(hours=1)) -> Memory:
    """Open a memory as servers do: it refuses whoever is not named. Its model says what no memory holds."""
    new_store(folder)
    settings = Settings(home=str(folder), database_url=address_of(folder), worker=False, refine=False)
    return Memory(
        settings=settings, embedder=HashingEmbedder(64), clock=Clock(at), guarded=True,
        llm=Obliging(lambda _: "Hello."),
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
        documents = memory.knowledge.documents(world.base, user=table.OWNER)
        bases = memory.knowledge.list(user=table.OWNER), memory.cubes.members(world.base, user=table.OWNER)
        beside = memory.changes(**here), memory.llm.usage(**here).total.calls
        return [keys, jobs, items, shared, documents, bases, *beside]
