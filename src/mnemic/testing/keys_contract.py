"""What every `mnemic.ports.store.Store` must do with keys, as plain functions that raise AssertionError.

Part of the contract of stores (`mnemic.testing.store_contract.CHECKS`). It relies on nothing but the ports.
"""
# ruff: noqa: D401, S101 - a contract is made of asserts, and each docstring says what holds

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from mnemic.errors import ConflictError
from mnemic.ids import new_id
from mnemic.model.caller import Power
from mnemic.model.key import ApiKey
from mnemic.ports.store import Store
from mnemic.testing.calls_contract import CHECKS as CALL_CHECKS

OpenStore = Callable[[], Store]

NOON: Final = datetime(2024, 5, 1, 12, tzinfo=UTC)
HOUR: Final = timedelta(hours=1)
_ODD: Final = "q'uote\"s, \u5c0f\u660e, \U0001f600, [brackets] \\_"


def _key(prefix: str, **changed: object) -> ApiKey:
    made = ApiKey(
        id=new_id(), prefix=prefix, name=_ODD, project="", users=None, cubes=None, powers=(Power.READ, Power.WRITE),
        per_minute=0, per_day=0, created_at=NOON,
    )  # fmt: skip
    return replace(made, **changed)  # type: ignore[arg-type]  # of a key


def check_keys_come_back_whole(open_store: OpenStore) -> None:
    """A key is found by its id and its prefix, by other stores too, as it was stored; a taken prefix is refused."""
    full = _key(
        "aaaaaaaa", project="p", users=("ann", _ODD), cubes=("c1",), powers=tuple(Power), per_minute=5, per_day=7,
        expires_at=NOON + HOUR, last_used_at=NOON, revoked_at=NOON + 2 * HOUR,
    )  # fmt: skip
    bare = _key("bbbbbbbb", created_at=NOON + HOUR)
    with closing(open_store()) as first, closing(open_store()) as second:
        with first.read() as tx:
            assert not tx.keys.any(), "there is a key before one was made"
        with first.write() as tx:
            tx.keys.put(bare, "digest of b")
            tx.keys.put(full, "digest of a")
        with second.write() as tx:
            for key, digest in ((full, "digest of a"), (bare, "digest of b")):
                for name in (key.id, key.prefix):
                    known = tx.keys.find(name)
                    assert known is not None, f"{name} is not found"
                    assert (known.key, known.digest) == (key, digest)
            assert tx.keys.find("cccccccc") is None
            assert list(tx.keys.list()) == [full, bare], "keys do not come oldest first"
            assert list(tx.keys.list("p")) == [full]
            assert list(tx.keys.list("q")) == []
            try:
                tx.keys.put(_key("aaaaaaaa"), "another")
            except ConflictError:
                pass
            else:
                raise AssertionError("a prefix is taken twice")
            tx.keys.put(_key("cccccccc"), "a third")  # the transaction goes on
        with first.read() as tx:
            assert len(tx.keys.list()) == 3


def check_keys_end(open_store: OpenStore) -> None:
    """A key ends at the earliest moment that it was given, opens nothing from then on, and may be erased."""
    key = _key("aaaaaaaa")
    with closing(open_store()) as store:
        with store.write() as tx:
            tx.keys.put(key, "d")
            assert tx.keys.any(NOON)
            ended = tx.keys.end(key.id, expires_at=NOON + HOUR)
            assert ended == replace(key, expires_at=NOON + HOUR)
            assert tx.keys.end(key.id, expires_at=NOON + 2 * HOUR) == ended, "a key is given more time"
            assert tx.keys.any(NOON)
            assert not tx.keys.any(NOON + HOUR), "a key opens something when it has expired"
            revoked = tx.keys.end(key.id, revoked_at=NOON)
            assert revoked == replace(key, expires_at=NOON + HOUR, revoked_at=NOON)
            assert tx.keys.end(key.id, revoked_at=NOON + HOUR) == revoked, "a key is revoked later than it was"
            assert not tx.keys.any(NOON)
            assert tx.keys.any(), "a key that is over is not there any more"
            assert tx.keys.end(new_id(), revoked_at=NOON) is None
            tx.key_uses.count(key.id, 1, "here", 5)
            tx.keys.drop(key.id)
        with store.read() as tx:
            assert not tx.keys.any()
            assert tx.key_uses.calls_elsewhere(key.id, 1, "there") == 0, "counts of an erased key are left"


def check_uses_of_keys_are_counted(open_store: OpenStore) -> None:
    """Each process says what it has counted of a day; what the others have is their sum. Use goes forward only."""
    key, other = _key("aaaaaaaa"), _key("bbbbbbbb")
    with closing(open_store()) as store:
        with store.write() as tx:
            tx.keys.put(key, "d")
            tx.keys.put(other, "e")
            for process, calls in (("one", 1), ("two", 10), ("two", 12), ("three", 100)):
                tx.key_uses.count(key.id, 7, process, calls)
            tx.key_uses.count(key.id, 8, "one", 1_000)
            tx.key_uses.count(other.id, 7, "one", 5_000)
            tx.key_uses.used(key.id, NOON)
            tx.key_uses.used(key.id, NOON - HOUR)
        with store.write() as tx:
            counted = [tx.key_uses.calls_elsewhere(key.id, 7, process) for process in ("one", "two", "four")]
            assert counted == [112, 101, 113], counted
            assert tx.key_uses.calls_elsewhere(key.id, 9, "one") == 0
            assert [each.last_used_at for each in tx.keys.list()] == [NOON, None]
            tx.key_uses.used(key.id, NOON + HOUR)
            known = tx.keys.find(key.id)
            assert known is not None
            assert known.key.last_used_at == NOON + HOUR
            assert tx.key_uses.prune(8) == 4
            assert tx.key_uses.calls_elsewhere(key.id, 7, "four") == 0
            assert tx.key_uses.calls_elsewhere(key.id, 8, "four") == 1_000


CHECKS: Final[tuple[Callable[[OpenStore], None], ...]] = (
    check_keys_come_back_whole,
    check_keys_end,
    check_uses_of_keys_are_counted,
    *CALL_CHECKS,
)
"""All checks; each needs an empty place."""
