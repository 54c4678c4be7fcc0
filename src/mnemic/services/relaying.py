"""Requests of OpenAI's chat API, passed on to the model's server as their callers wrote them.

They are within the cube's budget and accounted to it, as every call of a model. Memory adds nothing here: what a
prompt is to know is its caller's decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mnemic.core.intake import check_id
from mnemic.errors import InputError
from mnemic.ports.store import Store
from mnemic.services.language import NONE_CONFIGURED, Language
from mnemic.services.scoping import Scoping
from mnemic.wire.completions import prompt_of

PURPOSE = "relay"
"""What the calls are accounted as."""


class Relaying:
    """The use cases of `relay.send` and `relay.stream`."""

    def __init__(self, store: Store, scoping: Scoping, language: Language | None) -> None:
        self._store = store
        self._scoping = scoping
        self._language = language

    def send(self, request: object, *, user: object, cube: object = None) -> Mapping[str, Any]:
        """Return the server's answer to a request; see `Relay.send`."""
        language, asked = self._checked(request)
        return language.relay(asked, purpose=PURPOSE, cube_key=self._charged(user, cube))

    def stream(self, request: object, *, user: object, cube: object = None) -> Iterator[Mapping[str, Any]]:
        """Yield the server's events; see `Relay.stream`."""
        language, asked = self._checked(request)
        return language.relay_stream(asked, purpose=PURPOSE, cube_key=self._charged(user, cube))

    def _checked(self, request: object) -> tuple[Language, Mapping[str, Any]]:
        if self._language is None:
            raise InputError("llm", NONE_CONFIGURED)
        if not isinstance(request, Mapping):
            raise InputError("request", f"needs an object, got {type(request).__name__}")
        prompt_of(request)
        return self._language, request

    def _charged(self, user: object, cube: object) -> int:
        """Return the cube that a call is accounted to."""
        principal = check_id(user, "user")
        with self._store.write() as tx:
            target = self._scoping.for_write(tx, principal, None if cube is None else check_id(cube, "cube"))
        self._scoping.remember(target)
        return target.key
