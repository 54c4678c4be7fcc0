"""Backups: a backup is the store as it was at one moment, moved into a folder that opens as a memory.

It is made beside those that are there, under a name that nobody takes for a backup, verified, and only then given its
name; so what has a backup's name is whole. What is forgotten later stays in the backups that were made before.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from mnemic.errors import StoreError
from mnemic.model.moving import Kept, Moved
from mnemic.ports.clock import Clock
from mnemic.ports.moving import RawStore
from mnemic.services.carrying import Progress
from mnemic.services.carrying_files import CarryFiles
from mnemic.services.moving import Move

RECEIPT: Final = "backup.json"
"""What a backup's folder has besides the memory: when it was made, of what, and what was counted in it."""

_NAME: Final = "%Y-%m-%dT%H-%M-%SZ"
_DRAFT: Final = ".part"
_STALE: Final = timedelta(hours=12)
"""A draft that nobody has written to for so long was left by a process that was killed."""


class Backup:
    """Makes backups in a folder, and keeps the newest of them."""

    def __init__(
        self,
        source: Callable[[], AbstractContextManager[RawStore]],
        target: Callable[[Path], AbstractContextManager[RawStore]],
        clock: Clock,
        *,
        folder: Path,
        keep: int,
        version: str,
        files: Callable[[Path], CarryFiles] | None = None,
    ) -> None:
        """`source` opens the store that is kept, `target` a new one in a folder; `files` brings files into that."""
        self._source = source
        self._target = target
        self._clock = clock
        self._folder = folder
        self._keep = keep
        self._version = version
        self._files = files

    def run(self) -> str:
        """Make a backup, let the oldest go, and tell in a line what was done. Raises `StoreError`."""
        made = self.make()
        gone = f"; {len(made.removed)} older removed" if made.removed else ""
        cubes = f"{made.cubes:,} cube{'' if made.cubes == 1 else 's'}"
        files = f" and {made.files:,} file{'' if made.files == 1 else 's'}" if made.files else ""
        return f"{made.path}: {made.rows:,} rows of {cubes}{files}, {made.bytes:,} bytes{gone}"

    def make(self, progress: Progress | None = None) -> Kept:
        """Make a backup and let the oldest go. Raises `StoreError`, and leaves nothing half."""
        at = self._clock.now().astimezone(UTC).replace(microsecond=0)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._clear()
            draft = self._folder / f".{at.strftime(_NAME)}-{os.getpid()}{_DRAFT}"
            draft.mkdir()
        except OSError as error:
            raise _unwritable(self._folder, error) from error
        try:
            moved = self._moved(draft, progress)
            made = self._named(draft, at, moved)
        except OSError as error:
            raise _unwritable(self._folder, error) from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return made

    def kept(self) -> Sequence[Kept]:
        """Return the backups, the newest first."""
        if not self._folder.is_dir():
            return []
        found = [_read(path) for path in self._folder.iterdir() if (path / RECEIPT).is_file() and path.suffix != _DRAFT]
        return sorted(
            (each for each in found if each is not None), key=lambda each: (each.made_at, each.path), reverse=True
        )

    # -- steps -----------------------------------------------------------------------------------------------------

    def _moved(self, draft: Path, progress: Progress | None) -> Moved:
        files = None if self._files is None else self._files(draft)
        with self._source() as source, self._target(draft) as target:
            return Move(source, target, self._clock, version=self._version, files=files).copy(progress)

    def _named(self, draft: Path, at: datetime, moved: Moved) -> Kept:
        """Give a draft that is whole its name, when it is on disk with all that is in it; let the oldest go."""
        name = at.strftime(_NAME)
        path = self._folder / name
        number = 1
        while path.exists():
            number += 1
            path = self._folder / f"{name}-{number}"
        size = sum(file.stat().st_size for file in draft.rglob("*") if file.is_file())
        made = Kept(str(path), at, moved.source, moved.cubes, moved.rows, size, moved.seconds, files=moved.files)
        (draft / RECEIPT).write_text(_receipt(made, moved, self._version), "utf-8")
        for file in draft.iterdir():
            _sync(file)
        _sync(draft)
        draft.rename(path)
        _sync(self._folder)
        return replace(made, removed=tuple(self._let_go()))

    def _let_go(self) -> list[str]:
        """Remove the oldest; each has lost its name before the first of its files goes."""
        gone = [Path(old.path) for old in self.kept()[self._keep :]]
        for old in gone:
            dying = old.with_name(f".{old.name}-{os.getpid()}{_DRAFT}")
            old.rename(dying)
            shutil.rmtree(dying, ignore_errors=True)
        return [old.name for old in gone]

    def _clear(self) -> None:
        """Remove drafts that processes left which were killed."""
        oldest = (self._clock.now() - _STALE).timestamp()
        for draft in self._folder.glob(f".*{_DRAFT}"):
            if draft.is_dir() and max(each.stat().st_mtime for each in (draft, *draft.iterdir())) < oldest:
                shutil.rmtree(draft, ignore_errors=True)


def _receipt(made: Kept, moved: Moved, version: str) -> str:
    told = {
        "made_at": made.made_at.isoformat(),
        "source": made.source,
        "version": version,
        "cubes": made.cubes,
        "rows": made.rows,
        "files": made.files,
        "bytes": made.bytes,
        "seconds": made.seconds,
        "tables": {each.table: [each.rows, each.hash] for each in moved.tables},
    }
    return json.dumps(told, indent=1)


def _read(path: Path) -> Kept | None:
    """Return the backup in a folder; None when its receipt is damaged or of something else."""
    try:
        told: dict[str, Any] = json.loads((path / RECEIPT).read_text("utf-8"))
        at = datetime.fromisoformat(told["made_at"])
        counts = (told["cubes"], told["rows"], told["bytes"], told["seconds"])
        return Kept(str(path), at, told["source"], *counts, files=told.get("files", 0))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _sync(path: Path) -> None:
    """Wait until a file, or what a folder lists, is on disk. Not every system does that for folders."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unwritable(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"no backup was made: {folder} cannot be written ({error.strerror or error}); make room, or set backup_folder "
        "to another folder",
        folder=str(folder),
    )
