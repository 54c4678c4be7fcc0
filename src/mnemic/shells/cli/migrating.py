"""The commands that take a whole store somewhere: migrate, and backup.

Neither opens the memory: they need no embedder, and the store may be in use. An address is printed without a password.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from mnemic.errors import InputError, StoreError
from mnemic.model.moving import Kept, Moved
from mnemic.shells.cli.commands import CONTEXT
from mnemic.shells.cli.face import Face, face_of
from mnemic.shells.cli.wording import clock, plural, shown, size, took

_MAKE: Final = "make"


class _MakeByDefault(TyperGroup):
    """A group in which what is no command's name is the folder that a backup is made in."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the command when none is named."""
        asks = args and args[0] in {*self.commands, "-h", "--help"}
        return super().parse_args(ctx, args if asks else [_MAKE, *args])


BACKUP: Final = typer.Typer(
    cls=_MakeByDefault,
    help="Copy the whole store, as it is now, to a folder of its own; it may be in use.",
    rich_markup_mode=None,
    add_completion=False,
    context_settings=CONTEXT,
)


def migrate(
    context: typer.Context,
    *,
    to: Annotated[str | None, typer.Option(help="An empty folder, or an empty database: postgresql://…")] = None,
    origin: Annotated[
        str | None, typer.Option("--from", help="A folder or a database (default: what the settings name).")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Compare the two, and change nothing.")] = False,
    final: Annotated[
        bool, typer.Option("--final", help="Close the store that is moved, so that nobody writes behind the move.")
    ] = False,
    reopen: Annotated[bool, typer.Option("--reopen", help="Let a store open again that --final has closed.")] = False,
) -> None:
    """Move the whole store to another folder or database; what was stopped goes on when it is run again."""
    face = face_of(context)
    if reopen:
        _reopen(face, to, origin, other=check or final)
        return
    if to is None:
        raise InputError("to", "is needed: a folder, or postgresql://user:password@host/database")
    if check and final:
        raise InputError("final", "moves, and --check changes nothing; give one of them")
    moved = _moved(face, to, origin, check=check, final=final)
    face.confirm(_told(moved), lambda: _checked(moved) if check else _done(moved))
    if not moved.same or (check and moved.absent):
        raise StoreError(f"{moved.source} and {moved.target} are not the same", cubes=list(moved.differing))


def _moved(face: Face, to: str, origin: str | None, *, check: bool, final: bool) -> Moved:
    from mnemic.api import move  # noqa: PLC0415 - a second of imports that help does not need

    with face.progress("comparing" if check else "moving") as advance:
        return move(to, origin, settings=_home(face), check=check, final=final, progress=advance)


def _reopen(face: Face, to: str | None, origin: str | None, *, other: bool) -> None:
    from mnemic.api import reopen  # noqa: PLC0415 - as above

    if to is not None or other:
        raise InputError("reopen", "stands alone, or with --from; nothing is moved by it")
    went = reopen(origin, settings=_home(face))
    told = "it was not closed" if went is None else f"open again; what was moved to {went} knows nothing of what comes"
    face.confirm({"moved_to": went}, lambda: shown(told))


def _home(face: Face) -> dict[str, Any]:
    return {} if face.home is None else {"home": face.home}


def _told(moved: Moved) -> dict[str, Any]:
    names = ("source", "target", "cubes", "rows", "seconds", "tables", "again", "differing", "resumed", "closed")
    return {**{name: getattr(moved, name) for name in names}, "same": moved.same, "settings": moved.settings}


def _table(moved: Moved) -> Any:
    from rich.table import Table  # noqa: PLC0415 - rich is imported by those who print
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("table", "rows", "arrived", "hash", "hash there", ""):
        table.add_column(name, justify="right" if name in {"rows", "arrived"} else "left", no_wrap=True)
    for each in moved.tables:
        if each.rows or each.arrived:
            told = Text("same", "green") if each.same else Text("differs", "red")
            table.add_row(each.table, f"{each.rows:,}", f"{each.arrived:,}", each.hash, each.arrived_hash, told)
    return table


def _checked(moved: Moved) -> Any:
    from rich.console import Group  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415

    if moved.same and moved.absent:
        return Group(_table(moved), Text(shown(f"{_absent(moved)} at {moved.target}"), "red"))
    if moved.same:
        files = f" and {plural(moved.files, 'file')}" if moved.files else ""
        return Group(_table(moved), Text(f"the same in both: {moved.rows:,} rows of {_cubes(moved)}{files}", "green"))
    few = ", ".join(moved.differing[:10]) + (" and others" if len(moved.differing) > 10 else "")
    return Group(_table(moved), Text(shown(f"not the same: {few}"), "red"))


def _done(moved: Moved) -> Any:
    from rich.console import Group  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415

    went_on = ", going on from where it was stopped" if moved.resumed else ""
    files = f" and {plural(moved.files, 'file')}, {size(moved.file_bytes)}," if moved.files else ""
    done = f"moved {moved.rows:,} rows of {_cubes(moved)}{files} to {moved.target} in {took(moved.seconds)}{went_on}"
    lines = [Text(shown(done), "green")]
    if moved.again:
        again = f"{plural(len(moved.again), 'cube')} changed meanwhile and went once more: {', '.join(moved.again[:5])}"
        lines.append(Text(shown(again), "dim"))
    if moved.absent:
        lines.append(Text(shown(f"{_absent(moved)} at {moved.source}"), "yellow"))
    lines.append(Text("to use it, set " + " and ".join(moved.settings)))
    if "://" not in moved.target:
        lines.append(Text("mnemic.toml and pulled models stay where they are; copy them if you need them there", "dim"))
    after = (
        "the old store is closed"
        if moved.closed
        else "the old store stays open: what it is told from now on stays there"
    )
    lines.append(Text(after, "dim" if moved.closed else "yellow"))
    if moved.shared and not moved.closed:
        told = f"both have their files in {moved.shared}: go on with one of them only, --final closes the old one"
        lines.append(Text(shown(told), "yellow"))
    return Group(_table(moved), *lines)


def _absent(moved: Moved) -> str:
    return f"{plural(moved.absent, 'file')} of documents or messages {'is' if moved.absent == 1 else 'are'} not there"


def _cubes(moved: Moved) -> str:
    return plural(moved.cubes, "cube")


@BACKUP.command(_MAKE)
def make_backup(
    context: typer.Context,
    folder: Annotated[Path | None, typer.Argument(help="Where to (default: the setting backup_folder).")] = None,
) -> None:
    """Make a backup now, and let the oldest beyond backup_keep go; `mnemic backup` alone does this."""
    from mnemic.api import backup  # noqa: PLC0415 - as above

    face = face_of(context)
    with face.progress("copying") as advance:
        made = backup(folder, settings=_home(face), progress=advance)
    gone = f"; {plural(len(made.removed), 'older one')} removed" if made.removed else ""
    told = f"kept {made.rows:,} rows of {plural(made.cubes, 'cube')}, {size(made.bytes)}, in {made.path}{gone}"
    face.confirm(made, lambda: shown(told))


@BACKUP.command("list")
def list_backups(
    context: typer.Context,
    folder: Annotated[Path | None, typer.Argument(help="Where (default: the setting backup_folder).")] = None,
) -> None:
    """List the backups, the newest first."""
    from mnemic.api import backups  # noqa: PLC0415 - as above

    face = face_of(context)
    found = backups(folder, settings=_home(face))
    face.show(found, lambda: _kept(found))


def _kept(found: Sequence[Kept]) -> Any:
    from rich.console import Group  # noqa: PLC0415 - as above
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    if not found:
        return Text("no backups yet", "dim")
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("made (UTC)", "cubes", "rows", "size", "name"):
        table.add_column(name, justify="right" if name in {"cubes", "rows", "size"} else "left", no_wrap=True)
    for each in found:
        table.add_row(clock(each.made_at), f"{each.cubes:,}", f"{each.rows:,}", size(each.bytes), Path(each.path).name)
    return Group(table, Text(shown(f"in {Path(found[0].path).parent}"), "dim"))
