"""What language models cost a cube, and a caller's own prompts and requests, accounted to it.

A request of OpenAI's chat API is relayed to the model's server as its caller wrote it; memory adds nothing to it here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mnemic.core.intake import check_count, check_id
from mnemic.errors import InputError
from mnemic.model.language import Call, Prompt, Reply, Usage
from mnemic.model.moment import midnight
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.services.language import NONE_CONFIGURED, Language
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable
from mnemic.text import sound
from mnemic.wire.completions import prompt_of

LIMIT = 1_000
"""Calls in one list."""

RELAY = "relay"
"""What requests that are relayed are accounted as."""

_CALLER = "caller"  # what figures call the purposes of callers: their words may be anything


class Accounts:
    """The use cases of `llm.complete`, `llm.usage`, `llm.calls`, and of `relay`."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping, language: Language | None) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping
        self._language = language

    def complete(self, prompt: Prompt, *, user: object, purpose: object, cube: object = None) -> Reply:
        """Return the reply to a caller's prompt; see `LanguageModels.complete`."""
        if self._language is None:
            raise InputError("llm", NONE_CONFIGURED)
        if not isinstance(prompt, Prompt):
            raise InputError("prompt", f"needs a Prompt, got {type(prompt).__name__}")
        told = check_id(purpose, "purpose")
        charged = self._charged(user, cube)
        return self._language.complete(prompt, purpose=told, cube_key=charged, shown=_CALLER)

    def check(self) -> Language:
        """Return the model that requests are relayed to. Raises `InputError` when there is none."""
        if self._language is None:
            raise InputError("llm", NONE_CONFIGURED)
        self._language.check_relay()
        return self._language

    def relay(self, request: object, *, user: object, cube: object = None) -> Mapping[str, Any]:
        """Return the server's answer to a request; see `Relay.send`."""
        charged = self._charged(user, cube)
        return self.check().relay(_request(request), purpose=RELAY, cube_key=charged)

    def relay_stream(self, request: object, *, user: object, cube: object = None) -> Iterator[Mapping[str, Any]]:
        """Yield the server's events; see `Relay.stream`."""
        charged = self._charged(user, cube)
        return self.check().relay_stream(_request(request), purpose=RELAY, cube_key=charged)

    def usage(self, *, user: object, cube: object = None) -> Usage:
        """Return what a cube's calls cost."""
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            return Usage() if target is None else tx.usage.usage(target.key, midnight(self._clock.now()))

    def calls(self, *, user: object, limit: object = 100, cube: object = None) -> Sequence[Call]:
        """Return the last calls, newest first."""
        most = check_count(limit, "limit", most=LIMIT)
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            return () if target is None else tx.usage.calls(target.key, limit=most)

    def _charged(self, user: object, cube: object) -> int:
        """Return the cube that a call is accounted to."""
        principal = check_id(user, "user")
        with self._store.write() as tx:
            target = self._scoping.for_write(tx, principal, None if cube is None else check_id(cube, "cube"))
        self._scoping.remember(target)
        return target.key


def _request(given: object) -> Mapping[str, Any]:
    """Return a request with halves of characters replaced: they cannot be sent. Raises `InputError`."""
    if not isinstance(given, Mapping):
        raise InputError("request", f"needs an object, got {type(given).__name__}")
    prompt_of(given)
    found: dict[str, Any] = _sound(given)
    return found


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, Mapping):
        return {sound(str(name)): _sound(each) for name, each in value.items()}
    return [_sound(each) for each in value] if isinstance(value, Sequence) else value
