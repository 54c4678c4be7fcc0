"""Stale terms in SQL: a cube notes the key up to which its entries are of an older reading; 0, and there are none.

Keys only grow, and what opens a store with a new reading of text sets the note, so that entries need no mark of their
own. The work goes from the newest entry down, and the note with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from mnemic.backends.sql import fulltext, rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.model.index import Entry
from mnemic.text import Trait, index_terms, reading, traits_of

_STATE: Final = s.cube_state.c
_NOTED: Final = Prepared(select(_STATE.stale_text).where(_STATE.cube_key == bindparam("cube")))
_READING: Final = "reading"
"""Under this name the store keeps how its text is read."""


def is_read(connection: Connection) -> bool:
    """Tell whether a store's text is read as it is now; stale entries may be left of an older reading."""
    return connection.scalar(select(s.store_info.c.value).where(s.store_info.c.name == _READING)) == reading()


def read_anew(connection: Connection) -> None:
    """Note that text is read otherwise from now on: all that is indexed is stale."""
    newest = select(func.max(s.entry.c.key)).where(s.entry.c.cube_key == _STATE.cube_key).scalar_subquery()
    connection.execute(update(s.cube_state).values(stale_text=func.coalesce(newest, 0)))
    connection.execute(delete(s.store_info).where(s.store_info.c.name == _READING))
    connection.execute(insert(s.store_info).values(name=_READING, value=reading()))


class SqlTerms:
    """Implements `ports.terms.Terms`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def stale_cubes(self) -> Sequence[int]:
        """Return the keys of the cubes that may have stale entries; no content is reached by it."""
        return list(self._connection.scalars(select(_STATE.cube_key).where(_STATE.stale_text > 0)))

    def is_stale(self, cube_key: int) -> bool:
        """Tell whether a cube may have stale entries."""
        return bool(_NOTED.scalar(self._connection, {"cube": cube_key}))

    def count_stale(self, cube_key: int) -> int:
        """Return how many entries of a cube have stale terms."""
        noted = _NOTED.scalar(self._connection, {"cube": cube_key}) or 0
        older = (s.entry.c.cube_key == cube_key, s.entry.c.key <= noted)
        return self._connection.scalar(select(func.count()).select_from(s.entry).where(*older)) or 0

    def stale(self, cube_key: int, limit: int) -> Sequence[tuple[int, Entry]]:
        """Return entries (key and entry, without text) of a cube whose terms are stale, the newest first."""
        noted = _NOTED.scalar(self._connection, {"cube": cube_key})
        if not noted:
            return []
        older = (s.entry.c.cube_key == cube_key, s.entry.c.key <= noted)
        query = select(s.entry).where(*older).order_by(s.entry.c.key.desc()).limit(limit)
        return [(row.key, rows.entry(row)) for row in self._connection.execute(query)]

    def renew(self, cube_key: int, revision: int, texts: Sequence[tuple[int, str]]) -> None:
        """Index entries anew by these texts, by their keys: of all that `stale` returned; what is gone stays gone."""
        keys = [key for key, _ in texts]
        mine = (s.entry.c.cube_key == cube_key, s.entry.c.key.in_(keys))
        known = select(s.entry.c.key, s.entry.c.length, s.entry.c.traits).where(*mine)
        held = {row.key: row for row in self._connection.execute(known)}
        fulltext.delete(self._connection, cube_key, list(held))
        documents = []
        for key, given in texts:
            if key not in held:
                continue
            terms, length = index_terms(given)
            traits = traits_of(given) | (held[key].traits & Trait.REPLY)
            documents.append(fulltext.document(cube_key, key, terms))
            if (length, traits) != (held[key].length, held[key].traits):
                values = {"length": length, "traits": traits, "changed": revision}
                this = (s.entry.c.cube_key == cube_key, s.entry.c.key == key)
                self._connection.execute(update(s.entry).where(*this).values(values))
        fulltext.insert(self._connection, documents)
        self._note(cube_key, min(keys) - 1)

    def settle(self, cube_key: int) -> None:
        """Note that a cube has no stale entries."""
        self._note(cube_key, 0)

    def _note(self, cube_key: int, newest: int) -> None:
        noted = update(s.cube_state).where(_STATE.cube_key == cube_key).values(stale_text=newest)
        self._connection.execute(noted)
