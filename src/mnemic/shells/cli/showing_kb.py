"""How knowledge bases, documents and passages look to a person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from mnemic.model.document import Chunk, Document, DocumentState, DocumentVersion, KnowledgeBase, Origin
from mnemic.shells.cli.showing import columns, facts, inset
from mnemic.shells.cli.wording import clock, one_line, shown, size, took

_COLOURS: Final = {DocumentState.READY: "green", DocumentState.FAILED: "red"}
_LEFT_OUT: Final = 20
"""What was left out of a folder that is named; the rest is counted."""


def bases(found: Sequence[KnowledgeBase]) -> RenderableType:
    """Return knowledge bases, one a row."""
    if not found:
        return Text("no knowledge bases yet; `mnemic kb create NAME` makes one", "dim")
    table = columns("id", "name", "role", "documents", "chunks", "size", "state")
    for base in found:
        table.add_row(
            base.cube.id, Text(one_line(base.cube.name, 40)), base.role.value, f"{base.documents:,}",
            f"{base.chunks:,}", size(base.size), _states(base),
        )  # fmt: skip
    return table


def _states(base: KnowledgeBase) -> Text:
    told = [f"{count:,} {state.value}" for state, count in base.states.items() if state is not DocumentState.READY]
    if not base.bound:
        told.append("not bound")
    if base.learns:
        told.append("learns")
    return Text(", ".join(told), "red" if base.states.get(DocumentState.FAILED) else "dim")


def documents(found: Sequence[Document]) -> RenderableType:
    """Return documents, one a row, and below why some of them failed."""
    if not found:
        return Text("no documents", "dim")
    table = columns("document", "state", "pages", "chunks", "size", "added")
    for document in found:
        latest = document.latest
        chunks = f"{latest.chunks:,}" + (f" ({latest.reused:,} kept)" if latest.reused else "")
        table.add_row(
            Text(one_line(document.name, 60)), _state(document), _pages(latest), chunks,
            size(latest.size), clock(latest.stored_at),
        )  # fmt: skip
    return Group(table, *failures(found), *_unread(found))


def failures(found: Sequence[Document]) -> list[RenderableType]:
    """Return a line for each document that failed: which, on which page, why; and how to go on without an extra."""
    failed = [document for document in found if document.state is DocumentState.FAILED]
    told: list[RenderableType] = [Text(failure(document), "red") for document in failed]
    if any("pip install" in document.latest.error for document in failed):
        told.append(Text("when that is installed, `mnemic kb refresh` reads what has failed", "dim"))
    return told


def _unread(found: Sequence[Document]) -> list[RenderableType]:
    """Return a line for each document that is ready, but holds nothing that could be found, with why."""
    return [
        Text(f"{one_line(document.name, 120)}: {one_line('; '.join(document.latest.notes), 300)}", "dim")
        for document in found
        if document.state is DocumentState.READY and not document.latest.chunks and document.latest.notes
    ]


def failure(document: Document) -> str:
    """Return why a document failed, on one line."""
    page = f", page {document.latest.error_page}" if document.latest.error_page is not None else ""
    why = document.latest.error.removeprefix(f"{document.name} ")  # most errors begin with it
    return f"{one_line(document.name, 120)}{page}: {one_line(why, 500)}"


def _state(document: Document) -> Text:
    state = document.state
    told = state.value if document.latest.number == 1 else f"{state.value} v{document.latest.number}"
    return Text(told, _COLOURS.get(state, "yellow"))


def _pages(version: DocumentVersion) -> str:
    if not version.pages:
        return ""
    return f"{version.pages}" if version.done_pages >= version.pages else f"{version.done_pages}/{version.pages}"


def document(found: Document, versions: Sequence[DocumentVersion]) -> RenderableType:
    """Return one document whole, with its versions."""
    latest, refresh = found.latest, found.refresh
    seconds = ", ".join(f"{name} {took(value)}" for name, value in latest.seconds.items())
    told = facts(
        ("id", found.id),
        ("name", found.name),
        ("title", latest.title),
        ("from", found.address or ("handed over" if found.origin is Origin.FILE else "a text")),
        ("state", found.state.value),
        ("failed", failure(found) if found.state is DocumentState.FAILED else ""),
        ("type", latest.media),
        ("size", size(latest.size)),
        ("pages", _pages(latest)),
        ("chunks", f"{latest.embedded:,} of {latest.chunks:,} embedded, {latest.reused:,} kept from before"),
        ("took", seconds),
        ("refreshed", _refreshed(found)),
        ("last look", f"{clock(refresh.checked_at)}: {refresh.found}" if refresh.checked_at else ""),
        *((name, value) for name, value in latest.metadata.items()),
        *((name, str(value)) for name, value in found.metadata.items()),
    )
    parts: list[RenderableType] = [told]
    if latest.summary:
        parts.append(inset(Text(shown(latest.summary), "dim"), 2))
    parts += [Text(f"note: {one_line(note, 300)}", "dim") for note in latest.notes]
    return Group(*parts, _versions(versions)) if len(versions) > 1 else Group(*parts)


def _refreshed(found: Document) -> str:
    refresh = found.refresh
    if refresh.hours is None:
        return ""
    return f"every {refresh.hours:g} hours" + (f", next {clock(refresh.due)}" if refresh.due else "")


def _versions(versions: Sequence[DocumentVersion]) -> RenderableType:
    table = columns("#", "state", "from", "to", "pages", "chunks", "size")
    for version in versions:
        table.add_row(
            str(version.number), Text(version.state.value, _COLOURS.get(version.state, "yellow")),
            _when(version.valid_from), _when(version.valid_to),
            _pages(version), f"{version.chunks:,}", size(version.size),
        )  # fmt: skip
    return table


def _when(moment: datetime | None) -> str:
    return clock(moment) if moment else ""


def chunks(found: Sequence[Chunk]) -> RenderableType:
    """Return passages in reading order, each below where it stands."""
    if not found:
        return Text("no chunks", "dim")
    parts: list[RenderableType] = []
    for chunk in found:
        place = Text.assemble(
            (f"{chunk.position:>4}  ", "bold"),
            (f"{chunk.kind.value}  ", "cyan"),
            (one_line(str(chunk.locator), 200), "dim"),
        )
        parts += [place, inset(Text(shown(chunk.text)), 6)]
    return Group(*parts)


def left_out(skipped: Sequence[tuple[str, str]]) -> list[str]:
    """Return a line for each thing that was left out of a folder; of many, how many more there are."""
    told = [f"left out: {one_line(name, 120)} {one_line(why, 200)}" for name, why in skipped[:_LEFT_OUT]]
    more = len(skipped) - _LEFT_OUT
    return [*told, f"left out: {more:,} more"] if more > 0 else told


def tally(counts: dict[str, int]) -> str:
    """Return what became of documents, in a line; what is none is left out."""
    told = [f"{count:,} {name}" for name, count in counts.items() if count]
    return ", ".join(told) or "nothing to do"


def refreshed(found: Sequence[Document]) -> RenderableType:
    """Return documents that were looked at again, and what came of it."""
    looked = [
        Text(f"{one_line(document.name, 120)}: {one_line(document.refresh.found, 300)}", "dim")
        for document in found
        if document.refresh.found and document.state is not DocumentState.FAILED
    ]
    return Group(documents(found), *looked)
