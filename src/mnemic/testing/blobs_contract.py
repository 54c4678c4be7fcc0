"""What every `mnemic.ports.blobs.Blobs` must do, as plain functions that raise AssertionError.

An outside backend runs `for check in CHECKS: check(open_blobs)` in its own tests, where `open_blobs()` opens one place,
empty at first, again and again, as several processes would. It relies on nothing but the port.
"""
# ruff: noqa: D401, S101 - a contract is made of asserts, and each docstring says what holds

from __future__ import annotations

import io
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Final

from mnemic.errors import InputError, MnemicError, NotFoundError, StoreError, TooLargeError
from mnemic.ids import new_id
from mnemic.ports.blobs import Blob, Blobs

OpenBlobs = Callable[[], Blobs]
"""Opens the place under test; each call as another process would."""

PATIENCE: Final = 30  # seconds
_LARGE: Final = bytes(range(256)) * 12_345  # 3.2 MB: more than is read at a time


class _FailingError(Exception):
    """What a source raises that breaks off."""


class _Breaking(io.BytesIO):
    """A source that breaks off after its first piece."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Return a piece, then fail."""
        found = super().read(size)
        if not found:
            raise _FailingError
        return found


def digests(blobs: Blobs, cube: str) -> list[str]:
    """Return the digests of a cube's blobs."""
    return sorted(found.digest for found in blobs.list(cube))


def put(blobs: Blobs, cube: str, data: bytes) -> Blob:
    """Put some bytes."""
    return blobs.put(cube, io.BytesIO(data))


def read(blobs: Blobs, cube: str, digest: str) -> bytes:
    """Return a blob's bytes."""
    with blobs.open(cube, digest) as file:
        return file.read()


def check_what_was_put_comes_back(open_blobs: OpenBlobs) -> None:
    """Bytes come back as they came, to others too: nothing, a little, and more than is read at a time."""
    blobs, cube = open_blobs(), new_id()
    for data in (b"", b"\x00\xff\r\n", _LARGE):
        blob = put(blobs, cube, data)
        assert blob == Blob(sha256(data).hexdigest(), len(data))
        other = open_blobs()
        assert read(other, cube, blob.digest) == data
        assert other.has(cube, blob.digest)
        with other.local(cube, blob.digest) as path:
            assert path.read_bytes() == data
    with blobs.open(cube, sha256(_LARGE).hexdigest()) as file:
        assert file.read(3) == _LARGE[:3], "a blob is read in pieces"
        assert file.read(3) == _LARGE[3:6]


def check_the_same_bytes_are_one_blob(open_blobs: OpenBlobs) -> None:
    """The same bytes in one cube are one blob; in two, they are two, and each goes alone."""
    blobs, cube, other = open_blobs(), new_id(), new_id()
    blob = put(blobs, cube, b"same")
    assert put(blobs, cube, b"same") == put(blobs, other, b"same") == blob
    assert digests(blobs, cube) == digests(blobs, other) == [blob.digest]
    assert blobs.erase(cube, [blob.digest]) == 1
    assert digests(blobs, cube) == []
    assert not blobs.has(cube, blob.digest)
    assert read(blobs, other, blob.digest) == b"same"


def check_limits(open_blobs: OpenBlobs) -> None:
    """What is larger than is taken leaves nothing, nor does a source that breaks off."""
    blobs, cube = open_blobs(), new_id()
    assert blobs.put(cube, io.BytesIO(b"12345"), most=5).size == 5
    with _raises(TooLargeError):
        blobs.put(cube, io.BytesIO(b"123456"), most=5)
    with _raises(TooLargeError):
        blobs.put(cube, io.BytesIO(_LARGE), most=len(_LARGE) - 1)
    try:
        blobs.put(cube, _Breaking(_LARGE))
    except _FailingError:
        pass
    else:
        raise AssertionError("half a blob is kept, and its source's error is swallowed")
    assert len(digests(blobs, cube)) == 1


def check_absent_blobs(open_blobs: OpenBlobs) -> None:
    """What is not there is `NotFoundError`, erasing it is none, and a cube that has nothing lists nothing."""
    blobs, cube, absent = open_blobs(), new_id(), sha256(b"absent").hexdigest()
    put(blobs, new_id(), b"absent")
    assert digests(blobs, cube) == []
    assert not blobs.has(cube, absent)
    assert blobs.erase(cube, [absent]) == 0
    assert blobs.erase_all(cube) == 0
    with _raises(NotFoundError):
        blobs.open(cube, absent)
    with _raises(NotFoundError), blobs.local(cube, absent):
        pass


def check_names_lead_nowhere_else(open_blobs: OpenBlobs) -> None:
    """What is no id of a cube or no digest is refused, whatever is done with it."""
    blobs, cube = open_blobs(), new_id()
    digest = put(blobs, cube, b"mine").digest
    for name in ("", ".", "..", "../x", f"{cube}/..", f"{cube}/{digest[:2]}", "a\0b", "/etc", "C:\\x", "a" * 200, ".x"):
        for call in (
            lambda name=name: put(blobs, name, b"x"),
            lambda name=name: blobs.open(name, digest),
            lambda name=name: blobs.erase(name, [digest]),
            lambda name=name: blobs.erase_all(name),
            lambda name=name: list(blobs.list(name)),
        ):
            with _raises(InputError):
                call()
    for name in ("", "..", "../../passwd", digest.upper(), digest[:-1], f"{digest}0", f"{digest}\n", "%2e%2e"):
        with _raises(InputError):
            blobs.open(cube, name)
        with _raises(InputError):
            blobs.erase(cube, [name])
    assert read(blobs, cube, digest) == b"mine"


def check_a_cube_is_erased(open_blobs: OpenBlobs) -> None:
    """All blobs of a cube go together, and can be put again; other cubes keep theirs, also those with like ids."""
    blobs, cube = open_blobs(), new_id()
    like = f"{cube}0"
    for number in range(5):
        put(blobs, cube, b"%d" % number)
    kept = put(blobs, like, b"kept")
    assert blobs.erase_all(cube) == 5
    assert digests(blobs, cube) == []
    assert digests(blobs, like) == [kept.digest]
    again = put(blobs, cube, b"again")
    assert digests(open_blobs(), cube) == [again.digest]


def check_when_it_was_put(open_blobs: OpenBlobs) -> None:
    """A list tells sizes, and when each was put last."""
    blobs, cube = open_blobs(), new_id()
    put(blobs, cube, b"12345")
    [found] = blobs.list(cube)
    assert found.size == 5
    assert abs(datetime.now(UTC) - found.put_at) < timedelta(minutes=2)


def check_files_are_taken(open_blobs: OpenBlobs) -> None:
    """A file of the machine is kept as if its bytes had been put; one whose bytes are others is refused."""
    blobs, cube = open_blobs(), new_id()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a file"
        path.write_bytes(_LARGE)
        digest = sha256(_LARGE).hexdigest()
        blobs.take(cube, digest, path)
        blobs.take(cube, digest, path)
        with _raises(StoreError):
            blobs.take(cube, sha256(b"other").hexdigest(), path)
        path.unlink()
    assert read(open_blobs(), cube, digest) == _LARGE
    assert digests(blobs, cube) == [digest]
    assert blobs.place == open_blobs().place


def check_many_at_once(open_blobs: OpenBlobs) -> None:
    """The same and other bytes that are put at one time, while some are erased, all come whole or not at all."""
    cube, errors = new_id(), []
    mine = [b"%d" % (number % 3) * 50_000 for number in range(6)]
    gone = sha256(b"gone").hexdigest()

    def work(data: bytes) -> None:
        blobs = open_blobs()
        try:
            for _ in range(3):
                blob = put(blobs, cube, data)
                put(blobs, cube, b"gone")
                blobs.erase(cube, [gone])
                if read(blobs, cube, blob.digest) != data:
                    errors.append("half")
        except MnemicError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=work, args=(data,)) for data in mine]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert errors == []
    assert set(digests(open_blobs(), cube)) - {gone} == {sha256(data).hexdigest() for data in mine}


@contextmanager
def _raises(kind: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")


CHECKS: Final[tuple[Callable[[OpenBlobs], None], ...]] = (
    check_what_was_put_comes_back,
    check_the_same_bytes_are_one_blob,
    check_limits,
    check_absent_blobs,
    check_names_lead_nowhere_else,
    check_a_cube_is_erased,
    check_when_it_was_put,
    check_files_are_taken,
    check_many_at_once,
)
"""All checks; each needs an empty place."""
