"""What is written down of calls from outside: a row for each write and for each call that was refused.

The row of a write is stored in the same transaction as what the call wrote first, so that neither is there without the
other; how the call ended is added when it fails after that. What was refused gets a row of its own, so many in a
minute for each key, and then one that counts: a stranger who knocks all day fills no disk. Rows hold ids and times,
never words. They stay when a cube is erased, and say by whom it was; they go when they are old, or too many.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from mnemic import acting
from mnemic.core.access import shown_name, stored_name
from mnemic.core.intake import check_count, check_id
from mnemic.errors import AccessError, KeyRefusedError, MnemicError, NotFoundError, RateError
from mnemic.ids import new_id
from mnemic.model.audit import AuditQuery, AuditRow
from mnemic.model.caller import Caller, Power
from mnemic.ports.clock import Clock
from mnemic.ports.records import StoredReply
from mnemic.ports.store import Store, Transaction
from mnemic.services.scoping import Scoping
from mnemic.tracing import current

A_MINUTE: Final = 20
"""Refusals of one key in a minute that get rows of their own; those of all strangers together count as one key's."""

REPLIES_KEPT: Final = timedelta(hours=24)
"""How long a call that is carried out once only is remembered."""

_REFUSALS: Final = (AccessError, KeyRefusedError, RateError)
_MINUTE: Final = timedelta(minutes=1)
_DAY: Final = timedelta(days=1)

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Refusals:
    """What was refused to a key in the minute that began then; `last` is the latest that got no row."""

    began: datetime
    told: int = 0
    untold: int = 0
    last: AuditRow | None = None


class Audit:
    """The use case of `Memory.audit`, and what writes its rows."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping, *, days: int, rows: int) -> None:
        """`days` is how long rows are kept, `rows` how many at most."""
        self._store = store
        self._clock = clock
        self._scoping = scoping
        self._days = days
        self._rows = rows
        self._lock = threading.Lock()
        self._refusals: dict[str | None, _Refusals] = {}
        self._waiting: list[AuditRow] = []
        self._writer: threading.Thread | None = None
        self._writing = threading.Lock()

    @contextmanager
    def call(self, who: Caller, verb: str, *, writes: bool) -> Iterator[acting.Call]:
        """Write down what the block does as a call of this verb, which somebody named makes."""
        made = acting.Call(who, verb, writes)
        with acting.calling(made), self.told(made):
            yield made

    @contextmanager
    def told(self, made: acting.Call) -> Iterator[None]:
        """Write down the error that ends the block, when it is a refusal, or when the call has written something."""
        try:
            yield
        except MnemicError as error:
            self._ended(made, error)
            raise

    def recorded(self, transaction: AbstractContextManager[Transaction]) -> AbstractContextManager[Transaction]:
        """Return a write transaction that stores what is to be kept of the call that it is a part of."""
        made, attempt = acting.call(), acting.attempt()
        is_told = made is not None and made.writes and made.row is None
        if not is_told and (attempt is None or attempt.begun):
            return transaction
        return self._recorded(transaction, made if is_told else None, attempt)

    def refused(self, error: MnemicError, verb: str, caller: Caller | None, *, made: acting.Call | None = None) -> None:
        """Write down that a call was refused: beside the call, which does not wait for it."""
        row = AuditRow(
            id=new_id(),
            at=self._clock.now(),
            key=None if caller is None else caller.key,
            project="" if caller is None else caller.project,
            user=None if made is None else made.user,
            verb=verb,
            cube=None if made is None else made.cube,
            outcome=error.code,
            request=_request(),
        )
        self._put_beside(self._due(row))

    def settle(self, *, ending: bool = False) -> None:
        """Write down what waits for it, and how many refusals got no rows: of the minutes that are over, or of all."""
        now = self._clock.now()
        with self._lock:
            over = [key for key, known in self._refusals.items() if ending or now - known.began >= _MINUTE]
            self._waiting += [row for key in over if (row := _summed(self._refusals.pop(key))) is not None]
        self._write_waiting()

    def prune(self) -> int:
        """Erase what is kept no longer: old rows, replies, and counts of calls; return how many there were."""
        self.settle()
        now = self._clock.now()
        today = now.toordinal() - datetime(1970, 1, 1, tzinfo=now.tzinfo).toordinal()
        with self._store.write() as tx:
            gone = tx.audit.prune(now - self._days * _DAY, self._rows)
            return gone + tx.replies.prune(now - REPLIES_KEPT) + tx.key_uses.prune(today - 1)

    @contextmanager
    def _recorded(
        self,
        transaction: AbstractContextManager[Transaction],
        made: acting.Call | None,
        attempt: acting.Attempt | None,
    ) -> Iterator[Transaction]:
        row: str | None = None
        with transaction as tx:
            yield tx
            if attempt is not None and not attempt.begun:
                now = self._clock.now()
                begun = StoredReply(attempt.digest, now, attempt.cube)
                tx.replies.begin(attempt.key, attempt.token, begun, now - REPLIES_KEPT)
            if made is not None:
                row = new_id()
                tx.audit.put(
                    AuditRow(
                        row, self._clock.now(), made.who.key, made.who.project, made.user, made.verb, made.cube, "ok",
                        _request(),
                    )
                )  # fmt: skip
        if made is not None:
            made.row = row
        if attempt is not None:
            attempt.begun = True

    def _ended(self, made: acting.Call, error: MnemicError) -> None:
        if made.row is not None:
            self._end_beside(made.row, error.code)
        elif isinstance(error, _REFUSALS) or (made.hidden and isinstance(error, NotFoundError)):
            self.refused(error, made.verb, made.who, made=made)

    def _due(self, row: AuditRow) -> list[AuditRow]:
        """Return the rows that are to be stored now that this call was refused: its own, unless there are too many."""
        due: list[AuditRow] = []
        with self._lock:
            known = self._refusals.get(row.key)
            if known is None or row.at - known.began >= _MINUTE:
                if known is not None and (summed := _summed(known)) is not None:
                    due.append(summed)
                known = self._refusals[row.key] = _Refusals(row.at)
            if known.told < A_MINUTE:
                known.told += 1
                due.append(row)
            else:
                known.untold += 1
                known.last = row
        return due

    def _put_beside(self, rows: Sequence[AuditRow]) -> None:
        """Have rows stored by a thread that ends when there are no more."""
        if not rows:
            return
        with self._lock:
            self._waiting += rows
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_on, name="mnemic-audit", daemon=True)
                self._writer.start()

    def _write_on(self) -> None:
        while True:
            self._write_waiting()
            with self._lock:
                if not self._waiting:
                    self._writer = None
                    return

    def _write_waiting(self) -> None:
        with self._writing:  # who comes later finds what came before stored
            with self._lock:
                rows, self._waiting = self._waiting, []
            if rows:
                self._write_beside(lambda tx: _put(tx, rows))

    def _end_beside(self, row: str, outcome: str) -> None:
        self._write_beside(lambda tx: tx.audit.end(row, outcome))

    def _write_beside(self, write: Callable[[Transaction], object]) -> None:
        try:
            with acting.aside(), self._store.write() as tx:
                write(tx)
        except MnemicError as error:
            _log.warning("audit_not_written", extra={"reason": str(error)})

    def list(
        self, *, key: object = None, cube: object = None, after: object = None, limit: object = 100
    ) -> Sequence[AuditRow]:
        """Return rows, newest first: those of the caller's project, users and cubes."""
        caller = self._scoping.need(Power.ADMIN)
        named = None if cube is None else check_id(cube, "cube")
        reached = caller.cubes
        if named is not None:
            reached = (named,) if reached is None or named in reached else ()
        query = AuditQuery(
            key=None if key is None else check_id(key, "key"),
            project=caller.project or None,
            users=None if caller.users is None else tuple(stored_name(caller.project, each) for each in caller.users),
            cubes=reached,
            after=None if after is None else check_id(after, "after"),
            limit=check_count(limit, "limit", most=10_000),
        )
        self._write_waiting()
        with self._store.read() as tx:
            found = tx.audit.list(query)
        return tuple(row if row.user is None else replace(row, user=shown_name(row.project, row.user)) for row in found)


def _put(tx: Transaction, rows: Sequence[AuditRow]) -> None:
    for row in rows:
        tx.audit.put(row)


def _summed(known: _Refusals) -> AuditRow | None:
    """Return the row that stands for all refusals of a minute that have none; None when all have one."""
    return None if known.last is None else replace(known.last, calls=known.untold)


def _request() -> str:
    trace = current()
    return "" if trace is None else trace.id
