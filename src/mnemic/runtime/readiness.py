"""Whether the parts that a memory stands on answer at this moment, told in bounded time whatever they do.

Each part is asked on a thread of its own, one question at a time: a part that hangs is told as one that does not
answer, and is not asked again before it has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Final

from mnemic.errors import MnemicError
from mnemic.hiding import without_secrets
from mnemic.ports.queue import Queue
from mnemic.ports.store import Store

PATIENCE: Final = 5.0
"""Seconds that a part may take to answer."""

Question = Callable[[], str]
"""Asks a part; returns what is wrong with it, "" for nothing, or raises a `MnemicError` that says so."""


class Readiness:
    """Asks parts whether they answer. Threads may share it."""

    def __init__(self, parts: Mapping[str, Question]) -> None:
        self._parts = {name: _Asked(name, question) for name, question in parts.items()}

    def look(self, patience: float = PATIENCE) -> Mapping[str, str]:
        """Return what is wrong with each part, "" for those that are well."""
        for part in self._parts.values():
            part.ask()
        return {name: part.told(patience) for name, part in self._parts.items()}


def parts_of(store: Store, queue: Queue) -> Mapping[str, Question]:
    """Return the questions to a store and a queue."""
    return {"store": lambda: _of_store(store), "queue": lambda: _of_queue(queue)}


def _of_store(store: Store) -> str:
    with store.read() as tx:
        tx.turns.leaders()  # a handful of rows
    return ""


def _of_queue(queue: Queue) -> str:
    return "; ".join(seen for what, well, seen in queue.check() if what == "queue" and not well)  # the rest is advice


class _Asked:
    """One part, and what it said last."""

    def __init__(self, name: str, question: Question) -> None:
        self._name = name
        self._question = question
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._said = ""

    def ask(self) -> None:
        """Ask, unless an answer is still awaited."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name=f"mnemic-ready-{self._name}", daemon=True)
                self._thread.start()

    def told(self, patience: float) -> str:
        """Return what is wrong, waiting for the answer for so long."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(patience)
            if thread.is_alive():
                return f"does not answer within {patience:g} s"
        return self._said

    def _run(self) -> None:
        said = "failed in a way that was not foreseen; the log has more"
        try:
            said = self._question()
        except MnemicError as error:
            said = str(error)
        finally:
            self._said = without_secrets(said)
