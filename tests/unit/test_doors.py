from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InputError
from mnemic.model.caller import Caller
from mnemic.shells.doors.filtering import where_of
from mnemic.shells.doors.shapes import messages_of, relativity, threshold_of
from mnemic.shells.doors.subjects import PROJECT, Place, one_subject, place_of, subjects, user_for
from mnemic.wire.completions import Heard

NAMES = st.text(min_size=1, max_size=30).filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text))


@given(st.uuids().map(str), st.lists(NAMES, min_size=1, max_size=3), st.none() | NAMES)
def test_an_id_carries_its_users_and_cube_whatever_they_are_called(
    item: str, users: list[str], cube: str | None
) -> None:
    place = Place(item, tuple(users), cube)
    assert place_of(str(place), "id") == place


@pytest.mark.parametrize("given_id", ["", ":ann", "a:b:c:d"])
def test_what_is_no_id_is_refused_by_name(given_id: str) -> None:
    with pytest.raises(InputError) as caught:
        place_of(given_id, "memory_ids[3]")
    assert caught.value.field == "memory_ids[3]"


def test_a_call_without_a_user_is_the_ids_the_headers_the_keys_or_the_projects() -> None:
    one, some = Caller("k", users=("ann",)), Caller("k", users=("ann", "ben"))
    assert user_for(one, "cas", Place("x", ("dan",))) == "dan"
    assert user_for(one, "cas") == "cas"
    assert user_for(one, None) == "ann"
    assert user_for(Caller("k"), None) == user_for(None, None) == PROJECT
    with pytest.raises(InputError, match="X-Mnemic-User"):
        user_for(some, None)


def test_users_and_agents_of_a_conversation() -> None:
    assert subjects("ann", "bot") == (["ann"], "bot")
    assert subjects(["ann", "ben", "ann"], None) == (["ann", "ben"], None)
    assert subjects(None, "bot") == (["agent:bot"], "bot")
    for users, agents in ((None, None), ([], []), (["ann"], ["b1", "b2"]), ([f"u{n}" for n in range(21)], None)):
        with pytest.raises(InputError):
            subjects(users, agents)
    with pytest.raises(InputError):
        one_subject("ann", "bot")


def test_filters_are_translated_field_by_field() -> None:
    assert where_of(None) is None
    assert where_of({"and": [{"tags": "travel"}, {"create_time": {"gte": "2025-12-06"}}]}) == {
        "and": [{"metadata.tags": {"contains": "travel"}}, {"stored_at": {"gte": "2025-12-06"}}]
    }
    assert where_of({"or": [{"info.scene": "chat"}, {"scene": ["mail", "chat"]}]}) == {
        "or": [{"metadata.scene": "chat"}, {"metadata.scene": {"in": ["mail", "chat"]}}]
    }
    assert where_of({"conversation_id": "c1", "not": {"agent_id": "bot"}}) == {
        "and": [{"session": "c1"}, {"not": {"agent": "bot"}}]
    }
    assert where_of({"id": {"in": ["x:ann", "y"]}}) == {"id": {"in": ["x", "y"]}}


@pytest.mark.parametrize(
    "wrong,field",
    [
        ({}, "filter"),
        ({"and": []}, "filter.and"),
        ({"and": ["x"]}, "filter.and[0]"),
        ({"or": [{"and": [{}]}]}, "filter.or[0].and[0]"),
        ({"status": "activated"}, "filter.status"),
        ({"tags": {"like": "x"}}, "filter.tags.like"),
    ],
)
def test_a_filter_that_cannot_be_done_names_the_place(wrong: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        where_of(wrong)
    assert caught.value.field == field


@given(st.floats(0, 1))
def test_a_relativity_cuts_where_its_score_lies(score: float) -> None:
    least = threshold_of(relativity(score))
    assert least is None or least == pytest.approx(score, abs=1e-3)


def test_messages_keep_time_id_and_speaker_and_name_what_they_do_not_know() -> None:
    assert messages_of(
        ["hello", {"role": "assistant", "content": "x", "chat_time": "2025-01-01", "message_id": "m", "role_id": "r"}],
        {"tags": ["t"]},
    ) == [
        {"role": "user", "content": "hello", "metadata": {"tags": ["t"]}},
        {"role": "assistant", "content": "x", "at": "2025-01-01", "id": "m", "name": "r", "metadata": {"tags": ["t"]}},
    ]
    assert messages_of([{"type": "text", "text": "x"}], {})[0]["content"] == [{"type": "text", "text": "x"}]
    for wrong, field in ((5, "messages[0]"), ({"role": "user"}, "messages[0].content"),
                         ({"content": "x", "mood": 1}, "messages[0].mood")):  # fmt: skip
        with pytest.raises(InputError) as caught:
            messages_of([wrong], {})
        assert caught.value.field == field


def test_what_is_heard_of_an_answer_is_that_of_its_first_choice() -> None:
    heard = Heard()
    for event in (
        {"choices": [{"index": 0, "delta": {"content": "Por"}}, {"index": 1, "delta": {"content": "Lis"}}]},
        {"choices": [{"index": 0, "delta": {"content": "to"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}, "model": "m"},
        {"choices": None},
    ):
        heard.add(event)
    assert (heard.text, heard.finish, heard.choices, heard.calls_tools) == ("Porto", "stop", 2, False)
