"""`mnemic usage`: what language models have cost, in calls, tokens and seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mnemic.model.language import Call, Spent, Usage
from mnemic.shells.cli.face import Cube, face_of
from mnemic.shells.cli.wording import clock, one_line, plural


def usage(
    context: typer.Context,
    *,
    last: Annotated[int, typer.Option(help="Show so many of the last calls too.", min=0, max=1_000)] = 0,
    cube: Cube = None,
) -> None:
    """Show what language models have cost: by purpose and model, today and altogether."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        spent = memory.llm.usage(user=face.user, cube=cube)
        calls = memory.llm.calls(user=face.user, limit=last, cube=cube) if last else ()
        name = memory.llm.name
    found = {"model": name, "usage": spent, "calls": calls}
    face.show(found, lambda: Group(_told(name), table(spent), *([_calls(calls)] if calls else [])))


def table(found: Usage) -> RenderableType:
    """Return sums by purpose and model; nothing when no call was made."""
    if not found.total.calls:
        return Text("no call was made yet", "dim")
    drawn = Table(box=None, pad_edge=False, header_style="dim")
    drawn.add_column("purpose")
    drawn.add_column("model")
    for name in ("calls", "failed", "tokens in", "tokens out", "seconds"):
        drawn.add_column(name, justify="right")
    for each in found.by_purpose:
        drawn.add_row(each.purpose, one_line(each.model, 40), *_cells(each.spent))
    drawn.add_row("today", "", *_cells(found.today), style="cyan")
    drawn.add_row("altogether", "", *_cells(found.total), style="bold")
    return drawn


def _told(name: str | None) -> Text:
    if name is None:
        return Text("no language model is configured; `mnemic models` tells how to have one", "dim")
    return Text(f"language model: {one_line(name, 60)}")


def _cells(spent: Spent) -> tuple[str, ...]:
    counts = (spent.calls, spent.failed, spent.tokens_in, spent.tokens_out)
    return (*(f"{count:,}" for count in counts), f"{spent.seconds:,.1f}")


def _calls(found: Sequence[Call]) -> RenderableType:
    lines = [
        Text(
            f"{clock(each.at)}  {each.purpose}, {one_line(each.model, 40)}: {plural(each.tokens_in, 'token')} in, "
            f"{each.tokens_out:,} out, {each.seconds:.1f} s, {each.outcome}",
            "dim" if each.outcome == "ok" else "yellow",
        )
        for each in found
    ]
    return Group(*lines)
