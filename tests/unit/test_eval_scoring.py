"""Scores of answers against values worked out by hand; those of LoCoMo as its own scorer gives them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.evaluation.scoring import (
    answer_f1,
    bleu_1,
    date_scores,
    dates_of,
    denies,
    parts_f1,
    reference,
    token_f1,
    tokens,
    word_scores,
)

NOW = datetime(2024, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text,words",
    [
        ("The cat, and a dog!", ["cat", "dog"]),
        ("Charlotte's Web", ["charlottes", "web"]),
        ("non-fiction", ["nonfiction"]),
        ("An analysis of the Andes", ["analysis", "of", "andes"]),
        ("pigs,since then", ["pigssince", "then"]),  # the scorer drops commas before it parts words
        ("", []),
        ("The", []),
    ],
)
def test_words_are_lower_case_without_punctuation_and_articles(text: str, words: list[str]) -> None:
    assert tokens(text) == words


def test_f1_counts_stems() -> None:
    assert token_f1("She was camping", "camps") == pytest.approx(2 * (1 / 3) * 1 / (1 / 3 + 1))
    assert token_f1("adoption agencies", "Adoption agency") == 1.0


def test_f1_counts_a_word_as_often_as_it_stands_in_both() -> None:
    # 2 of 3 words given are wanted, 2 of 2 wanted are given
    assert token_f1("dog dog dog", "dog dog") == pytest.approx(2 * (2 / 3) * 1 / (2 / 3 + 1))


def test_words_of_two_letters_are_not_stemmed() -> None:
    assert token_f1("is", "i") == 0.0  # Snowball's reading of Porter makes them the same


def test_f1_of_nothing_in_common_or_of_nothing_is_zero() -> None:
    assert token_f1("Paris", "London") == token_f1("", "London") == token_f1("the", "the") == 0.0


def test_multi_hop_answers_are_compared_part_by_part() -> None:
    # pottery is found whole, camping half of "went camping" (F1 2/3), swimming not at all
    assert parts_f1("pottery, went camping", "pottery, camping, swimming") == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert answer_f1("camping, pottery", "pottery, camping", layout="locomo", category="multi-hop") == 1.0
    assert answer_f1("a, b", "b, a", layout="jsonl", category="multi-hop") == pytest.approx(1.0)
    one_part = answer_f1("pottery", "pottery, camping", layout="locomo", category="multi-hop")
    assert one_part == 0.5
    assert answer_f1("pottery", "pottery, camping", layout="longmemeval", category="multi-hop") == pytest.approx(2 / 3)


def test_an_open_domain_gold_counts_up_to_its_first_semicolon() -> None:
    gold = "Likely no; she wants to be a counselor"
    assert reference(gold, layout="locomo", category="open-domain") == "Likely no"
    assert answer_f1("likely no", gold, layout="locomo", category="open-domain") == 1.0
    assert answer_f1("likely no", gold, layout="locomo", category="single-hop") < 0.5
    assert word_scores("Likely no", gold, layout="locomo", category="open-domain") == {"F1": 1.0, "BLEU-1": 1.0}


def test_bleu_1_clips_repetition_and_punishes_shortness() -> None:
    assert bleu_1("dog dog dog", "dog cat") == pytest.approx(1 / 3)
    assert bleu_1("dog", "dog cat bird") == pytest.approx(1.0 * math.exp(1 - 3))
    assert bleu_1("the dog and the cat", "dog cat") == 1.0
    assert bleu_1("camping", "camps") == 0.0  # not stemmed
    assert bleu_1("", "dog") == bleu_1("dog", "") == 0.0


@pytest.mark.parametrize(
    "answer,said",
    [
        ("Not mentioned", True),
        ("That is not mentioned in the conversation.", True),
        ("No information available", True),
        ("I do not know", False),
        ("She mentioned a dog", False),
        ("", False),
    ],
)
def test_only_the_two_phrases_of_the_scorer_deny(answer: str, said: bool) -> None:
    assert denies(answer) is said


@pytest.mark.parametrize(
    "text,label",
    [
        ("7 May 2023", "7 May 2023"),
        ("May 7, 2023", "7 May 2023"),
        ("25October, 2022", "25 October 2022"),
        ("October, 2023", "October 2023"),
        ("August 2023.", "August 2023"),
        ("2022", "2022"),
        ("The Sunday before 25 May 2023", "21 May 2023"),
        ("It was on 5 June 2023, I think.", "5 June 2023"),
    ],
)
def test_dates_of_gold_answers_are_read(text: str, label: str) -> None:
    assert [span.label() for span in dates_of(text, NOW)] == [label]


@pytest.mark.parametrize("text", ["four months", "Chicago", "Yes", ""])
def test_a_gold_without_a_date_is_not_scored_for_dates(text: str) -> None:
    assert date_scores("7 May 2023", text, NOW) == {}


@pytest.mark.parametrize(
    "answer,gold,exact,inside",
    [
        ("7 May 2023", "May 7, 2023", 1.0, 1.0),
        ("8 May 2023", "7 May 2023", 0.0, 0.0),
        ("May 2023", "7 May 2023", 0.0, 0.0),
        ("7 May 2023", "May, 2023", 0.0, 1.0),
        ("6 June 2023", "The week before 16 June 2023", 0.0, 1.0),
        ("15 June 2023", "The week before 9 June 2023", 0.0, 0.0),
        ("not mentioned", "7 May 2023", 0.0, 0.0),
        ("On 7 May 2023 she said so", "7 May 2023", 1.0, 1.0),
        ("May 2022", "May 2022 and June 2023", 0.0, 0.0),
        ("June 2023, May 2022", "May 2022 and June 2023", 1.0, 1.0),
        ("since 2016", "Since 2016", 1.0, 1.0),
    ],
)
def test_dates_are_the_same_days_or_lie_within_them(answer: str, gold: str, exact: float, inside: float) -> None:
    assert date_scores(answer, gold, NOW) == {"date exact": exact, "date inside": inside}


@given(st.text(max_size=40), st.text(max_size=40))
def test_scores_lie_between_nothing_and_one_and_f1_takes_no_sides(one: str, other: str) -> None:
    assert 0.0 <= token_f1(one, other) <= 1.0 + 1e-12
    assert token_f1(one, other) == pytest.approx(token_f1(other, one))
    assert 0.0 <= bleu_1(one, other) <= 1.0 + 1e-12
    if tokens(one):
        assert token_f1(one, one) == bleu_1(one, one) == 1.0
