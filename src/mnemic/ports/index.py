"""The search index, as the store keeps it: what can be found, with vectors and terms, beside what it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from mnemic.model.index import CubeView, Entry, Posting, Vector


class Index(Protocol):
    """What search reads: entries with their vectors and their terms."""

    def add(self, cube_key: int, revision: int, entries: Sequence[Entry]) -> None:
        """Index entries: text and vector, in this transaction."""
        ...

    def remove(self, cube_key: int, owners: Sequence[str]) -> int:
        """Take all entries of these owners out of the index; return how many there were."""
        ...

    def view(self, cube_key: int) -> CubeView:
        """Return the cube's entries as of this transaction, from the cache when it is current."""
        ...

    def postings(self, cube_key: int, stems: Sequence[str]) -> Sequence[Posting]:
        """Return, for each stem, the entries that hold it."""
        ...

    def frequencies(self, cube_key: int, stems: Sequence[str]) -> tuple[Mapping[str, int], int]:
        """Return in how many entries of the cube each stem stands, and how many entries there are."""
        ...

    def vectors(self, cube_key: int, owners: Sequence[str]) -> Mapping[str, Vector]:
        """Return the mean vector of each owner's entries, of those that have one."""
        ...

    @property
    def no_vector(self) -> Vector:
        """A vector of zeros, of this store's width."""
        ...

    def sync(self, cube_key: int, revision: int, owner: str, entries: Sequence[Entry]) -> None:
        """Make these the owner's entries: known versions get their new validity, new ones are added, others go."""
        ...

    def place(self, cube_key: int, revision: int, entries: Sequence[Entry]) -> None:
        """Give the entries of these owners, which have one each, another session, position and end of validity.

        Their text, vector and beginning stay: nothing is embedded or indexed again.
        """
        ...

    def indexed(self, cube_key: int, owners: Sequence[str]) -> set[str]:
        """Return those of these owners that have entries."""
        ...

    def versions(self, cube_key: int, owners: Sequence[str]) -> set[str]:
        """Return the ids of the versions of these memories that are indexed."""
        ...

    def newest(self, cube_key: int) -> tuple[int, int]:
        """Return a cube's revision, and the key of its newest entry (0: none). Keys grow in order of the revisions."""
        ...

    def changed(self, cube_key: int, since: tuple[int, int], limit: int) -> Sequence[tuple[int, int, str]]:
        """Return entries of messages and memories as (revision, key, owner): those stored or changed since.

        In order of the revision that changed them last, then of their keys, from behind (revision, key) on.
        """
        ...

    def without_vector(self, cube_key: int, limit: int) -> Sequence[tuple[int, Entry]]:
        """Return entries (key and entry, without text) of a cube that have no vector of this store's model."""
        ...

    def count_without_vector(self, cube_key: int) -> int:
        """Return how many entries of a cube have no vector of this store's model."""
        ...

    def set_vectors(self, cube_key: int, revision: int, vectors: Sequence[tuple[int, Vector]]) -> None:
        """Store the vectors of entries, in the place of those of another model."""
        ...
