"""The command line `mnemic`: its global options, its commands in groups, and how errors leave it.

Commands are thin: each opens the memory, makes one call, and shows what came back. Global options may stand before
or after the command.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from mnemic.errors import MnemicError
from mnemic.shells.cli import logged
from mnemic.shells.cli.commands import COMMANDS, CONTEXT, load
from mnemic.shells.cli.face import Face, login_name

FLAGS: Final = ("--json", "--quiet", "-q", "--debug")
VALUES: Final = ("--home", "--user", "-u")

EPILOG: Final = (
    "These options work with every command, before or after it. Exit codes: 0 done, 1 not found or nothing, 2 bad "
    "input, 3 forbidden, 4 store error, 5 model error, 6 timed out or work that failed."
)


class Root(TyperGroup):
    """The group of all commands: loads the one that runs, takes global options anywhere, reports errors."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer's signature
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a command, importing its module; None when there is none of that name."""
        return load(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the commands into the help, by panel."""
        for panel in dict.fromkeys(entry.panel for entry in COMMANDS.values()):
            rows = [(name, entry.summary) for name, entry in COMMANDS.items() if entry.panel == panel]
            with formatter.section(panel):
                formatter.write_dl(rows)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Move global options to the front, then parse as usual."""
        return super().parse_args(ctx, hoisted(args))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error of Mnemic's becomes a line on stderr and an exit code."""
        try:
            return super().invoke(ctx)
        except MnemicError as error:
            face = ctx.obj if isinstance(ctx.obj, Face) else Face()
            if face.debug:
                raise
            raise typer.Exit(face.fail(error)) from error


def hoisted(args: list[str]) -> list[str]:
    """Return the arguments with global options first; what stands behind `--` is left alone."""
    front: list[str] = []
    rest: list[str] = []
    position = 0
    while position < len(args):
        word = args[position]
        if word == "--":
            return [*front, *rest, *args[position:]]
        if word in FLAGS or word.startswith(("--home=", "--user=")):
            front.append(word)
        elif word in VALUES and position + 1 < len(args):
            front += args[position : position + 2]
            position += 1
        else:
            rest.append(word)
        position += 1
    return [*front, *rest]


app = typer.Typer(
    name="mnemic",
    cls=Root,
    help="A long-term memory for assistants and agents, on this machine: add what was said, search it, ask it.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=CONTEXT,
)


@app.callback()
def options(
    context: typer.Context,
    *,
    home: Annotated[
        str | None, typer.Option(help="Folder of the memory (default: MNEMIC_HOME, else your data directory).")
    ] = None,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Whose memory (default: your login name).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress, notes and confirmations.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error, and the log.")] = False,
) -> None:
    """Take the global options."""
    logged.route(debug=debug)
    context.obj = Face(
        home=home, user=login_name() if user is None else user, named=user is not None,
        json=as_json, quiet=quiet, debug=debug,
    )  # fmt: skip


def run() -> None:
    """Run the command line on the process's arguments."""
    app()
