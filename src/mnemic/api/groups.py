"""The groups of a memory's verbs: `memory.cubes`, `memory.llm`, `memory.jobs`."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic import wiring
from mnemic.model.job import Job
from mnemic.model.language import Call, Prompt, Reply, Usage
from mnemic.model.receipt import Forgotten
from mnemic.model.scope import Cube


class Cubes:
    """Namespaces of memories: `memory.cubes`."""

    def __init__(self, parts: wiring.Parts) -> None:
        self._parts = parts

    def create(self, name: str, *, user: str | int, kind: str = "project") -> Cube:
        """Create a cube that the user owns: a project's, an agent's or a knowledge base's."""
        return self._parts.cubes.create(name, user=user, kind=kind)

    def list(self, *, user: str | int) -> Sequence[Cube]:
        """Return the cubes that the user may read, oldest first."""
        return self._parts.cubes.list(user=user)

    def delete(self, cube: str, *, user: str | int) -> Forgotten:
        """Erase a cube with all that is in it; only its owner may."""
        return self._parts.forget.delete_cube(cube, user=user)


class LanguageModels:
    """The language model, when one is configured, and what it cost: `memory.llm`."""

    def __init__(self, parts: wiring.Parts) -> None:
        self._parts = parts

    @property
    def name(self) -> str | None:
        """The name of the model that refines and answers; None when there is none."""
        return None if self._parts.language is None else self._parts.language.name

    def complete(self, prompt: Prompt, *, user: str | int, purpose: str = "caller", cube: str | None = None) -> Reply:
        """Return the model's reply to a prompt of your own, within the cube's budget and accounted to it.

        Raises `InputError` when no model is configured, `BudgetError`, `LanguageError`.
        """
        return self._parts.accounts.complete(prompt, user=user, purpose=purpose, cube=cube)

    def usage(self, *, user: str | int, cube: str | None = None) -> Usage:
        """Return what a cube's calls cost: altogether, since midnight UTC, and by purpose and model."""
        return self._parts.accounts.usage(user=user, cube=cube)

    def calls(self, *, user: str | int, limit: int = 100, cube: str | None = None) -> Sequence[Call]:
        """Return the last calls, newest first."""
        return self._parts.accounts.calls(user=user, limit=limit, cube=cube)


class Jobs:
    """Background work: `memory.jobs`."""

    def __init__(self, parts: wiring.Parts) -> None:
        self._parts = parts

    def list(self, *, user: str | int, open_only: bool = False, cube: str | None = None) -> Sequence[Job]:
        """Return jobs, newest first."""
        return self._parts.explain.jobs(user=user, open_only=open_only, cube=cube)

    def wait(
        self, jobs: str | Sequence[str] | None = None, *, user: str | int, timeout: float = 60, cube: str | None = None
    ) -> Sequence[Job]:
        """Wait until jobs (default: all of the user's open ones) are finished; return them.

        Raises `WaitTimeoutError` after `timeout` seconds (the work goes on), `JobError` for one that ended dead.
        """
        return self._parts.worker.wait(cube, jobs, user=str(user), timeout=timeout)
