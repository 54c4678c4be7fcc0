"""The job that makes a document findable: fetched, read, cut, embedded, published, each step in the row's state.

Every step is done again at most once by who takes a job over, and leaves nothing twice: what was read is stored as
chunks in one transaction, entries are added where there are none, and one transaction publishes all. What is wrong with
a file is told on its version and ends the job; what may pass is raised, so that the job is tried again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from mnemic.core.chunking import Cut, Passage, Section, cut, sections
from mnemic.errors import FetchError, InputError, MnemicError, NotFoundError, ReadError
from mnemic.ids import new_id
from mnemic.model.document import Document, DocumentState, DocumentVersion, Refresh
from mnemic.model.job import Job
from mnemic.model.reading import Reading
from mnemic.ports.clock import Clock
from mnemic.ports.fetch import Fetched
from mnemic.ports.reader import Reader
from mnemic.ports.store import Store, Transaction
from mnemic.services.abstracting import Abstracting
from mnemic.services.dispatching import tries_of
from mnemic.services.library import Files
from mnemic.services.publishing import Publishing
from mnemic.services.refreshing import in_vain
from mnemic.services.versions import ENDED, LOCKED, drop_version, due_after

_log = logging.getLogger(__name__)

timer: Callable[[], float] = time.perf_counter
"""What steps are timed by, in seconds."""

Tick = Callable[[int], None]
"""Told how much was done since the last call; raises when the work is to stop."""

_TOLD: Final = 1.0  # seconds between two writes of how many pages are read


class _Gone(Exception):  # noqa: N818 - a signal, not a fault
    """The document was removed, or its version given up: there is nothing to do any more."""


@dataclass(slots=True)
class _Task:
    """A version that is worked on, as it was stored last, and the seconds that its steps took."""

    job: Job
    document: Document
    version: DocumentVersion
    tick: Tick
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begun = timer()
        try:
            yield
        finally:
            took = self.seconds.get(name, self.version.seconds.get(name, 0.0)) + timer() - begun
            self.seconds[name] = round(took, 3)


@dataclass(frozen=True, slots=True)
class Cutting:
    """How documents are cut: word pieces of a passage at most, and sentences that the next one repeats."""

    limit: int
    overlap: int


class Ingesting:
    """Does the jobs of documents."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        files: Files,
        reader: Reader,
        cutting: Cutting,
        abstracting: Abstracting,
        publishing: Publishing,
    ) -> None:
        self._store = store
        self._clock = clock
        self._files = files
        self._reader = reader
        self._cutting = cutting
        self._abstracting = abstracting
        self._publishing = publishing

    def work(self, job: Job, tick: Tick) -> None:
        """Do a job: bring a version to its end, or look whether an address has changed."""
        task = self._task(job, tick)
        if task is None:
            return
        try:
            self._run(task)
        except _Gone:
            _log.info("ingest_of_nothing", extra={"document": task.document.id})
        except MnemicError as error:
            is_final = job.attempts >= tries_of(job.kind)
            if isinstance(error, FetchError) and task.version.state in ENDED:
                self._look_failed(task, error)  # what was fetched before is there, and is looked at again later
                return
            if not _is_about_the_file(error):
                if is_final:
                    self._fail(task, error)
                raise
            self._fail(task, error)

    def _task(self, job: Job, tick: Tick) -> _Task | None:
        """Return what a job is about; None when it is done already, or nothing is there any more."""
        named, version_id = str(job.payload.get("document", "")), str(job.payload.get("version", ""))
        with self._store.read() as tx:
            tx.enter(job.cube_key)
            document = tx.documents.get(job.cube_key, [named]).get(named)
        if document is None:
            return None
        if version_id and (document.latest.id != version_id or document.state in ENDED):
            return None
        return _Task(job, document, document.latest, tick)

    def _run(self, task: _Task) -> None:
        if task.version.state in ENDED and not self._look(task):
            return
        if task.version.state is not DocumentState.EMBEDDING:
            self._read(task)
        with task.step("embedding"):
            for done in self._publishing.embed(task.document, task.version):
                with self._changing(task) as (tx, version):
                    self._publishing.add(tx, task.document, done)
                    embedded = version.embedded + len(done)
                    self._put(tx, task, replace(version, embedded=embedded))
                task.tick(len(done))
        with self._changing(task) as (tx, version):
            with task.step("publishing"):
                ready = self._publishing.publish(tx, task.document, version, self._clock.now())
            self._put(tx, task, ready)
        task.tick(1)

    def _look(self, task: _Task) -> bool:
        """Look at an address; tell whether another version is to be read."""
        refresh = task.document.refresh
        with (
            task.step("fetching"),
            self._files.fetcher.fetch(task.document.address, etag=refresh.etag, modified=refresh.modified) as fetched,
        ):
            return self._take(task, fetched)

    def _read(self, task: _Task) -> None:
        """Fetch a version where that is needed, read it, cut it, and store its chunks."""
        if not task.version.digest:
            self._enter(task, DocumentState.READING)
            with task.step("fetching"), self._files.fetcher.fetch(task.document.address) as fetched:
                self._take(task, fetched)
        if task.version.state is DocumentState.QUEUED:
            waited = (self._clock.now() - task.version.stored_at).total_seconds()
            task.seconds["queued"] = round(max(0.0, waited), 3)
        self._enter(task, DocumentState.READING)
        with task.step("reading"):
            reading = self._reading(task)
        pages = {"pages": reading.pages, "done_pages": reading.pages}
        self._enter(task, DocumentState.CHUNKING, **pages)
        self._cut(task, reading)

    def _take(self, task: _Task, fetched: Fetched) -> bool:
        """Store what was fetched, when it is something else than before; tell whether it is."""
        document, version, now = task.document, task.version, self._clock.now()
        is_first = not version.digest
        blob = None
        if fetched.path is not None:
            with fetched.path.open("rb") as opened:
                blob = self._files.blobs.put(document.cube, opened, most=self._files.megabytes * 1_000_000)
            if not blob.size:
                raise ReadError("the address gave nothing")
        changed = blob is not None and (is_first or blob.digest != version.digest)
        with self._store.write() as tx:
            document = self._alive(tx, task)
            if document.latest.id != version.id:
                raise _Gone
            tx.documents.put(replace(document, refresh=_looked(document, fetched, now, changed=changed)))
            if blob is not None and changed:
                cube = tx.cubes.of_key(task.job.cube_key)
                if cube is None:
                    raise _Gone
                self._files.keeper.note(tx, cube, [blob])
                if not is_first:
                    version = DocumentVersion(
                        new_id(), document.id, version.number + 1, DocumentState.READING, now, media=fetched.media
                    )
                named = {"file": fetched.name} if fetched.name else {}
                media = fetched.media or version.media
                task.version = replace(
                    version, digest=blob.digest, size=blob.size, media=media, valid_from=now, metadata=named
                )
                tx.documents.put_version(task.job.cube_key, task.version)
        return changed

    def _reading(self, task: _Task) -> Reading:
        version, last = task.version, [timer()]
        with self._store.read() as tx:
            tx.enter(task.job.cube_key)
            password = tx.documents.password(task.job.cube_key, version.id)

        def told(done: int, pages: int) -> None:
            task.tick(0)
            if timer() - last[0] >= _TOLD:
                last[0] = timer()
                self._enter(task, DocumentState.READING, done_pages=done, pages=pages)

        with self._files.blobs.local(task.document.cube, version.digest) as path:
            name = version.metadata.get("file") or task.document.name
            found = self._reader.read(path, name=name, media=version.media, password=password, told=told)
        return replace(found, metadata={**found.metadata, LOCKED: "yes"}) if password else found

    def _cut(self, task: _Task, reading: Reading) -> None:
        with task.step("chunking"):
            passages = cut(reading, limit=self._cutting.limit, overlap=self._cutting.overlap)
            found = sections(passages)
        notes = list(reading.notes)
        if not passages:
            notes.append("there is no text in it that could be read")
        title = reading.title or ""
        known = self._known_summaries(task, passages, found)
        with task.step("summing"):
            abstract, more = self._abstracting.run(task.job.cube_key, title, passages, found, known)
        with self._changing(task) as (tx, version):
            read = replace(
                version, state=DocumentState.EMBEDDING, title=title, media=reading.media or version.media,
                metadata={**version.metadata, **reading.metadata}, notes=(*notes, *more), summary=abstract.document,
            )  # fmt: skip
            made = self._publishing.store(tx, task.document, read, Cut(title, passages, found, abstract))
            self._put(tx, task, made)
        task.tick(0)

    def _known_summaries(self, task: _Task, passages: list[Passage], found: list[Section]) -> dict[int, str]:
        """Return what the version before says of sections that are the same there: no model is asked again."""
        current = task.document.current
        if current is None or not self._abstracting.asks:
            return {}
        with self._store.read() as tx:
            tx.enter(task.job.cube_key)
            told = self._publishing.summaries(tx, task.job.cube_key, current.id)
        keys = [tuple(each.hash for each in passages[one.first : one.last + 1]) for one in found]
        return {number: told[key] for number, key in enumerate(keys) if key in told}

    def _enter(self, task: _Task, state: DocumentState, **pages: int) -> None:
        """Store how far a version is."""
        with self._changing(task) as (tx, version):
            self._put(tx, task, replace(version, state=state, **pages))  # type: ignore[arg-type]  # numbers all

    def _fail(self, task: _Task, error: MnemicError) -> None:
        """Tell on the version what ended it; of a look at an address, on the document: its current version stays."""
        _log.info("document_failed", extra={"document": task.document.id, "code": error.code})
        try:
            with self._store.write() as tx:
                document = self._alive(tx, task)
                refresh = replace(document.refresh, due=due_after(document, self._clock.now()))
                if document.address:
                    refresh = replace(refresh, checked_at=self._clock.now(), found=str(error))
                    tx.documents.put(replace(document, refresh=refresh))
                if document.state not in ENDED:
                    page = error.page if isinstance(error, ReadError) else None
                    failed = replace(document.latest, seconds={**document.latest.seconds, **task.seconds})
                    drop_version(tx, task.job.cube_key, failed, str(error), page)
        except _Gone:
            return

    def _look_failed(self, task: _Task, error: FetchError) -> None:
        """Tell on the document that a look at its address came to nothing."""
        try:
            with self._store.write() as tx:
                document = self._alive(tx, task)
                tx.documents.put(replace(document, refresh=in_vain(document, error, self._clock.now())))
        except _Gone:
            return

    @contextmanager
    def _changing(self, task: _Task) -> Iterator[tuple[Transaction, DocumentVersion]]:
        """Give a transaction and the version as it is stored. Raises `_Gone` when it is not worked on any more."""
        with self._store.write() as tx:
            document = self._alive(tx, task)
            if document.latest.id != task.version.id or document.state in ENDED:
                raise _Gone
            task.document = document
            yield tx, document.latest

    def _alive(self, tx: Transaction, task: _Task) -> Document:
        """Lock the cube and return the document as it is stored."""
        tx.enter(task.job.cube_key)
        try:
            tx.cubes.touch(task.job.cube_key)
        except NotFoundError as error:
            raise _Gone from error
        found = tx.documents.get(task.job.cube_key, [task.document.id]).get(task.document.id)
        if found is None:
            raise _Gone
        return found

    def _put(self, tx: Transaction, task: _Task, version: DocumentVersion) -> None:
        task.version = replace(version, seconds={**version.seconds, **task.seconds})
        tx.documents.put_version(task.job.cube_key, task.version)


def _looked(document: Document, fetched: Fetched, now: datetime, *, changed: bool) -> Refresh:
    """Return what is known of an address after a look at it."""
    refresh = document.refresh
    return replace(
        refresh,
        due=due_after(document, now),
        checked_at=now,
        found="fetched" if changed else "unchanged",
        etag=fetched.etag or refresh.etag,
        modified=fetched.modified or refresh.modified,
    )


def _is_about_the_file(error: MnemicError) -> bool:
    """Tell whether trying again would come to the same."""
    if isinstance(error, FetchError):
        return not error.passing
    return isinstance(error, ReadError | InputError)
