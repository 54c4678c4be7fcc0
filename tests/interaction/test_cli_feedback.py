"""Feedback, changes, undo and profile edits as people and programs type them."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from tests.interaction.terminal import Terminal, lived


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a memory in which ann lived in Leeds, and then moved to Porto."""
    return lived(tmp_path_factory.mktemp("model"))


@pytest.fixture
def terminal(tmp_path: Path, model: Path) -> Terminal:
    """A copy of that memory, to be changed."""
    copytree(model, tmp_path / "memory")
    return Terminal(tmp_path / "memory")


def test_feedback_shows_each_step_and_how_to_take_it_back(terminal: Terminal) -> None:
    plan = terminal.type("feedback", "rename", "Rex", "to", "Max", "--dry-run")
    assert (
        plan.code == 0 and "would change 1 memory" in plan.out and "named Rex" in plan.out and "named Max" in plan.out
    )
    assert terminal.type("changes").code == 1, "a dry run changes nothing"
    done = terminal.type("feedback", "-", stdin="rename Rex to Max\n")
    assert done.code == 0 and "changed 1 memory" in done.out and "mnemic undo" in done.out
    assert "Max" in terminal.type("profile").out
    listed = terminal.type("changes")
    assert listed.code == 0 and "rename Rex to Max" in listed.out
    back = terminal.type("undo")
    assert back.code == 0 and "took back 1 memory" in back.out
    assert "Rex" in terminal.type("profile").out and "Max" not in terminal.type("profile").out
    assert "taken back" in terminal.type("changes").out
    again = terminal.type("undo")
    assert again.code == 1 and "no change to take back" in again.err


def test_feedback_speaks_json(terminal: Terminal) -> None:
    given = terminal.json("feedback", "forget the dog thing")
    assert given["applied"] and given["steps"][0]["action"] == "remove" and given["mode"] == "rules"
    assert terminal.json("changes")[0]["id"] == given["change"]
    undone = terminal.json("undo", given["change"])
    assert undone["change"]["undone_at"] and undone["left"] == []
    twice = terminal.type("undo", given["change"], "--json")
    assert twice.code == 2 and twice.json["error"]["code"] == "conflict"


def test_feedback_that_is_not_understood_ends_with_nothing_and_names_what_is_near(terminal: Terminal) -> None:
    said = terminal.type("feedback", "something", "about", "the", "dog")
    assert said.code == 1 and "not understood" in said.out and "Rex" in said.out
    assert terminal.type("feedback", " ").code == 2
    assert terminal.type("feedback", "forget the dog", "--mode", "model").code == 2
    assert terminal.type("undo", "nothing").code == 1


def test_a_locked_memory_is_named_as_left_out(terminal: Terminal) -> None:
    assert terminal.type("profile", "--lock", "home.place").code == 0
    said = terminal.type("feedback", "I live in Rome now")
    assert said.code == 1 and "left out" in said.out and "locked" in said.out
    assert terminal.type("profile", "--unlock", "home.place").code == 0
    assert terminal.type("feedback", "I live in Rome now").code == 0


def test_a_profile_is_edited_by_attribute_and_shown_by_template(terminal: Terminal) -> None:
    shown = terminal.type("profile", "--set", "home.place=Oslo", "--set", "work.job=nurse", "--template", "customer")
    assert shown.code == 0 and "Oslo" in shown.out and "nurse" in shown.out and "missing: identity.name" in shown.out
    assert "Rex" not in shown.out, "pets are not in that template"
    found = terminal.json("profile", "--template", "customer")
    assert "identity.name" in found["missing"]
    assert terminal.type("profile", "--remove", "work.job").code == 0
    assert "nurse" not in terminal.type("profile").out
    wrong = terminal.type("profile", "--set", "home.city=Oslo")
    assert wrong.code == 2 and "home.place" in wrong.err
    assert terminal.type("profile", "--set", "home.place").code == 2
    assert terminal.type("profile", "--template", "nothing").code == 2
