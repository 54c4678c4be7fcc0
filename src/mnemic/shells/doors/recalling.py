"""Searching and listing as both of MemOS's faces need it: over several cubes, by kind, by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mnemic.api import Memory
from mnemic.model.caller import Caller
from mnemic.model.item import Item
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.model.query import Hit
from mnemic.shells.doors.subjects import Place, place_of, user_for

PASSAGE: Final = "chunk"
FACTS: Final = ("message", "fact", "event", "insight", PASSAGE)
"""Kinds of what goes into lists of memories; preferences have a list of their own. `chunk`: passages of documents."""

MEMORIES: Final = ("fact", "event", "insight")
PREFERENCES: Final = ("preference",)

_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Within:
    """What is searched: cubes of a user, None for the user's own."""

    user: str
    cubes: tuple[str, ...] | None = None


def bases_of(given: Sequence[str] | None, caller: Caller | None, named: str | None) -> list[Within]:
    """Return the knowledge bases that a search is to read as well, by whom they belong to."""
    found: dict[str, list[str]] = {}
    for at, each in enumerate(given or ()):
        place = place_of(each, f"knowledgebase_ids[{at}]")
        found.setdefault(user_for(caller, named, place), []).append(place.id)
    return [Within(user, tuple(dict.fromkeys(cubes))) for user, cubes in found.items()]


def found_in(
    memory: Memory, places: Sequence[Within], query: str, *, limit: int, **options: Any
) -> list[tuple[Hit, Within]]:
    """Return the best hits of all places, each with where it was found: the best of each place first, then the second.

    Scores of different cubes do not mean quite the same: none must crowd the others out.
    """
    found = [
        (rank, hit, place)
        for place in places
        for rank, hit in enumerate(memory.search(query, user=place.user, cubes=place.cubes, limit=limit, **options))
    ]
    return [(hit, place) for _, hit, place in sorted(found, key=lambda each: (each[0], -each[1].score))[:limit]]


def listed(
    memory: Memory, user: str, *, kinds: Sequence[str], where: Mapping[str, Any] | None = None, cube: str | None = None
) -> list[Item]:
    """Return everything of these kinds, newest first."""
    found: list[Item] = []
    after: str | None = None
    while True:
        page = memory.list(user=user, kinds=kinds, where=where, after=after, limit=_PAGE, newest=True, cube=cube)
        found += page
        if len(page) < _PAGE:
            return found
        after = page[-1].id


def page_of(items: Sequence[Any], page: int, size: int) -> Sequence[Any]:
    """Return one page; pages count from 1."""
    return items[(page - 1) * size : page * size]


def records_of(memory: Memory, hits: Sequence[tuple[Hit, Within]]) -> list[tuple[MemoryRecord, Hit, Within]]:
    """Return the memories behind hits, whole."""
    found = []
    for hit, place in hits:
        item = memory.get(hit.id, user=place.user, cube=None if place.cubes is None else hit.cube)
        if isinstance(item, MemoryRecord):
            found.append((item, hit, place))
    return found


def name_of(item_id: str, place: Within, caller: Caller | None, cube: str) -> str:
    """Return the id under which a client asks for something again: with its user where the key does not tell it."""
    if place.cubes is not None:
        return str(Place(item_id, (place.user,), cube))
    if caller is not None and caller.user == place.user:
        return item_id
    return str(Place(item_id, (place.user,)))
