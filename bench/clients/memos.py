"""MemOS's own client (`MemOSClient` of the package `MemoryOS`) at a running server, and what is refused."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.clients.transcript import Transcript
from mnemic.acting import acting
from mnemic.api import Memory
from mnemic.model.caller import LOCAL
from tests.interaction.doors_served import CLIENT, MemosClient, client_python, served

CACHE = Path(__file__).parents[2] / ".pytest_cache" / "d" / "clients"
TALK = [
    {
        "role": "user",
        "content": "I moved to Porto last week. My sister is called Nora.",
        "chat_time": "2026-11-20 09:00",
    },
    {"role": "assistant", "content": "Porto is lovely in the autumn.", "chat_time": "2026-11-20 09:01"},
    {"role": "user", "content": "I love jazz.", "chat_time": "2026-11-20 09:02"},
]


def main() -> int:
    """Make the calls and keep what was said; the exit status is 1 when one went otherwise than it should."""
    with ExitStack() as stack:
        memory = stack.enter_context(Memory(stack.enter_context(TemporaryDirectory()), guarded=True))
        with acting(LOCAL):
            key = memory.keys.create("app").secret
        address = stack.enter_context(served(memory))
        client = stack.enter_context(MemosClient(client_python(CACHE), address, key))
        told = Transcript(
            f"MemOSClient of {CLIENT}",
            hidden={address: "<server>", key: "<key>", str(Path(__file__).parents[2]): "<root>"},
        )
        status = _run(Run(client, told))
    told.write(Path(__file__).with_suffix(".txt"))
    return status


class Run:
    """The client, what was said, and how many calls went otherwise than they should."""

    def __init__(self, client: MemosClient, told: Transcript) -> None:
        self.client = client
        self.told = told
        self.wrong = 0

    def call(self, method: str, /, *, fails: int = 0, **arguments: Any) -> Any:
        """Make a call, which is to fail with a status or not at all; return what it gave."""
        found = self.client.told(method, **arguments)
        self.wrong += (found.get("status", 0) != fails) if fails else ("gave" not in found)
        self.told.asked(f"client.{method}", arguments)
        self.told.answered(_shown(found))
        return found.get("gave")


def _run(run: Run) -> int:
    _talk(run)
    first = _look(run)
    _correct(run, first)
    _bases(run)
    _refusals(run, first)
    _delete(run, first)
    run.told.part("In all")
    made = run.client.transcript
    run.told.say(
        f"{len({method for method, _, _ in made})} methods, {run.wrong} calls that went otherwise than they should"
    )
    return min(run.wrong, 1)


def _talk(run: Run) -> None:
    run.told.part("Messages and tasks")
    added = run.call("add_message", messages=TALK, user_id="ann", conversation_id="c1", tags=["travel"],
                     info={"scene": "chat"})  # fmt: skip
    task, until = added["data"]["task_id"], time.monotonic() + 60
    while time.monotonic() < until and run.client.gave("get_task_status", task_id=task)["data"]["status"] == "running":
        pass
    run.call("get_task_status", task_id=task)
    run.call("get_message", user_id="ann", conversation_id="c1", message_limit_number=2)


def _look(run: Run) -> str:
    run.told.part("Searching and listing")
    run.call("search_memory", query="Where does Ann live?", user_id="ann", memory_limit_number=2)
    run.call("search_memory", query="Which music does Ann like?", user_id="ann", memory_limit_number=1,
             filter={"and": [{"tags": {"contains": "travel"}}, {"info.scene": "chat"}]})  # fmt: skip
    listed = run.call("get_memory", user_id="ann", page=1, size=2)
    first = str(listed["data"]["memory_detail_list"][0]["id"])
    run.call("get_memory_by_id", memid=first)
    return first


def _correct(run: Run, first: str) -> None:
    run.told.part("Correcting, and chat")
    run.call("update_memory", memory_id=first, content="Ann has a sister named Noor.")
    run.call("add_feedback", user_id="ann", feedback_content="Forget that I love jazz.")
    run.call("extract_memory", messages=[{"role": "user", "content": "I am a nurse."}])
    run.call("chat", user_id="ann", conversation_id="c2", query="Where do I live?")
    run.call("chat", user_id="ann", conversation_id="c2", query="Where do I live?", stream=True)


def _bases(run: Run) -> None:
    run.told.part("Knowledge bases and profiles")
    made = run.call("create_knowledgebase", knowledgebase_name="machines",
                    knowledgebase_description="Descale the espresso machine monthly.")  # fmt: skip
    base = made["data"]["id"]
    run.call("search_memory", query="How often is the espresso machine descaled?", user_id="ann",
             memory_limit_number=2, knowledgebase_ids=[base], include_preference=False)  # fmt: skip
    run.call("add_knowledgebase_file_json", fails=400, knowledgebase_id=base, file=[{"name": "a.md", "content": "x"}])
    run.call("add_knowledgebase_file_form", fails=400, knowledgebase_id=base, files=[__file__])
    run.call("get_knowledgebase_file", fails=400, knowledgebase_id=base)
    run.call("delete_knowledgebase_file", fails=400, file_ids=["f1"])
    run.call("delete_knowledgebase", knowledgebase_id=base)
    run.call("edit_profile", profile_template_id="person", user_id="ann", metadata={"home": {"place": "Faro"}})
    run.call("delete_profile", profile_template_id="person", user_id="ann")


def _refusals(run: Run, first: str) -> None:
    run.told.part("Refused by name")
    run.call("search_memory", fails=400, query="x", user_id="ann", include_tool_memory=True)
    run.call("update_memory", fails=400, memory_id=first, status="archived")
    run.call("bind_profile_template", fails=400, bind_list=[{"user_id": "ann", "profile_template_id": "person"}])
    run.call("rerank", fails=400, query="x", documents=["a", "b"])
    run.call("get_task_status", fails=404, task_id="nothing")


def _delete(run: Run, first: str) -> None:
    run.told.part("Deleting")
    run.call("delete_memory", memory_ids=[first])
    run.call("get_memory_by_id", fails=404, memid=first)
    run.call("delete_memory", filter={"and": [{"user_id": "ann"}, {"tags": {"contains": "travel"}}]})
    run.call("delete_memory", user_id="ann")
    run.call("get_memory", user_id="ann")


def _shown(found: dict[str, Any]) -> Any:
    """Return what a call gave without what is empty, or what it raised with the server's words."""
    if "gave" not in found:
        body = found.get("body")
        shown = {name: body[name] for name in ("code", "message", "data")} if isinstance(body, dict) else body
        return f"raised {found['raised']} {found.get('status', '')}: {json.dumps(shown, ensure_ascii=False)}"
    return _filled(found["gave"])


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _filled(each) for name, each in value.items() if each not in (None, [], {}, "") and name not in
                ("create_time", "update_time", "info")}  # fmt: skip
    return [_filled(each) for each in value] if isinstance(value, list) else value
