from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic.api import Memory
from mnemic.core.answering import NOT_FOUND
from mnemic.errors import InputError
from tests.services.opened import open_memory, talk


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        talk(
            opened,
            [("Ann", "I live in Porto."), ("Ben", "My dog is called Pedal."), ("Ann", "I sold my car today.")],
            day=2,
        )
        talk(opened, [("Ann", "My sister Maud had her baby! He is called Nils.")], session="s2", day=9)
        talk(
            opened, [("Ann", "Maud works as a welder."), ("Ann", "I moved to Lisbon yesterday.")], session="s3", day=20
        )
        yield opened


def test_an_answer_is_the_same_before_and_after_the_background_work(memory: Memory) -> None:
    before = memory.ask("Where does Ann live?", user="ann")
    memory.jobs.wait(user="ann")
    after = memory.ask("Where does Ann live?", user="ann")
    assert before.text.startswith("Lisbon") and after.text.startswith("Lisbon")
    assert before.found and after.found and after.citations
    assert (before.mode, after.mode) == ("extractive", "extractive")


def test_an_answer_names_the_day_and_cites_the_message(memory: Memory) -> None:
    answer = memory.ask("When did Ann sell her car?", user="ann")
    assert answer.text == "2 January 2026"
    assert [hit.text for hit in answer.citations] == ["I sold my car today."]


def test_a_question_from_the_past_is_answered_from_the_past(memory: Memory) -> None:
    assert memory.ask("Where does Ann live?", user="ann", as_of="2026-01-10").text == "Porto"


def test_the_second_part_of_a_question_is_about_whom_the_first_part_found(memory: Memory) -> None:
    answer = memory.ask("Who is Nils's mother, and what is her job?", user="ann")
    assert answer.text == "Maud; Welder"
    assert len(answer.citations) == 2


def test_what_was_corrected_by_hand_is_the_answer(memory: Memory) -> None:
    memory.jobs.wait(user="ann")
    home = next(
        item for item in memory.search("Ann lives in Lisbon", user="ann", kinds="memory") if "Lisbon" in item.text
    )
    memory.update(home.id, "Ann lives in Faro.", user="ann")
    answer = memory.ask("Where does Ann live?", user="ann")
    assert "Faro" in answer.text and "Lisbon" not in answer.text


def test_what_nobody_said_is_not_in_memory(memory: Memory) -> None:
    for question in ("What is Ann's dog called?", "What is the name of Zoe's brother?"):
        answer = memory.ask(question, user="ann")
        assert (answer.text, answer.found, answer.citations) == (NOT_FOUND, False, ())
    assert not memory.ask("Where does Ann live?", user="stranger").found


def test_a_question_that_cannot_be_read_names_its_field(memory: Memory) -> None:
    with pytest.raises(InputError, match="question"):
        memory.ask("  ", user="ann")
    with pytest.raises(InputError, match="question"):
        memory.ask(7, user="ann")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="reference_time"):
        memory.ask("Where?", user="ann", reference_time="soonish")
