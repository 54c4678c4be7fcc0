"""The paths of MemOS's open server, asked over HTTP as its clients do, with the shapes that they read."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mnemic.acting import acting
from mnemic.api import Memory
from mnemic.model.caller import LOCAL
from mnemic.testing.model_server import ModelServer
from tests.interaction.doors_served import new_key, new_memory, served

SAID = [
    {
        "role": "user",
        "content": "I moved to Porto last week. My sister is called Nora.",
        "chat_time": "2026-11-20T09:00:00Z",
    },
    {"role": "assistant", "content": "Porto is lovely in the autumn."},
    {"role": "user", "content": "I love jazz."},
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with new_memory(tmp_path_factory.mktemp("product")) as opened:
        yield opened


@pytest.fixture(scope="module")
def http(memory: Memory) -> Iterator[httpx2.Client]:
    key = new_key(memory)
    with (
        served(memory) as address,
        httpx2.Client(base_url=f"{address}/product", headers={"Authorization": f"Bearer {key}"}, timeout=30) as client,
    ):
        yield client


def _ok(response: httpx2.Response) -> Any:
    body = response.json()
    assert (response.status_code, body["code"]) == (200, 200), body
    assert isinstance(body["message"], str)
    return body["data"]


def _post(http: httpx2.Client, path: str, **body: Any) -> Any:
    return _ok(http.post(path, json=body))


def _talked(http: httpx2.Client, user: str, **more: Any) -> list[dict[str, Any]]:
    added: list[dict[str, Any]] = _post(
        http, "/add", user_id=user, messages=SAID, session_id="s1", async_mode="sync", custom_tags=["travel"],
        info={"scene": "chat"}, **more,
    )  # fmt: skip
    return added


def _events(response: httpx2.Response) -> list[dict[str, Any]]:
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    return [json.loads(line.removeprefix("data: ")) for line in response.text.split("\n") if line.startswith("data: ")]


def test_adding_gives_what_was_stored_and_drawn_with_the_cube_of_the_user(http: httpx2.Client) -> None:
    added = _talked(http, "ann")
    assert all(each.keys() == {"memory", "memory_id", "memory_type", "cube_id"} for each in added)
    assert {each["cube_id"] for each in added} == {"ann"}
    assert "I love jazz." in [each["memory"] for each in added]
    assert "PreferenceMemory" in [each["memory_type"] for each in added]


def test_a_search_gives_groups_and_true_hits_pass_the_usual_relativity(http: httpx2.Client) -> None:
    _talked(http, "bea")
    data = _post(http, "/search", user_id="bea", query="Where does bea live?")
    group = data["text_mem"][0]
    assert (group["cube_id"], group["total_nodes"]) == ("bea", len(group["memories"]))
    assert "Porto" in group["memories"][0]["memory"]
    assert all(each["metadata"]["relativity"] >= 0.45 for each in group["memories"])
    assert group["memories"][0].keys() >= {"id", "memory", "metadata"}
    assert data["act_mem"] == data["para_mem"] == []
    assert data["tool_mem"][0]["memories"] == data["skill_mem"][0]["memories"] == []
    liked = _post(http, "/search", user_id="bea", query="Which music does bea love?", relativity=0)
    assert "jazz" in liked["pref_mem"][0]["memories"][0]["memory"]
    assert "jazz" in liked["pref_string"] and liked["pref_note"]
    assert _post(http, "/search", user_id="bea", query="Where?", relativity=1)["text_mem"][0]["memories"] == []


def test_a_search_keeps_to_its_filter(http: httpx2.Client) -> None:
    _talked(http, "cid")
    asked = {"user_id": "cid", "query": "Porto", "relativity": 0}
    assert _post(http, "/search", **asked, filter={"tags": {"contains": "travel"}})["text_mem"][0]["memories"]
    assert not _post(http, "/search", **asked, filter={"scene": "mail"})["text_mem"][0]["memories"]


def test_cubes_are_made_written_read_and_known(http: httpx2.Client) -> None:
    made = _post(http, "/create_cube", cube_name="team", owner_id="dan")
    assert made.keys() == {"cube_id", "cube_name", "owner_id"}
    cube = made["cube_id"]
    added = _talked(http, "dan", writable_cube_ids=[cube, "dan"])
    assert {each["cube_id"] for each in added} == {cube, "dan"}
    data = _post(http, "/search", user_id="dan", query="Porto", readable_cube_ids=[cube, "dan"], relativity=0)
    assert [group["cube_id"] for group in data["text_mem"]] == [cube, "dan"]
    assert all(group["memories"] for group in data["text_mem"])
    found = _ok(http.get(f"/get_memory/{data['text_mem'][0]['memories'][0]['id']}"))
    assert found["memory"] == data["text_mem"][0]["memories"][0]["memory"]
    assert _post(http, "/register_cube", mem_cube_name_or_path="team", user_id="dan")["cube_id"] == cube
    seen = {"X-Mnemic-User": "dan"}
    assert _ok(http.post("/exist_mem_cube_id", json={"mem_cube_id": cube}, headers=seen)) == {cube: True}
    assert _post(http, "/exist_mem_cube_id", mem_cube_id="dan") == {"dan": True}
    assert _post(http, "/exist_mem_cube_id", mem_cube_id="nobody") == {"nobody": False}
    stranger = http.post("/search", json={"user_id": "eve", "query": "Porto", "readable_cube_ids": [cube]})
    assert (stranger.status_code, stranger.json()["code"], stranger.json()["data"]) == (404, 404, None)


def test_memories_are_listed_by_kind_and_page_and_got_by_ids(http: httpx2.Client) -> None:
    _talked(http, "fay")
    data = _post(http, "/get_memory", mem_cube_id="fay")
    whole = data["text_mem"][0]
    assert whole["total_nodes"] == len(whole["memories"]) >= 3
    assert data["pref_mem"][0]["total_nodes"] == 1
    page = _post(http, "/get_memory", mem_cube_id="fay", user_id="fay", page=2, page_size=2)["text_mem"][0]
    assert page["memories"] == whole["memories"][2:4]
    ids = [each["id"] for each in whole["memories"][:2]]
    got = _ok(http.post("/get_memory_by_ids", json=[*ids, "nope"], headers={"X-Mnemic-User": "fay"}))
    assert [each["id"] for each in got["memories"]] == ids
    absent = http.get("/get_memory/nope", headers={"X-Mnemic-User": "fay"}).json()
    assert (absent["code"], absent["data"]) == (200, None)
    assert _post(http, "/get_user_names_by_memory_ids", memory_ids=[ids[0], "nope:fay"]) == {
        ids[0]: "fay",
        "nope:fay": None,
    }
    tree = _post(http, "/get_all", user_id="fay", memory_type="text_mem")[0]
    assert tree["cube_id"] == "fay"
    assert tree["memories"][0]["tree_structure"]["children"]
    assert _post(http, "/get_all", user_id="fay", memory_type="act_mem") == []
    some = _post(http, "/get_all", user_id="fay", memory_type="text_mem", search_query="jazz")
    assert some[0]["memories"][0]["nodes"]


def test_memories_are_deleted_by_one_condition(http: httpx2.Client) -> None:
    _talked(http, "gus")
    ids = [each["id"] for each in _post(http, "/get_memory", mem_cube_id="gus")["text_mem"][0]["memories"]]
    assert _post(http, "/delete_memory", memory_ids=ids[:1])["status"] == "success"
    assert ids[0] not in str(_post(http, "/get_memory", mem_cube_id="gus"))
    _post(http, "/delete_memory", user_id="gus", conversation_id="s1")
    assert _post(http, "/get_memory", mem_cube_id="gus")["text_mem"][0]["total_nodes"] == 0
    _talked(http, "gus")
    _post(http, "/delete_memory", writable_cube_ids=["gus"], filter={"custom_tags": "travel"})
    assert _post(http, "/get_memory", mem_cube_id="gus")["text_mem"][0]["total_nodes"] == 0
    for body in ({"memory_ids": ids, "user_id": "gus"}, {}, {"memory_ids": ids, "filter": {"tags": "x"}}):
        refused = http.post("/delete_memory", json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, 422)
        assert "memory_ids" in refused.json()["message"]


def test_feedback_changes_memories_whether_it_comes_as_feedback_or_as_a_message(http: httpx2.Client) -> None:
    _talked(http, "hal")
    given = _post(http, "/feedback", user_id="hal", history=[], feedback_content="My sister is called Noor, not Nora.")
    assert "Noor" in given[0]["record"]["update"][0]["memory"]
    given = _post(http, "/add", user_id="hal", is_feedback=True, messages="Forget that I love jazz.")
    assert given[0]["understood"] is True
    assert "jazz" not in str(_post(http, "/get_memory", mem_cube_id="hal")["pref_mem"])


def test_chats_answer_whole_and_streamed_in_the_shapes_of_each(http: httpx2.Client) -> None:
    _talked(http, "ivy")
    whole = http.post("/chat/complete", json={"user_id": "ivy", "query": "Where do I live?"}).json()
    assert whole.keys() == {"message", "data"}
    assert "Porto" in whole["data"]["response"]
    pieces = _events(http.post("/chat/stream", json={"user_id": "ivy", "query": "Where do I live?"}))
    assert {each["type"] for each in pieces} == {"text"}
    assert "Porto" in "".join(each["data"] for each in pieces)
    shown = _events(http.post("/chat/stream/playground", json={"user_id": "ivy", "query": "Where do I live?"}))
    kinds = [each["type"] for each in shown]
    assert kinds[0] == "status" and kinds[-1] == "end" and "text" in kinds
    assert next(each for each in shown if each["type"] == "reference")["data"]


def test_the_scheduler_tells_of_tasks_and_is_waited_for(http: httpx2.Client) -> None:
    _post(http, "/add", user_id="kim", messages=SAID, task_id="t1")
    waited = http.post("/scheduler/wait", params={"user_name": "kim", "timeout_seconds": 30}).json()
    assert waited["message"] == "idle"
    assert waited["data"].keys() == {"running_tasks", "waited_seconds", "timed_out", "user_name"}
    assert _ok(http.get("/scheduler/status", params={"user_id": "kim", "task_id": "t1"})) == [
        {"task_id": "t1", "status": "completed"}
    ]
    everything = _ok(http.get("/scheduler/status", params={"user_id": "kim"}))
    assert {each["status"] for each in everything} == {"completed"}
    counts = _ok(http.get("/scheduler/allstatus", params={"user_id": "kim"}))["scheduler_summary"]
    assert counts["completed"] == counts["total"] == len(everything)
    queue = _ok(http.get("/scheduler/task_queue_status", params={"user_id": "kim"}))
    assert (queue["pending_tasks_count"], queue["remaining_tasks_count"]) == (0, 0)
    last = _events(http.get("/scheduler/wait/stream", params={"user_name": "kim"}))[-1]
    assert (last["status"], last["active_tasks"]) == ("idle", 0)
    unknown = http.get("/scheduler/status", params={"user_id": "kim", "task_id": "nope"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, 404)


def test_suggestions_are_a_models_and_refused_without_one(http: httpx2.Client, tmp_path: Path) -> None:
    asked = {
        "user_id": "lea",
        "mem_cube_id": "lea",
        "language": "en",
        "message": [{"role": "user", "content": "Hello."}],
    }
    refused = http.post("/suggestions", json=asked)
    assert refused.status_code == 422 and "MNEMIC_LLM_MODEL" in refused.json()["message"]
    with ModelServer(
        default="[none] Hello.\n[next] Where do I live?\n[next] Who is Rex?\n[next] What do I drink?"
    ) as server:
        settings = {"llm": "openai", "llm_base_url": server.url, "llm_model": "fake-model", "refine": False}
        with new_memory(tmp_path, **settings) as memory, served(memory) as address:
            headers = {"Authorization": f"Bearer {new_key(memory)}"}
            given = httpx2.post(f"{address}/product/suggestions", json=asked, headers=headers).json()
    assert given["code"] == 200
    assert given["data"]["query"] == ["Where do I live?", "Who is Rex?", "What do I drink?"]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("/add", {"user_id": "ann", "messages": SAID, "doc_path": "/etc/passwd"}, "doc_path"),
    ("/add", {"user_id": "ann", "messages": SAID, "is_upload_skill": True}, "is_upload_skill"),
    ("/add", {"user_id": "ann", "messages": SAID, "mood": 1}, "mood"),
    ("/add", {"user_id": "ann"}, "messages"),
    ("/add", {"messages": SAID}, "user_id"),
    ("/add", {"user_id": "ann", "messages": SAID, "async_mode": True}, "async_mode"),
    ("/search", {"user_id": "ann", "query": "x", "internet_search": True}, "internet_search"),
    ("/search", {"user_id": "ann", "query": "x", "mode": "mixture"}, "mode"),
    ("/search", {"user_id": "ann", "query": "x", "search_memory_type": "ToolSchemaMemory"}, "search_memory_type"),
    ("/search", {"user_id": "ann", "query": "x", "top_k": 0}, "top_k"),
    ("/search", {"user_id": "ann", "query": "x", "filter": {"created_at": {"near": 1}}}, "filter.created_at.near"),
    ("/chat/complete", {"user_id": "ann", "query": "x", "history": SAID}, "history"),
    ("/chat/stream", {"user_id": "ann", "query": "x", "threshold": 0.9}, "threshold"),
    ("/chat/stream/business_user", {"user_id": "ann", "query": "x", "business_key": "k"}, "business_key"),
    ("/create_cube", {"cube_name": "x", "owner_id": "ann", "cube_path": "/tmp/x"}, "cube_path"),
    ("/delete_memory_by_record_id", {"mem_cube_id": "x", "record_id": "y"}, "record_id"),
    ("/recover_memory_by_record_id", {"mem_cube_id": "x", "delete_record_id": "y"}, "delete_record_id"),
    ("/get_all", {"user_id": "ann", "memory_type": "all_mem"}, "memory_type"),
]


POINT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_parts_of_messages_are_kept_as_files_and_plain_words_in_one_are_read(
    http: httpx2.Client, memory: Memory
) -> None:
    words = "The espresso machine is descaled monthly, with vinegar."
    parts = [
        {"type": "text", "text": "See what I brought."},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{POINT}"}},
        {"type": "file", "file": {"file_data": words, "filename": "care.txt"}},
        {"type": "file", "file": {"file_data": base64.b64encode(words.encode()).decode(), "filename": "same.txt"}},
    ]
    added = _post(http, "/add", user_id="fil", messages=[{"role": "user", "content": parts}], async_mode="sync")
    with acting(LOCAL):
        memory.jobs.wait(user="fil")
        found = memory.attachments.list(added[0]["memory_id"].partition(":")[0], user="fil")
        files = [memory.attachments.file(each.id, user="fil") for each in found]
    assert [(each.kind.value, each.name) for each in found] == [
        ("image", ""), ("file", "care.txt"), ("file", "same.txt"),
    ]  # fmt: skip
    assert files[1] == files[2] == words.encode()
    asked = {"user_id": "fil", "query": "How often is the espresso machine descaled?", "relativity": 0}
    memories = _post(http, "/search", **asked)["text_mem"][0]["memories"]
    assert any("vinegar" in str(each["metadata"]["attachments"]) for each in memories)


def test_a_part_that_names_a_file_of_the_server_is_refused(http: httpx2.Client) -> None:
    for part in ({"type": "image", "path": "/etc/passwd"}, {"type": "file", "file": {"path": "/etc/passwd"}}):
        refused = http.post("/add", json={"user_id": "fil", "messages": [{"role": "user", "content": [part]}]})
        assert (refused.status_code, refused.json()["code"]) == (422, 422) and "path" in refused.json()["message"]


@pytest.mark.parametrize("path,body,field", REFUSED)
def test_what_is_not_there_is_refused_by_name(http: httpx2.Client, path: str, body: dict[str, Any], field: str) -> None:
    refused = http.post(path, json=body)
    told = refused.json()
    assert (refused.status_code, told["code"], told["data"]) == (422, 422, None), told
    assert told["message"].startswith(f"{field}: ")


def test_nulls_and_defaults_of_everything_are_the_same_as_nothing(http: httpx2.Client) -> None:
    from mnemic.shells.doors import product_bodies as bodies  # noqa: PLC0415 - only this test reads it

    needed = {"user_id": "nul", "query": "Where?", "messages": SAID, "mem_cube_id": "nul", "memory_type": "text_mem"}
    for path, body in (
        ("/add", bodies.Add), ("/search", bodies.Search), ("/chat/complete", bodies.Chat), ("/get_all", bodies.GetAll),
        ("/get_memory", bodies.GetMemory),
    ):  # fmt: skip
        fields = body.model_fields
        base = {name: value for name, value in needed.items() if name in fields and name != "mem_cube_id"}
        if path == "/get_memory":
            base["mem_cube_id"] = "nul"
        nulls = {name: None for name in fields if name not in base}
        defaults = {name: field.default for name, field in fields.items() if name not in base}
        for more in (nulls, defaults):
            assert http.post(path, json=base | more).status_code == 200, (path, more)


def test_bodies_that_are_no_json_and_wrong_keys_keep_the_envelope(http: httpx2.Client) -> None:
    for content in (b"{", b"[]", b"\xff", b"null"):
        told = http.post("/add", content=content, headers={"content-type": "application/json"})
        assert told.status_code in (400, 422), content
        assert told.json()["data"] is None and told.json()["code"] == told.status_code
    stranger = http.post("/add", json={"user_id": "ann", "messages": "x"}, headers={"Authorization": "Bearer wrong"})
    assert (stranger.status_code, stranger.json()["code"], stranger.json()["data"]) == (401, 401, None)


def test_a_key_reaches_only_its_users(http: httpx2.Client, memory: Memory) -> None:
    _talked(http, "zoe")
    theirs = _post(http, "/get_memory", mem_cube_id="zoe")["text_mem"][0]["memories"][0]["id"]
    headers = {"Authorization": f"Bearer {new_key(memory, 'yan', users=['yan'])}"}
    for path, body in (
        ("/search", {"user_id": "zoe", "query": "x"}), ("/add", {"user_id": "zoe", "messages": "x"}),
        ("/get_memory", {"mem_cube_id": "x", "user_id": "zoe"}), ("/delete_memory", {"memory_ids": [theirs]}),
        ("/delete_memory", {"user_id": "zoe"}), ("/get_all", {"user_id": "zoe", "memory_type": "text_mem"}),
    ):  # fmt: skip
        told = http.post(path, json=body, headers=headers)
        assert (told.status_code, told.json()["code"]) == (403, 403), (path, told.text)
    assert http.get(f"/get_memory/{theirs}", headers=headers).status_code == 403
    assert http.post("/get_memory", json={"mem_cube_id": "zoe"}, headers=headers).status_code == 404
