"""Files are counted, compared with what names them, and read again when a cube is rebuilt."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic.api import Memory
from mnemic.model.document import DocumentState
from tests.services.opened import open_memory
from tests.services.shelves import attach, files_anywhere, new_base, shelve


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        yield opened


def checked(memory: Memory) -> tuple[bool, str]:
    [(_, well, told)] = [each for each in memory.check() if each[0] == "files"]
    return well, told


def test_files_are_counted(memory: Memory) -> None:
    base = new_base(memory)
    shelve(memory, base, "a", b"12345")
    shelve(memory, base, "b", b"12345")
    shelve(memory, base, "c", b"678")
    stats = memory.stats(user="ann", cube=base.id)
    assert (stats.documents, stats.chunks, stats.files, stats.file_bytes) == (3, 3, 2, 8)
    attach(memory, "Look!", b"picture")
    stats = memory.stats(user="ann")
    assert (stats.documents, stats.files, stats.file_bytes) == (0, 2, 10)


@pytest.mark.usefixtures("engine")
def test_a_check_tells_of_files_that_are_missing_and_of_those_that_nothing_names(memory: Memory) -> None:
    assert checked(memory) == (True, f"0 files, 0 bytes in {memory._parts.blobs.place}")
    base = new_base(memory)
    shelve(memory, base, "a", b"12345")
    memory._parts.blobs.put(base.id, io.BytesIO(b"an orphan"))
    attach(memory, "Look!", b"picture")
    well, told = checked(memory)
    assert well
    assert told.startswith("3 files, 15 bytes in ")
    assert told.endswith("; 1 that nothing names: upkeep erases them when they are an hour old")
    contents = {path.read_bytes(): path for path in files_anywhere(memory)}
    contents[b"12345"].unlink()
    contents[b"picture"].write_bytes(b"pict")
    well, told = checked(memory)
    assert not well
    assert "1 that documents or messages name are not there" in told
    assert "1 have another size than was stored" in told


def test_a_rebuilt_base_is_read_again_from_its_files(memory: Memory) -> None:
    base = new_base(memory).id
    added = memory.knowledge.add(
        text="# Birds\n\nThe plover nests on the ground.", name="a.md", cube=base, user="ann", wait=True
    )
    failed = memory.knowledge.add(b"%PDF-1.7 cut off", name="cut.pdf", cube=base, user="ann", wait=True)
    assert (added.state, failed.state) == (DocumentState.READY, DocumentState.FAILED)
    memory.rebuild(user="ann", cube=base)
    during = memory.knowledge.get(added.id, cube=base, user="ann")
    assert (during.latest.state, during.current) == (DocumentState.QUEUED, added.current), "what is there answers"
    memory.jobs.wait(user="ann", cube=base)
    again = memory.knowledge.get(added.id, cube=base, user="ann")
    assert (again.latest.number, again.state, again.latest.reused) == (2, DocumentState.READY, again.latest.chunks)
    assert [each.latest.number for each in memory.knowledge.documents(base, user="ann")] == [2, 1]
    [hit] = [hit for hit in memory.search("plover", user="ann", cubes=[base]) if hit.kind == "chunk"]
    assert hit.locator is not None
    assert hit.locator.version == 2
