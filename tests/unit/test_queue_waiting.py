"""Who waits for work is woken one by one, the longest waiting first, and never in vain for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from mnemic.backends.queues.waiting import Waiter, Waiters
from mnemic.testing.redis_server import waited_for

PATIENCE = 20.0  # seconds
FAR = 1_000.0  # seconds


class Sleepers:
    """Threads that wait, in the order in which they came; `woken` is the order in which they left."""

    def __init__(self) -> None:
        self.waiters: Waiters[str] = Waiters()
        self.woken: list[str] = []
        self.held: dict[str, Waiter[str]] = {}
        self._threads: list[threading.Thread] = []

    def add(self, name: str, kinds: Collection[str] = ("a",), lane: str = "quick", *, again_in: float = FAR) -> None:
        before = len(self.waiters)
        thread = threading.Thread(target=self._wait, args=(name, lane, kinds, again_in))
        self._threads.append(thread)
        thread.start()
        waited_for(lambda: len(self.waiters) > before and name in self.held)

    def wakes(self, *names: str) -> bool:
        waited_for(lambda: len(self.woken) >= len(names))
        return self.woken == list(names)

    def end(self) -> None:
        self.waiters.interrupt()
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()

    def _wait(self, name: str, lane: str, kinds: Collection[str], again_in: float) -> None:
        with self.waiters.entered(lane, kinds) as me:
            self.waiters.looked(me, again_in)
            self.held[name] = me
            self.waiters.wait(me, time.monotonic() + FAR)
            self.waiters.heed(me)
            self.woken.append(name)


@contextmanager
def sleepers() -> Iterator[Sleepers]:
    found = Sleepers()
    try:
        yield found
    finally:
        found.end()


def test_each_ring_wakes_the_longest_waiting_and_no_other() -> None:
    with sleepers() as those:
        for name in ("first", "second", "third"):
            those.add(name)
        those.waiters.ring(["quick"])
        assert those.wakes("first")
        those.waiters.ring(["slow"])
        those.waiters.ring(["quick", "slow"])
        assert those.wakes("first", "second")
        assert len(those.waiters) == 1


def test_a_ring_wakes_one_of_each_line_as_it_may_be_for_either() -> None:
    with sleepers() as those:
        those.add("a", ("a",))
        those.add("b", ("b",))
        those.add("another a", ("a",))
        those.waiters.ring(["quick"])
        waited_for(lambda: len(those.woken) == 2)
        assert set(those.woken) == {"a", "b"}


def test_a_ring_that_was_not_looked_at_goes_to_the_next() -> None:
    with sleepers() as those:
        with those.waiters.entered("quick", ["a"]):
            those.add("next")
            those.waiters.ring(["quick"])  # for the one who leaves without a look
        assert those.wakes("next")


def test_only_the_first_of_a_line_looks_out_and_the_next_when_it_leaves() -> None:
    with sleepers() as those:
        with those.waiters.entered("quick", ["a"]) as first:
            those.add("second", again_in=0.05)
            assert not those.woken, "the second looked though the first is there"
            those.waiters.wait(first, time.monotonic() + FAR)  # the look of the line is its
            assert not those.woken
        assert those.wakes("second")


def test_an_item_goes_to_the_longest_waiting_who_does_its_kind_and_has_none() -> None:
    with sleepers() as those:
        those.add("a", ("a",))
        those.add("both", ("a", "b"))
        assert those.waiters.hand("quick", "b", "for both")
        assert those.wakes("both")
        assert those.held["both"].items == ["for both"]
        assert not those.waiters.hand("quick", "b", "for nobody")
        assert not those.waiters.hand("slow", "a", "for nobody")
        assert those.waiters.hand("quick", "a", "for a")
        assert those.wakes("both", "a")


def test_those_with_empty_hands_are_counted_with_what_they_do() -> None:
    with sleepers() as those:
        assert those.waiters.wanted("quick", 0.0) == (0, frozenset())
        those.add("a", ("a",))
        those.add("b", ("b", "c"))
        assert those.waiters.wanted("quick", 0.0) == (2, frozenset("abc"))
        assert those.waiters.wanted("slow", 0.0) == (0, frozenset())


def test_an_interruption_frees_everyone() -> None:
    with sleepers() as those:
        for number in range(4):
            those.add(str(number), (str(number % 2),))
        those.waiters.interrupt()
        waited_for(lambda: len(those.woken) == 4)
        assert all(each.interrupted for each in those.held.values())
