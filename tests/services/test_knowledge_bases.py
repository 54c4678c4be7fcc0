"""Knowledge bases: made, described, bound to users, agents and projects, and erased with all that is in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import AccessError, ConflictError, InputError, NotFoundError
from mnemic.api import acting
from mnemic.model.caller import Caller, Power
from mnemic.model.document import DocumentState
from mnemic.model.scope import Member, Role
from tests.services.shelved import GUIDE, Shelf, shelf_in

pytestmark = pytest.mark.usefixtures("engine")

ALL = frozenset(Power)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with shelf_in(tmp_path) as found:
        yield found


def of_project(project: str) -> Caller:
    return Caller(key="k", project=project, powers=ALL)


def test_who_makes_one_owns_it_and_searches_look_in_it(shelf: Shelf) -> None:
    made = shelf.memory.knowledge.create("manuals", user="bob", description="How things work.", learns=True)
    assert (made.cube.name, made.cube.owner, made.role, made.bound) == ("manuals", "bob", Role.OWNER, True)
    assert (made.description, made.learns, made.documents, made.chunks, made.size) == (
        "How things work.",
        True,
        0,
        0,
        0,
    )
    assert shelf.memory.knowledge.list(user="bob") == [made]
    assert made not in shelf.memory.knowledge.list(user="ann")
    with pytest.raises(ConflictError):
        shelf.memory.knowledge.create("manuals", user="bob")


def test_it_says_what_is_in_it(shelf: Shelf) -> None:
    shelf.add(GUIDE)
    shelf.add("BROKEN", "broken.txt")
    shelf.add("Later.", "later.txt", wait=False)
    base = shelf.memory.knowledge.list(user="ann")[0]
    assert (base.documents, base.chunks, base.size) == (3, 4, len(GUIDE))
    assert base.states == {DocumentState.READY: 1, DocumentState.FAILED: 1, DocumentState.QUEUED: 1}


def test_it_is_renamed_and_described_otherwise(shelf: Shelf) -> None:
    changed = shelf.memory.knowledge.update(shelf.cube, user="ann", name="harbour", learns=True)
    assert (changed.cube.name, changed.description, changed.learns) == ("harbour", "manuals", True)
    assert shelf.memory.knowledge.list(user="ann") == [changed]
    shelf.memory.knowledge.create("other", user="ann")
    with pytest.raises(ConflictError):
        shelf.memory.knowledge.update(shelf.cube, user="ann", name="other")
    for field, given in (("name", " "), ("description", 7), ("description", "x" * 4_001), ("learns", "yes")):
        with pytest.raises(InputError) as refused:
            shelf.memory.knowledge.update(shelf.cube, user="ann", **{field: given})  # type: ignore[arg-type]
        assert refused.value.field == field


def test_binding_gives_a_role_and_unbinding_leaves_it(shelf: Shelf) -> None:
    with pytest.raises(NotFoundError):
        shelf.memory.knowledge.documents(shelf.cube, user="bob")
    assert shelf.memory.knowledge.bind(shelf.cube, "bob", user="ann") == Member("bob", Role.READER)
    assert [(each.role, each.bound) for each in shelf.memory.knowledge.list(user="bob")] == [(Role.READER, True)]
    assert shelf.memory.knowledge.bind(shelf.cube, "bob", user="ann", role="editor") == Member("bob", Role.EDITOR)
    assert shelf.memory.knowledge.bind(shelf.cube, "bob", user="ann") == Member("bob", Role.EDITOR), (
        "none is taken away"
    )
    assert shelf.memory.knowledge.unbind(shelf.cube, user="bob") == Member("bob", Role.EDITOR)
    assert [(each.role, each.bound) for each in shelf.memory.knowledge.list(user="bob")] == [(Role.EDITOR, False)]
    assert shelf.memory.knowledge.bind(shelf.cube, user="bob").role is Role.EDITOR, "who has a role may bind themselves"
    with pytest.raises(AccessError):
        shelf.memory.knowledge.bind(shelf.cube, "eve", user="bob")
    with pytest.raises(NotFoundError):
        shelf.memory.knowledge.unbind(shelf.cube, "eve", user="ann")
    with pytest.raises(InputError, match="no role to be bound with"):
        shelf.memory.knowledge.bind(shelf.cube, "eve", user="ann", role="owner")


def test_a_stranger_binds_nothing(shelf: Shelf) -> None:
    for call in (shelf.memory.knowledge.bind, shelf.memory.knowledge.unbind):
        with pytest.raises(NotFoundError):
            call(shelf.cube, user="eve")


def test_a_project_stands_for_all_of_its_users(shelf: Shelf) -> None:
    shelf.memory.knowledge.bind(shelf.cube, "project:harbour", user="ann")
    with acting(of_project("harbour")):
        assert [each.bound for each in shelf.memory.knowledge.list(user="anybody")] == [True]
    with acting(of_project("railway")):
        assert shelf.memory.knowledge.list(user="anybody") == []
    shown = {member.principal for member in shelf.memory.cubes.members(shelf.cube, user="ann")}
    assert "ann" in shown
    assert shelf.memory.knowledge.unbind(shelf.cube, "project:harbour", user="ann").principal == "project:harbour"
    with acting(of_project("harbour")):
        assert [each.bound for each in shelf.memory.knowledge.list(user="anybody")] == [False]


def test_a_key_of_a_project_binds_no_other_project(shelf: Shelf) -> None:
    with acting(of_project("harbour")):
        mine = shelf.memory.knowledge.create("mine", user="ann").cube.id
        assert shelf.memory.knowledge.bind(mine, "project:harbour", user="ann").principal == "project:harbour"
        with pytest.raises(AccessError, match="railway"):
            shelf.memory.knowledge.bind(mine, "project:railway", user="ann")


def test_erasing_one_erases_its_documents_and_files(shelf: Shelf, tmp_path: Path) -> None:
    shelf.add("# Xyzzy\n\nThe word is plugh.")
    receipt = shelf.memory.knowledge.delete(shelf.cube, user="ann")
    assert receipt.removed["document"] == 1
    assert shelf.memory.knowledge.list(user="ann") == []
    assert not any(b"plugh" in path.read_bytes() for path in (tmp_path / "memory").rglob("*") if path.is_file())


def test_only_knowledge_bases_are_erased_as_such(shelf: Shelf) -> None:
    trip = shelf.memory.cubes.create("trip", user="ann")
    with pytest.raises(InputError, match="is no knowledge base"):
        shelf.memory.knowledge.delete(trip.id, user="ann")
    assert trip in shelf.memory.cubes.list(user="ann")
