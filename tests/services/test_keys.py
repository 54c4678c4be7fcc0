"""Keys: made once and shown once, looked up at each call, ended at once, reaching no further than their maker."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import (
    AccessError,
    ConflictError,
    InputError,
    Memory,
    NotFoundError,
)
from mnemic.api import acting
from mnemic.errors import KeyRefusedError, RateError
from mnemic.model.caller import LOCAL, Caller, Power
from mnemic.model.key import ApiKey, KeyState
from tests.services.opened import Clock, bytes_of, open_memory

pytestmark = pytest.mark.usefixtures("engine")

FORM = re.compile(r"mnk_[0-9A-Za-z]{8}_[0-9A-Za-z]{44}")
HOUR = timedelta(hours=1)


class Hands(Clock):
    """A clock whose hands the test moves."""

    def now(self) -> datetime:
        return self.at

    def forward(self, by: timedelta) -> None:
        self.at += by


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def memory(tmp_path: Path, clock: Hands) -> Iterator[Memory]:
    with open_memory(tmp_path, clock=clock) as opened:
        yield opened


def refusal(memory: Memory, secret: str | None) -> str:
    with pytest.raises(KeyRefusedError) as caught:
        memory.keys.caller_of(secret)
    assert caught.value.fields == {}
    return str(caught.value)


def test_a_secret_is_shown_once_and_kept_nowhere(memory: Memory, tmp_path: Path) -> None:
    made = memory.keys.create("laptop", users="ann")
    assert FORM.fullmatch(made.secret)
    own = made.secret.rpartition("_")[2]
    assert made.key.prefix in made.secret
    assert own not in repr(made) + repr(made.key) + repr(memory.keys.list())
    assert own.encode() not in bytes_of(tmp_path)
    assert memory.keys.create("laptop", users="ann").secret != made.secret


def test_a_key_tells_who_calls_and_how_far_it_reaches(memory: Memory) -> None:
    made = memory.keys.create(
        "backend", users=["ann", "bob", "ann"], cubes="c1", project="shop", powers=["admin", "read"]
    )
    assert memory.keys.list() == (made.key,)
    caller = memory.keys.caller_of(made.secret)
    powers = frozenset({Power.READ, Power.ADMIN})
    assert caller == Caller(made.key.id, ("ann", "bob"), ("c1",), powers, "shop")


def test_without_any_key_who_is_at_the_machine_needs_none_and_with_one_everybody_does(memory: Memory) -> None:
    assert not memory.keys.any()
    assert memory.keys.caller_of(None) is LOCAL
    made = memory.keys.create("first")
    assert memory.keys.any()
    refusal(memory, None)
    memory.keys.revoke(made.key.id)
    assert not memory.keys.any()
    refusal(memory, None)  # a key that ends opens no doors
    assert memory.keys.drop(made.key.id).state_at(datetime(2027, 1, 1, tzinfo=UTC)) is KeyState.REVOKED
    assert memory.keys.caller_of(None) is LOCAL


def test_all_that_opens_nothing_looks_the_same(memory: Memory, clock: Hands) -> None:
    good = memory.keys.create("good").secret
    revoked = memory.keys.create("revoked")
    memory.keys.revoke(revoked.key.prefix)
    expired = memory.keys.create("expired", expires=clock.at + HOUR).secret
    clock.forward(HOUR)
    prefix = good.split("_")[1]
    others = [
        None, "", "x", good[:-1], good + "x", good.swapcase(), f"mnk_{prefix}_{'a' * 44}", f"mnk_{'a' * 8}_{'a' * 44}",
        revoked.secret, expired, good + "\n", f" {good}",
        "mnk_\0" + good[5:], "\ud800" * 57, "k" * 1_000_000, 7, b"mnk",
    ]  # fmt: skip
    assert len({refusal(memory, each) for each in others}) == 1  # type: ignore[arg-type]  # callers give anything
    assert memory.keys.caller_of(good).key


def test_a_key_that_is_revoked_opens_nothing_in_any_process_at_once(memory: Memory, tmp_path: Path) -> None:
    with open_memory(tmp_path) as other:
        made = memory.keys.create("laptop")
        assert other.keys.caller_of(made.secret).key == made.key.id
        ended = memory.keys.revoke(made.key.id)
        refusal(other, made.secret)
        assert other.keys.revoke(made.key.id).revoked_at == ended.revoked_at  # again changes nothing


def test_rotation_overlaps_for_as_long_as_is_said(memory: Memory, clock: Hands) -> None:
    old = memory.keys.create("app", users="ann", project="p", per_minute=60, per_day=900, expires=clock.at + 48 * HOUR)
    clock.forward(24 * HOUR)
    new = memory.keys.rotate(old.key.id, overlap_hours=2)
    assert new.key.expires_at == clock.at + 48 * HOUR  # as long as the old one was to hold
    same = ("name", "users", "cubes", "project", "powers", "per_minute", "per_day")
    assert [getattr(new.key, name) for name in same] == [getattr(old.key, name) for name in same]
    assert memory.keys.caller_of(old.secret).users == memory.keys.caller_of(new.secret).users
    clock.forward(2 * HOUR)
    refusal(memory, old.secret)
    at_once = memory.keys.rotate(new.key.id, overlap_hours=0)
    refusal(memory, new.secret)
    assert memory.keys.caller_of(at_once.secret).key == at_once.key.id
    with pytest.raises(ConflictError, match="expired"):
        memory.keys.rotate(new.key.id)
    late = memory.keys.rotate(at_once.key.id, overlap_hours=1_000)
    ends = next(key.expires_at for key in memory.keys.list() if key.id == at_once.key.id)
    assert ends == at_once.key.expires_at, "rotation gives a key more time than it had"
    assert memory.keys.caller_of(late.secret).key == late.key.id


@pytest.mark.parametrize(
    "given, field",
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"users": []}, "users"),
        ({"users": ["a", ""]}, "users"),
        ({"users": ["shop\x1fann"]}, "users"),
        ({"users": [f"u{number}" for number in range(1_001)]}, "users"),
        ({"cubes": 7}, "cubes"),
        ({"cubes": [True]}, "cubes"),
        ({"powers": []}, "powers"),
        ({"powers": "all"}, "powers"),
        ({"powers": ["read", None]}, "powers"),
        ({"project": "a\x1fb"}, "project"),
        ({"project": "p" * 101}, "project"),
        ({"project": " "}, "project"),
        ({"expires": "yesterday"}, "expires"),
        ({"expires": "2020-01-01"}, "expires"),
        ({"per_minute": -1}, "per_minute"),
        ({"per_day": 1.5}, "per_day"),
        ({"per_day": True}, "per_day"),
    ],
)
def test_what_cannot_be_a_key_is_told_by_its_field(memory: Memory, given: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        memory.keys.create(**{"name": "k", **given})  # type: ignore[arg-type]  # what callers give
    assert caught.value.field == field
    assert memory.keys.list() == ()


@pytest.mark.parametrize("hours", [-1, float("nan"), float("inf"), "2", None, True, 10_000])
def test_an_overlap_is_a_number_of_hours(memory: Memory, hours: object) -> None:
    made = memory.keys.create("k")
    with pytest.raises(InputError, match="overlap_hours"):
        memory.keys.rotate(made.key.id, overlap_hours=hours)  # type: ignore[arg-type]  # what callers give
    assert memory.keys.list() == (made.key,)


def test_an_active_key_is_not_dropped_and_an_unknown_one_not_found(memory: Memory) -> None:
    made = memory.keys.create("k")
    with pytest.raises(ConflictError, match="revoke it"):
        memory.keys.drop(made.key.id)
    for verb in (memory.keys.drop, memory.keys.revoke, memory.keys.rotate):
        with pytest.raises(NotFoundError):
            verb("unknown")


# -- who gives keys out ------------------------------------------------------------------------------------------------

ADMIN = {
    "whole": Caller("a"),
    "shop": Caller("a", project="shop"),
    "ann": Caller("a", users=("ann", "bob")),
    "cube": Caller("a", cubes=("c1", "c2")),
    "reader": Caller("a", powers=frozenset({Power.READ, Power.ADMIN})),
}


@pytest.mark.parametrize(
    "admin, given, allowed",
    [
        ("whole", {"project": "any", "users": "x", "powers": ["read", "write", "admin"]}, True),
        ("shop", {"project": "shop"}, True),
        ("shop", {}, True),
        ("shop", {"project": "other"}, False),
        ("ann", {"users": ["ann"]}, True),
        ("ann", {"users": ["ann", "cleo"]}, False),
        ("ann", {}, False),
        ("cube", {"cubes": "c2"}, True),
        ("cube", {"cubes": ["c2", "c3"]}, False),
        ("cube", {}, False),
        ("reader", {"powers": "read"}, True),
        ("reader", {"powers": ["read", "admin"]}, True),
        ("reader", {}, False),
    ],
)
def test_nobody_gives_more_than_they_have(memory: Memory, admin: str, given: dict[str, str], allowed: bool) -> None:
    with acting(ADMIN[admin]):
        if allowed:
            made = memory.keys.create("k", **given)  # type: ignore[arg-type]  # one of those above
            assert made.key.project == ("shop" if admin == "shop" else given.get("project", ""))
        else:
            with pytest.raises(AccessError):
                memory.keys.create("k", **given)  # type: ignore[arg-type]  # one of those above
    assert len(memory.keys.list()) == allowed


def test_a_key_that_reaches_further_than_its_admin_does_not_exist_for_it(memory: Memory) -> None:
    keys = {
        "whole": memory.keys.create("k").key,
        "shop": memory.keys.create("k", project="shop").key,
        "ann": memory.keys.create("k", users="ann").key,
        "cube": memory.keys.create("k", cubes="c1").key,
    }
    seen = {"whole": set(keys), "shop": {"shop"}, "ann": {"ann"}, "cube": {"cube"}, "reader": set(keys)}
    for admin, caller in ADMIN.items():
        with acting(caller):
            assert set(memory.keys.list()) == {keys[name] for name in seen[admin]}
            for name in set(keys) - seen[admin]:
                for verb in (memory.keys.revoke, memory.keys.rotate, memory.keys.drop):
                    with pytest.raises(NotFoundError):
                        verb(keys[name].id)
    with acting(ADMIN["reader"]), pytest.raises(AccessError):
        memory.keys.rotate(keys["whole"].id)  # it would be handed a secret that may write
    assert all(key.state_at(datetime(2027, 1, 1, tzinfo=UTC)) is KeyState.ACTIVE for key in memory.keys.list())


@pytest.mark.parametrize("powers", [["read"], ["write"], ["read", "write"]])
def test_keys_are_the_business_of_admins(memory: Memory, powers: list[str]) -> None:
    made = memory.keys.create("k", powers=powers)
    with acting(memory.keys.caller_of(made.secret)):
        for attempt in (
            lambda: memory.keys.create("k"),
            memory.keys.list,
            lambda: memory.keys.revoke(made.key.id),
            lambda: memory.keys.rotate(made.key.id),
            lambda: memory.keys.drop(made.key.id),
        ):
            with pytest.raises(AccessError, match="admin"):
                attempt()


# -- how often ---------------------------------------------------------------------------------------------------------


def allowed(memory: Memory, secret: str, calls: int) -> int:
    """Return how many of so many calls are allowed."""
    passed = 0
    for _ in range(calls):
        try:
            memory.keys.caller_of(secret)
        except RateError:
            continue
        passed += 1
    return passed


def test_a_minute_holds_so_many_calls_and_they_come_back_evenly(memory: Memory, clock: Hands) -> None:
    secret = memory.keys.create("k", per_minute=6).secret
    other = memory.keys.create("k").secret
    assert allowed(memory, secret, 10) == 6
    assert allowed(memory, other, 100) == 100
    with pytest.raises(RateError, match="6 calls in a minute") as caught:
        memory.keys.caller_of(secret)
    assert caught.value.fields == {"retry_after": 10}
    clock.forward(timedelta(seconds=9))
    assert allowed(memory, secret, 1) == 0
    clock.forward(timedelta(seconds=12))
    assert allowed(memory, secret, 10) == 2
    clock.forward(timedelta(days=1))
    assert allowed(memory, secret, 10) == 6  # a bucket holds no more than it holds


def test_a_day_holds_so_many_calls_whichever_process_they_come_through(
    memory: Memory, clock: Hands, tmp_path: Path
) -> None:
    clock.at = datetime(2026, 3, 1, 23, tzinfo=UTC)
    secret = memory.keys.create("k", per_day=10).secret
    with open_memory(tmp_path, clock=clock) as other:
        assert allowed(other, secret, 4) == 4
    assert allowed(memory, secret, 10) == 6
    with pytest.raises(RateError, match="10 calls in a day") as caught:
        memory.keys.caller_of(secret)
    assert caught.value.fields == {"retry_after": 3_600}
    memory._parts.access.gate.settle()
    with open_memory(tmp_path, clock=clock) as after_a_restart:
        assert allowed(after_a_restart, secret, 1) == 0
        clock.forward(HOUR)
        assert allowed(after_a_restart, secret, 5) == 5
    assert allowed(memory, secret, 20) == 5


def test_threads_pass_no_limit(memory: Memory) -> None:
    daily, minutely = memory.keys.create("k", per_day=30).secret, memory.keys.create("k", per_minute=30).secret
    with ThreadPoolExecutor(8) as pool:
        for secret in (daily, minutely):
            assert sum(pool.map(lambda _, secret=secret: allowed(memory, secret, 10), range(8), timeout=60)) == 30


def key_of(memory: Memory) -> ApiKey:
    [key] = memory.keys.list()
    return key


def test_the_last_use_is_written_down_once_a_minute(memory: Memory, clock: Hands) -> None:
    secret, began = memory.keys.create("k").secret, clock.at
    memory.keys.caller_of(secret)
    memory._parts.access.gate.close()
    assert key_of(memory).last_used_at == began
    clock.forward(timedelta(seconds=59))
    memory.keys.caller_of(secret)
    memory._parts.access.gate.close()
    assert key_of(memory).last_used_at == began
    clock.forward(timedelta(seconds=1))
    memory.keys.caller_of(secret)
    memory._parts.access.gate.close()
    assert key_of(memory).last_used_at == clock.at


def test_a_call_does_not_wait_for_its_use_to_be_written_down(memory: Memory) -> None:
    secret = memory.keys.create("k", per_day=5).secret
    entered, leave = threading.Event(), threading.Event()

    def write() -> None:
        with memory._parts.store.write():
            entered.set()
            leave.wait(30)

    with ThreadPoolExecutor(2) as pool:
        writer = pool.submit(write)
        assert entered.wait(30)
        try:
            assert pool.submit(allowed, memory, secret, 9).result(10) == 5
        finally:
            leave.set()
        writer.result(30)
    memory._parts.access.gate.close()
    assert key_of(memory).last_used_at is not None
    assert [row.outcome for row in memory.audit()] == ["rate_limited"] * 4
