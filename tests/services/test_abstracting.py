"""What documents are about: their own sentences, a language model's when there is one, and these kept when it fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mnemic import Memory
from mnemic.config import Settings
from mnemic.core.abstracting import SHOWN, abstract_prompt, read_abstract
from mnemic.core.chunking import Abstract, Passage, Section
from mnemic.errors import LanguageError
from mnemic.model.document import ChunkKind, Document, DocumentState
from mnemic.model.language import Prompt, Reply
from mnemic.testing.scripted_model import ScriptedModel
from tests.services.opened import new_store
from tests.services.shelved import plain_reading


def book(*words: str) -> bytes:
    chapter = "# Chapter {0}\n\nThe {0} is old.\n\n" + "It was painted again, and the {0} is blue now. " * 30
    return "\n\n".join(chapter.format(word) for word in words).encode()


@contextmanager
def reading(folder: Path, says: Callable[[Prompt], str], **settings: int) -> Iterator[tuple[Memory, str, list[Prompt]]]:
    asked: list[Prompt] = []

    def answer(prompt: Prompt) -> str:
        asked.append(prompt)
        return says(prompt)

    embedder = new_store(folder)
    given = Settings(home=str(folder), worker=False, **settings)  # type: ignore[arg-type]  # numbers all
    with plain_reading(folder), Memory(settings=given, embedder=embedder, llm=ScriptedModel(answer)) as memory:
        yield memory, memory.knowledge.create("docs", user="ann").cube.id, asked


def summaries(memory: Memory, document: Document) -> list[str]:
    found = memory.knowledge.chunks(document.id, cube=document.cube, user="ann", kinds=["section"], limit=1_000)
    return [each.text for each in found]


def says_all(prompt: Prompt) -> str:
    return json.dumps(
        {
            "document": "About a harbour.",
            "sections": [{"section": number, "summary": f"Summary {number}."} for number in range(1, 9)],
        }
    )


def test_a_model_sums_up_a_document_in_one_call_that_is_in_the_books(tmp_path: Path) -> None:
    with reading(tmp_path, says_all) as (memory, cube, asked):
        added = memory.knowledge.add(book("pier", "crane"), name="b", cube=cube, user="ann", wait=True)
        assert added.latest.summary == "About a harbour."
        assert summaries(memory, added) == ["Summary 1.", "Summary 2."]
        assert len(asked) == 1
        assert "Title: Chapter pier" in asked[0].turns[-1].text
        costs = memory.llm.usage(user="ann", cube=cube)
        assert [(each.purpose, each.spent.calls) for each in costs.by_purpose] == [("summarise", 1)]


def test_sections_that_did_not_change_are_not_asked_about_again(tmp_path: Path) -> None:
    with reading(tmp_path, says_all) as (memory, cube, asked):
        memory.knowledge.add(book("pier", "crane", "boat"), name="b", cube=cube, user="ann", wait=True)
        changed = memory.knowledge.add(
            book("pier", "crane", "boat").replace(b"The crane is old", b"The crane is new"),
            name="b", cube=cube, user="ann", wait=True,
        )  # fmt: skip
        shown = asked[1].turns[-1].text
        assert "[2] NEW" in shown
        assert "[1] NEW" not in shown
        assert "Summary 1." in shown
        assert summaries(memory, changed) == ["Summary 1.", "Summary 2.", "Summary 3."]


def test_an_outage_leaves_the_documents_own_sentences_and_a_note(tmp_path: Path) -> None:
    def fails(prompt: Prompt) -> str:
        raise LanguageError("the model is away", passing=True, retry_after=None, status=None)

    with reading(tmp_path, fails) as (memory, cube, _):
        added = memory.knowledge.add(book("pier", "crane"), name="b", cube=cube, user="ann", wait=True)
        assert added.state is DocumentState.READY
        assert "pier" in summaries(memory, added)[0]
        assert added.latest.notes == ("summaries are sentences of the document: the model is away",)


def test_a_spent_budget_is_no_reason_to_wait(tmp_path: Path) -> None:
    with reading(tmp_path, says_all, llm_daily_calls=1) as (memory, cube, asked):
        memory.knowledge.add(book("pier", "crane"), name="a", cube=cube, user="ann", wait=True)
        second = memory.knowledge.add(book("boat", "mast"), name="b", cube=cube, user="ann", wait=True)
        assert second.state is DocumentState.READY
        assert len(asked) == 1
        assert "llm_daily_calls" in second.latest.notes[0]


@pytest.mark.parametrize(
    "reply",
    ["", "I cannot.", "[]", '{"document": 7, "sections": "none"}', '{"document": "", "sections": [{"section": 99}]}'],
)
def test_what_a_model_does_not_say_is_said_by_the_document(tmp_path: Path, reply: str) -> None:
    with reading(tmp_path, lambda _: reply) as (memory, cube, _):
        added = memory.knowledge.add(book("pier", "crane"), name="b", cube=cube, user="ann", wait=True)
        assert added.state is DocumentState.READY
        assert "pier" in added.latest.summary or "crane" in added.latest.summary
        assert "I cannot" not in added.latest.summary


PLAIN = Abstract("Own words.", ["One.", "Two."])


def test_of_a_reply_only_what_was_asked_for_is_taken() -> None:
    told = {
        "document": "A\nguide " + "x" * 900,
        "sections": [
            {"section": "2", "summary": "New two."}, {"section": 1, "summary": "Changed although known."},
            {"section": 3, "summary": "There is no third."}, "words", {"summary": "No number."},
        ],
    }  # fmt: skip
    found = read_abstract(Reply(json.dumps(told), "m"), PLAIN, {0: "One."})
    assert found.sections == ["One.", "New two."]
    assert found.document.startswith("A guide")
    assert len(found.document) <= 400


def test_what_is_shown_is_bounded_however_long_the_document_is() -> None:
    passages = [Passage(ChunkKind.PASSAGE, "word " * 200, 0, 1) for _ in range(900)]
    many = [Section((f"Chapter {number}",), number, number) for number in range(900)]
    for sections in ([], many):
        prompt = abstract_prompt("A book", passages, sections, {})
        assert len(prompt.turns[-1].text) < 3 * SHOWN
