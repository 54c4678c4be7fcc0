"""JSON out of replies: what stands around it does not matter, and what is cut gives what is whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.replies import json_in
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
