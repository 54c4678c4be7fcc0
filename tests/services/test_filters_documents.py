"""Conditions on passages of documents: their document's name and metadata, their kind, when they held."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory
from tests.services.opened import open_memory
from tests.services.shelved import plain_reading

pytestmark = pytest.mark.usefixtures("engine")

ODD = "a/b?c#d%e&f=g'h\"i.txt"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with plain_reading(tmp_path), open_memory(tmp_path / "store") as opened:
        base = opened.knowledge.create("base", user="ann").cube.id
        red = {"team": "red", "n": 3, "tags": ["x", "y"], "seven": {"of": "nine"}}
        opened.knowledge.add(b"The harbour fee is five.", name=ODD, cube=base, user="ann", metadata=red)
        opened.knowledge.add(b"The harbour fee is six.", name="plain.txt", cube=base, user="ann")
        while opened._parts.worker.run_once():
            pass
        yield opened


def found(memory: Memory, where: dict[str, Any], **asked: Any) -> set[str]:
    return {hit.text.split()[-1] for hit in memory.search("harbour fee", user="ann", where=where, **asked)}


def test_passages_are_chosen_by_document_metadata_kind_id_and_time(memory: Memory) -> None:
    for where, expected in (
        ({"document": ODD}, {"five."}),
        ({"document": {"contains": "PLAIN"}}, {"six."}),
        ({"document": {"in": [ODD, "nowhere"]}}, {"five."}),
        ({"document": {"exists": True}}, {"five.", "six."}),
        ({"document": {"exists": False}}, set()),
        ({"metadata.team": "red"}, {"five."}),
        ({"metadata.team": "blue"}, set()),
        ({"metadata.team": {"exists": False}}, {"six."}),
        ({"not": {"metadata.team": "red"}}, {"six."}),
        ({"metadata.n": {"gte": 2}}, {"five."}),
        ({"metadata.tags": {"contains": "y"}}, {"five."}),
        ({"kind": "chunk"}, {"five.", "six."}),
        ({"kind": "section"}, set()),
        ({"kind": "message"}, set()),
        ({"speaker": "ann"}, set()),
        ({"said_at": {"gte": "2000"}}, {"five.", "six."}),
        ({"said_at": {"lt": "2000"}}, set()),
        ({"stored_at": {"gte": "2000"}, "document": "plain.txt"}, {"six."}),
    ):
        assert found(memory, where) == expected, where
    [hit] = memory.search("harbour fee", user="ann", where={"document": ODD})
    assert found(memory, {"id": hit.id}) == {"five."}


def test_summaries_are_chosen_as_passages_are(memory: Memory) -> None:
    hits = memory.search("harbour fee", user="ann", kinds="section", where={"metadata.team": "red", "kind": "section"})
    assert {hit.locator.name for hit in hits if hit.locator} == {ODD}


def test_what_was_said_has_no_document(memory: Memory) -> None:
    memory.add("The harbour fee is seven.", user="ann")
    assert found(memory, {"document": {"exists": False}}) == {"seven."}
    assert found(memory, {"not": {"document": "plain.txt"}}) == {"five.", "seven."}
