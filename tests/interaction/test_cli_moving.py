"""Import and export from the command line, and chat: what goes in comes out, once, and nothing is half written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.core.answering import is_question
from mnemic.importing import detect
from mnemic.shells.cli.moving import Format
from tests.interaction.terminal import Terminal, lived

OPENAI = [{"role": "user", "content": "My bike is green."}, {"role": "assistant", "content": "Noted, a green bike."}]
CHATGPT = [
    {
        "title": "Bikes",
        "conversation_id": "c-1",
        "current_node": "b",
        "mapping": {
            "a": {"id": "a", "parent": None, "children": ["b"], "message": {
                "id": "a", "author": {"role": "user"}, "create_time": 1735725600.0,
                "content": {"content_type": "text", "parts": ["My bike is green."]}}},
            "b": {"id": "b", "parent": "a", "children": [], "message": {
                "id": "b", "author": {"role": "assistant"}, "create_time": 1735725660.0,
                "content": {"content_type": "text", "parts": ["A green bike, then."]}}},
        },
    }
]  # fmt: skip
MEMORYOS = [{"user_input": "My bike is green.", "agent_response": "Nice.", "timestamp": "2025-01-01 10:00:00"}]
LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": "My bike is green."}],
        },
        "qa": [],
    }
    for name in ("one", "two")
]
LINES = """\
{"role": "user", "content": "My bike is green.", "at": "2025-01-01T10:00:00Z", "session": "s"}
{"role": "user", "content": "My boat is blue.", "at": "2025-01-02T10:00:00Z", "session": "s"}
"""


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path / "memory")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """A memory that is only read."""
    return Terminal(lived(tmp_path_factory.mktemp("filled")))


@pytest.mark.parametrize(
    "form, data, messages",
    [
        ("openai", json.dumps(OPENAI), 2),
        ("jsonl", LINES, 2),
        ("chatgpt", json.dumps(CHATGPT), 2),
        ("memoryos", json.dumps(MEMORYOS), 2),
        ("locomo", json.dumps(LOCOMO), 2),
    ],
)
def test_every_format_is_seen_imported_once_and_found(
    form: str, data: str, messages: int, terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "chat.json"
    path.write_text(data)
    assert detect.detect(path) == form
    assert terminal.json("import", str(path))["stored"] == {"message": messages}
    again = terminal.json("import", str(path), "--format", form)
    assert again["stored"] == {"message": 0} and again["skipped"] == messages
    assert "green" in terminal.type("search", "what colour is the bike").out


def test_the_formats_that_can_be_named_are_those_that_can_be_read() -> None:
    assert {form.value for form in Format} == {*detect.FORMATS, "auto"}


def test_an_import_tells_what_it_did(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(OPENAI))
    said = terminal.type("import", str(path), "--no-wait")
    assert said.code == 0 and "imported 2 messages" in said.out
    assert "2 there already" in terminal.type("import", str(path)).out


def test_a_file_can_come_from_a_pipe(terminal: Terminal) -> None:
    assert terminal.json("import", "-", stdin=LINES)["stored"] == {"message": 2}


def test_one_conversation_of_several_can_be_chosen(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "talks.json"
    path.write_text(json.dumps(LOCOMO))
    assert terminal.json("import", str(path), "--conversation", "two")["stored"] == {"message": 1}
    assert [session["name"] for session in terminal.json("sessions")] == ["two/session_1"]
    said = terminal.type("import", str(path), "--conversation", "three")
    assert said.code == 1 and "one, two" in said.err


@pytest.mark.parametrize(
    "data, form, says",
    [
        (b"", "auto", "empty"),
        (b"\xff\xfe\x00", "auto", "UTF-8"),
        (b"{oops", "auto", "JSON"),
        (b'{"a": 1}', "auto", "format"),
        (b"[1, 2]", "openai", "object"),
        (b'[{"role": "user", "content": "x"}]', "chatgpt", "mapping"),
        (b'{"role": "narrator", "content": "x", "at": "2025-01-01"}\n', "jsonl", "role"),
    ],
)
def test_a_broken_file_is_refused_by_name_and_nothing_is_stored(
    data: bytes, form: str, says: str, terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "broken"
    path.write_bytes(data)
    said = terminal.type("import", str(path), "--format", form)
    assert said.code == 2 and says in said.err and said.out == ""
    assert terminal.json("list") == []


def test_what_is_exported_can_be_imported_elsewhere(filled: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "ann.jsonl"
    told = filled.json("export", str(file))
    lines = file.read_text("utf-8").splitlines()
    assert told["lines"] == len(lines) and told["bytes"] == file.stat().st_size
    elsewhere = Terminal(tmp_path / "elsewhere")
    stored = elsewhere.json("import", str(file))["stored"]
    assert stored["message"] == 3
    assert _told(elsewhere) == _told(filled)
    assert not any(elsewhere.json("import", str(file), "--format", "mnemic")["stored"].values())


def test_an_export_goes_to_stdout_as_lines_or_as_one_document(filled: Terminal) -> None:
    header, *lines = filled.type("export").out.splitlines()
    assert json.loads(header)["format"] == "mnemic-1"
    assert [json.loads(line) for line in lines] == filled.type("export", "--json").json[1:]


def test_an_export_replaces_a_file_only_when_told(filled: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "ann.jsonl"
    file.write_text("precious")
    said = filled.type("export", str(file))
    assert said.code == 2 and "--force" in said.err and file.read_text() == "precious"
    assert filled.type("export", str(file), "--force").code == 0 and file.read_text() != "precious"
    assert filled.type("export", str(tmp_path / "no" / "where.jsonl")).code == 2
    assert [path.name for path in tmp_path.glob("*.part")] == []


def test_chat_remembers_what_it_is_told_and_answers_from_it(terminal: Terminal) -> None:
    said = terminal.type(
        "chat", stdin="I have a dog named Rex.\n\nWhat is the name of my dog?\n/profile\n/quit\nlost\n"
    )
    assert said.code == 0 and "Noted" in said.out and "Rex" in said.out.split("Noted", 1)[1]
    assert "Pet" in said.out
    stored = [item["text"] for item in terminal.json("list", "--kind", "message")]
    assert stored == ["I have a dog named Rex.", "What is the name of my dog?"]
    asked = terminal.type("chat", stdin="/help\n/porfile\nquit\nlost\n")
    assert asked.code == 0 and "Noted" not in asked.out and "/porfile is no command" in asked.err
    assert len(terminal.json("list", "--kind", "message")) == 2
    later = terminal.json("chat", "--session", "tea", stdin="What is the name of my dog?\nI like green tea.\n")
    assert later["session"] == "tea" and "Rex" in later["turns"][0]["answer"]["text"]


@pytest.mark.parametrize(
    "line, asks",
    [
        ("Where is it", True),
        ("It rains?", True),
        ("what's new", True),
        ("I know what I like.", False),
        ("Hello", False),
    ],
)
def test_a_question_is_told_from_a_statement(line: str, asks: bool) -> None:
    assert is_question(line) is asks


def _told(terminal: Terminal) -> list[Any]:
    items = terminal.json("list")
    return [(item.get("text"), [version["text"] for version in item.get("versions", ())]) for item in items]
