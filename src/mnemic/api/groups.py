"""The groups of a memory's verbs: `memory.cubes`, `memory.llm`, `memory.jobs`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mnemic import wiring
from mnemic.api.calls import watched
from mnemic.errors import InputError
from mnemic.model.job import Job, Share, StateCount, Task
from mnemic.model.language import Call, Prompt, Reply, Usage
from mnemic.model.receipt import Forgotten
from mnemic.model.scope import Cube, Member


@watched("cubes")
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

    def members(self, cube: str, *, user: str | int) -> Sequence[Member]:
        """Return who may use a cube, with their roles, in the order of their names; its readers may ask."""
        return self._parts.access.sharing.members(cube, user=user)

    def share(self, cube: str, member: str | int, role: str = "reader", *, user: str | int) -> Member:
        """Let a user or an agent into a cube, or change its role: `reader`, `editor` or `owner`; only owners may.

        A reader finds what is there, an editor adds and changes, an owner shares and deletes, too. Who made the cube
        stays its owner: `ConflictError`.
        """
        return self._parts.access.sharing.share(cube, member, role, user=user)

    def unshare(self, cube: str, member: str | int, *, user: str | int) -> Member:
        """Take a member out of a cube; return it as it was. Owners may, and each member for itself.

        Raises `NotFoundError` for who is none, `ConflictError` for who made the cube.
        """
        return self._parts.access.sharing.unshare(cube, member, user=user)


@watched("llm")
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


@watched("jobs")
class Jobs:
    """Background work: `memory.jobs`. The answers are the same whatever carries jobs, and after a restart."""

    def __init__(self, parts: wiring.Parts) -> None:
        self._parts = parts

    def list(
        self,
        *,
        user: str | int,
        open_only: bool = False,
        states: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        after: str | None = None,
        limit: int = 100,
        cube: str | None = None,
    ) -> Sequence[Job]:
        """Return jobs, newest first; the last id as `after` gives the next page. Dead letters: `states="dead"`."""
        return self._parts.jobs.list(
            user=user, open_only=open_only, states=states, kinds=kinds, after=after, limit=limit, cube=cube
        )

    def iterate(
        self,
        *,
        user: str | int,
        open_only: bool = False,
        states: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        after: str | None = None,
        cube: str | None = None,
    ) -> Iterator[Job]:
        """Yield all that `list` would give, page by page, to the end."""
        return self._parts.jobs.iterate(
            user=user, open_only=open_only, states=states, kinds=kinds, after=after, cube=cube
        )

    def get(self, id: str, *, user: str | int, cube: str | None = None) -> Job:  # noqa: A002 - as everywhere
        """Return a job: its state, tries, times, and why it failed. Raises `NotFoundError`."""
        return self._parts.jobs.get(id, user=user, cube=cube)

    def task(self, task: str | int, *, user: str | int, cube: str | None = None) -> Task:
        """Return a task of your own (`add(…, task=…)`): its state, its jobs and what they led to."""
        return self._parts.jobs.task(task, user=user, cube=cube)

    def counts(self, *, user: str | int, cube: str | None = None) -> Sequence[StateCount]:
        """Return how many jobs are in each state that occurs, and when the oldest of them came."""
        return self._parts.jobs.counts(user=user, cube=cube)

    def wait(
        self,
        jobs: str | Sequence[str] | None = None,
        *,
        user: str | int,
        task: str | int | None = None,
        timeout: float = 60,
        cube: str | None = None,
    ) -> Sequence[Job]:
        """Wait until jobs (default: all of the user's open ones), or those of a task, are finished; return them.

        Raises `WaitTimeoutError` after `timeout` seconds (the work goes on), `JobError` for one that ended dead.
        """
        if task is not None:
            if jobs is not None:
                raise InputError("task", "give jobs or a task, not both")
            return self._parts.waiting.wait_for_task(task, user=user, cube=cube, timeout=timeout)
        return self._parts.waiting.wait(cube, jobs, user=user, timeout=timeout)

    def events(
        self, *, user: str | int, since: Job | str | None = None, timeout: float | None = None, cube: str | None = None
    ) -> Iterator[Job]:
        """Yield jobs as they change, first those that are there; the last one as `since` goes on behind it.

        Its cursor does, too: `<changed_at in ISO 8601> <id>` (`mnemic.model.job.cursor_of`).

        It ends when nothing has changed for `timeout` seconds; without, never.
        """
        return self._parts.waiting.events(user=user, cube=cube, since=since, timeout=timeout)

    def cancel(self, id: str, *, user: str | int, cube: str | None = None) -> Job:  # noqa: A002 - as everywhere
        """Cancel a job that waits; `rebuild` makes up for it. Raises `ConflictError` when it does not wait."""
        return self._parts.jobs.cancel(id, user=user, cube=cube)

    def retry(self, id: str, *, user: str | int, cube: str | None = None) -> Job:  # noqa: A002 - as everywhere
        """Let a job that is dead, cancelled or failed be tried again, at once and with all its tries."""
        retried = self._parts.jobs.retry(id, user=user, cube=cube)
        self._parts.worker.wake()
        return retried

    def drop(self, id: str, *, user: str | int, cube: str | None = None) -> Job:  # noqa: A002 - as everywhere
        """Erase a job that has ended, such as a dead letter; return it as it was."""
        return self._parts.jobs.drop(id, user=user, cube=cube)

    def share(self, *, user: str | int, cube: str | None = None) -> Share:
        """Return how much of the workers a cube may have; zeros are what the settings say."""
        return self._parts.jobs.share(user=user, cube=cube)

    def set_share(
        self,
        *,
        user: str | int,
        weight: float = 1.0,
        running: int = 0,
        per_minute: int = 0,
        cube: str | None = None,
    ) -> Share:
        """Say how much of the workers a cube may have: its weight beside others, jobs at one time, jobs in a minute."""
        return self._parts.jobs.set_share(Share(weight, running, per_minute), user=user, cube=cube)
