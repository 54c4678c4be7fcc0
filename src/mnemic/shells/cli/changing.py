"""The commands that change several memories at once: feedback, undo, changes.

Each shows what every memory said before and says now; a dry run shows the same and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from mnemic.errors import NotFoundError
from mnemic.model.change import MemoryChange, Step, Undone
from mnemic.model.feedback import NOT_UNDERSTOOD, Feedback
from mnemic.shells.cli.face import Cube, face_of, leave_when_nothing, read_words
from mnemic.shells.cli.wording import clock, one_line, plural


def feedback(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(help="What is wrong or has changed, or - to read it from stdin.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan; write nothing.")] = False,
    mode: Annotated[str, typer.Option(help="Who reads it: auto, rules, or model.")] = "auto",
    session: Annotated[str | None, typer.Option(help="Session that keeps the words (default: feedback).")] = None,
    cube: Cube = None,
) -> None:
    """Correct memories in plain words, such as: forget the peanut thing. It shows each step; `undo` takes it back."""
    face = face_of(context)
    with face.memory() as memory:
        given = memory.feedback(
            read_words(text, "text"), user=face.user, cube=cube, session=session, dry_run=dry_run, mode=mode
        )
    if face.json or dry_run or not given.applied:
        face.show(given, lambda: answered(given))
    else:
        face.confirm(given, lambda: answered(given))
    face.notes(note for note in given.notes if given.understood or NOT_UNDERSTOOD not in note)
    leave_when_nothing(given.steps)


def undo(
    context: typer.Context,
    change: Annotated[str | None, typer.Argument(help="A change's id (default: the last not taken back).")] = None,
    *,
    cube: Cube = None,
) -> None:
    """Take a change back; its memories say again what they said before."""
    face = face_of(context)
    with face.memory() as memory:
        if change is None:
            made = memory.changes(user=face.user, cube=cube)
            change = next((each.id for each in made if each.undone_at is None), None)
        if change is None:
            raise NotFoundError("there is no change to take back; `mnemic changes` shows those that were made")
        undone = memory.undo(change, user=face.user, cube=cube)
    face.confirm(undone, lambda: taken_back(undone))


def changes(
    context: typer.Context,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Changes at most.")] = 20,
    cube: Cube = None,
) -> None:
    """List the changes of several memories at once, newest first."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = memory.changes(user=face.user, limit=limit, cube=cube)
    face.show(found, lambda: listed(found))
    leave_when_nothing(found)


def answered(given: Feedback) -> RenderableType:
    """Return what feedback did: each step, what was left out and why, what may be meant, and how to take it back."""
    parts: list[RenderableType] = []
    if given.steps:
        done = "changed" if given.applied else "would change"
        parts.append(Text(f"{done} {_memories(given.steps)}", "green" if given.applied else "yellow"))
        parts += _steps(given.steps)
    elif given.understood:
        parts.append(Text("nothing was changed", "yellow"))
    else:
        parts.append(Text("not understood; nothing was changed", "bold yellow"))
    parts += _left("left out", given.skipped)
    if given.suggestions:
        parts.append(Text("may be meant:", "dim"))
        parts += [Text(f"  {each.memory_id}  {one_line(each.text, 90)}", "dim") for each in given.suggestions]
    if given.change:
        parts.append(Text(f"undo with: mnemic undo {given.change}", "dim"))
    return Group(*parts)


def taken_back(undone: Undone) -> RenderableType:
    """Return what undoing did, and what it left as it is."""
    parts: list[RenderableType] = [Text(f"took back {_memories(undone.undone)}", "green")]
    parts += [Text(f"  {_told(step.after)} \u2192 {_told(step.before)}") for step in undone.undone]
    return Group(*parts, *_left("left", undone.left))


def listed(found: Sequence[MemoryChange]) -> RenderableType:
    """Return changes, each with its steps."""
    parts: list[RenderableType] = []
    for each in found:
        back = f"  taken back {clock(each.undone_at)}" if each.undone_at else ""
        asked = f"  \u201c{one_line(each.asked, 60)}\u201d" if each.asked else ""
        parts.append(Text.assemble((each.id, "dim"), f"  {clock(each.made_at)}  {each.kind}{asked}", (back, "red")))
        parts += _steps(each.steps)
    return Group(*parts) if parts else Text("no changes yet", "dim")


def _steps(steps: Sequence[Step]) -> list[RenderableType]:
    return [
        Text.assemble(
            (f"  {step.action.value:<10} ", "bold"),
            _told(step.before),
            (" \u2192 ", "dim"),
            (_told(step.after), "green"),
            (f"  ({one_line(step.reason, 60)})" if step.reason else "", "dim"),
        )
        for step in steps
    ]


def _left(how: str, steps: Sequence[Step]) -> list[RenderableType]:
    return [Text(f"  {how}: {one_line(_said(step), 90)} ({one_line(step.reason)})", "yellow") for step in steps]


def _told(text: str | None) -> str:
    return "nothing" if text is None else one_line(text, 90)


def _said(step: Step) -> str:
    return step.before or step.after or step.memory_id


def _memories(steps: Sequence[Step]) -> str:
    return plural(len({step.memory_id for step in steps}), "memory")
