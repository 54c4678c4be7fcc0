"""The commands `mnemic kb` about documents: add, sync, docs, show, chunks, remove, refresh.

A command is a short process, so what it adds is read before it ends, unless it is told not to wait. It ends with 6 when
a document could not be read.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mnemic.errors import InputError, NotFoundError
from mnemic.model.document import Document, DocumentState, Synced
from mnemic.shells.cli import showing, showing_kb
from mnemic.shells.cli.exits import UNFINISHED, exit_code
from mnemic.shells.cli.face import Face, face_of, leave_when_nothing
from mnemic.shells.cli.kb_bases import KB, Chosen, chosen
from mnemic.shells.cli.kb_waiting import ENDED, until_read
from mnemic.shells.cli.wording import one_line
from mnemic.wire.problems import plain_error
from mnemic.wire.sources import address_in

if TYPE_CHECKING:
    from mnemic.api import Memory

__all__ = ["KB"]

_PAGE: Final = 1_000

DocumentName = Annotated[str, typer.Argument(metavar="DOCUMENT", help="The document, by name or id.")]
Timeout = Annotated[float, typer.Option(help="Seconds to wait at most.")]
Wait = Annotated[bool, typer.Option(help="Read what was added before ending.")]


@dataclass
class _Given:
    """What came of the sources of one command."""

    documents: list[Document] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, InputError]] = field(default_factory=list)
    same: int = 0

    def put(self, document: Document) -> None:
        """Count a document; one without a job is as it was."""
        if document.job is None:
            self.same += 1
        else:
            self.documents.append(document)


@KB.command("add")
def add_documents(
    context: typer.Context,
    sources: Annotated[
        list[str], typer.Argument(metavar="PATH…", help="Files, folders, addresses; - reads a text from stdin.")
    ],
    *,
    kb: Chosen = None,
    name: Annotated[
        str | None, typer.Option(help="What one source is called (default: by its file or address).")
    ] = None,
    media: Annotated[str | None, typer.Option(help="What it is, such as text/csv; the bytes decide.")] = None,
    ask_password: Annotated[bool, typer.Option("--ask-password", help="Ask for the password of the files.")] = False,
    meta: Annotated[list[str] | None, typer.Option(help="KEY=VALUE to keep with it; may be repeated.")] = None,
    refresh_hours: Annotated[float | None, typer.Option(help="Fetch addresses again after so many hours.")] = None,
    wait: Wait = True,
    timeout: Timeout = 3_600,
) -> None:
    """Add files, folders, addresses or a text.

    PDF, Word, PowerPoint, Excel, web pages and EPUB need mnemic[documents], pictures and scanned pages
    mnemic[vision]; Markdown, text, CSV, JSON and mail need neither. The same content again is left alone, other
    content is a new version. A folder is added with those in it; nothing is removed (`mnemic kb sync` does that).

    Ends with 6 when a document could not be read (it says why), with 2 when a source is not there.
    """
    face = face_of(context)
    if name is not None and len(sources) > 1:
        raise InputError("name", f"is one, but there are {len(sources)} sources")
    password = typer.prompt("Password", hide_input=True, err=True) if ask_password else None
    options = {"name": name, "media": media, "password": password, "metadata": _metadata(meta or [])}
    given = _Given()
    with face.memory() as memory:
        cube = chosen(face, memory, kb).cube.id
        for source in sources:
            try:
                _add(face, memory, source, cube, given, {**options, "refresh_hours": refresh_hours})
            except InputError as error:  # the other sources are no worse for it
                given.refused.append((source, error))
        if wait:
            given.documents = list(until_read(face, memory, given.documents, cube=cube, timeout=timeout))
    _tell_added(face, given)


def _add(face: Face, memory: Memory, source: str, cube: str, given: _Given, options: dict[str, Any]) -> None:
    """Add one source, whatever it is."""
    is_address = address_in(source) is not None
    if not is_address:
        options = {**options, "refresh_hours": None}
    if source == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
        if options["name"] is None:
            raise InputError("name", "is needed for a text from stdin: --name")
        given.put(memory.knowledge.add(text=text, cube=cube, user=face.user, **options))
    elif not is_address and Path(source).expanduser().is_dir():
        if options["name"] is not None:
            raise InputError("name", "is for one document; those of a folder are named by their paths in it")
        synced = memory.knowledge.sync(source, cube=cube, user=face.user, remove=False)
        given.documents += [*synced.added, *synced.changed]
        given.skipped += synced.skipped
        given.same += synced.same
    else:
        given.put(memory.knowledge.add(source, cube=cube, user=face.user, **options))


def _metadata(given: Sequence[str]) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for pair in given:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            raise InputError("meta", f"{pair!r} is not KEY=VALUE")
        found[key.strip()] = value
    return found or None


def _tell_added(face: Face, given: _Given) -> None:
    """Show what came of it, and end with the exit code of what failed."""
    for source, error in given.refused:
        face.err.print(f"error: {one_line(source, 120)}: {one_line(str(error), 500)}", style="red", soft_wrap=True)
    told = {
        "documents": given.documents,
        "same": given.same,
        "skipped": given.skipped,
        "refused": [{"source": source, "error": plain_error(error)} for source, error in given.refused],
    }
    face.confirm(told, lambda: _added(given))
    for line in showing_kb.left_out(given.skipped):
        face.note(line)
    if given.refused:
        raise typer.Exit(exit_code(given.refused[0][1]))
    _leave_when_failed(given.documents)


def _added(given: _Given) -> Any:
    if given.documents or given.refused or not given.same:
        return showing_kb.documents(given.documents)
    return f"nothing new: {given.same:,} there already"


def _leave_when_failed(found: Sequence[Document]) -> None:
    if any(document.state is DocumentState.FAILED for document in found):
        raise typer.Exit(UNFINISHED)


@KB.command("sync")
def sync_folder(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="The folder.")],
    *,
    kb: Chosen = None,
    watch: Annotated[bool, typer.Option("--watch", help="Go on whenever something changes, until stopped.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep documents whose file is gone.")] = False,
    wait: Wait = True,
    timeout: Timeout = 3_600,
) -> None:
    """Keep in step with a folder.

    What is new or changed is added, what is gone is removed. A folder that has no files at all any more is refused:
    its disk may not be mounted.
    """
    face = face_of(context)
    with face.memory() as memory:
        cube = chosen(face, memory, kb).cube.id
        if not watch:
            synced = memory.knowledge.sync(folder, cube=cube, user=face.user, remove=not keep)
            _leave_when_failed(_tell_synced(face, memory, synced, cube, timeout if wait else None))
            return
        try:
            for synced in memory.knowledge.watch_folder(folder, cube=cube, user=face.user, remove=not keep):
                _tell_synced(face, memory, synced, cube, timeout if wait else None)
        except KeyboardInterrupt:  # how a person ends it
            face.note("no longer watching")


def _tell_synced(face: Face, memory: Memory, synced: Synced, cube: str, timeout: float | None) -> Sequence[Document]:
    """Wait until what is new is read; show what became of the folder's files."""
    put = [*synced.added, *synced.changed]
    read = put if timeout is None else until_read(face, memory, put, cube=cube, timeout=timeout)
    new = {document.id for document in synced.added}
    failed = [document for document in read if document.state is DocumentState.FAILED]
    counts = {
        "added": len(synced.added),
        "changed": len(synced.changed),
        "the same": synced.same,
        "removed": len(synced.removed),
        "left out": len(synced.skipped),
        "failed": len(failed),
    }
    told = {
        "added": [document for document in read if document.id in new],
        "changed": [document for document in read if document.id not in new],
        "same": synced.same,
        "removed": synced.removed,
        "skipped": synced.skipped,
    }
    face.confirm(told, lambda: showing_kb.tally(counts))
    for line in showing_kb.left_out(synced.skipped):
        face.note(line)
    for document in failed:
        face.err.print(showing_kb.failure(document), style="red", soft_wrap=True)
    return read


@KB.command("docs")
def list_documents(
    context: typer.Context,
    *,
    kb: Chosen = None,
    state: Annotated[
        str | None, typer.Option(help="Only those: queued, reading, chunking, embedding, ready, failed.")
    ] = None,
    after: Annotated[str | None, typer.Option(help="Only those behind this one: the next page.")] = None,
    limit: Annotated[int, typer.Option(help="How many.")] = 100,
) -> None:
    """List documents, in the order they came."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        cube = chosen(face, memory, kb).cube.id
        behind = None if after is None else _found(face, memory, after, cube).id
        found = memory.knowledge.documents(cube, user=face.user, state=state, after=behind, limit=limit)
    face.show(found, lambda: showing_kb.documents(found))


@KB.command("show")
def show_document(context: typer.Context, document: DocumentName, *, kb: Chosen = None) -> None:
    """Show a document with its versions.

    How far it is, how long each step took, what it says about itself.
    """
    face = face_of(context)
    with face.memory(worker=False) as memory:
        cube = chosen(face, memory, kb).cube.id
        found = _found(face, memory, document, cube)
        versions = memory.knowledge.versions(found.id, cube=cube, user=face.user)
    face.show({"document": found, "versions": versions}, lambda: showing_kb.document(found, versions))


@KB.command("chunks")
def list_chunks(
    context: typer.Context,
    document: DocumentName,
    *,
    kb: Chosen = None,
    version: Annotated[
        int | None, typer.Option(help="Of the version of this number (default: what is searched).")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="passage, table, code, section, document; may be repeated.")
    ] = None,
    after: Annotated[int | None, typer.Option(help="Only those behind this position: the next page.")] = None,
    limit: Annotated[int, typer.Option(help="How many.")] = 100,
) -> None:
    """Show what a document was cut into.

    Passages in reading order, each with its place, and summaries.
    """
    face = face_of(context)
    with face.memory(worker=False) as memory:
        cube = chosen(face, memory, kb).cube.id
        found = memory.knowledge.chunks(
            _found(face, memory, document, cube).id, cube=cube, user=face.user, version=version, kinds=kind or None,
            after=after, limit=limit,
        )  # fmt: skip
    face.show(found, lambda: showing_kb.chunks(found))
    leave_when_nothing(found)


@KB.command("remove")
def remove_documents(
    context: typer.Context,
    documents: Annotated[list[str], typer.Argument(metavar="DOCUMENT…", help="Documents, by name or id.")],
    *,
    kb: Chosen = None,
) -> None:
    """Erase documents with all their versions."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        cube = chosen(face, memory, kb).cube.id
        found = [_found(face, memory, each, cube).id for each in documents]
        receipt = memory.knowledge.remove(found, cube=cube, user=face.user)
    face.confirm(receipt, lambda: showing.forgotten(receipt))


@KB.command("refresh")
def refresh_documents(
    context: typer.Context,
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="DOCUMENT…", help="Documents, by name or id (default: all that have failed)."),
    ] = None,
    *,
    kb: Chosen = None,
    wait: Wait = True,
    timeout: Timeout = 3_600,
) -> None:
    """Fetch again, or retry what has failed."""
    face = face_of(context)
    with face.memory() as memory:
        cube = chosen(face, memory, kb).cube.id
        named = [_found(face, memory, each, cube) for each in documents or []]
        found = named or memory.knowledge.documents(cube, user=face.user, state="failed", limit=_PAGE)
        asked = [memory.knowledge.refresh(each.id, cube=cube, user=face.user) for each in found]
        if wait:
            jobs = [each.job for each in asked if each.job is not None and each.state in ENDED]
            if jobs:
                memory.jobs.wait(jobs, user=face.user, cube=cube, timeout=timeout)
            asked = list(until_read(face, memory, asked, cube=cube, timeout=timeout))
    face.confirm(asked, lambda: showing_kb.refreshed(asked))
    leave_when_nothing(asked)
    _leave_when_failed(asked)


def _found(face: Face, memory: Memory, named: str, cube: str) -> Document:
    """Return the document of a name or an id. Raises `NotFoundError`."""
    try:
        return memory.knowledge.get(named, cube=cube, user=face.user)
    except NotFoundError:
        after = None
        while page := memory.knowledge.documents(cube, user=face.user, after=after, limit=_PAGE):
            for document in page:
                if named in (document.name, document.address):
                    return document
            after = page[-1].id
        raise NotFoundError(
            f"there is no document {named!r} in this knowledge base; `mnemic kb docs` lists those that there are"
        ) from None
