"""Moving a whole store and backing it up from the command line: what is said, to people and to programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interaction.terminal import Terminal, lived


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(lived(tmp_path))


def test_a_store_moves_to_another_folder_and_the_table_is_shown(terminal: Terminal, tmp_path: Path) -> None:
    target = tmp_path / "new"
    said = terminal.type("migrate", "--to", str(target))
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert lines[0].split() == ["table", "rows", "arrived", "hash", "hash", "there"]
    assert any(line.split()[:3] == ["message", "3", "3"] and line.endswith("same") for line in lines)
    assert f"moved {sum(int(line.split()[1]) for line in lines if line.endswith('same'))} rows of 1 cube" in said.out
    assert f"MNEMIC_HOME={target}" in "".join(said.out.split()) and "stays open" in said.out
    assert "Porto" in Terminal(target).type("search", "Where do I live?").out


def test_a_comparison_ends_as_the_stores_are(terminal: Terminal, tmp_path: Path) -> None:
    target = tmp_path / "new"
    terminal.type("migrate", "--to", str(target))
    said = terminal.type("migrate", "--to", str(target), "--check")
    assert said.code == 0 and "the same in both" in said.out
    Terminal(target).type("add", "I have a boat.")
    said = terminal.type("migrate", "--to", str(target), "--check")
    assert said.code == 4 and "differs" in said.out and "are not the same" in said.err


def test_programs_get_one_document(terminal: Terminal, tmp_path: Path) -> None:
    told = terminal.json("migrate", "--to", str(tmp_path / "new"))
    assert told["same"] and told["cubes"] == 1 and not told["closed"] and not told["resumed"]
    messages = next(each for each in told["tables"] if each["table"] == "message")
    assert messages["rows"] == messages["arrived"] == 3 and messages["hash"] == messages["arrived_hash"]
    assert told["settings"] == [f"MNEMIC_HOME={tmp_path / 'new'}"]


def test_a_final_move_closes_the_old_store_until_it_is_reopened(terminal: Terminal, tmp_path: Path) -> None:
    said = terminal.type("migrate", "--to", str(tmp_path / "new"), "--final")
    assert said.code == 0 and "the old store is closed" in said.out
    said = terminal.type("search", "Porto")
    assert said.code == 4 and f"this store was moved to {tmp_path / 'new'}" in said.err
    assert "`mnemic migrate --reopen`" in said.err
    said = terminal.type("migrate", "--reopen")
    assert said.code == 0 and "open again" in said.out
    assert "Porto" in terminal.type("search", "Porto").out
    assert "it was not closed" in terminal.type("migrate", "--reopen").out


@pytest.mark.parametrize(
    "words, told",
    [
        (["--to", "mysql://x/y"], "to: mysql:// is not known; name a folder or postgresql://"),
        ([], "to: is needed"),
        (["--to", " "], "to: is empty"),
        (["--to", "x", "--check", "--final"], "final: moves, and --check changes nothing"),
        (["--reopen", "--final"], "reopen: stands alone"),
        (["--reopen", "--to", "x"], "reopen: stands alone"),
    ],
)
def test_what_cannot_be_meant_is_told(terminal: Terminal, words: list[str], told: str) -> None:
    said = terminal.type("migrate", *words)
    assert said.code == 2 and told in said.err


def test_a_target_that_is_in_use_is_left_alone(terminal: Terminal, tmp_path: Path) -> None:
    other = lived(tmp_path / "other")
    said = terminal.type("migrate", "--to", str(other))
    assert said.code == 2 and "holds memories already" in said.err
    said = terminal.type("migrate", "--to", str(terminal.home))
    assert said.code == 2 and "is the store itself" in said.err
    said = Terminal(tmp_path / "nowhere").type("migrate", "--to", str(tmp_path / "new"))
    assert said.code == 4 and "there is no memory in" in said.err and not (tmp_path / "new").exists()


def test_backups_are_made_listed_and_moved_back(terminal: Terminal, tmp_path: Path) -> None:
    assert "no backups yet" in terminal.type("backup", "list").out
    said = terminal.type("backup")
    assert said.code == 0 and f"in {terminal.home / 'backups'}" in "".join(said.out.split("\n"))
    made = terminal.json("backup", str(tmp_path / "kept"))
    listed = terminal.json("backup", "list", str(tmp_path / "kept"))
    assert [each["path"] for each in listed] == [made["path"]] and listed[0]["rows"] == made["rows"]
    said = terminal.type("backup", "list")
    assert said.code == 0 and f"in {terminal.home / 'backups'}" in said.out
    terminal.type("forget", "--everything", "--yes")
    said = terminal.type("migrate", "--from", made["path"], "--to", str(tmp_path / "restored"))
    assert said.code == 0, said.err
    assert "Porto" in Terminal(tmp_path / "restored").type("search", "Where do I live?").out


def test_a_store_moves_to_postgres_and_back_and_no_password_is_printed(
    terminal: Terminal, postgres: str, tmp_path: Path
) -> None:
    secret = postgres.split(":")[2].partition("@")[0]
    there = terminal.type("migrate", "--to", postgres)
    compared = terminal.type("migrate", "--to", postgres, "--check", "--json")
    again = terminal.type("migrate", "--to", postgres)
    back = terminal.type("migrate", "--from", postgres, "--to", str(tmp_path / "back"), "--final")
    closed = terminal.type("migrate", "--from", postgres, "--to", str(tmp_path / "more"))
    assert [said.code for said in (there, compared, again, back, closed)] == [0, 0, 2, 0, 0]
    assert "to use it, set MNEMIC_DATABASE_URL=postgresql://USER:PASSWORD@127.0.0.1:" in there.out
    assert "the old store is closed" in back.out and f"MNEMIC_HOME={tmp_path / 'back'}" in back.out
    assert "Porto" in Terminal(tmp_path / "back").type("search", "Where do I live?").out
    for said in (there, compared, again, back, closed):
        assert secret not in said.out + said.err
    wrong = postgres.replace(secret, "wrong" + secret)
    said = terminal.type("migrate", "--to", wrong)
    assert said.code == 4 and secret not in said.out + said.err


def test_help_names_what_a_backup_can_do(terminal: Terminal) -> None:
    for words in (["backup", "--help"], ["backup", "-h"]):
        said = terminal.type(*words)
        assert said.code == 0 and "make" in said.out and "list" in said.out
    said = terminal.type("backup", str(terminal.home / "mnemic.db"))
    assert said.code == 4 and "cannot be written" in said.err
