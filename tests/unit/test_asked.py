"""What a question is about and asks for, and how it is embedded."""

from __future__ import annotations

import pytest

from mnemic.core.asked import Asks, as_spoken, asks_for, is_sentence, subjects_of


@pytest.mark.parametrize(
    "query, speakers, spoken",
    [
        ("What did Caroline research?", ["Caroline"], "What did I research?"),
        ("What is Melanie's favourite book?", ["Melanie"], "What is my favourite book?"),
        ("What is Melanie\u2019s favourite book?", ["Melanie"], "What is my favourite book?"),
        ("Where does Ann Smith live?", ["Ann Smith"], "Where does I live?"),
        ("Where does Ann live?", ["Ann Smith"], "Where does I live?"),
        ("Does Annabel like Ann?", ["Ann"], "Does Annabel like I?"),
        ("What is a+b, C++?", ["C++"], "What is a+b, I?"),
        ("Where did I park?", ["Ann"], "Where did I park?"),
        ("Where does Bo live?", [], "Where does Bo live?"),
    ],
)
def test_a_speaker_in_a_question_speaks_of_themselves(query: str, speakers: list[str], spoken: str) -> None:
    assert as_spoken(query, speakers) == spoken


def test_the_subject_is_who_is_named_first_by_whatever_name() -> None:
    assert subjects_of("What did Nate give Joanna?", ["Joanna", "Nate"]) == {"Nate"}
    assert subjects_of("What did Nate give Joanna?", ["Joanna", "Nate", "nate"]) == {"Nate", "nate"}
    assert subjects_of("What is the time?", []) == frozenset()


@pytest.mark.parametrize(
    "query, kinds",
    [
        ("When did Ann move?", Asks.WHEN),
        ("In which year did Ann move?", Asks.WHEN),
        ("How long has Ann lived there?", Asks.HOW_LONG),
        ("How many cats has Ann?", Asks.HOW_MANY),
        ("Where did I park my car?", Asks.OWN),
        ("What did you suggest?", Asks.REPLY),
        ("What did you tell me about it?", Asks.REPLY | Asks.OWN),
        ("What happened when it rained?", Asks(0)),
        ("Wo wohnt Ann?", Asks(0)),
    ],
)
def test_what_a_question_asks_for(query: str, kinds: Asks) -> None:
    assert asks_for(query) == kinds


@pytest.mark.parametrize(
    "query, is_one",
    [
        ("Where does Ann live?", True),
        ("the name of my dentist", True),
        ("coffee", False),
        ("coffee?", True),
        ("Porto river", False),
        ("\u732b\u306e\u540d\u524d\u306f\u4f55\u3067\u3059\u304b\uff1f", False),
        ("\u041a\u0430\u043a \u0437\u043e\u0432\u0443\u0442 \u043c\u043e\u044e \u043a\u043e\u0448\u043a\u0443?", False),
        ("", False),
    ],
)
def test_the_weights_serve_sentences_in_latin_letters(query: str, is_one: bool) -> None:
    assert is_sentence(query) is is_one
