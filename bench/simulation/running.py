"""The run itself: arrivals, ends of jobs, deaths of workers and leases that are over, one after another in time.

Each worker takes one job at a time, of one lane. Every job must end exactly once; `Run.check` says whether it did.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.simulation.order import Cube, Head, Order, Rule
from bench.simulation.streams import Shard, Streams
from bench.simulation.traffic import BURST, Traffic

LEASE: Final = 12.0
"""Seconds after which a job of a silent worker is taken over."""
BEAT: Final = 3.0
"""Seconds between two signs of life."""
RESTART: Final = 5.0
"""Seconds until a dead worker is replaced."""

_END, _DEATH, _BACK, _OVER, _FREE = range(5)


@dataclass(frozen=True, slots=True)
class Plan:
    """Who works and how. `claiming`: seconds that each taking of a job keeps all others from taking theirs.

    `shards` 0 means the database's queue; else Redis Streams, with `ahead` jobs of each priority on their way.
    """

    lane: str
    workers: int
    rule: Rule = Rule.EACH
    shards: int = 0
    ahead: int = 0
    deaths: float = 0.0
    claiming: float = 0.0
    weights: tuple[tuple[int, float], ...] = ()
    seed: int = 1


@dataclass
class Run:
    """What happened. Times are NaN for jobs that never began: those that merged with others.

    `passed` counts the jobs of the burst's cube that began between a job's arrival and its own beginning.
    """

    traffic: Traffic
    started: NDArray[np.float64]
    passed: NDArray[np.float64]
    finished: NDArray[np.float64]
    ended: Counter[int] = field(default_factory=Counter)
    merged: int = 0
    deaths: int = 0
    void: int = 0
    finished_at: float = 0.0
    carried: list[int] = field(default_factory=list)
    most_cubes: int = 0

    @property
    def ages(self) -> NDArray[np.float64]:
        """Seconds that each job waited until it began for the first time."""
        return self.started - self.traffic.times

    def check(self) -> list[str]:
        """Return what does not add up: jobs that were lost, or that ended more than once."""
        began = int(np.isfinite(self.started).sum())
        twice = sum(count > 1 for count in self.ended.values())
        wrong = [f"{began - len(self.ended)} began and never ended"] if began != len(self.ended) else []
        wrong += [f"{twice} ended more than once"] if twice else []
        lost = len(self.traffic.times) - self.merged - began
        return wrong + ([f"{lost} are lost"] if lost else [])


class Simulation:
    """One lane of workers, from the first arrival until all is done."""

    def __init__(self, traffic: Traffic, plan: Plan, shard_of: Shard) -> None:
        self._plan = plan
        self._chance = random.Random(plan.seed)
        self._times = traffic.times.tolist()
        self._cubes = traffic.cubes.tolist()
        self._kinds = traffic.kinds.tolist()
        self._seconds = traffic.seconds.tolist()
        self._order = Order(traffic.names, self._times, rule=plan.rule)
        self._order.weights = dict(plan.weights)
        self._streams = (
            Streams(self._order, plan.lane, shards=plan.shards, ahead=plan.ahead, shard_of=shard_of)
            if plan.shards
            else None
        )
        self._idle = list(range(plan.workers))
        self._turns = [0] * plan.workers
        self._events: list[tuple[float, int, int, int, Cube | None, int]] = []
        self._stamp = 0
        self._claims_free = 0.0
        self._burst = [rank == BURST for rank in traffic.ranks.tolist()]
        self._begun = 0
        self._passed = [0] * len(self._times)
        self._started = [float("nan")] * len(self._times)
        self._finished = list(self._started)
        self._run = Run(traffic, np.empty(0), np.empty(0), np.empty(0))

    def run(self) -> Run:
        """Let time pass until nothing is left to do."""
        count, arrived, run, now = len(self._times), 0, self._run, 0.0
        while arrived < count or self._events:
            if not self._events or (arrived < count and self._times[arrived] <= self._events[0][0]):
                now = self._times[arrived]
                self._passed[arrived] = self._begun
                self._order.add(arrived, self._cubes[arrived], self._kinds[arrived])
                arrived += 1
            else:
                now = self._happen()
            if self._idle:
                self._give(now)
            run.most_cubes = max(run.most_cubes, len(self._order.cubes))
        run.started, run.finished = np.array(self._started), np.array(self._finished)
        run.passed = np.array(self._passed, dtype=float)
        run.merged, run.finished_at = self._order.merged, max(now, run.finished_at)
        run.carried = self._streams.carried if self._streams else []
        return run

    def _happen(self) -> float:
        now, what, _, worker, cube, job = heapq.heappop(self._events)
        if what == _FREE:
            self._idle.append(worker)
        elif cube is not None and what == _END:
            self._run.ended[job] += 1
            self._finished[job] = self._run.finished_at = now
            self._order.ended(cube, self._kinds[job])
            self._idle.append(worker)
        elif cube is not None:  # the lease of a worker that died is over
            kind = self._kinds[job]
            self._order.back(job, cube, kind)
            self._order.ended(cube, kind)
        return now

    def _give(self, now: float) -> None:
        """Give work to idle workers until there is none of either."""
        while self._idle:
            if self._streams is not None:
                self._streams.fill()
            worker = self._idle[-1]
            head = self._next(self._turns[worker])
            if head is None:
                return
            if not self._order.may_start(head):
                self._run.void += 1
                continue
            self._idle.pop()
            self._turns[worker] += 1
            self._begin(worker, head, now)

    def _next(self, turn: int) -> Head | None:
        return self._streams.next(turn) if self._streams is not None else self._order.next(self._plan.lane, turn)

    def _begin(self, worker: int, head: Head, now: float) -> None:
        if self._plan.claiming:
            now = self._claims_free = max(now, self._claims_free) + self._plan.claiming
        job = self._order.start(head)
        if self._started[job] != self._started[job]:  # not a number yet: its first try
            self._started[job] = now
            self._passed[job] = self._begun - self._passed[job]
            self._begun += self._burst[job]
        ends = now + self._seconds[job]
        if self._plan.deaths and self._chance.random() < self._plan.deaths:
            died = now + self._chance.random() * self._seconds[job]
            self._run.deaths += 1
            self._put(died + RESTART, _FREE, worker, None, job)
            self._put(died + LEASE - self._chance.random() * BEAT, _BACK, worker, head.cube, job)
        else:
            self._put(ends, _END, worker, head.cube, job)

    def _put(self, at: float, what: int, worker: int, cube: Cube | None, job: int) -> None:
        self._stamp += 1
        heapq.heappush(self._events, (at, what, self._stamp, worker, cube, job))
