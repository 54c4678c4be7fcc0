from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.api import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.config import Settings
from mnemic.core.extraction.attributes import ATTRIBUTES
from mnemic.core.profile_words import sentence_of
from mnemic.core.templates import BUILT_IN, check_template
from mnemic.errors import AccessError, ConflictError, InputError, NotFoundError
from tests.databases import address_of
from tests.services.opened import Clock, open_memory, talk
from tests.services.test_forget import grant, memories

pytestmark = pytest.mark.usefixtures("engine")

TALK = [("ann", "I live in Paris."), ("bot", "How is it?"), ("ann", "I work as a nurse."), ("bot", "Good."),
        ("ann", "I like jazz."), ("bot", "Me too."), ("ann", "My sister is called Nora.")]  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        talk(opened, TALK)
        opened.jobs.wait(user="ann")
        yield opened


def values(memory: Memory, attribute: str, **options: Any) -> list[str]:
    return sorted(each.value for each in memory.profile(user="ann", **options) if each.attribute == attribute)


def test_an_attribute_is_set_by_name_where_there_was_one_and_where_there_was_none(memory: Memory) -> None:
    [home] = memory.set_profile("home.place", "Porto", user="ann")
    assert (home.current.text, home.subject, values(memory, "home.place")) == ("ann lives in Porto.", "ann", ["Porto"])
    assert [version.value for version in home.versions] == ["Paris", "Porto"]
    [allergy] = memory.set_profile("health.allergy", "walnuts", user="ann")
    assert (allergy.current.text, allergy.current.sources) == ("ann is allergic to walnuts.", ())
    memory.set_profile("preference.favourite.colour", "teal", user="ann")
    memory.set_profile("home.place", "Lyon", user="ann", subject="Nora")
    assert values(memory, "preference.favourite.colour") == ["teal"]
    assert values(memory, "home.place", subject="Nora") == ["Lyon"]
    assert "walnuts" in memory.search("walnuts", user="ann", kinds="memory")[0].text
    assert "orto" in memory.ask("Where do I live?", user="ann").text
    memory.rebuild(user="ann", wait=True)
    assert values(memory, "health.allergy") == ["walnuts"] and values(memory, "home.place", subject="ann") == ["Porto"]


def test_many_values_gather_and_the_same_one_is_not_added_twice(memory: Memory) -> None:
    for value in ("tea", "Tea", "jazz"):
        memory.set_profile("preference.like", value, user="ann")
    assert values(memory, "preference.like") == ["jazz", "tea"]
    assert len(memory.changes(user="ann")) == 1


def test_taking_an_attribute_back_and_undoing_it(memory: Memory) -> None:
    memory.set_profile("preference.like", "tea", user="ann")
    memory.set_profile("preference.like", remove=True, user="ann")
    assert values(memory, "preference.like") == []
    memory.rebuild(user="ann", wait=True)
    assert values(memory, "preference.like") == []
    memory.undo(memory.changes(user="ann")[0].id, user="ann")
    assert values(memory, "preference.like") == ["jazz", "tea"]
    assert memory.set_profile("diet.kind", remove=True, user="ann") == ()


def test_edits_are_undone_like_other_changes(memory: Memory) -> None:
    before = [(each.attribute, each.value, each.since) for each in memory.profile(user="ann")]
    memory.set_profile("home.place", "Porto", user="ann")
    memory.set_profile("work.employer", "Acme", user="ann")
    for change in memory.changes(user="ann"):
        assert change.kind == "profile"
        memory.undo(change.id, user="ann")
    assert [(each.attribute, each.value, each.since) for each in memory.profile(user="ann")] == before


def test_a_locked_attribute_stays_whatever_is_said_and_its_owner_may_still_set_it(memory: Memory) -> None:
    [home] = memory.set_profile("home.place", locked=True, user="ann")
    assert home.locked
    talk(memory, [("ann", "I moved to Lisbon, I live in Lisbon now.")], session="s2", day=20)
    memory.jobs.wait(user="ann")
    assert values(memory, "home.place") == ["Paris"]
    assert not memory.feedback("I live in Rome now", user="ann").applied
    [set_by_hand] = memory.set_profile("home.place", "Porto", user="ann")
    assert set_by_hand.locked and values(memory, "home.place") == ["Porto"]
    with pytest.raises(ConflictError, match="locked"):
        memory.undo(memory.changes(user="ann")[0].id, user="ann")
    memory.set_profile("home.place", locked=False, user="ann")
    memory.undo(memory.changes(user="ann")[0].id, user="ann")
    assert values(memory, "home.place") == ["Paris"]


def test_an_attribute_without_a_value_can_be_locked_and_stays_unknown(memory: Memory) -> None:
    [nothing] = memory.set_profile("work.employer", locked=True, user="ann")
    talk(memory, [("ann", "I work at Acme.")], session="s2", day=20)
    memory.jobs.wait(user="ann")
    assert values(memory, "work.employer") == [] and nothing.id not in {each.id for each in memories(memory)}
    assert "work.employer" not in memory.profile(user="ann", template=["work.employer"]).missing
    memory.rebuild(user="ann", wait=True)
    assert values(memory, "work.employer") == []
    memory.set_profile("work.employer", locked=False, user="ann")
    talk(memory, [("ann", "I work at Apex now.")], session="s3", day=25)
    memory.jobs.wait(user="ann")
    assert values(memory, "work.employer") == ["Apex"]
    with pytest.raises(InputError, match="locked"):
        memory.set_profile("health.allergy", locked=True, user="ann")


def test_setting_and_locking_at_once(memory: Memory) -> None:
    [name] = memory.set_profile("identity.name", "Ann Lee", locked=True, user="ann")
    assert name.locked and name.current.value == "Ann Lee"


@pytest.mark.parametrize(
    "options,field,near",
    [({"attribute": "home.city"}, "attribute", "home.place"), ({"attribute": "alergy"}, "attribute", "health.allergy"),
     ({"attribute": "job"}, "attribute", "work.job"), ({"attribute": "employer"}, "attribute", "work.employer"),
     ({"attribute": ""}, "attribute", ""), ({"attribute": "relation."}, "attribute", ""),
     ({"attribute": None}, "attribute", ""), ({"attribute": 7}, "attribute", ""), ({"value": ""}, "value", ""),
     ({"value": None}, "value", ""), ({"value": 3}, "value", ""), ({"value": "x" * 601}, "value", ""),
     ({"remove": True}, "remove", ""), ({"remove": "yes", "value": None}, "remove", ""),
     ({"locked": "yes"}, "locked", ""), ({"subject": ""}, "subject", ""), ({"user": ""}, "user", "")],
)  # fmt: skip
def test_bad_edits_name_what_is_wrong_and_change_nothing(
    memory: Memory, options: dict[str, Any], field: str, near: str
) -> None:
    before = memories(memory)
    with pytest.raises(InputError, match=f"^{field}") as raised:
        memory.set_profile(**{"attribute": "home.place", "value": "Porto", "user": "ann", **options})
    assert near in str(raised.value)
    assert memories(memory) == before


def test_profiles_of_others_are_not_edited(memory: Memory) -> None:
    cube = memory.cubes.create("family", user="ann")
    grant(memory, cube.key, "eve", "reader")
    with pytest.raises(NotFoundError):
        memory.set_profile("home.place", "Rome", user="bob", cube=cube.id)
    with pytest.raises(AccessError):
        memory.set_profile("home.place", "Rome", user="eve", cube=cube.id)
    memory.set_profile("home.place", "Rome", user="bob")
    assert values(memory, "home.place") == ["Paris"]
    assert [each.value for each in memory.profile(user="bob")] == ["Rome"]


def test_a_template_shows_its_attributes_in_its_order_and_names_the_missing(memory: Memory) -> None:
    wanted = ["preference.*", "work.job", "health.allergy", "home.place", "relation.*", "tie.*"]
    found = memory.profile(user="ann", template=wanted)
    assert [entry.attribute for entry in found] == ["preference.like", "work.job", "home.place", "relation.sister"]
    assert found.missing == ("health.allergy", "tie.*")
    person = memory.profile(user="ann", template="person")
    assert {"home.place", "work.job"} <= {entry.attribute for entry in person} and "identity.age" in person.missing
    assert memory.profile(user="nobody", template="person").missing == BUILT_IN["person"]
    early = memory.profile(user="ann", template=["home.place"], as_of=datetime(2020, 1, 1, tzinfo=UTC))
    assert early.missing == ("home.place",)
    assert memory.profile(user="ann").missing == ()


def test_templates_of_ones_own_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "templates.toml"
    file.write_text('patient = ["health.allergy", "health.*"]\nperson = ["home.place"]\n', "utf-8")
    home = tmp_path / "home"

    def opened() -> Memory:
        options = Settings(home=str(home), database_url=address_of(home), worker=False, profile_templates=str(file))
        return Memory(settings=options, embedder=HashingEmbedder(64), clock=Clock())

    with opened() as memory:
        memory.set_profile("health.allergy", "walnuts", user="ann")
        assert memory.profile(user="ann", template="patient").entries[0].value == "walnuts"
        assert memory.profile(user="ann", template="person").missing == ("home.place",)
    for bad in ("patient = 3", "patient = []", "patient = [1]", "not toml", ""):
        file.write_text(bad, "utf-8")
        if bad:
            with pytest.raises(InputError, match="profile_templates"):
                opened()
    file.unlink()
    with pytest.raises(InputError, match="profile_templates"):
        opened()


@pytest.mark.parametrize("bad", ["nothing", "", [], ["home.city"], ["home.place", 3], 3, ["x.*"], ["*"], [".*"]])
def test_a_template_that_is_none_is_named(memory: Memory, bad: Any) -> None:
    with pytest.raises(InputError, match="template"):
        memory.profile(user="ann", template=bad)


def test_the_templates_that_are_built_in_name_attributes_of_the_tree() -> None:
    for name in BUILT_IN:
        assert check_template(name, {}) == BUILT_IN[name]


def test_every_attribute_can_be_said_in_a_sentence() -> None:
    for name in (*ATTRIBUTES, "relation.sister", "preference.favourite.colour", "custom.hat"):
        said = sentence_of("Ann", name, "teal.")
        assert said.startswith("Ann") and " teal" in said and said[-1] == "." and "{" not in said
    assert sentence_of("Ann", "work.job", "actor") == "Ann works as an actor."
    assert sentence_of("Ann", "work.job", "the boss") == "Ann works as the boss."
    assert sentence_of("Ann", "relation.sister", "Noor") == "Ann's sister is Noor."
