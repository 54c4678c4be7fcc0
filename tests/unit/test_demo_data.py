"""The demo conversation keeps its promises: layout, size, span, variety, and questions whose evidence exists.

It reads the shipped file with nothing but the standard library, so a broken demo fails here before any service
loads it.
"""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).parents[2] / "src" / "mnemic" / "data" / "demo.json"
WHEN = "%I:%M %p on %d %B, %Y"
MULTI_HOP, TEMPORAL, OPEN_DOMAIN, SINGLE_HOP, ADVERSARIAL = range(1, 6)


@pytest.fixture(scope="module")
def demo() -> dict[str, Any]:
    (sample,) = json.loads(DEMO.read_text(encoding="utf-8"))
    return dict(sample)


def said_at(text: str) -> datetime:
    return datetime.strptime(text, WHEN).replace(tzinfo=UTC)


def sessions(demo: dict[str, Any]) -> list[tuple[datetime, list[dict[str, str]]]]:
    talk = demo["conversation"]
    count = sum(key.endswith("_date_time") for key in talk)
    return [(said_at(talk[f"session_{n}_date_time"]), talk[f"session_{n}"]) for n in range(1, count + 1)]


def turns(demo: dict[str, Any]) -> list[dict[str, str]]:
    return [turn for _, spoken in sessions(demo) for turn in spoken]


def test_the_sample_is_named_demo_and_has_only_the_known_keys(demo: dict[str, Any]) -> None:
    assert demo["sample_id"] == "demo"
    assert set(demo) == {"sample_id", "conversation", "qa", "demo_questions"}


def test_there_are_enough_sessions_and_turns_for_the_tiers_to_move(demo: dict[str, Any]) -> None:
    assert 16 <= len(sessions(demo)) <= 20
    assert len(turns(demo)) >= 150


def test_the_sessions_go_forward_in_time_over_at_least_nine_months(demo: dict[str, Any]) -> None:
    days = [when for when, _ in sessions(demo)]
    assert all(earlier < later for earlier, later in pairwise(days))
    assert days[-1] - days[0] >= timedelta(days=274)


def test_every_turn_is_numbered_by_its_session_and_place(demo: dict[str, Any]) -> None:
    for number, (_, spoken) in enumerate(sessions(demo), start=1):
        assert [turn["dia_id"] for turn in spoken] == [f"D{number}:{place}" for place in range(1, len(spoken) + 1)]


def test_every_turn_has_text_and_one_of_the_two_speakers(demo: dict[str, Any]) -> None:
    both = {demo["conversation"]["speaker_a"], demo["conversation"]["speaker_b"]}
    assert {turn["speaker"] for turn in turns(demo)} == both
    assert all(turn["text"].strip() for turn in turns(demo))
    assert all(set(turn) <= {"speaker", "dia_id", "text", "blip_caption"} for turn in turns(demo))


def test_no_two_turns_say_the_same(demo: dict[str, Any]) -> None:
    texts = [turn["text"] for turn in turns(demo)]
    assert len(texts) == len(set(texts))


def test_at_least_ten_turns_show_a_photo(demo: dict[str, Any]) -> None:
    captions = [turn["blip_caption"] for turn in turns(demo) if "blip_caption" in turn]
    assert len(captions) >= 10
    assert len(captions) == len(set(captions))


def test_short_and_long_and_wordless_turns_all_occur(demo: dict[str, Any]) -> None:
    texts = [turn["text"] for turn in turns(demo)]
    assert any(len(text) > 300 for text in texts)
    assert any(len(text) < 20 and text[0].isalpha() for text in texts)
    assert any(not any(letter.isalnum() for letter in text) for text in texts)


@pytest.mark.parametrize(
    "category, least", [(MULTI_HOP, 8), (TEMPORAL, 10), (OPEN_DOMAIN, 4), (SINGLE_HOP, 14), (ADVERSARIAL, 6)]
)
def test_each_category_has_its_share_of_questions(demo: dict[str, Any], category: int, least: int) -> None:
    assert Counter(entry["category"] for entry in demo["qa"])[category] >= least


def test_there_are_at_least_forty_questions_and_none_is_asked_twice(demo: dict[str, Any]) -> None:
    questions = [entry["question"] for entry in demo["qa"]]
    assert len(questions) >= 40
    assert len(questions) == len(set(questions))


def test_evidence_names_turns_that_exist(demo: dict[str, Any]) -> None:
    known = {turn["dia_id"] for turn in turns(demo)}
    for entry in demo["qa"]:
        assert set(entry["evidence"]) <= known, entry["question"]
        assert len(entry["evidence"]) == len(set(entry["evidence"])), entry["question"]


def test_answerable_questions_have_an_answer_and_evidence(demo: dict[str, Any]) -> None:
    for entry in demo["qa"]:
        if entry["category"] != ADVERSARIAL:
            assert entry["answer"] and entry["evidence"], entry["question"]
            assert "adversarial_answer" not in entry, entry["question"]


def test_multi_hop_questions_need_more_than_one_turn(demo: dict[str, Any]) -> None:
    assert all(len(entry["evidence"]) > 1 for entry in demo["qa"] if entry["category"] == MULTI_HOP)


def test_absent_facts_have_a_tempting_answer_and_no_evidence(demo: dict[str, Any]) -> None:
    for entry in demo["qa"]:
        if entry["category"] == ADVERSARIAL:
            assert entry["adversarial_answer"] and "answer" not in entry, entry["question"]
            assert entry["evidence"] == [], entry["question"]


def test_the_demo_asks_eight_of_the_questions_and_one_of_them_is_absent(demo: dict[str, Any]) -> None:
    asked = demo["demo_questions"]
    category = {entry["question"]: entry["category"] for entry in demo["qa"]}
    assert len(asked) == len(set(asked)) == 8
    assert set(asked) <= set(category)
    assert {category[question] for question in asked} >= {MULTI_HOP, TEMPORAL, SINGLE_HOP, ADVERSARIAL}
    assert [category[question] for question in asked].count(ADVERSARIAL) == 1


def test_one_turn_stands_on_one_line_so_that_changes_read_well(demo: dict[str, Any]) -> None:
    lines = DEMO.read_text(encoding="utf-8").splitlines()
    assert sum('"dia_id"' in line for line in lines) == len(turns(demo))
