"""Looks into folders of this machine: what is a plain file inside, and nothing else, is handed out.

A link is followed to a file inside the folder, never out of it, and a file is opened by the path that was checked,
without waiting for what is no file (a pipe would wait for ever).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from mnemic.errors import InputError
from mnemic.ports.folders import Listing

QUIET: Final = 1_000
"""Milliseconds for which nothing changes before a change is told: a file that is being copied is told once."""

_LOOK: Final = 200
"""Milliseconds between two looks at whether watching is over."""

_VERSIONED: Final = frozenset({"CVS", "_darcs"})
"""Folders of version control that are not hidden; .git and its like are."""


class LocalFolders:
    """Looks into folders (`mnemic.ports.folders`). `quiet` is in milliseconds."""

    def __init__(self, quiet: int = QUIET) -> None:
        self._quiet = quiet

    def list(self, folder: str | Path) -> Listing:
        """Return what is in a folder; see the port."""
        try:
            root = Path(folder).expanduser().resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError("folder", f"{str(folder)!r} is not there, or cannot be read") from error
        if not root.is_dir():
            raise InputError("folder", f"{str(folder)!r} is no folder")
        files: list[str] = []
        left_out: list[tuple[str, str]] = []
        waiting = [root]
        while waiting:
            place = waiting.pop()
            try:
                with os.scandir(place) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError as error:
                if place == root:
                    raise InputError("folder", f"{root} cannot be read ({error.strerror})") from error
                left_out.append((_inside(root, place), f"cannot be read ({error.strerror})"))
                continue
            for entry in entries:
                name = _inside(root, Path(entry.path))
                if (why := _left_out(root, entry, name)) is not None:
                    left_out.append((name, why))
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                else:
                    files.append(name)
        return Listing(str(root), sorted(files), sorted(left_out))

    @contextmanager
    def open(self, folder: str, name: str) -> Iterator[BinaryIO]:
        """Give a listed file to read from; see the port."""
        root = Path(folder)
        try:
            place = (root / name).resolve(strict=True)
            if not place.is_relative_to(root):
                raise InputError("folder", f"{name!r} leads out of {folder}")
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
            handle = os.open(place, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        except (OSError, RuntimeError) as error:
            told = getattr(error, "strerror", None) or type(error).__name__
            raise InputError("folder", f"{name!r} cannot be read ({told})") from error
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError("folder", f"{name!r} is no plain file")
            yield file

    def changes(self, folder: str, over: Callable[[], bool]) -> Iterator[None]:
        """Yield after changes; see the port."""
        try:
            import watchfiles  # noqa: PLC0415 - an extra, for who watches
        except ImportError as error:
            raise InputError("folder", "watching needs watchfiles: pip install 'mnemic[documents]'") from error
        looks = watchfiles.watch(
            folder, watch_filter=None, debounce=10 * self._quiet, step=self._quiet, rust_timeout=_LOOK,
            yield_on_timeout=True, ignore_permission_denied=True,
        )  # fmt: skip
        try:
            begun = False
            for changes in looks:
                if over():
                    return
                if changes or not begun:
                    begun = True
                    yield
        except (FileNotFoundError, RuntimeError) as error:
            raise InputError("folder", f"{folder} cannot be watched: {error}") from error


def _inside(root: Path, place: Path) -> str:
    return place.relative_to(root).as_posix()


def _left_out(root: Path, entry: os.DirEntry[str], name: str) -> str | None:
    """Return why an entry is not taken; None when it is."""
    if entry.name.startswith("."):
        return "is hidden"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "has a name that is not UTF-8"
    if entry.is_symlink():
        return _link_left_out(root, Path(entry.path))
    if entry.is_dir():
        return "belongs to version control" if entry.name in _VERSIONED else None
    return None if entry.is_file() else "is no plain file"


def _link_left_out(root: Path, link: Path) -> str | None:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # it leads nowhere, or in a circle
        return "is a link that leads nowhere"
    if not target.is_relative_to(root):
        return "is a link that leads out of the folder"
    if any(part.startswith(".") for part in target.relative_to(root).parts):
        return "is a link to what is hidden"
    return None if target.is_file() else "is a link to a folder"
