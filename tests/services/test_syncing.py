"""Folders that a knowledge base is kept in step with: what is in them and nothing else, compared by bytes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mnemic import AccessError, InputError, Memory
from mnemic.api import acting
from mnemic.backends.folders.local import LocalFolders
from mnemic.model.caller import LOCAL
from mnemic.model.document import Document, Synced
from mnemic.services.syncing import Syncing
from tests.services.opened import open_memory
from tests.services.shelved import plain_reading


@dataclass
class Kept:
    """A memory with a knowledge base, and a folder that is to be kept in step."""

    memory: Memory
    cube: str
    folder: Path

    def put(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def sync(self, folder: Path | None = None, *, remove: bool = True) -> Synced:
        return self.memory.knowledge.sync(folder or self.folder, cube=self.cube, user="ann", remove=remove)

    def documents(self) -> dict[str, Document]:
        found = self.memory.knowledge.documents(self.cube, user="ann", limit=1_000)
        return {document.name: document for document in found}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    (folder := tmp_path / "papers").mkdir()
    with plain_reading(tmp_path), open_memory(tmp_path / "memory") as memory:
        yield Kept(memory, memory.knowledge.create("docs", user="ann").cube.id, folder)


def names(documents: object) -> list[str]:
    return [document.name for document in documents]  # type: ignore[attr-defined]


def test_documents_are_named_by_their_path_in_the_folder_which_they_remember(kept: Kept) -> None:
    kept.put("a.txt", "one")
    kept.put("deep/er/b.txt", "two")
    synced = kept.sync()
    assert names(synced.added) == ["a.txt", "deep/er/b.txt"]
    assert {document.address for document in kept.documents().values()} == {str(kept.folder)}
    read = kept.memory.knowledge.sync(kept.folder, cube=kept.cube, user="ann", wait=True)
    assert (read.same, names(read.added)) == (2, [])


def test_only_what_differs_is_written_and_only_what_is_gone_is_removed(kept: Kept) -> None:
    for number in range(4):
        kept.put(f"{number}.txt", f"text {number}")
    kept.sync()
    kept.put("1.txt", "text 1 corrected")
    os.utime(kept.folder / "0.txt", (1, 1))
    (kept.folder / "2.txt").unlink()
    kept.put("new.txt", "text new")
    synced = kept.sync()
    assert (names(synced.added), names(synced.changed), synced.same, synced.removed) == (
        ["new.txt"], ["1.txt"], 2, ["2.txt"],
    )  # fmt: skip
    assert sorted(kept.documents()) == ["0.txt", "1.txt", "3.txt", "new.txt"]
    assert kept.documents()["1.txt"].latest.number == 2


def test_what_is_gone_stays_when_it_is_not_to_be_removed(kept: Kept) -> None:
    kept.put("a.txt", "one")
    kept.put("b.txt", "two")
    kept.sync()
    (kept.folder / "a.txt").unlink()
    assert kept.sync(remove=False).removed == ()
    assert list(kept.documents()) == ["a.txt", "b.txt"]
    assert kept.sync().removed == ["a.txt"]
    assert list(kept.documents()) == ["b.txt"]


def test_a_folder_that_is_suddenly_empty_erases_nothing_and_says_what_to_do(kept: Kept) -> None:
    kept.put("a.txt", "one")
    kept.put("deep/b.txt", "two")
    kept.sync()
    unmounted = kept.folder.rename(kept.folder.with_name("disk"))
    kept.folder.mkdir()
    (kept.folder / ".mounted-here").touch()
    with pytest.raises(InputError, match=r"has no files, but 2 documents come from it.*remove=False") as refused:
        kept.sync()
    assert refused.value.field == "folder"
    with pytest.raises(InputError, match="2 documents come from it"):
        next(kept.memory.knowledge.watch_folder(kept.folder, cube=kept.cube, user="ann"))
    assert sorted(kept.documents()) == ["a.txt", "deep/b.txt"]
    assert kept.sync(remove=False).removed == ()
    kept.folder.rename(kept.folder.with_name("mountpoint"))
    unmounted.rename(kept.folder)
    (kept.folder / "a.txt").unlink()
    assert (kept.sync().same, sorted(kept.documents())) == (1, ["deep/b.txt"])


def test_a_folder_that_was_always_empty_is_in_step(kept: Kept) -> None:
    kept.memory.knowledge.add(text="handed over", name="note.txt", cube=kept.cube, user="ann")
    synced = kept.sync()
    assert (synced.added, synced.changed, synced.same, list(synced.removed)) == ([], [], 0, [])
    assert sorted(kept.documents()) == ["note.txt"]


def test_documents_of_other_folders_and_from_elsewhere_are_never_touched(kept: Kept, tmp_path: Path) -> None:
    (other := tmp_path / "other").mkdir()
    (other / "b.txt").write_text("of another folder")
    kept.memory.knowledge.add(b"handed over", name="a.txt", cube=kept.cube, user="ann")
    kept.sync(other)
    kept.put("a.txt", "of the folder")
    kept.put("b.txt", "of the folder")
    synced = kept.sync()
    assert [name for name, _ in synced.skipped] == ["a.txt", "b.txt"]
    assert all("elsewhere" in why for _, why in synced.skipped)
    (kept.folder / "a.txt").unlink()
    assert kept.sync().removed == []
    assert sorted(kept.documents()) == ["a.txt", "b.txt"]


def test_hidden_things_links_out_pipes_and_empty_or_huge_files_are_left_out_and_told(
    kept: Kept, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("outside")
    for name in (".env", ".git/config", "CVS/Root", "real.txt", "sub/inner.txt"):
        kept.put(name, f"text of {name}")
    kept.put("empty.txt", "")
    kept.put("huge.txt", "x")
    os.truncate(kept.folder / "huge.txt", 100_000_001)
    os.mkfifo(kept.folder / "pipe")
    for link, target in {
        "out.txt": tmp_path / "secret.txt", "up": tmp_path, "in.txt": kept.folder / "real.txt",
        "folder": kept.folder / "sub", "nowhere": kept.folder / "absent", "circle": kept.folder / "circle",
        "hidden.txt": kept.folder / ".env",
    }.items():  # fmt: skip
        (kept.folder / link).symlink_to(target)
    synced = kept.sync()
    assert names(synced.added) == ["in.txt", "real.txt", "sub/inner.txt"]
    told = dict(synced.skipped)
    assert {name: told[name] for name in (".env", ".git", "CVS", "pipe")} == {
        ".env": "is hidden", ".git": "is hidden", "CVS": "belongs to version control", "pipe": "is no plain file",
    }  # fmt: skip
    assert "leads out" in told["out.txt"] and "leads out" in told["up"]
    assert "nowhere" in told["nowhere"] and "nowhere" in told["circle"]
    assert "hidden" in told["hidden.txt"] and "to a folder" in told["folder"]
    assert "empty" in told["empty.txt"] and "100 MB" in told["huge.txt"]
    assert len(told) == 12


def test_a_file_that_becomes_a_link_out_is_not_read_and_its_document_stays(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("outside")
    kept.put("a.txt", "inside")
    kept.sync()
    (kept.folder / "a.txt").unlink()
    (kept.folder / "a.txt").symlink_to(tmp_path / "secret.txt")
    synced = kept.sync()
    assert (synced.removed, names(synced.changed)) == ([], [])
    with pytest.raises(InputError, match="leads out"), LocalFolders().open(str(kept.folder), "a.txt"):
        pass
    with pytest.raises(InputError, match="leads out"), LocalFolders().open(str(kept.folder), "../secret.txt"):
        pass


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_told_and_is_not_taken_for_gone(kept: Kept) -> None:  # pragma: no cover
    kept.put("deep/a.txt", "one")
    kept.sync()
    (kept.folder / "deep").chmod(0)
    try:
        synced = kept.sync()
    finally:
        (kept.folder / "deep").chmod(0o700)
    assert (synced.removed, [name for name, _ in synced.skipped]) == ([], ["deep"])


def test_a_file_that_goes_while_the_folder_is_read_is_told(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.put("a.txt", "one")
    kept.put("b.txt", "two")
    listed = LocalFolders.list

    def then_gone(self: LocalFolders, folder: str) -> object:
        found = listed(self, folder)
        (kept.folder / "a.txt").unlink()
        return found

    monkeypatch.setattr(LocalFolders, "list", then_gone)
    synced = kept.sync()
    assert (names(synced.added), [name for name, _ in synced.skipped]) == (["b.txt"], ["a.txt"])


def test_1001_files_are_written_in_a_few_transactions_and_the_next_time_in_none(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # that files are durable is tested elsewhere, one by one
    for number in range(1_001):
        kept.put(f"{number % 7}/{number}.txt", f"note {number}")
    assert len(kept.sync().added) == 1_001
    assert len(kept.memory.knowledge.documents(kept.cube, user="ann", limit=1_000)) == 1_000
    again = kept.sync()
    assert (again.same, names(again.added), names(again.changed)) == (1_001, [], [])


@pytest.mark.parametrize("folder", ["", " ", 7, "/absent/folder", __file__])
def test_what_is_no_folder_is_refused(kept: Kept, folder: object) -> None:
    with pytest.raises(InputError, match="folder"):
        kept.memory.knowledge.sync(folder, cube=kept.cube, user="ann")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="folder"):
        kept.memory.knowledge.watch_folder(folder, cube=kept.cube, user="ann")  # type: ignore[arg-type]


def test_a_server_looks_into_no_folder_of_its_machine(kept: Kept) -> None:
    with acting(LOCAL), pytest.raises(InputError, match="server"):
        kept.sync()
    with acting(LOCAL), pytest.raises(InputError, match="server"):
        kept.memory.knowledge.watch_folder(kept.folder, cube=kept.cube, user="ann")


def test_readers_and_strangers_keep_nothing_in_step(kept: Kept) -> None:
    kept.memory.knowledge.bind(kept.cube, "bo", user="ann", role="reader")
    with pytest.raises(AccessError):
        kept.memory.knowledge.sync(kept.folder, cube=kept.cube, user="bo")


def test_what_changes_in_a_watched_folder_is_taken_over_when_it_has_been_quiet(kept: Kept) -> None:
    parts = kept.memory._parts
    watching = Syncing(parts.store, parts.scoping, LocalFolders(quiet=50), parts.library)
    kept.put("a.txt", "one")
    steps = watching.watch(kept.folder, cube=kept.cube, user="ann")
    assert names(next(steps).added) == ["a.txt"]
    kept.put("b.txt", "two")
    assert names(next(steps).added) == ["b.txt"]
    (kept.folder / "a.txt").unlink()
    assert next(steps).removed == ["a.txt"]
    threading.Timer(0.1, watching.close).start()
    assert list(steps) == []
