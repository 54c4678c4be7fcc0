"""What every `mnemic.ports.store.Store` must do with members, the audit and replies, as plain functions.

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
from mnemic.model.audit import AuditQuery, AuditRow
from mnemic.model.scope import CubeKind, Member, Role
from mnemic.ports.records import StoredReply
from mnemic.ports.store import Store

OpenStore = Callable[[], Store]

NOON: Final = datetime(2024, 5, 1, 12, tzinfo=UTC)
HOUR: Final = timedelta(hours=1)


def check_members_of_a_cube(open_store: OpenStore) -> None:
    """Roles are given, changed and taken away, in one cube at a time; who has none does not see it."""
    with closing(open_store()) as store, store.write() as tx:
        tx.enter_all()
        mine, other = (tx.cubes.create(new_id(), name, CubeKind.PROJECT, "ann", NOON) for name in "ab")
        for cube in (mine, other):
            tx.cubes.touch(cube.key)
            tx.cubes.set_member(cube.key, "bob", Role.READER)
        tx.cubes.set_member(mine.key, "bob", Role.EDITOR)
        tx.cubes.set_member(mine.key, "Bob", Role.OWNER)
        assert list(tx.cubes.members(mine.key)) == [
            Member("Bob", Role.OWNER), Member("ann", Role.OWNER), Member("bob", Role.EDITOR)
        ]  # fmt: skip
        assert tx.cubes.get("bob", mine.id) == (mine, Role.EDITOR)
        assert tx.cubes.get("bob", other.id) == (other, Role.READER)
        tx.cubes.set_member(mine.key, "bob", None)
        tx.cubes.set_member(mine.key, "nobody", None)
        assert tx.cubes.get("bob", mine.id) is None, "who was taken out still sees the cube"
        assert [cube.id for cube, _ in tx.cubes.list("bob")] == [other.id]
        tx.cubes.delete(mine.key, NOON)
        assert [cube.id for cube, _ in tx.cubes.list("Bob")] == [], "a role is left of an erased cube"


def _row(number: int, **changed: object) -> AuditRow:
    row = AuditRow(new_id(), NOON + number * HOUR, "k1", "", f"u{number}", "add", "c1", "ok", "t")
    return replace(row, **changed)  # type: ignore[arg-type]  # of a row


def check_the_audit(open_store: OpenStore) -> None:
    """Rows come back as they were stored, newest first, by what is asked for; old ones and too many go."""
    rows = [
        _row(0), _row(1, key=None, user=None, cube=None, outcome="unauthenticated", calls=7), _row(2, project="p"),
        _row(3, key="k2", cube="c2"), _row(4, project="p", cube="c2"),
    ]  # fmt: skip
    asked: list[tuple[AuditQuery, list[int]]] = [
        (AuditQuery(), [4, 3, 2, 1, 0]),
        (AuditQuery(limit=2), [4, 3]),
        (AuditQuery(after=rows[3].id, limit=2), [2, 1]),
        (AuditQuery(key="k2"), [3]),
        (AuditQuery(project="p"), [4, 2]),
        (AuditQuery(users=("u0", "u4", "u9")), [4, 0]),
        (AuditQuery(cubes=("c2",)), [4, 3]),
        (AuditQuery(cubes=()), []),
        (AuditQuery(project="p", cubes=("c2",), key="k1"), [4]),
    ]
    with closing(open_store()) as store, closing(open_store()) as other:
        with store.write() as tx:
            for row in rows:
                tx.audit.put(row)
        with other.read() as tx:
            for query, wanted in asked:
                assert list(tx.audit.list(query)) == [rows[number] for number in wanted], query
        with store.write() as tx:
            tx.audit.end(rows[4].id, "conflict")
            assert tx.audit.list(AuditQuery(limit=1)) == [replace(rows[4], outcome="conflict")]
            assert tx.audit.prune(NOON + HOUR, 100) == 1
            assert tx.audit.prune(NOON, 3) == 1
            assert [row.id for row in tx.audit.list(AuditQuery())] == [rows[number].id for number in (4, 3, 2)]
            assert tx.audit.prune(NOON, 0) == 3
            assert tx.audit.prune(NOON, 0) == 0


def check_replies(open_store: OpenStore) -> None:
    """A token is taken once by each key, until it is forgotten; its reply is kept as it was, bytes and all."""
    begun, later = StoredReply("d", NOON), StoredReply("d", NOON + HOUR)
    full = StoredReply("d", NOON, "", 201, b"\0\xff{}")
    with closing(open_store()) as store:
        with store.write() as tx:
            assert tx.replies.find("k", "t", NOON) is None
            tx.replies.begin("k", "t", begun, NOON)
            tx.replies.begin("", "t", begun, NOON)
            assert tx.replies.find("k", "t", NOON) == begun
        for since in (NOON, NOON - HOUR):
            assert _is_taken(store, since), "a token is taken twice"
        with store.write() as tx:
            tx.replies.keep("k", "t", full)
            tx.replies.keep("k", "new", replace(full, begun_at=NOON + HOUR))
        with store.write() as tx:
            assert tx.replies.find("k", "t", NOON) == full
            assert tx.replies.find("k", "new", NOON) == replace(full, begun_at=NOON + HOUR)
            assert tx.replies.find("", "t", NOON) == begun, "the reply of one key is another's"
            assert tx.replies.find("k", "t", NOON + HOUR) is None, "what is too old is given again"
            tx.replies.begin("k", "t", later, NOON + HOUR)
            assert tx.replies.find("k", "t", NOON) == later
            assert tx.replies.prune(NOON + HOUR) == 1
            assert tx.replies.find("", "t", NOON) is None


def check_replies_are_forgotten(open_store: OpenStore) -> None:
    """Replies about a cube are erased with what is forgotten there, those still to come too; the tokens stay taken."""
    with closing(open_store()) as store:
        with store.write() as tx:
            for token, cube in (("given", "c1"), ("coming", "c1"), ("several", ""), ("other", "c2")):
                tx.replies.begin("k", token, StoredReply("d", NOON, cube), NOON)
            for token, cube in (("given", "c1"), ("several", ""), ("other", "c2")):
                tx.replies.keep("k", token, StoredReply("d", NOON, cube, 200, b"words"))
        with store.write() as tx:
            assert tx.replies.erase("c1") == 2
            assert tx.replies.erase("c1") == 0
            tx.replies.keep("k", "coming", StoredReply("d", NOON, "c1", 200, b"late words"))
        with store.read() as tx:
            for token, cube in (("given", "c1"), ("coming", "c1"), ("several", "")):
                assert tx.replies.find("k", token, NOON) == StoredReply("d", NOON, cube), f"{token} is still told"
            assert tx.replies.find("k", "other", NOON) == StoredReply("d", NOON, "c2", 200, b"words")


def _is_taken(store: Store, since: datetime) -> bool:
    try:
        with store.write() as tx:
            tx.replies.begin("k", "t", StoredReply("other", NOON + HOUR), since)
    except ConflictError:
        return True
    return False


CHECKS: Final[tuple[Callable[[OpenStore], None], ...]] = (
    check_members_of_a_cube,
    check_the_audit,
    check_replies,
    check_replies_are_forgotten,
)
"""All checks; each needs an empty place."""
