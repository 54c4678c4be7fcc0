from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.feedback import Instead, Put, Take, Told, has_words, put_in, read_feedback


@pytest.mark.parametrize(
    "said,asked",
    [
        ("forget the peanut thing, it was a joke", Take("peanut")),
        ("Could you please delete the memory about my car?", Take("car?")),
        ("forget everything about my ex", Take("ex", every=True)),
        ("forget that I live in Paris", Take("live in Paris", "I live in Paris")),
        ("forget what I said about jazz because it bores me", Take("jazz")),
        ("that's wrong, I never said I like jazz", Take("like jazz", "I like jazz", never=True)),
        ("It isn't true that I work at Acme.", Take("work at Acme", "I work at Acme", never=True)),
        ("replace Acme by Apex everywhere", Put("Acme", "Apex")),
        ("Please rename 'Nora' to \u201cNoor\u201d.", Put("Nora", "Noor")),
        ("change the name of Acme Corp to Apex Labs in all memories", Put("Acme Corp", "Apex Labs")),
        ("actually my sister is called Noor, not Nora", Instead("my sister is called Noor", "Noor", "Nora")),
        ("I work at Apex Labs, not Acme", Instead("I work at Apex Labs", "Apex Labs", "Acme")),
        ("My sister is not Nora but Noor", Instead("My sister is Noor", "Noor", "Nora")),
        ("no, it's Tuesday, not Monday", Instead("it's Tuesday", "Tuesday", "Monday")),
        ("no, the meeting is on Tuesday", Told("the meeting is on Tuesday", wrong=True)),
        ("I do not like tea", Told("I do not like tea")),
        ("I didn't go to Rome", Told("I didn't go to Rome")),
        ("I am not vegetarian", Told("I am not vegetarian")),
    ],
)
def test_feedback_is_read_as_what_it_asks_for(said: str, asked: object) -> None:
    assert read_feedback(said) == asked


@given(st.text(max_size=300))
def test_any_text_is_read_as_something(said: str) -> None:
    assert isinstance(read_feedback(said), Take | Put | Instead | Told)


@pytest.mark.parametrize(
    "text,old,new,replaced",
    [
        ("Acme and Acmeville, ACME", "Acme", "Apex", "Apex and Acmeville, ACME"),
        ("acme only", "Acme", "Apex", "Apex only"),
        ("Tea is good, tea", "tea", "coffee", "Coffee is good, coffee"),
        ("the New York flat", "new york", "Oslo", "the Oslo flat"),
        (
            "\u6211\u4f4f\u5728\u91cc\u65af\u672c",
            "\u91cc\u65af\u672c",
            "\u5df4\u9ece",
            "\u6211\u4f4f\u5728\u5df4\u9ece",
        ),
        ("a (b) c", "(b)", "\\1", "a \\1 c"),
        ("nothing", "Acme", "Apex", "nothing"),
    ],
)
def test_words_are_put_in_the_place_of_whole_words(text: str, old: str, new: str, replaced: str) -> None:
    assert put_in(text, old, new) == replaced
    assert has_words(text, old) == (replaced != text)
