"""Keeping a knowledge base in step with a folder of this machine: what is new is added, what is gone removed.

A document of a folder is named by its path in it, and its `address` is the folder, so that what comes from elsewhere is
never touched. Files are compared by their bytes. A folder without any file is taken for a disk that is not mounted, not
for the wish to erase everything. It can stop anywhere: run again, it goes on.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mnemic import acting
from mnemic.core.intake import check_flag
from mnemic.core.sources import check_name
from mnemic.errors import InputError
from mnemic.model.document import Document, Origin, Synced
from mnemic.model.scope import Cube, Role
from mnemic.ports.blobs import Blob
from mnemic.ports.folders import Folders, Listing
from mnemic.ports.store import Store
from mnemic.services.bases import base_of
from mnemic.services.library import Library
from mnemic.services.scoping import Scoping

_AT_ONCE: Final = 50
"""Documents that are written in one transaction."""

_PAGE: Final = 1_000
_PIECE: Final = 1 << 20


@dataclass(slots=True)
class _Course:
    """A folder on its way into a knowledge base, and what became of its files until now."""

    base: Cube
    user: object
    listing: Listing
    known: Mapping[str, Document]
    added: list[Document] = field(default_factory=list)
    changed: list[Document] = field(default_factory=list)
    same: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    waiting: list[tuple[str, Blob]] = field(default_factory=list)


class Syncing:
    """The use cases `knowledge.sync` and `knowledge.watch_folder`."""

    def __init__(self, store: Store, scoping: Scoping, folders: Folders, library: Library) -> None:
        self._store = store
        self._scoping = scoping
        self._folders = folders
        self._library = library
        self._over = threading.Event()

    def sync(self, folder: object, *, cube: object, user: object, remove: object = True) -> Synced:
        """Bring a knowledge base in step with a folder; see `Knowledge.sync`."""
        removing = check_flag(remove, "remove")
        place = _checked(folder)
        with self._store.read() as tx:
            base = base_of(self._scoping, tx, user, cube, role=Role.EDITOR)
        listing = self._folders.list(place)
        known = self._known(base)
        if removing:
            _refuse_to_empty(listing, known)
        course = _Course(base, user, listing, known, skipped=list(listing.left_out))
        for name in listing.files:
            self._take(course, name)
            if len(course.waiting) >= _AT_ONCE:
                self._write(course)
        self._write(course)
        removed = self._remove(course) if removing else ()
        return Synced(course.added, course.changed, course.same, removed, course.skipped)

    def watch(self, folder: object, *, cube: object, user: object, remove: object = True) -> Iterator[Synced]:
        """Keep in step with a folder until closed; see `Knowledge.watch_folder`."""
        place = _checked(folder)
        check_flag(remove, "remove")
        with self._store.read() as tx:
            base_of(self._scoping, tx, user, cube, role=Role.EDITOR)
        return self._watched(self._folders.list(place).folder, cube, user, remove)

    def close(self) -> None:
        """End what watches."""
        self._over.set()

    # -- steps -----------------------------------------------------------------------------------------------------

    def _watched(self, folder: str, cube: object, user: object, remove: object) -> Iterator[Synced]:
        first = True
        for _ in self._folders.changes(folder, self._over.is_set):
            synced = self.sync(folder, cube=cube, user=user, remove=remove)
            if first or synced.added or synced.changed or synced.removed:
                first = False
                yield synced

    def _known(self, base: Cube) -> Mapping[str, Document]:
        """Return all documents by name."""
        found: dict[str, Document] = {}
        after = None
        with self._store.read() as tx:
            tx.enter(base.key)
            while page := tx.documents.list(base.key, after=after, limit=_PAGE):
                found |= {document.name: document for document in page}
                after = page[-1].id
        return found

    def _take(self, course: _Course, name: str) -> None:
        """Look at one file: leave it out, find it the same, or put its bytes where they can be written of."""
        known = course.known.get(name)
        try:
            check_name(name)
            if known is not None and known.latest.digest and self._digest(course, name) == known.latest.digest:
                course.same += 1  # wherever it came from
                return
            if known is not None and not _is_of(known, course.listing.folder):
                course.skipped.append(
                    (name, "has the name of a document that comes from elsewhere, and differs from it")
                )
                return
            with self._folders.open(course.listing.folder, name) as file:
                course.waiting.append((name, self._library.keep(course.base, file)))
        except InputError as error:
            course.skipped.append((name, error.message.partition(": ")[2]))

    def _digest(self, course: _Course, name: str) -> str:
        """Return the SHA-256 of a file, in hex, without keeping it."""
        digest = hashlib.sha256()
        with self._folders.open(course.listing.folder, name) as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
        return digest.hexdigest()

    def _write(self, course: _Course) -> None:
        """Add what waits, in one transaction."""
        if not course.waiting:
            return
        put = self._library.put_files(
            course.waiting, folder=course.listing.folder, cube=course.base.id, user=course.user
        )
        for document in put:
            (course.changed if document.name in course.known else course.added).append(document)
        course.waiting.clear()

    def _remove(self, course: _Course) -> Sequence[str]:
        """Erase documents of the folder whose file is gone."""
        gone = _gone(course.listing, course.known)
        for start in range(0, len(gone), _AT_ONCE):
            some = [document.id for document in gone[start : start + _AT_ONCE]]
            self._library.remove(some, cube=course.base.id, user=course.user)
        return [document.name for document in gone]


def _checked(folder: object) -> str | Path:
    """Return a folder's path. Raises `InputError`; a server looks into none."""
    if acting.caller() is not None:
        raise InputError("folder", "is a folder; a server looks into none of its own machine: send the files")
    if not isinstance(folder, str | Path) or not str(folder).strip():
        raise InputError("folder", "needs the path of a folder")
    return folder


def _gone(listing: Listing, known: Mapping[str, Document]) -> Sequence[Document]:
    """Return documents of the folder whose file is gone; what is left out or cannot be read is not gone."""
    there = set(listing.files)
    left = [name for name, _ in listing.left_out]
    return [
        document
        for name, document in known.items()
        if _is_of(document, listing.folder)
        and name not in there
        and not any(name == each or name.startswith(f"{each}/") for each in left)
    ]


def _refuse_to_empty(listing: Listing, known: Mapping[str, Document]) -> None:
    """Raise `InputError` when a folder has no files at all, but documents come from it: most likely a lost disk."""
    if not listing.files and (gone := _gone(listing, known)):
        count = "1 document comes" if len(gone) == 1 else f"{len(gone):,} documents come"
        raise InputError(
            "folder",
            f"{listing.folder} has no files, but {count} from it; is its disk mounted? Nothing was erased. If the "
            "files are gone for good, keep the documents (remove=False; --keep on the command line), remove them, "
            "or delete the knowledge base",
        )


def _is_of(document: Document, folder: str) -> bool:
    return document.origin is Origin.FILE and document.address == folder
