"""Memory, the embedded face of Mnemic: it says what each call takes and gives, and does nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from mnemic import config, wiring
from mnemic.api.attachments import Attachments
from mnemic.api.calls import watched
from mnemic.api.groups import Cubes, Jobs, LanguageModels
from mnemic.api.keys import Keys
from mnemic.api.knowledge import Knowledge
from mnemic.api.relaying import Relay
from mnemic.config import Settings
from mnemic.model.answer import Answer, AskOptions, ChatOptions
from mnemic.model.audit import AuditRow
from mnemic.model.caller import Power
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

if TYPE_CHECKING:
    from mnemic.runtime.exposing import Exposed


@watched()
class Memory:
    """A long-term memory in a folder, for any number of users. Threads may share it; processes may share the folder.

    Use it as a context manager, or call `close`. Errors are `mnemic.MnemicError` and name what to do.

        with Memory("~/my-memory") as memory:
            memory.add("I moved to Porto last week.", user="ann")
            print(memory.search("Where does Ann live?", user="ann")[0].text)
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        settings: Settings | Mapping[str, Any] | None = None,
        embedder: Embedder | None = None,
        llm: LanguageModel | None = None,
        clock: Clock | None = None,
        guarded: bool = False,
    ) -> None:
        """Open the memory in `path` (default: the user's data directory), making it when it is new.

        A `guarded` memory refuses every call for which no caller was named (`mnemic.api.acting`): servers open it so.
        Raises `InputError` for an unknown setting, `StoreVersionError` for a store that a newer Mnemic wrote, and
        `StoreModelError` for one whose vectors come from another embedder (`mnemic reindex` brings it over).
        """
        self._parts = wiring.build(
            config.load(path, settings), embedder=embedder, llm=llm, clock=clock, guarded=guarded
        )
        self._exposition = wiring.exposition_of(self._parts)
        self._readiness = wiring.readiness_of(self._parts)
        self.cubes = Cubes(self._parts)
        self.llm = LanguageModels(self._parts)
        self.jobs = Jobs(self._parts)
        self.relay = Relay(self._parts)
        self.keys = Keys(self._parts)
        self.knowledge = Knowledge(self._parts)
        self.attachments = Attachments(self._parts)
        self._parts.begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Memory {str(self.path)!r}>"

    @property
    def path(self) -> Path:
        """The folder of this memory."""
        return self._parts.settings.folder

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._parts.settings

    def close(self) -> None:
        """Stop the background work after its current step and close; what is queued goes on at the next opening."""
        self._parts.close()

    # -- writing ---------------------------------------------------------------------------------------------------

    def add(
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
        """Store messages verbatim; when it returns they are on disk and the next `search` finds them.

        A message is a string or an object with role, content (a string or parts), name (the speaker), at (when it was
        said), id (your own, unique in its session) and metadata. All are stored or none. A message that is stored
        already (same id, or same session, speaker, time and words) is skipped and named in the reply. `task` is a name
        of your own under which the background work of many calls can be looked at (`jobs.task`). What people say goes
        into the knowledge bases `learn` too, when these learn and the user is an editor of each. With `wait`, the work
        that refines it is finished first. Raises `InputError` naming the field, `ConflictError` for an id taken.
        """
        added = self._parts.remember.add(
            messages, user=user, session=session, agent=agent, cube=cube, task=task, learn=learn
        )
        self._parts.worker.wake()
        if wait and added.job is not None:
            self._parts.waiting.wait(added.cube, [added.job], user=str(user))
            added = self._parts.waiting.attachments_read(added, user=str(user))
            if self._parts.language is not None:
                added = self._parts.waiting.read_by_model(added, user=str(user))
        return added

    def extract(
        self, messages: Messages, *, user: str | int, agent: str | int | None = None, cube: str | None = None
    ) -> Extraction:
        """Return what would be remembered of messages, and what it would change, without storing anything.

        Messages are as in `add`. Rules read them, and the language model when one is configured; what it said without
        evidence is told in `unbelieved`. Its call is accounted.
        """
        return self._parts.preview.extract(messages, user=user, agent=agent, cube=cube)

    def update(
        self, id: str, text: str, *, user: str | int, cube: str | None = None, if_version: int | None = None  # noqa: A002
    ) -> MemoryRecord:  # fmt: skip
        """Correct a memory: a new version takes the place of the current one, which stays in its history.

        With `if_version`, only while the version of that number is the current one: else a `StaleError`.
        """
        updated = self._parts.curate.update(id, text, user=user, cube=cube, if_version=if_version)
        self._parts.worker.wake()
        return updated

    def lock(self, id: str, *, user: str | int, locked: bool = True, cube: str | None = None) -> MemoryRecord:  # noqa: A002
        """Keep a memory as it is, whatever is said later; `locked=False` lets it change again."""
        return self._parts.curate.lock(id, user=user, locked=locked, cube=cube)

    def restore(self, id: str, *, user: str | int, version: int | None = None, cube: str | None = None) -> MemoryRecord:  # noqa: A002
        """Make an earlier version of a memory (default: the one before the current) hold again, as a new version."""
        return self._parts.curate.restore(id, user=user, version=version, cube=cube)

    def feedback(
        self,
        text: str,
        *,
        user: str | int,
        cube: str | None = None,
        session: str | int | None = None,
        dry_run: bool = False,
        mode: str = "auto",
    ) -> Feedback:
        """Change memories as plain words ask: "forget the peanut thing", "my sister is called Noor, not Nora".

        What is meant is found, and changed as new versions, all of it or nothing; the reply shows each step, and has
        the id that `undo` takes. The words are kept as a message (session `feedback`). With `dry_run`, the plan is
        shown and nothing is written. A language model reads the words when there is one, rules (English) when not, or
        when it fails; `mode` `rules` or `model` allows only one of them. When it is not plain what is meant, nothing is
        changed, and the reply says so.
        """
        given = self._parts.feedback.give(text, user=user, cube=cube, session=session, dry_run=dry_run, mode=mode)
        self._parts.worker.wake()
        return given

    def changes(self, *, user: str | int, limit: int = 100, cube: str | None = None) -> Sequence[MemoryChange]:
        """Return the changes that were made of several memories at once, newest first."""
        return self._parts.changing.list(user=user, limit=limit, cube=cube)

    def undo(self, change: str, *, user: str | int, cube: str | None = None) -> Undone:
        """Take a change back, by its id: its memories say again what they said before, as new versions.

        A memory that has changed since, or is locked, is left as it is, and named. Raises `NotFoundError`, and
        `ConflictError` when the change was taken back already, or when nothing of it can be.
        """
        undone = self._parts.changing.undo(change, user=user, cube=cube)
        self._parts.worker.wake()
        return undone

    def forget(
        self,
        id: str | Sequence[str] | None = None,  # noqa: A002
        *,
        user: str | int,
        session: str | int | None = None,
        about: str | None = None,
        everything: bool = False,
        cube: str | None = None,
    ) -> Forgotten:
        """Erase messages or memories, by id, by session, everything that mentions some words, or all of a user's.

        What was derived from an erased message goes with it, everywhere; a memory that other messages still support
        stays. Give exactly one of the conditions. The receipt counts what was removed.
        """
        forgotten = self._parts.forget.forget(
            id, user=user, session=session, about=about, everything=everything, cube=cube
        )
        self._parts.worker.wake()
        return forgotten

    def rebuild(self, *, user: str | int, cube: str | None = None, wait: bool = False) -> str | None:
        """Derive topics and memories again from the messages, and passages from the documents; return the first job.

        What was written, restored or locked by hand stays, and what was forgotten stays forgotten. Each document gets
        a version with the same content, read by a job of its own.
        """
        job = self._parts.rebuild.run(user=user, cube=cube)
        self._parts.worker.wake()
        if wait and job is not None:
            self._parts.waiting.wait(cube, job, user=str(user), timeout=3_600)
        return job

    def reorganize(self, *, user: str | int, dry_run: bool = False, cube: str | None = None) -> MemoryChange | None:
        """Put memories in order: merge what says the same, close plans that are over, sum up what belongs together.

        One change, which `undo` takes back; None when nothing was to be done. It also runs by itself (see
        `reorganize_hours`). With `dry_run` the steps are returned and nothing is stored. Sums need a language model.
        """
        return self._parts.reorganizing.run(user=user, dry_run=dry_run, cube=cube)

    # -- reading ---------------------------------------------------------------------------------------------------

    def search(
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
        """Return the hits that answer a question best, best first, with their sources.

        `kinds` are message, segment, fact, preference, event, insight, memory for all of the latter four, or archived
        for segments that the middle tier has let go of (default: all but segments and insights). `where` filters before
        ranking (see `mnemic.core.filtering`). `as_of` answers from the past; "last week" in the question counts from
        `reference_time`. Hits scored below `threshold` (0 to 1) are counted in `cut`. `explain` adds each channel's
        rank and part of the score.
        """
        return self._parts.recall.search(
            query, user=user, cubes=cubes, limit=limit, kinds=kinds, where=where, as_of=as_of,
            reference_time=reference_time, threshold=threshold, explain=explain,
        )  # fmt: skip

    def search_many(
        self, queries: Sequence[str], *, user: str | int, **options: Unpack[SearchOptions]
    ) -> Sequence[Results]:
        """Return what `search` would for each question, in less time: they are embedded together and read one moment.

        `options` are those of `search`, the same for all questions.
        """
        return self._parts.recall.search_many(queries, user=user, **options)

    def context(self, query: str, *, user: str | int, budget: int = 2_000, **options: Unpack[SearchOptions]) -> Context:
        """Return what a prompt needs to answer a question: hits and the turns around them, in time order, within
        `budget` tokens. `options` are those of `search`.
        """
        return self._parts.contexts.context(query, user=user, budget=budget, **options)

    def ask(self, question: str, *, user: str | int, **options: Unpack[AskOptions]) -> Answer:
        """Answer a question from memory, with citations, or say that memory does not hold the answer.

        `mode` `auto` asks the language model when there is one; when it fails, or names nothing that its answer
        stands on, the answer is extractive and a note says why. `extractive` asks none; `model` raises instead
        (`InputError` without a model, `LanguageError`, `BudgetError`). `as_of`, `reference_time` and `cubes` are those
        of `search`; the other options are told in `mnemic.model.answer.AskOptions`. A model answers in the question's
        language and names memories by number (`Answer.numbers`). A question that is too long for it is an `InputError`.
        """
        return self._parts.generate.ask(question, user=user, **options)

    def ask_stream(self, question: str, *, user: str | int, **options: Unpack[AskOptions]) -> Iterator[str | Answer]:
        """Yield the text of what `ask` would answer as it is written, then the `Answer`.

        References stand as the model wrote them; those that name no memory are missing only in the answer's text. When
        the model fails before the first piece, the extractive answer comes in one; after it, `LanguageError` is raised
        and no answer comes. While the model may still search (`depth`), nothing is shown.
        """
        return self._parts.generate.ask_stream(question, user=user, **options)

    def chat(self, message: Said, *, user: str | int, **options: Unpack[ChatOptions]) -> Answer:
        """Reply to a message with what was said before in mind, and keep both; see `mnemic.model.answer.ChatOptions`.

        The model gets the end of the session, the user's profile and what memory holds on the message. The message is
        stored before the model is asked, the reply after it, and only when a model wrote it whole; `Answer.stored` has
        the receipts. Without a model, questions get the extractive answer and statements a plain acknowledgement.
        `found` tells whether the reply names memories.
        """
        try:
            return self._parts.chat.chat(message, user=user, **options)
        finally:
            self._parts.worker.wake()

    def chat_stream(self, message: Said, *, user: str | int, **options: Unpack[ChatOptions]) -> Iterator[str | Answer]:
        """Yield the text of what `chat` would reply as it is written, then the `Answer`; see `ask_stream`.

        The message is stored when this returns, the reply before the `Answer` comes: not when the model breaks off, or
        when the caller stops listening.
        """
        pieces = self._parts.chat.chat_stream(message, user=user, **options)
        self._parts.worker.wake()
        return self._waking(pieces)

    def _waking(self, pieces: Iterator[str | Answer]) -> Iterator[str | Answer]:
        try:
            yield from pieces
        finally:
            self._parts.worker.wake()

    def profile(
        self, *, user: str | int, subject: str | None = None, as_of: datetime | str | float | None = None,
        template: str | Sequence[str] | None = None, cube: str | None = None,
    ) -> Profile:  # fmt: skip
        """Return what is known about a person (default: everyone in the cube), with evidence and history.

        A template (`person`, `assistant`, `customer`, one of the file that the setting `profile_templates` names, or a
        list of attributes) says what is shown, and in which order, of one person (default: the user); `missing` names
        those of its attributes of which nothing is known.
        """
        return self._parts.profiles.profile(user=user, subject=subject, as_of=as_of, template=template, cube=cube)

    def set_profile(
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
        """Set an attribute of a person (default: the user) by its dotted name, such as `home.place`; return what is
        known of it.

        Of an attribute that holds many values, one is added. `remove` takes back all that is known of it. With
        `locked`, the attribute stays as it is whatever is said later, also when nothing is known of it yet and it holds
        one value at a time; False lets it change again. `undo` takes an edit back (see `changes`). Raises `InputError`
        naming the nearest attributes for one that there is not.
        """
        edited = self._parts.profile_editing.set(
            attribute, value, user=user, subject=subject, remove=remove, locked=locked, cube=cube
        )
        self._parts.worker.wake()
        return edited

    def get(self, id: str, *, user: str | int, cube: str | None = None) -> Item:  # noqa: A002
        """Return a message or a memory by id, whole. Raises `NotFoundError`."""
        return self._parts.curate.get(id, user=user, cube=cube)

    def list(
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
        """Return messages and memories, oldest or `newest` first; the last one's id as `after` gives the next page.

        `where` is a filter as in `search`: what it lets through is listed.
        """
        return self._parts.listing.list(
            user=user, kinds=kinds, session=session, after=after, limit=limit, newest=newest, where=where, cube=cube
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
    ) -> Iterator[Item]:
        """Yield all that `list` would give, page by page, to the end."""
        return self._parts.listing.iterate(
            user=user, kinds=kinds, session=session, after=after, newest=newest, where=where, cube=cube
        )

    def watch(self, *, user: str | int, cube: str | None = None, timeout: float | None = None) -> Iterator[Item]:
        """Yield messages and memories as they are stored or change, from now on, whichever process writes them.

        It ends when nothing has changed for `timeout` seconds; without, never. What is erased is not told.
        """
        return self._parts.following.watch(user=user, cube=cube, timeout=timeout)

    def history(self, id: str, *, user: str | int, cube: str | None = None) -> Sequence[Version]:  # noqa: A002
        """Return all versions of a memory, in the order in which they held."""
        return self._parts.curate.history(id, user=user, cube=cube)

    def explain(self, id: str, *, user: str | int, cube: str | None = None) -> Explanation:  # noqa: A002
        """Return why something is in memory: its tier, its sources, what stands on it, what it relates to."""
        return self._parts.explain.explain(id, user=user, cube=cube)

    def sessions(self, *, user: str | int, cube: str | None = None) -> Sequence[Session]:
        """Return the sessions of a user, oldest first."""
        return self._parts.explain.sessions(user=user, cube=cube)

    def entities(self, *, user: str | int, cube: str | None = None) -> Sequence[Entity]:
        """Return the named things that messages mention, the most mentioned first; a language model notes them."""
        return self._parts.explain.entities(user=user, cube=cube)

    def stats(self, *, user: str | int, cube: str | None = None) -> Stats:
        """Return counts: messages, tiers with capacities, segments with heat, memories by kind, jobs, bytes on disk."""
        return self._parts.explain.stats(user=user, cube=cube)

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the store over: (what, whether it is well, what was seen) for the file, the index and the embedder.

        A key needs the power `admin` for it, over the whole store.
        """
        self._parts.scoping.need(Power.ADMIN, whole=True)
        return self._parts.checkup()

    def metrics(self) -> str:
        """Return what this memory has counted since it was opened, and how much its store holds, for Prometheus.

        Text exposition format; `docs/operating.md` tells what each figure means. A key needs the power `admin` for it,
        over the whole store. Raises `InputError` when the package prometheus-client (extra `[metrics]`) is missing.
        """
        self._parts.scoping.need(Power.ADMIN, whole=True)
        return self._exposition.text()

    def ready(self) -> Mapping[str, str]:
        """Return what is wrong with each part that this memory stands on, "" for those that answer as they should."""
        return self._readiness.look()

    def expose(
        self, port: int | None = None, *, host: str | None = None, draining: Callable[[], bool] | None = None
    ) -> Exposed:
        """Show this memory over HTTP to who watches it: `/metrics`, `/health`, `/ready`; `close` what is returned.

        Address and port are those of the settings (`metrics_host`, `metrics_port`) unless given; 0 is any free one.
        While `draining` says so, it is not ready. It may be closed after the memory. Raises `InputError` when the
        address cannot be had, or the package prometheus-client is missing.
        """
        settings = self.settings
        place = settings.metrics_host if host is None else host
        further = None if draining is None else {"process": lambda: "it is being drained" if draining() else ""}
        return wiring.expose(self._parts, place, settings.metrics_port if port is None else port, further=further)

    def audit(
        self, *, key: str | None = None, cube: str | None = None, after: str | None = None, limit: int = 100
    ) -> Sequence[AuditRow]:
        """Return who wrote what, and what was refused, newest first, of calls that came with a key or to a server.

        Rows hold ids and times only, and stay for the days that the setting `audit_days` says, also when their cube is
        erased. The last one's id as `after` gives the next page. It needs the power `admin`; a key of a project sees
        its project's.
        """
        return self._parts.access.audit.list(key=key, cube=cube, after=after, limit=limit)

    # -- moving ----------------------------------------------------------------------------------------------------

    def export(self, *, user: str | int, cube: str | None = None) -> Iterator[str]:
        """Yield a cube as JSON Lines (format `mnemic-1`): everything, so that `load` gives the same memory."""
        return self._parts.portability.export(user=user, cube=cube)

    def load(self, lines: Iterator[str] | Sequence[str], *, user: str | int, cube: str | None = None) -> Imported:
        """Read what `export` wrote into a user's cube; what is there already is skipped and counted."""
        imported = self._parts.portability.load(lines, user=user, cube=cube)
        self._parts.worker.wake()
        return imported
