"""Whose memory a call is about, and ids that say so.

Clients of MemOS update, read and delete by an id alone, and one key of theirs serves all users of a project. An id that
a door gives out therefore carries its user, and its cube where that is not the user's own: `id:user:cube`, both
percent-encoded. It gives nobody anything: whether the key may call for that user is decided where it always is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from mnemic.errors import InputError
from mnemic.model.caller import Caller

PROJECT: Final = "memos-project"
"""The user that owns what has no user at MemOS, such as knowledge bases, when the key may call for anybody."""

AGENT: Final = "agent:"
"""What the name of an agent's own memory begins with, so that an agent is not the user of the same name."""

GROUP: Final = 20
"""Users and agents in one conversation, at most."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is: users (one, but for tasks of a group), and a cube, None for their own."""

    id: str
    users: tuple[str, ...] = ()
    cube: str | None = None

    @property
    def user(self) -> str | None:
        """The user, when one is named."""
        return self.users[0] if self.users else None

    def __str__(self) -> str:
        if not self.users and self.cube is None:
            return self.id
        users = ",".join(quote(user, safe="") for user in self.users)
        return f"{self.id}:{users}" + (f":{quote(self.cube, safe='')}" if self.cube else "")


def place_of(given: str, field: str) -> Place:
    """Return the place that an id names. Raises `InputError` for what is no id."""
    name, *rest = given.split(":")
    if not name or len(rest) > 2:
        raise InputError(field, f"{given[:80]!r} is no id of this server")
    users = tuple(unquote(user) for user in rest[0].split(",") if user) if rest else ()
    return Place(name, users, unquote(rest[1]) or None if len(rest) == 2 else None)


def agent_name(agent: str) -> str:
    """Return the user that stands for an agent's own memory."""
    return f"{AGENT}{agent}"


def one_subject(user: str | None, agent: str | None, *, either: str = "user_id") -> str:
    """Return the user that a call is about. Raises `InputError` unless exactly one of the two is named."""
    if bool(user) == bool(agent):
        told = "give user_id or agent_id, not both" if user else "give user_id or agent_id"
        raise InputError(either, told)
    return user or agent_name(str(agent))


def subjects(users: str | Sequence[str] | None, agents: str | Sequence[str] | None) -> tuple[list[str], str | None]:
    """Return the users in whose memory a conversation is stored, and the agent that replies in it.

    With users, it is theirs, and one agent is who replies; agents alone keep it in memories of their own.
    """
    people, bots = _names(users, "user_id"), _names(agents, "agent_id")
    if not people and not bots:
        raise InputError("user_id", "is missing; give user_id or agent_id")
    if not people:
        return [agent_name(bot) for bot in bots], bots[0] if len(bots) == 1 else None
    if len(bots) > 1:
        raise InputError("agent_id", "names several agents beside users; one replies, others speak by role_name")
    return people, bots[0] if bots else None


def user_for(caller: Caller | None, named: str | None, place: Place | None = None) -> str:
    """Return the user of a call that has no field for one: the id's, the header's, the key's, the project's.

    Raises `InputError` when the key may call for several and none is named.
    """
    found = (place.user if place is not None else None) or named or (caller.user if caller is not None else None)
    if found is not None:
        return found
    if caller is None or caller.users is None:
        return PROJECT
    raise InputError("user", "this key calls for several users: name one in the header X-Mnemic-User")


def _names(given: str | Sequence[str] | None, field: str) -> list[str]:
    found = [given] if isinstance(given, str) else list(given or ())
    if len(found) > GROUP:
        raise InputError(field, f"names {len(found)}; at most {GROUP} can be in one conversation")
    return list(dict.fromkeys(name for name in found if name))
