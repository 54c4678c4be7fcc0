"""The commands that move memories in and out: import and export.

Files are read by the readers in `mnemic.importing` and added session by session, so that an import that was stopped
can be run again: what is there already is skipped.
"""

from __future__ import annotations

import enum
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Final

import typer

from mnemic.errors import InputError, NotFoundError
from mnemic.importing import detect
from mnemic.importing.batch import Batch, Reading
from mnemic.model.message import Message
from mnemic.model.receipt import Imported
from mnemic.shells.cli import showing
from mnemic.shells.cli.face import Cube, Face, face_of
from mnemic.shells.cli.wording import one_line, plural, shown, size

if TYPE_CHECKING:
    from mnemic.api import Memory

BATCH: Final = 64
"""Messages in one call: enough for the embedder, small enough for a bar that moves."""
PATIENCE: Final = 3_600
"""Seconds to wait until what was imported is refined."""


class Format(enum.StrEnum):
    """The formats that can be named; `auto` looks into the file."""

    AUTO = "auto"
    OPENAI = "openai"
    JSONL = "jsonl"
    CHATGPT = "chatgpt"
    LOCOMO = "locomo"
    MEMORYOS = "memoryos"
    MNEMIC = "mnemic"


def import_file(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file, or - for stdin; for MemoryOS a user's folder.")],
    *,
    form: Annotated[
        Format, typer.Option("--format", "-f", help="How it is written; auto looks into it.")
    ] = Format.AUTO,
    conversation: Annotated[str | None, typer.Option(help="Of a file with several, the one of this name.")] = None,
    cube: Cube = None,
    wait: Annotated[bool, typer.Option(help="Refine what was stored before ending.")] = True,
) -> None:
    """Read conversations from a file: chats, exports, another Mnemic's memory."""
    face = face_of(context)
    with _on_disk(file) as place:
        named = None if form is Format.AUTO else form.value
        found = None if (named or detect.detect(place)) == detect.MNEMIC else detect.read(place, named)
        with face.memory() as memory:
            receipt = _load(face, memory, place, cube) if found is None else _add(
                face, memory, _chosen(found, conversation), cube
            )  # fmt: skip
            if wait:
                with face.progress("refining"):
                    memory.jobs.wait(user=face.user, cube=cube, timeout=PATIENCE)
    face.confirm(receipt, lambda: showing.imported(receipt))
    face.notes(receipt.notes)


@contextmanager
def _on_disk(file: Path) -> Iterator[Path]:
    """Hand out the file; what comes from stdin stands in a file of its own meanwhile."""
    if str(file) != "-":
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "stdin"
        place.write_bytes(sys.stdin.buffer.read())
        yield place


def _chosen(found: Reading, conversation: str | None) -> Reading:
    if conversation is None:
        return found
    kept = tuple(batch for batch in found.batches if conversation in (batch.title, batch.session))
    if not kept:
        names = ", ".join(dict.fromkeys(one_line(batch.title or batch.session, 40) for batch in found.batches[:20]))
        raise NotFoundError(f"no conversation {conversation!r} in the file; there are: {names}")
    return replace(found, batches=kept)


def _load(face: Face, memory: Memory, place: Path, cube: str | None) -> Imported:
    with face.progress("importing"):
        return memory.load(place.read_text("utf-8").splitlines(), user=face.user, cube=cube)


def _add(face: Face, memory: Memory, found: Reading, cube: str | None) -> Imported:
    stored = skipped = done = 0
    notes = dict.fromkeys(found.notes)
    with face.progress("importing", found.messages) as advance:
        for batch in found:
            for messages in _pieces(batch):
                receipt = memory.add(messages, user=face.user, session=batch.session, cube=cube)
                stored += receipt.stored
                skipped += len(receipt.skipped)
                notes.update(dict.fromkeys(receipt.notes))
                done += len(messages)
                advance(done, found.messages)
    return Imported({"message": stored}, skipped, tuple(notes))


def _pieces(batch: Batch) -> Iterator[Sequence[Message]]:
    for start in range(0, len(batch.messages), BATCH):
        yield batch.messages[start : start + BATCH]


def export(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="The file to write (default: stdout).")] = None,
    *,
    cube: Cube = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file when it is there.")] = False,
) -> None:
    """Write a memory as JSON Lines: everything, ready to import again."""
    face = face_of(context)
    with face.memory() as memory:
        lines = memory.export(user=face.user, cube=cube)
        if file is None:
            _print(face, lines)
            return
        if file.exists() and not force:
            raise InputError("file", f"{file} is there already; --force replaces it")
        count = _write(file, lines)
    length = file.stat().st_size
    told = {"file": str(file), "lines": count, "bytes": length}
    face.confirm(told, lambda: f"wrote {plural(count, 'line')}, {size(length)}, to {shown(str(file))}")


def _print(face: Face, lines: Iterator[str]) -> None:
    if face.json:
        face.print_json([json.loads(line) for line in lines])
        return
    for line in lines:
        typer.echo(line.rstrip("\n"))


def _write(file: Path, lines: Iterator[str]) -> int:
    """Write lines to a file that appears whole or not at all; return how many."""
    draft = file.with_name(file.name + ".part")
    try:
        with draft.open("w", encoding="utf-8") as stream:
            count = _pour(stream, lines)
        draft.replace(file)
    except OSError as error:
        raise InputError("file", f"cannot write {file}: {error.strerror}") from error
    return count


def _pour(stream: IO[str], lines: Iterator[str]) -> int:
    count = 0
    for count, line in enumerate(lines, start=1):  # noqa: B007 - it is returned
        stream.write(line.rstrip("\n") + "\n")
    return count
