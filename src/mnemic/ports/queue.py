"""The queue: how work finds its worker. The rows of the store are the truth; a queue only says what to take next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemic.model.job import Job


@dataclass(frozen=True, slots=True)
class Ticket:
    """The id of a job that is offered to workers, with what its way to them needs."""

    cube_key: int
    job_id: str
    lane: str
    priority: int
    kind: str


class Rows(Protocol):
    """What a queue asks of the store, in transactions that are committed when the call returns."""

    def claim(self, worker: str, lane: str, kinds: Collection[str], most: int) -> Sequence[Job]:
        """Take up to so many jobs, in the order of turns; they run from now on, under a lease."""
        ...

    def offer(self, lane: str, kinds: Collection[str], most: int) -> Sequence[Ticket]:
        """Mark up to so many jobs of these kinds as offered, in the order of turns: their ids go to workers."""
        ...

    def take(self, worker: str, ticket: Ticket) -> Job | None:
        """Take an offered job; None when it must not run now or is done already: its ticket is void."""
        ...

    def recall(self, lanes: Collection[str]) -> int:
        """Take back all that is offered: its tickets were lost."""
        ...

    def next_due(self, lanes: Collection[str]) -> datetime | None:
        """Return when a job is due that is not yet; None when none is planned."""
        ...


class Bell(Protocol):
    """Wakes who waits for work. It may ring too often, and a ring may be lost: who waits looks by itself, too."""

    def ring(self, lanes: Collection[str]) -> None:
        """Say that rows of these lanes were committed. Never raises, never waits."""
        ...

    def listen(self, wake: Callable[[Collection[str]], None]) -> Callable[[], None]:
        """Call `wake` with lanes at each ring, on any thread, in each process that is reached; return what ends it."""
        ...


class Queue(Protocol):
    """Hands jobs to workers.

    Guarantees. A job is handed to one worker at a time, and again only when that worker's lease is over. What is lost
    on the way is handed out again: nothing depends on the queue's own memory. Threads may share a queue. While its
    server is away, jobs go on without it; a server that can never serve is a `QueueError` in `take`.
    """

    def announce(self, lanes: Collection[str]) -> None:
        """Say that jobs of these lanes were committed. Never raises, never waits."""
        ...

    def take(self, worker: str, lane: str, kinds: Collection[str], *, most: int, wait: float) -> Sequence[Job]:
        """Take up to so many jobs of a lane; when there is none, wait for one, `wait` seconds at most."""
        ...

    def settle(self, job: Job) -> None:
        """Say that the end of a job that was taken here is committed. Never raises."""
        ...

    def interrupt(self) -> None:
        """Let all who wait in `take` return now."""
        ...

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the queue over: (what, whether it is well, what was seen)."""
        ...

    def close(self) -> None:
        """Let go of what it holds: others take over what was handed out and not settled. Nothing is taken after it."""
        ...
