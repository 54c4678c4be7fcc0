"""How commands fail: one line on stderr, an exit code that scripts can rely on, and nothing half done."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import errors
from mnemic.errors import InputError, InputFaults, MnemicError
from mnemic.shells.cli.exits import EXIT_CODES, HINTS, exit_code, hint
from mnemic.shells.cli.face import login_name
from mnemic.shells.cli.wording import bar, excerpt, one_line, shown, size, took
from mnemic.testing.model_says import fails
from mnemic.testing.model_server import ModelServer
from mnemic.wire.problems import plain_error
from tests.interaction.terminal import Terminal

RUN = "from mnemic.shells.cli.main import run; run()"
KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, MnemicError)]


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path / "memory")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A memory with one message, which nothing that fails may change."""
    terminal = Terminal(tmp_path_factory.mktemp("filled"))
    terminal.type("add", "A first message.")
    return terminal


def below(kind: type[MnemicError]) -> Iterator[type[MnemicError]]:
    for child in kind.__subclasses__():
        yield child
        yield from below(child)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not MnemicError])
def test_every_error_of_the_tree_has_an_exit_code_from_the_table(kind: type[MnemicError]) -> None:
    assert any(parent in EXIT_CODES for parent in kind.__mro__)


def test_the_table_names_only_errors_of_the_tree_and_no_success() -> None:
    assert set(EXIT_CODES) <= set(KINDS) and set(HINTS) <= set(KINDS)
    assert set(below(MnemicError)) >= set(EXIT_CODES)
    assert set(EXIT_CODES.values()) == {1, 2, 3, 4, 5, 6}


def test_a_hint_is_left_out_when_the_message_says_it() -> None:
    told = errors.StoreModelError("made by another embedder; run `mnemic reindex`")
    assert hint(told) is None and exit_code(told) == 4
    assert "mnemic reindex" in str(hint(errors.StoreModelError("made by another embedder")))
    assert hint(InputError("x", "is empty")) is None


def test_a_message_that_names_a_command_gets_no_other_one_as_a_hint(filled: Terminal) -> None:
    said = filled.type("undo")
    assert said.code == 1 and "`mnemic changes`" in said.err
    assert "hint" not in said.err


@pytest.mark.parametrize("debug", [False, True])
def test_a_job_that_failed_is_told_in_a_note_and_the_log_is_for_debug(tmp_path: Path, *, debug: bool) -> None:
    with ModelServer(default=fails(401, "no such key.")) as server:
        settings = {
            "MNEMIC_HOME": str(tmp_path), "MNEMIC_EMBEDDER": "hashing",
            "MNEMIC_LLM_BASE_URL": server.url, "MNEMIC_LLM_MODEL": "some-model",
        }  # fmt: skip
        said = subprocess.run(  # only in a process of its own is nothing set up to take the log
            [sys.executable, "-c", RUN, "add", "My dog is called Rex.", *(["--debug"] if debug else [])],
            env=os.environ | settings,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert said.returncode == 0 and said.stdout.startswith("stored 1 message")
    told = " ".join(said.stderr.split())
    assert "1 job will not be finished" in told and "no such key; check the API key" in told
    assert "Traceback" not in told
    if debug:
        assert "WARNING mnemic.runtime.worker job_failed" in told and "kind='refine'" in told
    else:
        assert told.startswith("note: ") and "job_failed" not in told and "model_call_failed" not in told
    listed = Terminal(tmp_path, user=login_name()).type("jobs", "list").out
    assert "Traceback" not in listed and "check the API key" in " ".join(listed.split())


def test_faults_keep_their_fields_in_json() -> None:
    told = plain_error(InputFaults("messages", [InputError("messages[0].role", "is not known", known=["user"])]))
    assert told["code"] == "invalid_input" and told["field"] == "messages"
    assert told["faults"][0]["field"] == "messages[0].role" and told["faults"][0]["known"] == ["user"]


@pytest.mark.parametrize(
    "words, code, says",
    [
        (["show", "no-such-id"], 1, "no-such-id"),
        (["history", "no-such-id"], 1, "no-such-id"),
        (["search", "x", "--cube", "no-such-cube"], 1, "no-such-cube"),
        (["search", "x", "--where", "{"], 2, "where"),
        (["search", "x", "--where", "[1]"], 2, "where"),
        (["search", "x", "--where", '{"colour": "red"}'], 2, "colour"),
        (["search", "x", "-n", "0"], 2, "limit"),
        (["search", "x", "--kind", "rumour"], 2, "rumour"),
        (["search", "x", "--as-of", "yesterday-ish"], 2, "as_of"),
        (["add", "x", "--at", "14 March"], 2, "at"),
        (["add", "x", "--role", "narrator"], 2, "role"),
        (["add", "x", "--meta", "novalue"], 2, "meta"),
        (["add", "x", "y", "--id", "1"], 2, "id"),
        (["add", "x", "--lines"], 2, "lines"),
        (["add", "x", "--user", " "], 2, "user"),
        (["list", "-n", "0"], 2, "limit"),
        (["forget"], 2, "everything"),
        (["cubes", "create", " "], 2, "name"),
        (["import", "no-such-file.json"], 2, "no-such-file.json"),
        (["demo", "--data", "no-such-file.json"], 2, "no-such-file.json"),
        (["demo", "--conversation", "no-such"], 1, "no-such"),
        (["demo", "--html", "no-such-folder/x.html"], 2, "no-such-folder"),
    ],
)  # fmt: skip
def test_bad_input_is_one_red_line_and_an_exit_code(words: list[str], code: int, says: str, filled: Terminal) -> None:
    said = filled.type(*words)
    first = said.err.splitlines()[0] if said.err else ""
    assert said.code == code and first.startswith("error: ") and said.out == ""
    assert says in first
    assert "Traceback" not in said.err
    told = filled.type(*words, "--json")
    assert told.code == code and says in told.json["error"]["message"]


def test_what_failed_changed_nothing(filled: Terminal) -> None:
    assert [item["text"] for item in filled.json("list", "--kind", "message")] == ["A first message."]


@pytest.mark.parametrize("words", [["nonsense"], ["search"], ["search", "x", "--nonsense"], ["jobs", "nonsense"], []])
def test_wrong_usage_ends_with_2(words: list[str], terminal: Terminal) -> None:
    said = terminal.type(*words)
    assert said.code == 2 and "Usage:" in said.err + said.out


def test_an_empty_message_is_skipped_and_an_empty_question_refused(terminal: Terminal) -> None:
    assert terminal.json("add", "-", stdin="\n")["skipped"][0]["reason"].startswith("empty")
    assert terminal.type("ask", "-", stdin=" \n").code == 2
    assert terminal.type("search", " ").code == 2


def test_debug_lets_the_error_through(terminal: Terminal) -> None:
    with pytest.raises(InputError):
        terminal.type("search", "x", "--where", "{", "--debug")


def test_a_damaged_store_ends_with_4(terminal: Terminal) -> None:
    terminal.type("add", "A first message.")
    for file in terminal.home.glob("*.db*"):
        file.write_bytes(b"this is no database, and it is long enough to be read as one" * 100)
    said = terminal.type("search", "first")
    assert said.code == 4 and said.err.startswith("error: ") and "mnemic doctor" in said.err
    assert terminal.type("doctor").code == 4


def test_an_unknown_setting_in_the_file_names_it(terminal: Terminal) -> None:
    terminal.home.mkdir()
    (terminal.home / "mnemic.toml").write_text("colour = 'red'\n")
    assert "colour" in terminal.type("stats").err
    said = terminal.type("doctor")
    assert said.code == 2 and "colour" in said.out


def test_an_unknown_embedder_is_told_by_the_doctor(terminal: Terminal) -> None:
    terminal.home.mkdir()
    (terminal.home / "mnemic.toml").write_text("timezone = 'Nowhere/Land'\n")
    assert "timezone" in terminal.type("doctor").out


def test_control_characters_never_reach_the_terminal(terminal: Terminal) -> None:
    terminal.type("add", "red \x1b[31malert\x07 \u202eesrever [bold]markup[/bold]")
    said = terminal.type("search", "alert")
    assert said.code == 0 and "[bold]markup[/bold]" in said.out
    assert not {"\x1b", "\x07", "\u202e"} & set(said.out)


def test_words_and_figures_are_shown_plainly() -> None:
    assert shown("a\x00b\ud800") == "a\ufffdb\ufffd"
    assert one_line("one  two\nthree", 8) == "one two\u2026"
    assert (took(0.0032), took(0.25), took(1.44), took(125)) == ("3.2 ms", "250 ms", "1.4 s", "2 min 5 s")
    assert (size(12), size(1_500), size(2_500_000)) == ("12 B", "1.5 kB", "2.5 MB")
    assert bar(0.5, 4) == "\u2588\u2588  " and bar(2, 2) == "\u2588\u2588" and bar(-1, 2) == "  "
    long = "word " * 40 + "needle here " + "word " * 40
    assert "needle" in excerpt(long, 60, "the needle") and len(excerpt(long, 60, "the needle")) <= 61
    assert excerpt(long, 60).startswith("word word")
