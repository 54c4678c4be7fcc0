from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic.api import Memory
from mnemic.errors import InputError, NotFoundError
from mnemic.model.profile import Profile
from tests.services.opened import open_memory, talk

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        talk(opened, [("ann", "I live in Porto."), ("ben", "I live in Braga."), ("ann", "I work as a nurse.")], day=2)
        talk(opened, [("ann", "I moved to Lisbon, I live in Lisbon now.")], session="s2", day=20)
        opened.jobs.wait(user="ann")
        yield opened


def values(profile: Profile, attribute: str) -> list[tuple[str, str]]:
    return [(entry.subject, entry.value) for entry in profile if entry.attribute == attribute]


def test_a_profile_has_what_holds_now_with_evidence_and_history(memory: Memory) -> None:
    profile = memory.profile(user="ann", subject="Ann")
    assert values(profile, "home.place") == [("ann", "Lisbon")]
    home = next(entry for entry in profile if entry.attribute == "home.place")
    assert [version.value for version in home.history] == ["Porto"]
    assert home.evidence[0].session == "s2"
    assert profile.groups()["ann"]["work"]


def test_a_profile_answers_from_the_past(memory: Memory) -> None:
    profile = memory.profile(user="ann", subject="ann", as_of=datetime(2026, 1, 10, tzinfo=UTC))
    assert values(profile, "home.place") == [("ann", "Porto")]
    assert len(memory.profile(user="ann", as_of="2020-01-01")) == 0


def test_without_a_subject_everybody_in_the_cube_has_their_entries(memory: Memory) -> None:
    assert values(memory.profile(user="ann"), "home.place") == [("ann", "Lisbon"), ("ben", "Braga")]


def test_a_correction_and_a_lock_show_in_the_profile(memory: Memory) -> None:
    home = next(entry for entry in memory.profile(user="ann", subject="ann") if entry.attribute == "home.place")
    memory.update(home.memory_id, home.text.replace("Lisbon", "Faro"), user="ann")
    memory.lock(home.memory_id, user="ann")
    changed = next(entry for entry in memory.profile(user="ann", subject="ann") if entry.attribute == "home.place")
    assert (changed.value, changed.locked) == ("Faro", True)


def test_what_is_forgotten_is_in_no_profile(memory: Memory) -> None:
    memory.forget(user="ann", about="Lisbon")
    memory.jobs.wait(user="ann")
    profile = memory.profile(user="ann", subject="ann")
    assert values(profile, "home.place") == [("ann", "Porto")]
    assert "Lisbon" not in repr(profile)


def test_strangers_have_empty_profiles_and_bad_input_is_named(memory: Memory) -> None:
    assert len(memory.profile(user="nobody")) == 0
    assert len(memory.profile(user="ann", subject="zoe")) == 0
    with pytest.raises(InputError, match="as_of"):
        memory.profile(user="ann", as_of="yesterday")
    with pytest.raises(InputError, match="subject"):
        memory.profile(user="ann", subject="")
    with pytest.raises(NotFoundError):
        memory.profile(user="ann", cube="not mine")


def test_a_message_from_the_future_does_not_end_plans(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, [("ann", "I'm planning to learn Italian.")])
        memory.jobs.wait(user="ann")
        plans = [entry.value for entry in memory.profile(user="ann")]
        memory.add({"role": "user", "content": "Hello there.", "at": "2099-01-01T00:00:00Z"}, user="ann")
        assert plans
        assert [entry.value for entry in memory.profile(user="ann")] == plans
