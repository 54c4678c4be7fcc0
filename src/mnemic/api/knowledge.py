"""Knowledge bases as the embedded face shows them: cubes of documents, which are read, cut into passages and cited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from mnemic.api.calls import watched
from mnemic.model.document import Chunk, Document, DocumentVersion, KnowledgeBase, Synced
from mnemic.model.receipt import Forgotten
from mnemic.model.scope import Member

if TYPE_CHECKING:
    from mnemic.wiring.parts import Parts


@watched("knowledge")
class Knowledge:
    """Knowledge bases: `memory.knowledge`. A knowledge base is a cube; who has a role in it uses it like any cube."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def create(self, name: str, *, user: str | int, description: str = "", learns: bool = False) -> KnowledgeBase:
        """Create a knowledge base that the user owns, bound to them: their searches look in it too.

        With `learns`, what its editors say about its documents in conversation is remembered in it (`add` with its id
        in `learn`). Raises `ConflictError` when the user has one of that name.
        """
        return self._parts.bases.create(name, user=user, description=description, learns=learns)

    def list(self, *, user: str | int) -> Sequence[KnowledgeBase]:
        """Return the knowledge bases that the user may read, oldest first, with counts."""
        return self._parts.bases.list(user=user)

    def update(
        self,
        cube: str,
        *,
        user: str | int,
        name: str | None = None,
        description: str | None = None,
        learns: bool | None = None,
    ) -> KnowledgeBase:
        """Rename a knowledge base, describe it otherwise, or let it learn; what is None stays. For its owner."""
        return self._parts.bases.update(cube, user=user, name=name, description=description, learns=learns)

    def delete(self, cube: str, *, user: str | int) -> Forgotten:
        """Erase a knowledge base with all of its documents and files. For its owner."""
        return self._parts.bases.delete(cube, user=user)

    def bind(self, cube: str, member: str | None = None, *, user: str | int, role: str = "reader") -> Member:
        """Let a user or an agent (default: `user`) search a knowledge base without naming it.

        They get this role at least; an `editor` may add and remove documents too. `project:NAME` stands for all users
        of a project. For its owner; who has a role already may bind and unbind themselves.
        """
        return self._parts.bases.bind(cube, member, user=user, role=role)

    def unbind(self, cube: str, member: str | None = None, *, user: str | int) -> Member:
        """Leave a knowledge base out of somebody's searches that name no cubes; the role stays (`cubes.unshare`)."""
        return self._parts.bases.unbind(cube, member, user=user)

    def add(
        self,
        source: str | Path | bytes | BinaryIO | None = None,
        *,
        cube: str,
        user: str | int,
        text: str | None = None,
        name: str | None = None,
        media: str | None = None,
        password: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        refresh_hours: float | None = None,
        wait: bool = False,
    ) -> Document:
        """Add a document: a file (path, bytes, or open in binary), an address (http, https), or a text.

        When it returns, the content is stored (an address is fetched by the job), and a job reads, cuts and embeds it:
        look at `state`, or `wait`. A document is known by its `name` (default: the file's name, or the address; a text
        needs one). The same content under its name is a no-op; other content is a new version, of which only what
        differs is embedded, and the old one answers until the new one is ready. `media` is what the sender says that it
        is; the bytes decide. `refresh_hours` fetches an address again so often. A folder is taken by `sync`. Raises
        `InputError` naming the field, `TooLargeError`.
        """
        document = self._parts.library.add(
            source, cube=cube, user=user, text=text, name=name, media=media, password=password, metadata=metadata,
            refresh_hours=refresh_hours,
        )  # fmt: skip
        self._parts.worker.wake()
        if wait and document.job is not None:
            self._parts.waiting.wait(cube, [document.job], user=str(user), timeout=3_600)
            document = self._parts.library.get(document.id, cube=cube, user=user)
        return document

    def sync(
        self, folder: str | Path, *, cube: str, user: str | int, remove: bool = True, wait: bool = False
    ) -> Synced:
        """Bring a knowledge base in step with a folder of this machine: new and changed files are added.

        Documents are named by their path in the folder. With `remove`, documents of this folder whose file is gone are
        erased; a folder that has no files at all any more (a disk that is not mounted) raises `InputError` instead.
        Hidden files, links that lead out, and what is no plain file are left out and told; a file that no reader takes
        is a document that has failed.
        """
        synced = self._parts.syncing.sync(folder, cube=cube, user=user, remove=remove)
        self._parts.worker.wake()
        jobs = [each.job for each in (*synced.added, *synced.changed) if each.job is not None]
        if wait and jobs:
            self._parts.waiting.wait(cube, jobs, user=str(user), timeout=3_600)
            added = [self._parts.library.get(each.id, cube=cube, user=user) for each in synced.added]
            changed = [self._parts.library.get(each.id, cube=cube, user=user) for each in synced.changed]
            synced = replace(synced, added=added, changed=changed)
        return synced

    def watch_folder(self, folder: str | Path, *, cube: str, user: str | int, remove: bool = True) -> Iterator[Synced]:
        """Keep in step with a folder as `sync` does, at once and whenever something in it changes, until closed."""
        steps = self._parts.syncing.watch(folder, cube=cube, user=user, remove=remove)
        return self._waking(steps)

    def _waking(self, steps: Iterator[Synced]) -> Iterator[Synced]:
        for synced in steps:
            self._parts.worker.wake()
            yield synced

    def documents(
        self, cube: str, *, user: str | int, state: str | None = None, after: str | None = None, limit: int = 100
    ) -> Sequence[Document]:
        """Return documents in the order in which they were added, after one by its id; of one state when named."""
        return self._parts.library.list(cube=cube, user=user, state=state, after=after, limit=limit)

    def get(self, document: str, *, cube: str, user: str | int) -> Document:
        """Return a document with its state. Raises `NotFoundError`."""
        return self._parts.library.get(document, cube=cube, user=user)

    def versions(self, document: str, *, cube: str, user: str | int) -> Sequence[DocumentVersion]:
        """Return the versions of a document, oldest first."""
        return self._parts.library.versions(document, cube=cube, user=user)

    def chunks(
        self,
        document: str,
        *,
        cube: str,
        user: str | int,
        version: int | None = None,
        kinds: Sequence[str] | str | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> Sequence[Chunk]:
        """Return the passages of a document (default: of the version that is searched) and the summaries above them.

        In reading order, behind the position `after`; of some kinds (passage, table, code, section, document).
        """
        return self._parts.library.chunks(
            document, cube=cube, user=user, version=version, kinds=kinds, after=after, limit=limit
        )

    def file(self, document: str, *, cube: str, user: str | int, version: int | None = None) -> bytes:
        """Return a document's bytes as they came."""
        return self._parts.library.file(document, cube=cube, user=user, version=version)

    def refresh(self, document: str, *, cube: str, user: str | int, wait: bool = False) -> Document:
        """Fetch an address again, or try again what has failed."""
        refreshed = self._parts.library.refresh(document, cube=cube, user=user)
        self._parts.worker.wake()
        if wait and refreshed.job is not None:
            self._parts.waiting.wait(cube, [refreshed.job], user=str(user), timeout=3_600)
            refreshed = self._parts.library.get(document, cube=cube, user=user)
        return refreshed

    def remove(self, document: str | Sequence[str], *, cube: str, user: str | int) -> Forgotten:
        """Erase documents everywhere: versions, passages, vectors, files. The receipt counts what was removed."""
        return self._parts.library.remove(document, cube=cube, user=user)
