"""The audit: a row for each write and each refusal of who calls from outside, with the write, without words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic import AccessError, ConflictError, InputError, Memory, NotFoundError, StoreError
from mnemic.api import acting
from mnemic.api.calls import WRITES
from mnemic.errors import KeyRefusedError, LanguageError, RateError
from mnemic.model.audit import AuditRow
from mnemic.model.caller import LOCAL, Caller, Power
from mnemic.services.audit import A_MINUTE
from mnemic.services.upkeep import Upkeep
from mnemic.testing.scripted_model import ScriptedModel
from mnemic.tracing import tracing
from mnemic.wire.routes import ROUTES
from tests.services.opened import Clock, open_memory, sql_store

pytestmark = pytest.mark.usefixtures("engine")

ANN = Caller("k-ann", users=("ann",))
WORDS = "marmalade"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with open_memory(tmp_path, clock=clock) as opened:
        yield opened


def told(memory: Memory) -> list[tuple[str | None, str, str | None, str]]:
    """Return key, verb, user and outcome of all rows, oldest first."""
    return [(row.key, row.verb, row.user, row.outcome) for row in reversed(memory.audit(limit=10_000))]


def test_each_write_has_one_row_and_reading_has_none(memory: Memory) -> None:
    with acting(ANN), tracing("request-7"):
        added = memory.add([f"I like {WORDS}.", "I live in Porto."], user="ann", wait=True)
        memory.search(WORDS, user="ann")
        memory.list(user="ann")
        memory.profile(user="ann")
        memory.jobs.wait(user="ann")
    with acting(ANN):
        cube = memory.cubes.create("trip", user="ann")
        memory.cubes.share(cube.id, "bob", user="ann")
        memory.chat(f"More {WORDS}, please.", user="ann", cube=cube.id)
        memory.forget(everything=True, user="ann")
    verbs = ["add", "cubes.create", "cubes.share", "chat", "forget"]
    assert told(memory) == [("k-ann", verb, "ann", "ok") for verb in verbs]
    rows = memory.audit()
    assert rows[-1].request == "request-7"
    assert all(row.request for row in rows)
    assert [row.cube for row in rows] == [added.cube, cube.id, cube.id, cube.id, added.cube]
    assert WORDS not in repr(rows)


def test_every_operation_that_needs_more_than_reading_is_one_that_is_written_down() -> None:
    changing = {route.verb for route in ROUTES if route.power is not Power.READ}
    assert changing - {"check", "audit", "keys.list"} <= WRITES  # these only look


def test_without_a_caller_nothing_is_written_down_and_at_the_machine_it_is(memory: Memory) -> None:
    memory.add("I like tea.", user="ann")
    assert told(memory) == []
    with acting(LOCAL):
        memory.add("I like soup.", user="ann")
    assert told(memory) == [(None, "add", "ann", "ok")]


def test_a_write_that_fails_has_no_row_and_a_row_that_fails_no_write(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with acting(ANN):
        memory.add({"content": "a", "id": "x"}, user="ann")
        with pytest.raises(ConflictError):
            memory.add({"content": "b", "id": "x"}, user="ann")
        with pytest.raises(InputError):
            memory.add(["a", 7], user="ann")  # type: ignore[list-item]  # what callers give
        with pytest.raises(NotFoundError):
            memory.update("unknown", "c", user="ann")
    assert told(memory) == [("k-ann", "add", "ann", "ok")]

    def broken(*_: object) -> None:
        raise StoreError("no room for a row")

    with monkeypatch.context() as patched:
        patched.setattr("mnemic.backends.sql.records.SqlAudit.put", broken)
        with acting(ANN), pytest.raises(StoreError, match="no room"):
            memory.add("never", user="ann")
        with acting(replace(ANN, powers=frozenset())), pytest.raises(AccessError):
            memory.add("never", user="ann")  # the refusal comes all the same
    assert memory.search("never", user="ann", kinds="message", threshold=0.9).hits == ()
    assert memory.stats(user="ann").messages == 1


def test_a_call_that_fails_after_it_has_written_says_so(tmp_path: Path) -> None:
    model = ScriptedModel([LanguageError("down", passing=False)] * 5)
    with Memory(tmp_path, settings={"embedder": "hashing", "worker": False}, llm=model) as memory:
        with acting(ANN), pytest.raises(LanguageError):
            memory.chat("Hello", user="ann", session="s", mode="model")
        assert told(memory) == [("k-ann", "chat", "ann", "language_model_failed")]
        with acting(ANN):
            pieces = memory.chat_stream("Hello again", user="ann", session="s", mode="model")
        with pytest.raises(LanguageError):
            list(pieces)
        assert told(memory)[1:] == [("k-ann", "chat_stream", "ann", "language_model_failed")]


def test_each_refusal_has_a_row(memory: Memory) -> None:
    cube = memory.cubes.create("trip", user="bob")
    memory.cubes.share(cube.id, "ann", user="bob")
    reading = replace(ANN, powers=frozenset({Power.READ}))
    attempts: list[tuple[Caller, Callable[[], object], type[Exception], tuple[str, str | None, str | None]]] = [
        (ANN, lambda: memory.search("x", user="bob"), AccessError, ("search", "bob", None)),
        (reading, lambda: memory.add("x", user="ann"), AccessError, ("add", "ann", None)),
        (ANN, lambda: memory.add("x", user="ann", cube=cube.id), AccessError, ("add", "ann", cube.id)),
        (ANN, lambda: memory.search("x", user="ann", cubes="theirs"), NotFoundError, ("search", "ann", "theirs")),
        (reading, lambda: memory.keys.create("k"), AccessError, ("keys.create", None, None)),
        (reading, lambda: list(memory.export(user="bob")), AccessError, ("export", "bob", None)),
        (reading, memory.check, AccessError, ("check", None, None)),
    ]
    for caller, attempt, error, _ in attempts:
        with acting(caller), pytest.raises(error):
            attempt()
    rows = list(reversed(memory.audit()))
    assert [(row.verb, row.user, row.cube) for row in rows] == [each[3] for each in attempts]
    assert {row.outcome for row in rows} == {"forbidden", "not_found"}
    with acting(ANN), pytest.raises(NotFoundError):
        memory.get("unknown", user="ann")  # no refusal: there is no such thing
    assert len(memory.audit()) == len(attempts)


def test_who_is_not_let_in_is_written_down_without_a_name(memory: Memory) -> None:
    made = memory.keys.create("k", per_minute=1, project="shop")
    gone = memory.keys.create("gone")
    memory.keys.revoke(gone.key.id)
    memory.keys.caller_of(made.secret)
    for secret, error in ((made.secret, RateError), (gone.secret, KeyRefusedError), ("mnk_x", KeyRefusedError)):
        with pytest.raises(error):
            memory.keys.caller_of(secret)
    rows = list(reversed(memory.audit()))
    assert [(row.key, row.project, row.outcome) for row in rows] == [
        (made.key.id, "shop", "rate_limited"), (gone.key.id, "", "unauthenticated"), (None, "", "unauthenticated")
    ]  # fmt: skip
    assert {row.verb for row in rows} == {"keys.caller_of"}
    assert memory.audit(key=gone.key.id) == (rows[1],)


def test_refusals_beyond_so_many_a_minute_are_one_row_that_counts(memory: Memory, clock: Clock) -> None:
    memory.keys.create("k")
    for _ in range(A_MINUTE + 30):
        with pytest.raises(KeyRefusedError):
            memory.keys.caller_of("wrong")
    with acting(ANN), pytest.raises(AccessError):
        memory.list(user="bob")  # one who knocks hides no other
    assert len(memory.audit()) == A_MINUTE + 1
    clock.at += timedelta(minutes=1)
    with pytest.raises(KeyRefusedError):
        memory.keys.caller_of("wrong")
    rows = memory.audit()
    assert len(rows) == A_MINUTE + 3
    assert [row.calls for row in rows if row.key is None][:3] == [1, 30, 1]
    assert sum(row.calls for row in rows) == A_MINUTE + 32


def test_what_was_not_told_is_told_when_the_memory_is_closed(tmp_path: Path, clock: Clock) -> None:
    with open_memory(tmp_path, clock=clock) as memory:
        memory.keys.create("k")
        for _ in range(A_MINUTE + 5):
            with pytest.raises(KeyRefusedError):
                memory.keys.caller_of("wrong")
    with open_memory(tmp_path, clock=clock) as memory:
        assert sum(row.calls for row in memory.audit()) == A_MINUTE + 5


def test_rows_outlive_their_cube_and_go_when_they_are_old_or_too_many(memory: Memory, clock: Clock) -> None:
    parts = memory._parts
    upkeep = Upkeep(parts.store, kept=10, settle=parts.settle, prune=parts.access.audit.prune)
    with acting(ANN):
        cube = memory.cubes.create("trip", user="ann")
        memory.cubes.delete(cube.id, user="ann")
    assert [row.verb for row in memory.audit(cube=cube.id)] == ["cubes.delete", "cubes.create"]
    assert "records" not in upkeep.run()
    clock.at += timedelta(days=89)
    with acting(ANN):
        for number in range(3):
            memory.add(f"thing {number}", user="ann")
    clock.at += timedelta(days=2)
    assert "2 old records of calls removed" in upkeep.run()
    assert [row.verb for row in memory.audit()] == ["add"] * 3
    with sql_store(memory).write() as tx:
        assert tx.audit.prune(clock.at - timedelta(days=90), 1) == 2


def test_the_audit_is_for_admins_and_a_project_sees_its_own(memory: Memory) -> None:
    callers = {
        "shop": Caller("k1", project="shop"),
        "club": Caller("k2", project="club"),
        "none": Caller("k3"),
    }
    for caller in callers.values():
        with acting(caller):
            memory.add("tea", user="ann")
            memory.add("tea", user="bob")

    def seen(caller: Caller | None, **asked: str) -> list[tuple[str, str | None]]:
        with acting(caller):
            return [(row.project, row.user) for row in reversed(memory.audit(**asked))]  # type: ignore[arg-type]

    both = {name: [(name, "ann"), (name, "bob")] for name in ("shop", "club", "")}
    assert seen(callers["shop"]) == both["shop"]
    assert seen(callers["club"]) == both["club"]
    assert seen(callers["none"]) == seen(None) == both["shop"] + both["club"] + both[""]
    assert seen(callers["shop"], key="k2") == []
    assert seen(None, key="k2") == both["club"]
    assert seen(Caller("k4", users=("bob",), project="shop")) == [("shop", "bob")]
    mine = memory.audit(key="k3")[0].cube
    assert mine is not None
    assert seen(Caller("k5", cubes=(mine,))) == [("", "bob")]
    assert seen(Caller("k5", cubes=(mine,)), cube="another") == []
    for powers in ({Power.READ}, {Power.WRITE}, {Power.READ, Power.WRITE}):
        with acting(Caller("k6", powers=frozenset(powers))), pytest.raises(AccessError):
            memory.audit()


def test_rows_come_page_by_page(memory: Memory) -> None:
    with acting(ANN):
        for number in range(7):
            memory.add(f"thing {number}", user="ann")
    rows: list[AuditRow] = []
    while page := memory.audit(limit=3, after=rows[-1].id if rows else None):
        rows += page
    assert rows == list(memory.audit())
    assert len(rows) == 7
    for field, asked in (
        ("limit", {"limit": 0}),
        ("after", {"after": ""}),
        ("key", {"key": ""}),
        ("cube", {"cube": ""}),
    ):
        with pytest.raises(InputError, match=field):
            memory.audit(**asked)
