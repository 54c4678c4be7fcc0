"""Which cube a call about one cube means: the one it names, or the user's personal one, which may not exist yet."""

from __future__ import annotations

from mnemic.core.intake import check_id
from mnemic.model.caller import Power
from mnemic.model.scope import Cube
from mnemic.ports.store import Transaction
from mnemic.services.scoping import Scoping


def readable(
    scoping: Scoping, tx: Transaction, user: object, cube: object = None, *, needed: Power = Power.READ
) -> Cube | None:
    """Return the cube that a read is about; None when the user has stored nothing yet. Raises `NotFoundError`."""
    name = None if cube is None else check_id(cube, "cube")
    return next(iter(scoping.for_read(tx, user, name, needed=needed).cubes), None)


def writable(scoping: Scoping, tx: Transaction, user: object, cube: object = None) -> Cube | None:
    """Return the cube that a change of something stored is about, without making one.

    Raises `NotFoundError` for a cube that is not visible, `AccessError` when the role does not allow writing.
    """
    return scoping.for_change(tx, check_id(user, "user"), None if cube is None else check_id(cube, "cube"))
