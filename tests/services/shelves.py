"""Documents and attachments as they are stored when they are ready, without what reads and cuts them."""

from __future__ import annotations

import io
from pathlib import Path

from mnemic.api import Memory
from mnemic.ids import new_id
from mnemic.model.attachment import Attachment, AttachmentKind, AttachmentState
from mnemic.model.document import Document, DocumentState
from mnemic.model.index import Entry
from mnemic.model.scope import Cube
from mnemic.testing.documents_contract import new_chunk, new_version, put


def new_base(memory: Memory, user: str = "ann") -> Cube:
    return memory.cubes.create("shelf", user=user, kind="knowledge")


def key_of(memory: Memory, cube: str, user: str = "ann") -> Cube:
    with memory._parts.store.read() as tx:
        [found] = memory._parts.scoping.for_read(tx, user, [cube]).cubes
        return found


def shelve(memory: Memory, base: Cube, name: str, data: bytes, words: str = "the quixotic plover") -> Document:
    """Store a document as it is when it is ready: its file, a version, a passage, an entry."""
    parts = memory._parts
    cube = key_of(memory, base.id, base.owner)
    blob = parts.blobs.put(cube.id, io.BytesIO(data))
    with parts.store.write() as tx:
        tx.enter(cube.key)
        revision = tx.cubes.touch(cube.key)
        parts.keeper.note(tx, cube, [blob])
        version = new_version(
            "", digest=blob.digest, size=blob.size, state=DocumentState.READY, valid_from=parts.clock.now(), chunks=1
        )
        document = put(tx, cube, name, version)
        chunk = new_chunk(document, words, 0)
        tx.chunks.add(document.latest.id, [chunk])
        entry = Entry(
            "chunk", chunk.id, words, "", 5, parts.embedder.embed([words])[0], session_id=document.id, end=len(words)
        )
        tx.index.add(cube.key, revision, [entry])
    return document


def attach(memory: Memory, text: str, data: bytes, seen: str = "") -> Attachment:
    """Say something with a picture."""
    parts = memory._parts
    added = memory.add(text, user="ann")
    cube = key_of(memory, added.cube)
    picture, small = (parts.blobs.put(cube.id, io.BytesIO(each)) for each in (data, data[:3]))
    made = Attachment(
        new_id(), added.message_ids[0], cube.key, 0, AttachmentKind.IMAGE, AttachmentState.READY, picture.digest,
        picture.size, "image/png", text=seen, thumbnail=small.digest,
    )  # fmt: skip
    with parts.store.write() as tx:
        tx.enter(cube.key)
        tx.cubes.touch(cube.key)
        parts.keeper.note(tx, cube, [picture, small])
        tx.attachments.put([made])
    return made


def files(memory: Memory, cube: str) -> set[bytes]:
    """Return the contents of a cube's files."""
    found = set()
    for each in memory._parts.blobs.list(cube):
        with memory._parts.blobs.open(cube, each.digest) as file:
            found.add(file.read())
    return found


def files_anywhere(memory: Memory) -> list[Path]:
    return [path for path in (memory.path / "blobs").rglob("*") if path.is_file()]
