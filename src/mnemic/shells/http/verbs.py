"""The verbs of a memory that have a place on the server, each with what it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from mnemic.shells.http.arguments import Parameter, kinds_of, parameters_of
from mnemic.wire.routes import ROUTES, Route

ADDS_FILES: Final = "knowledge.add"
"""The verb that files come in by; `adding` tells how."""


@dataclass(frozen=True, slots=True)
class FileInJson:
    """A file: its name, what it is said to be, and its bytes in base64 (RFC 4648, section 4)."""

    data: str
    name: str = ""
    media: str = ""


_FILE: Final = Parameter("file", FileInJson | None, "body", needed=False, default=None)


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the library with its place on the server."""

    route: Route
    method: Callable[..., Any]
    parameters: tuple[Parameter, ...]

    @property
    def takes_user(self) -> bool:
        """Whether it is for a user."""
        return any(each.name == "user" for each in self.parameters)

    @property
    def has_pages(self) -> bool:
        """Whether its list goes on behind the last one that was given."""
        return any(each.name == "after" for each in self.parameters)

    @property
    def counts_pages(self) -> bool:
        """Whether what its list goes on behind is a number, not an id."""
        return any(each.name == "after" and int in kinds_of(each.kind) for each in self.parameters)

    @property
    def may_wait(self) -> bool:
        """Whether it may be told to wait for work."""
        return any(each.name in ("wait", "timeout") for each in self.parameters)


def verbs_of(memory: object) -> tuple[Verb, ...]:
    """Return the verbs of a memory that have a place on the server."""
    return tuple(_verbs(memory))


def _verbs(memory: object) -> Iterator[Verb]:
    for route in ROUTES:
        face = getattr(memory, route.group) if route.group else memory
        method = getattr(face, route.name)
        parameters = parameters_of(route, method)
        yield Verb(route, method, (*parameters, _FILE) if route.verb == ADDS_FILES else parameters)
