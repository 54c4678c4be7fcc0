"""`Client`, the face of a memory on a server.

Written by `./dev faces` from the verbs of `mnemic.Memory`: change those, not this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self, Unpack

from mnemic.client.address import RETRIES, TIMEOUT, address_of
from mnemic.client.asking import Gives
from mnemic.client.groups import Attachments, Cubes, Jobs, Keys, Knowledge, LanguageModels
from mnemic.client.line import Line, Stream
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


class Client:
    """A memory on a server: the verbs of `Memory`, which tells of each in full, with the same values and errors.

    Threads may share it.

    `url` and `key` are those of the environment (`MNEMIC_URL`, `MNEMIC_KEY`) unless given, the address of a server on
    this machine without. `user` is for whom calls are that name none; without, the server takes the only one that the
    key may call for. A call fails as `UnreachableError` when the server is silent for `timeout` seconds (longer where a
    language model answers or work is waited for). What can be made again without harm is, `retries` times: reads, and
    writes under a key of their own (`Idempotency-Key`), by which the server knows them again. A key goes to another
    machine over https; `allow_http` lets it go in the clear. Raises `InputError` for what is no address or no key.

        with Client("http://127.0.0.1:8765") as memory:
            memory.add("I moved to Porto last week.", user="ann")
            print(memory.search("Where does Ann live?", user="ann")[0].text)
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        user: str | int | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        allow_http: bool = False,
    ) -> None:
        self._line = Line(address_of(url, key, user, timeout, retries, allow_http=allow_http))
        self.cubes = Cubes(self._line)
        self.llm = LanguageModels(self._line)
        self.jobs = Jobs(self._line)
        self.keys = Keys(self._line)
        self.knowledge = Knowledge(self._line)
        self.attachments = Attachments(self._line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client {self._line.address.url}>"

    def close(self) -> None:
        """Close the connections; streams that are open end."""
        self._line.close()

    def add(
        self,
        messages: Messages,
        *,
        user: str | int | None = None,
        session: str | int | None = None,
        agent: str | int | None = None,
        cube: str | None = None,
        task: str | int | None = None,
        learn: Sequence[str] | str | None = None,
        wait: bool = False,
    ) -> Added:
        """Store messages verbatim; when it returns they are on disk and the next `search` finds them."""
        return self._line.call(
            "add",
            Gives[Added](),
            messages=messages,
            user=user,
            session=session,
            agent=agent,
            cube=cube,
            task=task,
            learn=learn,
            wait=wait,
        )

    def extract(
        self,
        messages: Messages,
        *,
        user: str | int | None = None,
        agent: str | int | None = None,
        cube: str | None = None,
    ) -> Extraction:
        """Return what would be remembered of messages, and what it would change, without storing anything."""
        return self._line.call("extract", Gives[Extraction](), messages=messages, user=user, agent=agent, cube=cube)

    def update(
        self,
        id: str,
        text: str,
        *,
        user: str | int | None = None,
        cube: str | None = None,
        if_version: int | None = None,
    ) -> MemoryRecord:
        """Correct a memory: a new version takes the place of the current one, which stays in its history."""
        return self._line.call(
            "update",
            Gives[MemoryRecord](),
            id=id,
            text=text,
            user=user,
            cube=cube,
            if_version=if_version,
        )

    def lock(
        self,
        id: str,
        *,
        user: str | int | None = None,
        locked: bool = True,
        cube: str | None = None,
    ) -> MemoryRecord:
        """Keep a memory as it is, whatever is said later; `locked=False` lets it change again."""
        return self._line.call("lock", Gives[MemoryRecord](), id=id, user=user, locked=locked, cube=cube)

    def restore(
        self,
        id: str,
        *,
        user: str | int | None = None,
        version: int | None = None,
        cube: str | None = None,
    ) -> MemoryRecord:
        """Make an earlier version of a memory (default: the one before the current) hold again, as a new version."""
        return self._line.call("restore", Gives[MemoryRecord](), id=id, user=user, version=version, cube=cube)

    def feedback(
        self,
        text: str,
        *,
        user: str | int | None = None,
        cube: str | None = None,
        session: str | int | None = None,
        dry_run: bool = False,
        mode: str = "auto",
    ) -> Feedback:
        """Change memories as plain words ask: "forget the peanut thing", "my sister is called Noor, not Nora"."""
        return self._line.call(
            "feedback",
            Gives[Feedback](),
            text=text,
            user=user,
            cube=cube,
            session=session,
            dry_run=dry_run,
            mode=mode,
        )

    def changes(
        self,
        *,
        user: str | int | None = None,
        limit: int = 100,
        cube: str | None = None,
    ) -> Sequence[MemoryChange]:
        """Return the changes that were made of several memories at once, newest first."""
        return self._line.call("changes", Gives[Sequence[MemoryChange]](), user=user, limit=limit, cube=cube)

    def undo(self, change: str, *, user: str | int | None = None, cube: str | None = None) -> Undone:
        """Take a change back, by its id: its memories say again what they said before, as new versions."""
        return self._line.call("undo", Gives[Undone](), change=change, user=user, cube=cube)

    def forget(
        self,
        id: str | Sequence[str] | None = None,
        *,
        user: str | int | None = None,
        session: str | int | None = None,
        about: str | None = None,
        everything: bool = False,
        cube: str | None = None,
    ) -> Forgotten:
        """Erase messages or memories, by id, by session, everything that mentions some words, or all of a user's."""
        return self._line.call(
            "forget",
            Gives[Forgotten](),
            id=id,
            user=user,
            session=session,
            about=about,
            everything=everything,
            cube=cube,
        )

    def rebuild(self, *, user: str | int | None = None, cube: str | None = None, wait: bool = False) -> str | None:
        """Derive topics and memories again from the messages, and passages from the documents; return the first job."""
        return self._line.call("rebuild", Gives[str | None](), user=user, cube=cube, wait=wait)

    def reorganize(
        self,
        *,
        user: str | int | None = None,
        dry_run: bool = False,
        cube: str | None = None,
    ) -> MemoryChange | None:
        """Put memories in order: merge what says the same, close plans that are over, sum up what belongs together."""
        return self._line.call("reorganize", Gives[MemoryChange | None](), user=user, dry_run=dry_run, cube=cube)

    def search(
        self,
        query: str,
        *,
        user: str | int | None = None,
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
        return self._line.call(
            "search",
            Gives[Results](),
            query=query,
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

    def search_many(
        self,
        queries: Sequence[str],
        *,
        user: str | int | None = None,
        **options: Unpack[SearchOptions],
    ) -> Sequence[Results]:
        """Return what `search` would for each question, in less time: they are embedded together and read one
        moment.
        """
        return self._line.call("search_many", Gives[Sequence[Results]](), queries=queries, user=user, **options)

    def context(
        self,
        query: str,
        *,
        user: str | int | None = None,
        budget: int = 2_000,
        **options: Unpack[SearchOptions],
    ) -> Context:
        """Return what a prompt needs to answer a question: hits and the turns around them, in time order,
        within `budget` tokens.
        """
        return self._line.call("context", Gives[Context](), query=query, user=user, budget=budget, **options)

    def ask(self, question: str, *, user: str | int | None = None, **options: Unpack[AskOptions]) -> Answer:
        """Answer a question from memory, with citations, or say that memory does not hold the answer."""
        return self._line.call("ask", Gives[Answer](), question=question, user=user, **options)

    def ask_stream(
        self,
        question: str,
        *,
        user: str | int | None = None,
        **options: Unpack[AskOptions],
    ) -> Stream[str | Answer]:
        """Yield the text of what `ask` would answer as it is written, then the `Answer`."""
        return self._line.stream("ask_stream", Gives[str | Answer](), question=question, user=user, **options)

    def chat(self, message: Said, *, user: str | int | None = None, **options: Unpack[ChatOptions]) -> Answer:
        """Reply to a message with what was said before in mind, and keep both; see
        `mnemic.model.answer.ChatOptions`.
        """
        return self._line.call("chat", Gives[Answer](), message=message, user=user, **options)

    def chat_stream(
        self,
        message: Said,
        *,
        user: str | int | None = None,
        **options: Unpack[ChatOptions],
    ) -> Stream[str | Answer]:
        """Yield the text of what `chat` would reply as it is written, then the `Answer`; see `ask_stream`."""
        return self._line.stream("chat_stream", Gives[str | Answer](), message=message, user=user, **options)

    def profile(
        self,
        *,
        user: str | int | None = None,
        subject: str | None = None,
        as_of: datetime | str | float | None = None,
        template: str | Sequence[str] | None = None,
        cube: str | None = None,
    ) -> Profile:
        """Return what is known about a person (default: everyone in the cube), with evidence and history."""
        return self._line.call(
            "profile",
            Gives[Profile](),
            user=user,
            subject=subject,
            as_of=as_of,
            template=template,
            cube=cube,
        )

    def set_profile(
        self,
        attribute: str,
        value: str | None = None,
        *,
        user: str | int | None = None,
        subject: str | None = None,
        remove: bool = False,
        locked: bool | None = None,
        cube: str | None = None,
    ) -> Sequence[MemoryRecord]:
        """Set an attribute of a person (default: the user) by its dotted name, such as `home.place`; return
        what is known of it.
        """
        return self._line.call(
            "set_profile",
            Gives[Sequence[MemoryRecord]](),
            attribute=attribute,
            value=value,
            user=user,
            subject=subject,
            remove=remove,
            locked=locked,
            cube=cube,
        )

    def get(self, id: str, *, user: str | int | None = None, cube: str | None = None) -> Item:
        """Return a message or a memory by id, whole."""
        return self._line.call("get", Gives[Item](), id=id, user=user, cube=cube)

    def list(
        self,
        *,
        user: str | int | None = None,
        kinds: Sequence[str] | str | None = None,
        session: str | int | None = None,
        after: str | None = None,
        limit: int = 100,
        newest: bool = False,
        where: Mapping[str, Any] | None = None,
        cube: str | None = None,
    ) -> Sequence[Item]:
        """Return messages and memories, oldest or `newest` first; the last one's id as `after` gives the next page."""
        return self._line.call(
            "list",
            Gives[Sequence[Item]](),
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
        user: str | int | None = None,
        kinds: Sequence[str] | str | None = None,
        session: str | int | None = None,
        after: str | None = None,
        newest: bool = False,
        where: Mapping[str, Any] | None = None,
        cube: str | None = None,
    ) -> Iterator[Item]:
        """Yield all that `list` would give, page by page, to the end."""
        return self._line.pages(
            "list",
            Gives[Sequence[Item]](),
            user=user,
            kinds=kinds,
            session=session,
            after=after,
            newest=newest,
            where=where,
            cube=cube,
        )

    def watch(
        self,
        *,
        user: str | int | None = None,
        cube: str | None = None,
        timeout: float | None = None,
    ) -> Stream[Item]:
        """Yield messages and memories as they are stored or change, from now on, whichever process writes them."""
        return self._line.stream("watch", Gives[Item](), user=user, cube=cube, timeout=timeout)

    def history(self, id: str, *, user: str | int | None = None, cube: str | None = None) -> Sequence[Version]:
        """Return all versions of a memory, in the order in which they held."""
        return self._line.call("history", Gives[Sequence[Version]](), id=id, user=user, cube=cube)

    def explain(self, id: str, *, user: str | int | None = None, cube: str | None = None) -> Explanation:
        """Return why something is in memory: its tier, its sources, what stands on it, what it relates to."""
        return self._line.call("explain", Gives[Explanation](), id=id, user=user, cube=cube)

    def sessions(self, *, user: str | int | None = None, cube: str | None = None) -> Sequence[Session]:
        """Return the sessions of a user, oldest first."""
        return self._line.call("sessions", Gives[Sequence[Session]](), user=user, cube=cube)

    def entities(self, *, user: str | int | None = None, cube: str | None = None) -> Sequence[Entity]:
        """Return the named things that messages mention, the most mentioned first; a language model notes them."""
        return self._line.call("entities", Gives[Sequence[Entity]](), user=user, cube=cube)

    def stats(self, *, user: str | int | None = None, cube: str | None = None) -> Stats:
        """Return counts: messages, tiers with capacities, segments with heat, memories by kind, jobs, bytes on disk."""
        return self._line.call("stats", Gives[Stats](), user=user, cube=cube)

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the store over: (what, whether it is well, what was seen) for the file, the index and the embedder."""
        return self._line.call("check", Gives[Sequence[tuple[str, bool, str]]]())

    def audit(
        self,
        *,
        key: str | None = None,
        cube: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[AuditRow]:
        """Return who wrote what, and what was refused, newest first, of calls that came with a key or to a server."""
        return self._line.call("audit", Gives[Sequence[AuditRow]](), key=key, cube=cube, after=after, limit=limit)

    def export(self, *, user: str | int | None = None, cube: str | None = None) -> Stream[str]:
        """Yield a cube as JSON Lines (format `mnemic-1`): everything, so that `load` gives the same memory."""
        return self._line.stream("export", Gives[str](), user=user, cube=cube)

    def load(
        self,
        lines: Iterator[str] | Sequence[str],
        *,
        user: str | int | None = None,
        cube: str | None = None,
    ) -> Imported:
        """Read what `export` wrote into a user's cube; what is there already is skipped and counted."""
        return self._line.load("load", Gives[Imported](), lines, user=user, cube=cube)
