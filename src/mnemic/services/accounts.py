"""What language models cost a cube, and a caller's own prompts, accounted to it."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.intake import check_count, check_id
from mnemic.errors import InputError
from mnemic.model.language import Call, Prompt, Reply, Usage
from mnemic.model.moment import midnight
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.services.language import NONE_CONFIGURED, Language
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable

LIMIT = 1_000
"""Calls in one list."""

_CALLER = "caller"  # what figures call the purposes of callers: their words may be anything


class Accounts:
    """The use cases of `llm.complete`, `llm.usage` and `llm.calls`."""

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
        principal = check_id(user, "user")
        with self._store.write() as tx:
            target = self._scoping.for_write(tx, principal, None if cube is None else check_id(cube, "cube"))
        self._scoping.remember(target)
        return self._language.complete(prompt, purpose=told, cube_key=target.key, shown=_CALLER)

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
