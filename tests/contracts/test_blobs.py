"""The places for files that come with Mnemic keep the contract; what a folder does when its disk does not obey."""

from __future__ import annotations

import errno
import io
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemic.backends.blobs.folder import FolderBlobs
from mnemic.backends.blobs.s3 import Bucket, S3Blobs
from mnemic.errors import InputError, StoreError
from mnemic.ids import new_id
from mnemic.testing.blobs_contract import CHECKS, OpenBlobs, digests, put
from mnemic.testing.s3_server import ACCESS_KEY, S3Server


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


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    server = S3Server().start()
    yield server
    server.stop()


def in_s3(server: S3Server, prefix: str = "", *, key: str = ACCESS_KEY) -> S3Blobs:
    bucket = Bucket(f"s3://{server.bucket}/{prefix}", server.url, access_key=key, secret_key="a secret")
    return S3Blobs(bucket, tries=0)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_an_object_store_keeps_the_contract(s3: S3Server, check: Callable[[OpenBlobs], None]) -> None:
    prefix = check.__name__
    check(lambda: in_s3(s3, f"stores/{prefix}/"))
    assert all(key.startswith("stores/") for key in s3.objects)


def test_a_large_file_goes_in_parts_and_comes_back_whole(s3: S3Server) -> None:
    blobs, cube, data = in_s3(s3), new_id(), bytes(range(256)) * 40_000
    blob = put(blobs, cube, data)
    assert sum(request.startswith("PUT") and cube in request for request in s3.requests) == 2
    with blobs.local(cube, blob.digest) as path:
        assert path.read_bytes() == data
    assert not path.exists()


def test_bytes_that_changed_in_the_store_are_not_handed_out(s3: S3Server) -> None:
    blobs, cube = in_s3(s3), new_id()
    blob = put(blobs, cube, b"what was stored")
    key = f"{cube}/{blob.digest[:2]}/{blob.digest}"
    s3.objects[key] = (b"something else!", s3.objects[key][1])
    with pytest.raises(StoreError, match="damaged"):
        blobs.open(cube, blob.digest)
    with pytest.raises(StoreError, match="damaged"), blobs.local(cube, blob.digest):
        pass


def test_what_the_object_store_refuses_is_told_without_its_keys(s3: S3Server) -> None:
    blobs = in_s3(s3, key="SOMEBODY")
    with pytest.raises(StoreError, match="did not do it") as told:
        put(blobs, new_id(), b"x")
    s3.failing = 503
    try:
        for call in (
            lambda: in_s3(s3).has(new_id(), "0" * 64),
            lambda: in_s3(s3).open(new_id(), "0" * 64),
            lambda: in_s3(s3).erase_all(new_id()),
        ):
            with pytest.raises(StoreError, match="did not do it"):
                call()
    finally:
        s3.failing = 0
    assert "a secret" not in str(told.value)
    assert "a secret" not in repr(Bucket("s3://files", secret_key="a secret"))


@pytest.mark.parametrize("url", ["", "files", "http://files", "s3://", "s3:///x", "s3://a:b@files", "s3://files/x?y=1"])
def test_an_address_that_is_no_bucket_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="blobs_url"):
        S3Blobs(Bucket(url))
