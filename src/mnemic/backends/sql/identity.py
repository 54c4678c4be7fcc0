"""Which embedder a store's vectors come from: written at the first opening, checked at every other one.

A store that is being moved, or was moved away, is told here too: both are what a store notes about itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.errors import StoreError, StoreModelError
from mnemic.model.moving import why_closed

_MODEL: Final = "embedder"
_WIDTH: Final = "width"
_CHANGING: Final = "reindexing"
_STATE: Final = Prepared(select(s.store_info.c.name, s.store_info.c.value))

STATE: Final = "mnemic_state"
"""Under this name a connection keeps what its transaction's beginning has read of the store, where it reads that."""

STATE_QUERY: Final = "SELECT name, value FROM store_info"
"""What it is read by."""


def known_width(connection: Connection, model: str) -> int | None:
    """Return the width of `model` when the store holds just its vectors; None when `check_model` must decide."""
    found = {row.name: row.value for row in connection.execute(select(s.store_info))}
    check_usable(found)
    settled = found.get(_MODEL) == model and _CHANGING not in found
    return int(found[_WIDTH]) if settled else None


def check_model(connection: Connection, model: str, width: Callable[[], int], *, replacing: bool) -> int:
    """Return the width of the vectors of `model` in this store, after noting the model in a new store.

    With `replacing`, another model is let in and the change is noted until `finish_change`. Without it, a store of
    another model, or one whose change is half done, raises `StoreModelError`.
    """
    found = {row.name: row.value for row in connection.execute(select(s.store_info))}
    check_usable(found)
    if _MODEL not in found:
        known = width()
        _put(connection, {_MODEL: model, _WIDTH: str(known)})
        return known
    changing = found.get(_CHANGING)
    if replacing:
        if model != found[_MODEL] or changing is not None:
            _put(connection, {_CHANGING: model})
        return width()
    if changing is not None:
        raise StoreModelError(
            f"the change of this store to the embedder {changing!r} is half done; finish it with `mnemic reindex`",
            stored=found[_MODEL],
            changing_to=changing,
        )
    if model != found[_MODEL]:
        raise StoreModelError(
            f"this store's vectors come from the embedder {found[_MODEL]!r}, the settings name {model!r}; "
            "run `mnemic reindex` to embed everything anew, or set the embedder back",
            stored=found[_MODEL],
            configured=model,
        )
    return int(found[_WIDTH])


def check_unchanged(connection: Connection, model: str) -> None:
    """Raise `StoreModelError` when another process has changed, or is changing, this store to another embedder."""
    found = connection.info.get(STATE) or dict(_STATE.rows(connection, {}))
    check_usable(found)
    if found.get(_MODEL) != model or _CHANGING in found:
        raise StoreModelError(
            f"another process has changed this store to the embedder {found.get(_CHANGING, found.get(_MODEL))!r}; "
            "close this memory and open it with that one",
            stored=found.get(_MODEL),
            configured=model,
        )


def check_usable(notes: Mapping[str, str]) -> None:
    """Raise `StoreError` when a move into this store is not finished, or when it was moved away for good."""
    reason = why_closed(notes)
    if reason is not None:
        raise StoreError(reason)


def finish_change(connection: Connection, model: str, width: int) -> None:
    """Note that every vector of this store is of `model` now."""
    connection.execute(delete(s.store_info).where(s.store_info.c.name == _CHANGING))
    _put(connection, {_MODEL: model, _WIDTH: str(width)})


def _put(connection: Connection, values: dict[str, str]) -> None:
    connection.execute(delete(s.store_info).where(s.store_info.c.name.in_(list(values))))
    connection.execute(insert(s.store_info), [{"name": name, "value": value} for name, value in values.items()])
