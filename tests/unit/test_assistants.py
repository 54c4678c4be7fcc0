"""The chats that we made to evaluate with keep their promises: the same each time, findable evidence, no lookups."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from bench.assistants import PEOPLE, Chat, as_lines, generate, split
from bench.assistants.__main__ import main
from bench.assistants.asking import NOT_THERE
from bench.assistants.sources import script

BY_HAND = Path(__file__).parents[2] / "bench" / "assistants" / "by_hand.jsonl"
LEAST = {
    "single": 60, "update": 40, "preference": 40, "assistant": 50, "list": 35, "date": 40, "several-hop": 25,
    "absent": 50,
}  # fmt: skip
PINNED = "27c3bb2cc908cf6b1379ea734e75ce00caf7a45dda73cdeea4e64bea8eef3d6f"
STOP = set(
    "a an the i me my mine you your he she him her his it its we us our they them their what which who whom whose when "
    "where why how do does did is are was were be been have has had of in on at to for from by with and or not no that "
    "this these those as if than then so any some there here up out about into over after before now can could would "
    "should will may might must one much many kind sort s t m d ve re ll".split()
)


@cache
def chats() -> list[Chat]:
    return generate(7)


@cache
def lines(part: str) -> tuple[dict[str, Any], ...]:
    texts = BY_HAND.read_text("utf-8").splitlines() if part == "by hand" else as_lines(chats())
    return tuple(json.loads(line) for line in texts)


def conversations(part: str) -> dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    found: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = defaultdict(lambda: ([], []))
    for line in lines(part):
        found[line["conversation"]]["question" in line].append(line)
    return found


parts = pytest.mark.parametrize("part", ["generated", "by hand"])


def test_the_same_seed_gives_the_same_file_and_another_seed_other_chats(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    assert main(["--seed", "7", "--out", str(one)]) == main(["--seed", "8", "--out", str(two)]) == 0
    assert one.read_bytes() != two.read_bytes()
    assert one.read_text("utf-8") == "".join(f"{line}\n" for line in as_lines(chats()))
    assert hashlib.sha256(one.read_bytes()).hexdigest() == PINNED


def test_there_are_people_sessions_and_questions_of_each_kind_in_plenty() -> None:
    turns = [turn for chat in chats() for turn in chat.messages]
    kinds = Counter(question.category for chat in chats() for question in chat.questions)
    assert len(chats()) == PEOPLE >= 20
    assert len({turn.session for turn in turns}) == 456
    assert set(kinds) == set(LEAST) and all(kinds[kind] >= least for kind, least in LEAST.items())
    assert (len(turns), kinds.total()) == (6_894, 381)


def test_the_part_that_was_written_by_hand_has_a_hundred_turns_and_thirty_questions() -> None:
    asked = [line for line in lines("by hand") if "question" in line]
    assert len(lines("by hand")) - len(asked) >= 100
    assert len(asked) >= 30
    assert {line["category"] for line in asked} == set(LEAST)


def test_the_first_ten_people_are_for_tuning_and_the_rest_for_testing() -> None:
    assert [split(chat.messages[0].conversation) for chat in chats()] == ["dev"] * 10 + ["test"] * (PEOPLE - 10)
    assert {split(name) for name in conversations("by hand")} == {"test"}


@parts
def test_sessions_have_4_to_30_turns_that_take_turns(part: str) -> None:
    for turns, _ in conversations(part).values():
        sessions = defaultdict(list)
        for turn in turns:
            sessions[turn["session"]].append(turn["role"])
        for name, roles in sessions.items():
            assert 4 <= len(roles) <= 30, name
            assert roles == ["user", "assistant"] * (len(roles) // 2), name


@parts
def test_turns_go_forward_in_time_over_months_and_each_has_an_id_and_a_zone(part: str) -> None:
    for name, (turns, _) in conversations(part).items():
        times = [datetime.fromisoformat(turn["at"]) for turn in turns]
        assert len({turn["id"] for turn in turns}) == len(turns), name
        assert all(time.tzinfo for time in times) and times == sorted(times), name
        assert times[-1] - times[0] > timedelta(days=300 if part == "generated" else 60), name


@parts
def test_evidence_exists_and_precedes_its_question(part: str) -> None:
    for turns, asked in conversations(part).values():
        said = {turn["id"]: datetime.fromisoformat(turn["at"]) for turn in turns}
        for question in asked:
            at = datetime.fromisoformat(question["at"])
            assert all(said[each] < at for each in question["evidence"]), question["question"]
            assert len(set(question["evidence"])) == len(question["evidence"])
            assert bool(question["evidence"]) == (question["category"] != "absent") and question["answer"]
            assert question.get("absent", False) == (question["category"] == "absent")


@parts
def test_no_question_is_asked_twice_of_a_person(part: str) -> None:
    for _, asked in conversations(part).values():
        assert max(Counter(question["question"] for question in asked).values()) == 1


def test_what_an_absent_question_asks_for_is_said_nowhere_in_its_chat() -> None:
    for chat in chats():
        whole = "\n".join(turn.content for turn in chat.messages).lower()
        for question in chat.questions:
            if question.category == "absent":
                assert question.answer == NOT_THERE and NOT_THERE.lower() not in whole
                assert question.missing, question.question
                said = [word for word in question.missing if re.search(rf"\b{re.escape(word.lower())}\b", whole)]
                assert not said, f"{question.conversation}: {question.question}"


def test_lists_and_joined_facts_need_several_sessions() -> None:
    for chat in chats():
        session = {turn.id: turn.session for turn in chat.messages}
        for question in chat.questions:
            if question.category in {"list", "several-hop"}:
                assert len({session[each] for each in question.evidence}) >= (3 if question.category == "list" else 2)


@parts
def test_most_questions_share_few_words_with_what_answers_them(part: str) -> None:
    shares = []
    for turns, asked in conversations(part).values():
        said = {turn["id"]: words(turn["content"]) for turn in turns}
        names = {turn.get("name", "").lower()[:4] for turn in turns}
        for question in asked:
            wanted = words(question["question"]) - names
            held = set().union(*(said[each] for each in question["evidence"]))
            if question["evidence"] and wanted:
                shares.append(len(wanted & held) / len(wanted))
    assert median(shares) <= 0.34
    assert sum(share > 0 for share in shares) >= len(shares) / 3, "nor is all of it without a common word"


def words(text: str) -> set[str]:
    """Return the first four letters of each word that is not a function word: enough to match its forms."""
    return {word[:4] for word in re.findall(r"[a-z]+", text.lower()) if word not in STOP}


@parts
def test_assistants_go_on_and_users_do_not(part: str) -> None:
    lengths = defaultdict(list)
    for line in lines(part):
        if "role" in line:
            lengths[line["role"]].append(len(line["content"].split()))
    assert median(lengths["assistant"]) >= 30 and max(lengths["assistant"]) <= 220
    assert median(lengths["user"]) < median(lengths["assistant"])


def test_no_hole_of_a_template_is_left_open() -> None:
    for line in lines("generated"):
        text = line.get("content") or f"{line['question']} {line['answer']}"
        assert not re.search(r"\{\^?[a-z]+[.:}]", text), text


@pytest.mark.parametrize("text", ["A: I begin", "U: one\nU: two\nA: three", "U: no reply", "words U: late\nA: x", ""])
def test_a_script_that_does_not_alternate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="alternate"):
        script(text)
