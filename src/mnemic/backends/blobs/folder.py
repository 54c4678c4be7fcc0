"""Blobs as files of a folder: `<folder>/blobs/<cube id>/<first 2 digits>/<digest>`.

What comes is written beside them and moved to its place when it is whole and on disk, so that a file is there or is
not. Processes share the folder; on several machines, it is one that all of them mount.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from mnemic.backends.blobs.names import check_bytes, cube_name, digest_name, is_digest
from mnemic.errors import NotFoundError, StoreError, TooLargeError
from mnemic.ids import new_id
from mnemic.ports.blobs import Blob, FoundBlob

_PIECE: Final = 1 << 20  # bytes read at a time
_COMING: Final = ".coming"  # what is not whole yet; no cube's id begins with a dot
_STALE: Final = 86_400.0  # seconds after which nobody writes to it any more
_TRIES: Final = 5  # a cube's folder may be erased at the moment in which it is needed


class FolderBlobs:
    """Implements `ports.blobs.Blobs`."""

    def __init__(self, folder: Path) -> None:
        """Keep blobs in a folder, which is made by the first that comes."""
        self._top = folder.expanduser().absolute() / "blobs"

    @property
    def place(self) -> str:
        """Where it is."""
        return str(self._top)

    def put(self, cube: str, source: BinaryIO, *, most: int | None = None) -> Blob:
        """Keep what can be read from the source, to its end. Raises `TooLargeError` beyond `most` bytes."""
        folder = self._top / cube_name(cube)
        with self._coming() as (file, path):
            digest, size = hashlib.sha256(), 0
            while piece := source.read(_PIECE):
                size += len(piece)
                if most is not None and size > most:
                    raise TooLargeError("source", f"has more than {most:,} bytes, which is the limit")
                digest.update(piece)
                with _translated():
                    file.write(piece)
            blob = Blob(digest.hexdigest(), size)
            with _translated():
                file.flush()
                os.fsync(file.fileno())
                file.close()
                _move(path, folder / blob.digest[:2] / blob.digest, self._top)
        return blob

    def take(self, cube: str, digest: str, path: Path) -> None:
        """Keep a file of this machine that has this digest: linked where the disk is the same, else copied."""
        target = self._path(cube, digest)
        with _translated():
            check_bytes(path, digest)
            coming = self._top / _COMING
            coming.mkdir(parents=True, exist_ok=True)
            link = coming / f"{new_id()}.link"
            try:
                os.link(path, link)
            except OSError:  # another disk, or one that has no links
                shutil.copyfile(path, link)
                _sync_file(link)
            try:
                _move(link, target, self._top)
            finally:
                link.unlink(missing_ok=True)

    def open(self, cube: str, digest: str) -> BinaryIO:
        """Return a blob to read from. Raises `NotFoundError`."""
        path = self._path(cube, digest)
        try:
            return path.open("rb")
        except FileNotFoundError as error:
            raise _absent(digest) from error
        except OSError as error:
            raise _told(error) from error

    @contextmanager
    def local(self, cube: str, digest: str) -> Iterator[Path]:
        """Give a file of this machine with the blob's bytes for the time of the block; it is not to be changed."""
        path = self._path(cube, digest)
        if not path.is_file():
            raise _absent(digest)
        yield path

    def has(self, cube: str, digest: str) -> bool:
        """Tell whether a blob is there."""
        with _translated():
            return self._path(cube, digest).is_file()

    def erase(self, cube: str, digests: Collection[str]) -> int:
        """Erase blobs; return how many there were."""
        paths = [self._path(cube, digest) for digest in digests]
        gone = 0
        with _translated():
            for path in paths:
                with suppress(FileNotFoundError):
                    path.unlink()
                    gone += 1
            for folder in {path.parent for path in paths}:
                _sync(folder)
        return gone

    def erase_all(self, cube: str) -> int:
        """Erase all blobs of a cube; return how many there were."""
        folder = self._top / cube_name(cube)
        with _translated():
            gone = sum(1 for _ in _files(folder))
            with suppress(FileNotFoundError):
                shutil.rmtree(folder)
            _sync(self._top)
        return gone

    def list(self, cube: str) -> Iterator[FoundBlob]:
        """Yield a cube's blobs."""
        with _translated():
            for path in _files(self._top / cube_name(cube)):
                with suppress(FileNotFoundError):  # erased meanwhile
                    told = path.stat()
                    yield FoundBlob(path.name, told.st_size, datetime.fromtimestamp(told.st_mtime, UTC))

    def _path(self, cube: str, digest: str) -> Path:
        return self._top / cube_name(cube) / digest_name(digest)[:2] / digest

    @contextmanager
    def _coming(self) -> Iterator[tuple[BinaryIO, Path]]:
        """Give an empty file for what comes; it is gone after the block unless it was moved."""
        folder = self._top / _COMING
        with _translated():
            folder.mkdir(parents=True, exist_ok=True)
            _sweep(folder)
            handle, name = tempfile.mkstemp(dir=folder)
        path = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file, path
        finally:
            path.unlink(missing_ok=True)


def _move(path: Path, target: Path, top: Path) -> None:
    """Move a file that is on disk to its place, and see that the folders on the way there are on disk too."""
    for left in reversed(range(_TRIES)):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.replace(target)
        except FileNotFoundError:
            if not left or not path.exists():
                raise
        else:
            break
    folder = target.parent
    while folder != top.parent.parent:
        _sync(folder)
        folder = folder.parent


def _sync_file(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Put a folder's entries on disk. Windows keeps them so, and opens no folders."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _files(folder: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError, NotADirectoryError):
        for inner in sorted(folder.iterdir()):
            with suppress(FileNotFoundError, NotADirectoryError):
                yield from (path for path in sorted(inner.iterdir()) if is_digest(path.name))


def _sweep(folder: Path) -> None:
    """Take away what somebody who died left half written."""
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _STALE:
                path.unlink()


def _absent(digest: str) -> NotFoundError:
    return NotFoundError(f"the file {digest} is not here", digest=digest)


def _told(error: OSError) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreError("the disk is full: the file was not stored, what was stored before is; make room")
    return StoreError(f"the folder of files failed: {error.strerror or error}")


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _told(error) from error
