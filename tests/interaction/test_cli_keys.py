"""`mnemic keys`, `mnemic audit` and sharing cubes as people and programs type it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import Memory
from mnemic.api import acting
from mnemic.config import Settings
from mnemic.errors import KeyRefusedError
from mnemic.model.caller import Power
from tests.interaction.terminal import Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path / "memory")


def opened(terminal: Terminal) -> Memory:
    return Memory(settings=Settings(home=str(terminal.home), embedder="hashing", worker=False))


def test_a_key_is_made_used_changed_and_ended(terminal: Terminal) -> None:
    assert "no keys" in terminal.type("keys", "list").out
    made = terminal.json(
        "keys", "create", "laptop", "--for", "ann", "--for", "bob", "--may", "read", "--project", "shop",
        "--per-minute", "60", "--per-day", "900", "--days", "30",
    )  # fmt: skip
    secret = made["secret"]
    with opened(terminal) as memory:
        caller = memory.keys.caller_of(secret)
    assert (caller.users, caller.project, set(caller.powers)) == (("ann", "bob"), "shop", {Power.READ})
    listed = terminal.type("keys", "list")
    assert all(word in listed.out for word in ("laptop", "ann, bob of shop", "read", "active", made["key"]["prefix"]))
    assert secret.rpartition("_")[2] not in listed.out + listed.err
    assert terminal.json("keys", "list")[0]["id"] == made["key"]["id"]
    new = terminal.json("keys", "rotate", made["key"]["prefix"], "--overlap", "0")
    assert "revoked" in terminal.type("keys", "revoke", new["key"]["id"]).out
    with opened(terminal) as memory:
        for each in (secret, new["secret"]):
            with pytest.raises(KeyRefusedError):
                memory.keys.caller_of(each)
    assert terminal.type("keys", "drop", new["key"]["id"]).out.strip() == f"erased key {new['key']['prefix']}"
    assert "need none" in terminal.type("keys", "drop", made["key"]["id"]).out


def test_a_secret_is_shown_whole_on_a_line_of_its_own_however_narrow_the_terminal(terminal: Terminal) -> None:
    said = terminal.type("keys", "create", "a key with a name that goes on for very much longer than any line " * 2)
    [secret] = [line.strip() for line in said.out.splitlines() if line.startswith("mnk_")]
    assert "cannot be shown again" in said.out
    with opened(terminal) as memory:
        assert memory.keys.caller_of(secret).users is None


def test_what_cannot_be_is_told_and_ends_with_its_code(terminal: Terminal) -> None:
    assert terminal.type("keys", "create", "k", "--may", "everything").code == 2
    assert "no power of a key" in terminal.type("keys", "create", "k", "--may", "everything").err
    assert terminal.type("keys", "revoke", "unknown").code == 1
    made = terminal.json("keys", "create", "k")
    assert terminal.type("keys", "drop", made["key"]["id"]).code == 2
    assert terminal.type("keys", "rotate", made["key"]["id"], "--overlap", "-1").code == 2
    assert terminal.type("audit", "--limit", "0").code == 2


def test_a_cube_is_shared_and_its_members_listed(terminal: Terminal) -> None:
    cube = terminal.json("cubes", "create", "garden")["id"]
    terminal.json("add", "The roses are red.", "--cube", cube)
    bob = Terminal(terminal.home, "bob")
    assert bob.type("search", "roses", "--cube", cube).code == 1
    assert terminal.json("cubes", "share", cube, "bob") == {"principal": "bob", "role": "reader"}
    assert "roses" in bob.type("search", "roses", "--cube", cube).out
    assert bob.type("add", "They are blue.", "--cube", cube).code == 3
    assert "editor" in terminal.type("cubes", "share", cube, "bob", "editor").out
    assert bob.type("add", "They are blue.", "--cube", cube).code == 0
    told = bob.type("cubes", "members", cube).out
    assert "ann" in told and "owner" in told and "bob" in told
    assert "no editor of the cube any more" in bob.type("cubes", "unshare", cube, "bob").out
    assert bob.type("cubes", "members", cube).code == 1
    assert terminal.type("cubes", "unshare", cube, "ann").code == 2


def test_the_audit_shows_who_wrote_what(terminal: Terminal) -> None:
    assert "nothing is written down" in terminal.type("audit").out
    made = terminal.json("keys", "create", "laptop", "--for", "ann")
    with opened(terminal) as memory:
        with acting(memory.keys.caller_of(made["secret"])):
            cube = memory.add("I like tea.", user="ann").cube
        with pytest.raises(KeyRefusedError):
            memory.keys.caller_of("wrong")
    rows = terminal.json("audit")
    assert [(row["verb"], row["outcome"], row["key"]) for row in rows] == [
        ("keys.caller_of", "unauthenticated", None), ("add", "ok", made["key"]["id"])
    ]  # fmt: skip
    shown = terminal.type("audit", "--key", made["key"]["id"], "--cube", cube).out
    assert made["key"]["prefix"] in shown and "tea" not in shown
    assert terminal.json("audit", "--cube", "another") == []
