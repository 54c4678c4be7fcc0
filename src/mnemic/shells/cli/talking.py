"""`mnemic chat`: a small loop that remembers. A question is answered from memory; anything else is taken in.

What the user says is stored as turns of one session; replies are not, for they only repeat what memory holds and would
be found again as if they were evidence. It works at a terminal and with lines from a pipe.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import RenderableType
from rich.text import Text

from mnemic.shells.cli import people, showing
from mnemic.shells.cli.as_json import plain
from mnemic.shells.cli.face import Face, face_of
from mnemic.shells.cli.wording import one_line

if TYPE_CHECKING:
    from mnemic.api import Memory

ASKING: Final = frozenset(
    "what when where who whom whose which why how did do does is are was were am can could will would should".split()
)
AGENT: Final = "mnemic"
_COMMAND: Final = re.compile(r"/[a-z?]*", re.IGNORECASE)
WELCOME: Final = "Tell me things, ask me things. /profile shows what I know, /quit ends."
LEAVING: Final = frozenset({"/quit", "/exit", "quit", "exit", "/q"})


def chat(
    context: typer.Context,
    *,
    session: Annotated[
        str | None, typer.Option(help="Name of the conversation (default: a new one for today).")
    ] = None,
    cube: Annotated[str | None, typer.Option(help="A cube's id (default: the user's own).")] = None,
) -> None:
    """Talk to the memory: it keeps what you say and answers questions from it."""
    face = face_of(context)
    name = session or f"chat {datetime.now().astimezone():%Y-%m-%d %H:%M}"
    turns: list[Any] = []
    with face.memory() as memory:
        face.note(WELCOME)
        for line in _lines(face):
            if line.lower() in LEAVING:
                break
            if line == "/profile":
                found = memory.profile(user=face.user, cube=cube)
                turns.append({"said": line, "profile": plain(found)})
                _reply(face, people.profile(found))
                continue
            if _COMMAND.fullmatch(line):
                face.note(f"{line} is no command, and was not stored. {WELCOME}" if line != "/help" else WELCOME)
                continue
            turns.append(_turn(face, memory, line, name, cube))
    if face.json:
        face.print_json({"session": name, "turns": turns})


def _turn(face: Face, memory: Memory, line: str, session: str, cube: str | None) -> dict[str, Any]:
    """Answer or take in one line, and store it."""
    if is_question(line):
        said = memory.ask(line, user=face.user, cubes=cube)
        memory.add(line, user=face.user, session=session, agent=AGENT, cube=cube)
        _reply(face, showing.answer(said, limit=2))
        return {"said": line, "answer": plain(said)}
    receipt = memory.add(line, user=face.user, session=session, agent=AGENT, cube=cube, wait=True)
    learned = [
        memory_.current.text
        for message in receipt.message_ids
        for memory_ in memory.explain(message, user=face.user, cube=cube).derived
    ]
    text = "Noted." if not learned else "Noted: " + "; ".join(one_line(one, 120).rstrip(".") for one in learned) + "."
    _reply(face, Text(text, "green"))
    return {"said": line, "learned": learned}


def is_question(line: str) -> bool:
    """Tell whether a line asks: it ends in a question mark, or begins as a question does."""
    words = line.lower().split()
    return line.rstrip().endswith("?") or (bool(words) and words[0].rstrip("'s") in ASKING)


def _lines(face: Face) -> Iterator[str]:
    """Yield what is typed or piped, without empty lines; Ctrl-D and Ctrl-C end it."""
    typed = sys.stdin.isatty() and not face.json
    while True:
        if typed:
            face.err.print(Text("you: ", "bold cyan"), end="")
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            return
        if not line:
            return
        if line.strip():
            yield line.strip()


def _reply(face: Face, words: RenderableType) -> None:
    if not face.json:
        face.out.print(words)
