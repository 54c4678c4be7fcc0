"""A run of answers: the same prompt under each condition, outages that are no answers, a table that stays the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from mnemic.api import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.config import Settings
from mnemic.errors import BudgetError, EvaluationError, InputError
from mnemic.evaluation.answer_running import AnswerRun, Answers, Models, run_answers
from mnemic.evaluation.answer_summing import answers_document
from mnemic.evaluation.journal import BEFORE, FILE
from mnemic.evaluation.opening import open_dataset
from mnemic.evaluation.prompting import size
from mnemic.evaluation.running import Options, Step
from mnemic.model.language import Prompt, Reply
from mnemic.testing.scripted_model import Scripted, ScriptedModel, outage, said_to
from tests.conventions.sources import ROOT

LINES: list[dict[str, Any]] = [
    {"id": "m1", "content": "I moved to Porto last week.", "at": "2023-05-08T10:00:00Z", "name": "Ann"},
    {"id": "m2", "content": "My dog is called Rex, he hates the rain.", "at": "2023-05-08T10:01:00Z", "name": "Ann"},
    {"id": "m3", "content": "We went camping on 3 June 2023.", "at": "2023-06-04T09:00:00Z", "name": "Ann"},
    {"question": "Where does Ann live?", "evidence": ["m1"], "category": "single", "answer": "Porto"},
    {"question": "What is Ann's dog called?", "evidence": ["m2"], "category": "single", "answer": "Rex"},
    {"question": "When did Ann go camping?", "evidence": ["m3"], "category": "temporal", "answer": "3 June 2023"},
    {"question": "What is Ann's brother called?", "absent": True, "category": "adversarial"},
    {"question": "Who sings?", "evidence": ["m1"], "category": "single"},
]
KNOWN: Mapping[str, str] = {"live": "Porto", "dog": "Rex", "camping": "3 June 2023"}
"""What the scripted model says to a question with such a word, when the context holds the answer."""

HASHING: Final = Settings(embedder="hashing", refine=False)
"""The scripted model answers questions and draws no memories."""


def reader(prompt: Prompt) -> str:
    """Answer as a perfect reader would: from the context alone."""
    context, _, question = prompt.turns[-1].text.rpartition("QUESTION\n")
    right = next((answer for word, answer in KNOWN.items() if word in question), "")
    return right if right and right in context else "Not mentioned."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "ann.jsonl"
    rows = [{"conversation": "ann", **({} if "question" in each else {"session": "s", "role": "user"}), **each}
            for each in LINES]  # fmt: skip
    found.write_text("".join(f"{json.dumps(each)}\n" for each in rows), "utf-8")
    return found


def go(
    path: Path, model: ScriptedModel | None, *, judge: ScriptedModel | None = None, told: Any = None, **changes: Any
) -> AnswerRun:
    names = set(changes) & {"settings", "only", "first", "drop", "fresh", "refine"}
    options = Options(path.parent / "run", HASHING)
    options = replace(options, **{name: changes.pop(name) for name in names})
    return run_answers(
        open_dataset("jsonl", path),
        options,
        Answers(**changes),
        told=told,
        embedder=HashingEmbedder(64),
        models=Models(model, judge),
    )


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (path.parent / "run" / FILE).read_text("utf-8").splitlines()]


def mean(found: Mapping[str, Any], condition: str, group: str, measure: str) -> float:
    value: float = found["conditions"][condition]["groups"][group]["measures"][measure]["mean"]
    return value


def figures(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without what may differ between two runs that found the same: when they ran."""
    return {key: value for key, value in found.items() if key not in ("about", "failed")}


def test_each_condition_answers_from_what_it_is_given(path: Path) -> None:
    model = ScriptedModel(reader)
    found = answers_document(go(path, model))
    assert list(found["conditions"]) == ["none", "full", "mnemic", "extractive"]
    assert mean(found, "none", "all answerable", "F1") == 0.0 and mean(found, "none", "all answerable", "withheld") == 1
    for condition in ("full", "mnemic"):
        assert mean(found, condition, "all answerable", "F1") == 1.0
        assert mean(found, condition, "all answerable", "withheld") == 0.0
        assert mean(found, condition, "temporal", "date exact") == 1.0
        assert mean(found, condition, "adversarial", "withheld") == 1.0
        assert mean(found, condition, "all", "score") == 1.0
        assert mean(found, condition, "all answerable", "evidence in context") == 1.0
    assert found["conditions"]["none"]["usage"]["context tokens"] == 0
    assert found["conditions"]["mnemic"]["usage"]["calls"] == 1
    assert found["conditions"]["extractive"]["usage"]["calls"] == 0
    assert len(model.prompts) == 3 * 4 and len({prompt.turns[0] for prompt in model.prompts}) == 1


def test_the_whole_conversation_stands_in_the_prompt_in_order(path: Path) -> None:
    model = ScriptedModel(reader)
    go(path, model, conditions=("full",))
    told = model.prompts[0].turns[-1].text
    assert told.startswith("CONTEXT\n[2023-05-08 10:00] Ann: I moved to Porto last week.\n[2023-05-08 10:01] Ann: My")
    assert "It is now 4 June 2023." in told


def test_without_a_model_rules_answer_and_the_document_says_so(path: Path) -> None:
    run = go(path, None)
    found = answers_document(run)
    assert list(found["conditions"]) == ["extractive"] and found["about"]["depends"]["the model"] is None
    assert mean(found, "extractive", "adversarial", "withheld") == 1.0
    assert {each.model for each in run.answered.values()} == {"extractive"}
    with pytest.raises(InputError, match="'none' needs a language model"):
        go(path, None, conditions=("extractive", "none"))
    with pytest.raises(InputError, match="'some' is not known; known: none, full, mnemic, ask, extractive"):
        go(path, ScriptedModel(reader), conditions=("some",))


def test_a_question_without_a_gold_answer_is_left_out_and_told(path: Path) -> None:
    found = answers_document(go(path, None))
    assert found["sample"]["without a gold answer"] == ["ann/line 8"] and found["dataset"]["questions"] == 4


def test_a_conversation_that_does_not_fit_is_counted_and_never_cut(path: Path) -> None:
    bare, model = ScriptedModel(reader), ScriptedModel(reader)
    go(path, bare, conditions=("none",))
    room = 1_024 - max(map(size, bare.prompts))  # for the question alone, and nothing beside it
    settings = replace(HASHING, llm_context=1_024, llm_max_tokens=room)
    found = answers_document(go(path, model, settings=settings, conditions=("none", "full")))
    group = found["conditions"]["full"]["groups"]["all"]
    assert (group["answered"], group["does not fit"], group["failed"], group["measures"]) == (0, 4, 0, {})
    assert all("CONTEXT" not in prompt.turns[-1].text for prompt in model.prompts)
    assert found["questions"][0]["answers"]["full"]["context"] > 30 and found["paired"] == []


def test_a_resumed_run_asks_nothing_twice_and_gives_the_same_table(path: Path) -> None:
    def stop(step: Step) -> None:
        if step.asked == 5:
            raise KeyboardInterrupt

    first = ScriptedModel(reader)
    with pytest.raises(KeyboardInterrupt):
        go(path, first, told=stop)
    second, third = ScriptedModel(reader), ScriptedModel(reader)
    steps: list[Step] = []
    resumed = answers_document(go(path, second, told=steps.append))
    assert steps[0].resumed and not steps[0].changed and steps[-1].asked == steps[-1].questions == 16
    assert [step for step in steps if step.stage == "read"] == []
    assert len(first.prompts) + len(second.prompts) == 12
    again = answers_document(go(path, third))
    assert not third.prompts and figures(again) == figures(resumed)
    fresh = answers_document(go(path, ScriptedModel(reader), fresh=True))
    assert fresh["conditions"]["mnemic"]["groups"] == resumed["conditions"]["mnemic"]["groups"]


def test_more_questions_and_conditions_are_added_to_what_is_there(path: Path) -> None:
    few = ScriptedModel(reader)
    go(path, few, conditions=("none",), limit=1)
    more = ScriptedModel(reader)
    steps: list[Step] = []
    found = answers_document(go(path, more, conditions=("none", "mnemic"), told=steps.append))
    assert len(few.prompts) == 3 and len(more.prompts) == 1 + 4 and not steps[0].changed
    assert found["sample"]["limit"] is None and found["conditions"]["none"]["groups"]["all"]["answered"] == 4


def test_an_outage_is_no_answer_and_is_asked_again(path: Path) -> None:
    def flaky(prompt: Prompt) -> Scripted:
        return outage() if "Ann's dog" in prompt.turns[-1].text else reader(prompt)

    found = answers_document(go(path, ScriptedModel(flaky), conditions=("mnemic",)))
    group = found["conditions"]["mnemic"]["groups"]["single"]
    assert (group["n"], group["answered"], group["failed"]) == (2, 1, 1) and group["measures"]["F1"]["n"] == 1
    (failed,) = found["failed"]
    assert failed["id"] == "ann/line 5" and "cannot be reached" in failed["error"]
    assert found["questions"][1]["answers"]["mnemic"] is None
    assert [line["failed"]["id"] for line in lines(path) if "failed" in line] == ["ann/line 5"]
    back = ScriptedModel(reader)
    healed = answers_document(go(path, back, conditions=("mnemic",)))
    assert len(back.prompts) == 1 and healed["failed"] == []
    assert healed["conditions"]["mnemic"]["groups"]["single"]["answered"] == 2


def test_a_model_that_stays_away_ends_the_run_with_what_is_done_kept(path: Path) -> None:
    calls: list[Prompt] = []

    def dies(prompt: Prompt) -> Scripted:
        calls.append(prompt)
        return reader(prompt) if len(calls) <= 3 else outage()

    with pytest.raises(EvaluationError, match=r"5 times in a row.*cannot be reached.*3 answers are kept"):
        go(path, ScriptedModel(dies), conditions=("none", "full", "mnemic"))
    back = ScriptedModel(reader)
    found = answers_document(go(path, back, conditions=("none", "full", "mnemic")))
    assert len(back.prompts) == 12 - 3 and found["conditions"]["mnemic"]["groups"]["all"]["answered"] == 4


def test_a_spent_budget_ends_the_run_and_it_goes_on_with_another(path: Path) -> None:
    tight = replace(HASHING, llm_daily_calls=2)
    with pytest.raises(BudgetError, match="llm_daily_calls"):
        go(path, ScriptedModel(reader), conditions=("none",), settings=tight)
    steps: list[Step] = []
    rest = ScriptedModel(reader)
    go(path, rest, conditions=("none",), told=steps.append)
    assert not steps[0].changed and len(rest.prompts) == 2


def test_a_judge_decides_and_what_it_says_unreadably_counts_as_neither(path: Path) -> None:
    def verdict(prompt: Prompt) -> str:
        told = prompt.turns[-1].text
        if "dog" in told:
            return "Well, yes."
        gold, _, answer = told.partition("GOLD\n")[2].partition("ANSWER\n")
        right = answer.strip(". ").lower() in gold.lower()
        return json.dumps({"right": right, "reason": "as I see it"})

    found = answers_document(go(path, ScriptedModel(reader), judge=ScriptedModel(verdict, name="judge-1"),
                                conditions=("none", "mnemic")))  # fmt: skip
    assert found["about"]["judge"] == "judge-1"
    told = found["conditions"]["mnemic"]["judged"]
    assert (told["readable"], told["unreadable"]) == (3, 1)
    group = found["conditions"]["mnemic"]["groups"]["all answerable"]["measures"]["judged right"]
    assert group["n"] == 2 and group["mean"] == 1.0
    assert mean(found, "none", "all answerable", "judged right") == 0.0
    assert mean(found, "none", "adversarial", "judged right") == 1.0
    assert found["questions"][1]["answers"]["mnemic"]["judged"] == {"right": None, "reason": "Well, yes."}


def test_an_outage_of_the_judge_keeps_the_answer_and_asks_only_the_judge_again(path: Path) -> None:
    yes = '{"right": true, "reason": ""}'
    model, away = ScriptedModel(reader), ScriptedModel([yes, outage(), yes, yes])
    found = answers_document(go(path, model, judge=away, conditions=("full",)))
    assert [each["stage"] for each in found["failed"]] == ["judgement"]
    assert found["conditions"]["full"]["groups"]["all"]["answered"] == 4
    silent, back = ScriptedModel([]), ScriptedModel([yes])
    healed = answers_document(go(path, silent, judge=back, conditions=("full",)))
    assert not silent.prompts and healed["conditions"]["full"]["judged"]["readable"] == 4


def test_another_judge_judges_anew_and_answers_stay(path: Path) -> None:
    yes, no = '{"right": true, "reason": ""}', '{"right": false, "reason": ""}'
    go(path, ScriptedModel(reader), judge=ScriptedModel(lambda _: yes, name="kind"), conditions=("full",))
    silent = ScriptedModel([])
    found = answers_document(go(path, silent, judge=ScriptedModel(lambda _: no, name="strict"), conditions=("full",)))
    assert mean(found, "full", "all", "judged right") == 0.0 and not silent.prompts
    assert answers_document(go(path, silent, conditions=("full",)))["conditions"]["full"]["judged"]["readable"] == 0


def test_another_model_starts_anew_and_the_answers_before_are_put_aside(path: Path) -> None:
    go(path, ScriptedModel(reader), conditions=("none",))
    before = (path.parent / "run" / FILE).read_bytes()
    steps: list[Step] = []
    go(path, ScriptedModel(reader, name="other"), conditions=("none",), told=steps.append)
    assert steps[0].changed == ("the model",)
    assert (path.parent / "run" / BEFORE).read_bytes() == before


def test_costs_follow_from_prices_and_tokens(path: Path) -> None:
    model = ScriptedModel(lambda _: Reply("Porto", "m", tokens_in=1_000, tokens_out=10))
    found = answers_document(go(path, model, conditions=("none",), price_in=0.5, price_out=2.0))
    assert found["conditions"]["none"]["usage"]["cost"] == pytest.approx((1_000 * 0.5 + 10 * 2.0) / 1_000_000)
    assert "cost" not in answers_document(go(path, model, conditions=("none",)))["conditions"]["none"]["usage"]


def test_a_difference_is_told_over_the_questions_that_both_answered(path: Path) -> None:
    found = answers_document(go(path, ScriptedModel(reader), conditions=("none", "mnemic")))
    (pair,) = found["paired"]
    assert (pair["of"], pair["over"]) == ("mnemic", "none")
    assert pair["measures"]["score"]["mean"] == pytest.approx(3 / 4) and pair["measures"]["score"]["n"] == 4


def test_ask_answers_by_its_own_prompt_and_its_references_are_no_words(path: Path) -> None:
    def cites(prompt: Prompt) -> str:
        told = said_to(prompt)
        right = next((answer for word, answer in KNOWN.items() if f"{word}" in told.rpartition("Ann")[2]), "")
        return f"{right} [1]" if right else "[none] That is not in memory."

    model = ScriptedModel(cites)
    run = go(path, model, conditions=("ask",))
    found = answers_document(run)
    assert mean(found, "ask", "adversarial", "withheld") == 1.0
    assert {each.text for each in run.answered.values() if not each.withheld} <= set(KNOWN.values())
    assert mean(found, "ask", "all answerable", "F1") == 1.0
    assert found["conditions"]["ask"]["usage"]["calls"] == 1 and all(
        "as few words as possible" in said_to(prompt) for prompt in model.prompts
    )


def test_calls_are_accounted_to_the_memory_as_an_evaluation(path: Path) -> None:
    go(path, ScriptedModel(reader), conditions=("none",))
    place = next((path.parent / "run" / "memories").iterdir())
    with Memory(place / "memory", settings={"worker": False}, embedder=HashingEmbedder(64)) as memory:
        assert {(call.purpose, call.outcome) for call in memory.llm.calls(user="ann")} == {("evaluation", "ok")}


def test_no_key_is_written_down(path: Path) -> None:
    keys: dict[str, Any] = {f"{name}_api_key": f"sk-secret-{name}" for name in ("llm", "judge", "embed", "rerank")}
    found = answers_document(go(path, ScriptedModel(reader), settings=replace(HASHING, **keys)))
    assert "sk-secret" not in json.dumps(found) + (path.parent / "run" / FILE).read_text("utf-8")


def test_the_document_is_plain_json_and_counts_what_was_asked(path: Path) -> None:
    found = answers_document(go(path, ScriptedModel(reader), limit=1, seed=3))
    assert json.loads(json.dumps(found)) == found
    assert found["format"] == "mnemic-eval-answers-1"
    assert (found["sample"]["limit"], found["sample"]["seed"], found["sample"]["eligible"]) == (1, 3, 4)
    assert [each["category"] for each in found["questions"]] == ["single", "temporal", "adversarial"]


def test_questions_of_longmemeval_are_asked_as_the_users_own_on_their_day(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: "That was not mentioned.")
    run = run_answers(
        open_dataset("longmemeval", ROOT / "tests" / "data" / "eval" / "longmemeval.json"),
        Options(tmp_path / "run", HASHING, drop=True),
        Answers(conditions=("none", "full")),
        embedder=HashingEmbedder(64),
        models=Models(model),
    )
    assert all("assistant that a user has talked to" in prompt.turns[0].text for prompt in model.prompts)
    for posed, prompt in zip(run.posed, model.prompts[::2], strict=True):
        assert f"It is now {posed.at.day} {posed.at:%B %Y}." in prompt.turns[1].text and posed.question.at == posed.at
    found = answers_document(run)
    assert mean(found, "full", "abstention", "withheld") == 1.0
    assert set(found["conditions"]["full"]["groups"]) >= {"single-session-user", "all answerable", "abstention", "all"}
    assert not list((tmp_path / "run" / "memories").iterdir())
