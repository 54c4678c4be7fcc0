"""The scheduler of MemOS's open server: its words and counts for our jobs, and waiting until all are done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

from mnemic.api import Memory
from mnemic.errors import InputError, JobError, NotFoundError, WaitTimeoutError
from mnemic.model.caller import Caller
from mnemic.model.job import OPEN, JobState
from mnemic.shells.doors import product_bodies as asked
from mnemic.shells.doors.asking import data_line
from mnemic.shells.doors.shapes import state_word
from mnemic.shells.doors.subjects import place_of, user_for

LONGEST: Final = 600.0
"""Seconds that a call waits at most."""

WORDS: Final = ("waiting", "in_progress", "pending", "completed", "failed", "cancelled")
_JOBS: Final = 1_000


class ProductJobs:
    """The calls of one request about background work and about what there is."""

    def __init__(self, memory: Memory, caller: Caller | None, named: str | None) -> None:
        self._memory = memory
        self._caller = caller
        self._named = named

    def all_status(self, user_id: str | None) -> dict[str, Any]:
        """Return how many jobs of a user are in each state."""
        user = user_id or self._named or (self._caller.user if self._caller is not None else None)
        if user is None:
            raise InputError("user_id", "is missing: name whose jobs are meant, or give the header X-Mnemic-User")
        counts = dict.fromkeys(WORDS, 0)
        for each in self._memory.jobs.counts(user=user):
            counts[state_word(each.state)] += each.count
        summary = {**counts, "total": sum(counts.values())}
        return {"scheduler_summary": summary, "all_tasks_summary": summary}

    def status(self, user_id: str, task_id: str | None) -> list[dict[str, Any]]:
        """Return the state of a task, or of all jobs of a user."""
        if task_id is None:
            jobs = self._memory.jobs.list(user=user_id, limit=_JOBS)
            return [{"task_id": job.id, "status": state_word(job.state)} for job in jobs]
        try:
            return [{"task_id": task_id, "status": state_word(self._memory.jobs.task(task_id, user=user_id).state)}]
        except NotFoundError:
            job = self._memory.jobs.get(task_id, user=user_id)
        return [{"task_id": task_id, "status": state_word(job.state)}]

    def queue(self, user_id: str) -> dict[str, Any]:
        """Return how much waits and runs for a user."""
        counts = {each.state: each.count for each in self._memory.jobs.counts(user=user_id)}
        running = counts.get(JobState.RUNNING, 0)
        waiting = sum(counts.get(state, 0) for state in OPEN if state is not JobState.RUNNING)
        return {
            "user_id": user_id, "user_name": None, "mem_cube_id": None, "stream_keys": [user_id], "users_count": 1,
            "pending_tasks_count": running, "remaining_tasks_count": waiting,
            "pending_tasks_detail": [f"{user_id}:{running}"], "remaining_tasks_detail": [f"{user_id}:{waiting}"],
        }  # fmt: skip

    def wait(self, user: str, seconds: float) -> dict[str, Any]:
        """Wait until nothing is left to be done for a user; tell whether it was in time."""
        began = time.monotonic()
        idle = self._is_idle(user, min(seconds, LONGEST))
        left = 0 if idle else self._open(user)
        data = {"running_tasks": left, "waited_seconds": round(time.monotonic() - began, 3), "timed_out": not idle,
                "user_name": user}  # fmt: skip
        return {"message": "idle" if idle else "timeout", "data": data}

    def progress(self, user: str, seconds: float, every: float) -> Iterator[str]:
        """Yield how much is left to be done for a user, until nothing is or the time is over."""
        began, most = time.monotonic(), min(seconds, LONGEST)
        left = self._open(user)
        return self._progress(user, (began, most, max(every, 0.05)), left)

    def _progress(self, user: str, times: tuple[float, float, float], left: int) -> Iterator[str]:
        began, most, every = times
        while True:
            elapsed = time.monotonic() - began
            state = "idle" if not left else "timeout" if elapsed >= most else "running"
            told = {"user_name": user, "active_tasks": left, "elapsed_seconds": round(elapsed, 3), "status": state}
            yield data_line({**told, "timed_out": True} if state == "timeout" else told)
            if state != "running":
                return
            self._is_idle(user, min(every, most - elapsed))
            left = self._open(user)

    def user_names(self, ids: list[str]) -> dict[str, str | None]:
        """Return whose each memory is, None for what is not there."""
        return {name: self._owner(name, f"memory_ids[{at}]") for at, name in enumerate(ids)}

    def exists(self, cube: str) -> dict[str, bool]:
        """Tell whether a cube is there for who asks; the id of a user means the user's own cube."""
        known = self._named or (self._caller.user if self._caller is not None else None) or cube
        found = self._memory.cubes.list(user=known)
        own = known == cube and any(each.kind == "personal" for each in found)
        return {cube: own or any(each.id == cube for each in found)}

    def create_cube(self, body: asked.CreateCube) -> dict[str, Any]:
        """Make a cube that a user owns."""
        made = self._memory.cubes.create(body.cube_name, user=body.owner_id)
        return {"cube_id": made.id, "cube_name": made.name, "owner_id": body.owner_id}

    def register_cube(self, body: asked.RegisterCube) -> dict[str, Any]:
        """Find a cube by its id or its name; nothing is loaded."""
        user = body.user_id or user_for(self._caller, self._named)
        wanted = body.mem_cube_id or body.mem_cube_name_or_path
        cubes = self._memory.cubes.list(user=user)
        found = next((cube for cube in cubes if wanted in (cube.id, cube.name)), None)
        if found is None and wanted != user:
            raise NotFoundError(f"no cube {wanted!r} is visible to {user!r}; create_cube makes one", cube=wanted)
        return {"cube_id": wanted if found is None else found.id, "cube_name_or_path": body.mem_cube_name_or_path}

    def _owner(self, name: str, field: str) -> str | None:
        place = place_of(name, field)
        user = user_for(self._caller, self._named, place)
        try:
            self._memory.get(place.id, user=user, cube=place.cube)
        except NotFoundError:
            return None
        return user

    def _is_idle(self, user: str, seconds: float) -> bool:
        try:
            self._memory.jobs.wait(user=user, timeout=max(seconds, 0.001))
        except WaitTimeoutError:
            return False
        except JobError:  # what ended dead is over, too
            return not self._open(user)
        return True

    def _open(self, user: str) -> int:
        return sum(each.count for each in self._memory.jobs.counts(user=user) if each.state in OPEN)
