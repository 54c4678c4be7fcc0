"""Sharing a cube: who is let in finds what is there, who is not finds nothing, and who made it stays its owner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemic import AccessError, ConflictError, InputError, Memory, NotFoundError
from mnemic.api import acting
from mnemic.model.caller import Caller, Power
from mnemic.model.message import StoredMessage
from mnemic.model.scope import Cube, Member, Role
from tests.services.opened import open_memory

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        yield opened


@pytest.fixture
def trip(memory: Memory) -> Cube:
    return memory.cubes.create("trip", user="ann")


def test_a_group_conversation_is_found_by_its_members_and_by_nobody_else(memory: Memory) -> None:
    """Ann plans a journey with Bob, Cleo and a travel agent, which is a program; Dan is not asked."""
    trip = memory.cubes.create("lisbon", user="ann")
    memory.cubes.share(trip.id, "bob", "editor", user="ann")
    memory.cubes.share(trip.id, "planner", "editor", user="ann")
    memory.cubes.share(trip.id, "cleo", user="ann")
    said = [
        ("ann", "user", "ann", "Let us take the night train to Lisbon on the 4th."),
        ("bob", "user", "bob", "I am allergic to peanuts, so no street food for me."),
        ("planner", "assistant", "planner", "I have booked three beds in coach 12."),
        ("bob", "user", "bob", "I will bring the blue tent."),
    ]
    for user, role, speaker, text in said:
        memory.add({"role": role, "name": speaker, "content": text}, user=user, cube=trip.id, session="plans")
    memory.jobs.wait(user="ann", cube=trip.id)
    for reader in ("ann", "bob", "cleo", "planner"):
        items = memory.list(user=reader, cube=trip.id, kinds="message", session="plans")
        assert [(item.speaker, item.text) for item in items if isinstance(item, StoredMessage)] == [
            (speaker, text) for _, _, speaker, text in said
        ]
        [hit, *_] = memory.search("Who is allergic to peanuts?", user=reader, cubes=trip.id, kinds="message")
        assert (hit.speaker, hit.text) == ("bob", said[1][3])
        [bed, *_] = memory.search("Which coach are the beds in?", user=reader, cubes=trip.id, kinds="message")
        assert bed.speaker == "planner"
        known = memory.profile(user=reader, cube=trip.id)
        assert {entry.subject for entry in known.entries if "peanuts" in entry.value} == {"bob"}
        assert memory.search("peanuts", user=reader).hits == ()  # it is the group's, not their own
        assert [cube.name for cube in memory.cubes.list(user=reader)] == ["lisbon"]
    with pytest.raises(AccessError, match="reader"):
        memory.add("I want to come by plane.", user="cleo", cube=trip.id)
    attempts: list[Callable[[], object]] = [
        lambda: memory.search("peanuts", user="dan", cubes=trip.id),
        lambda: memory.add("Me too!", user="dan", cube=trip.id),
        lambda: memory.cubes.members(trip.id, user="dan"),
        lambda: memory.cubes.unshare(trip.id, "dan", user="dan"),
    ]
    for attempt in attempts:
        with pytest.raises(NotFoundError):
            attempt()
    memory.cubes.unshare(trip.id, "bob", user="ann")
    with pytest.raises(NotFoundError):
        memory.search("tent", user="bob", cubes=trip.id)
    assert [hit.speaker for hit in memory.search("blue tent", user="cleo", cubes=trip.id, limit=1)] == ["bob"]


def test_an_agents_own_memory_is_shared_as_any_other(memory: Memory) -> None:
    own = memory.cubes.create("skills", user="scout", kind="agent")
    memory.add("Invoices come as PDF on the first of the month.", user="scout", cube=own.id)
    memory.cubes.share(own.id, "auditor", user="scout")
    assert own.kind == "agent"
    assert memory.search("When do invoices come?", user="auditor", cubes=own.id)
    with pytest.raises(AccessError):
        memory.add("Invoices come late.", user="auditor", cube=own.id)


def test_several_cubes_are_searched_as_one_by_who_may_read_each(memory: Memory, trip: Cube) -> None:
    own = memory.add("I own a red suitcase.", user="bob").cube
    memory.add("A blue suitcase is in the hall.", user="ann", cube=trip.id)
    memory.cubes.share(trip.id, "bob", user="ann")
    found = memory.search("suitcase", user="bob", cubes=[own, trip.id], kinds="message")
    assert {hit.text for hit in found} == {"I own a red suitcase.", "A blue suitcase is in the hall."}
    for cubes in ([own], [own, trip.id]):
        with pytest.raises(NotFoundError):
            memory.search("suitcase", user="ann", cubes=cubes)


def test_members_are_seen_by_readers_and_roles_change(memory: Memory, trip: Cube) -> None:
    assert memory.cubes.share(trip.id, "bob", user="ann") == Member("bob", Role.READER)
    assert memory.cubes.share(trip.id, "bob", "editor", user="ann") == Member("bob", Role.EDITOR)
    assert memory.cubes.share(trip.id, 7, user="ann") == Member("7", Role.READER)
    told = (Member("7", Role.READER), Member("ann", Role.OWNER), Member("bob", Role.EDITOR))
    assert memory.cubes.members(trip.id, user="bob") == memory.cubes.members(trip.id, user="7") == told
    assert memory.cubes.unshare(trip.id, "bob", user="ann") == Member("bob", Role.EDITOR)
    assert memory.cubes.members(trip.id, user="ann") == (told[0], told[1])


@pytest.mark.parametrize("role", ["reader", "editor"])
def test_only_owners_share_but_everybody_may_leave(memory: Memory, trip: Cube, role: str) -> None:
    memory.cubes.share(trip.id, "bob", role, user="ann")
    memory.cubes.share(trip.id, "cleo", user="ann")
    attempts: list[Callable[[], object]] = [
        lambda: memory.cubes.share(trip.id, "dan", user="bob"),
        lambda: memory.cubes.share(trip.id, "bob", "owner", user="bob"),
        lambda: memory.cubes.unshare(trip.id, "cleo", user="bob"),
        lambda: memory.cubes.unshare(trip.id, "ann", user="bob"),
    ]
    for attempt in attempts:
        with pytest.raises(AccessError, match="needs owner"):
            attempt()
    assert memory.cubes.unshare(trip.id, "bob", user="bob") == Member("bob", Role(role))
    assert [member.principal for member in memory.cubes.members(trip.id, user="ann")] == ["ann", "cleo"]


def test_who_made_a_cube_stays_its_owner_whoever_else_is_one(memory: Memory, trip: Cube) -> None:
    memory.cubes.share(trip.id, "bob", "owner", user="ann")
    attempts: list[Callable[[], object]] = [
        lambda: memory.cubes.share(trip.id, "ann", "reader", user="bob"),
        lambda: memory.cubes.share(trip.id, "ann", "editor", user="ann"),
        lambda: memory.cubes.unshare(trip.id, "ann", user="bob"),
        lambda: memory.cubes.unshare(trip.id, "ann", user="ann"),
    ]
    for attempt in attempts:
        with pytest.raises(ConflictError, match="stays its owner"):
            attempt()
    assert memory.cubes.share(trip.id, "ann", "owner", user="bob").role is Role.OWNER
    assert memory.cubes.share(trip.id, "bob", "reader", user="ann").role is Role.READER
    with pytest.raises(AccessError):
        memory.cubes.delete(trip.id, user="bob")


def test_what_cannot_be_shared_is_told_by_its_field(memory: Memory, trip: Cube) -> None:
    for member, role, field in (("", "reader", "member"), (None, "reader", "member"), ("bob", "boss", "role")):
        with pytest.raises(InputError) as caught:
            memory.cubes.share(trip.id, member, role, user="ann")  # type: ignore[arg-type]  # what callers give
        assert caught.value.field == field
    with pytest.raises(NotFoundError, match="no member"):
        memory.cubes.unshare(trip.id, "bob", user="ann")
    with pytest.raises(NotFoundError):
        memory.cubes.share("unknown", "bob", user="ann")


def test_members_are_of_the_project_of_the_key(memory: Memory) -> None:
    shop, club = Caller("k1", project="shop"), Caller("k2", project="club")
    with acting(shop):
        cube = memory.cubes.create("stock", user="ann")
        assert cube.owner == "ann"
        memory.add("There are nine hammers.", user="ann", cube=cube.id)
        assert memory.cubes.share(cube.id, "bob", user="ann") == Member("bob", Role.READER)
        assert memory.search("hammers", user="bob", cubes=cube.id)
        with pytest.raises(InputError, match="U\\+001F"):
            memory.cubes.share(cube.id, "club\x1fbob", user="ann")
    for other in (club, Caller("k3"), None):
        for user in ("ann", "bob"):
            with acting(other), pytest.raises(NotFoundError):
                memory.search("hammers", user=user, cubes=cube.id)
    with acting(Caller("k3")), pytest.raises(InputError, match="user"):
        memory.search("hammers", user="shop\x1fbob", cubes=cube.id)


def test_a_key_bound_to_cubes_makes_no_others_and_shares_only_these(memory: Memory, trip: Cube) -> None:
    other = memory.cubes.create("other", user="ann")
    with acting(Caller("k", cubes=(trip.id,))):
        memory.cubes.share(trip.id, "bob", user="ann")
        with pytest.raises(AccessError, match="cannot make others"):
            memory.cubes.create("third", user="ann")
        with pytest.raises(NotFoundError):
            memory.cubes.share(other.id, "bob", user="ann")
    with acting(Caller("k", powers=frozenset({Power.READ}))):
        assert memory.cubes.members(trip.id, user="bob")
        with pytest.raises(AccessError):
            memory.cubes.unshare(trip.id, "bob", user="bob")
