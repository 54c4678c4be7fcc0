from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.temporal import find_times, question_times
from mnemic.model.moment import Grain

SAID = datetime(2023, 5, 8, 13, 56, tzinfo=timezone(timedelta(hours=2)))  # a Monday


def labels(text: str, said: datetime = SAID) -> list[str]:
    return [found.span.label() for found in find_times(text, said)]


@pytest.mark.parametrize(
    "text,label",
    [
        ("I slept today", "8 May 2023"),
        ("we met yesterday", "7 May 2023"),
        ("the day before yesterday we ate", "6 May 2023"),
        ("see you tomorrow morning", "9 May 2023"),
        ("the day after tomorrow", "10 May 2023"),
        ("it rained last night", "7 May 2023"),
        ("this morning I ran", "8 May 2023"),
        ("last week", "the week of 1 May 2023"),
        ("this week", "the week of 8 May 2023"),
        ("next week", "the week of 15 May 2023"),
        ("last weekend", "6 May 2023 \u2013 7 May 2023"),
        ("this weekend", "13 May 2023 \u2013 14 May 2023"),
        ("over the weekend we hiked", "6 May 2023 \u2013 7 May 2023"),
        ("the weekend before last", "29 April 2023 \u2013 30 April 2023"),
        ("last month", "April 2023"),
        ("next month", "June 2023"),
        ("last year", "2022"),
        ("this year", "2023"),
        ("next year", "2024"),
        ("last Friday", "5 May 2023"),
        ("this past Friday", "5 May 2023"),
        ("this coming Friday", "12 May 2023"),
        ("next Friday", "19 May 2023"),
        ("on Friday I saw him", "5 May 2023"),
        ("I'll see you on Friday", "12 May 2023"),
        ("on Friday last week", "5 May 2023"),
        ("last summer", "summer 2022"),
        ("next winter", "winter 2024"),
        ("last spring", "spring 2022"),
        ("in the summer of 2022", "summer 2022"),
        ("two days ago", "6 May 2023"),
        ("two weeks ago", "the week of 24 April 2023"),
        ("3 months ago", "February 2023"),
        ("five years ago", "2018"),
        ("a year and a half ago", "November 2021"),
        ("a couple of years ago", "2021"),
        ("a few months ago", "January 2023\u2013March 2023"),
        ("two Fridays ago", "28 April 2023"),
        ("two weekends ago", "29 April 2023 \u2013 30 April 2023"),
        ("we leave in two weeks", "the week of 22 May 2023"),
        ("it is in 3 days", "11 May 2023"),
        ("three weeks from now", "the week of 29 May 2023"),
        ("the week before 9 June 2023", "the week of 29 May 2023"),
        ("the day after 9 June 2023", "10 June 2023"),
        ("the weekend after 9 June 2023", "10 June 2023 \u2013 11 June 2023"),
        ("last Friday before Christmas", "23 December 2022"),
        ("three days after Christmas", "28 December 2022"),
        ("the week of 14 June 2023", "the week of 12 June 2023"),
        ("on 3 May", "3 May 2023"),
        ("on May 3rd", "3 May 2023"),
        ("3 May 2023", "3 May 2023"),
        ("the 3rd of May 2021", "3 May 2021"),
        ("May 3, 2021", "3 May 2021"),
        ("2023-05-03", "3 May 2023"),
        ("5/31/2022", "31 May 2022"),
        ("31/5/2022", "31 May 2022"),
        ("05/2023", "May 2023"),
        ("June 4-6, 2022", "4 June 2022 \u2013 6 June 2022"),
        ("in May", "May 2023"),
        ("in June we met", "June 2022"),
        ("we will meet in June", "June 2023"),
        ("in May 2021", "May 2021"),
        ("in May last year", "May 2022"),
        ("last May", "May 2022"),
        ("in 2019", "2019"),
        ("back in 2019", "2019"),
        ("she was born (1988)", "1988"),
        ("since 2019", "since 1 January 2019"),
        ("since last May", "since 1 May 2022"),
        ("until June", "until 1 July 2023"),
        ("before Christmas", "until 25 December 2022"),
        ("from 2015 to 2018", "2015\u20132018"),
        ("between May and July 2022", "1 May 2022 \u2013 31 July 2022"),
        ("early 2021", "January 2021\u2013March 2021"),
        ("in mid June", "11 June 2022 \u2013 20 June 2022"),
        ("late June 2022", "21 June 2022 \u2013 30 June 2022"),
        ("at the end of last year", "October 2022\u2013December 2022"),
        ("the first week of August 2022", "the week of 1 August 2022"),
        ("the last Friday in May 2022", "27 May 2022"),
        ("on Christmas Eve 2022", "24 December 2022"),
        ("on New Year's Eve", "31 December 2022"),
        ("on Halloween", "31 October 2022"),
        ("on Valentine's Day", "14 February 2023"),
        ("for Thanksgiving last year", "24 November 2022"),
        ("over Easter 2024", "31 March 2024"),
        ("I've lived here for three years", "since 8 May 2020"),
        ("the other day", "the week of 1 May 2023"),
        ("I recently moved", "8 April 2023 \u2013 8 May 2023"),
        ("in the 90s", "1990\u20131999"),
        ("on the 15th.", "15 April 2023"),
    ],
)
def test_an_expression_means_what_people_mean_by_it(text: str, label: str) -> None:
    assert labels(text) == [label]


@pytest.mark.parametrize(
    "text",
    [
        "ticket ABC-2023-1",
        "call 555-2019",
        "call 2019-555-1212",
        "port 2024",
        "version 2.19",
        "room 2019",
        "it cost $2019",
        "2000 words",
        "I wrote of 2000 words",
        "in 2000 words",
        "from 2000 users",
        "I may go",
        "May I come?",
        "we march on",
        "march 5 miles",
        "a second one",
        "I fall often",
        "the sun sat low, mon ami",
        "every Friday",
        "on Fridays",
        "the next day",
        "my birthday",
        "I lived there for three years",
        "I love Halloween",
        "a Christmas tree",
        "I lost 5 kilos in 2 weeks",
        "31 February 2023",
        "99/99/2023",
        "",
    ],
)
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert labels(text) == []


def test_the_tense_given_decides_which_weekday_is_meant() -> None:
    assert find_times("Friday", SAID, tense="past")[0].span.label() == "5 May 2023"
    assert find_times("Friday", SAID, tense="future")[0].span.label() == "12 May 2023"


def test_spans_are_in_the_zone_of_the_reference_and_end_is_exclusive() -> None:
    span = find_times("yesterday", SAID)[0].span
    assert span.start == datetime(2023, 5, 7, tzinfo=SAID.tzinfo)
    assert span.end == datetime(2023, 5, 8, tzinfo=SAID.tzinfo)
    assert span.start.utcoffset() == timedelta(hours=2)


def test_an_open_span_keeps_its_words() -> None:
    span = find_times("I have known them for 4 years now", SAID)[0].span
    assert (span.grain, span.end, span.words) == (Grain.OPEN, None, "for 4 years")


def test_several_times_come_in_order() -> None:
    assert labels("I moved in 2019 and left last week.") == ["2019", "the week of 1 May 2023"]


@pytest.mark.parametrize(
    "question,label",
    [
        ("What did Ann do in May 2023?", "May 2023"),
        ("What did Ann do last week?", "the week of 1 May 2023"),
        ("What happened in June?", "June 2022"),
        ("what did bob do in march", "March 2023"),
        ("Where was Ann the week before 9 June 2023?", "the week of 29 May 2023"),
        ("Where did they go in the summer of 2022?", "summer 2022"),
        ("What will Ann do on Friday?", "12 May 2023"),
    ],
)
def test_a_question_asks_for_the_latest_such_time(question: str, label: str) -> None:
    assert [span.label() for span in question_times(question, SAID)] == [label]


def test_a_question_without_a_time_has_none() -> None:
    assert question_times("When did Ann go to Paris?", SAID) == []


_WORDS = st.sampled_from(
    """in on the last next this May 3 2019 2023-05-03 since until from to between and two weeks ago few years Friday
    summer Christmas early of before after a week , . ? ( ) - 99 0""".split()
)


@given(st.one_of(st.text(), st.lists(_WORDS, max_size=20).map(" ".join)), st.datetimes(timezones=st.just(UTC)))
def test_any_text_gives_ordered_spans_inside_it(text: str, said: datetime) -> None:
    last = 0
    for found in find_times(text, said):
        assert last <= found.start < found.end <= len(text)
        assert found.span.words == text[found.start : found.end]
        if found.span.start and found.span.end:
            assert found.span.start < found.span.end
        last = found.end


@pytest.mark.parametrize(
    "unit",
    ["may ", "in 2 ", "the ", " ", "2019-", "last ", "since 2019 to ", "9", "a few ", "march 3 - ", "in may to "],
)
def test_reading_takes_time_linear_in_the_text(unit: str) -> None:
    text = unit * (88_000 // len(unit))
    started = time.process_time()
    find_times(text, SAID)
    assert time.process_time() - started < 5
