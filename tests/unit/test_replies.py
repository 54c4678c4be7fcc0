"""JSON out of replies: what stands around it does not matter, and what is cut gives what is whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.replies import items_of, json_in, number_in, one_line, picked
from mnemic.errors import LanguageError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)


@given(OBJECTS)
def test_an_object_alone_is_read(value: dict[str, object]) -> None:
    assert json_in(json.dumps(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"a": [1]}\n```',
        'Sure! Here it is:\n```\n{"a": [1]}\n```\nAnything else?',
        'Here is {what you asked}: {"a": [1]} I hope that {helps}.',
        '{"a": [1]}\n\n{"b": 2}',
        '  \ufeff\n{"a": [1]}',
    ],
)
def test_prose_and_fences_are_left_out(text: str) -> None:
    assert json_in(text) == {"a": [1]}


def test_brackets_inside_strings_do_not_count() -> None:
    assert json_in('say {"a": "}]{[ \\" }"} end') == {"a": '}]{[ " }'}


def test_a_list_takes_the_place_of_its_field() -> None:
    assert json_in('[{"n": 1}, {"n": 2}]', wrapped_as="items") == {"items": [{"n": 1}, {"n": 2}]}


@pytest.mark.parametrize("text", ["", "I cannot do that.", "None", "null", "[1, 2", '"text"', "{not json}", "[[1]]"])
def test_a_reply_without_an_object_is_an_error(text: str) -> None:
    with pytest.raises(LanguageError) as caught:
        json_in(text, wrapped_as="items")
    assert caught.value.fields["passing"] is True


def test_a_cut_reply_gives_its_whole_part_and_only_when_it_is_told_to_be_cut() -> None:
    text = '{"items": [{"n": "one"}, {"n": "tw'
    assert json_in(text, cut=True)["items"][0] == {"n": "one"}
    with pytest.raises(LanguageError):
        json_in(text)


@given(OBJECTS, st.integers(0, 60))
def test_no_cut_invents_a_value(value: dict[str, object], length: int) -> None:
    text = json.dumps(value)[:length]
    try:
        found = json_in(text, cut=True)
    except LanguageError:
        return
    assert set(found) <= set(value)


@pytest.mark.parametrize(
    "given,number",
    [(3, 3), ("3", 3), ("m3", 3), ("memory #12", 12), ("p1 (2024)", 1), (3.0, 3), (-1, -1),
     (None, 0), ("", 0), ("none", 0), ("\u00b2", 0), ("9" * 5_000, 0)],
)  # fmt: skip
def test_a_number_is_the_first_that_stands_there(given: object, number: int) -> None:
    assert number_in(given) == number


@pytest.mark.parametrize("given", [0, -1, 4, None, "k9", "1234567"])
def test_a_number_that_was_not_shown_means_nothing(given: object) -> None:
    assert picked("m2", "abc") == "b"
    assert picked(given, "abc") is None


def test_what_can_be_kept_of_a_text_is_clean_short_and_on_one_line() -> None:
    assert one_line(" likes\n tea\0 ", 40) == "likes tea\ufffd"
    assert one_line("word " * 30, 20).endswith("\u2026") and len(one_line("word " * 30, 20)) <= 20
    assert one_line(None, 20) == ""


def test_an_object_alone_is_a_list_of_one_and_anything_else_is_none() -> None:
    assert items_of({"n": 1}) == [{"n": 1}]
    assert items_of("n") == items_of(None) == []
