"""The commands that correct and erase: update, lock, restore, reorganize, forget.

Corrections keep the old version; forgetting erases, and asks first when it is about much.
"""

from __future__ import annotations

from typing import Annotated

import typer

from mnemic.shells.cli import showing
from mnemic.shells.cli.exits import NOTHING
from mnemic.shells.cli.face import Cube, face_of, leave_when_nothing, read_words
from mnemic.shells.cli.wording import shown

Id = Annotated[str, typer.Argument(metavar="ID", help="A memory's id.")]


def update(
    context: typer.Context,
    memory_id: Id,
    text: Annotated[list[str], typer.Argument(help="What is right, or - to read it from stdin.")],
    *,
    cube: Cube = None,
) -> None:
    """Correct a memory; what it said before stays in its history."""
    face = face_of(context)
    with face.memory() as memory:
        changed = memory.update(memory_id, read_words(text, "text"), user=face.user, cube=cube)
    face.confirm(changed, lambda: showing.versions(changed.versions))


def lock(
    context: typer.Context,
    memory_id: Id,
    *,
    off: Annotated[bool, typer.Option("--off", help="Let it change again.")] = False,
    cube: Cube = None,
) -> None:
    """Keep a memory as it is, whatever is said later."""
    face = face_of(context)
    with face.memory() as memory:
        changed = memory.lock(memory_id, user=face.user, locked=not off, cube=cube)
    face.confirm(changed, lambda: f"{'locked' if changed.locked else 'unlocked'}: {shown(changed.current.text)}")


def reorganize(
    context: typer.Context,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be changed; change nothing.")] = False,
    cube: Cube = None,
) -> None:
    """Merge what says the same, close old plans, sum up what belongs together; `undo` takes it back."""
    face = face_of(context)
    with face.memory() as memory:
        change = memory.reorganize(user=face.user, dry_run=dry_run, cube=cube)
    if change is None:
        if face.json:
            face.print_json(None)
        face.note("everything is in order")
        raise typer.Exit(NOTHING)
    face.confirm(change, lambda: showing.change(change))


def restore(
    context: typer.Context,
    memory_id: Id,
    *,
    version: Annotated[int | None, typer.Option(help="Its number (default: the one before the current).")] = None,
    cube: Cube = None,
) -> None:
    """Make an earlier version of a memory hold again."""
    face = face_of(context)
    with face.memory() as memory:
        changed = memory.restore(memory_id, user=face.user, version=version, cube=cube)
    face.confirm(changed, lambda: showing.versions(changed.versions))


def forget(
    context: typer.Context,
    *,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Messages and memories to erase.")] = None,
    session: Annotated[str | None, typer.Option(help="Erase a whole session.")] = None,
    about: Annotated[str | None, typer.Option(help="Erase everything that mentions these words.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="Erase all of the user's memory.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    cube: Cube = None,
) -> None:
    """Erase messages or memories with all that was derived from them, everywhere; there is no way back.

    What was said stays when only a memory of it is erased: give the message's id too, or use --about.
    """
    face = face_of(context)
    if (about is not None or everything) and not yes:
        what = f"everything of user {face.user}" if everything else f"everything that mentions {about!r}"
        face.ask_first(f"Erase {what}?")
    with face.memory() as memory:
        receipt = memory.forget(
            ids or None, user=face.user, session=session, about=about, everything=everything, cube=cube
        )
    face.confirm(receipt, lambda: showing.forgotten(receipt))
    leave_when_nothing(any(receipt.removed.values()))
