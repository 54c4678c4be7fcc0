"""Open questions about a person: "Tell me about Ann", "Who am I?", "What is my name?".

They ask for no one thing, so that no sentence fits them; they are answered with what memory is surest of about the
person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mnemic.core.answering.endings import ALONE
from mnemic.model.profile import ProfileEntry
from mnemic.text import fold

MOST: Final = 6
"""Statements of an answer about a person."""

_OF_ONE: Final = 2  # statements about one attribute
_NAME: Final = (
    r"(?P<who>[A-Z\u00c0-\u00de][\w\u00c0-\u024f'\u2019-]*(?: [A-Z\u00c0-\u00de][\w\u00c0-\u024f-]*){0,2}|me|myself)"
)
_OPEN: Final = re.compile(
    r"^\W*(?:please )?(?:(?:can you |could you )?(?:tell me|say) "
    r"(?:something |everything |all |more |what you know )?about|"
    r"(?:what|how much) (?:do|did|can) (?:you|we) (?:know|remember|tell me|have)(?: all)? (?:about|of|on)|describe|"
    rf"what is known about) {_NAME}\W*$",
    re.IGNORECASE,
)
_WHO: Final = re.compile(rf"^\W*[Ww]ho(?: is|['\u2019]s|IS) (?!me\b){_NAME}\W*$")
_MYSELF: Final = re.compile(r"^\W*who am i\W*$", re.IGNORECASE)
_CALLED: Final = re.compile(
    r"^\W*(?:what(?: is|['\u2019]s) my (?:full |first |last )?name|what am i called|do you know my name)\W*$",
    re.IGNORECASE,
)
_ME: Final = frozenset({"me", "myself"})


@dataclass(frozen=True, slots=True)
class Open:
    """An open question: whom it is about, None for the one who asks, and whether only the name is asked for."""

    who: str | None
    name_only: bool = False


def read_open(question: str) -> Open | None:
    """Return an open question about a person, read; None when it is none."""
    if _CALLED.match(question):
        return Open(None, name_only=True)
    if _MYSELF.match(question):
        return Open(None)
    match = _OPEN.match(question) or _WHO.match(question)
    if match is None or re.search(r"['\u2019]s?$", match["who"]):
        return None
    named = match["who"].strip("'\u2019")
    return Open(None if fold(named) in _ME else named)


def person_of(asked: Open, entries: Sequence[ProfileEntry], asker: str) -> str | None:
    """Return the folded name of whom the question is about: the asker by name, or else the only one who spoke."""
    if asked.who is not None:
        return fold(asked.who)
    known = {fold(entry.subject) for entry in entries}
    if fold(asker) in known:
        return fold(asker)
    spoke = {fold(source.speaker) for entry in entries for source in entry.evidence if source.speaker}
    people = (spoke - {"assistant", "system", "tool"}) & known
    return people.pop() if len(people) == 1 else None


def best_known(asked: Open, entries: Sequence[ProfileEntry], person: str) -> list[ProfileEntry]:
    """Return the surest statements about a person, the latest first of equals, in the order of a profile."""
    own = [entry for entry in entries if fold(entry.subject) == person]
    own = [entry for entry in own if not _is_parted(entry, own)]
    if asked.name_only:
        return [entry for entry in own if entry.attribute == "identity.name"][:1]
    kin = [
        entry
        for entry in entries
        if entry.attribute.startswith("relation.") and fold(entry.value) == person and entry.polarity > 0
    ]
    kept: list[ProfileEntry] = []
    for entry in sorted([*kin, *own], key=lambda each: (-round(each.confidence, 1), -each.since.timestamp())):
        if sum(entry.attribute == other.attribute for other in kept) < _OF_ONE and len(kept) < MOST:
            kept.append(entry)
    return [entry for entry in (*kin, *own) if entry in kept]


def _is_parted(entry: ProfileEntry, own: Sequence[ProfileEntry]) -> bool:
    """Tell whether a partner is one whom the person has parted from since, by the latest words."""
    return entry.attribute == "relation.partner" and any(
        other.attribute == "relation.status" and fold(other.value) in ALONE and _said(other) > _said(entry)
        for other in own
    )


def _said(entry: ProfileEntry) -> datetime:
    return max((source.said_at for source in entry.evidence), default=entry.since)


def told(entries: Sequence[ProfileEntry], *, name_only: bool) -> str:
    """Return statements as an answer: sentence after sentence, or the name alone."""
    return entries[0].value if name_only else " ".join(f"{entry.text.rstrip('.')}." for entry in entries)
