"""What is checked after a process was killed: everything acknowledged is there, found, whole, and refined once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from mnemic import Memory
from mnemic.model.item import Item
from mnemic.model.job import JobState
from mnemic.model.memory import Memory as Record
from mnemic.model.message import StoredMessage
from mnemic.services.dispatching import LEASE
from tests.faults.adding import SETTINGS
from tests.faults.counting import faults

PATIENCE: Final = 120  # seconds


class Later:
    """A clock so far ahead that the lease of whoever was killed has run out."""

    def now(self) -> datetime:
        return datetime.now(UTC) + LEASE + timedelta(seconds=1)


def acknowledged(lines: Iterable[str]) -> dict[str, str]:
    """Return what a process said that it had added: texts by message id. A line that was cut off was not said."""
    whole = [line.removesuffix("\n").split(" ", 2) for line in lines if line.endswith("\n")]
    return {parts[1]: parts[2] for parts in whole if parts[0] == "added"}


def losses(folder: Path, told: Mapping[str, str], *, user: str, finish: bool) -> list[str]:
    """Return all that is wrong with a store whose messages were told as added; `finish` ends its jobs as well."""
    wrong = [f"as it was found: {fault}" for fault in faults(folder, finished=False)]
    with Memory(folder, settings=SETTINGS, clock=Later()) as memory:
        stored = {item.id: item.text for item in _all(memory, user, "message") if isinstance(item, StoredMessage)}
        wrong += [f"lost: {text}" for key, text in told.items() if stored.get(key) != text]
        for key, text in list(told.items())[-3:]:
            found = memory.search(text, user=user, kinds="message", limit=1)
            wrong += [] if found and found[0].id == key else [f"not found: {text}"]
        if finish:
            memory.add("I live in Faro now.", user=user)  # so that there is work, whatever was left undone
            jobs = memory.jobs.wait(user=user, timeout=PATIENCE)
            wrong += [f"job {job.id}: {job.state} {job.error}" for job in jobs if job.state is not JobState.DONE]
            learned = {item.current.value for item in _all(memory, user, "memory") if isinstance(item, Record)}
            wrong += [] if "Faro" in learned else ["nothing is learned any more"]
    if finish:
        wrong += [f"in the end: {fault}" for fault in faults(folder, finished=True)]
    return wrong


def _all(memory: Memory, user: str, kinds: str) -> Iterator[Item]:
    after: str | None = None
    while page := memory.list(user=user, kinds=kinds, after=after, limit=1_000):
        yield from page
        after = page[-1].id
