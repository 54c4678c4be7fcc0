"""What an owner's hand does to a memory: it corrects the current version, or lets an earlier one hold again.

Either makes a new version in the current one's place: that one stays as history and lasts no longer, since the owner
says that it never held. Nothing here locks a memory; what is said later may change it again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from mnemic.core.extraction import extract
from mnemic.core.wording import stems_key
from mnemic.errors import InputError, NotFoundError
from mnemic.model.memory import Change, Memory, MemoryKind, Version
from mnemic.text import fold


def edited(memory: Memory, text: str, *, version_id: str, recorded_at: datetime) -> Memory:
    """Return the memory with a new text in the current one's place, on the same sources."""
    current = memory.current
    if text == current.text:
        return memory
    value, polarity = _edited_value(memory, text)
    version = replace(
        current,
        id=version_id,
        text=text,
        value=value,
        polarity=polarity,
        recorded_at=recorded_at,
        confidence=1.0,
        change=Change.EDITED,
        valid_to=_end(memory, current),
    )
    return in_place_of_current(memory, version)


def restored(memory: Memory, number: int | None, *, version_id: str, recorded_at: datetime) -> Memory:
    """Return the memory with what an earlier version said in the place of its current one.

    `number` names that version; None takes the one before the current. Raises `NotFoundError` when there is none of
    that number, `InputError` when there is nothing earlier or when it is the current one.
    """
    current = memory.current
    chosen = _earlier(memory, current) if number is None else _numbered(memory, number)
    if chosen.id == current.id and memory.stands:
        raise InputError("version", f"{chosen.number} is the current version; it holds already")
    version = replace(
        chosen,
        id=version_id,
        valid_from=current.valid_from if memory.stands else chosen.valid_from,
        valid_to=_end(memory, chosen),
        recorded_at=recorded_at,
        change=Change.RESTORED,
    )
    return in_place_of_current(memory, version)


def _end(memory: Memory, version: Version) -> datetime | None:
    """Return until when what takes the current version's place holds; of what was taken back, as its words say."""
    if memory.stands:
        return memory.current.valid_to
    said = [source.holds_to for source in version.sources]
    return max((each for each in said if each is not None), default=None) if None not in said else None


def keyed(memory: Memory) -> Memory:
    """Return the memory with the key that its current value asks for (see `core.reconcile.value_key`)."""
    if not memory.value_key or memory.kind is MemoryKind.INSIGHT:
        return memory
    current = memory.current
    key = stems_key(current.value)
    if memory.kind is MemoryKind.EVENT:
        key = f"{key} @{current.valid_from:%Y-%m-%d}"
    return replace(memory, value_key=key)


def in_place_of_current(memory: Memory, version: Version) -> Memory:
    """Return the memory with a version, whose number it gives, in the place of its current one, which never held."""
    current = memory.current
    closed = replace(current, valid_to=current.valid_from)
    others = [each for each in memory.versions if each.id != current.id]
    numbered = replace(version, number=_next_number(memory))
    ordered = sorted([*others, closed, numbered], key=lambda each: (each.valid_from, each.number))
    return keyed(replace(memory, versions=tuple(ordered)))


def _next_number(memory: Memory) -> int:
    return max(version.number for version in memory.versions) + 1


def _earlier(memory: Memory, current: Version) -> Version:
    place = [version.id for version in memory.versions].index(current.id)
    if place == 0:
        raise InputError("version", "there is none before the current one; `history` shows them all")
    return memory.versions[place - 1]


def _numbered(memory: Memory, number: int) -> Version:
    found = next((version for version in memory.versions if version.number == number), None)
    if found is None:
        known = ", ".join(str(each) for each in sorted(version.number for version in memory.versions))
        raise NotFoundError(f"this memory has no version {number}; it has {known}", version=number)
    return found


def _edited_value(memory: Memory, text: str) -> tuple[str, int]:
    """Return the value in an edited text and its polarity: what stands in the old value's place, what the rules of
    extraction read of the same attribute, or the whole text.
    """
    version = memory.current
    words = text.rstrip(". ")
    head, found, tail = version.text.rstrip(". ").partition(version.value)
    if found and len(words) > len(head) + len(tail):
        start, end = words[: len(head)], words[len(words) - len(tail) :]
        if (fold(start), fold(end)) == (fold(head), fold(tail)):
            return words[len(head) : len(words) - len(tail)].strip() or text, version.polarity
    for each in extract(text, speaker=memory.subject, said_at=version.valid_from):
        if each.attribute == memory.attribute and fold(each.subject) == fold(memory.subject):
            return each.value, each.polarity
    return words or text, version.polarity
