"""Documents as their users see them: adding, looking at, reading again and removing.

What is added is stored before it is acknowledged; a job reads it (`services.ingesting`). A document is known by its
name in its cube: the same content again changes nothing, other content is another version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

from mnemic import acting
from mnemic.core.intake import check_count, check_id, check_names, check_text
from mnemic.core.sources import Told, check_kind, check_name, check_one, check_state, name_in, told_of
from mnemic.errors import InputError, NotFoundError, TooLargeError
from mnemic.ids import new_id
from mnemic.model.document import Chunk, Document, DocumentState, DocumentVersion, Origin, Refresh
from mnemic.model.receipt import Forgotten
from mnemic.model.scope import Cube, Role
from mnemic.ports.blobs import Blob, Blobs
from mnemic.ports.clock import Clock
from mnemic.ports.fetch import Fetcher
from mnemic.ports.store import Store, Transaction
from mnemic.services.bases import base_of
from mnemic.services.blobs import BlobKeeper
from mnemic.services.forget import Forget
from mnemic.services.removing import remove_documents
from mnemic.services.scoping import Scoping
from mnemic.services.versions import look_again, new_version, told, try_again
from mnemic.text import sound
from mnemic.wire.sources import address_in, check_scheme, checked_file

LIMIT: Final = 1_000
"""Documents or chunks of one call."""

_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Files:
    """What keeps the bytes of documents, what fetches them, and how large they may be."""

    blobs: Blobs
    keeper: BlobKeeper
    fetcher: Fetcher
    megabytes: int


class Library:
    """The use cases of `knowledge` that are about documents."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping, files: Files, forget: Forget) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping
        self._files = files
        self._forget = forget

    def add(  # noqa: PLR0913 - as the verb has them
        self,
        source: object = None,
        *,
        cube: object,
        user: object,
        text: object = None,
        name: object = None,
        media: object = None,
        password: object = None,
        metadata: object = None,
        refresh_hours: object = None,
    ) -> Document:
        """Add a document; see `Knowledge.add`. Its `job` is None when nothing was to be done."""
        check_one(source, text)
        address = self._address(source)
        origin = Origin.ADDRESS if address else Origin.FILE if text is None else Origin.TEXT
        given = told_of(
            name=name, media=media, password=password, metadata=metadata, refresh_hours=refresh_hours, origin=origin
        )
        with self._store.read() as tx:
            target = base_of(self._scoping, tx, user, cube, role=Role.EDITOR)
        if address:
            given = replace(given, name=given.name or address)
            return self._write(user, cube, lambda tx, base: self._put_address(tx, base, address, given))
        blob, given = self._kept(target, source, text, given)
        return self._write(user, cube, lambda tx, base: self._put_content(tx, base, origin, blob, given))

    def keep(self, base: Cube, source: BinaryIO) -> Blob:
        """Keep a file's bytes, which `put_files` is to name within the hour. Raises `InputError`, `TooLargeError`."""
        return self._put(base, source, "source")

    def put_files(
        self, files: Sequence[tuple[str, Blob]], *, folder: str, cube: object, user: object
    ) -> Sequence[Document]:
        """Put files of a folder, kept before, under their names, in one transaction."""
        with self._store.write() as tx:
            base = base_of(self._scoping, tx, user, cube, role=Role.EDITOR)
            tx.cubes.touch(base.key)
            return [self._put_content(tx, base, Origin.FILE, blob, Told(name), folder) for name, blob in files]

    def list(
        self, *, cube: object, user: object, state: object = None, after: object = None, limit: object = 100
    ) -> Sequence[Document]:
        """Return documents in the order in which they were added; see `Knowledge.documents`."""
        wanted, most = check_state(state), check_count(limit, "limit", most=LIMIT)
        behind = None if after is None else check_id(after, "after")
        with self._store.read() as tx:
            target = base_of(self._scoping, tx, user, cube, role=Role.READER)
            return [told(tx, each) for each in tx.documents.list(target.key, state=wanted, after=behind, limit=most)]

    def get(self, document: object, *, cube: object, user: object) -> Document:
        """Return a document; see `Knowledge.get`."""
        with self._store.read() as tx:
            return told(tx, self._found(tx, document, cube, user))

    def versions(self, document: object, *, cube: object, user: object) -> Sequence[DocumentVersion]:
        """Return the versions of a document, oldest first."""
        with self._store.read() as tx:
            found = told(tx, self._found(tx, document, cube, user))
            known = tx.documents.versions(found.cube_key, found.id)
        return [found.latest if each.id == found.latest.id else each for each in known]

    def chunks(
        self,
        document: object,
        *,
        cube: object,
        user: object,
        version: object = None,
        kinds: object = None,
        after: object = None,
        limit: object = 100,
    ) -> Sequence[Chunk]:
        """Return the chunks of a version of a document in reading order; see `Knowledge.chunks`."""
        wanted = [] if kinds is None else [check_kind(each) for each in check_names(kinds, "kinds")]
        behind = -1 if after is None else check_count(after, "after", least=0, most=2**31 - 1)
        most = check_count(limit, "limit", most=LIMIT)
        with self._store.read() as tx:
            found = self._found(tx, document, cube, user)
            chosen = _version(tx, found, version)
            return tx.chunks.of_version(found.cube_key, chosen.id, kinds=wanted, after=behind, limit=most)

    def file(self, document: object, *, cube: object, user: object, version: object = None) -> bytes:
        """Return a document's bytes as they came; see `Knowledge.file`."""
        with self._store.read() as tx:
            found = self._found(tx, document, cube, user)
            chosen = _version(tx, found, version)
        if not chosen.digest:
            raise NotFoundError(f"document {found.name!r} is not fetched yet", id=found.id)
        with self._files.blobs.open(found.cube, chosen.digest) as opened:
            return opened.read()

    def refresh(self, document: object, *, cube: object, user: object) -> Document:
        """Fetch an address again, or try again what has failed; see `Knowledge.refresh`."""

        def again(tx: Transaction, base: Cube) -> Document:
            found = told(tx, _of(tx, base, document))
            if found.state is DocumentState.FAILED:
                return try_again(tx, found, self._clock.now())
            if found.state is DocumentState.READY and found.origin is Origin.ADDRESS:
                return look_again(tx, found, self._clock.now())
            return found if found.state is not DocumentState.READY else replace(found, job=None)

        return self._write(user, cube, again)

    def remove(self, document: object, *, cube: object, user: object) -> Forgotten:
        """Erase documents everywhere; see `Knowledge.remove`. All are erased or, when one is not there, none."""
        names = list(dict.fromkeys(check_id(each, "document") for each in check_names(document, "document")))
        with self._store.write() as tx:
            target = base_of(self._scoping, tx, user, cube, role=Role.EDITOR)
            tx.cubes.touch(target.key)
            for name in names:
                _of(tx, target, name)
            removed = Counter(remove_documents(tx, target, names))
            removed.update({"reply": tx.replies.erase(target.id)})
            tx.erasing.scrub()
        notes = self._files.keeper.settled(target)
        return Forgotten(dict(removed), tuple(names), (*self._forget.scrub(), *notes))

    def _write(self, user: object, cube: object, change: Any) -> Document:
        """Make a change to a knowledge base in one transaction, under its lock."""
        with self._store.write() as tx:
            target = base_of(self._scoping, tx, user, cube, role=Role.EDITOR)
            tx.cubes.touch(target.key)
            changed: Document = change(tx, target)
            return changed

    def _found(self, tx: Transaction, document: object, cube: object, user: object) -> Document:
        return _of(tx, base_of(self._scoping, tx, user, cube, role=Role.READER), document)

    def _address(self, source: object) -> str:
        """Return the address that a source is, as it is kept; empty when it is something else."""
        if not isinstance(source, str):
            return ""
        found = address_in(source.strip())
        if found is None:
            check_scheme(source.strip())
            return ""
        return self._files.fetcher.check(found)

    def _kept(self, base: Cube, source: object, text: object, given: Told) -> tuple[Blob, Told]:
        """Store what was handed over; return it, and what is told of it with its name."""
        if text is not None:
            words = check_text(text, "text", "give the text itself")
            if not given.name:
                raise InputError("name", "is needed for a text: a document is known by its name")
            return self._put(base, BytesIO(sound(words).encode()), "text"), given
        if isinstance(source, bytes | bytearray | memoryview):
            if not given.name:
                raise InputError("name", "is needed for bytes: a document is known by its name")
            return self._put(base, BytesIO(source), "source"), given
        if isinstance(source, str | Path):
            path = _file(source, self._files.megabytes)
            with path.open("rb") as opened:
                return self._put(base, opened, "source"), _named(given, path.name)
        if callable(getattr(source, "read", None)):
            named = _named(given, getattr(source, "name", None))
            return self._put(base, _Binary(source), "source"), named
        raise InputError(
            "source", f"needs a path, bytes, a file open in binary or an address, got {type(source).__name__}"
        )

    def _put(self, base: Cube, source: BinaryIO | _Binary, field: str) -> Blob:
        most = self._files.megabytes * _MEGABYTE
        try:
            blob = self._files.blobs.put(base.id, source, most=most)  # type: ignore[arg-type]  # it is only read
        except TooLargeError as error:
            raise _too_large(field, self._files.megabytes) from error
        if not blob.size:
            raise InputError(field, "is empty: there is nothing to read in it")
        return blob

    def _put_content(
        self, tx: Transaction, base: Cube, origin: Origin, blob: Blob, given: Told, folder: str = ""
    ) -> Document:
        """Put kept bytes under a name; `folder` is the one that the file is kept in step with."""
        now = self._clock.now()
        found = tx.documents.named(base.key, given.name)
        known = None if found is None else told(tx, found)
        self._files.keeper.note(tx, base, [blob])
        if known is not None and known.latest.digest == blob.digest:
            same = _described(tx, known, given)
            if known.state is DocumentState.FAILED:
                return try_again(tx, same, now, password=given.password)
            return same if known.state is not DocumentState.READY else replace(same, job=None)
        document = known or _new_document(base, given.name, origin, now)
        document = replace(_told(document, given), origin=origin, address=folder, refresh=Refresh())
        version = DocumentVersion(
            new_id(), document.id, 1 if known is None else known.latest.number + 1, DocumentState.QUEUED, now,
            digest=blob.digest, size=blob.size, media=given.media,
        )  # fmt: skip
        return new_version(tx, document, version, now, password=given.password)

    def _put_address(self, tx: Transaction, base: Cube, address: str, given: Told) -> Document:
        now = self._clock.now()
        found = tx.documents.named(base.key, given.name)
        known = None if found is None else told(tx, found)
        document = _told(known or _new_document(base, given.name, Origin.ADDRESS, now), given)
        kept = document.refresh if document.address == address else Refresh()
        document = replace(
            document, origin=Origin.ADDRESS, address=address, refresh=replace(kept, hours=given.refresh_hours)
        )
        if known is None or (known.state is DocumentState.FAILED and not known.latest.digest):
            number = 1 if known is None else known.latest.number + 1
            version = DocumentVersion(new_id(), document.id, number, DocumentState.QUEUED, now, media=given.media)
            return new_version(tx, document, version, now, password=given.password)
        tx.documents.put(document)
        if known.state not in (DocumentState.READY, DocumentState.FAILED):
            return tx.documents.get(base.key, [document.id])[document.id]
        return look_again(tx, document, now)


class _Binary:
    """A caller's open file, from which only bytes are taken."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def read(self, size: int = -1, /) -> bytes:
        data = self._source.read(size)
        if not isinstance(data, bytes):
            raise InputError("source", "is open as text; open it in binary ('rb')")
        return data


def _named(given: Told, path: object) -> Told:
    name = given.name or name_in(path)
    if not name:
        raise InputError("name", "is needed: the file has none that could be taken")
    return replace(given, name=check_name(name))


def _file(given: str | Path, megabytes: int) -> Path:
    """Return a path that can be read. Raises `InputError`; a server reads none."""
    if acting.caller() is not None:
        raise InputError("source", "is a path; a server reads no files of its own machine: send the file itself")
    path = checked_file(given)
    if path.stat().st_size > megabytes * _MEGABYTE:
        raise _too_large("source", megabytes)
    return path


def _too_large(field: str, megabytes: int) -> TooLargeError:
    return TooLargeError(field, f"is larger than {megabytes} MB, which is all that a document may be (file_megabytes)")


def _new_document(base: Cube, name: str, origin: Origin, now: Any) -> Document:
    latest = DocumentVersion("", "", 0, DocumentState.QUEUED, now)
    return Document(new_id(), base.id, base.key, name, origin, "", now, latest)


def _told(document: Document, given: Told) -> Document:
    metadata: Mapping[str, Any] = document.metadata if given.metadata is None else given.metadata
    return replace(document, metadata=metadata)


def _described(tx: Transaction, known: Document, given: Told) -> Document:
    """Store what is told anew of a document whose content is the same."""
    described = _told(known, given)
    if described != known:
        tx.documents.put(described)
    return described


def _of(tx: Transaction, base: Cube, document: object) -> Document:
    name = check_id(document, "document")
    found = tx.documents.get(base.key, [name])
    if name not in found:
        raise NotFoundError(
            f"there is no document {name!r} in {base.name!r}; `documents` shows those that are", id=name
        )
    return found[name]


def _version(tx: Transaction, document: Document, number: object) -> DocumentVersion:
    """Return a version by its number; without one, the one that is searched, or the latest before one is ready."""
    if number is None:
        return document.current or document.latest
    wanted = check_count(number, "version", most=2**31 - 1)
    for each in tx.documents.versions(document.cube_key, document.id):
        if each.number == wanted:
            return each
    raise NotFoundError(f"document {document.name!r} has no version {wanted}", id=document.id, version=wanted)
