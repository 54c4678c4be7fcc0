"""The tools about knowledge bases and their documents."""

from __future__ import annotations

import base64
import binascii
import contextlib
import io
from typing import Any, Final

from mnemic.errors import InputError, WaitTimeoutError
from mnemic.model import document as documents
from mnemic.shells.mcp import arguments as given
from mnemic.shells.mcp import results as told
from mnemic.shells.mcp.acts import Act
from mnemic.shells.mcp.fitting import fit
from mnemic.text import shorten
from mnemic.wire.sources import checked_address

_WORDS: Final = 200  # characters of a name, a title, a description
_NOTES: Final = 5
_PAGE: Final = 200  # documents that are looked at for one result
_PATIENCE: Final = 60.0  # seconds that a call waits for a document to be read


def list_knowledge(act: Act, args: given.Listing) -> told.Bases:
    """List the knowledge bases that the user may read."""
    found = act.memory.knowledge.list(user=act.user)
    kept, left = fit((base_of(each) for each in found if act.cube in (None, each.cube.id)), args.budget)
    return told.Bases(cubes=kept, left_out=left)


def create_knowledge(act: Act, args: given.NewKnowledge) -> told.BaseOf:
    """Make a knowledge base."""
    return base_of(act.memory.knowledge.create(args.name, user=act.user, description=args.description))


def add_document(act: Act, args: given.AddDocument) -> told.DocumentOf:
    """Add an address, a text or a small file."""
    sources = [name for name in ("address", "text", "data") if getattr(args, name) is not None]
    if len(sources) != 1:
        raise InputError(sources[1] if sources else "address", "give exactly one of `address`, `text` and `data`")
    if args.name is None and args.address is None:
        raise InputError("name", "is needed for a text and for a file")
    source: Any = None
    if args.address is not None:
        source = checked_address(args.address, "address")
    elif args.data is not None:
        source = io.BytesIO(_decoded(args.data))
    cube = _base(act)
    added = act.memory.knowledge.add(source, text=args.text, name=args.name, cube=cube, user=act.user)
    if args.wait and added.job is not None:
        with contextlib.suppress(WaitTimeoutError):  # its state says so
            act.memory.jobs.wait([added.job], user=act.user, cube=cube, timeout=_PATIENCE)
        added = act.memory.knowledge.get(added.id, cube=cube, user=act.user)
    return document_of(added)


def list_documents(act: Act, args: given.ListDocuments) -> told.Documents:
    """List the documents of a knowledge base."""
    found = act.memory.knowledge.documents(_base(act), user=act.user, state=args.state, after=args.after, limit=_PAGE)
    kept, left = fit(map(document_of, found), args.budget)
    more = left > 0 or len(found) == _PAGE
    return told.Documents(documents=kept, left_out=left, next_after=kept[-1].id if kept and more else None)


def base_of(base: documents.KnowledgeBase) -> told.BaseOf:
    """Return a knowledge base as a result."""
    return told.BaseOf(
        id=base.cube.id, name=shorten(base.cube.name, _WORDS), description=shorten(base.description, _WORDS),
        owner=base.cube.owner, documents=base.documents, searched=base.bound, learns=base.learns,
        created_at=base.cube.created_at.isoformat(),
    )  # fmt: skip


def document_of(document: documents.Document) -> told.DocumentOf:
    """Return a document as a result."""
    version = document.latest
    return told.DocumentOf(
        id=document.id, name=shorten(document.name, _WORDS), state=document.state.value,
        title=shorten(version.title, _WORDS) or None, address=document.address or None, pages=version.pages or None,
        passages=version.chunks or None, version=version.number, added_at=document.created_at.isoformat(),
        error=shorten(version.error, _WORDS) or None, error_page=version.error_page,
        notes=[shorten(each, _WORDS) for each in version.notes][:_NOTES],
    )  # fmt: skip


def place_of(locator: documents.Locator) -> told.Passage:
    """Return where a passage stands, as a result."""
    last = None if locator.last_page == locator.page else locator.last_page
    return told.Passage(
        document=shorten(locator.name, _WORDS), document_id=locator.document, page=locator.page, last_page=last,
        row=locator.row, part=locator.part or None, headings=[shorten(each, _WORDS) for each in locator.headings],
        version=locator.version,
    )  # fmt: skip


def _base(act: Act) -> str:
    if act.cube is None:
        raise InputError("cube", "is needed: say which knowledge base")
    return act.cube


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError("data", f"is not base64: {error}") from error
