"""What "contains" means for letters that are not ASCII, and a question as long as a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.services.opened import open_memory

pytestmark = pytest.mark.usefixtures("engine")


def test_contains_ignores_the_case_of_any_letter(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        turn = {"role": "user", "name": "Élodie Straße", "content": "Bonjour", "metadata": {"place": "ÉCOLE"}}
        memory.add([turn], user="ann")
        for where in ({"speaker": {"contains": "élodie strasse"}}, {"metadata.place": {"contains": "école"}}):
            assert [hit.text for hit in memory.search("bonjour", user="ann", where=where)] == ["Bonjour"]
        assert not memory.search("bonjour", user="ann", where={"speaker": {"contains": "zoé"}})


def test_a_question_as_long_as_a_document_finds_what_its_longest_words_name(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.add(["The ventriloquist sang.", "It rained."], user="ann")
        question = " ".join(f"w{number}" for number in range(20_000)) + " ventriloquist"
        assert memory.search(question, user="ann")[0].text == "The ventriloquist sang."
