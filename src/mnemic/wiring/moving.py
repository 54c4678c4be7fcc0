"""Opens stores to be moved: what settings name, a folder, or an address of a database. No embedder is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from mnemic.backends.blobs.folder import FolderBlobs
from mnemic.backends.sql.moving import SqlRawStore
from mnemic.backends.sql.sqlite import DATABASE_FILE
from mnemic.config import Settings
from mnemic.errors import InputError, StoreError
from mnemic.model.moving import Moved
from mnemic.ports.blobs import Blobs
from mnemic.ports.clock import Clock
from mnemic.ports.moving import RawStore
from mnemic.services import moving
from mnemic.services.backup import Backup
from mnemic.services.carrying import Progress
from mnemic.services.carrying_files import CarryFiles
from mnemic.version import __version__
from mnemic.wiring.clocks import SystemClock
from mnemic.wiring.files import blobs_of

BACKUPS: Final = "backups"
"""The folder in a memory's folder that backups go to when none is named."""

_CONNECTIONS: Final = 6
"""Of a mover to a database: a snapshot, a transaction, a look at what is written, and some for the driver."""

_SCHEMES: Final = ("postgresql://", "postgres://")


def move(
    settings: Settings,
    to: str | Path,
    source: str | Path | None = None,
    *,
    check: bool = False,
    final: bool = False,
    progress: Progress | None = None,
) -> Moved:
    """Move the store that these settings name, or `source`, to a folder or an address; with `check`, compare them."""
    if not str(to).strip():
        raise InputError("to", "is empty; name a folder or postgresql://…")
    with (
        opened(_place(settings, source), there=True) as origin,
        opened(str(to), there=check) as target,
    ):
        files = _files(settings, source, str(to))
        use_case = moving.Move(origin, target, SystemClock(), version=__version__, files=files)
        if check:
            return use_case.compare(progress)
        moved = use_case.run(final=final, progress=progress)
        shared = "" if files is not None else _shared(settings, source)
        return replace(moved, settings=_to_set(settings, target.place, str(to)), shared=shared)


def reopen(settings: Settings, source: str | Path | None = None) -> str | None:
    """Let a store open again that was closed when it was moved for good; return where it was moved to."""
    with opened(_place(settings, source), there=True) as store:
        return moving.reopen(store)


def backup_of(settings: Settings, folder: str | Path | None = None, clock: Clock | None = None) -> Backup:
    """Return what makes backups of the store that these settings name, into their folder or another."""
    into = Path(folder or settings.backup_folder or settings.folder / BACKUPS).expanduser().absolute()
    return Backup(
        partial(opened, _place(settings), there=True),
        lambda draft: opened(str(draft), there=False),
        clock or SystemClock(),
        folder=into,
        keep=settings.backup_keep,
        version=__version__,
        files=lambda draft: CarryFiles(blobs_of(settings), FolderBlobs(draft)),
    )


def _files(settings: Settings, source: str | Path | None, to: str) -> CarryFiles | None:
    """Return what brings the files of a move; None when both stores have them in one place."""
    mine, theirs = _blobs(settings, str(source or "")), _blobs(settings, "" if settings.blobs_url else to)
    return None if mine.place == theirs.place else CarryFiles(mine, theirs)


def _shared(settings: Settings, source: str | Path | None) -> str:
    """Return where both stores of a move have their files; empty when there are none."""
    place = _blobs(settings, str(source or "")).place
    return place if settings.blobs_url or Path(place).is_dir() else ""


def _blobs(settings: Settings, place: str) -> Blobs:
    """Return where the files of a store are: in its folder when it has any there, else where the settings say."""
    if not place or is_address(place):
        return blobs_of(settings)
    found = FolderBlobs(Path(place))
    return blobs_of(settings) if settings.blobs_url and not Path(found.place).is_dir() else found


def _place(settings: Settings, source: str | Path | None = None) -> str:
    return str(source or settings.database_url or settings.folder)


@contextmanager
def opened(place: str, *, there: bool) -> Iterator[RawStore]:
    """Open a store raw; with `there`, it must be one already, else a folder is made. Close it at the end."""
    store = _open(place, there=there)
    try:
        yield store
    finally:
        store.close()


def _open(place: str, *, there: bool) -> RawStore:
    if is_address(place):
        return SqlRawStore(place, _CONNECTIONS)
    folder = Path(place).expanduser().resolve()
    if there and not (folder / DATABASE_FILE).is_file():
        raise StoreError(f"there is no memory in {folder}", place=str(folder))
    return SqlRawStore(folder, _CONNECTIONS)


def is_address(place: str) -> bool:
    """Tell whether a place is a database's address, and no folder. Raises `InputError` for one that is not known."""
    if "://" not in place:
        return False
    if not place.startswith(_SCHEMES):
        raise InputError("to", f"{place.split('://', maxsplit=1)[0]}:// is not known; name a folder or postgresql://…")
    return True


def _to_set(settings: Settings, place: str, to: str) -> tuple[str, ...]:
    """Return what is to be set so that the moved store is used."""
    if is_address(to):
        return (f"MNEMIC_DATABASE_URL={place.replace('://', '://USER:PASSWORD@')}",)
    home = f"MNEMIC_HOME={place}"
    return (home, "MNEMIC_DATABASE_URL=") if settings.database_url else (home,)
