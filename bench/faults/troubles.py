"""What is done to processes and servers, drawn by chance: each trouble is over when its function returns."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.faults.places import Place
from bench.faults.processes import Life

HOUR: Final = 3_600


@dataclass(frozen=True, slots=True)
class Scene:
    """Who is there: the place, those who add and those who work, and the chance that says what happens."""

    place: Place
    adders: Sequence[Life]
    workers: Sequence[Life]
    chance: random.Random

    def any_of(self, lives: Sequence[Life]) -> Life:
        """Draw one of them."""
        return lives[self.chance.randrange(len(lives))]

    def pause(self, least: float, most: float) -> None:
        """Let things go on for a while."""
        time.sleep(self.chance.uniform(least, most))


def kill_worker(scene: Scene) -> None:
    """Kill a worker."""
    _kill(scene, scene.any_of(scene.workers))


def kill_adder(scene: Scene) -> None:
    """Kill a process that adds."""
    _kill(scene, scene.any_of(scene.adders))


def _kill(scene: Scene, life: Life) -> None:
    if scene.chance.random() < 0.85:  # the others die while they open the memory
        life.wait_until_open()
    scene.pause(0.0, 0.25 if life.opened else 0.05)
    life.kill()
    life.start()


def step_clock(scene: Scene) -> None:
    """Step the clock of a worker by an hour, forward or back, and back again after a while."""
    life = scene.any_of(scene.workers)
    life.wait_until_open()
    life.tell("clock", scene.chance.choice((-HOUR, HOUR)))
    scene.pause(0.2, 1.0)
    life.tell("clock", 0)


def fill_disk(scene: Scene) -> None:
    """Leave a process no room on its disk (SQLite), or the server (PostgreSQL)."""
    if scene.place.postgres is None:
        life = scene.any_of([*scene.adders, *scene.workers])
        life.wait_until_open()
        life.tell("disk", scene.chance.choice((0, 4_096, 40_960)))
        scene.pause(0.1, 0.5)
        life.tell("disk", None)
    else:
        scene.place.fill_disk()
        scene.pause(0.5, 1.5)
        scene.place.empty_disk()
        _started(scene)


def stop_postgres(scene: Scene) -> None:
    """Stop PostgreSQL in good order, and start it again."""
    _stop_postgres(scene, at_once=False)


def crash_postgres(scene: Scene) -> None:
    """Have PostgreSQL end at once, and recover when it is started again."""
    _stop_postgres(scene, at_once=True)


def _stop_postgres(scene: Scene, *, at_once: bool) -> None:
    if scene.place.postgres is not None:
        scene.place.postgres.stop(at_once=at_once)
        scene.pause(0.0, 0.7)
        scene.place.postgres.start()


def _started(scene: Scene) -> None:
    """Start PostgreSQL again when it ended by itself."""
    if scene.place.postgres is not None and not scene.place.postgres.running:
        scene.place.postgres.start()


def stop_redis(scene: Scene) -> None:
    """Stop Redis, and start it again, empty, after a while."""
    if scene.place.redis is not None:
        scene.place.redis.kill(signal.SIGTERM)
        scene.pause(0.2, 2.0)
        scene.place.redis.start()


def restart_redis(scene: Scene) -> None:
    """Kill Redis and start it again at once, empty."""
    if scene.place.redis is not None:
        scene.place.redis.restart()


def flush_redis(scene: Scene) -> None:
    """Remove all that is in Redis."""
    if scene.place.redis is not None:
        scene.place.redis.flush()


def slow_redis(scene: Scene) -> None:
    """Freeze Redis again and again for parts of a second, and once for longer than anybody waits."""
    if scene.place.redis is not None:
        for _ in range(scene.chance.randrange(2, 6)):
            scene.place.redis.pause()
            scene.pause(0.05, 0.3)
            scene.place.redis.resume()
            scene.pause(0.02, 0.1)
        if scene.chance.random() < 0.2:
            scene.place.redis.pause()
            scene.pause(3.2, 4.0)
            scene.place.redis.resume()


def cut_off_redis(scene: Scene) -> None:
    """Cut all connections to Redis, and take new ones after a while."""
    if scene.place.relay is not None:
        scene.place.relay.cut()
        scene.pause(0.05, 1.5)
        scene.place.relay.mend()


Trouble = Callable[[Scene], None]

ALWAYS: Final[Mapping[str, tuple[Trouble, int]]] = {
    "a worker killed": (kill_worker, 8),
    "an adder killed": (kill_adder, 5),
    "a worker's clock stepped by an hour": (step_clock, 2),
    "a disk full": (fill_disk, 2),
}
"""What happens with every engine, and how often beside the others."""
POSTGRES: Final[Mapping[str, tuple[Trouble, int]]] = {
    "PostgreSQL restarted": (stop_postgres, 1),
    "PostgreSQL restarted at once": (crash_postgres, 1),
}
REDIS: Final[Mapping[str, tuple[Trouble, int]]] = {
    "Redis stopped for a while": (stop_redis, 1),
    "Redis killed and restarted": (restart_redis, 1),
    "Redis flushed": (flush_redis, 2),
    "Redis slowed": (slow_redis, 1),
    "Redis cut off": (cut_off_redis, 2),
}


def troubles_of(place: Place) -> Mapping[str, tuple[Trouble, int]]:
    """Return what may happen at a place."""
    found = {**ALWAYS}
    if place.postgres is not None:
        found |= POSTGRES
        if place.disk is None:
            del found["a disk full"]
    return {**found, **REDIS} if place.redis is not None else found
