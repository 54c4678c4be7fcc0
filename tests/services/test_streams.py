"""`ask_stream`: what is shown while it is written, what never is, and how a stream ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.errors import LanguageError
from mnemic.model.answer import Answer
from mnemic.testing.scripted_model import Broken, outage
from tests.services.scripted import citing, last, opened


def test_a_stream_shows_the_text_and_ends_with_the_answer(tmp_path: Path) -> None:
    with opened(tmp_path, citing("Porto")) as memory:
        pieces = list(memory.ask_stream("Where do I live?", user="ann"))
        shown, answer = last(pieces)
        assert len(pieces) > 3 and shown == answer.text and answer.found
        assert answer.text == memory.ask("Where do I live?", user="ann").text


def test_a_stream_never_shows_marks_but_references_as_they_are_written(tmp_path: Path) -> None:
    with opened(tmp_path, ["[none] Memory has [99] no word of it."]) as memory:
        shown, answer = last(memory.ask_stream("Where is my cat?", user="ann"))
        assert shown == "Memory has [99] no word of it."
        assert answer.text == "Memory has no word of it." and not answer.found


def test_a_stream_that_fails_before_it_began_is_extractive_in_one_piece(tmp_path: Path) -> None:
    with opened(tmp_path, [outage(), Broken("[none", outage())]) as memory:
        for _ in range(2):
            pieces = list(memory.ask_stream("Where do I live?", user="ann"))
            assert len(pieces) == 2 and isinstance(pieces[1], Answer) and pieces[0] == pieces[1].text
            assert pieces[1].mode == "extractive" and any("cannot be reached" in note for note in pieces[1].notes)


def test_a_stream_that_breaks_off_raises_and_gives_no_answer(tmp_path: Path) -> None:
    with opened(tmp_path, [Broken("Ann lives in ", outage())]) as memory:
        seen: list[object] = []
        with pytest.raises(LanguageError, match="cannot be reached"):
            seen.extend(memory.ask_stream("Where do I live?", user="ann"))
        assert "".join(str(piece) for piece in seen) == "Ann lives in"
        assert not any(isinstance(piece, Answer) for piece in seen)


def test_a_streamed_reply_that_names_no_memory_is_not_found(tmp_path: Path) -> None:
    with opened(tmp_path, ["Ann lives in Paris."]) as memory:
        shown, answer = last(memory.ask_stream("Where do I live?", user="ann"))
        assert shown == answer.text == "Ann lives in Paris."
        assert not answer.found and answer.citations == () and answer.notes


def test_a_stream_that_nobody_listens_to_any_more_is_accounted(tmp_path: Path) -> None:
    with opened(tmp_path, ["one two three four five"]) as memory:
        pieces = memory.ask_stream("Where do I live?", user="ann")
        assert next(pieces) == "one"
        pieces.close()  # type: ignore[attr-defined] # a generator, which promises to be an iterator
        assert [call.outcome for call in memory.llm.calls(user="ann")] == ["left"]


def test_extractive_streams_come_in_one_piece(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        shown, answer = last(memory.ask_stream("Where do I live?", user="ann", mode="extractive"))
        assert shown == answer.text and answer.mode == "extractive"
