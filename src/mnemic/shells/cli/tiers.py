"""The three tiers as a terminal shows them: short-term pages, mid-term topics with heat, long-term memories by kind.

It draws what `stats` says and decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mnemic.model.item import Stats, Warm
from mnemic.shells.cli.showing import COLORS
from mnemic.shells.cli.wording import bar, day, one_line, plural, size, span

KINDS: Final = ("fact", "preference", "event", "insight")
BAR: Final = 12


def warmest(segments: Sequence[Warm]) -> list[Warm]:
    """Return segments, warmest first."""
    return sorted(segments, key=lambda warm: (-warm.heat, warm.segment.id))


def heat_bar(heat: float, hottest: float, width: int = BAR) -> Text:
    """Return a bar as long as the heat's share of the hottest, coloured by it."""
    share = heat / hottest if hottest > 0 else 0.0
    color = "bright_red" if share > 2 / 3 else "yellow" if share > 1 / 3 else "blue"
    return Text.assemble((bar(share, width), f"{color} on grey15"), (f" {heat:5.1f}", color))


def panel(stats: Stats, *, segments: int = 4) -> RenderableType:
    """Return the tiers, a few lines for each, in a fixed number of lines so that it can be redrawn in place."""
    long_term = sum(stats.memories.values())
    order = ", warmest first" if segments and len(stats.segments) > 1 else ""
    rows: list[RenderableType] = [
        Text.assemble(
            ("short-term  ", "bold cyan"), (bar(stats.short_term / max(stats.capacity, 1), BAR), "cyan on grey15"),
            f"  {plural(stats.short_term, 'page')}, room for {stats.capacity} in each session",
        ),
        Text.assemble(
            ("mid-term    ", "bold yellow"), f"{plural(len(stats.segments), 'topic')}{order}"
        ),
    ]  # fmt: skip
    hottest = warmest(stats.segments)
    rows += [topic(warm, hottest[0].heat) for warm in hottest[:segments]]
    rows += [Text("")] * (segments - len(hottest))
    counts = [(plural(stats.memories[kind], kind) + "  ", COLORS[kind]) for kind in KINDS if stats.memories.get(kind)]
    changed = f"{stats.superseded} superseded" if stats.superseded else ""
    total = f"{plural(long_term, 'memory')}  "
    rows.append(Text.assemble(("long-term   ", "bold green"), total, *counts, (changed, "dim")))
    return Group(*rows)


def topic(warm: Warm, hottest: float) -> RenderableType:
    """Return one line for a segment: heat, pages, dates, keywords."""
    segment = warm.segment
    line = Text.assemble(
        "            ", heat_bar(warm.heat, hottest), f"  {plural(segment.pages, 'page'):>8}  ",
        (f"{one_line(segment.title)}  " if segment.title else "", "bold"),
        (f"{', '.join(one_line(word) for word in segment.keywords[:6])}", "white"),
    )  # fmt: skip
    line.truncate(98, overflow="ellipsis")
    return line


def topics(segments: Sequence[Warm], limit: int) -> RenderableType:
    """Return the warmest segments as a table."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("heat", "visits", "pages", "when", "keywords"):
        table.add_column(name, no_wrap=name != "keywords")
    found = warmest(segments)
    for warm in found[:limit]:
        segment = warm.segment
        dates = span(segment.started_at, segment.ended_at)
        words = Text(", ".join(one_line(word) for word in segment.keywords[:8]))
        table.add_row(heat_bar(warm.heat, found[0].heat), str(segment.visits), str(segment.pages), dates, words)
    return table if found else Text("no topics yet: pages are still short-term", "dim")


def overview(stats: Stats, *, segments: int = 8) -> RenderableType:
    """Return the answer to `stats`."""
    queue = ", ".join(f"{count} {state}" for state, count in stats.jobs.items() if count) or "none"
    facts = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    latest = day(stats.latest_said) if stats.latest_said else "never"
    facts.add_row(
        Text("messages", "dim"), f"{stats.messages:,} in {plural(stats.sessions, 'session')}, latest {latest}"
    )
    facts.add_row(Text("topics", "dim"), f"{len(stats.segments):,} warm, {stats.archived:,} archived")
    facts.add_row(Text("jobs", "dim"), queue)
    facts.add_row(Text("on disk", "dim"), size(stats.bytes_on_disk))
    if stats.files:
        facts.add_row(Text("files", "dim"), f"{stats.files:,}, {size(stats.file_bytes)}")
    if stats.documents:
        facts.add_row(Text("documents", "dim"), f"{stats.documents:,}, {stats.chunks:,} passages")
    facts.add_row(Text("embedder", "dim"), Text(one_line(stats.embedder)))
    spent = stats.usage.total
    if spent.calls:
        failed = f" ({spent.failed:,} failed)" if spent.failed else ""
        tokens = spent.tokens_in + spent.tokens_out
        told = f"{plural(spent.calls, 'call')}{failed}, {tokens:,} tokens; today {stats.usage.today.calls:,}"
        facts.add_row(Text("model", "dim"), told)
    notes = [Text(f"note: {one_line(note)}", "dim") for note in stats.notes]
    return Group(facts, Text(""), panel(stats, segments=0), Text(""), topics(stats.segments, segments), *notes)
