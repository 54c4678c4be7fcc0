"""Files are kept while something names them, and are gone when that is forgotten, whatever happens in between."""

from __future__ import annotations

import errno
import io
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic.api import Memory
from mnemic.errors import NotFoundError, StoreError
from mnemic.model.index import Entry
from mnemic.model.job import JobState
from mnemic.model.scope import Cube
from mnemic.services.removing import remove_documents
from mnemic.services.upkeep import Upkeep
from tests.services.opened import bytes_of, open_memory
from tests.services.shelves import attach, files, files_anywhere, key_of, new_base, shelve


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        yield opened


def remove(memory: Memory, cube: Cube, *ids: str, settling: bool = True) -> dict[str, int]:
    found = key_of(memory, cube.id, cube.owner)
    with memory._parts.store.write() as tx:
        tx.enter(found.key)
        tx.cubes.touch(found.key)
        removed = remove_documents(tx, found, ids)
    if settling:
        assert memory._parts.keeper.settled(found) == ()
    return dict(removed)


@pytest.mark.usefixtures("engine")
def test_a_removed_document_is_gone_everywhere_and_counted(memory: Memory) -> None:
    base = new_base(memory)
    gone = shelve(memory, base, "a.txt", b"the bytes of a quixotic plover")
    stays = shelve(memory, base, "b.txt", b"other bytes", "other words")
    receipt = memory.knowledge.remove(gone.id, user="ann", cube=base.id)
    assert {kind: count for kind, count in receipt.removed.items() if count} == {
        "document": 1, "document_version": 1, "chunk": 1, "entry": 1, "file": 1,
    }  # fmt: skip
    assert receipt.ids == (gone.id,)
    assert files(memory, base.id) == {b"other bytes"}
    assert b"quixotic" not in bytes_of(memory.path)
    cube = key_of(memory, base.id)
    with memory._parts.store.read() as tx:
        tx.enter(cube.key)
        assert tx.documents.list(cube.key) == [stays]
        assert tx.index.postings(cube.key, ["quixot"])[0][0].size == 0
        assert list(tx.blobs.known(cube.key, [gone.latest.digest])) == []
    with pytest.raises(NotFoundError):
        memory.knowledge.remove([stays.id, gone.id], user="ann", cube=base.id)
    with pytest.raises(NotFoundError):
        memory.knowledge.remove(stays.id, user="ben", cube=base.id)
    assert files(memory, base.id) == {b"other bytes"}


def test_a_file_that_another_document_has_stays(memory: Memory) -> None:
    base = new_base(memory)
    one, two = (shelve(memory, base, name, b"the same") for name in ("one", "two"))
    assert remove(memory, base, one.id)["file"] == 0
    assert files(memory, base.id) == {b"the same"}
    assert remove(memory, base, two.id)["file"] == 1
    assert files_anywhere(memory) == []


def test_two_users_with_the_same_file_share_nothing(memory: Memory) -> None:
    mine, yours = new_base(memory), new_base(memory, "ben")
    ann, ben = (shelve(memory, base, "a", b"the same bytes") for base in (mine, yours))
    assert len(files_anywhere(memory)) == 2
    remove(memory, mine, ann.id)
    assert (files(memory, mine.id), files(memory, yours.id)) == (set(), {b"the same bytes"})
    remove(memory, yours, ben.id)
    assert files_anywhere(memory) == []


@pytest.mark.usefixtures("engine")
def test_what_came_with_a_message_goes_with_it(memory: Memory) -> None:
    photo = attach(memory, "Look at the plover!", b"picture of a plover")
    attach(memory, "And at the heron!", b"heron")
    receipt = memory.forget(photo.message_id, user="ann")
    assert {kind: receipt.removed[kind] for kind in ("message", "attachment", "file")} == {
        "message": 1, "attachment": 1, "file": 2,
    }  # fmt: skip
    cube = memory.cubes.list(user="ann")[0]
    assert files(memory, cube.id) == {b"heron", b"her"}
    everything = memory.forget(user="ann", everything=True).removed
    assert (everything["attachment"], everything["file"]) == (1, 2)
    assert files_anywhere(memory) == []


def test_a_message_is_forgotten_by_what_stands_in_its_picture(memory: Memory) -> None:
    photo = attach(memory, "Look!", b"picture", seen="Menu of the Nautilus")
    kept = attach(memory, "And this.", b"other", seen="Menu of the Argo")
    cube = key_of(memory, memory.cubes.list(user="ann")[0].id)
    with memory._parts.store.write() as tx:
        tx.enter(cube.key)
        revision = tx.cubes.touch(cube.key)
        for each in (photo, kept):
            entry = Entry("message", each.message_id, each.text, "", 5, None, version_id=each.id, end=len(each.text))
            tx.index.add(cube.key, revision, [entry])
    receipt = memory.forget(user="ann", about="Nautilus")
    assert receipt.ids == (photo.message_id,)
    assert receipt.removed["entry"] >= 2, "what was read of it is searched still"
    assert files(memory, cube.id) == {b"other", b"oth"}


def test_documents_that_mention_what_is_forgotten_are_named(memory: Memory) -> None:
    base = new_base(memory)
    shelve(memory, base, "birds.txt", b"the quixotic plover")
    shelve(memory, base, "fish.txt", b"the cod", "the cod")
    [note] = memory.forget(user="ann", cube=base.id, about="plover").notes
    assert note == "documents mention it and stay: 'birds.txt'; `knowledge.remove` erases them"
    assert len(files(memory, base.id)) == 2


@pytest.mark.usefixtures("engine")
def test_an_erased_cube_takes_its_files_along(memory: Memory) -> None:
    base = new_base(memory)
    shelve(memory, base, "a", b"the bytes")
    receipt = memory.cubes.delete(base.id, user="ann")
    assert {kind: receipt.removed[kind] for kind in ("document", "chunk", "file")} == {
        "document": 1, "chunk": 1, "file": 1,
    }  # fmt: skip
    assert receipt.notes == ()
    assert files_anywhere(memory) == []


@pytest.mark.usefixtures("engine")
def test_who_dies_between_the_commit_and_the_files_leaves_them_to_upkeep(memory: Memory) -> None:
    base, other = new_base(memory), memory.cubes.create("other", user="ann", kind="knowledge")
    document = shelve(memory, base, "a", b"the bytes")
    shelve(memory, base, "b", b"kept")
    shelve(memory, other, "c", b"of the other")
    remove(memory, base, document.id, settling=False)
    found = key_of(memory, other.id)
    with memory._parts.store.write() as tx:  # a cube is erased, and nobody is left to erase its files
        tx.enter(found.key)
        tx.cubes.delete(found.key, memory._parts.clock.now())
    assert len(files_anywhere(memory)) == 3
    told = upkeep(memory)
    assert "2 files erased that nothing named" in told
    assert files(memory, base.id) == {b"kept"}
    assert len(files_anywhere(memory)) == 1
    assert "files" not in upkeep(memory)
    with memory._parts.store.read() as tx:
        assert [cube for cube, _ in tx.blobs.erased_cubes()] == [other.id], "somebody may be putting a file still"


def test_a_cube_that_was_erased_is_looked_at_for_an_hour(memory: Memory) -> None:
    base = new_base(memory)
    shelve(memory, base, "a", b"the bytes")
    memory.cubes.delete(base.id, user="ann")
    memory._parts.blobs.put(base.id, io.BytesIO(b"came late"))
    upkeep(memory)
    assert files_anywhere(memory) == []
    memory._parts.clock.at += timedelta(hours=2)  # type: ignore[attr-defined]  # the tests' clock
    upkeep(memory)
    with memory._parts.store.read() as tx:
        assert tx.blobs.erased_cubes() == []


def test_a_file_without_a_row_goes_when_it_is_an_hour_old(memory: Memory) -> None:
    base = new_base(memory)
    shelve(memory, base, "a", b"with a row")
    old, new = (memory._parts.blobs.put(base.id, io.BytesIO(data)) for data in (b"old", b"new"))
    now = time.time()
    memory._parts.clock.at = datetime.fromtimestamp(now, UTC)  # type: ignore[attr-defined]  # the tests' clock
    for path in files_anywhere(memory):
        if path.name != new.digest:
            os.utime(path, (now - 4_000, now - 4_000))
    assert "1 files erased" in upkeep(memory)
    assert files(memory, base.id) == {b"with a row", b"new"}
    assert not memory._parts.blobs.has(base.id, old.digest)


def test_a_file_that_was_erased_at_the_same_moment_is_not_noted(memory: Memory) -> None:
    base = new_base(memory)
    cube = key_of(memory, base.id)
    blob = memory._parts.blobs.put(cube.id, io.BytesIO(b"the bytes"))
    memory._parts.blobs.erase(cube.id, [blob.digest])
    with memory._parts.store.write() as tx:
        tx.enter(cube.key)
        tx.cubes.touch(cube.key)
        with pytest.raises(StoreError, match="add it again"):
            memory._parts.keeper.note(tx, cube, [blob])
    with memory._parts.store.read() as tx:
        tx.enter(cube.key)
        assert list(tx.blobs.known(cube.key, [blob.digest])) == [], "a row without a file"


def test_a_marked_file_that_comes_again_is_kept(memory: Memory) -> None:
    base = new_base(memory)
    document = shelve(memory, base, "a", b"the bytes")
    remove(memory, base, document.id, settling=False)
    shelve(memory, base, "again", b"the bytes")
    assert "files" not in upkeep(memory)
    assert files(memory, base.id) == {b"the bytes"}


def test_files_that_cannot_be_erased_are_told_and_tried_again(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    photo = attach(memory, "Look!", b"picture")
    base = new_base(memory)
    shelve(memory, base, "a", b"the bytes")

    def broken(*_: object) -> int:
        raise StoreError("the disk is away")

    with monkeypatch.context() as patched:
        for name in ("erase", "erase_all"):
            patched.setattr(type(memory._parts.blobs), name, broken)
        receipts = [memory.forget(photo.message_id, user="ann"), memory.cubes.delete(base.id, user="ann")]
    for receipt in receipts:
        assert receipt.notes[0].startswith("its files could not be erased now")
    assert len(files_anywhere(memory)) == 3
    upkeep(memory)
    assert files_anywhere(memory) == []


def test_jobs_of_what_was_forgotten_end_quietly(memory: Memory) -> None:
    base = new_base(memory)
    memory.knowledge.add(text="The plover nests.", name="a.txt", cube=base.id, user="ann")
    picture = {"type": "image", "bytes": b"\x89PNG\r\n\x1a\n, and no more"}
    memory.add([{"role": "user", "content": [picture]}], user="ann", cube=base.id)
    assert memory.forget(user="ann", cube=base.id, everything=True).removed["file"] == 2
    memory.jobs.wait(user="ann", cube=base.id)
    jobs = memory.jobs.list(user="ann", cube=base.id)
    assert {job.kind for job in jobs} >= {"ingest", "describe"}
    assert {job.state for job in jobs} == {JobState.DONE}
    assert list(memory.knowledge.documents(base.id, user="ann")) == []
    assert files_anywhere(memory) == []


def test_a_full_disk_is_told_and_nothing_is_stored(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    base = new_base(memory)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="the disk is full"):
            memory.knowledge.add(text="The plover nests.", name="a.txt", cube=base.id, user="ann")
    assert list(memory.knowledge.documents(base.id, user="ann")) == []
    assert files_anywhere(memory) == []


def upkeep(memory: Memory) -> str:
    parts = memory._parts
    return Upkeep(parts.store, kept=10, settle=parts.settle, erase=parts.keeper.settle_all).run()
