"""The commands that keep a memory in order: doctor, reindex, rebuild, cubes.

They look at the folder and the machine as well as at the memories.
"""

from __future__ import annotations

from typing import Annotated, Final

import typer

from mnemic import __version__
from mnemic.shells.cli import checkup, findings, showing, showing_keys, upkeep
from mnemic.shells.cli.commands import group
from mnemic.shells.cli.face import Cube, face_of, leave_when_nothing
from mnemic.shells.cli.wording import shown

CubeId = Annotated[str, typer.Argument(metavar="ID", help="The cube's id.")]

CUBES: Final = group("Namespaces of memories: a project's, an agent's, a knowledge base's.")


def version(context: typer.Context) -> None:
    """Print the version."""
    face_of(context).show({"version": __version__}, lambda: f"mnemic {__version__}")


def doctor(context: typer.Context) -> None:
    """Check the machine, the settings, the models, the store, the queue and the work; say what to do about each."""
    face = face_of(context)
    checks = checkup.run(face)
    face.show({"ok": all(one.ok for one in checks), "checks": checks}, lambda: findings.table(checks))
    worst = next((one.exit_code for one in checks if not one.ok), 0)
    if worst:
        raise typer.Exit(worst)


def reindex(context: typer.Context) -> None:
    """Compute all vectors again with the embedder of the settings; it goes on where it was stopped."""
    face = face_of(context)
    done = upkeep.reindex(face)
    face.confirm({"vectors": done}, lambda: f"computed {done:,} vectors")


def rebuild(context: typer.Context, *, cube: Cube = None) -> None:
    """Derive topics and memories again; what was changed by hand stays, what was forgotten stays forgotten."""
    face = face_of(context)
    with face.memory() as memory:
        job = memory.rebuild(user=face.user, cube=cube, wait=True)
    told = "derived topics and memories again" if job else "nothing is stored yet"
    face.confirm({"job": job}, lambda: told)


@CUBES.command("list")
def list_cubes(context: typer.Context) -> None:
    """List the cubes that the user may read."""
    face = face_of(context)
    with face.memory() as memory:
        found = memory.cubes.list(user=face.user)
    face.show(found, lambda: showing.cubes(found))


@CUBES.command("create")
def create_cube(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A name of your choice.")],
    *,
    kind: Annotated[str, typer.Option(help="project, agent or knowledge.")] = "project",
) -> None:
    """Create a cube that the user owns."""
    face = face_of(context)
    with face.memory() as memory:
        made = memory.cubes.create(name, user=face.user, kind=kind)
    face.confirm(made, lambda: showing.cubes([made]))


@CUBES.command("delete")
def delete_cube(
    context: typer.Context,
    cube: CubeId,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Erase a cube with all that is in it; there is no way back."""
    face = face_of(context)
    if not yes:
        face.ask_first(f"Erase cube {cube} with all that is in it?")
    with face.memory() as memory:
        receipt = memory.cubes.delete(cube, user=face.user)
    face.confirm(receipt, lambda: showing.forgotten(receipt))
    leave_when_nothing(receipt.removed)


@CUBES.command("members")
def list_members(context: typer.Context, cube: CubeId) -> None:
    """List who may use a cube, with their roles."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = memory.cubes.members(cube, user=face.user)
    face.show(found, lambda: showing_keys.members(found))


@CUBES.command("share")
def share_cube(
    context: typer.Context,
    cube: CubeId,
    member: Annotated[str, typer.Argument(help="The user or agent that is let in.")],
    role: Annotated[str, typer.Argument(help="reader, editor or owner.")] = "reader",
) -> None:
    """Let somebody into a cube, or change what they may do there; only its owners may."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        made = memory.cubes.share(cube, member, role, user=face.user)
    face.confirm(made, lambda: showing_keys.members([made]))


@CUBES.command("unshare")
def unshare_cube(
    context: typer.Context, cube: CubeId, member: Annotated[str, typer.Argument(help="Who is taken out.")]
) -> None:
    """Take a member out of a cube; its owners may, and each member for itself."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        gone = memory.cubes.unshare(cube, member, user=face.user)
    face.confirm(gone, lambda: f"{shown(gone.principal)} is no {gone.role} of the cube any more")
