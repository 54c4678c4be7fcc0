"""Which service does which kind of job: the one place that says it, and what carries jobs to workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mnemic.backends.queues.database import DatabaseQueue
from mnemic.config import Settings
from mnemic.model.job import EMBED, ORGANIZE, REFINE, REORGANIZE, RETEXT, Job
from mnemic.ports.clock import Clock
from mnemic.ports.queue import Queue
from mnemic.ports.store import Store
from mnemic.runtime.worker import Handler, Tick
from mnemic.services.dispatching import Dispatching, Limits
from mnemic.services.organize import Organize
from mnemic.services.reader import Reader
from mnemic.services.reorganizing import Reorganizing


@dataclass(frozen=True, slots=True)
class Workers:
    """What jobs are taken with."""

    dispatching: Dispatching
    queue: Queue


def handlers_of(organize: Organize, reorganizing: Reorganizing, reader: Reader | None) -> Mapping[str, Handler]:
    """Return who does each kind of job here; without a language model, nobody reads with one."""
    found = {
        ORGANIZE: _of_cube(organize.organize),
        EMBED: _of_cube(organize.embed),
        RETEXT: _of_cube(organize.retext),
        REORGANIZE: _of_cube(reorganizing.work),
    }
    return found if reader is None else {**found, REFINE: _of_cube(reader.read)}


def workers_of(settings: Settings, store: Store, clock: Clock) -> Workers:
    """Return what jobs are taken with, as the settings say."""
    limits = Limits(settings.jobs_running, settings.jobs_per_minute, settings.jobs_kept)
    dispatching = Dispatching(store, clock, limits)
    return Workers(dispatching, DatabaseQueue(dispatching, store.bell, clock))


def _of_cube(work: Callable[[int, Tick], None]) -> Handler:
    """Return a handler of what is about a cube as a whole."""

    def handle(job: Job, tick: Tick) -> None:
        work(job.cube_key, tick)

    return handle
