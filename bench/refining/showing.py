"""What was made of a conversation, as tables and as a list to check by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from bench.refining.playing import Made
from bench.tables import Cell, Table
from mnemic.model.language import Spent
from mnemic.model.memory import Memory


def tables(mode: str, made: Made) -> list[Table]:
    """Return what was made, what was left out, and what it cost."""
    found = [Table(f"Memories ({mode})", ["kind", "drawn by", "memories"], _kinds(made)), _counts(made)]
    if made.reasons:
        rows: list[list[Cell]] = [
            [reason, count] for reason, count in sorted(made.reasons.items(), key=lambda e: -e[1])
        ]
        found.append(Table("Left out", ["reason", "items"], rows))
    if made.usage.by_purpose:
        found.append(_cost(made))
    return found


def _kinds(made: Made) -> list[list[Cell]]:
    counts = Counter((str(memory.kind), memory.current.drawn_by or "rules") for memory in made.memories)
    return [[kind, drawn_by, count] for (kind, drawn_by), count in sorted(counts.items())]


def _counts(made: Made) -> Table:
    rows: list[list[Cell]] = [
        ["turns", made.turns],
        ["memories", len(made.memories)],
        ["superseded versions", made.stats.superseded],
        ["entities", len(made.entities)],
        ["their mentions", sum(len(entity.mentions) for entity in made.entities)],
        ["segments", len(made.stats.segments)],
        ["segments with a title", sum(bool(warm.segment.title) for warm in made.stats.segments)],
        ["items left out", len(made.void)],
        ["jobs that ended dead", made.failed],
        ["seconds", made.seconds],
    ]
    return Table("Counts", ["what", "count"], rows)


def _cost(made: Made) -> Table:
    rows = [_spent(each.purpose, each.spent, made.turns) for each in made.usage.by_purpose]
    rows.append(_spent("all", made.usage.total, made.turns))
    columns = ["purpose", "calls", "failed", "calls per 100 turns", "prompt tokens a turn", "reply tokens a turn"]
    return Table("Cost", columns, rows)


def _spent(purpose: str, spent: Spent, turns: int) -> list[Cell]:
    return [
        purpose, spent.calls, spent.failed, 100 * spent.calls / turns, spent.tokens_in / turns,
        spent.tokens_out / turns,
    ]  # fmt: skip


def sampled(memories: Sequence[Memory], made: Made) -> Iterator[str]:
    """Yield memories with the messages that they stand on, to be checked by hand."""
    for number, memory in enumerate(memories, 1):
        current = memory.current
        until = f" until {current.valid_to:%Y-%m-%d}" if current.valid_to else ""
        sign = " NOT" if current.polarity < 0 else ""
        yield (
            f"{number}. [{memory.attribute}] {memory.subject}{sign} = {current.value!r}: {current.text} "
            f"(since {current.valid_from:%Y-%m-%d}{until})"
        )
        for source in current.sources[:3]:
            text = made.messages[source.message_id].text
            yield f"     {source.external_id} {source.speaker}: {source.quote!r} in {text!r}"
