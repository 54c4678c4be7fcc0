"""The class of MemoryOS over a memory of ours: what its README does, and the shape of each reply."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.clients.memoryos import example
from mnemic.api import Memory
from mnemic.compat import memoryos_settings
from mnemic.compat.memoryos import Memoryos
from mnemic.compat.memoryos_settings import embedder_of, model_of
from mnemic.compat.views import SESSION
from mnemic.config import Settings
from mnemic.errors import InputError
from mnemic.model.language import Prompt
from mnemic.testing.model_server import ModelServer
from mnemic.testing.scripted_model import ScriptedModel, outage, said_to
from tests.conventions.sources import ROOT
from tests.services.opened import Clock, new_store, open_memory

README = example((ROOT / "docs" / "memoryos.md").read_text("utf-8"))

TURNS = (
    ("Hi! I'm Tom, I work as a data scientist.", "Hello Tom!", "2025-03-14 09:30:00"),
    ("I live in Leeds.", "A fine city.", "2025-03-14 09:31:00"),
    ("We walked along the river.", "Lovely.", "2025-03-14 09:32:00"),
    ("My sister is called Noor.", "A fine name.", "2025-03-14 09:33:00"),
)
PAGE = {"page_id", "user_input", "agent_response", "timestamp", "meta_info"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        yield opened


def over(memory: Memory, **given: Any) -> Memoryos:
    return Memoryos("demo_user", "", str(memory.path), assistant_id="demo_assistant", memory=memory, **given)


def lived(memory: Memory, **given: Any) -> Memoryos:
    memo = over(memory, **given)
    for said, answered, at in TURNS:
        memo.add_memory(said, answered, at)
    memo.force_mid_term_analysis()
    memory.set_profile("home.place", "Oslo", user="demo_user", subject="demo_assistant")  # as a model would draw it
    return memo


def run_readme(path: Path, *, key: str = "YOUR_OPENAI_API_KEY", base_url: str = "") -> subprocess.CompletedProcess[str]:
    """Run the example of MemoryOS's README with its import changed, as a program of its own."""
    code = README.replace("YOUR_OPENAI_API_KEY", key).replace('BASE_URL = ""', f"BASE_URL = {base_url!r}")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120, env=env, cwd=path
    )


def test_the_readme_of_memoryos_runs_without_any_model(tmp_path: Path) -> None:
    done = run_readme(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2] == "MemoryOS initialized successfully!"
    assert "Assistant: Data scientist" in done.stdout
    assert "Error" not in done.stdout and "Traceback" not in done.stderr
    assert "no language model is asked" in done.stderr and "bge-m3" in done.stderr


def test_the_readme_of_memoryos_runs_with_a_model_and_stores_the_turn(tmp_path: Path) -> None:
    with ModelServer(default="You told me that you work as a data scientist [1].") as server:
        done = run_readme(tmp_path, key="sk-test", base_url=server.url)
    assert done.returncode == 0, done.stderr
    assert "Assistant: You told me that you work as a data scientist.\n" in done.stdout
    assert {asked.model for asked in server.requests} == {"gpt-4o-mini"}
    assert any("data scientist in San Francisco" in asked.text for asked in server.requests)
    with Memory(tmp_path / "simple_demo_data", settings={"llm": "none", "worker": False}) as memory:
        said = [item.text for item in memory.list(user="demo_user", kinds="message")]  # type: ignore[union-attr]
    assert said[2] == "What do you remember about my job?"
    assert said[3].startswith("You told me that you work as a data scientist")


def test_a_model_is_told_the_relationship_the_style_and_the_metadata(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _prompt: "Hello.")
    settings = Settings(home=str(tmp_path), worker=False, refine=False)
    with Memory(settings=settings, embedder=new_store(tmp_path), clock=Clock(), llm=model) as memory:
        memo = over(memory)
        reply = memo.get_response("Hi there", "tutor", "in rhymes", {"channel": "phone \u2603"})
        assert reply == "Hello."
        assert [item.text for item in memory.list(user="demo_user", session=SESSION)] == ["Hi there", "Hello."]  # type: ignore[union-attr]
    prompt: Prompt = model.prompts[0]
    for told in ("tutor", "in rhymes", "phone \u2603"):
        assert told in said_to(prompt)


def test_an_outage_of_the_model_is_no_content(tmp_path: Path) -> None:
    model = ScriptedModel([outage()])
    settings = Settings(home=str(tmp_path), worker=False, refine=False)
    with Memory(settings=settings, embedder=new_store(tmp_path), clock=Clock(), llm=model) as memory:
        memo = over(memory)
        memo.add_memory("I live in Leeds.", "A fine city.")
        assert "Leeds" in memo.get_response("Where do I live?")
        texts = [item.text for item in memory.list(user="demo_user", kinds="message")]  # type: ignore[union-attr]
    assert texts == ["I live in Leeds.", "A fine city.", "Where do I live?"]


def test_context_is_retrieved_in_memoryos_shape(memory: Memory) -> None:
    found = lived(memory).retriever.retrieve_context(user_query="a walk along the river", user_id="demo_user")
    assert list(found) == [
        "retrieved_pages", "retrieved_user_knowledge", "retrieved_assistant_knowledge", "retrieved_at",
    ]  # fmt: skip
    best = found["retrieved_pages"][0]
    assert set(best) == PAGE
    assert (best["user_input"], best["agent_response"], best["timestamp"]) == TURNS[2]
    told = {each["knowledge"] for each in found["retrieved_user_knowledge"]}
    assert "demo_user lives in Leeds." in told
    assert all(set(each) == {"knowledge", "timestamp"} for each in found["retrieved_user_knowledge"])
    own = found["retrieved_assistant_knowledge"]
    assert "demo_assistant lives in Oslo." not in told
    assert [each["knowledge"] for each in own] == ["demo_assistant lives in Oslo."]
    assert len(found["retrieved_at"]) == len("2025-03-14 09:30:00")


def test_pages_that_have_left_short_term_memory_tell_their_topic(memory: Memory) -> None:
    memo = lived(memory)
    found = memo.retriever.retrieve_context("Tom the data scientist", "demo_user")["retrieved_pages"]
    first = next(page for page in found if page["user_input"] == TURNS[0][0])
    assert first["meta_info"]
    assert memo.get_memory_stats()["mid_term_sessions_count"] > 0


def test_capacities_bound_what_is_returned_and_nothing_is_lost(memory: Memory) -> None:
    memo = lived(memory, retrieval_queue_capacity=2, long_term_knowledge_capacity=1, short_term_capacity=3)
    assert len(memo.retriever.retrieve_context("Tom", "demo_user")["retrieved_pages"]) <= 2
    assert len(memo.user_long_term_memory.get_user_knowledge()) == 1
    assert [turn["user_input"] for turn in memo.short_term_memory.get_all()] == [turn[0] for turn in TURNS[1:]]
    assert len(memory.list(user="demo_user", kinds="message")) == 8


def test_profile_stats_and_short_term_memory_have_memoryos_shape(memory: Memory) -> None:
    empty = over(memory)
    assert empty.get_user_profile_summary() == "None"
    assert empty.get_memory_stats() == {
        "user_id": "demo_user", "short_term_count": 0, "mid_term_sessions_count": 0, "has_user_profile": False,
        "assistant_knowledge_count": 0,
    }  # fmt: skip
    assert empty.short_term_memory.get_all() == [] and not empty.short_term_memory.is_full()
    memo = lived(memory, short_term_capacity=4)
    assert memo.add_memory("One more.", "Yes.") is None  # type: ignore[func-returns-value]
    profile = memo.get_user_profile_summary()
    assert "Leeds" in profile and "Oslo" not in profile
    assert memo.user_long_term_memory.get_raw_user_profile("demo_user") == profile
    stats = memo.get_memory_stats()
    assert stats["has_user_profile"] and stats["assistant_knowledge_count"] == 1
    assert [each["knowledge"] for each in memo.get_assistant_knowledge_summary()] == ["demo_assistant lives in Oslo."]
    turns = memo.short_term_memory.get_all()
    assert turns[0] == {"user_input": TURNS[1][0], "agent_response": TURNS[1][1], "timestamp": TURNS[1][2]}
    assert memo.short_term_memory.is_full()


def test_one_side_of_a_turn_may_be_empty_but_not_both(memory: Memory) -> None:
    memo = over(memory)
    memo.add_memory("Only me.", "")
    memo.add_memory("", "Only the assistant.", meta_data={"n": 1})
    assert [item.text for item in memory.list(user="demo_user")] == ["Only me.", "Only the assistant."]  # type: ignore[union-attr]
    with pytest.raises(InputError, match="user_input"):
        memo.add_memory(" ", "")
    with pytest.raises(InputError, match="content"):
        memo.add_memory(None, "x")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at"):
        memo.add_memory("x", "y", "yesterday")


@pytest.mark.parametrize(
    "call",
    [
        lambda memo: memo.retriever.retrieve_context("x", "somebody else"),
        lambda memo: memo.user_long_term_memory.get_raw_user_profile("somebody else"),
    ],
)
def test_nobody_else_is_looked_at(memory: Memory, call: Callable[[Memoryos], object]) -> None:
    with pytest.raises(InputError, match="somebody else"):
        call(over(memory))


@pytest.mark.parametrize("name", ["retrieval_queue_capacity", "long_term_knowledge_capacity"])
def test_a_capacity_that_is_none_is_refused_by_its_name(memory: Memory, name: str) -> None:
    with pytest.raises(InputError, match=name):
        over(memory, **{name: 0})


@pytest.mark.parametrize(
    "key", ["", "  ", "YOUR_OPENAI_API_KEY", "your-api-key", "sk-your-key-here", "<key>", "xxx", "None"]
)
def test_a_key_that_is_none_asks_no_model(key: str) -> None:
    chosen = model_of(key, None, "gpt-4o-mini")
    assert chosen.settings == {"llm": "none"} and "no language model" in chosen.notes[0]


def test_a_key_or_a_server_of_ones_own_is_used() -> None:
    assert model_of("sk-abc123", None, "m").settings == {
        "llm": "openai", "llm_base_url": "", "llm_api_key": "sk-abc123", "llm_model": "m",
    }  # fmt: skip
    assert model_of("", "http://127.0.0.1:1/v1", "m").settings["llm_base_url"] == "http://127.0.0.1:1/v1"


def test_embedding_models_come_nearest_to_what_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert embedder_of("all-MiniLM-L6-v2", None).notes == ()
    assert embedder_of("sentence-transformers/all-MiniLM-L6-v2", {"device": "cpu"}).settings == {"embedder": "bundled"}
    assert "device" in embedder_of("all-MiniLM-L6-v2", {"device": "cpu"}).notes[0]
    assert embedder_of(str(tmp_path), None).settings == {"embedder": str(tmp_path)}
    assert embedder_of("some/other", None).settings == {"embedder": "bundled"}
    monkeypatch.setattr(memoryos_settings, "find_spec", lambda _name: None)
    for name in ("BAAI/bge-m3", "Qwen/Qwen3-Embedding-0.6B"):
        without = embedder_of(name, None)
        assert without.settings == {"embedder": "bundled"} and "mnemic[multilingual]" in without.notes[0]
    monkeypatch.setattr(memoryos_settings, "find_spec", lambda _name: object())
    assert embedder_of("BAAI/bge-m3", None).settings == {"embedder": "multilingual"}


def test_notes_are_warnings_and_files_of_memoryos_are_named(tmp_path: Path) -> None:
    (tmp_path / "users" / "tom").mkdir(parents=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        memo = Memoryos("tom", "YOUR_KEY", str(tmp_path))
    memo.close()
    assert [str(each.message) for each in told] == list(memo.notes)
    assert any("mnemic import" in note for note in memo.notes) and any("no key" in note for note in memo.notes)
    assert "user_id='tom'" in repr(memo)
