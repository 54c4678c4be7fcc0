"""Whose job is next: the heads of all cubes, in the order of their turns, one list for each priority.

This is what the tables `job` and `cube_turn` hold and the statements of `Turns` read, as heaps in memory; what is
computed with it comes from `mnemic.core.fairness`. Only cubes with something that waits or runs are held.
"""

from __future__ import annotations

import enum
import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core import fairness
from mnemic.model.job import Kind, Priority

PRIORITIES: Final = tuple(Priority)
LOOKS: Final = tuple(fairness.priorities(turn) for turn in range(sum(fairness.PRIORITY_WEIGHTS.values())))
"""The order in which a worker looks at the priorities, for one round of turns."""


class Rule(enum.Enum):
    """How far a virtual time reaches, and under what a cube's next job is listed."""

    FIRST_COME = "first come, first served"
    ONE_TIME = "one virtual time for all; a job is listed under its cube's own turn"
    ONE_TIME_CAUGHT_UP = "one virtual time for all; a job is listed under the later of turn and virtual time"
    EACH = "a virtual time for each lane and priority; listed under the later of turn and virtual time"
    HALF_ON = "the same, and the virtual time is half way through what began last, not at its beginning"


@dataclass(frozen=True, slots=True)
class Head:
    """The next job of a kind in a cube, and the turn under which it is listed."""

    turn: float
    cube: Cube
    kind: int


class Cube:
    """What is known of a cube with work.

    `waiting` are its jobs in order, by kind. A kind with work has a head that is `listed`, under a stamp, or `taken`
    off its list, or is `blocked` by a job that runs alone.
    """

    __slots__ = ("alone", "blocked", "key", "listed", "running", "taken", "turns", "waiting", "weight")

    def __init__(self, key: int, weight: float = 1.0) -> None:
        self.key = key
        self.weight = weight
        self.turns: dict[int, float] = {}
        self.waiting: dict[int, deque[int]] = {}
        self.listed: dict[int, int] = {}
        self.alone: set[str] = set()
        self.blocked: set[int] = set()
        self.taken: set[int] = set()
        self.running = 0


class Order:
    """The heads of a store. Jobs are numbers whose times of arrival are in `times`."""

    def __init__(self, kinds: Sequence[Kind], times: Sequence[float], *, rule: Rule = Rule.EACH) -> None:
        self._kinds = kinds
        self._times = times
        self._rule = rule
        lanes = sorted({kind.lane for kind in kinds})
        self.lists: dict[str, list[list[tuple[float, int, Cube, int]]]] = {
            lane: [[] for _ in PRIORITIES] for lane in lanes
        }
        self._list_of = [self.lists[kind.lane][kind.priority] for kind in kinds]
        apart = rule in (Rule.EACH, Rule.HALF_ON)
        self._domain = [lanes.index(kind.lane) * len(PRIORITIES) + kind.priority if apart else 0 for kind in kinds]
        self._virtual = [0.0] * (len(lanes) * len(PRIORITIES))
        self._stamps = 0
        self.cubes: dict[int, Cube] = {}
        self.weights: dict[int, float] = {}
        self.merged = 0

    def add(self, job: int, cube_key: int, kind: int) -> bool:
        """Let a job wait; False when it merges with one that does."""
        cube = self.cubes.get(cube_key)
        if cube is None:
            cube = self.cubes[cube_key] = Cube(cube_key, self.weights.get(cube_key, 1.0))
        waiting = cube.waiting.get(kind)
        if waiting is None:
            waiting = cube.waiting[kind] = deque()
        elif waiting and self._kinds[kind].merges:
            self.merged += 1
            return False
        waiting.append(job)
        self._list(cube, kind)
        return True

    def back(self, job: int, cube: Cube, kind: int) -> None:
        """Put a job whose worker died before the others of its kind."""
        cube.waiting.setdefault(kind, deque()).appendleft(job)
        self._list(cube, kind)

    def next(self, lane: str, turn: int) -> Head | None:
        """Take the next head off its list, as a worker does that takes its job number `turn`."""
        lists = self.lists[lane]
        for priority in LOOKS[turn % len(LOOKS)]:
            if lists[priority] and (head := _first(lists[priority])):
                return head
        return None

    def of_priority(self, lane: str, priority: Priority) -> Head | None:
        """Take the next head of a priority off its list."""
        return _first(self.lists[lane][priority])

    def may_start(self, head: Head) -> bool:
        """Tell whether it may run now; what may not stands behind until the one before it has ended."""
        traits = self._kinds[head.kind]
        if traits.alone and traits.lane in head.cube.alone:
            head.cube.taken.discard(head.kind)
            head.cube.blocked.add(head.kind)
            return False
        return True

    def start(self, head: Head) -> int:
        """Start a head's job and return it: the cube's turn and the virtual time move on."""
        cube, kind, traits = head.cube, head.kind, self._kinds[head.kind]
        domain = self._domain[kind]
        begun = fairness.begins(cube.turns.get(domain, 0.0), self._virtual[domain])
        if self._rule is not Rule.ONE_TIME:
            begun = max(head.turn, cube.turns.get(domain, 0.0))
        ends = fairness.ends(begun, traits.cost, cube.weight)
        moved_on = fairness.moves_to(begun, ends) if self._rule is Rule.HALF_ON else begun
        self._virtual[domain] = max(moved_on, self._virtual[domain])
        cube.turns[domain] = ends
        job = cube.waiting[kind].popleft()
        cube.taken.discard(kind)
        cube.running += 1
        if traits.alone:
            cube.alone.add(traits.lane)
        for other in list(cube.listed):  # they stand under the cube's new turn now
            if self._domain[other] == domain:
                del cube.listed[other]
                self._list(cube, other, goes_on=True)
        self._list(cube, kind, goes_on=True)
        return job

    def ended(self, cube: Cube, kind: int) -> None:
        """Let others of the cube go on after a job that ended, in whatever way."""
        traits = self._kinds[kind]
        cube.running -= 1
        if traits.alone:
            cube.alone.discard(traits.lane)
            for other in [each for each in cube.blocked if self._kinds[each].lane == traits.lane]:
                cube.blocked.discard(other)
                self._list(cube, other)
        if not cube.running and not any(cube.waiting.values()) and self._is_even(cube):
            self.cubes.pop(cube.key, None)

    def _is_even(self, cube: Cube) -> bool:
        """Tell whether the virtual time has reached a cube's turns: it is like one never seen then."""
        return all(turn <= self._virtual[domain] for domain, turn in cube.turns.items())

    def _list(self, cube: Cube, kind: int, *, goes_on: bool = False) -> None:
        """Put the first job of a kind at the head, unless none waits or it has to wait for another of its cube.

        Where work of a cube goes on without a pause, its turn alone counts.
        """
        waiting = cube.waiting.get(kind)
        if not waiting or kind in cube.listed or kind in cube.taken:
            return
        traits = self._kinds[kind]
        if traits.alone and traits.lane in cube.alone:
            cube.blocked.add(kind)
            return
        self._stamps = cube.listed[kind] = self._stamps + 1
        heapq.heappush(
            self._list_of[kind], (self._place(cube, kind, waiting[0], goes_on=goes_on), self._stamps, cube, kind)
        )

    def _place(self, cube: Cube, kind: int, job: int, *, goes_on: bool) -> float:
        """Return under what a cube's next job of a kind is listed."""
        if self._rule is Rule.FIRST_COME:
            return self._times[job]
        domain = self._domain[kind]
        turn = cube.turns.get(domain, 0.0)
        return turn if goes_on or self._rule is Rule.ONE_TIME else fairness.begins(turn, self._virtual[domain])


def _first(heads: list[tuple[float, int, Cube, int]]) -> Head | None:
    while heads:
        turn, stamp, cube, kind = heapq.heappop(heads)
        if cube.listed.get(kind) == stamp:
            del cube.listed[kind]
            cube.taken.add(kind)
            return Head(turn, cube, kind)
    return None
