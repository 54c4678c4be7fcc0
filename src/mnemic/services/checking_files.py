"""Whether files and the rows that name them agree, over the whole store. Nothing of what is in them is read."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.errors import StoreError
from mnemic.ports.blobs import Blobs
from mnemic.ports.store import Store

Checked = tuple[str, bool, str]
"""What was looked at, whether it is well, and what was seen."""


@dataclass(slots=True)
class _Found:
    files: int = 0
    size: int = 0
    absent: int = 0
    other: int = 0
    unnamed: int = 0

    def told(self, place: str) -> Checked:
        """Tell it in words."""
        told = f"{self.files:,} file{'' if self.files == 1 else 's'}, {self.size:,} bytes in {place}"
        if self.absent:
            told += f"; {self.absent} that documents or messages name are not there: take them from a backup"
        if self.other:
            told += f"; {self.other} have another size than was stored: take them from a backup"
        if self.unnamed:
            told += f"; {self.unnamed} that nothing names: upkeep erases them when they are an hour old"
        return "files", not self.absent and not self.other, told


def check_files(store: Store, blobs: Blobs) -> Checked:
    """Compare the files of every cube with its rows."""
    found = _Found()
    with store.read() as tx:
        tx.enter_all()
        keys = tx.cubes.every_key()
    try:
        for key in keys:
            _look(store, blobs, key, found)
    except StoreError as error:
        return "files", False, str(error)
    return found.told(blobs.place)


def _look(store: Store, blobs: Blobs, key: int, found: _Found) -> None:
    """Compare the files of a cube with its rows, which are read before, and after for what seems to be missing."""
    with store.read() as tx:
        tx.enter(key)
        cube, rows = tx.cubes.of_key(key), tx.blobs.every(key)
    if cube is None:
        return
    there = {each.digest: each.size for each in blobs.list(cube.id)}
    absent = rows.keys() - there.keys()
    if absent:  # some may have been forgotten since
        with store.read() as tx:
            tx.enter(key)
            absent &= tx.blobs.every(key).keys()
    found.files += len(rows.keys() & there.keys())
    found.size += sum(size for digest, size in there.items() if digest in rows)
    found.absent += len(absent)
    found.other += sum(there.get(digest, size) != size for digest, size in rows.items())
    found.unnamed += len(there.keys() - rows.keys())
