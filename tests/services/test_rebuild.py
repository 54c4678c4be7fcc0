"""Deriving a cube again from its messages gives the same memory, and nothing that was forgotten or changed by hand."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

from mnemic import Memory
from mnemic.importing.locomo import conversations
from mnemic.model.memory import Memory as Record
from tests.services.opened import open_memory, talk

Known = set[tuple[str, str, str, tuple[tuple[str, str, str | None, int], ...]]]

pytestmark = pytest.mark.usefixtures("engine")


def known(memory: Memory) -> Known:
    """Return what is known, without ids: subject, attribute, key, and the versions with their validity."""
    return {
        (
            each.subject,
            each.attribute,
            each.value_key,
            tuple(
                (v.text, v.valid_from.isoformat(), v.valid_to.isoformat() if v.valid_to else None, v.polarity)
                for v in each.versions
            ),
        )
        for each in memory.list(user="ann", kinds=["fact", "preference", "event"], limit=1_000)
        if isinstance(each, Record)
    }


def test_the_demo_conversation_is_derived_again_as_it_was(tmp_path: Path) -> None:
    data = json.loads(resources.files("mnemic").joinpath("data", "demo.json").read_text("utf-8"))
    with open_memory(tmp_path) as memory:
        for name, _, messages in conversations(data)[0].sessions:
            memory.add(messages, user="ann", session=name, wait=True)
        before, pages = known(memory), memory.stats(user="ann")
        memory.rebuild(user="ann", wait=True)
        after = memory.stats(user="ann")
        assert len(before) > 40
        assert known(memory) == before
        assert (after.messages, after.pages, after.short_term) == (pages.messages, pages.pages, pages.short_term)
        assert sum(warm.segment.pages for warm in after.segments) == sum(warm.segment.pages for warm in pages.segments)
        assert all(
            well or what == "durability" for what, well, _ in memory.check()
        )  # no server of tests waits for disks


def test_what_was_changed_by_hand_stays_and_what_was_forgotten_stays_forgotten(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, [("Ann", "I live in Leeds."), ("Ann", "I love coffee."), ("Ann", "I have two cats, Bo and Fay.")])
        memory.jobs.wait(user="ann")
        home = memory.search("Where does Ann live?", user="ann", kinds="fact")[0]
        memory.update(home.id, "Ann lives in Hull.", user="ann")
        coffee = memory.search("coffee", user="ann", kinds="preference")[0]
        memory.forget(coffee.id, user="ann")
        memory.rebuild(user="ann", wait=True)
        assert memory.search("Where does Ann live?", user="ann", kinds="fact")[0].text == "Ann lives in Hull."
        assert not memory.search("coffee", user="ann", kinds="preference")
        assert memory.search("coffee", user="ann", kinds="message")[0].text == "I love coffee."
        assert {hit.text for hit in memory.search("cats", user="ann", kinds="fact", limit=3)} >= {
            "Ann has a cat named Bo.",
            "Ann has a cat named Fay.",
        }


def test_a_user_with_nothing_has_nothing_to_rebuild(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        assert memory.rebuild(user="nobody", wait=True) is None
