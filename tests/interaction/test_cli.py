"""Commands as people and programs type them: what is printed where, and how each ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest

from mnemic.shells.cli.commands import COMMANDS
from mnemic.shells.cli.main import hoisted
from tests.interaction.terminal import Terminal, lived


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path / "memory")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a memory in which ann lived in Leeds, and then moved to Porto."""
    return lived(tmp_path_factory.mktemp("model"))


@pytest.fixture
def moved(terminal: Terminal, model: Path) -> Terminal:
    """A copy of that memory, to be changed."""
    copytree(model, terminal.home)
    return terminal


def place_id(terminal: Terminal) -> str:
    facts = terminal.json("list", "--kind", "fact")
    return str(next(fact["id"] for fact in facts if fact["attribute"] == "home.place"))


def test_what_is_added_is_found_and_shown_with_speaker_and_date(terminal: Terminal) -> None:
    said = terminal.type("add", "I left the blue umbrella in the tram.", "--at", "2025-03-02T08:00Z", "--name", "Bo")
    assert said.code == 0 and "stored 1 message" in said.out
    found = terminal.type("search", "blue", "umbrella")
    assert found.code == 0
    assert "2 Mar 2025" in found.out and "Bo" in found.out and "blue umbrella in the tram" in found.out


def test_json_is_one_document_and_all_that_is_on_stdout(terminal: Terminal) -> None:
    receipt = terminal.json("add", "I play the cello.", "--at", "2025-03-02T08:00")
    assert receipt["stored"] == 1 and len(receipt["message_ids"]) == 1
    hit = terminal.json("search", "cello", "--explain")["hits"][0]
    assert hit["text"] == "I play the cello." or hit["sources"]
    assert hit["said_at"] == "2025-03-02T08:00:00+00:00"
    assert hit["why"]["channels"]


def test_global_options_stand_before_or_after_the_command(terminal: Terminal) -> None:
    terminal.type("add", "The kettle is red.")
    assert terminal.type("--json", "search", "kettle").json == terminal.type("search", "kettle", "--json").json
    assert hoisted(["search", "x", "--user", "bo", "--json"]) == ["--user", "bo", "--json", "search", "x"]
    assert hoisted(["add", "--", "--json"]) == ["add", "--", "--json"]
    assert hoisted(["search", "x", "--home"]) == ["search", "x", "--home"]


def test_one_user_does_not_see_what_another_said(terminal: Terminal) -> None:
    terminal.type("add", "My locker code is 7391.")
    said = Terminal(terminal.home, user="eve").type("search", "locker code", "--json")
    assert said.code == 1 and said.json["hits"] == []


def test_stdin_is_one_message_or_one_for_each_line(terminal: Terminal) -> None:
    assert terminal.json("add", "-", stdin="first line\nsecond line\n")["stored"] == 1
    assert terminal.json("add", "-", "--lines", stdin="a walk\n\na swim\n")["stored"] == 2
    assert terminal.json("search", "-", stdin="swim\n")["hits"]
    assert terminal.json("context", "-", stdin="walk\n")["tokens"] > 0


def test_metadata_and_own_ids_come_back_with_hits(terminal: Terminal) -> None:
    terminal.type("add", "Ordered 40 tiles.", "--id", "m-7", "--meta", "project=bath", "--meta", "by=mail")
    hit = terminal.json("search", "tiles", "--kind", "message")["hits"][0]
    assert hit["external_id"] == "m-7" and hit["metadata"] == {"project": "bath", "by": "mail"}


def test_the_same_id_again_is_skipped_and_other_words_under_it_are_refused(terminal: Terminal) -> None:
    terminal.type("add", "Ordered 40 tiles.", "--id", "m-7")
    again = terminal.type("add", "Ordered 40 tiles.", "--id", "m-7")
    assert again.code == 0 and "skipped message 1: stored already" in again.out
    assert terminal.type("add", "Ordered 50 tiles.", "--id", "m-7").code == 2


def test_a_question_is_answered_with_its_source(moved: Terminal) -> None:
    said = moved.type("ask", "Where", "do", "I", "live", "now?")
    assert said.code == 0 and "Porto" in said.out and "1 Jun 2025" in said.out and "extractive" in said.out
    assert moved.json("ask", "What is the name of my dog?")["citations"]


def test_what_is_not_in_memory_ends_with_1(moved: Terminal) -> None:
    said = moved.type("ask", "Who won the chess tournament in Reykjavik?")
    assert said.code == 1 and "not in memory" in said.out.lower()
    assert moved.type("ask", "Who won the chess tournament in Reykjavik?", "--json").json["found"] is False


def test_a_profile_shows_what_held_before(moved: Terminal) -> None:
    said = moved.type("profile")
    assert "Porto" in said.out and "before: Leeds" in said.out and "since 1 Jun 2025" in said.out
    assert "I live in Porto now." in moved.type("profile", "ann", "--evidence").out
    past = moved.json("profile", "--as-of", "2025-02-01")
    assert [entry["value"] for entry in past["entries"] if entry["attribute"] == "home.place"] == ["Leeds"]


def test_lists_are_paged(moved: Terminal) -> None:
    first = moved.json("list", "--kind", "message", "-n", "2")
    rest = moved.json("list", "--kind", "message", "--after", first[-1]["id"])
    assert [item["text"] for item in first + rest] == [
        "I live in Leeds.", "I have a dog named Rex.", "I live in Porto now.",
    ]  # fmt: skip
    said = moved.type("list", "--session", "s1", "-n", "1")
    assert "I live in Leeds." in said.out and "--after" in said.err


def test_one_item_is_shown_whole(moved: Terminal) -> None:
    message = moved.json("list", "--kind", "message")[0]["id"]
    said = moved.type("show", message)
    assert said.code == 0 and "what was learned from it" in said.out and "s1" in said.out
    memory = moved.type("show", place_id(moved))
    assert "stands on" in memory.out and "home.place" in memory.out


def test_a_history_has_all_versions(moved: Terminal) -> None:
    versions = moved.json("history", place_id(moved))
    assert [version["value"] for version in versions] == ["Leeds", "Porto"]
    said = moved.type("history", place_id(moved))
    assert "superseded" in said.out or "added" in said.out


def test_a_memory_is_corrected_locked_and_restored(moved: Terminal) -> None:
    memory = place_id(moved)
    assert moved.type("update", memory, "ann lives in Vila Nova de Gaia.").code == 0
    assert moved.json("show", memory)["item"]["versions"][-1]["change"] == "edited"
    assert moved.json("lock", memory)["locked"] is True
    assert "unlocked" in moved.type("lock", memory, "--off").out
    assert moved.type("restore", memory, "--version", "1").code == 0
    assert moved.json("history", memory)[-1]["change"] == "restored"


def test_forgetting_removes_and_says_how_much(moved: Terminal) -> None:
    message = next(item["id"] for item in moved.json("list", "--kind", "message") if "Rex" in item["text"])
    assert moved.json("forget", message)["removed"]["message"] == 1
    assert "Rex" not in moved.type("list").out
    assert moved.type("forget", "--session", "s2").code == 0
    assert moved.type("forget", "--everything").code == 2
    assert moved.type("forget", "--everything", "--yes").code == 0
    assert moved.json("list") == []
    assert moved.type("forget", "--about", "zebra", "--yes").code == 1


def test_stats_sessions_and_jobs_are_shown(moved: Terminal) -> None:
    stats = moved.json("stats")
    assert stats["messages"] == 3 and stats["sessions"] == 2 and stats["memories"]
    assert "long-term" in moved.type("stats").out
    assert [session["name"] for session in moved.json("sessions")] == ["s1", "s2"]
    assert "s1" in moved.type("sessions").out
    assert {job["state"] for job in moved.json("jobs", "list")} == {"done"}
    assert "organize" in moved.type("jobs", "list").out
    assert moved.type("jobs", "wait").code == 0
    assert moved.json("jobs", "list", "--open") == []


def test_cubes_are_made_filled_and_deleted(terminal: Terminal) -> None:
    cube = terminal.json("cubes", "create", "garden")["id"]
    terminal.type("add", "The pear tree needs pruning.", "--cube", cube)
    assert terminal.json("search", "pear", "--cube", cube)["hits"]
    assert terminal.type("search", "pear").code == 1
    assert "garden" in terminal.type("cubes", "list").out
    assert terminal.type("cubes", "delete", cube).code == 2
    assert terminal.type("cubes", "delete", cube, "--yes").code == 0
    assert cube not in {one["id"] for one in terminal.json("cubes", "list")}


def test_a_doctor_finds_a_healthy_memory_healthy(moved: Terminal) -> None:
    report = moved.json("doctor")
    assert report["ok"] is True
    assert {"Python", "SQLite", "folder", "free disk", "embedder"} <= {check["name"] for check in report["checks"]}
    assert "wrong" not in moved.type("doctor").out


def test_a_doctor_names_what_is_wrong(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    said = Terminal(blocked / "memory").type("doctor")
    assert said.code == 4 and "wrong" in said.out and "--home" in said.out


def test_reindexing_a_current_memory_computes_nothing(moved: Terminal) -> None:
    assert moved.json("reindex") == {"vectors": 0}


def test_versions_and_help_need_no_memory(terminal: Terminal) -> None:
    assert terminal.json("version")["version"]
    said = terminal.type("--help")
    assert said.code == 0 and all(name in said.out for name in COMMANDS)
    assert not terminal.home.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_opens_with_its_line(command: str, terminal: Terminal) -> None:
    said = terminal.type(command, "--help")
    assert said.code == 0 and "Usage:" in said.out
    assert not terminal.home.exists()


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom mnemic.shells.cli.main import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(*[name for name in ('numpy', 'sqlalchemy', 'onnxruntime', 'rich', 'mnemic.api') if name in sys.modules],"
        " file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.split() == []


def test_quiet_keeps_results_and_drops_confirmations(terminal: Terminal) -> None:
    said = terminal.type("add", "The kettle is red.", "--at", "2025-01-01T00:00", "--quiet")
    assert (said.code, said.out, said.err) == (0, "", "")
    assert "kettle" in terminal.type("search", "kettle", "--quiet").out


def test_rebuilding_derives_the_same_and_says_what_it_did(moved: Terminal) -> None:
    before = moved.json("list", "--kind", "memory")
    assert before
    assert moved.json("rebuild")["job"]
    after = moved.json("list", "--kind", "memory")
    assert sorted(str(each["attribute"]) for each in after) == sorted(str(each["attribute"]) for each in before)
