"""The commands about who calls through a server: their keys, and what they did."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

from mnemic.shells.cli import showing_keys
from mnemic.shells.cli.commands import group
from mnemic.shells.cli.face import face_of

KEYS: Final = group("Keys of who calls through a server: whom they call for, how far they reach, how often.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The key's id, or its prefix.")]


@KEYS.command("create")
def create_key(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is for, such as laptop.")],
    *,
    users: Annotated[
        list[str] | None, typer.Option("--for", help="A user it may call for; may be repeated (default: anybody).")
    ] = None,
    cubes: Annotated[
        list[str] | None, typer.Option("--cube", help="A cube it reaches, by id; may be repeated (default: all).")
    ] = None,
    project: Annotated[str, typer.Option(help="A project whose users are its own.")] = "",
    powers: Annotated[
        list[str] | None, typer.Option("--may", help="read, write or admin; may be repeated (default: read, write).")
    ] = None,
    days: Annotated[float | None, typer.Option(min=0, help="Days that it holds (default: until revoked).")] = None,
    per_minute: Annotated[int, typer.Option(help="Calls in a minute; 0: any number.")] = 0,
    per_day: Annotated[int, typer.Option(help="Calls in a day (UTC); 0: any number.")] = 0,
) -> None:
    """Make a key and show its secret, this once."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        made = memory.keys.create(
            name,
            users=users or None,
            cubes=cubes or None,
            project=project,
            powers=powers or ("read", "write"),
            expires=None if days is None else datetime.now(UTC) + timedelta(days=days),
            per_minute=per_minute,
            per_day=per_day,
        )
    face.show(made, lambda: showing_keys.made(made))


@KEYS.command("list")
def list_keys(context: typer.Context) -> None:
    """List all keys, oldest first; secrets cannot be shown again."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = memory.keys.list()
    face.show(found, lambda: showing_keys.keys(found, datetime.now(UTC)))


@KEYS.command("rotate")
def rotate_key(
    context: typer.Context,
    key: Id,
    *,
    overlap: Annotated[float, typer.Option(help="Hours for which the old one still holds; 0: none.")] = 24.0,
) -> None:
    """Make a key that reaches as far as another, which ends after the overlap."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        made = memory.keys.rotate(key, overlap_hours=overlap)
    face.show(made, lambda: showing_keys.made(made))


@KEYS.command("revoke")
def revoke_key(context: typer.Context, key: Id) -> None:
    """End a key at once: from now on it opens nothing."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        ended = memory.keys.revoke(key)
    face.confirm(ended, lambda: showing_keys.keys([ended], datetime.now(UTC)))


@KEYS.command("drop")
def drop_key(context: typer.Context, key: Id) -> None:
    """Erase a key that is over. When none is left, calls at this machine need none again."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        gone = memory.keys.drop(key)
        left = len(memory.keys.list())
    face.confirm(gone, lambda: showing_keys.dropped(gone, left))


def audit(
    context: typer.Context,
    *,
    key: Annotated[str | None, typer.Option(help="Only calls with this key, by its id.")] = None,
    cube: Annotated[str | None, typer.Option(help="Only calls about this cube, by its id.")] = None,
    after: Annotated[str | None, typer.Option(help="Only those before this row: the next page.")] = None,
    limit: Annotated[int, typer.Option(help="How many.")] = 100,
) -> None:
    """Show who wrote what through a server, and what was refused, newest first."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        rows = memory.audit(key=key, cube=cube, after=after, limit=limit)
        names = {each.id: each.prefix for each in memory.keys.list()}
    face.show(rows, lambda: showing_keys.audit(rows, names))
