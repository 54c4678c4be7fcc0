"""What every command shares: whose memory it is, where it lies, and how to speak: to a person, or to a program.

With `--json` a command prints one JSON document on stdout and nothing else there. Progress and errors go to stderr.
The library and rich are imported when they are used, so that help and completion stay quick.
"""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mnemic.errors import InputError, MnemicError
from mnemic.shells.cli.exits import NOTHING, exit_code, hint
from mnemic.shells.cli.wording import shown
from mnemic.wire.problems import plain_error
from mnemic.wire.values import plain

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from mnemic.api import Memory

Cube = Annotated[str | None, typer.Option(help="A cube's id (default: the user's own).")]

WIDTH: Final = 100
"""Columns when the output is not a terminal."""


@dataclass
class Face:
    """The options that hold for every command, and the two consoles. `named` tells whether `user` was given."""

    home: str | None = None
    user: str = "me"
    named: bool = False
    json: bool = False
    quiet: bool = False
    debug: bool = False

    @cached_property
    def out(self) -> Console:
        """The console of results."""
        return _console(stderr=False)

    @cached_property
    def err(self) -> Console:
        """The console of progress, notes and errors."""
        return _console(stderr=True)

    @contextmanager
    def memory(self, **settings: Any) -> Iterator[Memory]:
        """Open the memory that the options name, and close it at the end."""
        from mnemic.api import Memory  # noqa: PLC0415 - a second of imports that help does not need

        with Memory(self.home, settings=settings or None) as memory:
            yield memory

    def show(self, value: object, human: Callable[[], RenderableType]) -> None:
        """Print what was asked for: as JSON, or as people read it."""
        if self.json:
            self.print_json(plain(value))
        else:
            self.out.print(human())

    def confirm(self, value: object, human: Callable[[], RenderableType]) -> None:
        """Print what was done: as `show`, and not at all with --quiet."""
        if self.json or not self.quiet:
            self.show(value, human)

    def print_json(self, document: object) -> None:
        """Print one JSON document on stdout, in pure ASCII where the terminal asks for it."""
        text = json.dumps(document, ensure_ascii=not _speaks_unicode(), indent=2 if self.out.is_terminal else None)
        typer.echo(text)

    def note(self, text: str) -> None:
        """Tell a person something beside the result; silent with --quiet and --json."""
        if not (self.quiet or self.json):
            self.err.print(shown(text), style="dim")

    def notes(self, texts: Any) -> None:
        """Tell each of the notes that came with a result."""
        for text in texts:
            self.note(f"note: {text}")

    def fail(self, error: MnemicError) -> int:
        """Report an error, one red line and a hint on stderr; return the exit code."""
        if self.json:
            self.print_json({"error": plain_error(error)})
        self.err.print(f"error: {shown(str(error))}", style="red", soft_wrap=True)
        advice = hint(error)
        if advice and not self.quiet:
            self.err.print(f"hint: {advice}", style="dim", soft_wrap=True)
        return exit_code(error)

    def ask_first(self, question: str) -> None:
        """Ask before erasing much; without a terminal to ask in, `--yes` must have said it."""
        if self.json or not sys.stdin.isatty():
            raise InputError("yes", "is needed to erase this much without a terminal to ask in: add --yes")
        typer.confirm(shown(question), abort=True, err=True)

    @contextmanager
    def progress(self, title: str, total: int | None = None) -> Iterator[Callable[[int, int | None], None]]:
        """Show a bar on stderr while work goes on; what is handed out is told how much is done, and of how much."""
        from rich import progress  # noqa: PLC0415 - rich is imported by those who print

        columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), progress.MofNCompleteColumn())
        hidden = self.quiet or not self.err.is_terminal
        with progress.Progress(
            *columns, progress.TimeElapsedColumn(), console=self.err, transient=True, disable=hidden
        ) as bar:
            task = bar.add_task(title, total=total)
            yield lambda done, whole: bar.update(task, completed=done, total=whole)


def face_of(context: typer.Context) -> Face:
    """Return what the options before the command said."""
    found = context.find_object(Face)
    return found if found is not None else Face()


def leave_when_nothing(found: object) -> None:
    """End with the exit code for "nothing" unless something was found."""
    if not found:
        raise typer.Exit(NOTHING)


def login_name() -> str:
    """Return the name of who is logged in, `me` where the system does not know."""
    try:
        return getpass.getuser() or "me"
    except (KeyError, OSError, ImportError):
        return "me"


def read_words(words: list[str], name: str) -> str:
    """Return a text given as arguments, or all of stdin for `-`."""
    text = sys.stdin.read() if words == ["-"] else " ".join(words)
    if not text.strip():
        raise InputError(name, "is empty; give it as an argument, or - and pipe it in")
    return text.rstrip("\n")


def _console(*, stderr: bool) -> Console:
    from rich.console import Console  # noqa: PLC0415 - as above

    console = Console(stderr=stderr, highlight=False, emoji=False, markup=False)
    if not console.is_terminal and console.width == 80:  # rich's guess for a pipe
        console.width = WIDTH
    return console


def _speaks_unicode() -> bool:
    return "utf" in (getattr(sys.stdout, "encoding", None) or "").lower()
