"""`mnemic chat`: a small loop that remembers. What is said is kept and replied to from memory.

With a language model it is a conversation, shown while it is written. Without one, a question is answered from memory
and anything else is taken in, with what was learned from it. It works at a terminal and with lines from a pipe.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import RenderableType
from rich.text import Text

from mnemic.core.answering import is_question
from mnemic.errors import BudgetError, LanguageError, MnemicError
from mnemic.shells.cli import people, showing
from mnemic.shells.cli.answering import (
    Budget,
    Depth,
    MaxTokens,
    Mode,
    Model,
    Persona,
    Relationship,
    Stream,
    Style,
    Suggest,
    System,
    Temperature,
    show_stream,
    streams,
)
from mnemic.shells.cli.face import Cube, Face, face_of
from mnemic.shells.cli.wording import one_line
from mnemic.wire.problems import plain_error
from mnemic.wire.values import plain

if TYPE_CHECKING:
    from mnemic.api import Memory
    from mnemic.model.answer import Answer

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
    cube: Cube = None,
    mode: Mode = "auto",
    depth: Depth = 0,
    suggest: Suggest = 0,
    budget: Budget = 2_000,
    persona: Persona = None,
    style: Style = None,
    relationship: Relationship = None,
    system: System = None,
    model: Model = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    stream: Stream = True,
) -> None:
    """Talk to the memory: it keeps what you say and answers questions from it."""
    face = face_of(context)
    name = session or f"chat {datetime.now().astimezone():%Y-%m-%d %H:%M}"
    wishes: dict[str, Any] = {
        "session": name, "cube": cube, "agent": AGENT, "mode": mode, "depth": depth, "suggest": suggest,
        "budget": budget, "persona": persona, "style": style, "relationship": relationship, "system": system,
        "model": model, "temperature": temperature, "max_tokens": max_tokens,
    }  # fmt: skip
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
            turns.append(_turn(face, memory, line, wishes, stream=stream))
    if face.json:
        face.print_json({"session": name, "turns": turns})


def _turn(face: Face, memory: Memory, line: str, wishes: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
    """Say one line to the memory and show its reply. What this line alone came to grief on does not end the talk."""
    try:
        if stream and streams(face, memory, wishes["mode"]):
            said = show_stream(face, memory.chat_stream(line, user=face.user, **wishes))
            _reply(face, showing.beneath(said, talk=True))
        else:
            said = memory.chat(line, user=face.user, **wishes)
            if said.mode == "extractive" and not is_question(line):
                return _taken_in(face, memory, line, said, wishes["cube"])
            _reply(face, showing.answer(said, limit=2, talk=said.mode != "extractive"))
    except MnemicError as error:
        if not isinstance(error, LanguageError | BudgetError) and getattr(error, "field", "") != "message":
            raise
        if face.json:
            return {"said": line, "error": plain_error(error)}
        face.fail(error)
        return {"said": line}
    face.notes(said.notes)
    return {"said": line, "answer": plain(said)}


def _taken_in(face: Face, memory: Memory, line: str, said: Answer, cube: str | None) -> dict[str, Any]:
    """Tell what was learned from a line that no model replied to."""
    jobs = [added.job for added in said.stored if added.job is not None]
    if jobs:
        memory.jobs.wait(jobs, user=face.user, cube=cube)
    learned = [
        memory_.current.text
        for added in said.stored
        for message in added.message_ids
        for memory_ in memory.explain(message, user=face.user, cube=cube).derived
    ]
    text = "Noted." if not learned else "Noted: " + "; ".join(one_line(one, 120).rstrip(".") for one in learned) + "."
    _reply(face, Text(text, "green"))
    face.notes(said.notes)
    return {"said": line, "learned": learned, "answer": plain(said)}


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
