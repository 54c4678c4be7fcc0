"""Keywords name a topic in words that were used, and compare by stem."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.keywords import keywords, overlap, stems
from mnemic.text import stem, words

TALK = (
    "We went hiking near the lake, and hiking was great!",
    "Hiking again? I prefer to paint the lake. Ann paints too.",
    "Thanks Ann, the 2 paintings are really good.",
)


def test_words_of_a_topic_come_in_the_form_that_was_used_most() -> None:
    found = keywords(TALK, skip={"Ann"})
    assert found[0] == "hiking"
    assert "lake" in found
    assert not {"ann", "thanks", "good", "2", "the"} & set(found)


def test_rare_words_weigh_more_when_the_cube_is_known() -> None:
    frequency = {"hike": 900, "lake": 2}
    assert keywords(TALK, frequency=frequency, total=1_000, limit=1) != ("hiking",)
    assert keywords(["lake hiking"], frequency=frequency, total=1_000, limit=1) == ("lake",)


def test_two_words_that_come_together_are_one_keyword() -> None:
    found = keywords(["The support group met.", "My support group helps.", "A support group again"])
    assert found[0] == "support group"
    assert len([each for each in found if "support" in each or "group" in each]) == 1


def test_words_that_once_stood_together_stay_apart() -> None:
    assert "hiking lake" not in keywords(["hiking lake", "hiking alone", "lake alone"])


def test_a_text_of_fillers_still_has_keywords() -> None:
    assert keywords(["Sounds good!"]) != ()
    assert keywords(["", "?!"]) == ()


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["\u6211\u5728\u4eac\u90fd\u5de5\u4f5c"], "\u4eac\u90fd"),
        (["Ich wohne in M\u00fcnchen"], "munchen"),
        (["\u042f \u0432 \u041c\u043e\u0441\u043a\u0432\u0435"], "\u043c\u043e\u0441\u043a\u0432\u0435"),
    ],
)
def test_other_languages_have_keywords_too(texts: list[str], expected: str) -> None:
    assert expected in keywords(texts)


def test_overlap_compares_stems_and_takes_phrases_apart() -> None:
    assert overlap(stems(["support group", "hiking"]), stems(["groups", "hikes"])) == pytest.approx(2 / 3)
    assert overlap(stems([]), stems([])) == 0
    assert overlap(stems(["a"]), stems([])) == 0
    assert stems(["support group"]) == {"support", "group"}


@given(st.lists(st.text(max_size=60), max_size=5), st.integers(1, 8))
@settings(deadline=None)
def test_keywords_come_from_the_texts_without_repeating(texts: list[str], limit: int) -> None:
    found = keywords(texts, limit=limit)
    said = [word for text in texts for word in words(text)]
    used = {stem(part) for word in said for part in (word, *words(word))}  # cutting a word may leave a mark in front
    assert len(found) <= limit
    assert len(set(found)) == len(found)
    assert stems(found) <= used
    assert keywords(texts, limit=limit) == found
