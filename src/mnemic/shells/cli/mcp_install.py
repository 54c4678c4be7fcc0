"""The command `mnemic mcp install`: write a client's configuration, so that it starts a memory or calls one."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from mnemic import config
from mnemic.errors import InputError
from mnemic.shells.cli.face import Face, face_of
from mnemic.shells.cli.wording import shown
from mnemic.shells.mcp.clients import CLIENTS, NAME, Client, Local, Machine, Remote, client_of
from mnemic.shells.mcp.installing import Plan, carry_out, plan_install, plan_uninstall


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the entry shall do: call an address with a key, or start a memory with these options."""

    url: str | None
    key: str | None
    cube: str | None
    read_only: bool


def install(
    context: typer.Context,
    *,
    client: Annotated[str, typer.Option(help=f"The program to set up: {', '.join(CLIENTS)}.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Take the entry out again.")] = False,
    url: Annotated[str | None, typer.Option(help="A server's address, such as http://127.0.0.1:8000/mcp.")] = None,
    key: Annotated[str | None, typer.Option(help="The key for that server; it is written into the file.")] = None,
    cube: Annotated[str | None, typer.Option(help="Serve this cube only.")] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only tools that change nothing.")] = False,
    name: Annotated[str, typer.Option(help="What the entry is called.")] = NAME,
) -> None:
    """Write the configuration of a client: everything else in it stays, and the file as it was is kept beside it."""
    face, program = face_of(context), client_of(client)
    machine = this_machine()
    if uninstall:
        plan = plan_uninstall(program, machine, name)
    else:
        plan = plan_install(program, machine, _server(face, _Wish(url, key, cube, read_only)), name)
    kept = carry_out(plan, datetime.now(UTC)) if plan.changes and not dry_run else None
    told = {
        "client": program.name, "file": str(plan.file), "changed": plan.changes and not dry_run,
        "backup": None if kept is None else str(kept), "difference": list(plan.difference()),
    }  # fmt: skip
    face.show(told, lambda: _shown(plan, dry_run=dry_run, uninstall=uninstall))
    _advise(face, program, plan, kept, dry_run=dry_run)


def this_machine() -> Machine:
    """Return where the files of whoever is logged in lie."""
    return Machine(platform.system(), Path.home(), config.roaming_folder())


def _server(face: Face, wish: _Wish) -> Local | Remote:
    if wish.url is None:
        if wish.key is not None:
            raise InputError("key", "goes with --url: a memory on this machine needs none")
        return Local(sys.executable, tuple(_arguments(face, wish)))
    if not wish.url.startswith(("http://", "https://")):
        raise InputError("url", f"{wish.url!r} is no address such as http://127.0.0.1:8000/mcp")
    if wish.cube is not None or wish.read_only:
        raise InputError(
            "cube" if wish.cube else "read_only", "does not go with --url: what a key may is said on its server"
        )
    needed = face.named or wish.key is None  # a key mostly says for whom it calls
    return Remote(wish.url, wish.key, face.user if needed else None)


def _arguments(face: Face, wish: _Wish) -> list[str]:
    folder = config.load(face.home).folder.expanduser().absolute()  # clients pass on no environment
    words = ["-m", "mnemic", "--home", str(folder), "--user", face.user, "mcp"]
    words += ["--cube", wish.cube] if wish.cube is not None else []
    return [*words, "--read-only"] if wish.read_only else words


def _shown(plan: Plan, *, dry_run: bool, uninstall: bool) -> Any:
    from rich.text import Text  # noqa: PLC0415 - a server, which starts from here too, needs none of it

    if not plan.changes:
        there = "has no such entry" if uninstall else "is set up like this already"
        return Text(shown(f"{plan.client.title} {there}: {plan.file}"))
    done = "would change" if dry_run else "changed"
    colors = {"+": "green", "-": "red"}
    lines = [Text(shown(line), colors.get(line[:1], "dim")) for line in plan.difference()]
    return Text("\n").join([Text(shown(f"{done} {plan.file}"), "bold"), *lines])


def _advise(face: Face, program: Client, plan: Plan, kept: Path | None, *, dry_run: bool) -> None:
    if kept is not None:
        face.note(f"the file as it was is kept: {kept}")
    if plan.changes and not dry_run:
        face.note(f"start {program.title} again to see it")
        found = config.named_in_environment()
        if found:
            told = ", ".join(found)
            face.note(f"note: {told}: clients do not pass these on; what is to hold there goes into mnemic.toml")
