"""Mnemic: a memory operating system for AI agents.

Names are brought in when they are first used, so that `import mnemic` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.version import __version__

__all__ = [
    "AccessError",
    "Added",
    "Answer",
    "AsyncClient",
    "AsyncMemory",
    "Client",
    "ConflictError",
    "Context",
    "Hit",
    "InputError",
    "Memory",
    "Message",
    "MnemicError",
    "NotFoundError",
    "Profile",
    "Results",
    "Settings",
    "StaleError",
    "StoreError",
    "UnreachableError",
    "__version__",
]

_HOMES = {
    "AccessError": "mnemic.errors",
    "Added": "mnemic.model.receipt",
    "Answer": "mnemic.model.answer",
    "AsyncClient": "mnemic.client",
    "AsyncMemory": "mnemic.api.asynchronous",
    "Client": "mnemic.client",
    "ConflictError": "mnemic.errors",
    "Context": "mnemic.model.query",
    "Hit": "mnemic.model.query",
    "InputError": "mnemic.errors",
    "Memory": "mnemic.api",
    "Message": "mnemic.model.message",
    "MnemicError": "mnemic.errors",
    "NotFoundError": "mnemic.errors",
    "Profile": "mnemic.model.profile",
    "Results": "mnemic.model.query",
    "Settings": "mnemic.config",
    "StaleError": "mnemic.errors",
    "StoreError": "mnemic.errors",
    "UnreachableError": "mnemic.errors",
}

if TYPE_CHECKING:
    from mnemic.api import Memory as Memory
    from mnemic.api.asynchronous import AsyncMemory as AsyncMemory
    from mnemic.client import AsyncClient as AsyncClient
    from mnemic.client import Client as Client
    from mnemic.config import Settings as Settings
    from mnemic.errors import AccessError as AccessError
    from mnemic.errors import ConflictError as ConflictError
    from mnemic.errors import InputError as InputError
    from mnemic.errors import MnemicError as MnemicError
    from mnemic.errors import NotFoundError as NotFoundError
    from mnemic.errors import StaleError as StaleError
    from mnemic.errors import StoreError as StoreError
    from mnemic.errors import UnreachableError as UnreachableError
    from mnemic.model.answer import Answer as Answer
    from mnemic.model.message import Message as Message
    from mnemic.model.profile import Profile as Profile
    from mnemic.model.query import Context as Context
    from mnemic.model.query import Hit as Hit
    from mnemic.model.query import Results as Results
    from mnemic.model.receipt import Added as Added


def __getattr__(name: str) -> object:
    """Import a public name from its home (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'mnemic' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only when a name is first used

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
