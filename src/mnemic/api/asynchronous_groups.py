"""The groups of an `AsyncMemory`'s verbs.

Written by `./dev faces` from the verbs of `mnemic.Memory`: change those, not this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from mnemic.api.attachments import Attachments
from mnemic.api.awaiting import AsyncPieces, Calls
from mnemic.api.groups import Cubes, Jobs, LanguageModels
from mnemic.api.keys import Keys
from mnemic.api.knowledge import Knowledge
from mnemic.model.attachment import Attachment
from mnemic.model.document import Chunk, Document, DocumentVersion, KnowledgeBase
from mnemic.model.job import Job, Share, StateCount, Task
from mnemic.model.key import ApiKey, NewKey
from mnemic.model.language import Call, Prompt, Reply, Usage
from mnemic.model.receipt import Forgotten
from mnemic.model.scope import Cube, Member


class AsyncCubes:
    """Namespaces of memories: `memory.cubes`."""

    def __init__(self, calls: Calls[Cubes]) -> None:
        self._calls = calls

    async def create(self, name: str, *, user: str | int, kind: str = "project") -> Cube:
        """Create a cube that the user owns: a project's, an agent's or a knowledge base's."""
        return await self._calls.call(Cubes.create, name, user=user, kind=kind)

    async def list(self, *, user: str | int) -> Sequence[Cube]:
        """Return the cubes that the user may read, oldest first."""
        return await self._calls.call(Cubes.list, user=user)

    async def delete(self, cube: str, *, user: str | int) -> Forgotten:
        """Erase a cube with all that is in it; only its owner may."""
        return await self._calls.call(Cubes.delete, cube, user=user)

    async def members(self, cube: str, *, user: str | int) -> Sequence[Member]:
        """Return who may use a cube, with their roles, in the order of their names; its readers may ask."""
        return await self._calls.call(Cubes.members, cube, user=user)

    async def share(self, cube: str, member: str | int, role: str = "reader", *, user: str | int) -> Member:
        """Let a user or an agent into a cube, or change its role: `reader`, `editor` or `owner`; only owners may."""
        return await self._calls.call(Cubes.share, cube, member, role, user=user)

    async def unshare(self, cube: str, member: str | int, *, user: str | int) -> Member:
        """Take a member out of a cube; return it as it was."""
        return await self._calls.call(Cubes.unshare, cube, member, user=user)


class AsyncLanguageModels:
    """The language model, when one is configured, and what it cost: `memory.llm`."""

    def __init__(self, calls: Calls[LanguageModels]) -> None:
        self._calls = calls

    async def complete(
        self,
        prompt: Prompt,
        *,
        user: str | int,
        purpose: str = "caller",
        cube: str | None = None,
    ) -> Reply:
        """Return the model's reply to a prompt of your own, within the cube's budget and accounted to it."""
        return await self._calls.call(LanguageModels.complete, prompt, user=user, purpose=purpose, cube=cube)

    async def usage(self, *, user: str | int, cube: str | None = None) -> Usage:
        """Return what a cube's calls cost: altogether, since midnight UTC, and by purpose and model."""
        return await self._calls.call(LanguageModels.usage, user=user, cube=cube)

    async def calls(self, *, user: str | int, limit: int = 100, cube: str | None = None) -> Sequence[Call]:
        """Return the last calls, newest first."""
        return await self._calls.call(LanguageModels.calls, user=user, limit=limit, cube=cube)


class AsyncJobs:
    """Background work: `memory.jobs`."""

    def __init__(self, calls: Calls[Jobs]) -> None:
        self._calls = calls

    async def list(
        self,
        *,
        user: str | int,
        open_only: bool = False,
        states: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        after: str | None = None,
        limit: int = 100,
        cube: str | None = None,
    ) -> Sequence[Job]:
        """Return jobs, newest first; the last id as `after` gives the next page."""
        return await self._calls.call(
            Jobs.list,
            user=user,
            open_only=open_only,
            states=states,
            kinds=kinds,
            after=after,
            limit=limit,
            cube=cube,
        )

    def iterate(
        self,
        *,
        user: str | int,
        open_only: bool = False,
        states: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        after: str | None = None,
        cube: str | None = None,
    ) -> AsyncPieces[Job]:
        """Yield all that `list` would give, page by page, to the end."""
        return self._calls.pieces(
            Jobs.iterate,
            user=user,
            open_only=open_only,
            states=states,
            kinds=kinds,
            after=after,
            cube=cube,
        )

    async def get(self, id: str, *, user: str | int, cube: str | None = None) -> Job:
        """Return a job: its state, tries, times, and why it failed."""
        return await self._calls.call(Jobs.get, id, user=user, cube=cube)

    async def task(self, task: str | int, *, user: str | int, cube: str | None = None) -> Task:
        """Return a task of your own (`add(…, task=…)`): its state, its jobs and what they led to."""
        return await self._calls.call(Jobs.task, task, user=user, cube=cube)

    async def counts(self, *, user: str | int, cube: str | None = None) -> Sequence[StateCount]:
        """Return how many jobs are in each state that occurs, and when the oldest of them came."""
        return await self._calls.call(Jobs.counts, user=user, cube=cube)

    async def wait(
        self,
        jobs: str | Sequence[str] | None = None,
        *,
        user: str | int,
        task: str | int | None = None,
        timeout: float = 60,
        cube: str | None = None,
    ) -> Sequence[Job]:
        """Wait until jobs (default: all of the user's open ones), or those of a task, are finished; return them."""
        return await self._calls.wait(Jobs.wait, jobs, user=user, task=task, timeout=timeout, cube=cube)

    def events(
        self,
        *,
        user: str | int,
        since: Job | str | None = None,
        timeout: float | None = None,
        cube: str | None = None,
    ) -> AsyncPieces[Job]:
        """Yield jobs as they change, first those that are there; the last one as `since` goes on behind it."""
        return self._calls.pieces(Jobs.events, user=user, since=since, timeout=timeout, cube=cube)

    async def cancel(self, id: str, *, user: str | int, cube: str | None = None) -> Job:
        """Cancel a job that waits; `rebuild` makes up for it."""
        return await self._calls.call(Jobs.cancel, id, user=user, cube=cube)

    async def retry(self, id: str, *, user: str | int, cube: str | None = None) -> Job:
        """Let a job that is dead, cancelled or failed be tried again, at once and with all its tries."""
        return await self._calls.call(Jobs.retry, id, user=user, cube=cube)

    async def drop(self, id: str, *, user: str | int, cube: str | None = None) -> Job:
        """Erase a job that has ended, such as a dead letter; return it as it was."""
        return await self._calls.call(Jobs.drop, id, user=user, cube=cube)

    async def share(self, *, user: str | int, cube: str | None = None) -> Share:
        """Return how much of the workers a cube may have; zeros are what the settings say."""
        return await self._calls.call(Jobs.share, user=user, cube=cube)

    async def set_share(
        self,
        *,
        user: str | int,
        weight: float = 1.0,
        running: int = 0,
        per_minute: int = 0,
        cube: str | None = None,
    ) -> Share:
        """Say how much of the workers a cube may have: its weight beside others, jobs at one time, jobs in a minute."""
        return await self._calls.call(
            Jobs.set_share,
            user=user,
            weight=weight,
            running=running,
            per_minute=per_minute,
            cube=cube,
        )


class AsyncKeys:
    """Keys: who may call, for whom, how far and how often."""

    def __init__(self, calls: Calls[Keys]) -> None:
        self._calls = calls

    async def create(
        self,
        name: str,
        *,
        users: Sequence[str] | str | None = None,
        cubes: Sequence[str] | str | None = None,
        project: str = "",
        powers: Sequence[str] | str = ("read", "write"),
        expires: datetime | str | float | None = None,
        per_minute: int = 0,
        per_day: int = 0,
    ) -> NewKey:
        """Make a key and return it with its secret, which nobody can show again: the store keeps a hash of it."""
        return await self._calls.call(
            Keys.create,
            name,
            users=users,
            cubes=cubes,
            project=project,
            powers=powers,
            expires=expires,
            per_minute=per_minute,
            per_day=per_day,
        )

    async def list(self) -> Sequence[ApiKey]:
        """Return the keys, oldest first, those that are expired or revoked too."""
        return await self._calls.call(Keys.list)

    async def revoke(self, id: str) -> ApiKey:
        """End a key, by its id or prefix: it opens nothing from now on, in all processes."""
        return await self._calls.call(Keys.revoke, id)

    async def rotate(self, id: str, *, overlap_hours: float = 24.0) -> NewKey:
        """Make a key that reaches as far as another, which ends after the overlap (0: at once)."""
        return await self._calls.call(Keys.rotate, id, overlap_hours=overlap_hours)


class AsyncKnowledge:
    """Knowledge bases: `memory.knowledge`."""

    def __init__(self, calls: Calls[Knowledge]) -> None:
        self._calls = calls

    async def create(self, name: str, *, user: str | int, description: str = "", learns: bool = False) -> KnowledgeBase:
        """Create a knowledge base that the user owns, bound to them: their searches look in it too."""
        return await self._calls.call(Knowledge.create, name, user=user, description=description, learns=learns)

    async def list(self, *, user: str | int) -> Sequence[KnowledgeBase]:
        """Return the knowledge bases that the user may read, oldest first, with counts."""
        return await self._calls.call(Knowledge.list, user=user)

    async def update(
        self,
        cube: str,
        *,
        user: str | int,
        name: str | None = None,
        description: str | None = None,
        learns: bool | None = None,
    ) -> KnowledgeBase:
        """Rename a knowledge base, describe it otherwise, or let it learn; what is None stays."""
        return await self._calls.call(
            Knowledge.update,
            cube,
            user=user,
            name=name,
            description=description,
            learns=learns,
        )

    async def delete(self, cube: str, *, user: str | int) -> Forgotten:
        """Erase a knowledge base with all of its documents and files."""
        return await self._calls.call(Knowledge.delete, cube, user=user)

    async def bind(self, cube: str, member: str | None = None, *, user: str | int, role: str = "reader") -> Member:
        """Let a user or an agent (default: `user`) search a knowledge base without naming it."""
        return await self._calls.call(Knowledge.bind, cube, member, user=user, role=role)

    async def unbind(self, cube: str, member: str | None = None, *, user: str | int) -> Member:
        """Leave a knowledge base out of somebody's searches that name no cubes; the role stays (`cubes.unshare`)."""
        return await self._calls.call(Knowledge.unbind, cube, member, user=user)

    async def add(
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
        """Add a document: a file (path, bytes, or open in binary), an address (http, https), or a text."""
        return await self._calls.wait(
            Knowledge.add,
            source,
            cube=cube,
            user=user,
            text=text,
            name=name,
            media=media,
            password=password,
            metadata=metadata,
            refresh_hours=refresh_hours,
            wait=wait,
        )

    async def documents(
        self,
        cube: str,
        *,
        user: str | int,
        state: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[Document]:
        """Return documents in the order in which they were added, after one by its id; of one state when named."""
        return await self._calls.call(Knowledge.documents, cube, user=user, state=state, after=after, limit=limit)

    async def get(self, document: str, *, cube: str, user: str | int) -> Document:
        """Return a document with its state."""
        return await self._calls.call(Knowledge.get, document, cube=cube, user=user)

    async def versions(self, document: str, *, cube: str, user: str | int) -> Sequence[DocumentVersion]:
        """Return the versions of a document, oldest first."""
        return await self._calls.call(Knowledge.versions, document, cube=cube, user=user)

    async def chunks(
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
        """Return the passages of a document (default: of the version that is searched) and the summaries above them."""
        return await self._calls.call(
            Knowledge.chunks,
            document,
            cube=cube,
            user=user,
            version=version,
            kinds=kinds,
            after=after,
            limit=limit,
        )

    async def file(self, document: str, *, cube: str, user: str | int, version: int | None = None) -> bytes:
        """Return a document's bytes as they came."""
        return await self._calls.call(Knowledge.file, document, cube=cube, user=user, version=version)

    async def refresh(self, document: str, *, cube: str, user: str | int, wait: bool = False) -> Document:
        """Fetch an address again, or try again what has failed."""
        return await self._calls.wait(Knowledge.refresh, document, cube=cube, user=user, wait=wait)

    async def remove(self, document: str | Sequence[str], *, cube: str, user: str | int) -> Forgotten:
        """Erase documents everywhere: versions, passages, vectors, files."""
        return await self._calls.call(Knowledge.remove, document, cube=cube, user=user)


class AsyncAttachments:
    """What came with messages besides words: `memory.attachments`."""

    def __init__(self, calls: Calls[Attachments]) -> None:
        self._calls = calls

    async def list(self, message: str, *, user: str | int, cube: str | None = None) -> Sequence[Attachment]:
        """Return the attachments of a message, in the order of its parts."""
        return await self._calls.call(Attachments.list, message, user=user, cube=cube)

    async def get(self, id: str, *, user: str | int, cube: str | None = None) -> Attachment:
        """Return an attachment with what was read from it."""
        return await self._calls.call(Attachments.get, id, user=user, cube=cube)

    async def file(self, id: str, *, user: str | int, cube: str | None = None, thumbnail: bool = False) -> bytes:
        """Return its bytes."""
        return await self._calls.call(Attachments.file, id, user=user, cube=cube, thumbnail=thumbnail)
