"""A summary says what was said: whole sentences, the telling ones, in order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.summary import LIMIT, summarise

TALK = [
    ("Ann", "Hey Ben! How are you?"),
    ("Ben", "Great to see you! I adopted a rescue dog named Max last week."),
    ("Ann", "That's so great! What kind of dog is Max?"),
    ("Ben", "Max is a young beagle from the rescue shelter. He chews everything."),
    ("Ann", "I volunteer at the shelter every Sunday, so I may have walked your dog Max."),
    ("Ben", "Thanks, bye!"),
]


def test_the_telling_sentences_stand_in_order_with_their_speakers() -> None:
    summary = summarise(TALK)
    assert summary == (
        "Ben: I adopted a rescue dog named Max last week. Max is a young beagle from the rescue shelter. "
        "Ann: I volunteer at the shelter every Sunday, so I may have walked your dog Max."
    )


def test_keywords_pull_their_sentences_in() -> None:
    assert "Sunday" in summarise(TALK, limit=100, keywords=("sunday", "volunteering"))


def test_small_talk_alone_is_still_summarised() -> None:
    assert summarise([("Ann", "Hi!"), ("Ben", "Hello, how are you?")]) != ""
    assert summarise([]) == ""


def test_one_long_sentence_is_cut_at_a_word() -> None:
    summary = summarise([("Ann", "tulips and roses " * 60)])
    assert summary.startswith("Ann: tulips and roses") and summary.endswith("\u2026") and len(summary) <= LIMIT


def test_the_same_sentence_is_not_said_twice() -> None:
    assert summarise([("Ann", "The garden has tulips.")] * 3) == "Ann: The garden has tulips."


@given(
    st.lists(st.tuples(st.sampled_from(("Ann", "Ben", "")), st.text(max_size=120)), max_size=8), st.integers(20, 300)
)
@settings(deadline=None)
def test_a_summary_fits_and_invents_no_word(lines: list[tuple[str, str]], limit: int) -> None:
    summary = summarise(lines, limit)
    assert len(summary) <= limit
    said = {word for speaker, text in lines for word in (f"{speaker}:", *text.split())}
    assert all(word in said or word.endswith("\u2026") for word in summary.split())
