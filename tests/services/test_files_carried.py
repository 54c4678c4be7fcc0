"""Files come along when a store is moved or backed up, verified, and what is there already is not brought again."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory, StoreError
from mnemic.api import backup, backups, move
from mnemic.backends.blobs.folder import FolderBlobs
from mnemic.testing.s3_server import ACCESS_KEY, S3Server
from tests.services.opened import new_store
from tests.services.shelves import attach, files, new_base, shelve

SECRET = "the secret of a test's server"


def opened(folder: Path, **settings: Any) -> Memory:
    embedder = new_store(folder)
    return Memory(folder, settings={"worker": False, **settings}, embedder=embedder)


@pytest.fixture
def source(tmp_path: Path) -> tuple[Path, str]:
    """A store with a document, a picture and a file that nothing names any more; and the id of its base."""
    with opened(tmp_path / "source") as memory:
        base = new_base(memory)
        shelve(memory, base, "a.txt", b"the bytes of a document")
        shelve(memory, base, "b.txt", b"twice")
        attach(memory, "Look!", b"picture")
        memory._parts.blobs.put(base.id, io.BytesIO(b"an orphan"))
    return tmp_path / "source", base.id


def held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "blobs").rglob("*") if path.is_file()}


def test_a_backup_holds_the_files_and_opens_as_a_memory(source: tuple[Path, str], tmp_path: Path) -> None:
    folder, base = source
    made = backup(tmp_path / "kept", settings={"home": str(folder)})
    assert made.files == 4
    assert [each.files for each in backups(tmp_path / "kept", settings={"home": str(folder)})] == [4]
    copied = Path(made.path)
    assert sorted(held(copied).values()) == [b"pic", b"picture", b"the bytes of a document", b"twice"]
    for path in (copied / "blobs").rglob("*"):
        if path.is_file():
            assert path.stat().st_nlink == 2, "a file is copied where it could be linked"
    with opened(folder) as memory:
        memory.cubes.delete(base, user="ann")
    with opened(copied) as memory:
        assert files(memory, base) == {b"the bytes of a document", b"twice"}


def test_a_backup_counts_the_bytes_of_its_files(source: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = source
    made = backup(tmp_path / "kept", settings={"home": str(folder)})
    assert made.bytes == sum(
        path.stat().st_size for path in Path(made.path).rglob("*") if path.is_file() and path.name != "backup.json"
    )


def test_a_damaged_file_stops_a_backup_and_is_named(source: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = source
    [path] = [path for path in (folder / "blobs").rglob("*") if path.is_file() and path.read_bytes() == b"twice"]
    path.chmod(0o600)
    path.write_bytes(b"wrong")
    with pytest.raises(StoreError, match=f"{path.name} is damaged"):
        backup(tmp_path / "kept", settings={"home": str(folder)})
    assert backups(tmp_path / "kept", settings={"home": str(folder)}) == []


def test_a_file_that_was_forgotten_meanwhile_is_left_out(source: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = source
    [path] = [path for path in (folder / "blobs").rglob("*") if path.is_file() and path.read_bytes() == b"twice"]
    path.unlink()
    assert backup(tmp_path / "kept", settings={"home": str(folder)}).files == 3
    moved = move(tmp_path / "there", folder)
    assert (moved.files, moved.absent) == (3, 1)


@pytest.mark.parametrize("to", ["folder", "postgres"])
def test_a_move_brings_the_files(
    source: tuple[Path, str], tmp_path: Path, request: pytest.FixtureRequest, to: str
) -> None:
    folder, base = source
    there = str(tmp_path / "there") if to == "folder" else request.getfixturevalue("postgres")
    home = {"home": str(tmp_path / "there")}
    moved = move(there, folder, settings=home)
    assert (moved.files, moved.file_bytes, moved.absent, moved.shared) == (4, 38, 0, "")
    checked = move(there, folder, settings=home, check=True)
    assert (checked.same, checked.files, checked.absent) == (True, 4, 0)
    settings = {"database_url": there} if to == "postgres" else {}
    with opened(tmp_path / "there", **settings) as memory:
        assert files(memory, base) == {b"the bytes of a document", b"twice"}
    next(path for path in (tmp_path / "there" / "blobs").rglob("*") if path.is_file()).unlink()
    assert move(there, folder, settings=home, check=True).absent == 1


def test_a_move_to_a_database_leaves_files_where_both_look_for_them(source: tuple[Path, str], postgres: str) -> None:
    folder, base = source
    before = held(folder)
    moved = move(postgres, settings={"home": str(folder)})
    assert (moved.files, held(folder)) == (0, before)
    assert moved.shared == str(folder / "blobs"), "it is not told that only one may go on"
    with opened(folder, database_url=postgres) as memory:
        assert files(memory, base) >= {b"the bytes of a document", b"twice"}


def test_files_come_from_a_folder_into_an_object_store_and_back(source: tuple[Path, str], tmp_path: Path) -> None:
    folder, base = source
    server = S3Server().start()
    try:
        settings = {
            "blobs_url": "s3://files/mnemic", "blobs_endpoint": server.url, "blobs_access_key": ACCESS_KEY,
            "blobs_secret_key": SECRET,
        }  # fmt: skip
        moved = move(tmp_path / "there", folder, settings=settings)
        assert moved.files == 4
        assert not (tmp_path / "there" / "blobs").exists()
        with opened(tmp_path / "there", **settings) as memory:
            assert files(memory, base) == {b"the bytes of a document", b"twice"}
            memory.forget(user="ann", everything=True)
            made = backup(tmp_path / "kept", settings={**settings, "home": str(tmp_path / "there")})
            assert made.files == 2
            memory.cubes.delete(base, user="ann")
        assert server.objects == {}
    finally:
        server.stop()
    assert sorted(held(Path(made.path)).values()) == [b"the bytes of a document", b"twice"]


def test_files_that_came_before_a_move_was_stopped_are_not_brought_again(
    source: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = source
    taken: list[str] = []
    take = FolderBlobs.take

    def counted(self: FolderBlobs, cube: str, digest: str, path: Path) -> None:
        if len(taken) == 2:
            taken.append("")
            raise StoreError("the disk is full")
        taken.append(digest)
        take(self, cube, digest, path)

    monkeypatch.setattr(FolderBlobs, "take", counted)
    with pytest.raises(StoreError, match="the disk is full"):
        move(tmp_path / "there", folder)
    moved = move(tmp_path / "there", folder)
    assert (moved.resumed, moved.files) == (True, 4)
    assert len(taken) == len(set(taken)) == 5
