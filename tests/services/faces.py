"""The four faces of one memory behind one way of calling them, and what they gave in a form that can be compared.

Each face has a memory of its own: a hashing embedder, a clock that stands still, no background work but in `jobs.wait`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Final

import anyio.from_thread

from mnemic import AsyncClient, AsyncMemory, Client, Memory, MnemicError
from mnemic.acting import acting
from mnemic.api.awaiting import Calls, Opening
from mnemic.config import Settings
from mnemic.errors import InputError, InputFaults
from mnemic.model.caller import LOCAL, Caller
from mnemic.ports.llm import LanguageModel
from mnemic.wire.values import PRIVATE, plain
from tests.databases import address_of
from tests.interaction.http_served import serving
from tests.services.opened import new_store

EMBEDDED: Final = "embedded"
FACES: Final = ("async embedded", "client", "async client")
"""The faces that are compared with the embedded one."""

_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Noon:
    """A clock that stands still."""

    def now(self) -> datetime:
        return datetime(2026, 3, 1, 12, tzinfo=UTC)


class Face:
    """Calls a face's verbs by their names; pieces are heard to the end."""

    def __init__(
        self, verbs: object, portal: anyio.from_thread.BlockingPortal | None, who: Callable[[], Caller | None]
    ) -> None:
        self._verbs = verbs
        self._portal = portal
        self._who = who

    def __call__(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        """Return what a verb gives; a list of its pieces, when it comes in pieces."""
        found = self._verbs
        for name in verb.split("."):
            found = getattr(found, name)
        assert callable(found)
        with acting(self._who()):
            if self._portal is not None:
                return self._portal.call(_awaited, found, args, kwargs)
            given = found(*args, **kwargs)
            return list(given) if isinstance(given, Iterator) else given


async def _awaited(verb: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    given = verb(*args, **kwargs)
    return [piece async for piece in given] if isinstance(given, AsyncIterator) else await given


@contextmanager
def opened(name: str, folder: Path, llm: LanguageModel | None = None, *, keyed: bool = False) -> Iterator[Face]:
    """Open a face on a new memory in a folder; its calls are made with an admin's key where they are `keyed`."""
    given = Settings(
        home=str(folder), database_url=address_of(folder), worker=False, stm_pages=2, heat_threshold=3.0, refine=False,
    )  # fmt: skip
    embedder = new_store(folder)
    with ExitStack() as stack:
        served = "client" in name
        memory = stack.enter_context(Memory(settings=given, embedder=embedder, llm=llm, clock=Noon(), guarded=served))
        with acting(LOCAL):
            secret = memory.keys.create("admin", powers=("read", "write", "admin")).secret if keyed else None

        def who() -> Caller | None:
            return memory.keys.caller_of(secret) if keyed and not served else None

        if name == EMBEDDED:
            yield Face(memory, None, who)
            return
        url = stack.enter_context(serving(memory))[0] if served else ""
        if name == "client":
            yield Face(stack.enter_context(Client(url, secret)), None, who)
            return
        portal = stack.enter_context(anyio.from_thread.start_blocking_portal())
        verbs = portal.call(_async_client, url, secret) if served else portal.call(_async_memory, memory)
        stack.callback(portal.call, verbs.close)
        yield Face(verbs, portal, who)


async def _async_client(url: str, key: str | None) -> AsyncClient:
    return AsyncClient(url, key)


async def _async_memory(memory: Memory) -> AsyncMemory:
    face = AsyncMemory()
    opening = Opening(lambda: memory, calls=4, streams=4)
    for calls in (face, face.cubes, face.llm, face.jobs, face.keys, face.knowledge, face.attachments):
        calls._calls = Calls(opening, calls._calls._part)  # type: ignore[assignment]  # of the same part
    return face


class Told:
    """What a face gave and refused, step by step, with ids told by the order in which they came up."""

    def __init__(self, face: Face) -> None:
        self.steps: list[tuple[str, Any]] = []
        self._face = face
        self._ids: dict[str, str] = {}

    def __call__(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        """Call a verb, note what comes of it, and return it; None for an error."""
        try:
            given = self._face(verb, *args, **kwargs)
        except MnemicError as error:
            self.steps.append((verb, self.shape(_of_error(error))))
            return None
        self.steps.append((verb, self.shape(given)))
        return given

    def shape(self, value: Any) -> Any:
        """Return a value so that two of them can be compared: types by name, lists as lists, ids by number."""
        if is_dataclass(value) and not isinstance(value, type):
            inside = {each.name: self._inside(each.name, getattr(value, each.name)) for each in fields(value)}
            return type(value).__name__, inside
        if isinstance(value, Enum):
            return type(value).__name__, value.value
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, str):
            return _ID.sub(lambda found: self._ids.setdefault(found[0], f"#{len(self._ids)}"), value)
        if isinstance(value, Mapping):
            return {self.shape(name): self.shape(inner) for name, inner in value.items()}
        if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
            return [self.shape(inner) for inner in value]
        return value

    def _inside(self, name: str, value: Any) -> Any:
        if name in PRIVATE and isinstance(value, int):
            return 0
        if name in ("secret", "prefix"):  # chance: no two are alike
            return len(value)
        return self.shape(value)


def _of_error(error: MnemicError) -> dict[str, Any]:
    """Return all that tells an error from another."""
    return {
        "class": type(error).__name__,
        "message": str(error),
        "field": error.field if isinstance(error, InputError) else None,
        "fields": plain(error.fields),
        "faults": [_of_error(each) for each in error.faults] if isinstance(error, InputFaults) else [],
    }
