"""What must be so when all is over: nothing lost, nothing invented, everything done once."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.faults.lives import SETTINGS, USERS, Said, acknowledged
from bench.faults.places import Place
from mnemic import Memory
from mnemic.errors import JobError, WaitTimeoutError
from mnemic.model.item import Item
from mnemic.model.job import JobState
from mnemic.model.memory import Memory as Record
from mnemic.model.message import StoredMessage
from tests.faults.counting import broken

PATIENCE: Final = 600.0
"""Seconds that all jobs have to end when nothing disturbs them any more."""
UPKEEP: Final = 150.0
"""Seconds in which the store is looked over for certain, and what was put off is done."""

NEAR: Final = 5
"""Hits among which a message must be: some differ in their number only, and score alike."""
DIED: Final = "the process died"
"""What a job says that was running in too many processes that were killed."""


@dataclass(slots=True)
class Findings:
    """What was found. Each list names what is wrong, and is empty when all is well."""

    told: int = 0
    jobs: Counter[str] = field(default_factory=Counter)
    again: int = 0
    given_up: int = 0
    lost: list[str] = field(default_factory=list)
    not_found: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> Sequence[str]:
        """All that is wrong, each with what it is."""
        kinds = ("lost", "not_found", "invented", "undone", "differing", "broken")
        return [f"{kind.replace('_', ' ')}: {each}" for kind in kinds for each in getattr(self, kind)]


def check(place: Place, ledgers: Mapping[str, Path]) -> Findings:
    """Let all jobs end, undisturbed, and compare the store with the ledgers and with a run that nobody disturbed."""
    found = Findings()
    told = {adder: acknowledged(ledger) for adder, ledger in ledgers.items()}
    users = sorted({Said(adder, number).user for adder in told for number in range(USERS)})
    with Memory(settings={**place.settings, **SETTINGS, "worker": True}) as memory:
        for user in users:
            _finish(memory, user, found)
        stored = [(user, item) for user in users for item in _all(memory, user, ["message"])]
        added = _compare(told, stored, found)
        for said in (Said(adder, number) for adder, numbers in told.items() for number in numbers):
            hits = memory.search(said.text, user=said.user, kinds="message", limit=NEAR)
            found.not_found += [] if said.text in (hit.text for hit in hits) else [said.text]
        for user in users:
            _finish(memory, user, found)  # searching may have led to more
        derived = {user: known(memory, user) for user in users}
    found.broken = broken(place.ask, finished=True, postgres=place.postgres is not None)
    for state, attempts, count in place.ask("SELECT state, attempts, count(*) FROM job GROUP BY state, attempts"):
        found.jobs[str(state)] += count
        found.again += count if attempts > 1 else 0
    for user, expected in _undisturbed(place, users, added).items():
        found.differing += [f"{user}: missing {each}" for each in sorted(expected - derived[user], key=str)]
        found.differing += [f"{user}: not expected {each}" for each in sorted(derived[user] - expected, key=str)]
    return found


def known(memory: Memory, user: str) -> set[Any]:
    """Return what was derived for a user, without ids: memories with their versions, and how many pages were moved."""
    memories = {
        (
            each.kind,
            each.subject,
            each.attribute,
            each.value_key,
            tuple(
                (v.text, v.valid_from.isoformat(), v.valid_to and v.valid_to.isoformat(), v.polarity)
                for v in each.versions
            ),
        )
        for each in _all(memory, user, ["fact", "preference", "event"])
        if isinstance(each, Record)
    }
    stats = memory.stats(user=user)
    moved = sum(warm.segment.pages for warm in stats.segments)
    return memories | {("messages, pages, pages moved", stats.messages, stats.pages, moved)}


def _finish(memory: Memory, user: str, found: Findings) -> None:
    """Wait until all of a user's jobs are done; those given up because too many processes died are tried again.

    What a clock that was ahead has put off is not waited for by `wait`: the next upkeep makes it due.
    """
    deadline = time.monotonic() + UPKEEP
    while any(job.state is JobState.FAILED for job in memory.jobs.list(user=user, open_only=True, limit=1_000)):
        if time.monotonic() > deadline:
            break
        time.sleep(0.5)
    for _ in range(3):
        try:
            memory.jobs.wait(user=user, timeout=PATIENCE)
        except (JobError, WaitTimeoutError) as error:
            found.undone.append(f"{user}: {error}")
            return
        dead = memory.jobs.list(user=user, states="dead", limit=1_000)
        silent = [job for job in dead if DIED in (job.error or "")]
        found.undone += [f"{user}: job {job.id} is dead: {job.reason}" for job in dead if job not in silent]
        if not silent:
            break
        found.given_up += len(silent)
        for job in silent:
            memory.jobs.retry(job.id, user=user)
    left = memory.jobs.list(user=user, open_only=True, limit=1_000)
    found.undone += [f"{user}: job {job.id} is {job.state}" for job in left if job.state is not JobState.QUEUED]


def _compare(told: Mapping[str, Sequence[int]], stored: Sequence[tuple[str, Item]], found: Findings) -> Sequence[Said]:
    """Set what is stored beside the ledgers; return what is stored of the input, in its order.

    Of each adder one message may be stored that is not in its ledger: it was killed before it could write that down.
    """
    expected = {said.id: said for adder, numbers in told.items() for said in (Said(adder, each) for each in numbers)}
    allowed = {said.id: said for said in (Said(adder, len(numbers)) for adder, numbers in told.items())}
    there: dict[str, Said] = {}
    for user, item in stored:
        own_id = item.external_id if isinstance(item, StoredMessage) else None
        said = expected.get(own_id or "") or allowed.get(own_id or "")
        text = item.text if isinstance(item, StoredMessage) else ""
        if said is None or said.id in there or (said.user, said.text) != (user, text):
            found.invented.append(f"{user}: {text}")
        else:
            there[said.id] = said
    found.told = len(expected)
    found.lost += [said.text for said in expected.values() if said.id not in there]
    return sorted(there.values(), key=lambda said: said.number)


def _undisturbed(place: Place, users: Sequence[str], added: Sequence[Said]) -> Mapping[str, set[Any]]:
    """Return what the same messages lead to when nothing happens: one process adds all of a user's, then works."""
    with tempfile.TemporaryDirectory() as home:
        elsewhere = ("database_url", "redis_url")
        settings = {name: value for name, value in place.settings.items() if name not in elsewhere}
        derived: dict[str, set[Any]] = {}
        with Memory(settings={**settings, **SETTINGS, "home": home, "worker": False}) as memory:
            for user in users:
                for said in (each for each in added if each.user == user):
                    memory.add(said.message, user=user, session=said.session)
                memory.jobs.wait(user=user, timeout=PATIENCE)
                derived[user] = known(memory, user)
        return derived


def _all(memory: Memory, user: str, kinds: Sequence[str]) -> Iterator[Item]:
    after: str | None = None
    while page := memory.list(user=user, kinds=kinds, after=after, limit=1_000):
        yield from page
        after = page[-1].id
