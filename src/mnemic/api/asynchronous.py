"""`AsyncMemory`, the embedded face for programs with an event loop.

Written by `./dev faces` from the verbs of `mnemic.Memory`: change those, not this.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from mnemic.api.asynchronous_groups import (
    AsyncAttachments,
    AsyncCubes,
    AsyncJobs,
    AsyncKeys,
    AsyncKnowledge,
    AsyncLanguageModels,
)
from mnemic.api.awaiting import AsyncPieces, Calls, Opening
from mnemic.api.memory import Memory
from mnemic.api.threads import CALLS, STREAMS
from mnemic.config import Settings
from mnemic.model.answer import Answer, AskOptions, ChatOptions
from mnemic.model.audit import AuditRow
from mnemic.model.change import MemoryChange, Undone
from mnemic.model.entity import Entity
from mnemic.model.extraction import Extraction
from mnemic.model.feedback import Feedback
from mnemic.model.item import Explanation, Item, Stats
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.model.memory import Version
from mnemic.model.message import Messages, Said, Session
from mnemic.model.profile import Profile
from mnemic.model.query import Context, Results, SearchOptions
from mnemic.model.receipt import Added, Forgotten, Imported
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.llm import LanguageModel


class AsyncMemory:
    """A memory in a folder for programs with an event loop: the verbs of `Memory`, each on a thread beside the loop.

    It is opened by `async with`, or by the first call. `calls` run at one time, and as many as `streams` are open; more
    calls wait for their turn, more streams are refused with `BusyError`. A call that is cancelled runs to its end.
    It belongs to the event loop that uses it first.

        async with AsyncMemory("~/my-memory") as memory:
            await memory.add("I moved to Porto last week.", user="ann")
            print((await memory.search("Where does Ann live?", user="ann"))[0].text)
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        settings: Settings | Mapping[str, Any] | None = None,
        embedder: Embedder | None = None,
        llm: LanguageModel | None = None,
        clock: Clock | None = None,
        calls: int = CALLS,
        streams: int = STREAMS,
    ) -> None:
        made = partial(Memory, path, settings=settings, embedder=embedder, llm=llm, clock=clock)
        self._calls = Calls(Opening(made, calls=calls, streams=streams), lambda memory: memory)
        self.cubes = AsyncCubes(Calls(self._calls.opening, lambda memory: memory.cubes))
        self.llm = AsyncLanguageModels(Calls(self._calls.opening, lambda memory: memory.llm))
        self.jobs = AsyncJobs(Calls(self._calls.opening, lambda memory: memory.jobs))
        self.keys = AsyncKeys(Calls(self._calls.opening, lambda memory: memory.keys))
        self.knowledge = AsyncKnowledge(Calls(self._calls.opening, lambda memory: memory.knowledge))
        self.attachments = AsyncAttachments(Calls(self._calls.opening, lambda memory: memory.attachments))

    async def __aenter__(self) -> Self:
        await self.opened()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def opened(self) -> Memory:
        """Return the memory behind this, opened when it was not: for what has no verb, such as its settings."""
        return await self._calls.opening.memory()

    async def close(self) -> None:
        """Close the memory when calls and streams have ended; what is queued goes on at the next opening."""
        await self._calls.opening.close()

    async def add(
        self,
        messages: Messages,
        *,
        user: str | int,
        session: str | int | None = None,
        agent: str | int | None = None,
        cube: str | None = None,
        task: str | int | None = None,
        learn: Sequence[str] | str | None = None,
        wait: bool = False,
    ) -> Added:
        """Store messages verbatim; when it returns they are on disk and the next `search` finds them."""
        return await self._calls.wait(
            Memory.add,
            messages,
            user=user,
            session=session,
            agent=agent,
            cube=cube,
            task=task,
            learn=learn,
            wait=wait,
        )

    async def extract(
        self,
        messages: Messages,
        *,
        user: str | int,
        agent: str | int | None = None,
        cube: str | None = None,
    ) -> Extraction:
        """Return what would be remembered of messages, and what it would change, without storing anything."""
        return await self._calls.call(Memory.extract, messages, user=user, agent=agent, cube=cube)

    async def update(
        self,
        id: str,
        text: str,
        *,
        user: str | int,
        cube: str | None = None,
        if_version: int | None = None,
    ) -> MemoryRecord:
        """Correct a memory: a new version takes the place of the current one, which stays in its history."""
        return await self._calls.call(Memory.update, id, text, user=user, cube=cube, if_version=if_version)

    async def lock(self, id: str, *, user: str | int, locked: bool = True, cube: str | None = None) -> MemoryRecord:
        """Keep a memory as it is, whatever is said later; `locked=False` lets it change again."""
        return await self._calls.call(Memory.lock, id, user=user, locked=locked, cube=cube)

    async def restore(
        self,
        id: str,
        *,
        user: str | int,
        version: int | None = None,
        cube: str | None = None,
    ) -> MemoryRecord:
        """Make an earlier version of a memory (default: the one before the current) hold again, as a new version."""
        return await self._calls.call(Memory.restore, id, user=user, version=version, cube=cube)

    async def feedback(
        self,
        text: str,
        *,
        user: str | int,
        cube: str | None = None,
        session: str | int | None = None,
        dry_run: bool = False,
        mode: str = "auto",
    ) -> Feedback:
        """Change memories as plain words ask: "forget the peanut thing", "my sister is called Noor, not Nora"."""
        return await self._calls.call(
            Memory.feedback,
            text,
            user=user,
            cube=cube,
            session=session,
            dry_run=dry_run,
            mode=mode,
        )

    async def changes(self, *, user: str | int, limit: int = 100, cube: str | None = None) -> Sequence[MemoryChange]:
        """Return the changes that were made of several memories at once, newest first."""
        return await self._calls.call(Memory.changes, user=user, limit=limit, cube=cube)

    async def undo(self, change: str, *, user: str | int, cube: str | None = None) -> Undone:
        """Take a change back, by its id: its memories say again what they said before, as new versions."""
        return await self._calls.call(Memory.undo, change, user=user, cube=cube)

    async def forget(
        self,
        id: str | Sequence[str] | None = None,
        *,
        user: str | int,
        session: str | int | None = None,
        about: str | None = None,
        everything: bool = False,
        cube: str | None = None,
    ) -> Forgotten:
        """Erase messages or memories, by id, by session, everything that mentions some words, or all of a user's."""
        return await self._calls.call(
            Memory.forget,
            id,
            user=user,
            session=session,
            about=about,
            everything=everything,
            cube=cube,
        )

    async def rebuild(self, *, user: str | int, cube: str | None = None, wait: bool = False) -> str | None:
        """Derive topics and memories again from the messages, and passages from the documents; return the first job."""
        return await self._calls.wait(Memory.rebuild, user=user, cube=cube, wait=wait)

    async def reorganize(
        self,
        *,
        user: str | int,
        dry_run: bool = False,
        cube: str | None = None,
    ) -> MemoryChange | None:
        """Put memories in order: merge what says the same, close plans that are over, sum up what belongs together."""
        return await self._calls.call(Memory.reorganize, user=user, dry_run=dry_run, cube=cube)

    async def search(
        self,
        query: str,
        *,
        user: str | int,
        cubes: Sequence[str] | str | None = None,
        limit: int = 10,
        kinds: Sequence[str] | str | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: datetime | str | float | None = None,
        reference_time: datetime | str | float | None = None,
        threshold: float | None = None,
        explain: bool = False,
    ) -> Results:
        """Return the hits that answer a question best, best first, with their sources."""
        return await self._calls.call(
            Memory.search,
            query,
            user=user,
            cubes=cubes,
            limit=limit,
            kinds=kinds,
            where=where,
            as_of=as_of,
            reference_time=reference_time,
            threshold=threshold,
            explain=explain,
        )

    async def search_many(
        self,
        queries: Sequence[str],
        *,
        user: str | int,
        **options: Unpack[SearchOptions],
    ) -> Sequence[Results]:
        """Return what `search` would for each question, in less time: they are embedded together and read one
        moment.
        """
        return await self._calls.call(Memory.search_many, queries, user=user, **options)

    async def context(
        self,
        query: str,
        *,
        user: str | int,
        budget: int = 2_000,
        **options: Unpack[SearchOptions],
    ) -> Context:
        """Return what a prompt needs to answer a question: hits and the turns around them, in time order,
        within `budget` tokens.
        """
        return await self._calls.call(Memory.context, query, user=user, budget=budget, **options)

    async def ask(self, question: str, *, user: str | int, **options: Unpack[AskOptions]) -> Answer:
        """Answer a question from memory, with citations, or say that memory does not hold the answer."""
        return await self._calls.call(Memory.ask, question, user=user, **options)

    def ask_stream(self, question: str, *, user: str | int, **options: Unpack[AskOptions]) -> AsyncPieces[str | Answer]:
        """Yield the text of what `ask` would answer as it is written, then the `Answer`."""
        return self._calls.pieces(Memory.ask_stream, question, user=user, **options)

    async def chat(self, message: Said, *, user: str | int, **options: Unpack[ChatOptions]) -> Answer:
        """Reply to a message with what was said before in mind, and keep both; see
        `mnemic.model.answer.ChatOptions`.
        """
        return await self._calls.call(Memory.chat, message, user=user, **options)

    def chat_stream(
        self,
        message: Said,
        *,
        user: str | int,
        **options: Unpack[ChatOptions],
    ) -> AsyncPieces[str | Answer]:
        """Yield the text of what `chat` would reply as it is written, then the `Answer`; see `ask_stream`."""
        return self._calls.pieces(Memory.chat_stream, message, user=user, **options)

    async def profile(
        self,
        *,
        user: str | int,
        subject: str | None = None,
        as_of: datetime | str | float | None = None,
        template: str | Sequence[str] | None = None,
        cube: str | None = None,
    ) -> Profile:
        """Return what is known about a person (default: everyone in the cube), with evidence and history."""
        return await self._calls.call(
            Memory.profile,
            user=user,
            subject=subject,
            as_of=as_of,
            template=template,
            cube=cube,
        )

    async def set_profile(
        self,
        attribute: str,
        value: str | None = None,
        *,
        user: str | int,
        subject: str | None = None,
        remove: bool = False,
        locked: bool | None = None,
        cube: str | None = None,
    ) -> Sequence[MemoryRecord]:
        """Set an attribute of a person (default: the user) by its dotted name, such as `home.place`; return
        what is known of it.
        """
        return await self._calls.call(
            Memory.set_profile,
            attribute,
            value,
            user=user,
            subject=subject,
            remove=remove,
            locked=locked,
            cube=cube,
        )

    async def get(self, id: str, *, user: str | int, cube: str | None = None) -> Item:
        """Return a message or a memory by id, whole."""
        return await self._calls.call(Memory.get, id, user=user, cube=cube)

    async def list(
        self,
        *,
        user: str | int,
        kinds: Sequence[str] | str | None = None,
        session: str | int | None = None,
        after: str | None = None,
        limit: int = 100,
        newest: bool = False,
        where: Mapping[str, Any] | None = None,
        cube: str | None = None,
    ) -> Sequence[Item]:
        """Return messages and memories, oldest or `newest` first; the last one's id as `after` gives the next page."""
        return await self._calls.call(
            Memory.list,
            user=user,
            kinds=kinds,
            session=session,
            after=after,
            limit=limit,
            newest=newest,
            where=where,
            cube=cube,
        )

    def iterate(
        self,
        *,
        user: str | int,
        kinds: Sequence[str] | str | None = None,
        session: str | int | None = None,
        after: str | None = None,
        newest: bool = False,
        where: Mapping[str, Any] | None = None,
        cube: str | None = None,
    ) -> AsyncPieces[Item]:
        """Yield all that `list` would give, page by page, to the end."""
        return self._calls.pieces(
            Memory.iterate,
            user=user,
            kinds=kinds,
            session=session,
            after=after,
            newest=newest,
            where=where,
            cube=cube,
        )

    def watch(self, *, user: str | int, cube: str | None = None, timeout: float | None = None) -> AsyncPieces[Item]:
        """Yield messages and memories as they are stored or change, from now on, whichever process writes them."""
        return self._calls.pieces(Memory.watch, user=user, cube=cube, timeout=timeout)

    async def history(self, id: str, *, user: str | int, cube: str | None = None) -> Sequence[Version]:
        """Return all versions of a memory, in the order in which they held."""
        return await self._calls.call(Memory.history, id, user=user, cube=cube)

    async def explain(self, id: str, *, user: str | int, cube: str | None = None) -> Explanation:
        """Return why something is in memory: its tier, its sources, what stands on it, what it relates to."""
        return await self._calls.call(Memory.explain, id, user=user, cube=cube)

    async def sessions(self, *, user: str | int, cube: str | None = None) -> Sequence[Session]:
        """Return the sessions of a user, oldest first."""
        return await self._calls.call(Memory.sessions, user=user, cube=cube)

    async def entities(self, *, user: str | int, cube: str | None = None) -> Sequence[Entity]:
        """Return the named things that messages mention, the most mentioned first; a language model notes them."""
        return await self._calls.call(Memory.entities, user=user, cube=cube)

    async def stats(self, *, user: str | int, cube: str | None = None) -> Stats:
        """Return counts: messages, tiers with capacities, segments with heat, memories by kind, jobs, bytes on disk."""
        return await self._calls.call(Memory.stats, user=user, cube=cube)

    async def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the store over: (what, whether it is well, what was seen) for the file, the index and the embedder."""
        return await self._calls.call(Memory.check)

    async def audit(
        self,
        *,
        key: str | None = None,
        cube: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[AuditRow]:
        """Return who wrote what, and what was refused, newest first, of calls that came with a key or to a server."""
        return await self._calls.call(Memory.audit, key=key, cube=cube, after=after, limit=limit)

    def export(self, *, user: str | int, cube: str | None = None) -> AsyncPieces[str]:
        """Yield a cube as JSON Lines (format `mnemic-1`): everything, so that `load` gives the same memory."""
        return self._calls.pieces(Memory.export, user=user, cube=cube)

    async def load(
        self,
        lines: AsyncIterator[str] | Iterator[str] | Sequence[str],
        *,
        user: str | int,
        cube: str | None = None,
    ) -> Imported:
        """Read what `export` wrote into a user's cube; what is there already is skipped and counted."""
        return await self._calls.load(Memory.load, lines, user=user, cube=cube)
