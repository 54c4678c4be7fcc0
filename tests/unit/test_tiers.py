"""Pages form as people talk, and leave short-term memory in order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.tiers import PAGE_MESSAGES, OpenPage, overflow, place
from mnemic.model.message import MessageRole, Page

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
USER, ASSISTANT, TOOL, SYSTEM = (
    MessageRole.USER,
    MessageRole.ASSISTANT,
    MessageRole.TOOL,
    MessageRole.SYSTEM,
)


def read(*turns: tuple[str, MessageRole, float]) -> list[list[str]]:
    """Place turns (speaker, role, minutes after noon) one by one; return the speakers of each page."""
    pages: list[list[str]] = []
    last: OpenPage | None = None
    for speaker, role, minutes in turns:
        at = NOON + minutes * MINUTE
        found = place(last, speaker, role, at)
        if found is None:
            continue
        if found.opens:
            pages.append([])
        pages[-1].append(speaker)
        ended = at if found.opens or last is None else max(last.ended_at, at)
        last = OpenPage(str(len(pages)), found.opened_by, found.replied, len(pages[-1]), role, ended)
    return pages


def test_a_question_and_its_answer_are_a_page() -> None:
    turns = [("Ann", USER, 0), ("bot", ASSISTANT, 1), ("Ann", USER, 2), ("bot", ASSISTANT, 3)]
    assert read(*turns) == [["Ann", "bot"], ["Ann", "bot"]]


def test_two_people_make_a_page_of_each_exchange() -> None:
    turns = [("Ann", USER, 0), ("Ann", USER, 1), ("Ben", USER, 2), ("Ben", USER, 3), ("Ann", USER, 4)]
    assert read(*turns) == [["Ann", "Ann", "Ben", "Ben"], ["Ann"]]


def test_others_join_a_page_until_its_opener_speaks_again() -> None:
    turns = [("Ann", USER, 0), ("Ben", USER, 1), ("Cy", USER, 2), ("Ann", USER, 3)]
    assert read(*turns) == [["Ann", "Ben", "Cy"], ["Ann"]]


def test_tools_and_assistants_join_the_open_page() -> None:
    turns = [("Ann", USER, 0), ("bot", ASSISTANT, 1), ("search", TOOL, 2), ("bot", ASSISTANT, 3), ("Ann", USER, 4)]
    assert read(*turns) == [["Ann", "bot", "search", "bot"], ["Ann"]]


def test_an_assistant_that_opens_does_not_shift_the_pages_after_it() -> None:
    turns = [("bot", ASSISTANT, 0), ("Ann", USER, 1), ("bot", ASSISTANT, 2), ("Ann", USER, 3), ("bot", ASSISTANT, 4)]
    assert read(*turns) == [["bot", "Ann", "bot"], ["Ann", "bot"]]


def test_a_system_message_joins_no_page() -> None:
    assert place(None, "system", SYSTEM, NOON) is None
    assert read(("Ann", USER, 0), ("system", SYSTEM, 1), ("bot", ASSISTANT, 2)) == [["Ann", "bot"]]


def test_a_long_pause_opens_a_page_but_a_late_answer_joins_its_question() -> None:
    assert read(("Ann", USER, 0), ("Ann", USER, 361)) == [["Ann"], ["Ann"]]
    assert read(("Ann", USER, 0), ("bot", ASSISTANT, 600), ("bot", ASSISTANT, 1200)) == [["Ann", "bot"], ["bot"]]


def test_a_message_from_earlier_is_placed_where_it_arrives() -> None:
    assert read(("Ann", USER, 500), ("Ann", USER, 0), ("Ann", USER, 499)) == [["Ann", "Ann", "Ann"]]


@pytest.mark.parametrize("role", [USER, ASSISTANT, TOOL])
def test_a_monologue_is_cut_into_full_pages(role: MessageRole) -> None:
    pages = read(*[("one", role, minute) for minute in range(30)])
    assert [len(page) for page in pages] == [PAGE_MESSAGES, PAGE_MESSAGES, 30 - 2 * PAGE_MESSAGES]


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from((USER, ASSISTANT, TOOL, SYSTEM)), st.floats(0, 5_000)),
        max_size=40,
    )
)
@settings(deadline=None)
def test_every_message_but_the_systems_has_one_page_in_order(turns: list[tuple[str, MessageRole, float]]) -> None:
    pages = read(*turns)
    assert [speaker for page in pages for speaker in page] == [turn[0] for turn in turns if turn[1] is not SYSTEM]
    assert all(0 < len(page) <= PAGE_MESSAGES for page in pages)


# --- overflow ------------------------------------------------------------------------------------------------------


def session(count: int, *, replied: bool = True, assigned: int = 0, ended: datetime = NOON) -> list[Page]:
    return [
        Page(
            id=f"p{number}",
            cube_key=1,
            session_id="s",
            position=number,
            opened_by="Ann",
            replied=replied or number < count - 1,
            started_at=ended - (count - number) * MINUTE,
            ended_at=ended - (count - number - 1) * MINUTE,
            segment_id="topic" if number < assigned else None,
        )
        for number in range(count)
    ]


def leaving(pages: list[Page], *, capacity: int = 10, later: timedelta = timedelta()) -> list[str]:
    return [page.id for page in overflow(pages, capacity=capacity, now_said=NOON + later, quiet=timedelta(hours=6))]


def test_pages_beyond_the_capacity_leave_oldest_first() -> None:
    assert leaving(session(10)) == []
    assert leaving(session(13)) == ["p0", "p1", "p2"]
    assert leaving(session(13, assigned=2)) == ["p2"]


def test_all_pages_of_a_quiet_session_leave() -> None:
    pages = session(4, replied=False, assigned=1)
    assert leaving(pages, later=timedelta(hours=6)) == []
    assert leaving(pages, later=timedelta(hours=7)) == ["p1", "p2", "p3"]


def test_a_page_that_waits_for_its_reply_stays() -> None:
    assert leaving(session(3, replied=False), capacity=0) == ["p0", "p1"]
    assert leaving(session(3), capacity=0) == ["p0", "p1", "p2"]
    assert leaving([]) == []


@given(st.integers(0, 30), st.integers(0, 12), st.integers(0, 30), st.booleans())
@settings(deadline=None)
def test_moving_what_leaves_leaves_nothing_more_to_move(count: int, capacity: int, hours: int, replied: bool) -> None:
    pages = session(count, replied=replied) if count else []
    first = leaving(pages, capacity=capacity, later=timedelta(hours=hours))
    assert first == [page.id for page in pages[: len(first)]]
    moved = session(count, replied=replied, assigned=len(first)) if count else []
    assert leaving(moved, capacity=capacity, later=timedelta(hours=hours)) == []
