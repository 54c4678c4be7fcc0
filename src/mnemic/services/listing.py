"""What is stored, one page after the other: messages and memories in order of id, all of them or those of a filter.

A filter is asked of the whole cube, as searches ask it; what is listed of it comes in pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from mnemic.core.filtering import parse_filter
from mnemic.core.intake import check_count, check_flag, check_id, check_names
from mnemic.errors import InputError
from mnemic.model.item import Item
from mnemic.model.memory import Memory, MemoryKind
from mnemic.model.query import AllOf, Compare, Filter
from mnemic.model.scope import Cube
from mnemic.ports.store import Store, Transaction
from mnemic.services.attached import with_attachments
from mnemic.services.paging import every_page
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable

MESSAGE: Final = "message"
KINDS: Final = (MESSAGE, *(kind.value for kind in MemoryKind))
LIMIT: Final = 1_000
"""Items on one page of a list."""

PAGE: Final = 500
"""Items that are read together for one who wants them all."""


@dataclass(frozen=True, slots=True)
class _Page:
    """Which part of a list is wanted: so many behind an id, in the order of ids or from the newest back."""

    after: str | None
    limit: int
    newest: bool

    def of(self, ids: set[str]) -> list[str]:
        """Return those of these ids that come behind the one that the page begins after, in order."""
        return [each for each in sorted(ids, reverse=self.newest) if self._holds(each)]

    def _holds(self, item_id: str) -> bool:
        return self.after is None or (item_id < self.after if self.newest else item_id > self.after)


class Listing:
    """The use cases of `list` and `iterate`."""

    def __init__(self, store: Store, scoping: Scoping, *, zone: tzinfo) -> None:
        self._store = store
        self._scoping = scoping
        self._zone = zone

    def list(  # noqa: PLR0913 - what `Memory.list` takes
        self,
        *,
        user: object,
        kinds: Sequence[str] | str | None = None,
        session: object = None,
        after: object = None,
        limit: object = 100,
        newest: object = False,
        where: object = None,
        cube: object = None,
    ) -> Sequence[Item]:
        """Return messages and memories, oldest first; see `Memory.list`."""
        wanted, back = _kinds(kinds), check_flag(newest, "newest")
        name = None if session is None else check_id(session, "session")
        start = None if after is None else check_id(after, "after")
        page = _Page(start, check_count(limit, "limit", most=LIMIT), back)
        chosen = parse_filter(where, self._zone)
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            if target is None:
                return ()
            found: list[Item] = []
            if chosen is not None:
                found += _matching(tx, target, wanted, _of_session(chosen, name), page)
                return _whole(tx, target, found)
            if MESSAGE in wanted:
                found += tx.messages.list(target.key, session=name, after=start, limit=page.limit, newest=back)
            kinds_of_memory = [kind for kind in wanted if kind != MESSAGE]
            if kinds_of_memory:
                found += _memories(tx, target, kinds_of_memory, name, page)
            return _whole(tx, target, sorted(found, key=lambda item: item.id, reverse=back)[: page.limit])

    def iterate(
        self,
        *,
        user: object,
        kinds: Sequence[str] | str | None = None,
        session: object = None,
        after: object = None,
        newest: object = False,
        where: object = None,
        cube: object = None,
    ) -> Iterator[Item]:
        """Yield what `list` gives, to the end; see `Memory.iterate`."""

        def page(behind: object) -> Sequence[Item]:
            return self.list(
                user=user, kinds=kinds, session=session, after=behind, limit=PAGE, newest=newest, where=where, cube=cube
            )

        return every_page(page, after, PAGE)


def _whole(tx: Transaction, cube: Cube, items: Sequence[Item]) -> tuple[Item, ...]:
    """Return items, the messages among them with what came with them."""
    messages = with_attachments(tx, cube.key, [each for each in items if not isinstance(each, Memory)])
    told = {each.id: each for each in messages}
    return tuple(told.get(each.id, each) for each in items)


def _memories(tx: Transaction, cube: Cube, kinds: Sequence[str], session: str | None, page: _Page) -> Sequence[Item]:
    """Return memories in order of id; of one session when named: those that stand on one of its messages."""
    if session is None:
        return tx.memories.list(
            cube.key, kinds=kinds, after=page.after, limit=page.limit, standing=True, newest=page.newest
        )
    return _matching(tx, cube, kinds, Compare("session", None, "eq", session), page)


def _matching(tx: Transaction, cube: Cube, kinds: Sequence[str], where: Filter, page: _Page) -> Sequence[Item]:
    """Return what passes a filter, in the page's order."""
    waiting = page.of(tx.messages.find_matching(cube.key, where))
    found: list[Item] = []
    for start in range(0, len(waiting), LIMIT):
        part = waiting[start : start + LIMIT]
        held: dict[str, Item] = {each: memory for each, memory in tx.memories.get(cube.key, part).items()
                                 if _is_wanted(memory, kinds)}  # fmt: skip
        if MESSAGE in kinds:
            held.update(tx.messages.get(cube.key, part))
        found += [held[each] for each in part if each in held]
        if len(found) >= page.limit:
            break
    return found[: page.limit]


def _is_wanted(memory: Memory, kinds: Sequence[str]) -> bool:
    return memory.kind.value in kinds and memory.stands


def _of_session(where: Filter, session: str | None) -> Filter:
    return where if session is None else AllOf((where, Compare("session", None, "eq", session)))


def _kinds(given: object) -> tuple[str, ...]:
    """Return the kinds that a caller names, all for None. Raises `InputError` for one that is not listed."""
    if given is None:
        return KINDS
    found: list[str] = []
    for name in check_names(given, "kinds"):
        if name not in (*KINDS, "memory"):
            known = f"known: {', '.join(KINDS)}, memory (all memory kinds)"
            raise InputError("kinds", f"{name!r} is not a kind that is listed; {known}")
        found.extend(KINDS[1:] if name == "memory" else [str(name)])
    return tuple(dict.fromkeys(found))
