"""Blobs in an object store that speaks S3 (AWS, MinIO, Ceph, R2): `s3://bucket/prefix/<cube id>/<2 digits>/<digest>`.

What comes is gathered in a temporary file of this machine, so that its digest is known before its name, and uploaded
with SHA-256 checksums that the server compares. What is read is compared with its name before anybody gets it.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, cast
from urllib.parse import urlsplit

from mnemic.backends.blobs.names import check_bytes, cube_name, digest_name, is_digest
from mnemic.errors import InputError, NotFoundError, StoreError, TooLargeError
from mnemic.ports.blobs import Blob, FoundBlob

_PIECE: Final = 1 << 20  # bytes read at a time
_PART: Final = 8 << 20  # bytes of a part of an upload
_IN_MEMORY: Final = 4 << 20  # bytes up to which what comes and goes is not put on disk
_ONE_BY_ONE: Final = 10  # blobs up to which each is looked for by itself
_TRIES: Final = 3
_PATIENCE: Final = timedelta(seconds=60)
_CONNECTING: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where the store is. Without keys, the machine's own are used: AWS_ variables, or what its cloud gives it."""

    url: str
    endpoint: str = ""
    region: str = ""
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)


class S3Blobs:
    """Implements `ports.blobs.Blobs`."""

    def __init__(self, bucket: Bucket, *, tries: int = _TRIES) -> None:
        """Name the place; nothing is asked of it yet. Raises `InputError` without the extra `[s3]`."""
        try:
            import obstore  # noqa: PLC0415 - only who keeps files in S3 needs it
            from obstore import exceptions  # noqa: PLC0415
            from obstore.store import S3Store  # noqa: PLC0415
        except ImportError as error:
            raise InputError("blobs_url", "needs the extra [s3]: pip install 'mnemic[s3]'") from error
        name, self._prefix = _parsed(bucket.url)
        given = {
            "endpoint": bucket.endpoint,
            "region": bucket.region or ("us-east-1" if bucket.endpoint else ""),
            "access_key_id": bucket.access_key,
            "secret_access_key": bucket.secret_key,
        }
        self._obstore: Any = obstore
        self._failures: tuple[type[Exception], ...] = (exceptions.BaseError, OSError)
        options: Any = {name: value for name, value in given.items() if value}
        self._store: Any = S3Store(
            name,
            checksum_algorithm="SHA256",
            client_options={
                "timeout": _PATIENCE,
                "connect_timeout": _CONNECTING,
                "allow_http": bucket.endpoint.startswith("http://"),
            },
            retry_config={"max_retries": tries, "retry_timeout": _PATIENCE},
            **options,
        )
        self._place = f"s3://{name}/{self._prefix}".rstrip("/")

    def put(self, cube: str, source: BinaryIO, *, most: int | None = None) -> Blob:
        """Keep what can be read from the source, to its end. Raises `TooLargeError` beyond `most` bytes."""
        folder = self._folder(cube)
        with _temporary() as file:
            digest, size = hashlib.sha256(), 0
            while piece := source.read(_PIECE):
                size += len(piece)
                if most is not None and size > most:
                    raise TooLargeError("source", f"has more than {most:,} bytes, which is the limit")
                digest.update(piece)
                _write(file, piece)
            blob = Blob(digest.hexdigest(), size)
            file.seek(0)
            with self._translated():
                self._obstore.put(self._store, f"{folder}/{blob.digest[:2]}/{blob.digest}", file, chunk_size=_PART)
        return blob

    @property
    def place(self) -> str:
        """Where it is."""
        return self._place

    def take(self, cube: str, digest: str, path: Path) -> None:
        """Keep a file of this machine that has this digest."""
        target = self._path(cube, digest)
        with self._translated():
            check_bytes(path, digest)
            self._obstore.put(self._store, target, path, chunk_size=_PART)

    def open(self, cube: str, digest: str) -> BinaryIO:
        """Return a blob to read from. Raises `NotFoundError`."""
        file = _temporary()
        try:
            self._download(cube, digest, file)
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return cast("BinaryIO", file)

    @contextmanager
    def local(self, cube: str, digest: str) -> Iterator[Path]:
        """Give a file of this machine with the blob's bytes for the time of the block; it is not to be changed."""
        with tempfile.TemporaryDirectory(prefix="mnemic-") as folder:
            path = Path(folder) / digest_name(digest)
            with path.open("wb") as file:
                self._download(cube, digest, file)
            yield path

    def has(self, cube: str, digest: str) -> bool:
        """Tell whether a blob is there."""
        with self._translated():
            try:
                self._obstore.head(self._store, self._path(cube, digest))
            except FileNotFoundError:
                return False
        return True

    def erase(self, cube: str, digests: Collection[str]) -> int:
        """Erase blobs; return how many there were."""
        wanted = dict.fromkeys(digest_name(digest) for digest in digests)
        if len(wanted) <= _ONE_BY_ONE:
            there = [digest for digest in wanted if self.has(cube, digest)]
        else:
            there = [found.digest for found in self.list(cube) if found.digest in wanted]
        return self._delete([self._path(cube, digest) for digest in there])

    def erase_all(self, cube: str) -> int:
        """Erase all blobs of a cube; return how many there were."""
        return self._delete([self._path(cube, found.digest) for found in self.list(cube)])

    def list(self, cube: str) -> Iterator[FoundBlob]:
        """Yield a cube's blobs."""
        folder = self._folder(cube)
        with self._translated():
            for some in self._obstore.list(self._store, prefix=f"{folder}/"):
                for meta in some:
                    digest = str(meta["path"]).rpartition("/")[2]
                    if is_digest(digest):
                        yield FoundBlob(digest, int(meta["size"]), meta["last_modified"])

    def _folder(self, cube: str) -> str:
        return f"{self._prefix}{cube_name(cube)}"

    def _path(self, cube: str, digest: str) -> str:
        return f"{self._folder(cube)}/{digest_name(digest)[:2]}/{digest}"

    def _delete(self, paths: Collection[str]) -> int:
        if paths:
            with self._translated(), suppress(FileNotFoundError):
                self._obstore.delete(self._store, list(paths))
        return len(paths)

    def _download(self, cube: str, digest: str, file: IO[bytes]) -> None:
        path, found = self._path(cube, digest), hashlib.sha256()
        for piece in self._pieces(path, digest):
            found.update(piece)
            _write(file, piece)
        if found.hexdigest() != digest:
            raise StoreError(f"{self._place}: the file {digest} is damaged: its bytes are not those that were stored")

    def _pieces(self, path: str, digest: str) -> Iterable[bytes]:
        with self._translated():
            try:
                found = self._obstore.get(self._store, path)
            except FileNotFoundError as error:
                raise NotFoundError(f"the file {digest} is not here", digest=digest) from error
            for piece in found.stream(min_chunk_size=_PIECE):
                yield bytes(piece)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except self._failures as error:
            told = str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
            raise StoreError(f"{self._place} did not do it; look at blobs_url and its keys ({told})") from error


def _parsed(url: str) -> tuple[str, str]:
    """Return the bucket and the prefix, which ends with a slash when there is one."""
    parts = urlsplit(url)
    if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment or "@" in parts.netloc:
        raise InputError("blobs_url", "needs s3://bucket or s3://bucket/prefix")
    prefix = parts.path.strip("/")
    return parts.netloc, f"{prefix}/" if prefix else ""


def _temporary() -> IO[bytes]:
    return cast("IO[bytes]", tempfile.SpooledTemporaryFile(_IN_MEMORY, prefix="mnemic-"))


def _write(file: IO[bytes], piece: bytes) -> None:
    try:
        file.write(piece)
    except OSError as error:
        told = error.strerror or error
        raise StoreError(f"the folder for temporary files cannot take a file ({told}); make room") from error
