"""What was made of a conversation, as tables and as a list to check by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from bench.refining.playing import Made
from bench.tables import Cell, Table
from mnemic.model.memory import Memory


def tables(mode: str, made: Made) -> list[Table]:
    """Return what was made, what was left out, and what it cost."""
    found = [Table(f"Memories ({mode})", ["kind", "drawn by", "memories"], _kinds(made)), _counts(made)]
    if made.reasons:
        rows: list[list[Cell]] = [[reason, count] for reason, count in sorted(made.reasons.items(), key=lambda e: -e[1])]
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
    rows: list[list[Cell]] = []
    for each in made.usage.by_purpose:
        rows.append([each.purpose, *_spent(each.spent.calls, each.spent.failed, each.spent.tokens_in, each.spent.tokens_out, made)])
    total = made.usage.total
    rows.append(["all", *_spent(total.calls, total.failed, total.tokens_in, total.tokens_out, made)])
    columns = ["purpose", "calls", "failed", "calls per 100 turns", "prompt tokens a turn", "reply tokens a turn"]
    return Table("Cost", columns, rows)


def _spent(calls: int, failed: int, tokens_in: int, tokens_out: int, made: Made) -> list[Cell]:
    return [calls, failed, 100 * calls / made.turns, tokens_in / made.turns, tokens_out / made.turns]


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
            yield f"     {source.external_id} {source.speaker}: {source.quote!r} in {made.messages[source.message_id].text!r}"
