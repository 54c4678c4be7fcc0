from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.core.intake import read_messages
from mnemic.errors import InputError
from mnemic.importing import chatgpt, jsonl, memoryos, openai
from mnemic.importing.batch import Reading
from mnemic.importing.detect import detect, parse, read

NOW = datetime(2026, 3, 1, tzinfo=UTC)

TOOLS = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather in Porto?"}]},
    {"role": "assistant", "content": None, "refusal": None,
     "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "Rain"},
    {"role": "assistant", "content": "It rains.", "weight": 1, "annotations": []},
    {"role": "assistant", "content": None},
    {"role": "assistant", "content": None, "refusal": "I cannot."},
]  # fmt: skip


def taken(found: Reading) -> list[tuple[str, list[str]]]:
    """Return the words of each batch, after the check that `add` makes of messages."""
    return [
        (
            batch.session,
            [each.text for each in read_messages(batch.messages, user="ann", agent=None, now=NOW, zone=UTC)],
        )
        for batch in found
    ]


def test_an_openai_list_keeps_roles_calls_and_what_else_there_is() -> None:
    found = openai.read(TOOLS)
    (batch,) = found
    assert [message.role for message in batch.messages] == [
        "developer",
        "user",
        "assistant",
        "tool",
        "assistant",
        "assistant",
    ]
    assert taken(found)[0][1] == ["Be brief.", "Weather in Porto?", "weather({})", "Rain", "It rains.", "I cannot."]
    assert batch.messages[3].tool_call_id == "c1" and batch.messages[4].metadata == {"weight": 1}
    assert len({message.id for message in batch.messages}) == 6
    assert found.notes == ("1 messages have no content and were left out",)


def test_a_fine_tuning_file_has_a_session_for_each_line() -> None:
    lines = "\n".join(json.dumps({"messages": TOOLS[:2]}) for _ in range(3))
    data = parse(lines)
    assert detect(data) == "openai"
    found = openai.read(data, name="train")
    assert [batch.session for batch in found] == ["train-1", "train-2", "train-3"]
    assert found.messages == 6 and openai.read(data, name="train") == found


@pytest.mark.parametrize(
    "data,place",
    [
        ({"messages": 7}, "messages"),
        ([{"role": "user", "content": "x"}, 7], r"data\[1\]"),
        ([{"content": "x"}], r"data\[0\]\.role"),
        ([{"messages": []}, {"messages": [{"role": 1}]}], r"data\[1\]\.messages\[0\]\.role"),
        ("text", "data"),
    ],
)
def test_openai_errors_name_the_place(data: object, place: str) -> None:
    with pytest.raises(InputError, match=place):
        openai.read(data)


def test_lines_of_messages_are_sorted_by_session_and_time() -> None:
    found = jsonl.read([
        {"role": "user", "content": "Later", "session": "b", "at": "2026-02-01T00:00:00Z"},
        {"content": "No session"},
        {"role": "assistant", "content": "Earlier", "session": 7, "at": 1_700_000_000, "id": "x", "metadata": {"k": 1}},
        {"role": "user", "content": "Later still", "session": "b", "at": "2026-02-02", "name": "Bo"},
    ])  # fmt: skip
    assert taken(found) == [("7", ["Earlier"]), ("b", ["Later", "Later still"]), ("jsonl", ["No session"])]
    assert found.batches[2].messages[0].id == "line-2" and found.batches[1].messages[1].id is None


@pytest.mark.parametrize(
    "line,place",
    [
        ({"content": "x", "timestamp": 3}, r"lines\[1\]\.timestamp.*'at'"),
        ({"content": "x", "mood": "good"}, r"lines\[1\]\.mood.*metadata"),
        ({"role": "user"}, r"lines\[1\]\.content"),
        ({"content": "x", "session": ""}, r"lines\[1\]\.session"),
        ([], r"lines\[1\]"),
    ],
)
def test_line_errors_name_line_and_field(line: object, place: str) -> None:
    with pytest.raises(InputError, match=place):
        jsonl.read([line])


def node(name: str, parent: str | None, message: dict[str, Any] | None, *children: str) -> dict[str, Any]:
    return {"id": name, "parent": parent, "children": list(children), "message": message}


def said(role: str, parts: list[Any], at: float | None = None, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": parts}
    return {"id": f"{role}-{at}", "author": {"role": role, "name": None}, "create_time": at, "content": content, **more}


def conversation(**more: Any) -> dict[str, Any]:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1",
               "metadata": {"dalle": {"prompt": "a red boat"}}}  # fmt: skip
    speech = {"content_type": "audio_transcription", "text": "Good morning"}
    return {
        "title": "Boats",
        "create_time": 1_700_000_000.0,
        "conversation_id": "c-1",
        "current_node": "e",
        "mapping": {
            "root": node("root", None, None, "a"),
            "a": node("a", "root", said("system", [""]), "b"),
            "b": node("b", "a", said("user", ["Draw a boat", ""], 1_700_000_001.5), "c", "d"),
            "c": node("c", "b", said("assistant", ["A left answer"], 1_700_000_002.0)),
            "d": node("d", "b", said("tool", [picture, speech], None), "e"),
            "e": node("e", "d", said("assistant", ["Here it is."], 1_700_000_004.0, metadata={"model_slug": "gpt-x"})),
        },
        **more,
    }


def test_a_chatgpt_conversation_is_the_branch_that_is_shown() -> None:
    found = chatgpt.read([conversation()])
    assert detect([conversation()]) == "chatgpt"
    assert taken(found) == [("c-1", ["Draw a boat", "[image: a red boat]\nGood morning", "Here it is."])]
    first, drawn, last = found.batches[0].messages
    assert (first.at, drawn.at, last.at) == (1_700_000_001.5, 1_700_000_001.5, 1_700_000_004.0)
    assert last.metadata == {"title": "Boats", "model": "gpt-x"} and found.batches[0].title == "Boats"
    assert "1 messages without words" in found.notes[0]


def test_a_chatgpt_conversation_without_a_current_node_ends_in_its_last_leaf() -> None:
    talk = conversation(current_node=None, conversation_id=None, id="other")
    assert taken(chatgpt.read(talk))[0] == (
        "other", ["Draw a boat", "[image: a red boat]\nGood morning", "Here it is."]
    )  # fmt: skip


def test_chatgpt_content_of_other_types_keeps_its_words() -> None:
    def content(**given: Any) -> list[str]:
        message = {"id": "m", "author": {"role": "assistant"}, "create_time": 1.0, "content": given}
        found = chatgpt.read({"id": "c", "mapping": {"m": node("m", None, message)}})
        return [words for _, texts in taken(found) for words in texts]

    assert content(content_type="code", language="python", text="print(1)") == ["print(1)"]
    assert content(content_type="thoughts", thoughts=[{"content": "hm"}]) == []
    assert content(content_type="user_editable_context", user_profile="I am Ann", user_instructions="Be kind") == [
        "I am Ann\nBe kind"
    ]
    assert content(content_type="multimodal_text", parts=["Look", {"content_type": "new", "x": 1}]) == [
        'Look\n{"content_type": "new", "x": 1}'
    ]


def test_chatgpt_errors_name_the_place() -> None:
    looped = conversation()
    looped["mapping"]["a"]["parent"] = "d"
    for bad, place in (
        (looped, r"conversations\[0\]\.mapping"),
        (conversation(current_node="gone"), r"conversations\[0\]\.mapping.*gone"),
        (conversation(mapping=[]), r"conversations\[0\]\.mapping"),
        (7, "conversations"),
    ):
        with pytest.raises(InputError, match=place):
            chatgpt.read([bad] if bad != 7 else bad)


def page(said_: str, answered: str, at: str | None = "2025-03-14 09:30:00", **more: Any) -> dict[str, Any]:
    return {"user_input": said_, "agent_response": answered, "timestamp": at, **more}


FILES: dict[str, Any] = {
    "short_term.json": [page("Newest", "Yes", "2025-05-01 10:00:00"), page("Undated", "Hm", None)],
    "mid_term.json": {
        "sessions": {
            "s1": {"details": [page("A cat", "Nice", page_id="p1"), page("", "Still there?", "2025-03-15 08:00:00")]},
            "s2": {"summary": "both", "details": [page("A cat", "Nice", page_id="p1")]},
        }
    },
    "long_term_user.json": {
        "user_profiles": {"ann": {"data": "Ann likes cats.", "last_updated": "2025-04-01 00:00:00"}},
        "knowledge_base": [{"knowledge": "Ann has a cat", "timestamp": "2025-03-16 00:00:00"}],
        "assistant_knowledge": [{"knowledge": "None", "timestamp": None}],
    },
}  # fmt: skip


def test_memoryos_pages_are_read_once_and_in_order_of_time() -> None:
    found = memoryos.read(FILES)
    talk, knowledge = taken(found)
    assert talk == ("memoryos", ["A cat", "Nice", "Still there?", "Newest", "Yes", "Undated", "Hm"])
    assert knowledge == ("memoryos-knowledge", ["Ann likes cats.", "Ann has a cat"])
    assert [message.role for message in found.batches[0].messages][:3] == ["user", "assistant", "assistant"]
    assert {message.role for message in found.batches[1].messages} == {"system"}
    assert [dict(message.metadata or {})["kind"] for message in found.batches[1].messages] == ["profile", "knowledge"]
    assert [note.split()[0] for note in found.notes] == ["1", "1", "2"]


@pytest.mark.parametrize(
    "files,place",
    [
        ({}, "files"),
        ({"notes.json": []}, "notes.json"),
        ({"short_term.json": {}}, "short_term.json"),
        ({"short_term.json": [{"a": 1}]}, r"short_term.json\[0\].user_input"),
        ({"short_term.json": [page("x", "y", "soon")]}, r"short_term.json\[0\].timestamp"),
        ({"mid_term.json": {"sessions": {"s": {"details": [7]}}}}, r"mid_term.json.sessions\['s'\].details\[0\]"),
        ({"long_term_user.json": {"knowledge_base": [7]}}, r"long_term_user.json.knowledge_base\[0\]"),
    ],
)
def test_memoryos_errors_name_file_and_place(files: dict[str, Any], place: str) -> None:
    with pytest.raises(InputError, match=place):
        memoryos.read(files)


@pytest.mark.parametrize(
    "form,data",
    [
        ("openai", TOOLS),
        ("openai", {"messages": TOOLS}),
        ("jsonl", [{"role": "user", "content": "x", "at": "2026-01-01"}]),
        ("chatgpt", conversation()),
        ("memoryos", FILES["mid_term.json"]),
        ("memoryos", FILES["short_term.json"]),
        ("memoryos", FILES["long_term_user.json"]),
        ("locomo", [{"sample_id": "c", "conversation": {"session_1": []}}]),
        ("mnemic", [{"format": "mnemic-1", "counts": {}}]),
    ],
)
def test_a_format_is_told_by_what_is_in_the_file(tmp_path: Path, form: str, data: object) -> None:
    assert detect(data) == form
    file = tmp_path / "data.bin"
    file.write_text(f"\ufeff{json.dumps(data)}", "utf-8")
    assert detect(file) == form
    if form not in ("mnemic", "locomo"):
        assert read(file).messages > 0 and read(file, form) == read(file)


def test_a_folder_of_memoryos_is_read_whole(tmp_path: Path) -> None:
    for name, data in FILES.items():
        home = tmp_path / "users" / "ann"
        home.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(json.dumps(data))
    assert detect(tmp_path) == "memoryos" and read(tmp_path) == memoryos.read(FILES)
    (tmp_path / "users" / "ben").mkdir()
    (tmp_path / "users" / "ben" / "short_term.json").write_text("[]")
    with pytest.raises(InputError, match="several users"):
        read(tmp_path)


@pytest.mark.parametrize(
    "content,message",
    [
        (b"", "is empty"),
        (b" \n \n", "is empty"),
        (b"\xc4\xe3\xba\xc3", "is not UTF-8"),
        (b"hello", "neither JSON"),
        (b'{"role": "user", "content": "x"}\n{"role"', r"lines\[2\]"),
        (b"[1, 2]", "no format that is known"),
        (b'{"a": 1}', "objects with a"),
        (b'[{"role": "user", "content": "x"}, {"content": "y"}]', r"data\[1\]\.role"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"format": "mnemic-1", "counts": {}}', "mnemic import"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "odd.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read(file)


def test_a_path_without_a_file_and_a_format_that_is_not_known_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "gone.json")
    with pytest.raises(InputError, match="MemoryOS"):
        read(tmp_path)
    with pytest.raises(InputError, match="format"):
        read(tmp_path, "carrier pigeon")
