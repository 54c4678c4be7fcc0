"""Moving a whole store to another folder or database, and keeping copies of it: what is done beside an open memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mnemic import config, wiring
from mnemic.config import Settings
from mnemic.model.moving import Kept, Moved


def move(
    to: str | Path,
    source: str | Path | None = None,
    *,
    settings: Settings | Mapping[str, Any] | None = None,
    check: bool = False,
    final: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
) -> Moved:
    """Move everything that a store holds to an empty folder, or to an empty database (`postgresql://…`).

    `source` is a folder or an address too (default: what the settings name). It may be in use: what is written to it
    meanwhile is moved as well, until both agree. With `final` it is closed when most has arrived: nothing opens it any
    more, until `reopen`. A move that was stopped goes on when it is called again. Each cube's rows are counted and
    hashed on both sides; with `check` that is all that is done, and nothing is written.

    `progress` is told (done, total) in rows. Raises `ConflictError` when the target is not empty, `StoreError` when
    what arrives is not what was there, or when what is written to the source leaves no end.
    """
    return wiring.move(config.load(None, settings), to, source, check=check, final=final, progress=progress)


def reopen(source: str | Path | None = None, *, settings: Settings | Mapping[str, Any] | None = None) -> str | None:
    """Let a store be opened again that a final move has closed; return where it went, None when it was not closed."""
    return wiring.reopen(config.load(None, settings), source)


def backup(
    folder: str | Path | None = None,
    *,
    settings: Settings | Mapping[str, Any] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Kept:
    """Copy everything that the store of the settings holds at this moment to a folder of its own; return what was kept.

    It may be in use. The copy is a folder named by the time in UTC, in `folder` (default: the setting `backup_folder`),
    verified before it gets its name; `backup_keep` of them stay. It opens as a memory, and `move` takes it anywhere.
    What is forgotten later stays in it until it is removed. Raises `StoreError`, and then leaves nothing half.
    """
    return wiring.backup_of(config.load(None, settings), folder).make(progress)


def backups(
    folder: str | Path | None = None, *, settings: Settings | Mapping[str, Any] | None = None
) -> Sequence[Kept]:
    """Return the backups in a folder (default: the setting `backup_folder`), the newest first."""
    return wiring.backup_of(config.load(None, settings), folder).kept()
