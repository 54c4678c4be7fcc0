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


def told(folder: Path, *words: str, user: str = "ann") -> Memory:
    """A memory of what Ann said, in sessions four days apart, refined."""
    opened = open_memory(folder)
    for number, text in enumerate(words):
        talk(opened, [("Ann", text)], session=f"s{number}", day=2 + 4 * number, user=user)
    opened.jobs.wait(user=user)
    return opened


@pytest.mark.parametrize(
    "words, question, answer",
    [
        (("Lea is my girlfriend.", "Lea and I broke up last week."), "Who is my girlfriend?", "No longer: Lea"),
        (("Lea is my girlfriend.", "Lea and I broke up last week."), "Do I have a girlfriend?", "No \u2014 "),
        (("Lea is my girlfriend.", "Lea and I broke up last week."), "Is Lea my girlfriend?", "No \u2014 "),
        (("I work at Acme.", "I quit my job at Acme."), "Where do I work?", "No longer: Acme"),
        (("I work at Acme as a welder.", "I quit my job at Acme."), "Where do I work?", "Ann quit their job at Acme ("),
        (("I'm a teacher at Acme.", "I quit my job."), "Where do I work?", "No longer: Acme"),
        (("I work at Acme as a welder.", "I quit my job at Acme."), "What is my job?", "No longer: welder"),
        (("I play tennis every week.", "I stopped playing tennis."), "What sport do I play?", "No longer: "),
        (("I drive a red Volvo.", "I sold my car."), "What car do I drive?", "No longer: red Volvo"),
        (("I drive a red Volvo.", "I sold my car."), "Do I have a car?", "No \u2014 "),
        (("I have a Toyota.", "I sold the Toyota."), "What car do I have?", "No longer: Toyota"),
        (("Lea is my girlfriend.", "Lea broke up with me."), "Do I have a girlfriend?", "No \u2014 "),
        (("Lea is my girlfriend.", "Lea broke up with me."), "What is my girlfriend's name?", "No longer: Lea \u2014 "),
        (("I have a dog called Rex.", "Rex died last month."), "What is my dog called?", "No longer: dog named Rex"),
        (("I have a dog called Rex.", "Rex died last month."), "Do I have a dog?", "No \u2014 "),
        (("I own a house in Kiel.", "We sold the house."), "Do I own a house?", "No \u2014 "),
        (("I'm vegetarian.", "I'm not vegetarian anymore."), "Am I vegetarian?", "No \u2014 "),
        (("I drink coffee.", "I don't drink coffee anymore."), "Do I drink coffee?", "No \u2014 "),
        (
            ("I drink coffee every morning.", "I don't drink coffee anymore."),
            "What do I drink in the morning?",
            "No longer: ",
        ),
    ],
)
def test_what_memory_holds_to_be_over_is_not_stated(
    tmp_path: Path, words: tuple[str, ...], question: str, answer: str
) -> None:
    with told(tmp_path, *words) as opened:
        given = opened.ask(question, user="ann")
        assert given.text.startswith(answer)
        ending = opened.list(user="ann", kinds="message")[-1].id
        assert ending in {source.message_id for hit in given.citations for source in hit.sources}


def test_what_has_begun_again_is_stated_again(tmp_path: Path) -> None:
    words = ("I drink coffee.", "I don't drink coffee anymore.", "I drink coffee again.")
    with told(tmp_path, *words) as opened:
        assert opened.ask("Do I drink coffee?", user="ann").text.startswith("Yes")
    with told(tmp_path / "cars", "I have a Toyota.", "I sold the Toyota.", "I bought a Fiat.") as opened:
        assert opened.ask("What car do I have?", user="ann").text.startswith("Fiat")
    words = ("I work at Acme.", "I quit my job at Acme.", "I started working at Globex.")
    with told(tmp_path / "jobs", *words) as opened:
        answer = opened.ask("Where do I work?", user="ann")
        assert answer.text.startswith("Globex") and "Globex" in answer.citations[0].text
    words = ("Lea is my girlfriend.", "Lea and I broke up.", "I have a new girlfriend, Mia.")
    with told(tmp_path / "partners", *words) as opened:
        assert "Mia" in opened.ask("Who is my girlfriend?", user="ann").text
        assert opened.ask("Is Lea my girlfriend?", user="ann").text.startswith("No")


def test_a_question_about_what_is_denied_gets_the_denial(tmp_path: Path) -> None:
    with told(tmp_path, "I don't eat fish.") as opened:
        assert opened.ask("What do I not eat?", user="ann").text == "Fish"


def test_what_is_over_still_held_when_it_is_asked_from_the_past(tmp_path: Path) -> None:
    with told(tmp_path, "I'm vegetarian.", "I'm not vegetarian anymore.") as opened:
        assert opened.ask("What is my diet?", user="ann", as_of="2026-01-03").text == "Vegetarian"


@pytest.mark.parametrize(
    "question", ["Tell me about Ann.", "What do you know about me?", "Who am I?", "Tell me about myself", "Who is Ann?"]
)
def test_an_open_question_about_a_person_is_answered_with_what_is_known(tmp_path: Path, question: str) -> None:
    words = ("My name is Ann Berg.", "I live in Porto.", "My sister Noor works as a nurse.", "I love hiking.")
    with told(tmp_path, *words) as opened:
        answer = opened.ask(question, user="ann")
        assert "Ann lives in Porto." in answer.text and "Ann loves hiking." in answer.text
        assert "nurse" not in answer.text
        assert len(answer.citations) == answer.text.count(".") <= 6
        assert all(hit.sources for hit in answer.citations)


def test_who_somebody_is_and_what_my_name_is(tmp_path: Path) -> None:
    with told(tmp_path, "My name is Ann Berg.", "My sister Noor works as a nurse.") as opened:
        assert opened.ask("What is my name?", user="ann").text == "Ann Berg"
        assert opened.ask("Who is Noor?", user="ann").text == "Ann has a sister named Noor. Noor works as a nurse."
        for question in ("Who is Zoe?", "Tell me about Zoe.", "What do you know about Ben?"):
            assert opened.ask(question, user="ann").text == NOT_FOUND
        assert opened.ask("Who am I?", user="stranger").text == NOT_FOUND


def test_i_am_the_only_one_who_spoke_when_nobody_has_the_users_name(tmp_path: Path) -> None:
    with told(tmp_path, "I live in Porto.", "Lea is my girlfriend.", "Lea and I broke up.", user="u7") as opened:
        text = opened.ask("Who am I?", user="u7").text
        assert "Ann lives in Porto." in text and "girlfriend named" not in text


def test_what_somebody_elses_words_end_is_not_over(tmp_path: Path) -> None:
    words = ("Lea is my girlfriend.", "I have a dog called Rex.", "Lea's sister broke up with her boyfriend.")
    with told(tmp_path, *words, "I almost sold the dog.", "My grandfather died.") as opened:
        assert opened.ask("Who is my girlfriend?", user="ann").text == "Lea"
        assert opened.ask("Do I have a dog?", user="ann").text == "Yes: dog named Rex"


@pytest.mark.parametrize("question", ["Do I own a garden?", "Do I grow coffee?"])
def test_a_denial_of_another_thing_says_nothing(tmp_path: Path, question: str) -> None:
    words = ("I own a garden. I grow coffee.", "I sold the garden furniture.", "I don't drink coffee anymore.")
    with told(tmp_path, *words) as opened:
        assert not opened.ask(question, user="ann").text.startswith("No")


def test_a_chosen_cube_is_the_one_that_is_read(tmp_path: Path) -> None:
    with told(tmp_path, "I live in Porto.") as opened:
        cube = opened.cubes.list(user="ann")[0].id
        assert opened.ask("Who am I?", user="ann", cubes=cube).text == "Ann lives in Porto."
