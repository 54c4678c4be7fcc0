"""Profiles as a terminal shows them: by person and group, with what held before and since when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mnemic.model.memory import Version
from mnemic.model.profile import Profile, ProfileEntry
from mnemic.shells.cli.showing import sources
from mnemic.shells.cli.wording import day, one_line


def profile(found: Profile, *, evidence: bool = False, limit: int | None = None) -> RenderableType:
    """Return the people of a profile; with `limit`, so many entries of each group, and how many more there are."""
    parts: list[RenderableType] = []
    if not found:
        parts.append(Text("nothing is known yet", "dim"))
    for subject, groups in found.groups().items():
        if parts:
            parts.append(Text(""))
        parts += [Text(one_line(subject), "bold underline"), _person(groups, evidence=evidence, limit=limit)]
    if found.missing:
        parts.append(Text(f"missing: {', '.join(found.missing)}", "yellow"))
    return Group(*parts)


def before(entry: ProfileEntry) -> list[Version]:
    """Return the earlier versions of an entry that held and said something else, latest first."""
    held = [version for version in entry.history if version.valid_to != version.valid_from]
    told = [version for version in held if version.value != entry.value or version.polarity != entry.polarity]
    return sorted(told, key=lambda version: version.valid_from, reverse=True)


def label(entry: ProfileEntry) -> str:
    """Return what an entry is called; what is not liked is a dislike."""
    return "Dislikes" if entry.polarity < 0 and entry.label == "Likes" else entry.label


def value(text: str, polarity: int, label: str) -> str:
    """Return a value; a denied one says so where its label does not."""
    return f"not {one_line(text)}" if polarity < 0 and label != "Dislikes" else one_line(text)


def was(entry: ProfileEntry, version: Version) -> str:
    """Return what an earlier version of an entry said: a value, or the taste that has turned."""
    if entry.label == "Likes" and version.value == entry.value:
        return "liked" if version.polarity > 0 else "disliked"
    return value(version.value, version.polarity, "")


def _person(groups: Mapping[str, Sequence[ProfileEntry]], *, evidence: bool, limit: int | None) -> RenderableType:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0), expand=False)
    for name in ("group", "label", "value", "since"):
        table.add_column(name, no_wrap=name != "value", max_width=58 if name == "value" else None)
    for group, entries in groups.items():
        kept = entries if limit is None else entries[:limit]
        last = None
        for place, entry in enumerate(kept):
            name = label(entry)
            table.add_row(
                Text(group if place == 0 else "", "dim"),
                Text(one_line(name, 24) if name != last else ""),
                _value(entry),
                Text(f"since {day(entry.since)}", "dim"),
            )
            last = name
            if evidence and entry.evidence:
                table.add_row("", "", sources(entry.evidence[:2]), "")
        if len(kept) < len(entries):
            table.add_row("", "", Text(f"and {len(entries) - len(kept)} more", "dim"), "")
    return table


def _value(entry: ProfileEntry) -> Text:
    earlier = before(entry)
    told = Text(value(entry.value, entry.polarity, label(entry)), "bold")
    if earlier:
        first = earlier[0]
        told.append(f"  before: {one_line(was(entry, first), 40)}", "yellow")
    if entry.locked:
        told.append("  locked", "dim")
    return told
