"""The commands `mnemic kb` about knowledge bases themselves: list, create, rename, delete, bind, unbind.

A knowledge base is named by its id, or by its name where the user sees only one of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from mnemic.errors import InputError, NotFoundError
from mnemic.shells.cli import showing, showing_kb
from mnemic.shells.cli.commands import group
from mnemic.shells.cli.face import Face, face_of, leave_when_nothing
from mnemic.shells.cli.wording import one_line, shown

if TYPE_CHECKING:
    from mnemic.api import Memory
    from mnemic.model.document import KnowledgeBase

KB: Final = group("""Knowledge bases: documents that are searched beside what was said, each answer with its page.

    To begin: `mnemic kb create NAME`, `mnemic kb add FILES`, `mnemic ask QUESTION`.
    """)

Base = Annotated[str, typer.Argument(metavar="KB", help="The knowledge base, by name or id.")]
Chosen = Annotated[
    str | None, typer.Option("--kb", "-k", help="The knowledge base, by name or id (default: the only one there is).")
]


def chosen(face: Face, memory: Memory, named: str | None) -> KnowledgeBase:
    """Return the knowledge base that is meant. Raises `NotFoundError`, `InputError` when it is not plain which."""
    found = memory.knowledge.list(user=face.user)
    fitting = [base for base in found if named is None or base.cube.id == named]
    fitting = fitting or [base for base in found if base.cube.name == named]
    if len(fitting) == 1:
        return fitting[0]
    if not found:
        raise NotFoundError("there is no knowledge base yet; `mnemic kb create NAME` makes one")
    names = ", ".join(f"{one_line(base.cube.name, 40)} ({base.cube.id})" for base in fitting or found)
    if fitting:
        raise InputError("kb", f"there are several; name one with --kb: {names}")
    raise NotFoundError(f"there is no knowledge base {named!r}; there are: {names}")


@KB.command("list")
def list_bases(context: typer.Context) -> None:
    """List those that the user may read."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = memory.knowledge.list(user=face.user)
    face.show(found, lambda: showing_kb.bases(found))


@KB.command("create")
def create_base(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A name of your choice.")],
    *,
    description: Annotated[str, typer.Option(help="What it is about.")] = "",
    learns: Annotated[bool, typer.Option("--learns", help="What is said about it may be remembered in it.")] = False,
) -> None:
    """Create a knowledge base.

    The user's searches look in it from now on.
    """
    face = face_of(context)
    with face.memory(worker=False) as memory:
        made = memory.knowledge.create(name, user=face.user, description=description, learns=learns)
    face.confirm(made, lambda: showing_kb.bases([made]))


@KB.command("rename")
def rename_base(
    context: typer.Context,
    base: Base,
    name: Annotated[str | None, typer.Argument(help="The new name (default: it keeps its own).")] = None,
    *,
    description: Annotated[str | None, typer.Option(help="What it is about.")] = None,
    learns: Annotated[bool | None, typer.Option(help="Whether what is said about it may be remembered in it.")] = None,
) -> None:
    """Rename one, describe it, or let it learn."""
    face = face_of(context)
    if name is None and description is None and learns is None:
        raise InputError("name", "is missing; give a new name, --description or --learns")
    with face.memory(worker=False) as memory:
        found = chosen(face, memory, base)
        made = memory.knowledge.update(found.cube.id, user=face.user, name=name, description=description, learns=learns)
    face.confirm(made, lambda: showing_kb.bases([made]))


@KB.command("delete")
def delete_base(
    context: typer.Context,
    base: Base,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Erase a knowledge base with its documents.

    All of its documents and files go; there is no way back.
    """
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = chosen(face, memory, base)
        if not yes:
            face.ask_first(f"Erase {found.cube.name!r} with its {found.documents:,} documents?")
        receipt = memory.knowledge.delete(found.cube.id, user=face.user)
    face.confirm(receipt, lambda: showing.forgotten(receipt))
    leave_when_nothing(receipt.removed)


@KB.command("bind")
def bind_base(
    context: typer.Context,
    base: Base,
    member: Annotated[
        str | None, typer.Argument(help="A user, an agent, or project:NAME (default: the user itself).")
    ] = None,
    *,
    role: Annotated[str, typer.Option(help="reader, or editor who may add and remove documents.")] = "reader",
) -> None:
    """Let somebody's searches look in one.

    They need not name it then.
    """
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = chosen(face, memory, base)
        made = memory.knowledge.bind(found.cube.id, member, user=face.user, role=role)
    told = f"searches of {shown(made.principal)} ({made.role}) look in {one_line(found.cube.name, 60)}"
    face.confirm(made, lambda: told)


@KB.command("unbind")
def unbind_base(
    context: typer.Context,
    base: Base,
    member: Annotated[
        str | None, typer.Argument(help="A user, an agent, or project:NAME (default: the user itself).")
    ] = None,
) -> None:
    """Leave one out of somebody's searches.

    Searches that name no cubes do not look in it any more; the role stays.
    """
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = chosen(face, memory, base)
        gone = memory.knowledge.unbind(found.cube.id, member, user=face.user)
    told = f"searches of {shown(gone.principal)} leave out {one_line(found.cube.name, 60)}"
    face.confirm(gone, lambda: told)
