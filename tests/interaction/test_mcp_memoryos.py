"""MemoryOS's three tools: the arguments and the fields of its own server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemic.api import Memory
from tests.interaction.mcp_talk import called, refused
from tests.services.opened import open_memory

ADDED = {"status", "message", "timestamp", "details"}
RETRIEVED = {
    "status", "query", "timestamp", "user_profile", "short_term_memory", "short_term_count", "retrieved_pages",
    "retrieved_user_knowledge", "retrieved_assistant_knowledge", "total_pages_found", "total_user_knowledge_found",
    "total_assistant_knowledge_found",
}  # fmt: skip
PROFILE = {"status", "timestamp", "user_id", "assistant_id", "user_profile"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        yield opened


def test_a_turn_is_added_with_its_time_and_metadata(memory: Memory) -> None:
    reply = called(
        memory, "add_memory", user_input="I live in Leeds.", agent_response="A fine city.",
        timestamp="2025-01-10 10:00:00", meta_data={"source": "cline"},
    )  # fmt: skip
    assert set(reply) == ADDED
    assert reply["status"] == "success" and reply["timestamp"] == "2025-01-10 10:00:00"
    assert reply["details"] == {"user_input_length": 16, "agent_response_length": 12, "has_meta_data": True}
    said, answered = memory.list(user="ann", kinds="message")
    assert (said.text, answered.text) == ("I live in Leeds.", "A fine city.")  # type: ignore[union-attr]
    assert said.metadata == {"source": "cline"}  # type: ignore[union-attr]
    assert said.said_at.isoformat() == "2025-01-10T10:00:00+00:00"  # type: ignore[union-attr]


def test_memory_is_retrieved_with_all_fields(memory: Memory) -> None:
    for number in range(5):
        called(memory, "add_memory", user_input=f"Walk {number} went along the river.", agent_response="Nice.")
    called(memory, "add_memory", user_input="I live in Leeds.", agent_response="A fine city.")
    memory.jobs.wait(user="ann")
    reply = called(
        memory, "retrieve_memory", query="a walk by the river", relationship_with_user="friend", style_hint="warm",
        max_results=2,
    )  # fmt: skip
    assert set(reply) == RETRIEVED
    assert reply["short_term_count"] == len(reply["short_term_memory"]) == 2
    assert reply["short_term_memory"][-1]["user_input"] == "I live in Leeds."
    assert set(reply["short_term_memory"][0]) == {"user_input", "agent_response", "timestamp"}
    assert len(reply["retrieved_pages"]) == 2 and reply["total_pages_found"] >= 2
    assert set(reply["retrieved_pages"][0]) == {"user_input", "agent_response", "timestamp", "meta_info"}
    assert reply["retrieved_pages"][0]["agent_response"] == "Nice."
    assert "Leeds" in reply["user_profile"]
    assert all(set(each) == {"knowledge", "timestamp"} for each in reply["retrieved_user_knowledge"])
    assert len(reply["retrieved_user_knowledge"]) <= 2
    assert reply["retrieved_assistant_knowledge"] == [] and reply["total_assistant_knowledge_found"] == 0


def test_the_profile_has_the_lists_that_are_asked_for(memory: Memory) -> None:
    empty = called(memory, "get_user_profile", include_knowledge=False)
    assert set(empty) == PROFILE and empty["user_profile"] == "No detailed user profile"
    called(memory, "add_memory", user_input="I live in Leeds.", agent_response="I am all ears.")
    memory.jobs.wait(user="ann")
    full = called(memory, "get_user_profile", include_assistant_knowledge=True)
    more = {"user_knowledge", "user_knowledge_count", "assistant_knowledge", "assistant_knowledge_count"}
    assert set(full) == PROFILE | more
    assert full["user_id"] == "ann" and full["user_knowledge_count"] == len(full["user_knowledge"]) == 1
    assert full["user_knowledge"][0]["knowledge"] == "ann lives in Leeds."
    assert set(called(memory, "get_user_profile")) == PROFILE | {"user_knowledge", "user_knowledge_count"}


@pytest.mark.parametrize(
    "tool, arguments, name",
    [
        ("add_memory", {"user_input": "", "agent_response": "x"}, "user_input"),
        ("add_memory", {"user_input": "x", "agent_response": "x", "timestamp": "yesterday"}, "messages[0].at"),
        ("retrieve_memory", {"query": ""}, "query"),
        ("get_user_profile", {"include": True}, "include"),
    ],
)
def test_errors_have_the_form_of_memoryos(memory: Memory, tool: str, arguments: dict[str, Any], name: str) -> None:
    told = json.loads(refused(memory, tool, **arguments))
    assert set(told) == {"status", "message"}
    assert told["status"] == "error" and name in told["message"]
