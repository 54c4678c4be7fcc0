"""What a judge is told and what is read of its verdict: never a guess."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.core.prompts import load
from mnemic.evaluation.answered import Answered
from mnemic.evaluation.datasets import Question
from mnemic.evaluation.judging import judge, read_verdict
from mnemic.evaluation.prompting import FOLDER, judge_prompt, question_prompt, size, tokens
from mnemic.model.language import Reply
from mnemic.testing.scripted_model import ScriptedModel, said_to

QUESTION = Question("q1", "Where does Ann live?", "single-hop", answer="Porto")
GIVEN = Answered("c", "q1", "mnemic", text="in Porto {or so}")


@pytest.mark.parametrize(
    "text,right",
    [
        ('{"right": true, "reason": "same city"}', True),
        ('{"right": false, "reason": "another city"}', False),
        ('Sure!\n```json\n{"right": true}\n```\nHope that helps.', True),
        ('{"right": "true"}', None),
        ('{"right": 1}', None),
        ('{"correct": true}', None),
        ("yes", None),
        ("It is right.", None),
        ('{"right": tr', None),
        ("[true]", None),
        ("null", None),
        ("", None),
    ],
)
def test_a_verdict_is_read_or_it_is_unreadable(text: str, right: bool | None) -> None:
    assert read_verdict(text)[0] is right


def test_an_unreadable_verdict_keeps_what_was_said() -> None:
    assert read_verdict("I would say yes") == (None, "I would say yes")


def test_a_judgement_names_its_judge_and_what_it_took() -> None:
    model = ScriptedModel([Reply('{"right": true, "reason": "same"}', "j", tokens_in=7, tokens_out=3)], name="j")
    found = judge(model, QUESTION, GIVEN)
    assert (found.judge, found.right, found.reason, found.key) == ("j", True, "same", ("q1", "mnemic"))
    assert (found.tokens_in, found.tokens_out) == (7, 3)


def test_a_verdict_that_was_cut_short_is_unreadable() -> None:
    model = ScriptedModel([Reply('{"right": true, "reason": "sa', "j", cut=True)])
    assert judge(model, QUESTION, GIVEN).right is None


def test_a_judge_sees_question_gold_and_answer_and_is_asked_for_an_object() -> None:
    prompt = judge_prompt(QUESTION, GIVEN.text)
    said = said_to(prompt)
    assert all(each in said for each in ("QUESTION\nWhere does Ann live?", "GOLD\nPorto", "ANSWER\nin Porto {or so}"))
    assert "RULE" not in prompt.turns[-1].text and prompt.schema is not None


@pytest.mark.parametrize(
    "category,absent,rule",
    [
        ("adversarial", True, "never said"),
        ("temporal-reasoning", False, "one more or less"),
        ("knowledge-update", False, "held before"),
        ("single-session-preference", False, "need not heed all"),
    ],
)
def test_some_kinds_of_questions_are_judged_by_a_rule(category: str, absent: bool, rule: str) -> None:
    question = Question("q", "?", category, absent=absent, answer=None if absent else "x")
    told = judge_prompt(question, "y").turns[-1].text
    assert rule in told.partition("RULE\n")[2].partition("ANSWER")[0]


def test_all_conditions_share_a_prompt_in_which_only_the_context_differs() -> None:
    when = datetime(2023, 5, 8, tzinfo=UTC)
    without, with_ = (
        question_prompt(QUESTION, when, context, layout="locomo", max_tokens=9, temperature=0.0)
        for context in ("", "[2023-05-07 10:00] Ann: I moved to Porto.")
    )
    assert without.turns[0] == with_.turns[0]
    assert without.turns[1].text == "It is now 8 May 2023.\n\nQUESTION\nWhere does Ann live?"
    assert with_.turns[1].text == f"CONTEXT\n[2023-05-07 10:00] Ann: I moved to Porto.\n\n{without.turns[1].text}"
    assert size(with_) > size(without) and tokens("") == 0


def test_the_prompt_of_each_benchmark_knows_how_to_say_that_it_is_not_told() -> None:
    for name in ("short_answer", "assistant_answer"):
        assert load(name, FOLDER).endswith("answer: not mentioned") and "<!--" not in load(name, FOLDER)
