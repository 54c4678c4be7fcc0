"""MemOS's own client from the package index, against a running server: every method, what it parses and what it raises.

Its code is as published (`memos_client.py` tells how it is loaded); its environment is made once, under pytest's cache.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from mnemic.acting import acting
from mnemic.api import Memory
from mnemic.model.caller import LOCAL
from mnemic.testing.model_says import cuts
from mnemic.testing.model_server import ModelServer
from tests.interaction.doors_served import ClientMissingError, MemosClient, client_python, new_key, new_memory, served

CONVERSATION = [
    {
        "role": "user",
        "content": "I moved to Porto last week. My sister is called Nora.",
        "chat_time": "2026-11-20 09:00:00",
    },
    {"role": "assistant", "content": "Porto is lovely in the autumn."},
    {"role": "user", "content": "I love jazz."},
]


@pytest.fixture(scope="module")
def python(request: pytest.FixtureRequest) -> str:
    try:
        return client_python(request.config.cache.mkdir("clients"))
    except ClientMissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with new_memory(tmp_path_factory.mktemp("memos")) as opened:
        yield opened


@pytest.fixture(scope="module")
def address(memory: Memory) -> Iterator[str]:
    with served(memory) as found:
        yield found


@pytest.fixture(scope="module")
def client(python: str, memory: Memory, address: str) -> Iterator[MemosClient]:
    with MemosClient(python, address, new_key(memory)) as opened:
        yield opened


def _finished(client: MemosClient, task: str) -> str:
    """Wait until a task is over; return its status."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        data = client.gave("get_task_status", task_id=task)["data"]
        assert data["task_id"] == task
        if data["status"] != "running":
            return str(data["status"])
    raise AssertionError("the task did not end")


def _talked(client: MemosClient, user: str, **more: Any) -> dict[str, Any]:
    added: dict[str, Any] = client.gave(
        "add_message", messages=CONVERSATION, user_id=user, conversation_id="c1", tags=["travel"],
        info={"scene": "chat"}, async_mode=False, **more,
    )["data"]  # fmt: skip
    return added


def _memories(client: MemosClient, user: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.gave("get_memory", user_id=user, **more)["data"]["memory_detail_list"]
    return found


def test_what_is_added_runs_as_a_task_that_ends(client: MemosClient) -> None:
    added = client.gave("add_message", messages=CONVERSATION, user_id="ivy", conversation_id="c1")["data"]
    assert added["success"] is True
    assert added["status"] == "running"
    assert _finished(client, added["task_id"]) == "completed"
    assert "Porto" in str(_memories(client, "ivy"))


def test_without_async_mode_all_is_read_when_the_add_returns(client: MemosClient) -> None:
    assert _talked(client, "ann")["status"] == "completed"
    assert any("Porto" in each["memory_value"] for each in _memories(client, "ann"))


def test_adding_the_same_again_is_told_as_a_finished_task(client: MemosClient) -> None:
    once = [{"role": "user", "content": "My cat is called Tom.", "message_id": "m1"}]
    first = client.gave("add_message", messages=once, user_id="dup", async_mode=False)["data"]
    again = client.gave("add_message", messages=once, user_id="dup")["data"]
    assert again["status"] == "completed"
    assert client.gave("get_task_status", task_id=again["task_id"])["data"]["status"] == "completed"
    assert first["task_id"] != again["task_id"]
    assert len(client.gave("get_message", user_id="dup", conversation_id="default")["data"]["message_detail_list"]) == 1


def test_a_search_finds_facts_words_and_preferences_with_ids_that_can_be_used(client: MemosClient) -> None:
    _talked(client, "bea")
    data = client.gave("search_memory", query="Where does bea live?", user_id="bea")["data"]
    best = data["memory_detail_list"][0]
    assert "Porto" in best["memory_value"]
    assert best["conversation_id"] == "c1"
    assert 0 < best["relativity"] <= 1
    assert {"kind", "memory_type", "create_time"} <= best.keys()
    liked = client.gave("search_memory", query="Which music does bea like?", user_id="bea")["data"]
    assert [each["preference_type"] for each in liked["preference_detail_list"]] == ["explicit_preference"]
    assert "jazz" in liked["preference_detail_list"][0]["preference"]
    assert liked["preference_note"]
    shown = client.gave("get_memory_by_id", memid=best["id"])
    assert shown["code"] == 0
    assert shown["data"]["memory_value"] == best["memory_value"]


def test_a_search_keeps_to_filter_relativity_limits_and_views(client: MemosClient) -> None:
    _talked(client, "cid")
    client.gave("add_message", messages=[{"role": "user", "content": "I live in a house near Porto."}], user_id="cid",
                conversation_id="c2", tags=["home"], async_mode=False)  # fmt: skip

    def found(**more: Any) -> list[dict[str, Any]]:
        data = client.gave("search_memory", query="Where is Porto?", user_id="cid", **more)["data"]
        return list(data["memory_detail_list"])

    tagged = found(filter={"and": [{"tags": {"contains": "home"}}, {"conversation_id": "c2"}]})
    assert tagged and {each["conversation_id"] for each in tagged} == {"c2"}
    assert found(filter={"info.scene": "chat"}) and not found(filter={"info.scene": "mail"})
    assert len(found(memory_limit_number=1)) == 1
    assert found(relativity=1.0) == []
    views = client.gave("search_memory", query="Porto", user_id="cid", include_memory_view=["profile"])["data"]
    assert views["memory_detail_list"] == []
    assert {"home.place", "relation.sister"} <= {each["profile_key"] for each in views["profile_detail_list"]}


def test_messages_come_back_as_they_were_said_the_last_ones_first_cut(client: MemosClient) -> None:
    _talked(client, "dan")
    found = client.gave("get_message", user_id="dan", conversation_id="c1", message_limit_number=2)["data"]
    assert [(each["role"], each["content"]) for each in found["message_detail_list"]] == [
        (each["role"], each["content"]) for each in CONVERSATION[1:]
    ]


def test_memories_are_listed_by_page_with_totals(client: MemosClient) -> None:
    _talked(client, "eve")
    whole = client.gave("get_memory", user_id="eve")["data"]
    assert whole["total"] == len(whole["memory_detail_list"]) >= 2
    pages = [client.gave("get_memory", user_id="eve", page=number, size=1)["data"] for number in (1, 2)]
    assert [page["memory_detail_list"][0]["id"] for page in pages] == [
        each["id"] for each in whole["memory_detail_list"][:2]
    ]
    assert {(page["total"], page["pages"], page["size"]) for page in pages} == {(whole["total"], whole["total"], 1)}
    assert [page["current"] for page in pages] == [1, 2]
    assert _memories(client, "eve", page=9) == []


def test_a_memory_is_corrected_by_its_id_and_its_history_stays(client: MemosClient, memory: Memory) -> None:
    _talked(client, "fay")
    lives = next(each for each in _memories(client, "fay") if "Porto" in each["memory_value"])
    changed = client.gave("update_memory", memory_id=lives["id"], content="fay lives in Lisbon.")
    assert changed["data"]["success"] is True
    assert client.gave("get_memory_by_id", memid=lives["id"])["data"]["memory_value"] == "fay lives in Lisbon."
    with acting(LOCAL):
        assert len(memory.history(lives["id"].partition(":")[0], user="fay")) == 2


def test_memories_are_deleted_by_ids_by_filter_and_by_user(client: MemosClient) -> None:
    _talked(client, "gus")
    first = _memories(client, "gus")[0]["id"]
    assert client.gave("delete_memory", memory_ids=[first])["data"]["success"] is True
    gone = client.told("get_memory_by_id", memid=first)
    assert (gone["status"], gone["body"]["code"]) == (404, 40400)
    client.gave("delete_memory", filter={"and": [{"user_id": "gus"}, {"tags": {"contains": "travel"}}]})
    assert client.gave("get_message", user_id="gus", conversation_id="c1")["data"]["message_detail_list"] == []
    _talked(client, "gus")
    client.gave("delete_memory", user_id="gus")
    assert _memories(client, "gus") == []


def test_feedback_changes_what_is_meant(client: MemosClient) -> None:
    _talked(client, "hal")
    given = client.gave("add_feedback", user_id="hal", feedback_content="My sister is called Noor, not Nora.")["data"]
    assert given["success"] is True
    assert client.gave("get_task_status", task_id=given["task_id"])["data"]["status"] == "completed"
    assert any("Noor" in each["memory_value"] for each in _memories(client, "hal"))


def test_a_chat_answers_from_memory(client: MemosClient) -> None:
    _talked(client, "kim")
    given = client.gave("chat", user_id="kim", conversation_id="c9", query="Where do I live?")["data"]
    assert "Porto" in given["response"]


def test_a_stream_keeps_every_character_and_the_model_gets_what_was_wished(python: str, tmp_path: Path) -> None:
    odd = "Crème\u2028brûlée,\x85\x0bwith 花."
    with ExitStack() as stack:
        server = stack.enter_context(ModelServer(default=odd))
        settings = {"llm": "openai", "llm_base_url": server.url, "llm_model": "fake-model", "refine": False}
        memory = stack.enter_context(new_memory(tmp_path, **settings))
        address = stack.enter_context(served(memory))
        client = stack.enter_context(MemosClient(python, address, new_key(memory)))
        wishes = {"system_prompt": "Be brief.", "temperature": 0.2, "max_tokens": 77, "model_name": "other-model"}
        events = client.gave("chat", user_id="odd", conversation_id="c9", query="What is good?", stream=True, **wishes)
        assert events[-1] == "[DONE]"
        told = [json.loads(each) for each in events[:-1]]
        assert "".join(each["data"] for each in told if each["type"] == "text") == odd
        assert (told[-1]["type"], told[-1]["mode"]) == ("end", "other-model")
        asked = server.requests[-1]
        assert (asked.model, asked.body["temperature"], asked.body["max_tokens"]) == ("other-model", 0.2, 77)
        assert "Be brief." in asked.text
        kept = client.gave("get_message", user_id="odd", conversation_id="c9")["data"]["message_detail_list"]
        assert [each["content"] for each in kept] == ["What is good?", odd]


def test_a_stream_that_breaks_off_tells_it_and_stores_no_reply(python: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(ModelServer(default=cuts("This sentence will never come to its end.")))
        settings = {"llm": "openai", "llm_base_url": server.url, "llm_model": "fake-model", "refine": False}
        memory = stack.enter_context(new_memory(tmp_path, **settings, llm_tries=1))
        address = stack.enter_context(served(memory))
        client = stack.enter_context(MemosClient(python, address, new_key(memory)))
        events = client.gave("chat", user_id="odd", conversation_id="c9", query="What is good?", stream=True)
        assert json.loads(events[-1])["type"] == "error"
        kept = client.gave("get_message", user_id="odd", conversation_id="c9")["data"]["message_detail_list"]
        assert [each["content"] for each in kept] == ["What is good?"]


def test_agents_keep_a_memory_of_their_own_apart_from_users(client: MemosClient) -> None:
    said = [{"role": "user", "content": "The build server is called Atlas."}]
    client.gave("add_message", messages=said, agent_id="bot", async_mode=False)
    found = client.gave("search_memory", query="What is the build server called?", agent_id="bot")["data"]
    assert "Atlas" in found["memory_detail_list"][0]["memory_value"]
    assert client.gave("search_memory", query="build server", user_id="bot")["data"]["memory_detail_list"] == []


def test_a_conversation_of_several_users_is_in_the_memory_of_each(client: MemosClient) -> None:
    said = [
        {"role": "user", "content": "I am allergic to nuts.", "role_name": "Lea", "role_id": "lea"},
        {"role": "user", "content": "I play the cello.", "role_id": "max"},
    ]
    added = client.gave("add_message", messages=said, user_id=["lea", "max"], conversation_id="g1")["data"]
    assert _finished(client, added["task_id"]) == "completed"
    for user in ("lea", "max"):
        data = client.gave("get_message", user_id=user, conversation_id="g1")["data"]
        assert [each["name"] for each in data["message_detail_list"]] == ["Lea", "max"]


def test_knowledge_bases_are_made_read_with_a_users_memory_and_deleted(client: MemosClient) -> None:
    _talked(client, "ned")
    base = client.gave(
        "create_knowledgebase",
        knowledgebase_name="machines",
        knowledgebase_description="Descale the espresso machine monthly.",
    )["data"]["id"]
    asked = {"query": "How often is the espresso machine descaled?", "user_id": "ned"}
    found = client.gave("search_memory", **asked, knowledgebase_ids=[base])["data"]["memory_detail_list"]
    told = next(each for each in found if "Descale" in each["memory_value"])
    assert client.gave("get_memory_by_id", memid=told["id"])["data"]["memory_value"] == told["memory_value"]
    assert "Descale" not in str(client.gave("search_memory", **asked))
    assert client.gave("delete_knowledgebase", knowledgebase_id=base)["data"]["success"] is True
    gone = client.told("search_memory", **asked, knowledgebase_ids=[base])
    assert (gone["status"], gone["body"]["code"]) == (404, 40400)


def test_profiles_are_edited_and_deleted_by_a_template(client: MemosClient) -> None:
    client.gave("edit_profile", profile_template_id="person", user_id="pat", metadata={"home": {"place": "Faro"}})
    shown = client.gave("search_memory", query="x", user_id="pat", include_memory_view=["profile"])["data"]
    assert [(each["profile_key"], each["profile_value"]) for each in shown["profile_detail_list"]] == [
        ("home.place", "Faro")
    ]
    assert client.gave("delete_profile", profile_template_id="person", user_id="pat")["data"]["fields"] == [
        "home.place"
    ]
    wrong = client.told("edit_profile", profile_template_id="person", user_id="pat", metadata={"home": {"plaice": "x"}})
    assert wrong["status"] == 400 and "home.plaice" in wrong["body"]["message"]


def test_what_would_be_remembered_is_told_without_storing_it(client: MemosClient) -> None:
    data = client.gave("extract_memory", messages=[{"role": "user", "content": "I am a nurse. I love jazz."}])["data"]
    assert "nurse" in data["memory_detail_list"][0]["memory_value"]
    assert "jazz" in data["preference_detail_list"][0]["memory_value"]


_CHAT: dict[str, Any] = {"user_id": "ann", "conversation_id": "c", "query": "x"}
_SEARCH: dict[str, Any] = {"query": "x", "user_id": "ann"}
REFUSED: list[tuple[str, dict[str, Any], str, int]] = [
    ("search_memory", {**_SEARCH, "include_tool_memory": True}, "include_tool_memory", 40000),
    ("search_memory", {**_SEARCH, "include_skill": True}, "include_skill", 40000),
    ("search_memory", {**_SEARCH, "context_format": "graph"}, "context_format", 40000),
    ("search_memory", {**_SEARCH, "filter": {"mood": {"near": 1}}}, "filter.mood.near", 40000),
    ("search_memory", {**_SEARCH, "filter": {"status": "activated"}}, "filter.status", 40000),
    ("search_memory", {**_SEARCH, "memory_limit_number": 26}, "memory_limit_number", 40000),
    ("add_message", {"messages": [{"role": "user", "content": "x"}], "user_id": "ann", "allow_public": True},
     "allow_public", 40000),
    ("add_message", {"messages": [{"role": "user"}], "user_id": "ann"}, "messages[0].content", 40000),
    ("add_message", {"messages": [{"content": "x", "mood": 1}], "user_id": "ann"}, "messages[0].mood", 40000),
    ("chat", {**_CHAT, "internet_search": True}, "internet_search", 40000),
    ("chat", {**_CHAT, "top_p": 0.5}, "top_p", 40000),
    ("update_memory", {"memory_id": "x", "title": "t"}, "title", 40000),
    ("update_memory", {"memory_id": "x", "status": "archived"}, "status", 40000),
    ("delete_memory", {"filter": {"tags": "x"}}, "filter.user_id", 40000),
    ("rerank", {"query": "x", "documents": ["a"]}, "documents", 40000),
    ("bind_profile_template", {"bind_list": [{"user_id": "ann"}]}, "bind_list", 40000),
    ("add_knowledgebase_file_json", {"knowledgebase_id": "k", "file": [{"content": "Yg=="}]}, "file[0].name", 40000),
    ("add_knowledgebase_file_json", {"knowledgebase_id": "k", "file": [{"name": "a", "content": "/etc/passwd"}]},
     "file[0].content", 40000),
    ("add_knowledgebase_file_json", {"knowledgebase_id": "k", "file": [{"name": "a", "path": "/etc/passwd"}]},
     "file[0].content", 40000),
    ("get_knowledgebase_file", {"knowledgebase_id": "k", "type": "pdf"}, "type", 40000),
    ("get_knowledgebase_file", {"file_ids": ["f"]}, "file_ids[0]", 40000),
    ("delete_knowledgebase_file", {"file_ids": ["f:ann"]}, "file_ids[0]", 40000),
]  # fmt: skip


@pytest.mark.parametrize("method,arguments,field,code", REFUSED)
def test_what_is_not_there_is_refused_by_name(
    client: MemosClient, method: str, arguments: dict[str, Any], field: str, code: int
) -> None:
    told = client.told(method, **arguments)
    assert told["status"] == 400, told
    assert told["body"]["code"] == code
    assert told["body"]["data"] is None
    assert told["body"]["field"] == field
    assert told["body"]["message"].startswith(f"{field}: ")


@pytest.fixture(scope="module")
def base(client: MemosClient) -> str:
    made = client.gave("create_knowledgebase", knowledgebase_name="manuals", knowledgebase_description=None)
    return str(made["data"]["id"])


def _read(client: MemosClient, names: list[str]) -> list[dict[str, Any]]:
    """Wait until files are read; return them."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        found = client.gave("get_knowledgebase_file", file_ids=names)["data"]["file_detail_list"]
        if {each["status"] for each in found} <= {"completed", "failed"}:
            return list(found)
    raise AssertionError("the files were not read")


def test_files_come_in_base64_and_as_a_form_and_are_found_by_their_page(
    client: MemosClient, base: str, tmp_path: Path
) -> None:
    text = b"# Pump\n\nThe pump is oiled twice a year.\n"
    data = f"data:text/markdown;base64,{base64.b64encode(text).decode()}"
    paths = [tmp_path / name for name in ("valve.md", "filter.txt")]
    for path in paths:
        path.write_text(f"# {path.stem}\n\nThe {path.stem} is cleaned every March.\n", "utf-8")
    added = client.gave("add_knowledgebase_file_json", knowledgebase_id=base,
                        file=[{"name": "pump.md", "content": data}])["data"]  # fmt: skip
    added += client.gave("add_knowledgebase_file_form", knowledgebase_id=base, files=[str(path) for path in paths])[
        "data"
    ]
    assert [each["name"] for each in added] == ["pump.md", "valve.md", "filter.txt"]
    found = _read(client, [each["id"] for each in added])
    assert [(each["name"], each["status"]) for each in found] == [
        ("pump.md", "completed"), ("valve.md", "completed"), ("filter.txt", "completed"),
    ]  # fmt: skip
    assert client.gave("get_task_status", task_id=added[0]["task_id"])["data"]["status"] == "completed"
    asked = {"query": "How often is the pump oiled?", "user_id": "una"}
    hits = client.gave("search_memory", **asked, knowledgebase_ids=[base])["data"]["memory_detail_list"]
    best = next(each for each in hits if each["kind"] == "chunk")
    assert "twice a year" in best["memory_value"]
    assert (best["source"]["file_name"], best["source"]["headings"]) == ("pump.md", ["Pump"])
    assert "oiled" not in str(client.gave("search_memory", **asked))
    told = client.gave("chat", user_id="una", conversation_id="c", query=asked["query"], knowledgebase_ids=[base])[
        "data"
    ]
    assert "twice a year" in told["response"]


def test_files_are_listed_by_page_and_deleted_with_what_was_read_from_them(client: MemosClient) -> None:
    base = client.gave("create_knowledgebase", knowledgebase_name="paged")["data"]["id"]
    files = [{"name": f"{number}.txt", "content": base64.b64encode(f"Number {number}.".encode()).decode()}
             for number in range(3)]  # fmt: skip
    names = [
        each["id"] for each in client.gave("add_knowledgebase_file_json", knowledgebase_id=base, file=files)["data"]
    ]
    _read(client, names)
    data = client.gave("get_knowledgebase_file", knowledgebase_id=base, page=2, page_size=2)["data"]
    assert (data["total"], data["page"], data["page_size"]) == (3, 2, 2)
    assert [each["id"] for each in data["file_detail_list"]] == names[2:]
    assert client.gave("delete_knowledgebase_file", file_ids=names[:2])["data"]["success"] is True
    left = client.gave("get_knowledgebase_file", knowledgebase_id=base)["data"]["file_detail_list"]
    assert [each["id"] for each in left] == names[2:]
    gone = client.told("get_knowledgebase_file", file_ids=names[:1])
    assert (gone["status"], gone["body"]["code"]) == (404, 40400)


def test_a_file_that_cannot_be_read_says_why(client: MemosClient, base: str) -> None:
    broken = base64.b64encode(b"%PDF-1.7\nthis is none").decode()
    added = client.gave("add_knowledgebase_file_json", knowledgebase_id=base,
                        file=[{"name": "broken.pdf", "content": broken}])["data"]  # fmt: skip
    found = _read(client, [added[0]["id"]])[0]
    assert found["status"] == "failed" and found["message"]


def test_too_much_of_files_is_told_by_its_code_and_nothing_is_stored(python: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        memory = stack.enter_context(new_memory(tmp_path / "home", file_megabytes=1, serve_max_upload_megabytes=3))
        address = stack.enter_context(served(memory))
        client = stack.enter_context(MemosClient(python, address, new_key(memory)))
        base = client.gave("create_knowledgebase", knowledgebase_name="small")["data"]["id"]
        paths = []
        for number in range(21):
            paths.append(tmp_path / f"{number}.txt")
            paths[-1].write_bytes(b"x")
        large = tmp_path / "large.bin"
        large.write_bytes(b"y" * 1_000_001)
        four = [tmp_path / f"part{number}.bin" for number in range(4)]
        for path in four:
            path.write_bytes(b"z" * 900_000)
        for files, code in ((paths, 50103), ([paths[0], large], 50104), (four, 50105)):
            told = client.told(
                "add_knowledgebase_file_form", knowledgebase_id=base, files=[str(path) for path in files]
            )
            assert (told["status"], told["body"]["code"]) == (413, code), told
        many = [{"name": f"{number}.txt", "content": "eA=="} for number in range(21)]
        told = client.told("add_knowledgebase_file_json", knowledgebase_id=base, file=many)
        assert (told["status"], told["body"]["code"]) == (413, 50103)
        big = [{"name": "big.bin", "content": base64.b64encode(b"y" * 1_000_001).decode()}]
        told = client.told("add_knowledgebase_file_json", knowledgebase_id=base, file=big)
        assert (told["status"], told["body"]["code"]) == (413, 50104)
        assert client.gave("get_knowledgebase_file", knowledgebase_id=base)["data"]["total"] == 0


def test_a_key_of_another_user_reaches_no_file(python: str, address: str, memory: Memory, client: MemosClient) -> None:
    base = client.gave("create_knowledgebase", knowledgebase_name="ours")["data"]["id"]
    added = client.gave("add_knowledgebase_file_json", knowledgebase_id=base,
                        file=[{"name": "a.txt", "content": "T3Vycy4="}])["data"][0]["id"]  # fmt: skip
    with MemosClient(python, address, new_key(memory, "yan", users=["yan"])) as other:
        for method, arguments in (
            ("get_knowledgebase_file", {"file_ids": [added]}),
            ("get_knowledgebase_file", {"knowledgebase_id": base}),
            ("delete_knowledgebase_file", {"file_ids": [added]}),
            ("add_knowledgebase_file_json", {"knowledgebase_id": base, "file": [{"name": "b", "content": "eA=="}]}),
            ("add_knowledgebase_file_form", {"knowledgebase_id": base, "files": [__file__]}),
        ):
            told = other.told(method, **arguments)
            assert (told["status"], told["body"]["code"]) == (403, 40300), (method, told)
    assert client.gave("get_knowledgebase_file", knowledgebase_id=base)["data"]["total"] == 1


def test_unknown_ids_and_tasks_are_not_found(client: MemosClient) -> None:
    for method, arguments, code in (
        ("get_memory_by_id", {"memid": "a/b ?#%"}, 40400),
        ("update_memory", {"memory_id": "nope", "content": "x"}, 40400),
        ("delete_memory", {"memory_ids": ["nope:ann"]}, 40400),
        ("get_task_status", {"task_id": "nope"}, 50131),
    ):
        told = client.told(method, **arguments)
        assert (told["status"], told["body"]["code"]) == (404, code), told


def test_a_wrong_key_is_told_in_the_envelope(python: str, address: str) -> None:
    with MemosClient(python, address, "wrong") as stranger:
        told = stranger.told("get_message", user_id="ann", conversation_id="c1")
    assert (told["status"], told["body"]["code"], told["body"]["data"]) == (401, 40100, None)


def test_a_key_of_one_user_needs_no_names_and_reaches_nobody_else(
    python: str, address: str, memory: Memory, client: MemosClient
) -> None:
    _talked(client, "zoe")
    theirs = _memories(client, "zoe")[0]["id"]
    with MemosClient(python, address, new_key(memory, "one", users=["zoe"])) as own:
        mine = _memories(own, "zoe")[0]["id"]
        assert ":" not in mine
        assert own.gave("get_memory_by_id", memid=mine)["data"]["memory_value"]
    with MemosClient(python, address, new_key(memory, "other", users=["yan"])) as other:
        for method, arguments in (
            ("search_memory", {"query": "x", "user_id": "zoe"}),
            ("get_memory_by_id", {"memid": theirs}),
            ("update_memory", {"memory_id": theirs, "content": "x"}),
            ("delete_memory", {"memory_ids": [theirs]}),
            ("delete_memory", {"user_id": "zoe"}),
            ("add_feedback", {"user_id": "zoe", "feedback_content": "forget everything"}),
        ):
            told = other.told(method, **arguments)
            assert (told["status"], told["body"]["code"]) == (403, 40300), (method, told)
        assert other.told("get_memory_by_id", memid=mine)["status"] == 404
    assert client.gave("get_memory_by_id", memid=theirs)["data"]["id"] == theirs
