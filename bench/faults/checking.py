"""What must be so when all is over: nothing lost, nothing invented, everything done once."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.faults.lives import SETTINGS, Said, acknowledged
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
    with Memory(settings={**place.settings, **SETTINGS, "worker": True}) as memory:
        for user in ledgers:
            _finish(memory, user, found)
        stored = {user: _messages(memory, user) for user in ledgers}
        for user, ledger in ledgers.items():
            _compare(memory, user, acknowledged(ledger), stored[user], found)
            _finish(memory, user, found)  # searching may have led to more
        derived = {user: known(memory, user) for user in ledgers}
    found.broken = broken(place.ask, finished=True, postgres=place.postgres is not None)
    for state, attempts, count in place.ask("SELECT state, attempts, count(*) FROM job GROUP BY state, attempts"):
        found.jobs[str(state)] += count
        found.again += count if attempts > 1 else 0
    undisturbed = _undisturbed(place, {user: sorted(messages) for user, messages in stored.items()})
    for user, expected in undisturbed.items():
        found.differing += [f"{user}: missing {each}" for each in sorted(expected - derived[user], key=str)]
        found.differing += [
            f"{user}: more than there should be: {each}" for each in sorted(derived[user] - expected, key=str)
        ]
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
    """Wait until all of a user's jobs are done; those given up because too many processes died are tried again."""
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


def _messages(memory: Memory, user: str) -> dict[int, str]:
    """Return the texts of a user's messages by their number; one that has none counts from -1 down."""
    found: dict[int, str] = {}
    for item in _all(memory, user, ["message"]):
        if isinstance(item, StoredMessage):
            name, _, number = (item.external_id or "").rpartition("-")
            fits = name == user and number.isdigit() and int(number) not in found
            found[int(number) if fits else -1 - len(found)] = item.text
    return found


def _compare(memory: Memory, user: str, told: Sequence[int], stored: Mapping[int, str], found: Findings) -> None:
    """Set a user's messages beside the ledger; at most one was stored and not acknowledged, as its adder was killed."""
    found.told += len(set(told))
    expected = {number: Said(user, number).text for number in told}
    found.lost += [text for number, text in expected.items() if stored.get(number) != text]
    unknown = [number for number in stored if number not in expected]
    allowed = {len(expected): Said(user, len(expected)).text}
    found.invented += [stored[number] for number in unknown if allowed.get(number) != stored[number]]
    for text in expected.values():
        hits = memory.search(text, user=user, kinds="message", limit=1)
        found.not_found += [] if hits and hits[0].text == text else [text]


def _undisturbed(place: Place, numbers: Mapping[str, Sequence[int]]) -> dict[str, set[Any]]:
    """Return what the same messages lead to when nothing happens: one process that adds a session, then works."""
    with tempfile.TemporaryDirectory() as home:
        settings = {**place.settings, "home": home}
        for elsewhere in ("database_url", "redis_url"):
            settings.pop(elsewhere, None)
        derived: dict[str, set[Any]] = {}
        with Memory(settings={**settings, **SETTINGS, "worker": False}) as memory:
            for user, order in numbers.items():
                for number in order:
                    said = Said(user, number)
                    memory.add(said.message, user=user, session=said.session)
                memory.jobs.wait(user=user, timeout=PATIENCE)
                derived[user] = known(memory, user)
        return derived


def _all(memory: Memory, user: str, kinds: Sequence[str]) -> Iterator[Item]:
    after: str | None = None
    while page := memory.list(user=user, kinds=kinds, after=after, limit=1_000):
        yield from page
        after = page[-1].id
