"""What is left of a memory when messages that it stands on are erased, decided by its sources and its words.

A version stays while a message that is left supports it and everything in its words can be found there. Otherwise it
goes, and the messages that are left are read again: they may still say less.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mnemic.core.curating import keyed
from mnemic.core.wording import stems_key
from mnemic.ids import content_hash
from mnemic.model.memory import Memory, Source, Version
from mnemic.text import content_terms, fold, terms


@dataclass(frozen=True, slots=True)
class Remains:
    """The memory that is left (None: nothing), and the messages that are to be read again."""

    memory: Memory | None
    unread: frozenset[str]


def remains(memory: Memory, erased: Mapping[str, str], texts: Mapping[str, str]) -> Remains:
    """Return what is left of a memory when the messages `erased` (text by id) go; `texts` has those of its others.

    Where a version goes, the one that it took the place of goes on until what came after. A version without sources
    is its owner's own word and stays.
    """
    kept: list[Version] = []
    unread: set[str] = set()
    for version in memory.versions:
        left = tuple(source for source in version.sources if source.message_id not in erased)
        if len(left) == len(version.sources):
            kept.append(version)
        elif left and not _tells(version, erased, texts, left):
            kept.append(replace(version, sources=left))
        else:
            unread.update(source.message_id for source in left)
    return Remains(_kept(memory, kept), frozenset(unread))


def without(memory: Memory, version_ids: Collection[str]) -> Memory | None:
    """Return a memory without some of its versions; None when none is left."""
    return _kept(memory, [version for version in memory.versions if version.id not in version_ids])


def mark(message_id: str, subject: str, attribute: str, value: str) -> str:
    """Return what names a statement of a message without telling it: kept when its owner forgets the statement."""
    return content_hash(message_id, fold(subject), attribute, stems_key(value))


def marks(memory: Memory, version_ids: Collection[str]) -> set[str]:
    """Return the marks of some versions of a memory, one for each message that they stand on."""
    return {
        mark(source.message_id, memory.subject, memory.attribute, version.value)
        for version in memory.versions
        if version.id in version_ids
        for source in version.sources
    }


def leaks(text: str, erased: Iterable[str], left: Iterable[str]) -> bool:
    """Tell whether a text has a word that an erased text has, and none of those that are left."""
    lost = {term for each in erased for term in terms(each)} - {term for each in left for term in terms(each)}
    return not lost.isdisjoint(content_terms(text))


def _tells(version: Version, erased: Mapping[str, str], texts: Mapping[str, str], left: tuple[Source, ...]) -> bool:
    """Tell whether a version's words come from a message that is erased."""
    said = f"{version.text} {version.value} {version.time.words if version.time else ''}"
    lost = [erased[source.message_id] for source in version.sources if source.message_id in erased]
    known = [f"{source.speaker} {source.quote} {texts.get(source.message_id, '')}" for source in left]
    return leaks(said, lost, known)


def _kept(memory: Memory, kept: Sequence[Version]) -> Memory | None:
    """Return the memory with these of its versions, each lasting until the one that follows it."""
    if not kept:
        return None
    by_id = {version.id: version for version in kept}
    ordered = list(memory.versions)
    for place in range(len(ordered) - 1, 0, -1):  # from last to first, so that gaps add up
        gone, before = ordered[place], ordered[place - 1]
        if gone.id not in by_id and before.valid_to == gone.valid_from:
            ordered[place - 1] = replace(before, valid_to=gone.valid_to)
    versions = tuple(replace(by_id[each.id], valid_to=each.valid_to) for each in ordered if each.id in by_id)
    left = replace(memory, versions=versions)
    return keyed(left) if len(kept) < len(memory.versions) else left
