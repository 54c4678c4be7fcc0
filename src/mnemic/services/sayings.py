"""What editors say in conversation and a knowledge base learns: copies of their messages, with where they were said.

A copy has its message's id and words, in the base's session of the same name; what came with the message stays where it
was said. Forgetting the message takes its copies along, in the bases that who forgets may write to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from mnemic.core.intake import check_id, check_names
from mnemic.errors import InputError
from mnemic.model.scope import Cube, CubeKind, Role
from mnemic.ports.store import Transaction
from mnemic.services.scoping import Scoping

SAID_IN: Final = "said_in"
"""The key in a copy's metadata that tells where it was said: cube, session and message."""

_PAGE: Final = 500  # messages that are looked through at a time


def check_bases(given: object) -> tuple[str, ...]:
    """Return the knowledge bases that a call names in `learn`, each once. Raises `InputError`."""
    if given is None:
        return ()
    return tuple(dict.fromkeys(check_id(name, "learn") for name in check_names(given, "learn")))


def learning_bases(scoping: Scoping, tx: Transaction, user: str, bases: Sequence[str]) -> list[Cube]:
    """Return the bases that learn what a user says. Raises `NotFoundError`, `AccessError` for who is no editor of one,
    and `InputError` for what is no knowledge base, or one that does not learn.
    """
    found = [scoping.for_write(tx, user, base) for base in bases]
    for cube in found:
        if cube.kind is not CubeKind.KNOWLEDGE:
            raise InputError("learn", f"cube {cube.name!r} is no knowledge base")
        if not tx.cubes.described(cube.key)[1]:
            raise InputError(
                "learn", f"the knowledge base {cube.name!r} does not learn; its owner may let it (`knowledge.update`)"
            )
    return found


def pointer(cube: Cube, session: str, message: str) -> dict[str, Any]:
    """Return what a copy's metadata says of where it was said."""
    return {SAID_IN: {"cube": cube.id, "session": session, "message": message}}


def copies_of(
    scoping: Scoping, tx: Transaction, principal: str, cube: Cube, messages: Sequence[str] | None
) -> Iterator[tuple[Cube, list[str]]]:
    """Yield the bases that hold copies of a cube's messages (None: of all), with the ids of these.

    Only bases that the principal may write to are looked at.
    """
    if cube.kind is CubeKind.KNOWLEDGE or messages == []:
        return
    for base, role in tx.cubes.list(scoping.principals(principal)):
        if base.kind is not CubeKind.KNOWLEDGE or not role.covers(Role.EDITOR):
            continue
        tx.enter(base.key)
        found = _copies(tx, base, cube, messages)
        if found:
            yield base, found


def _copies(tx: Transaction, base: Cube, cube: Cube, messages: Sequence[str] | None) -> list[str]:
    if messages is not None:
        held = tx.messages.get(base.key, messages)
        return [each.id for each in held.values() if _said_in(each.metadata) == cube.id]
    found: list[str] = []
    after: str | None = None
    while page := tx.messages.list(base.key, after=after, limit=_PAGE):
        found += [each.id for each in page if _said_in(each.metadata) == cube.id]
        after = page[-1].id
    return found


def _said_in(metadata: Any) -> str | None:
    told = metadata.get(SAID_IN)
    return told.get("cube") if isinstance(told, dict) else None
