"""Whose memory a call is about, as far as the connection has settled it: nothing of this is decided by a model.

A process on the standard streams serves one user. On HTTP the key says for whom it may call; when that is one user,
tools have no argument `user`, and when it is several, they need one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mnemic.errors import AccessError, InputError
from mnemic.model.caller import LOCAL, Caller, Power


@dataclass(frozen=True, slots=True)
class Place:
    """Who calls. `user` and `cube` are set when they are settled; `named` tells how the user came to be."""

    caller: Caller
    user: str | None = None
    cube: str | None = None

    def may(self, power: Power) -> bool:
        """Tell whether the caller has a power."""
        return power in self.caller.powers

    def user_of(self, given: object) -> str:
        """Return the user of a call, given the argument. Raises `InputError` naming `user`."""
        if self.user is not None:
            if given is not None and str(given) != self.user:
                raise InputError("user", f"this connection is for {self.user!r} only; leave `user` out")
            return self.user
        if given is None or not str(given).strip():
            raise InputError("user", "is needed: this connection may call for several users; say whose memory is meant")
        return str(given)

    def cube_of(self, given: object) -> str | None:
        """Return the cube of a call, given the argument; None is the user's own. Raises `InputError` naming `cube`."""
        if self.cube is not None:
            if given is not None and str(given) != self.cube:
                raise InputError("cube", f"this connection is about cube {self.cube!r}; leave `cube` out")
            return self.cube
        return None if given is None else str(given)


def at_machine(user: str, *, cube: str | None = None, read_only: bool = False) -> Place:
    """Return the place of a process on the standard streams: one user, and no more power than was asked for."""
    powers = frozenset({Power.READ}) if read_only else frozenset({Power.READ, Power.WRITE})
    cubes = None if cube is None else (cube,)
    return Place(Caller(users=(user,), cubes=cubes, powers=powers), user, cube)


def of_caller(caller: Caller, user: str | None = None) -> Place:
    """Return the place of a caller on HTTP; `user` is whom it names for all its calls, where its key leaves that open.

    Raises `AccessError` when the key does not call for this user.
    """
    if user is not None and caller.users is not None and user not in caller.users:
        raise AccessError(f"this key does not call for {user!r}", user=user)
    cube = caller.cubes[0] if caller.cubes is not None and len(caller.cubes) == 1 else None
    return Place(caller, caller.user or user, cube)


def somebody(user: str) -> Place:
    """Return the place of somebody at the machine itself who named no key."""
    return Place(replace(LOCAL, users=(user,)), user)
