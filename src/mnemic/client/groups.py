"""The groups of a client's verbs.

Written by `./dev faces` from the verbs of `mnemic.Memory`: change those, not this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from mnemic.client.asking import Gives
from mnemic.client.line import Line, Stream
from mnemic.model.attachment import Attachment
from mnemic.model.document import Chunk, Document, DocumentVersion, KnowledgeBase
from mnemic.model.job import Job, Share, StateCount, Task
from mnemic.model.key import ApiKey, NewKey
from mnemic.model.language import Call, Prompt, Reply, Usage
from mnemic.model.receipt import Forgotten
from mnemic.model.scope import Cube, Member


class Cubes:
    """Namespaces of memories: `client.cubes`."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def create(self, name: str, *, user: str | int | None = None, kind: str = "project") -> Cube:
        """Create a cube that the user owns: a project's, an agent's or a knowledge base's."""
        return self._line.call("cubes.create", Gives[Cube](), name=name, user=user, kind=kind)

    def list(self, *, user: str | int | None = None) -> Sequence[Cube]:
        """Return the cubes that the user may read, oldest first."""
        return self._line.call("cubes.list", Gives[Sequence[Cube]](), user=user)

    def delete(self, cube: str, *, user: str | int | None = None) -> Forgotten:
        """Erase a cube with all that is in it; only its owner may."""
        return self._line.call("cubes.delete", Gives[Forgotten](), cube=cube, user=user)

    def members(self, cube: str, *, user: str | int | None = None) -> Sequence[Member]:
        """Return who may use a cube, with their roles, in the order of their names; its readers may ask."""
        return self._line.call("cubes.members", Gives[Sequence[Member]](), cube=cube, user=user)

    def share(self, cube: str, member: str | int, role: str = "reader", *, user: str | int | None = None) -> Member:
        """Let a user or an agent into a cube, or change its role: `reader`, `editor` or `owner`; only owners may."""
        return self._line.call("cubes.share", Gives[Member](), cube=cube, member=member, role=role, user=user)

    def unshare(self, cube: str, member: str | int, *, user: str | int | None = None) -> Member:
        """Take a member out of a cube; return it as it was."""
        return self._line.call("cubes.unshare", Gives[Member](), cube=cube, member=member, user=user)


class LanguageModels:
    """The language model, when one is configured, and what it cost: `client.llm`."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def complete(
        self,
        prompt: Prompt,
        *,
        user: str | int | None = None,
        purpose: str = "caller",
        cube: str | None = None,
    ) -> Reply:
        """Return the model's reply to a prompt of your own, within the cube's budget and accounted to it."""
        return self._line.call("llm.complete", Gives[Reply](), prompt=prompt, user=user, purpose=purpose, cube=cube)

    def usage(self, *, user: str | int | None = None, cube: str | None = None) -> Usage:
        """Return what a cube's calls cost: altogether, since midnight UTC, and by purpose and model."""
        return self._line.call("llm.usage", Gives[Usage](), user=user, cube=cube)

    def calls(self, *, user: str | int | None = None, limit: int = 100, cube: str | None = None) -> Sequence[Call]:
        """Return the last calls, newest first."""
        return self._line.call("llm.calls", Gives[Sequence[Call]](), user=user, limit=limit, cube=cube)


class Jobs:
    """Background work: `client.jobs`."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def list(
        self,
        *,
        user: str | int | None = None,
        open_only: bool = False,
        states: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        after: str | None = None,
        limit: int = 100,
        cube: str | None = None,
    ) -> Sequence[Job]:
        """Return jobs, newest first; the last id as `after` gives the next page."""
        return self._line.call(
            "jobs.list",
            Gives[Sequence[Job]](),
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
        user: str | int | None = None,
        open_only: bool = False,
        states: Sequence[str] | str | None = None,
        kinds: Sequence[str] | str | None = None,
        after: str | None = None,
        cube: str | None = None,
    ) -> Iterator[Job]:
        """Yield all that `list` would give, page by page, to the end."""
        return self._line.pages(
            "jobs.list",
            Gives[Sequence[Job]](),
            user=user,
            open_only=open_only,
            states=states,
            kinds=kinds,
            after=after,
            cube=cube,
        )

    def get(self, id: str, *, user: str | int | None = None, cube: str | None = None) -> Job:
        """Return a job: its state, tries, times, and why it failed."""
        return self._line.call("jobs.get", Gives[Job](), id=id, user=user, cube=cube)

    def task(self, task: str | int, *, user: str | int | None = None, cube: str | None = None) -> Task:
        """Return a task of your own (`add(…, task=…)`): its state, its jobs and what they led to."""
        return self._line.call("jobs.task", Gives[Task](), task=task, user=user, cube=cube)

    def counts(self, *, user: str | int | None = None, cube: str | None = None) -> Sequence[StateCount]:
        """Return how many jobs are in each state that occurs, and when the oldest of them came."""
        return self._line.call("jobs.counts", Gives[Sequence[StateCount]](), user=user, cube=cube)

    def wait(
        self,
        jobs: str | Sequence[str] | None = None,
        *,
        user: str | int | None = None,
        task: str | int | None = None,
        timeout: float = 60,
        cube: str | None = None,
    ) -> Sequence[Job]:
        """Wait until jobs (default: all of the user's open ones), or those of a task, are finished; return them."""
        return self._line.call(
            "jobs.wait",
            Gives[Sequence[Job]](),
            jobs=jobs,
            user=user,
            task=task,
            timeout=timeout,
            cube=cube,
        )

    def events(
        self,
        *,
        user: str | int | None = None,
        since: Job | str | None = None,
        timeout: float | None = None,
        cube: str | None = None,
    ) -> Stream[Job]:
        """Yield jobs as they change, first those that are there; the last one as `since` goes on behind it."""
        return self._line.stream("jobs.events", Gives[Job](), user=user, since=since, timeout=timeout, cube=cube)

    def cancel(self, id: str, *, user: str | int | None = None, cube: str | None = None) -> Job:
        """Cancel a job that waits; `rebuild` makes up for it."""
        return self._line.call("jobs.cancel", Gives[Job](), id=id, user=user, cube=cube)

    def retry(self, id: str, *, user: str | int | None = None, cube: str | None = None) -> Job:
        """Let a job that is dead, cancelled or failed be tried again, at once and with all its tries."""
        return self._line.call("jobs.retry", Gives[Job](), id=id, user=user, cube=cube)

    def drop(self, id: str, *, user: str | int | None = None, cube: str | None = None) -> Job:
        """Erase a job that has ended, such as a dead letter; return it as it was."""
        return self._line.call("jobs.drop", Gives[Job](), id=id, user=user, cube=cube)

    def share(self, *, user: str | int | None = None, cube: str | None = None) -> Share:
        """Return how much of the workers a cube may have; zeros are what the settings say."""
        return self._line.call("jobs.share", Gives[Share](), user=user, cube=cube)

    def set_share(
        self,
        *,
        user: str | int | None = None,
        weight: float = 1.0,
        running: int = 0,
        per_minute: int = 0,
        cube: str | None = None,
    ) -> Share:
        """Say how much of the workers a cube may have: its weight beside others, jobs at one time, jobs in a minute."""
        return self._line.call(
            "jobs.set_share",
            Gives[Share](),
            user=user,
            weight=weight,
            running=running,
            per_minute=per_minute,
            cube=cube,
        )


class Keys:
    """Keys: who may call, for whom, how far and how often."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def create(
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
        return self._line.call(
            "keys.create",
            Gives[NewKey](),
            name=name,
            users=users,
            cubes=cubes,
            project=project,
            powers=powers,
            expires=expires,
            per_minute=per_minute,
            per_day=per_day,
        )

    def list(self) -> Sequence[ApiKey]:
        """Return the keys, oldest first, those that are expired or revoked too."""
        return self._line.call("keys.list", Gives[Sequence[ApiKey]]())

    def revoke(self, id: str) -> ApiKey:
        """End a key, by its id or prefix: it opens nothing from now on, in all processes."""
        return self._line.call("keys.revoke", Gives[ApiKey](), id=id)

    def rotate(self, id: str, *, overlap_hours: float = 24.0) -> NewKey:
        """Make a key that reaches as far as another, which ends after the overlap (0: at once)."""
        return self._line.call("keys.rotate", Gives[NewKey](), id=id, overlap_hours=overlap_hours)


class Knowledge:
    """Knowledge bases: `client.knowledge`."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def create(
        self,
        name: str,
        *,
        user: str | int | None = None,
        description: str = "",
        learns: bool = False,
    ) -> KnowledgeBase:
        """Create a knowledge base that the user owns, bound to them: their searches look in it too."""
        return self._line.call(
            "knowledge.create",
            Gives[KnowledgeBase](),
            name=name,
            user=user,
            description=description,
            learns=learns,
        )

    def list(self, *, user: str | int | None = None) -> Sequence[KnowledgeBase]:
        """Return the knowledge bases that the user may read, oldest first, with counts."""
        return self._line.call("knowledge.list", Gives[Sequence[KnowledgeBase]](), user=user)

    def update(
        self,
        cube: str,
        *,
        user: str | int | None = None,
        name: str | None = None,
        description: str | None = None,
        learns: bool | None = None,
    ) -> KnowledgeBase:
        """Rename a knowledge base, describe it otherwise, or let it learn; what is None stays."""
        return self._line.call(
            "knowledge.update",
            Gives[KnowledgeBase](),
            cube=cube,
            user=user,
            name=name,
            description=description,
            learns=learns,
        )

    def delete(self, cube: str, *, user: str | int | None = None) -> Forgotten:
        """Erase a knowledge base with all of its documents and files."""
        return self._line.call("knowledge.delete", Gives[Forgotten](), cube=cube, user=user)

    def bind(
        self,
        cube: str,
        member: str | None = None,
        *,
        user: str | int | None = None,
        role: str = "reader",
    ) -> Member:
        """Let a user or an agent (default: `user`) search a knowledge base without naming it."""
        return self._line.call("knowledge.bind", Gives[Member](), cube=cube, member=member, user=user, role=role)

    def unbind(self, cube: str, member: str | None = None, *, user: str | int | None = None) -> Member:
        """Leave a knowledge base out of somebody's searches that name no cubes; the role stays (`cubes.unshare`)."""
        return self._line.call("knowledge.unbind", Gives[Member](), cube=cube, member=member, user=user)

    def add(
        self,
        source: str | Path | bytes | BinaryIO | None = None,
        *,
        cube: str,
        user: str | int | None = None,
        text: str | None = None,
        name: str | None = None,
        media: str | None = None,
        password: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        refresh_hours: float | None = None,
        wait: bool = False,
    ) -> Document:
        """Add a document: a file (path, bytes, or open in binary), an address (http, https), or a text."""
        return self._line.upload(
            "knowledge.add",
            Gives[Document](),
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

    def documents(
        self,
        cube: str,
        *,
        user: str | int | None = None,
        state: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[Document]:
        """Return documents in the order in which they were added, after one by its id; of one state when named."""
        return self._line.call(
            "knowledge.documents",
            Gives[Sequence[Document]](),
            cube=cube,
            user=user,
            state=state,
            after=after,
            limit=limit,
        )

    def get(self, document: str, *, cube: str, user: str | int | None = None) -> Document:
        """Return a document with its state."""
        return self._line.call("knowledge.get", Gives[Document](), document=document, cube=cube, user=user)

    def versions(self, document: str, *, cube: str, user: str | int | None = None) -> Sequence[DocumentVersion]:
        """Return the versions of a document, oldest first."""
        return self._line.call(
            "knowledge.versions",
            Gives[Sequence[DocumentVersion]](),
            document=document,
            cube=cube,
            user=user,
        )

    def chunks(
        self,
        document: str,
        *,
        cube: str,
        user: str | int | None = None,
        version: int | None = None,
        kinds: Sequence[str] | str | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> Sequence[Chunk]:
        """Return the passages of a document (default: of the version that is searched) and the summaries above them."""
        return self._line.call(
            "knowledge.chunks",
            Gives[Sequence[Chunk]](),
            document=document,
            cube=cube,
            user=user,
            version=version,
            kinds=kinds,
            after=after,
            limit=limit,
        )

    def file(self, document: str, *, cube: str, user: str | int | None = None, version: int | None = None) -> bytes:
        """Return a document's bytes as they came."""
        return self._line.call(
            "knowledge.file",
            Gives[bytes](),
            document=document,
            cube=cube,
            user=user,
            version=version,
        )

    def refresh(self, document: str, *, cube: str, user: str | int | None = None, wait: bool = False) -> Document:
        """Fetch an address again, or try again what has failed."""
        return self._line.call(
            "knowledge.refresh",
            Gives[Document](),
            document=document,
            cube=cube,
            user=user,
            wait=wait,
        )

    def remove(self, document: str | Sequence[str], *, cube: str, user: str | int | None = None) -> Forgotten:
        """Erase documents everywhere: versions, passages, vectors, files."""
        return self._line.call("knowledge.remove", Gives[Forgotten](), document=document, cube=cube, user=user)


class Attachments:
    """What came with messages besides words: `client.attachments`."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def list(self, message: str, *, user: str | int | None = None, cube: str | None = None) -> Sequence[Attachment]:
        """Return the attachments of a message, in the order of its parts."""
        return self._line.call("attachments.list", Gives[Sequence[Attachment]](), message=message, user=user, cube=cube)

    def get(self, id: str, *, user: str | int | None = None, cube: str | None = None) -> Attachment:
        """Return an attachment with what was read from it."""
        return self._line.call("attachments.get", Gives[Attachment](), id=id, user=user, cube=cube)

    def file(
        self,
        id: str,
        *,
        user: str | int | None = None,
        cube: str | None = None,
        thumbnail: bool = False,
    ) -> bytes:
        """Return its bytes."""
        return self._line.call("attachments.file", Gives[bytes](), id=id, user=user, cube=cube, thumbnail=thumbnail)
