"""A campaign: processes add and work while troubles come, one after another, by a seed; then everything is checked."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bench.faults.checking import Findings, check
from bench.faults.lives import adding, errors, working
from bench.faults.places import place_of
from bench.faults.processes import Life
from bench.faults.troubles import Scene, troubles_of
from bench.tables import Cell, Table


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to happen: it ends after `seconds`, or after so many kills when that is more than 0."""

    engine: str
    seed: int = 7
    seconds: float = 120.0
    kills: int = 0
    adders: int = 3
    workers: int = 2
    only: Sequence[str] = ()


@dataclass(slots=True)
class Course:
    """What has happened."""

    plan: Plan
    happened: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    checked: float = 0.0
    notes: Sequence[str] = ()
    findings: Findings = field(default_factory=Findings)

    def rows(self) -> list[list[Cell]]:
        """Return the counts, in words."""
        found = self.findings
        ended = ", ".join(f"{count:,} {state}" for state, count in sorted(found.jobs.items()))
        failed = ", ".join(f"{count:,} {name}" for name, count in sorted(self.failed.items())) or "none"
        happened: list[list[Cell]] = [[f"  {name}", count] for name, count in sorted(self.happened.items())]
        return [
            ["kills (-9) of processes", self.kills],
            *happened,
            ["adds acknowledged", found.told],
            ["adds that failed and were tried again", failed],
            ["jobs, in the end", ended],
            ["  that were begun more than once", found.again],
            ["  given up as too many processes died, tried again by hand", found.given_up],
            ["acknowledged adds lost", len(found.lost)],
            ["acknowledged adds that search does not find", len(found.not_found)],
            ["messages that nobody added", len(found.invented)],
            ["jobs lost", len(found.undone)],
            ["derived otherwise than in a run that nobody disturbed", len(found.differing)],
            ["rows that do not fit together", len(found.broken)],
            ["seconds of troubles, and until all was done and checked", f"{self.seconds:.0f}, {self.checked:.0f}"],
        ]

    def table(self) -> Table:
        """Return the counts as a table."""
        told = "; ".join(
            [f"Seed {self.plan.seed}, {self.plan.adders} adders, {self.plan.workers} workers", *self.notes]
        )
        return Table(f"(f) Faults: {self.plan.engine}", ["what", "count"], self.rows(), f"{told}.")


def run(plan: Plan, tell: Callable[[str], None] = lambda _: None) -> Course:
    """Run a campaign and check what is left."""
    course = Course(plan)
    with ExitStack() as held:
        place = held.enter_context(place_of(plan.engine))
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="mnemic-ledgers-")))
        ledgers = {f"adder{number}": folder / f"adder{number}" for number in range(plan.adders)}
        adders = [
            Life(name, adding, ({**place.settings, "worker": number % 2 == 0}, name, ledger))
            for number, (name, ledger) in enumerate(ledgers.items())
        ]
        workers = [Life(f"worker {number}", working, (place.settings,)) for number in range(plan.workers)]
        lives = [*adders, *workers]
        try:
            _disturb(course, Scene(place, adders, workers, random.Random(plan.seed)), lives, tell)
        finally:
            course.kills = sum(life.deaths for life in lives)
            for life in lives:
                life.kill()
        for ledger in ledgers.values():
            course.failed.update(errors(ledger))
        began = time.monotonic()
        place.revive()
        tell(f"{plan.engine}: all is undisturbed now")
        course.findings = check(place, ledgers)
        course.notes, course.checked = place.notes, time.monotonic() - began
    return course


def _disturb(course: Course, scene: Scene, lives: Sequence[Life], tell: Callable[[str], None]) -> None:
    plan, known = course.plan, troubles_of(scene.place)
    known = {name: each for name, each in known.items() if not plan.only or name in plan.only}
    names, weights = list(known), [often for _, often in known.values()]
    lives[0].start()
    lives[0].wait_until_open()  # it has made the store by then
    for life in lives[1:]:
        life.start()
    for life in lives:
        life.wait_until_open()
    began = told = time.monotonic()
    while not _is_over(plan, lives, began):
        scene.pause(0.02, 0.4)
        name = scene.chance.choices(names, weights)[0]
        known[name][0](scene)
        course.happened[name] += 1
        for life in lives:
            if not life.alive:  # it could not open its memory while a server was away
                life.start()
        if time.monotonic() - told > 10:
            told = time.monotonic()
            tell(f"{plan.engine}: {sum(life.deaths for life in lives)} kills after {told - began:.0f} s")
    course.seconds = time.monotonic() - began


def _is_over(plan: Plan, lives: Sequence[Life], began: float) -> bool:
    if time.monotonic() - began > plan.seconds:
        return True
    return 0 < plan.kills <= sum(life.deaths for life in lives)
