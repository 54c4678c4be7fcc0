"""What is known about a person, as a tree of attributes with evidence and history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from mnemic.model.memory import Source, Version


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """One attribute of a person. `history` are its earlier versions, `evidence` what the current one stands on.

    `text` says it whole; `value` is denied when `polarity` is -1, as in "Ann does not eat meat".
    """

    memory_id: str
    subject: str
    group: str
    attribute: str
    label: str
    value: str
    polarity: int
    confidence: float
    since: datetime
    text: str
    evidence: tuple[Source, ...]
    history: tuple[Version, ...]
    locked: bool = False

    def __repr__(self) -> str:
        return f"<ProfileEntry {self.subject}, {self.label}: {self.text[:70]!r} since {self.since:%Y-%m-%d}>"


@dataclass(frozen=True, slots=True)
class Profile:
    """Profile entries, ordered by person, group and attribute, or as a template orders them.

    `missing` are the entries of the template of which nothing is known.
    """

    entries: tuple[ProfileEntry, ...]
    missing: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[ProfileEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def groups(self) -> Mapping[str, Mapping[str, Sequence[ProfileEntry]]]:
        """Return the entries by person, then by group."""
        found: dict[str, dict[str, list[ProfileEntry]]] = {}
        for entry in self.entries:
            found.setdefault(entry.subject, {}).setdefault(entry.group, []).append(entry)
        return found
