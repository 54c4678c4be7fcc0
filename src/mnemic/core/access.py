"""How far a key reaches: for whom it may call, what it may do, what keys it may give and see, and under which name the
store knows its users.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from mnemic.errors import AccessError, InputError
from mnemic.model.caller import Caller, Power
from mnemic.model.key import ApiKey

_BETWEEN: Final = "\x1f"  # stands between a project and its user's id; names of projects hold no such character


def check_reach(caller: Caller, user: str, needed: Power) -> None:
    """Raise `AccessError` unless the caller's key may do this for this user."""
    if needed not in caller.powers:
        has = ", ".join(sorted(caller.powers)) or "nothing"
        raise AccessError(f"this key may {has}; this call needs {needed}", needed=needed)
    if caller.users is not None and user not in caller.users:
        told = ", ".join(repr(each) for each in caller.users)
        raise AccessError(f"this key calls for {told}, not for {user!r}", user=user)
    if caller.key is not None:
        check_plain(user, "user")


def check_plain(name: str, field: str) -> None:
    """Raise `InputError` for a name that would be that of a project's user: who has a key gives plain names."""
    if _BETWEEN in name:
        raise InputError(field, "holds the control character U+001F, which stands between a project and its users")


def stored_name(project: str, user: str) -> str:
    """Return the name under which the store knows a user of a project."""
    return f"{project}{_BETWEEN}{user}" if project else user


def shown_name(project: str, stored: str) -> str:
    """Return the user's own name for what the store has: that of somebody else's project stays whole."""
    return stored.removeprefix(f"{project}{_BETWEEN}") if project else stored


def project_in(stored: str) -> str:
    """Return the project whose users, all of them, are known under a name; empty when it is somebody's own."""
    return stored.removesuffix(_BETWEEN) if stored.endswith(_BETWEEN) else ""


def sees(caller: Caller, key: ApiKey) -> bool:
    """Tell whether a key is the caller's to look at and to end: of its project, and reaching nothing that its own does
    not.
    """
    of_project = caller.project in ("", key.project)
    return of_project and _within(key.users, caller.users) and _within(key.cubes, caller.cubes)


def check_gift(
    caller: Caller,
    powers: Collection[Power],
    users: Sequence[str] | None,
    cubes: Sequence[str] | None,
    project: str,
) -> None:
    """Raise `AccessError` when a key would reach further than the key of who makes it."""
    if caller.project not in ("", project):
        raise AccessError(f"this key makes keys of its project {caller.project!r} only", project=project)
    further = sorted(set(powers) - caller.powers)
    if further:
        has = ", ".join(sorted(caller.powers))
        raise AccessError(f"this key may {has}; it cannot make one that may {', '.join(further)}", powers=further)
    for name, given, own in (("users", users, caller.users), ("cubes", cubes, caller.cubes)):
        if not _within(given, own):
            raise AccessError(f"this key reaches the {name} {', '.join(own or ())}; name {name} of these", field=name)


def _within(given: Sequence[str] | None, own: Sequence[str] | None) -> bool:
    return own is None or (given is not None and set(given) <= set(own))
