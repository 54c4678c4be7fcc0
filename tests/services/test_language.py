"""A configured language model answers within its budget, behind the breaker, and every call is in the books."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.api import Memory
from mnemic.config import load
from mnemic.errors import BudgetError, InputError, LanguageError
from mnemic.model.language import Prompt, Reply, SpentOn, Turn
from mnemic.services.language import Language
from mnemic.testing.model_says import Said, cuts, fails, refuses, says
from mnemic.testing.model_server import ModelServer, Script, Scripted
from mnemic.testing.scripted_model import ScriptedModel
from mnemic.wiring import build_judge, build_llm
from tests.services.opened import Clock

ASK = Prompt((Turn("user", "Where does Ann live?"),), max_tokens=20)
HASHED = {"embedder": "hashing", "worker": False, "refine": False}
DOWN = fails(500, headers={"retry-after-ms": "1"})


class Configured:
    """Opens memories whose model is told by the environment alone."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._patch = patch

    @contextmanager
    def open(
        self, script: Script = (), *, clock: Clock | None = None, provider: str = "openai", **settings: object
    ) -> Iterator[tuple[Memory, ModelServer]]:
        with ModelServer(script, default=says("In Paris.")) as server:
            told = {
                "llm": provider, "llm_base_url": server.url, "llm_model": "fake-model", "llm_api_key": "sk-secret",
                "llm_tries": 1, "embedder": "hashing", "worker": "false", **settings,
            }  # fmt: skip
            for name, value in told.items():
                self._patch.setenv(f"MNEMIC_{name.upper()}", str(value))
            with Memory(self._folder, clock=clock or Clock()) as memory:
                yield memory, server


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configured:
    return Configured(tmp_path, monkeypatch)


def language_of(memory: Memory) -> Language:
    assert memory._parts.language is not None
    return memory._parts.language


def ask(memory: Memory, count: int = 1, *, user: str = "ann", prompt: Prompt = ASK) -> list[str]:
    """Return what came of calls: a text, or an error's code."""
    found = []
    for _ in range(count):
        try:
            found.append(memory.llm.complete(prompt, user=user, purpose="test").text)
        except (LanguageError, BudgetError) as error:
            found.append(error.code)
    return found


@pytest.mark.parametrize("provider", ["auto", "openai", "anthropic"])
def test_a_model_that_the_environment_names_answers_and_its_call_is_accounted(
    configured: Configured, provider: str
) -> None:
    with configured.open([Said(text="In Paris.", cached=5, model="fake-2026")], provider=provider) as (memory, server):
        reply = memory.llm.complete(ASK, user="ann", purpose="test")
        assert reply == Reply("In Paris.", "fake-2026", tokens_in=10, tokens_out=3, tokens_cached=5)
        assert memory.llm.name == "fake-model"
        (call,) = memory.llm.calls(user="ann")
        assert (call.purpose, call.model, call.outcome) == ("test", "fake-2026", "ok")
        assert (call.tokens_in, call.tokens_out) == (10, 3)
        assert call.seconds > 0
        usage = memory.llm.usage(user="ann")
        assert usage.total == usage.today
        assert usage.by_purpose == (SpentOn("test", "fake-2026", usage.total),)
        assert (usage.total.calls, usage.total.failed, usage.total.tokens_in, usage.total.tokens_out) == (1, 0, 10, 3)
        assert memory.llm.calls(user="bob") == ()
    assert server.requests[0].headers["authorization"] == "Bearer sk-secret"


def test_without_a_model_nothing_is_asked_and_the_error_names_the_setting(configured: Configured) -> None:
    with configured.open(provider="none") as (memory, server):
        assert memory.llm.name is None
        with pytest.raises(InputError, match="MNEMIC_LLM_MODEL"):
            memory.llm.complete(ASK, user="ann")
    assert server.requests == []


def test_a_failed_call_is_accounted_with_its_error_and_nothing_of_it_is_content(configured: Configured) -> None:
    with configured.open([DOWN, refuses()]) as (memory, _):
        assert ask(memory, 2) == ["language_model_failed"] * 2
        assert [call.outcome for call in memory.llm.calls(user="ann")] == ["language_model_failed"] * 2
        total = memory.llm.usage(user="ann").total
        assert (total.calls, total.failed, total.tokens_in) == (2, 2, 0)
        assert len(memory.search("server not well sorry", user="ann")) == 0


def test_a_budget_of_calls_stops_a_cube_for_the_day_and_no_other(configured: Configured) -> None:
    clock = Clock()
    with configured.open(clock=clock, llm_daily_calls=2) as (memory, server):
        assert ask(memory, 3) == ["In Paris.", "In Paris.", "budget_spent"]
        assert ask(memory, user="bob") == ["In Paris."]
        with pytest.raises(BudgetError) as caught:
            memory.llm.complete(ASK, user="ann")
        assert 0 < float(str(caught.value.fields["retry_after"])) <= 12 * 3600
        assert memory.add("I moved to Lyon.", user="ann").message_ids
        clock.at += timedelta(hours=12)
        assert ask(memory) == ["In Paris."]
    assert len(server.requests) == 4


def test_a_budget_of_tokens_counts_what_went_in_and_out(configured: Configured) -> None:
    with configured.open(llm_daily_tokens=15) as (memory, _):
        assert ask(memory, 3) == ["In Paris.", "In Paris.", "budget_spent"]


def test_five_outages_in_a_row_open_the_breaker_which_recovers_by_itself(configured: Configured) -> None:
    clock = Clock()
    with configured.open([DOWN] * 6, clock=clock) as (memory, server):
        assert ask(memory, 7) == ["language_model_failed"] * 7
        assert len(server.requests) == 5
        with pytest.raises(LanguageError, match="asked again in 10 s") as caught:
            memory.llm.complete(ASK, user="bob")
        assert caught.value.fields["passing"] is True
        clock.at += timedelta(seconds=11)
        assert ask(memory, 2) == ["language_model_failed"] * 2  # the sixth outage: a longer pause
        assert len(server.requests) == 6
        clock.at += timedelta(seconds=11)
        assert ask(memory) == ["language_model_failed"]
        assert len(server.requests) == 6
        clock.at += timedelta(seconds=10)
        assert ask(memory, 3) == ["In Paris."] * 3
        assert len(memory.llm.calls(user="ann")) == 9  # calls that were never made are in no books


def test_a_success_in_between_keeps_the_breaker_closed(configured: Configured) -> None:
    script: list[Scripted] = [DOWN, DOWN, DOWN, DOWN, "In Paris."]
    with configured.open(script * 3) as (memory, server):
        ask(memory, 15)
        assert len(server.requests) == 15


def test_refusals_and_wrong_prompts_are_no_outage(configured: Configured) -> None:
    script: list[Scripted] = [refuses(), fails(400, "too long"), says("", finish="content_filter")]
    with configured.open(script * 3) as (memory, server):
        assert ask(memory, 10) == ["language_model_failed"] * 9 + ["In Paris."]
        assert len(server.requests) == 10


def test_a_stream_is_accounted_when_it_has_ended(configured: Configured) -> None:
    with configured.open() as (memory, _):
        memory.add("I live in Paris.", user="ann")
        language = language_of(memory)
        *pieces, reply = language.stream(ASK, purpose="test", cube_key=1)
        assert isinstance(reply, Reply) and "".join(map(str, pieces)) == "In Paris."
        (call,) = memory.llm.calls(user="ann")
        assert (call.outcome, call.tokens_in, call.tokens_out) == ("ok", 5, 3)


def test_a_stream_that_is_left_or_broke_off_is_accounted_by_what_was_heard(configured: Configured) -> None:
    with configured.open([says("In Paris, in the fourth floor."), cuts()]) as (memory, _):
        memory.add("I live in Paris.", user="ann")
        language = language_of(memory)
        left = language.stream(ASK, purpose="test", cube_key=1)
        assert next(left) == "In Pa"
        left.close()  # type: ignore[attr-defined] # it is a generator
        with pytest.raises(LanguageError):
            list(language.stream(ASK, purpose="test", cube_key=1))
        broken, left_ = memory.llm.calls(user="ann")
        assert (left_.outcome, left_.tokens_in, left_.tokens_out) == ("left", 5, 3)
        assert (broken.outcome, broken.tokens_in) == ("language_model_failed", 5)
        assert broken.tokens_out > 0


def test_a_timeout_and_tries_that_are_set_are_kept_to(configured: Configured) -> None:
    with configured.open([DOWN, DOWN], llm_tries=3, llm_timeout=5) as (memory, server):
        assert ask(memory) == ["In Paris."]
        assert len(server.requests) == 3
        assert memory.llm.usage(user="ann").total.calls == 1


def test_a_judge_is_another_model_with_settings_of_its_own(tmp_path: Path) -> None:
    with ModelServer() as server:
        settings = load(tmp_path, {"judge_base_url": server.url, "judge_model": "judge-1", "judge_api_key": "sk-j"})
        assert build_llm(settings) is None
        judge = build_judge(settings)
        assert judge is not None and judge.complete(ASK).text == "ok"
        judge.close()
    assert (server.requests[0].model, server.requests[0].headers["authorization"]) == ("judge-1", "Bearer sk-j")
    with pytest.raises(InputError, match="judge_base_url"):
        build_judge(load(tmp_path, {"judge_base_url": "host", "judge_model": "judge-1"}))
    assert build_judge(load(tmp_path)) is None


def test_a_provider_without_a_model_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="llm_model"):
        build_llm(load(tmp_path, {"llm": "openai"}))


def test_calls_under_way_count_in_the_budget(tmp_path: Path) -> None:
    inside = threading.Event()
    go_on = threading.Event()

    def answer(_: Prompt) -> str:
        inside.set()
        assert go_on.wait(10)
        return "In Paris."

    model = ScriptedModel(answer)
    with Memory(tmp_path, settings={**HASHED, "llm_daily_calls": 1}, llm=model) as memory:
        memory.add("I live in Paris.", user="ann")
        first = threading.Thread(target=ask, args=(memory,))
        first.start()
        assert inside.wait(10)
        try:
            assert ask(memory) == ["budget_spent"]
        finally:
            go_on.set()
            first.join(10)
        assert ask(memory) == ["budget_spent"]
        assert (len(model.prompts), memory.llm.usage(user="ann").total.calls) == (1, 1)


def test_halves_of_characters_are_mended_on_the_way_in_and_out(configured: Configured) -> None:
    with configured.open([says("Grin \ud83d\ude00 or \ud800.")] * 2) as (memory, server):
        broken = Prompt((Turn("user", "a \ud800 b \0"),), max_tokens=20)
        assert ask(memory, prompt=broken) == ["Grin \U0001f600 or \ufffd."]
        assert server.requests[0].text == "a \ufffd b \ufffd"
        key = memory.llm.calls(user="ann")[0].cube_key
        pieces = list(language_of(memory).stream(ASK, purpose="ask", cube_key=key))
        assert "".join(each for each in pieces if isinstance(each, str)) == "Grin \U0001f600 or \ufffd."


def test_a_stream_that_is_left_when_the_memory_is_closed_ends_in_silence(tmp_path: Path) -> None:
    with Memory(tmp_path, settings=HASHED, llm=ScriptedModel(["In Paris, as you said [1]."])) as memory:
        memory.add("I live in Paris.", user="ann")
        stream = memory.ask_stream("Where do I live?", user="ann")
        assert next(stream)
    del stream  # an error of its end would be an unraisable one, which pytest makes a failure
    gc.collect()


def test_a_cube_that_is_deleted_while_the_model_answers_costs_no_answer(tmp_path: Path) -> None:
    def answer(_: Prompt) -> str:
        memory.cubes.delete(cube.id, user="ann")
        return "In Paris."

    with Memory(tmp_path, settings=HASHED, llm=ScriptedModel(answer)) as memory:
        cube = memory.cubes.create("trip", user="ann")
        assert memory.llm.complete(ASK, user="ann", purpose="test", cube=cube.id).text == "In Paris."
