"""Putting a cube's memories in order: which say the same, which plans are over, which belong together.

Nothing is decided by meaning alone: two statements are merged by rules when their words agree as well, or when a
language model says that they are the same. Where numbers differ, or one is locked, both stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np

from mnemic.core.changing import Edit, joined, merged
from mnemic.core.comparing import comparing_prompt, standings
from mnemic.core.grounding import unsaid
from mnemic.core.profile import PLAN_LASTS, described
from mnemic.core.prompts import load, on_one_line
from mnemic.core.replies import entries_in, number_in, one_line
from mnemic.core.shapes import TEXT, list_of, object_of
from mnemic.core.timeline import SAME_EVENT
from mnemic.core.wording import value_terms
from mnemic.model.change import Action
from mnemic.model.index import Vector
from mnemic.model.language import Prompt, Reply, Turn
from mnemic.model.memory import Change, Memory, MemoryKind, Source, Version
from mnemic.text import fold

SAME: Final = 0.9
"""Cosine from which two statements are the same when half of their values' words are."""

CLOSE: Final = 0.8
"""Cosine from which they are the same when all of their values' words are, and a language model is asked otherwise."""

TOGETHER: Final = 0.55
"""Cosine to the middle of a theme from which a memory belongs to it."""

LEAST: Final = 4
"""Memories of a theme."""

THEME: Final = "insight.theme"
"""The attribute of insights that sum up memories."""

ASKED: Final = 20  # pairs, and
SUMMED: Final = 6  # themes that a language model is asked about in one run
_SHOWN: Final = 12  # memories of a theme that it is shown
_AGREE: Final = 0.5  # share of the words of two values that are in both
_LOOSE: Final = frozenset({"note", "tie", "custom"})
_INSIGHTS: Final = object_of(insights=list_of(object_of(group=TEXT, sentence=TEXT, value=TEXT)))


@dataclass(frozen=True, slots=True)
class Placed:
    """A memory with the vector of its current statement, a unit vector."""

    memory: Memory
    vector: Vector


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two memories, their cosine, and whether rules take them for the same."""

    first: Memory
    second: Memory
    cosine: float
    plain: bool


@dataclass(frozen=True, slots=True)
class Theme:
    """Memories of one person that belong together."""

    subject: str
    members: tuple[Memory, ...]


def likenesses(placed: Sequence[Placed]) -> list[Likeness]:
    """Return pairs of memories that are the same or may be, the closest first."""
    found: list[Likeness] = []
    for group in _by_person(placed):
        matrix = np.stack([each.vector for each in group])
        cosines = np.triu(matrix @ matrix.T, 1)
        for row, column in zip(*np.nonzero(cosines >= CLOSE), strict=True):
            first, second = group[row].memory, group[column].memory
            cosine = float(cosines[row, column])
            if _may_be_one(first, second):
                found.append(Likeness(first, second, cosine, _agree(first, second, cosine)))
    return sorted(found, key=lambda pair: (-pair.cosine, pair.first.id, pair.second.id))


def merges(pairs: Sequence[tuple[Memory, Memory]], ids: Iterator[str], now: datetime, reason: str) -> list[Edit]:
    """Return the edits that make one memory of those that are the same; the one with most sources stays."""
    edits: list[Edit] = []
    for group in _groups(pairs):
        kept, *gone = sorted(group, key=lambda each: (-len(each.current.sources), each.created_at, each.id))
        sources = [source for each in gone for source in each.current.sources]
        after = joined(kept, sources, version_id=next(ids), recorded_at=now)
        edits.append(Edit(Action.SUPPLEMENT, kept, after, reason))
        for each in gone:
            left = merged(each, version_id=next(ids), recorded_at=now, reason=reason)
            edits.append(Edit(Action.MERGE, each, left, reason, into=kept.id))
    return edits


def overdue(memories: Sequence[Memory], now: datetime, reason: str) -> list[Edit]:
    """Return the edits that close plans without a date of which nothing was heard for long."""
    edits: list[Edit] = []
    for memory in memories:
        current = memory.current
        if not memory.attribute.startswith("plan.") or current.valid_to is not None or memory.locked:
            continue
        if current.time is not None and current.time.end is not None and current.time.end > now:
            continue
        heard = max((source.said_at for source in current.sources), default=current.valid_from)
        end = heard + PLAN_LASTS
        if end <= now:
            closed = tuple(replace(each, valid_to=end) if each.id == current.id else each for each in memory.versions)
            edits.append(Edit(Action.CORRECT, memory, replace(memory, versions=closed), reason))
    return edits


def themes(placed: Sequence[Placed], summed: Collection[str]) -> list[Theme]:
    """Return groups of memories that belong together and are not summed up yet, the largest first."""
    found: list[Theme] = []
    for group in _by_person(placed):
        left = [each for each in group if each.memory.id not in summed and each.memory.current.polarity > 0]
        while len(left) >= LEAST:
            matrix = np.stack([each.vector for each in left])
            near = matrix @ matrix.T >= TOGETHER
            seed = int(near.sum(axis=1).argmax())
            members = [each for each, close in zip(left, near[seed], strict=True) if close]
            if len(members) < LEAST:
                break
            chosen = {each.memory.id for each in members}
            found.append(Theme(members[0].memory.subject, tuple(each.memory for each in members)))
            left = [each for each in left if each.memory.id not in chosen]
    return sorted(found, key=lambda theme: (-len(theme.members), theme.members[0].id))[:SUMMED]


def pairs_prompt(pairs: Sequence[Likeness]) -> Prompt:
    """Return what a language model is asked about pairs that rules leave open."""
    return comparing_prompt([(pair.first.current, pair.second.current) for pair in pairs])


def same_pairs(pairs: Sequence[Likeness], reply: Reply) -> list[tuple[Memory, Memory]]:
    """Return the pairs that the model says are the same. Raises `LanguageError` for a reply that is no JSON."""
    told = standings(reply, len(pairs))
    return [(pair.first, pair.second) for place, pair in enumerate(pairs) if told.get(place) == "same"]


def themes_prompt(found: Sequence[Theme]) -> Prompt:
    """Return what a language model is asked about themes."""
    lines: list[str] = []
    for number, theme in enumerate(found, 1):
        lines.append(f"g{number} | {theme.subject}")
        lines += [f"   {on_one_line(memory.current.text, 240)}" for memory in theme.members[:_SHOWN]]
    turns = (Turn("system", load("themes")), Turn("user", "\n".join(lines)))
    return Prompt(turns, schema=_INSIGHTS, max_tokens=900)


def insights(
    found: Sequence[Theme], reply: Reply, ids: Iterator[str], now: datetime, cube_key: int
) -> list[tuple[Memory, Theme]]:
    """Return the insights that the model draws and their themes bear out: no name and no number is new in them."""
    drawn: list[tuple[Memory, Theme]] = []
    left = dict(enumerate(found, 1))
    for entry in entries_in(reply, "insights"):
        theme = left.pop(number_in(entry.get("group")), None)
        text, value = one_line(entry.get("sentence"), 400), one_line(entry.get("value"), 120)
        if theme is None or not text or not value:
            continue
        said = [memory.current.text for memory in theme.members]
        if unsaid(text, value, [*said, theme.subject], None) is not None or fold(text) in map(fold, said):
            continue
        drawn.append((_insight(theme, text, value, reply.model, ids, now, cube_key), theme))
    return drawn


def _insight(
    theme: Theme, text: str, value: str, model: str, ids: Iterator[str], now: datetime, cube_key: int
) -> Memory:
    sources = _sources(theme.members)
    version = Version(
        id=next(ids),
        number=1,
        text=text,
        value=value,
        polarity=1,
        valid_from=max(memory.current.valid_from for memory in theme.members),
        valid_to=None,
        time=None,
        recorded_at=now,
        confidence=round(1 - 1 / (1 + len(theme.members) / 2), 3),
        change=Change.ADDED,
        sources=sources,
        drawn_by=model,
        reason=f"drawn from {len(theme.members)} memories",
    )
    key = next(ids)
    return Memory(key, cube_key, MemoryKind.INSIGHT, theme.subject, THEME, key, locked=False, created_at=now,
                  versions=(version,))  # fmt: skip


def _sources(members: Sequence[Memory]) -> tuple[Source, ...]:
    firsts = (memory.current.sources[0] for memory in members[:_SHOWN] if memory.current.sources)
    return tuple({source.message_id: source for source in firsts}.values())


def _by_person(placed: Sequence[Placed]) -> list[list[Placed]]:
    """Return what is derived, stands and holds, by person; groups of one are left out."""
    grouped: dict[str, list[Placed]] = {}
    for each in placed:
        memory = each.memory
        if memory.kind is not MemoryKind.INSIGHT and memory.stands and not memory.locked:
            grouped.setdefault(fold(memory.subject), []).append(each)
    return [group for group in grouped.values() if len(group) > 1]


def _may_be_one(first: Memory, second: Memory) -> bool:
    one, other = first.current, second.current
    if one.polarity != other.polarity or (one.valid_to is None) != (other.valid_to is None):
        return False
    if (first.kind is MemoryKind.EVENT) != (second.kind is MemoryKind.EVENT):
        return False
    if first.kind is MemoryKind.EVENT and abs(one.valid_from - other.valid_from) > SAME_EVENT:
        return False
    if first.attribute == second.attribute and not first.value_key:
        return False  # two answers to one question: reconciling has decided about them
    changed = value_terms(one.value) ^ value_terms(other.value)
    return not any(char.isdigit() for term in changed for char in term)


def _agree(first: Memory, second: Memory, cosine: float) -> bool:
    mine, theirs = value_terms(first.current.value), value_terms(second.current.value)
    if len(mine & theirs) < (_AGREE if cosine >= SAME else 1) * len(mine | theirs):
        return False
    groups = {described(each.attribute).group for each in (first, second)}
    loose = any(each.attribute.split(".", 1)[0] in _LOOSE for each in (first, second))
    return len(groups) == 1 or loose


def _groups(pairs: Sequence[tuple[Memory, Memory]]) -> list[list[Memory]]:
    """Return memories joined by pairs as groups."""
    by_id = {memory.id: memory for pair in pairs for memory in pair}
    head = {each: each for each in by_id}

    def top(each: str) -> str:
        while head[each] != each:
            each = head[each]
        return each

    for first, second in pairs:
        head[top(second.id)] = top(first.id)
    found: dict[str, list[Memory]] = {}
    for each, memory in by_id.items():
        found.setdefault(top(each), []).append(memory)
    return list(found.values())
