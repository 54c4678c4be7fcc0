"""Which service does which kind of job: the one place that says it, and what carries jobs to workers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from mnemic.backends.queues.database import DatabaseQueue
from mnemic.config import Settings
from mnemic.core.calendar import check_calendar
from mnemic.core.fairness import priorities
from mnemic.core.retrying import pause
from mnemic.errors import InputError
from mnemic.model.job import EMBED, KINDS, ORGANIZE, REFINE, REORGANIZE, RETEXT, Job
from mnemic.ports.clock import Clock
from mnemic.ports.queue import Bell, Queue, Rows
from mnemic.runtime.metered import MeteredStore
from mnemic.runtime.periodic import Duty, Periodic
from mnemic.runtime.waiting import Waiting
from mnemic.runtime.watching import JobWatch
from mnemic.runtime.worker import Handler, Tick, Worker, Workplace
from mnemic.services.backup import Backup
from mnemic.services.dispatching import LEASE, Dispatching, Limits
from mnemic.services.jobdesk import JobDesk
from mnemic.services.organize import Organize
from mnemic.services.reader import Reader
from mnemic.services.refreshing import Refreshing
from mnemic.services.reorganizing import Reorganizing
from mnemic.services.scoping import Scoping
from mnemic.services.upkeep import Upkeep
from mnemic.wiring.clocks import SystemClock, WallClock
from mnemic.wiring.moving import backup_of


@dataclass(frozen=True, slots=True)
class Background:
    """All that is about jobs in an open memory."""

    queue: Queue
    worker: Worker
    jobs: JobDesk
    waiting: Waiting
    periodic: Periodic


@dataclass(frozen=True, slots=True)
class Chores:
    """What is done besides jobs.

    `settle` does what waits for a quiet moment, `prune` erases what is no longer kept of calls, `erase` files that
    nothing names; both return how many there were.
    """

    settle: Callable[[], None]
    prune: Callable[[], int]
    erase: Callable[[], int]


def handlers_of(organize: Organize, reorganizing: Reorganizing, reader: Reader | None) -> Mapping[str, Handler]:
    """Return who does each kind of job here; without a language model, nobody reads with one."""
    found = {
        ORGANIZE: _of_cube(organize.organize),
        EMBED: _of_cube(organize.embed),
        RETEXT: _of_cube(organize.retext),
        REORGANIZE: _of_cube(reorganizing.work),
    }
    return found if reader is None else {**found, REFINE: _of_cube(reader.read)}


def background_of(
    settings: Settings,
    store: MeteredStore,
    clock: Clock,
    scoping: Scoping,
    handlers: Mapping[str, Handler],
    chores: Chores,
) -> Background:
    """Return what takes jobs, shows them, waits for them and keeps the calendar."""
    wall = WallClock() if isinstance(clock, SystemClock) else clock
    limits = Limits(settings.jobs_running, settings.jobs_per_minute, settings.jobs_kept)
    dispatching = Dispatching(store, wall, limits)
    kinds = kinds_of(settings)
    upkeep = Upkeep(
        store, kept=settings.jobs_kept, settle=chores.settle, sweep=dispatching.sweep, prune=chores.prune,
        erase=chores.erase,
    )  # fmt: skip
    duties = duties_of(settings, upkeep, backup_of(settings, clock=clock), Refreshing(store, wall))
    queue = _queue(settings, dispatching, store.bell, wall)
    worker = Worker(
        Workplace(store, queue, dispatching),
        handlers,
        idle=chores.settle,
        threads=settings.worker_threads,
        enabled=settings.worker,
        watch=JobWatch(store.watch),
        kinds=kinds,
    )
    jobs = JobDesk(store, wall, scoping, queue.announce)
    waiting = Waiting(store, wall, scoping, worker, jobs)
    return Background(queue, worker, jobs, waiting, Periodic(store, wall, settings.zone, duties))


def _queue(settings: Settings, rows: Rows, bell: Bell, clock: Clock) -> Queue:
    if not settings.redis_url:
        return DatabaseQueue(rows, bell, clock)
    from mnemic.backends.queues.link import Place  # noqa: PLC0415 - only who has Redis needs it
    from mnemic.backends.queues.station import Rules  # noqa: PLC0415
    from mnemic.backends.queues.streams import StreamsQueue  # noqa: PLC0415

    place = Place(settings.redis_url, settings.redis_prefix, settings.redis_shards)
    return StreamsQueue(rows, bell, clock, place, Rules(priorities, pause, LEASE))


def kinds_of(settings: Settings) -> Collection[str] | None:
    """Return the kinds of jobs that this process is to run; None for all. Raises `InputError` for unknown ones."""
    named = [each.strip() for each in settings.worker_kinds.split(",") if each.strip()]
    unknown = [each for each in named if each not in KINDS]
    if unknown:
        raise InputError("worker_kinds", f"{unknown[0]!r} is no kind of job; known: {', '.join(KINDS)}")
    return named or None


def duties_of(settings: Settings, upkeep: Upkeep, backup: Backup, refreshing: Refreshing) -> Mapping[str, Duty]:
    """Return the periodic work of the whole store, with its calendar."""
    duties = {
        "upkeep": Duty(settings.schedule_upkeep, upkeep.run),
        "backup": Duty(settings.schedule_backup, backup.run),
        "refresh": Duty(settings.schedule_refresh, refreshing.run),
    }
    for title, duty in duties.items():
        check_calendar(duty.calendar, f"schedule_{title}")
    return duties


def _of_cube(work: Callable[[int, Tick], None]) -> Handler:
    """Return a handler of what is about a cube as a whole."""

    def handle(job: Job, tick: Tick) -> None:
        work(job.cube_key, tick)

    return handle
