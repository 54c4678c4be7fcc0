"""An export brings documents, attachments and files; loading makes them as they were, or says what is wrong."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic import InputError, Memory, StoreError
from mnemic.model.archive import PART
from mnemic.model.document import DocumentState
from tests.services.opened import open_memory
from tests.services.shelves import files, files_anywhere, key_of, new_base, shelve

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
FIRST = "# Birds\n\nThe plover nests on the ground.\n\n# Fish\n\nThe cod lives in cold water.\n"
SECOND = "# Birds\n\nThe plover nests on the ground.\n\n# Fish\n\nThe cod lives in warm water now.\n"


@pytest.fixture(scope="module")
def source(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, str]]:
    """A memory that is only read, and the id of its base."""
    with open_memory(tmp_path_factory.mktemp("source")) as memory:
        yield memory, shelved(memory)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "one") as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "two") as opened:
        yield opened


def shelved(memory: Memory) -> str:
    """A base with a document of two versions, one that failed, and a message with a picture; return its id."""
    base = new_base(memory).id
    memory.knowledge.add(text=FIRST, name="animals.md", cube=base, user="ann", metadata={"a": [1]}, wait=True)
    memory._parts.clock.at += timedelta(days=1)  # type: ignore[attr-defined]  # the tests' clock
    memory.knowledge.add(text=SECOND, name="animals.md", cube=base, user="ann", wait=True)
    memory.knowledge.add(b"%PDF-1.7 cut off", name="cut.pdf", cube=base, user="ann", wait=True)
    data = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    part = {"type": "image_url", "image_url": {"url": data}, "caption": "a heron"}
    memory.add([{"role": "user", "content": [{"type": "text", "text": "Look!"}, part]}], user="ann", cube=base)
    memory.jobs.wait(user="ann", cube=base)
    return base


def told(memory: Memory, base: str) -> list[Any]:
    """Return what is known of documents, but for which cube and job they are of."""
    return [
        (
            document.id, document.name, document.metadata, document.latest, document.current,
            memory.knowledge.versions(document.id, cube=base, user="ann"),
            [
                (chunk.id, chunk.text, chunk.hash, chunk.position, chunk.parent, chunk.locator)
                for version in memory.knowledge.versions(document.id, cube=base, user="ann")
                if version.state is DocumentState.READY
                for chunk in memory.knowledge.chunks(document.id, cube=base, user="ann", version=version.number)
            ],
        )
        for document in memory.knowledge.documents(base, user="ann")
    ]  # fmt: skip


def seen(memory: Memory, base: str, query: str, **how: Any) -> list[tuple[Any, ...]]:
    hits = memory.search(query, user="ann", cubes=[base], limit=20, **how)
    return [(hit.kind, hit.text, round(hit.score, 6), hit.said_at, hit.locator) for hit in hits]


def test_a_loaded_base_is_the_exported_one(source: tuple[Memory, str], other: Memory) -> None:
    memory, base = source
    lines = list(memory.export(user="ann", cube=base))
    there = new_base(other).id
    imported = other.load(lines, user="ann", cube=there)
    counts = json.loads(lines[0])["counts"]
    assert dict(imported.stored) == counts
    assert (counts["document"], counts["document_version"], counts["attachment"]) == (2, 3, 1)
    assert list(other.export(user="ann", cube=there))[1:] == lines[1:]
    assert told(other, there) == told(memory, base)
    assert files(other, there) == files(memory, base)
    before = memory._parts.clock.now() - timedelta(hours=12)
    for opened in (memory, other):
        opened._parts.clock.at = before + timedelta(days=2)  # type: ignore[attr-defined]  # the tests' clock
    for query in ("Where does the plover nest?", "Where does the cod live?", "heron"):
        assert seen(other, there, query) == seen(memory, base, query) != []
        assert seen(other, there, query, as_of=before) == seen(memory, base, query, as_of=before)
    assert "cold" in str(seen(other, there, "Where does the cod live?", as_of=before))
    assert "cold" not in str(seen(other, there, "Where does the cod live?"))
    again = other.load(lines, user="ann", cube=there)
    assert not any(again.stored.values())
    assert list(other.export(user="ann", cube=there))[1:] == lines[1:]
    assert other.jobs.list(user="ann", cube=there, open_only=True) == ()


def test_documents_are_loaded_into_knowledge_bases_only(source: tuple[Memory, str], other: Memory) -> None:
    memory, base = source
    trip = other.cubes.create("trip", user="ann").id
    for where in (None, trip):
        with pytest.raises(InputError, match="is no knowledge base, and the file holds documents"):
            other.load(memory.export(user="ann", cube=base), user="ann", cube=where)
    assert not other.search("plover", user="ann").hits
    assert not other.search("plover", user="ann", cubes=[trip]).hits


def test_a_loaded_base_goes_on_with_new_versions(source: tuple[Memory, str], other: Memory) -> None:
    memory, base = source
    there = new_base(other).id
    other.load(memory.export(user="ann", cube=base), user="ann", cube=there)
    added = other.knowledge.add(
        text=SECOND.replace("plover", "lapwing"), name="animals.md", cube=there, user="ann", wait=True
    )
    assert (added.latest.number, added.state) == (3, DocumentState.READY)
    assert added.latest.reused, "what is the same is embedded again"
    assert "lapwing" in str(seen(other, there, "What nests on the ground?"))
    assert "plover" not in str(seen(other, there, "What nests on the ground?"))
    gone = other.knowledge.remove(
        [each.id for each in other.knowledge.documents(there, user="ann")], cube=there, user="ann"
    )
    assert gone.removed["document"] == 2
    other.forget(user="ann", cube=there, everything=True)
    assert files_anywhere(other) == []


def test_a_large_file_comes_in_parts(memory: Memory, other: Memory) -> None:
    base, there = new_base(memory).id, new_base(other).id
    words = "".join(f"The plover number {number} nests on the ground.\n\n" for number in range(20_000))
    memory._parts.worker.close()  # what is read of it is not asked here
    memory.knowledge.add(text=words, name="large.txt", cube=base, user="ann")
    lines = list(memory.export(user="ann", cube=base))
    parts = [line for line in lines if json.loads(line).get("type") == "blob"]
    assert len(parts) == json.loads(lines[0])["counts"]["blob"] == -(-len(words) // PART) == 2
    assert max(map(len, lines)) < 1_000_000
    other.load(lines, user="ann", cube=there)
    assert files(other, there) == {words.encode()}
    [document] = other.knowledge.documents(there, user="ann")
    assert document.state is DocumentState.QUEUED
    assert document.job is not None, "what was on its way begins again"


@pytest.mark.parametrize("fault", ["changed", "missing", "cut", "unnamed", "swapped"])
def test_files_that_are_not_whole_are_told_and_nothing_is_stored(
    source: tuple[Memory, str], other: Memory, fault: str
) -> None:
    memory, base = source
    there = new_base(other).id
    lines = [json.loads(line) for line in memory.export(user="ann", cube=base)]
    at = next(place for place, line in enumerate(lines) if line.get("type") == "blob")
    told = {"changed": "digest", "missing": "digest", "cut": "part", "unnamed": "digest", "swapped": "part"}[fault]
    if fault == "changed":
        data = base64.b64decode(lines[at]["data"])
        lines[at]["data"] = base64.b64encode(bytes([data[0] ^ 1]) + data[1:]).decode()
    elif fault == "missing":
        del lines[at]
        lines[0]["counts"]["blob"] -= 1
    elif fault == "cut":
        lines[at]["size"] += 1
    elif fault == "unnamed":
        lines[at]["digest"] = hashlib.sha256(b"another").hexdigest()
    else:
        lines[at]["part"] = 1
    with pytest.raises(InputError, match=told):
        other.load([json.dumps(line) for line in lines], user="ann", cube=there)
    assert list(other.knowledge.documents(there, user="ann")) == []
    cube = key_of(other, there)
    with other._parts.store.read() as tx:
        tx.enter(cube.key)
        assert tx.blobs.size(cube.key) == 0


def test_a_name_that_is_taken_is_told(source: tuple[Memory, str], other: Memory) -> None:
    memory, base = source
    there = new_base(other).id
    other.knowledge.add(text="Mine.", name="animals.md", cube=there, user="ann")
    imported = other.load(memory.export(user="ann", cube=base), user="ann", cube=there)
    assert "a document 'animals.md' is here already; the loaded one got another name" in imported.notes
    names = [document.name for document in other.knowledge.documents(there, user="ann")]
    assert sorted(names) == ["animals.md", "animals.md (loaded)", "cut.pdf"]


def test_a_file_that_went_while_it_was_exported_is_told(memory: Memory) -> None:
    base = new_base(memory)
    shelve(memory, base, "a", b"the bytes")
    for path in files_anywhere(memory):
        path.unlink()
    with pytest.raises(StoreError, match="export again"):
        list(memory.export(user="ann", cube=base.id))


def test_an_export_holds_no_password(memory: Memory) -> None:
    base = new_base(memory).id
    memory._parts.worker.close()
    memory.knowledge.add(b"%PDF-1.7 x", name="a.pdf", cube=base, user="ann", password="sesame-7", wait=False)
    assert "sesame-7" not in "\n".join(memory.export(user="ann", cube=base))
