"""The commands that write what was said: add.

A command is a short process, so what it stores is refined before it ends, unless it is told not to wait.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from mnemic.errors import InputError
from mnemic.model.message import Message
from mnemic.shells.cli import showing
from mnemic.shells.cli.face import Cube, face_of


def add(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(help="What was said, each argument a message; - reads stdin as one.")],
    *,
    session: Annotated[str | None, typer.Option(help="The conversation that it belongs to.")] = None,
    name: Annotated[str | None, typer.Option(help="Who said it (default: the user).")] = None,
    role: Annotated[str, typer.Option(help="user, assistant, system or tool.")] = "user",
    at: Annotated[str | None, typer.Option(help="When it was said (ISO 8601; default: now).")] = None,
    own_id: Annotated[str | None, typer.Option("--id", help="Your own id for it, unique in its session.")] = None,
    meta: Annotated[list[str] | None, typer.Option(help="KEY=VALUE to keep with it; may be repeated.")] = None,
    lines: Annotated[bool, typer.Option("--lines", help="Each line of stdin is a message.")] = False,
    cube: Cube = None,
    agent: Annotated[str | None, typer.Option(help="The agent who takes part.")] = None,
    task: Annotated[str | None, typer.Option(help="A name of your own for the background work of many calls.")] = None,
    wait: Annotated[bool, typer.Option(help="Refine what was stored before ending.")] = True,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be drawn from it; store nothing.")
    ] = False,
) -> None:
    """Remember what was said, word for word; the next search finds it."""
    face = face_of(context)
    texts = _texts(text, lines=lines)
    if own_id is not None and len(texts) > 1:
        raise InputError("id", f"is one, but there are {len(texts)} messages")
    kept = _metadata(meta or [])
    messages = [Message(role, said, name=name, at=at, id=own_id, metadata=kept) for said in texts]
    with face.memory() as memory:
        if dry_run:
            found = memory.extract(messages, user=face.user, agent=agent, cube=cube)
            face.show(found, lambda: showing.extraction(found))
            face.notes(found.notes)
            return
        receipt = memory.add(messages, user=face.user, session=session, agent=agent, cube=cube, task=task, wait=wait)
    face.confirm(receipt, lambda: showing.added(receipt))
    face.notes(receipt.notes)


def _texts(given: list[str], *, lines: bool) -> list[str]:
    if given != ["-"]:
        if lines:
            raise InputError("lines", "goes with - as the only argument, which reads stdin")
        return given
    piped = sys.stdin.read()
    if lines:
        return [line for line in piped.splitlines() if line.strip()]
    return [piped.rstrip("\n")]


def _metadata(pairs: list[str]) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (equals and key):
            raise InputError("meta", f"{pair!r} is not KEY=VALUE")
        found[key] = value
    return found or None
