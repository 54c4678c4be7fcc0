"""Results as people read them in a terminal: hits, answers, items, versions, receipts.

Everything stored is untrusted text: it is made safe here and never read as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mnemic.model.answer import Answer
from mnemic.model.change import MemoryChange
from mnemic.model.extraction import Extraction
from mnemic.model.item import Explanation, Item
from mnemic.model.memory import Memory, Source, Version
from mnemic.model.message import Session
from mnemic.model.query import Hit, Results, Why
from mnemic.model.receipt import Added, Forgotten, Imported
from mnemic.model.scope import Cube
from mnemic.shells.cli.wording import clock, day, excerpt, one_line, plural, shown, span

QUOTE: Final = 160
"""Characters of a quote before it is cut."""

COLORS: Final[Mapping[str, str]] = {
    "message": "cyan",
    "segment": "blue",
    "fact": "green",
    "preference": "magenta",
    "event": "yellow",
    "insight": "bright_blue",
}


def inset(inner: RenderableType, left: int = 4) -> Padding:
    """Return something moved to the right, without blanks behind it."""
    return Padding(inner, (0, 0, 0, left), expand=False)


def results(found: Results) -> RenderableType:
    """Return hits, best first, with what each stands on."""
    if not found:
        return Text("nothing found" + (f" ({found.cut} below the threshold)" if found.cut else ""), "dim")
    parts: list[RenderableType] = []
    for number, hit in enumerate(found, start=1):
        head = Text.assemble(
            (f"{number:>2}  {hit.score:.2f}  ", "bold"), (f"{hit.kind}  ", COLORS.get(hit.kind, "white")),
            day(hit.said_at), "  ", (_who(hit, 24), "bold"), (f"  {one_line(hit.session, 24)}", "dim"),
            (f"  until {day(hit.valid_to)}" if hit.valid_to else "", "red"),
        )  # fmt: skip
        parts += [head, inset(Text(shown(hit.text)))]
        if hit.note:
            parts.append(inset(Text(one_line(hit.note, 300), "red")))
        if hit.kind != "message" and hit.locator is None:
            parts.append(inset(sources(hit.sources[:3])))
        if hit.why is not None:
            parts.append(inset(Text(why(hit.why), "dim")))
        parts.append(inset(Text(hit.id, "dim")))
    if found.cut:
        parts.append(Text(f"{found.cut} more below the threshold", "dim"))
    return Group(*parts)


def why(reason: Why) -> str:
    """Return the channels and boosts of a hit on one line."""
    channels = [f"{name} #{rank} {part:+.3f}" for name, (rank, part) in reason.channels.items()]
    boosts = [f"{name} {amount:+.3f}" for name, amount in reason.boosts.items()]
    return "why: " + " · ".join([*channels, *boosts])


def sources(found: Iterable[Source], *, limit: int = QUOTE, near: str = "") -> RenderableType:
    """Return a row for each source: date, speaker or place in a document, words; of long ones those around `near`."""
    rows = Table.grid(padding=(0, 1, 0, 0))
    for source in found:
        rows.add_row(Text("\u21b3", "dim"), *_cells(source, excerpt(source.quote, limit, near)))
    return rows


def _cells(source: Source | Hit, words: str) -> tuple[Text, Text, Text]:
    """Return when, who or where, and the words; a place in a document stands above its words, since it is long."""
    quote = Text(f"\u201c{words}\u201d", "dim")
    if source.locator is not None:
        quote = Text.assemble((_who(source), "bold dim"), "\n", quote)
        return Text(day(source.said_at), "dim"), Text(""), quote
    return Text(day(source.said_at), "dim"), Text(_who(source, 20), "bold dim"), quote


def _who(source: Source | Hit, limit: int = 200) -> str:
    """Return who said it, or where in a document it stands."""
    return one_line(source.speaker, limit) if source.locator is None else one_line(str(source.locator), 200)


def answer(said: Answer, *, limit: int = 4, talk: bool = False) -> RenderableType:
    """Return an answer with a line for each citation; in `talk`, what is not found in memory is not remarkable."""
    style = "bold" if said.found or talk else "bold yellow"
    return Group(Text(shown(said.text), style), beneath(said, limit=limit, talk=talk))


def beneath(said: Answer, *, limit: int = 4, talk: bool = False) -> RenderableType:
    """Return what stands below an answer's text: what it stands on, who wrote it, what could be asked next."""
    parts: list[RenderableType] = []
    if said.numbers:
        parts.append(inset(_numbered(said), 2))
    elif said.citations:
        parts.append(inset(sources(cited(said.citations[:limit]), near=said.text), 2))
    parts += [Text(f"looked further for: {one_line(query, QUOTE)}", "dim") for query in said.searches]
    parts += [Text(f"next: {one_line(question, QUOTE)}", "dim cyan") for question in said.suggestions]
    about = [] if said.found or talk else ["not in memory"]
    about += [one_line(said.mode, 60)]
    about += [f"confidence {said.confidence:.2f}"] if said.found or not talk else []
    if said.spent.calls:
        about.append(f"{plural(said.spent.calls, 'call')}, {said.spent.tokens_in:,} + {said.spent.tokens_out:,} tokens")
    parts.append(Text(" · ".join(about), "dim"))
    return Group(*parts)


def _numbered(said: Answer) -> RenderableType:
    """Return a row for each citation, with the number that the text has for it."""
    rows = Table.grid(padding=(0, 1, 0, 0))
    for number, hit in zip(said.numbers, said.citations, strict=True):
        rows.add_row(Text(f"[{number}]", "bold dim"), *_cells(hit, excerpt(hit.text, QUOTE, said.text)))
    return rows


def cited(hits: Sequence[Hit]) -> list[Source]:
    """Return what is cited: the same message once, and each passage of a document with its place."""
    told: dict[str, Source] = {}
    for hit in hits:
        stands_on = hit.sources or (Source(hit.id, hit.text, hit.said_at, hit.speaker, hit.session),)
        for source in stands_on[:2]:
            words = hit.text if hit.kind == "message" else source.quote
            told.setdefault(source.message_id or hit.id, replace(source, quote=words))
    return list(told.values())


def items(found: Sequence[Item]) -> RenderableType:
    """Return messages and memories, one a row."""
    table = columns("id", "kind", "when", "who", "text")
    for item in found:
        if isinstance(item, Memory):
            current = item.current
            closed = " (no longer)" if current.valid_to else ""
            lock = "locked: " if item.locked else ""
            words = Text(lock + one_line(current.text, 300) + closed)
            row = (item.kind.value, day(current.valid_from), item.subject, words)
        else:
            row = ("message", day(item.said_at), item.speaker, Text(one_line(item.text, 300)))
        kind, when, who, words = row
        table.add_row(item.id, Text(kind, COLORS.get(kind, "white")), when, Text(one_line(who, 16)), words)
    return table if found else Text("nothing here yet", "dim")


def explained(found: Explanation) -> RenderableType:
    """Return one item whole: what it says, where it lies, what it stands on and what stands on it."""
    item = found.item
    parts: list[RenderableType] = []
    if isinstance(item, Memory):
        current = item.current
        parts += [
            Text(shown(current.text), "bold"),
            facts(
                ("id", item.id), ("kind", item.kind.value), ("about", item.subject), ("attribute", item.attribute),
                ("value", current.value), ("holds", held(current)), ("confidence", f"{current.confidence:.2f}"),
                ("versions", str(len(item.versions))), ("locked", "yes" if item.locked else "no"), ("tier", found.tier),
                ("drawn by", drawn_by(current)), ("because", current.reason),
            ),
        ]  # fmt: skip
    else:
        parts += [
            Text(shown(item.text), "bold"),
            facts(
                ("id", item.id), ("your id", item.external_id or ""), ("kind", "message"), ("role", item.role.value),
                ("speaker", item.speaker), ("said", clock(item.said_at)), ("stored", clock(item.stored_at)),
                ("session", item.session), ("tier", found.tier),
            ),
        ]  # fmt: skip
    if found.segment is not None:
        title = f"{one_line(found.segment.title)}: " if found.segment.title else ""
        parts.append(Text(f"topic: {title}{', '.join(found.segment.keywords[:8])}", "blue"))
    if isinstance(item, Memory) and found.sources:
        parts += [Text("stands on", "bold"), inset(sources(found.sources))]
    if found.derived:
        parts.append(Text("what was learned from it", "bold"))
        parts += [inset(Text(f"{one.kind.value}: {one_line(one.current.text)}")) for one in found.derived]
    if found.relations:
        parts.append(Text("relations", "bold"))
        parts += [inset(Text(f"{kind}: {start} → {end}", "dim")) for kind, start, end in found.relations]
    return Group(*parts)


def drawn_by(version: Version) -> str:
    """Return who drew a version from what it stands on."""
    if version.drawn_by:
        return version.drawn_by
    return "rules" if version.sources else "its owner"


def held(version: Version) -> str:
    """Return when a version held."""
    if version.valid_to is None:
        return f"since {day(version.valid_from)}"
    return span(version.valid_from, version.valid_to)


def versions(found: Sequence[Version]) -> RenderableType:
    """Return the versions of a memory, one a row."""
    table = columns("#", "held", "change", "text")
    for version in found:
        style = "bold" if version.valid_to is None else "dim"
        table.add_row(str(version.number), held(version), version.change.value, Text(shown(version.text), style))
        if version.sources:
            table.add_row("", "", "", sources(version.sources[:2]))
    return table


def added(receipt: Added) -> RenderableType:
    """Return what an add did, with the ids."""
    said = f"stored {plural(receipt.stored, 'message')} in session {one_line(receipt.session, 40)}"
    lines = [Text(said, "green" if receipt.stored else "yellow")]
    lines += [
        Text(f"skipped message {skip.index + 1}: {skip.reason}" + (f" ({skip.id})" if skip.id else ""), "yellow")
        for skip in receipt.skipped
    ]
    lines += [Text(f"  {message_id}", "dim") for message_id in receipt.message_ids]
    return Group(*lines)


def extraction(found: Extraction) -> RenderableType:
    """Return what a dry run found: each statement, what it would change, and its evidence."""
    lines: list[RenderableType] = [Text(f"read by {found.mode}; nothing was stored", "dim")]
    for item in found.items:
        head = Text(f"{item.change:<11}", "cyan" if item.change == "new" else "yellow")
        head.append(f"{item.kind.value} ", "dim").append(one_line(item.text, 200), "bold")
        lines.append(head)
        about = f"{item.attribute} \u00b7 {item.confidence:.2f} \u00b7 {day(item.valid_from)}"
        lines.append(inset(Text(f"{about} \u00b7 \u201c{one_line(item.quote, QUOTE)}\u201d", "dim")))
        if item.beside:
            lines.append(inset(Text(f"beside: {one_line(item.beside, 200)}", "dim")))
        if item.reason:
            lines.append(inset(Text(f"because: {one_line(item.reason, 200)}", "dim")))
    lines += [Text(f"not believed: {one_line(each.said, 120)} ({each.reason})", "yellow") for each in found.unbelieved]
    if not found.items:
        lines.append(Text("nothing would be drawn from it; it would be kept and found as it is", "yellow"))
    return Group(*lines)


def change(found: MemoryChange) -> RenderableType:
    """Return what a change does to each memory, and how to take it back."""
    table = columns("what", "about", "before", "after", "why")
    for step in found.steps:
        table.add_row(
            step.action.value, one_line(step.subject, 24), one_line(step.before or "", 60),
            one_line(step.after or "", 60), Text(one_line(step.reason, 60), "dim"),
        )  # fmt: skip
    last = f"mnemic undo {found.id} takes it back" if found.id else "nothing was changed"
    return Group(table, Text(last, "dim"))


def forgotten(receipt: Forgotten) -> RenderableType:
    """Return what was removed."""
    counts = [plural(count, kind) for kind, count in receipt.removed.items() if count]
    return Text(f"removed {', '.join(counts)}", "green") if counts else Text("nothing to forget", "yellow")


def imported(receipt: Imported) -> RenderableType:
    """Return what an import stored."""
    counts = ", ".join(plural(count, kind) for kind, count in receipt.stored.items() if count) or "nothing new"
    there = f"; {receipt.skipped:,} there already" if receipt.skipped else ""
    return Text(f"imported {counts}{there}", "green")


def cubes(found: Sequence[Cube]) -> RenderableType:
    """Return cubes, one a row."""
    table = columns("id", "name", "kind", "owner", "made")
    for cube in found:
        table.add_row(
            cube.id,
            Text(one_line(cube.name, 40)),
            cube.kind.value,
            Text(one_line(cube.owner, 30)),
            day(cube.created_at),
        )
    return table if found else Text("no cubes yet", "dim")


def sessions(found: Sequence[Session]) -> RenderableType:
    """Return sessions, one a row."""
    table = columns("session", "messages", "from", "to")
    for session in found:
        table.add_row(
            Text(one_line(session.name, 50)), str(session.messages), clock(session.started_at), clock(session.ended_at)
        )
    return table if found else Text("no sessions yet", "dim")


def columns(*names: str) -> Table:
    """Return an empty table in the manner of this command line."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in names:
        short = name in {"id", "#", "kind", "when", "held", "state", "change"}
        table.add_column(name, no_wrap=short, overflow="ellipsis" if short else "fold")  # a long word is never cut
    return table


def facts(*pairs: tuple[str, str]) -> RenderableType:
    """Return names with their values, one a row; what is empty is left out."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for name, value in pairs:
        if value:
            table.add_row(Text(name, "dim"), Text(shown(value)))
    return table
