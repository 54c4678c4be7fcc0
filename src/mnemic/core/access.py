"""How far a key reaches: for whom it may call, what it may do, and under which name the store knows its users."""

from __future__ import annotations

from typing import Final

from mnemic.errors import AccessError
from mnemic.model.caller import Caller, Power

_BETWEEN: Final = "\x1f"  # stands between a project and its user's id; names of projects hold no such character


def check_reach(caller: Caller, user: str, needed: Power) -> None:
    """Raise `AccessError` unless the caller's key may do this for this user."""
    if needed not in caller.powers:
        has = ", ".join(sorted(caller.powers)) or "nothing"
        raise AccessError(f"this key may {has}; this call needs {needed}", needed=needed)
    if caller.users is not None and user not in caller.users:
        told = ", ".join(repr(each) for each in caller.users)
        raise AccessError(f"this key calls for {told}, not for {user!r}", user=user)


def stored_name(project: str, user: str) -> str:
    """Return the name under which the store knows a user of a project."""
    return f"{project}{_BETWEEN}{user}" if project else user


def shown_name(project: str, stored: str) -> str:
    """Return the user's own name for what the store has: that of somebody else's project stays whole."""
    return stored.removeprefix(f"{project}{_BETWEEN}") if project else stored
