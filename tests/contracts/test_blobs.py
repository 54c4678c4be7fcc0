"""The places for files that come with Mnemic keep the contract; what a folder does when its disk does not obey."""

from __future__ import annotations

import errno
import io
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemic.backends.blobs.folder import FolderBlobs
from mnemic.errors import StoreError
from mnemic.ids import new_id
from mnemic.testing.blobs_contract import CHECKS, OpenBlobs, digests, put


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_a_folder_keeps_the_contract(tmp_path: Path, check: Callable[[OpenBlobs], None]) -> None:
    check(lambda: FolderBlobs(tmp_path))


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs, cube = FolderBlobs(tmp_path), new_id()
    kept = put(blobs, cube, b"kept")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="the disk is full"):
            put(blobs, cube, b"more")
    assert digests(blobs, cube) == [kept.digest]
    assert [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == [
        tmp_path / "blobs" / cube / kept.digest[:2] / kept.digest
    ]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="folder of files"):
        put(FolderBlobs(tmp_path), new_id(), b"more")


def test_what_somebody_left_half_written_goes_after_a_day(tmp_path: Path) -> None:
    blobs, cube = FolderBlobs(tmp_path), new_id()
    put(blobs, cube, b"one")
    coming = tmp_path / "blobs" / ".coming"
    old, new = coming / "old", coming / "new"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 100_000, time.time() - 100_000))
    put(blobs, cube, b"two")
    assert (old.exists(), new.exists()) == (False, True)
    assert len(digests(blobs, cube)) == 2


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    blobs, cube = FolderBlobs(tmp_path), new_id()
    blob = blobs.put(cube, io.BytesIO(b"mine"))
    with blobs.local(cube, blob.digest) as path:
        assert path.stat().st_mode & 0o077 == 0
