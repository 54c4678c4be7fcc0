"""What people say later corrects a document only when it is about the same, says otherwise, and says so firmly."""

from __future__ import annotations

import pytest

from mnemic.core.corrections import Verdict, judge

UNDER = "handbook.txt, p. 2, Staff handbook > Vacation > Office rules"

CORRECTIONS = [
    ("The handbook is wrong, vacation is 30 days.", "Employees are entitled to 25 days of paid vacation."),
    ("Parking is no longer free.", "Parking is free."),
    ("The standup is at 10:30 now, not at 9:30.", "The standup is at 9:30 every day."),
    ("The contact for press questions is now Lena Fuchs.", "The contact for press questions is Tom Reed."),
    ("The deadline has been moved to 15 June.", "The deadline is 1 June."),
    ("We do not use Jenkins any more, we use Buildkite.", "We use Jenkins for builds."),
    ("The Berlin office has 30 desks now.", "The office in Berlin has 25 desks and 4 rooms."),
    ("We have 30 days of vacation now.", "Employees have 25 days of vacation per year."),
    ("Since January 2027 we get 30 vacation days.", "Employees have 25 days of vacation per year."),
    ("The handbook is wrong: we get 30 days of vacation.", "Employees have 25 days of vacation per year."),
    ("The handbook says 25 days of vacation, but it is 30 now.", "Employees have 25 days of vacation per year."),
    ("Vacation was raised from 25 to 30 days.", "Employees have 25 days of vacation per year."),
    ("It's not 25 but 30 days of vacation.", "Employees have 25 days of vacation per year."),
    ("The office has moved to Potsdam.", "The office is in Berlin."),
    ("Our office is no longer in Berlin.", "The office is in Berlin."),
    ("The office in Berlin has moved to Potsdam.", "The office is in Berlin."),
    ("The head of finance is now Jonas Weber.", "The head of finance is Maria Lopez."),
    ("The head of finance is Jonas Weber.", "The head of finance is Maria Lopez."),
    ("Jonas Weber is the new head of finance.", "The head of finance is Maria Lopez."),
    ("Visitors may no longer park in the yard.", "Visitors may park in the yard."),
    ("Visitors cannot park in the yard any more.", "Visitors may park in the yard."),
    ("The fair begins on 10 May.", "The fair begins on 3 May 2027."),
    ("The canteen closes at 3 pm now.", "The canteen closes at 2 pm."),
    ("Lunch in the canteen costs 7 euros now.", "Lunch in the canteen costs 6 euros."),
    ("The server listens on port 6380 now.", "The server listens on port 6379."),
    ("The kitchen is on the third floor.", "The kitchen is on the second floor."),
    ("The team meeting is on Thursdays now.", "The team meeting is on Tuesday."),
    ("The notice period has been extended to 6 weeks.", "The notice period is 4 weeks."),
    ("Heads up, the wifi password rotates every 60 days.", "The wifi password rotates every 90 days."),
    ("The support desk is open from 10:00 to 18:00 now.", "The support desk is open from 9:00 to 17:00."),
    ("FYI: expense reports are due within 10 days now.", "Expense reports are due within 30 days."),
    ("The policy is outdated, laptops are replaced every three years.", "Laptops are replaced every five years."),
    ("I checked with HR: employees get 30 days of vacation.", "Employees have 25 days of vacation per year."),
    ("Pets are not allowed in the office.", "Pets are allowed in the office."),
    ("The travel desk closes at five now.", "The travel desk closes at six."),
    ("The travel desk closes at 5 pm now.", "The travel desk closes at six."),
]
"""A statement, and the sentence that it corrects."""

OTHERS = [
    ("The travel desk closes at 6 pm.", "The travel desk closes at six."),
    ("Ten people sat at six desks.", "The travel desk closes at six."),
    ("Leave is 30 days.", "Sick leave is 10 days."),
    ("The notice period is 6 weeks.", "During probation the notice period is 2 weeks."),
    ("Version 2 of the tool is out now.", "Version 1 of the tool needs Python 3.9."),
    ("The tool needs Python 3.11 now.", "The tool needs 3 GB of memory."),
    ("Ann leads the finance team.", "Finance is led by Maria Lopez."),
    ("The printer on the second floor is broken.", "The printer is on the third floor."),
    ("Coffee is free now.", "Coffee costs 1 euro."),
    ("It rained for 30 days.", "Employees have 25 days of vacation per year."),
    ("There is no office in Hamburg.", "The office is in Berlin."),
    ("The office is not far from the station.", "The office is in Berlin."),
    ("Nobody knows who the head of finance is.", "The head of finance is Maria Lopez."),
    ("The office is in Berlin-Mitte.", "The office is in Berlin."),
    ("We are allowed 2 pets in the office now.", "Pets are allowed in the office."),
    ("The first floor has 12 rooms now.", "The second floor has 10 rooms."),
    ("Room 12 seats 30 people now.", "Room 14 seats 20 people."),
    ("The price of the large package is 40 euros now.", "The price of the small package is 20 euros."),
    ("In 2024 revenue was 5 million.", "In 2023 revenue was 4 million."),
    ("Revenue in 2024 is 5 million.", "Revenue in 2023 is 4 million."),
    ("I took 5 days of vacation last month.", "Employees have 25 days of vacation per year."),
    ("Should we have 30 days of vacation?", "Employees have 25 days of vacation per year."),
    ("I wish we had 30 days of vacation.", "Employees have 25 days of vacation per year."),
    ("Last year we had 20 days of vacation.", "Employees have 25 days of vacation per year."),
    ("We have 30 days of vacation in Sweden.", "Employees have 25 days of vacation per year."),
    ("In Sweden we have 30 days of vacation.", "Employees have 25 days of vacation per year."),
    ("Managers have 30 days of vacation.", "Employees have 25 days of vacation per year."),
    ("We have 30 days of vacation.", "Part-time employees have 12 days of vacation."),
    ("Employees have 25 days of vacation.", "Employees have 25 days of vacation per year."),
    ("The notice period is 4 weeks.", "Parental leave is 14 weeks."),
    ("We have 25 days of vacation but 30 sick days.", "Employees have 25 days of vacation per year."),
    ("Maybe we will get 30 days of vacation next year.", "Employees have 25 days of vacation per year."),
    ("Ann has moved to Potsdam.", "The office is in Berlin."),
    ("Ann is not in the office.", "The office is in Berlin."),
    ("The office in Munich is closed.", "The office is in Berlin."),
    ("The office in Munich has moved to Potsdam.", "The office is in Berlin."),
    ("The office is near the station.", "The office is in Berlin."),
    ("My desk is on the third floor.", "The kitchen is on the second floor."),
    ("I have moved to Potsdam.", "The office is in Berlin."),
    ("Maria Lopez is on holiday.", "The head of finance is Maria Lopez."),
    ("The deputy head of finance is Jonas Weber.", "The head of finance is Maria Lopez."),
    ("The head of sales is Jonas Weber.", "The head of finance is Maria Lopez."),
    ("The head of finance met Jonas Weber.", "The head of finance is Maria Lopez."),
    ("The meeting started at 10:00 yesterday.", "The meeting starts at 9:00."),
    ("The office is not open on Sundays.", "The office is open on weekdays from 9:00 to 17:00."),
    ("The fair in Leipzig begins on 10 May.", "The fair begins on 3 May 2027."),
    ("The canteen was full at 3 pm.", "The canteen closes at 2 pm."),
    ("Lunch with Ann costs 7 euros.", "Lunch in the canteen costs 6 euros."),
    ("Our test server listens on port 6380.", "The server listens on port 6379."),
    ("If the office moved to Potsdam, I would quit.", "The office is in Berlin."),
    ("The handbook says that employees have 25 days of vacation.", "Employees have 25 days of vacation per year."),
    ("They asked whether vacation was raised to 30 days.", "Employees have 25 days of vacation per year."),
    ("We plan to raise vacation to 30 days.", "Employees have 25 days of vacation per year."),
    ("The notice period is at least 2 weeks.", "Sick notes are due after 3 days."),
    ("My flight is on 10 May.", "The fair begins on 3 May 2027."),
    ("I got 30 emails in 25 days.", "Employees have 25 days of vacation per year."),
    ("The report is 30 pages long.", "The report is due within 30 days."),
    ("We have three kitchens now.", "The kitchen is on the second floor."),
    ("The team met on Thursday.", "The team meeting is on Tuesday."),
    ("Can visitors park in the yard?", "Visitors may park in the yard."),
    ("Visitors park in the yard.", "Visitors may park in the yard."),
    (
        "Vacation is 14 days in the first year and 30 days after.",
        "Vacation is 20 days in the first year and 25 days after.",
    ),
    ("I don't like that pets are allowed in the office.", "Pets are allowed in the office."),
    ("Dogs are not allowed in the office.", "Pets are allowed in the office."),
    ("The new handbook is great.", "Employees have 25 days of vacation per year."),
    ("We had vacation for 30 days.", "Employees have 25 days of vacation per year."),
    ("Bob is in Potsdam now.", "The office is in Berlin."),
    ("Jonas Weber is the best colleague.", "The head of finance is Maria Lopez."),
    ("For example, 30 days of vacation would be nice.", "Employees have 25 days of vacation per year."),
    ("Our competitor gives 30 days of vacation.", "Employees have 25 days of vacation per year."),
    ("My wife's company has 30 days of vacation.", "Employees have 25 days of vacation per year."),
    ("Vacation requests are due 30 days before.", "Employees have 25 days of vacation per year."),
]
"""A statement, and a sentence that it does not correct, near as it is."""


ALSO = {
    ("The handbook is wrong: we get 30 days of vacation.", "Employees are entitled to 25 days of paid vacation."),
    ("The handbook is wrong, vacation is 30 days.", "Employees have 25 days of vacation per year."),
    ("We have 30 days of vacation.", "Employees have 25 days of vacation per year."),
    ("The notice period is 6 weeks.", "The notice period is 4 weeks."),
    ("The office has moved to Potsdam.", "The office in Berlin has 25 desks and 4 rooms."),
    ("Our office is no longer in Berlin.", "The office in Berlin has 25 desks and 4 rooms."),
    ("The office in Berlin has moved to Potsdam.", "The office in Berlin has 25 desks and 4 rooms."),
}
"""Pairs of different lines that are corrections too."""


@pytest.mark.parametrize("said, written", CORRECTIONS)
@pytest.mark.parametrize("under", ["", UNDER])
def test_another_value_for_the_same_is_a_correction(said: str, written: str, under: str) -> None:
    told = judge(said, written, under=under)
    assert told is not None
    assert told.verdict is Verdict.CORRECTS
    assert written[told.start : told.end] == written


@pytest.mark.parametrize("said, written", OTHERS)
@pytest.mark.parametrize("under", ["", UNDER])
def test_what_is_near_but_not_the_same_is_none(said: str, written: str, under: str) -> None:
    told = judge(said, written, under=under)
    assert told is None or told.verdict is Verdict.CONFIRMS


def test_no_statement_corrects_what_is_about_another_thing() -> None:
    """Each statement beside each sentence: eleven thousand pairs."""
    both = [*CORRECTIONS, *OTHERS]
    right = {*CORRECTIONS, *ALSO}
    found = {
        (said, written)
        for said, _ in both
        for _, written in both
        if (told := judge(said, written, under=UNDER)) is not None and told.verdict is Verdict.CORRECTS
    }
    assert found == right


@pytest.mark.parametrize(
    "said",
    ["We have 25 days of vacation.", "Employees have 25 days of vacation.", "Vacation is still 25 days."],
)
def test_the_same_value_again_confirms(said: str) -> None:
    told = judge(said, "Welcome. Employees have 25 days of vacation per year. Unused days expire.")
    assert told is not None
    assert told.verdict is Verdict.CONFIRMS


def test_the_sentence_that_is_corrected_is_told_with_the_words_that_do() -> None:
    passage = "Welcome. Employees have 25 days of vacation per year. Unused days expire."
    told = judge("Good news! The policy has changed: we get 30 days of vacation now. See you.", passage)
    assert told is not None
    assert passage[told.start : told.end] == "Employees have 25 days of vacation per year."
    assert "30 days" in told.words


@pytest.mark.parametrize("said", ["", "?", "30", "...", "\u00bb", "\ud800", "x" * 5_000, "30 " * 2_000, "is " * 3_000])
@pytest.mark.parametrize("written", ["", "25 days", "?", "\n\n\n", "a" * 3_000, "1.2.3.4 - 5:99 am on May 45"])
def test_nothing_that_people_write_breaks_it(said: str, written: str) -> None:
    told = judge(said, written)
    assert told is None or told.verdict in Verdict
