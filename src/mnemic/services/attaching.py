"""What comes with messages: bytes become blobs, rows say which message they are of, and a job reads what is in them.

Bytes are written before the transaction that stores the message, so that it is short; the row is part of it. A file
that no row names, as after a crash in between, is erased by who finds it (`ports.blobs`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from datetime import datetime

from mnemic.core.attaching import AttachmentLimits, Brought, Intake
from mnemic.core.intake import check_flag, check_id
from mnemic.core.media import media_of
from mnemic.core.stripping import KEEPS, stripped
from mnemic.errors import InputError, NotFoundError, ReadError
from mnemic.ids import new_id
from mnemic.model.attachment import Attachment, AttachmentKind, AttachmentState
from mnemic.model.job import DESCRIBE
from mnemic.model.message import StoredMessage
from mnemic.model.scope import Cube
from mnemic.ports.blobs import Blob, Blobs
from mnemic.ports.pictures import Pictures
from mnemic.ports.store import Store, Transaction
from mnemic.services.blobs import BlobKeeper
from mnemic.services.curate import find_item
from mnemic.services.queueing import enqueue
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable
from mnemic.wire.sources import checked_file

_HEAD = 4_096  # bytes that say what a file is

NOT_FETCHED = "what is at addresses is not fetched; turn on fetch_attachments, or give its bytes"
"""What is said of an attachment that is only an address, where settings do not allow to fetch it."""


class Attaching:
    """Keeps what messages bring, and the use cases of `memory.attachments`."""

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        files: BlobKeeper,
        scoping: Scoping,
        pictures: Pictures,
        *,
        limits: AttachmentLimits,
        fetching: bool,
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._files = files
        self._scoping = scoping
        self._pictures = pictures
        self._limits = limits
        self._fetching = fetching

    # -- on the way in ---------------------------------------------------------------------------------------------

    def intake(self) -> Intake:
        """Return what takes attachments out of contents. Paths are read for the program that has the memory only."""
        return Intake(self._limits, self._read if self._scoping.at_home else None)

    def keep(self, cube_id: str, brought: Iterable[Brought]) -> None:
        """Write bytes down, before the transaction that says whose they are."""
        for each in brought:
            if each.data is not None:
                self._blobs.put(cube_id, io.BytesIO(each.data))

    def note(
        self, tx: Transaction, cube: Cube, messages: Sequence[tuple[StoredMessage, Sequence[Brought]]], now: datetime
    ) -> None:
        """Store the attachments of messages, in the transaction of these, and queue the job that reads them."""
        every = [(message, each) for message, brought in messages for each in brought]
        if not every:
            return
        self._check_there(tx, cube, [each for _, each in every])
        self.keep(cube.id, [each for _, each in every if each.digest and not self._blobs.has(cube.id, each.digest)])
        self._files.note(tx, cube, {Blob(each.digest, each.size) for _, each in every if each.digest})
        found = [self._row(message, each) for message, each in every]
        tx.attachments.put(found)
        if any(each.state is AttachmentState.QUEUED for each in found):
            enqueue(tx, cube.key, DESCRIBE, now)

    def _row(self, message: StoredMessage, brought: Brought) -> Attachment:
        waits = bool(brought.digest) or self._fetching
        return Attachment(
            id=new_id(),
            message_id=message.id,
            cube_key=message.cube_key,
            part=brought.part,
            kind=brought.kind,
            state=AttachmentState.QUEUED if waits else AttachmentState.SKIPPED,
            digest=brought.digest,
            size=brought.size,
            media=brought.media,
            name=brought.name,
            caption=brought.caption,
            error="" if waits else NOT_FETCHED,
        )

    def _check_there(self, tx: Transaction, cube: Cube, brought: Sequence[Brought]) -> None:
        """Raise `InputError` for a part that refers to a file which is not stored in this cube, or is another one."""
        named = {each.digest: each for each in brought if each.data is None and each.digest}
        missing = named.keys() - set(tx.blobs.known(cube.key, list(named))) if named else set()
        for digest in sorted(missing):
            raise InputError(
                f"{named[digest].place}.blob.digest", "names a file that is not stored here; give its bytes"
            )
        for each in brought:
            if each.data is None and each.digest:
                self._check_same(cube.id, each)

    def _check_same(self, cube_id: str, brought: Brought) -> None:
        """Raise `InputError` when a part that refers to a stored file tells other things of it than hold.

        What it tells decides how the file is served: a picture that went for something else would keep its EXIF.
        """
        if not self._blobs.has(cube_id, brought.digest):
            return  # `BlobKeeper.note` says so
        with self._blobs.open(cube_id, brought.digest) as file:
            head, size = file.read(_HEAD), file.seek(0, io.SEEK_END)
        if size != brought.size:
            raise InputError(f"{brought.place}.blob.size", f"is {brought.size:,}; the stored file has {size:,} bytes")
        media = media_of(head, brought.media, brought.kind)
        if media != brought.media:
            raise InputError(f"{brought.place}.blob.media", f"is {brought.media!r}; the stored file is {media}")

    def _read(self, path: str, place: str) -> bytes:
        file = checked_file(path, place, folder="give the files in it one by one")
        try:
            with file.open("rb") as opened:
                return opened.read(self._limits.megabytes * 1_000_000 + 1)
        except OSError as error:
            raise InputError(place, f"{path!r} cannot be read: {error}") from error

    # -- looking at them -------------------------------------------------------------------------------------------

    def list(self, message: object, *, user: object, cube: object = None) -> Sequence[Attachment]:
        """Return the attachments of a message; see `Memory.attachments`."""
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            found = find_item(tx, target, check_id(message, "message"))
            return tuple(tx.attachments.of_messages(found.cube_key, [found.id]).get(found.id, ()))

    def get(self, attachment: object, *, user: object, cube: object = None) -> Attachment:
        """Return an attachment. Raises `NotFoundError`."""
        return self._found(attachment, user, cube)[1]

    def file(self, attachment: object, *, user: object, cube: object = None, thumbnail: object = False) -> bytes:
        """Return its bytes, as they may be shown."""
        small = check_flag(thumbnail, "thumbnail")
        target, found = self._found(attachment, user, cube)
        digest = found.thumbnail if small else found.digest
        if not digest:
            raise NotFoundError(_why_not(found, small=small), id=found.id)
        if not small and found.kind is AttachmentKind.IMAGE and found.media not in KEEPS:
            with self._blobs.local(target.id, digest) as path:
                return self._pictures.plain(path)
        with self._blobs.open(target.id, digest) as opened:
            data = opened.read()
        if small or found.kind is not AttachmentKind.IMAGE:
            return data
        try:
            return stripped(data, found.media)
        except ValueError as error:
            raise ReadError(f"this picture is damaged, so that it cannot be shown without its EXIF: {error}") from error

    def _found(self, attachment: object, user: object, cube: object) -> tuple[Cube, Attachment]:
        name = check_id(attachment, "id")
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            found = None if target is None else tx.attachments.get(target.key, [name]).get(name)
            if target is None or found is None:
                raise NotFoundError(f"there is no attachment {name!r} here; messages show theirs", id=name)
            return target, found


def _why_not(attachment: Attachment, *, small: bool) -> str:
    if not attachment.digest:
        return f"its bytes are not here: {attachment.error or 'it waits to be fetched'}"
    told = {AttachmentState.QUEUED: "it waits to be looked at", AttachmentState.READY: "none could be made of it"}
    why = (
        told.get(attachment.state, attachment.error) if attachment.kind is AttachmentKind.IMAGE else "it is no picture"
    )
    return f"there is no thumbnail: {why}" if small else "its bytes are not here"
