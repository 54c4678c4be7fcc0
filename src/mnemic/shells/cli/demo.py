"""`mnemic demo`: reads a conversation of many months, shows what forms in memory, and asks eight questions.

It writes into a new temporary folder, or into `--home` when that is named, and leaves it for what comes next.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from mnemic.errors import InputError
from mnemic.shells.cli import demo_run, demo_screen, demo_script, report
from mnemic.shells.cli.demo_run import Outcome
from mnemic.shells.cli.demo_script import Script
from mnemic.shells.cli.face import Face, face_of
from mnemic.wire.values import plain

USER: Final = "demo"


def demo(
    context: typer.Context,
    *,
    data: Annotated[Path | None, typer.Option(help="A LoCoMo-format file (default: the shipped conversation).")] = None,
    conversation: Annotated[str | None, typer.Option(help="Which of its conversations (default: the first).")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a report for the browser to this file.")] = None,
    pace: Annotated[
        float, typer.Option(min=0, max=10, help="Seconds to pause after each session, for the eye.")
    ] = 0.15,
) -> None:
    """Watch Mnemic read a conversation, form memories and answer questions."""
    face = face_of(context)
    script = demo_script.load(data, conversation)
    if html is not None and not html.absolute().parent.is_dir():
        raise InputError("html", f"{html.absolute().parent} is not a folder")
    folder = face.home or tempfile.mkdtemp(prefix="mnemic-demo-")
    outcome = _play(face, script, folder, face.user if face.named else USER, pace, html)
    if face.json:
        face.print_json({**plain(outcome), "html": None if html is None else str(html)})


def _play(face: Face, script: Script, folder: str, user: str, pace: float, html: Path | None) -> Outcome:
    screen = demo_screen.Screen(Console(quiet=True) if face.json or face.quiet else face.out, pace=pace)
    face.home = folder
    start = time.perf_counter()
    with face.memory() as memory:
        opening = time.perf_counter() - start
        screen.open(script, folder, opening, memory.llm.name)
        sessions = screen.sessions(demo_run.play(memory, script, user))
        found = demo_run.Outcome(
            conversation=script.conversation.id,
            speakers=script.conversation.speakers,
            starts=script.starts,
            ends=script.ends,
            user=user,
            folder=folder,
            opening=opening,
            sessions=tuple(sessions),
            profile=memory.profile(user=user),
            stats=memory.stats(user=user),
            answers=(),
            golden=script.golden,
            suggested=script.suggested,
            model=memory.llm.name,
        )
        screen.holdings(found)
        if memory.llm.name is not None:
            drawing = screen.drawing(memory.llm.name, lambda: demo_run.draw(memory, script, user))
            found = replace(found, drawing=drawing)
        answers = screen.answers(demo_run.ask(memory, script, user), golden=script.golden, model=found.model)
        outcome = replace(found, answers=tuple(answers), stats=memory.stats(user=user))  # asking warms topics
    if html is not None:
        _write(html, outcome)
    screen.close(outcome, None if html is None else str(html))
    return outcome


def _write(path: Path, outcome: Outcome) -> None:
    try:
        path.write_text(report.page(outcome), "utf-8")
    except OSError as error:
        raise InputError("html", f"cannot write {path}: {error.strerror}") from error
