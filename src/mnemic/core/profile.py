"""What memories say about a person at one moment: typed attributes with their evidence and history.

Only what holds at that moment is in a profile. What has ended, plans whose time has passed and past events are the
history of a life: they stay memories, and are not part of who somebody is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from mnemic.core.extraction.attributes import ATTRIBUTES, Attribute, attribute_of
from mnemic.model.memory import Memory, Version
from mnemic.model.profile import ProfileEntry
from mnemic.text import fold

GROUPS: Final = (
    "identity",
    "home",
    "work",
    "education",
    "languages",
    "relations",
    "health",
    "diet",
    "possessions",
    "habits",
    "preferences",
    "interests",
    "traits",
    "plans",
    "events",
    "custom",
    "notes",
    "ties",
    "agent",
)
"""The groups of a profile in their order; a group that is not named here comes last."""

PLAN_LASTS: Final = timedelta(days=180)
"""How long a plan without a date counts as one."""

_DENIALS_TELL: Final = frozenset({"health", "diet", "habits", "preferences", "interests"})
"""Groups in which it says something about a person that a statement is not so."""

_PREFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {"language": "languages", "relation": "relations", "possession": "possessions", "habit": "habits",
     "preference": "preferences", "interest": "interests", "plan": "plans", "event": "events", "trait": "traits",
     "note": "notes", "tie": "ties"}
)  # fmt: skip

_RANK: Final[Mapping[str, int]] = MappingProxyType({name: place for place, name in enumerate(ATTRIBUTES)})


def build_profile(memories: Sequence[Memory], at: datetime | None = None) -> tuple[ProfileEntry, ...]:
    """Return what holds at a moment, by person, group and attribute; the surest of one attribute comes first.

    With no moment, the newest time of saying among the sources is taken. Two memories that contradict each other both
    have their entry.
    """
    said = [source.said_at for memory in memories for version in memory.versions for source in version.sources]
    moment = at if at is not None else max(said, default=None)
    entries: list[ProfileEntry] = []
    for memory in memories:
        attribute = described(memory.attribute)
        version = _holding(memory, attribute.group, moment)
        if version is not None and (version.polarity > 0 or attribute.group in _DENIALS_TELL):
            entries.append(_entry(memory, version, attribute))
    return tuple(sorted(entries, key=_order))


def known_as(memories: Iterable[Memory], user: str) -> str:
    """Return under which name a user is known: the user's own, or that of the only one who has ever spoken."""
    held = list(memories)
    subjects = {fold(memory.subject): memory.subject for memory in held}
    if fold(user) in subjects:
        return subjects[fold(user)]
    sources = (source for memory in held for version in memory.versions for source in version.sources)
    spoke = {source.speaker for source in sources if source.speaker and fold(source.speaker) in subjects}
    return spoke.pop() if len(spoke) == 1 else user


def described(name: str) -> Attribute:
    """Return the attribute of a dotted name; for one outside the tree, its group by what stands before the dot."""
    try:
        return attribute_of(name)
    except KeyError:
        parent, _, leaf = name.partition(".")
        label = (leaf or parent).replace("_", " ").replace(".", " ").capitalize()
        return Attribute(name, single=False, label=label, group=_PREFIXES.get(parent, parent))


def _holding(memory: Memory, group: str, moment: datetime | None) -> Version | None:
    """Return the version that holds at the moment; of an event or a plan, one that is still to come."""
    if not memory.versions:
        return None
    if moment is None:
        return memory.current if memory.current.valid_to is None else None
    if group == "events":
        coming = [each for each in memory.versions if each.valid_from > moment and each.valid_to != each.valid_from]
        return coming[0] if coming else None
    holding = [
        version
        for version in memory.versions
        if version.valid_from <= moment and (version.valid_to is None or moment < version.valid_to)
    ]
    if not holding or (group == "plans" and not _is_coming(holding[-1], moment)):
        return None
    return holding[-1]


def _is_coming(version: Version, moment: datetime) -> bool:
    if version.time is not None and version.time.end is not None:
        return moment < version.time.end
    newest = max((source.said_at for source in version.sources), default=version.valid_from)
    return moment - newest < PLAN_LASTS


def _entry(memory: Memory, version: Version, attribute: Attribute) -> ProfileEntry:
    earlier = (other for other in memory.versions if other.id != version.id and other.valid_from <= version.valid_from)
    return ProfileEntry(
        memory_id=memory.id,
        subject=memory.subject,
        group=attribute.group,
        attribute=memory.attribute,
        label=attribute.label,
        value=version.value,
        polarity=version.polarity,
        confidence=version.confidence,
        since=version.valid_from,
        text=version.text,
        evidence=version.sources,
        history=tuple(earlier),
        locked=memory.locked,
    )


def _order(entry: ProfileEntry) -> tuple[str, int, str, int, str, float, str, str]:
    place = GROUPS.index(entry.group) if entry.group in GROUPS else len(GROUPS)
    rank = _RANK.get(entry.attribute, len(_RANK))
    return (
        fold(entry.subject), place, entry.group, rank, entry.attribute,
        -entry.confidence, entry.value, entry.memory_id,
    )  # fmt: skip
