"""Full text on PostgreSQL: `tsvector` with the terms that FTS5 has on SQLite, under a GIN index.

A term has as many positions in a passage as it stands there, up to 255, which is as many as PostgreSQL keeps; those
that stand there more than once carry weight A. Postings come from a function of the database (`entry_postings`),
which says to the row-level checks what it looks for: otherwise no index could be used (see `0006_postgres.sql`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, column, select, text

from mnemic.backends.sql.prepared import Prepared
from mnemic.ids import content_hash
from mnemic.model.index import Posting

ERASED: Final = "mnemic_erased"
"""Under this name a connection keeps the transaction on it that has erased something."""

MOST: Final = 255
"""Positions of a term, by PostgreSQL's limit."""

_LONG: Final = 200  # bytes; PostgreSQL takes up to 2,046
_NAMED: Final = re.compile(f".{{{_LONG}}}_[0-9a-f]{{32}}")
_CHUNK: Final = 500  # terms in one call
_INSERT: Final = Prepared(
    text("INSERT INTO entry_text (cube_key, key, terms) VALUES (:cube_key, :key, CAST(:terms AS tsvector))")
)
_DELETE: Final = Prepared(text("DELETE FROM entry_text WHERE cube_key = :cube AND key = ANY(CAST(:keys AS bigint[]))"))
_POSTINGS: Final = Prepared(
    select(column("term"), column("keys"), column("repeated")).select_from(
        text("entry_postings(:cube, CAST(:terms AS text[]))")
    )
)
_FREQUENCIES: Final = Prepared(
    select(column("term"), column("entries")).select_from(text("entry_frequencies(:cube, CAST(:terms AS text[]))"))
)
_TRANSACTION: Final = text("SELECT pg_current_xact_id()::text")
_NOWHERE: Final[Posting] = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def insert(connection: Connection, documents: Sequence[Mapping[str, Any]]) -> None:
    """Index entries; each of the documents has a cube, a key and terms."""
    _INSERT.run_each(connection, [{**each, "terms": _as_vector(each["terms"])} for each in documents])


def delete(connection: Connection, cube_key: int, keys: Sequence[int]) -> None:
    """Take entries out of the index."""
    if keys:
        _DELETE.run(connection, {"cube": cube_key, "keys": list(keys)})


def postings(connection: Connection, cube_key: int, terms: Sequence[str]) -> list[Posting]:
    """Return, for each term, the entries of one cube that hold it."""
    names = [name_of(term) for term in terms]
    found: dict[str, Posting] = {}
    for some in _chunks(list(dict.fromkeys(names))):
        for row in _POSTINGS.rows(connection, {"cube": cube_key, "terms": some}):
            found[row.term] = _counted(row.keys, row.repeated)
    return [found.get(name, _NOWHERE) for name in names]


def frequencies(connection: Connection, cube_key: int, terms: Sequence[str]) -> dict[str, int]:
    """Return in how many entries of one cube each term stands; those that stand nowhere are left out."""
    named = {name_of(term): term for term in terms}
    found: dict[str, int] = {}
    for some in _chunks(list(named)):
        for row in _FREQUENCIES.rows(connection, {"cube": cube_key, "terms": some}):
            found[named[row.term]] = row.entries
    return found


def note_erasure(connection: Connection) -> None:
    """Note which transaction has erased something: its dead rows go when no snapshot shows them (`Database.scrub`)."""
    connection.info[ERASED] = connection.scalar(_TRANSACTION)


def _as_vector(terms: Iterable[str]) -> str:
    """Return terms as PostgreSQL reads them: 'a':1 'b':1A,2A."""
    return " ".join(
        f"'{name_of(term)}':1" if count == 1 else f"'{name_of(term)}':{_repeated(min(count, MOST))}"
        for term, count in Counter(terms).items()
    )


def _repeated(count: int) -> str:
    return ",".join(f"{place}A" for place in range(1, count + 1))


def name_of(term: str) -> str:
    """Return a term as it stands in the index: one that is too long for it by its hash. So named, it stays so."""
    if len(term) <= _LONG or _NAMED.fullmatch(term):
        return term
    return f"{term[:_LONG]}_{content_hash(term)}"


def _counted(keys: str, repeated: str | None) -> Posting:
    """Return the different keys, ascending, and how often each stands there."""
    found: NDArray[np.int64] = np.sort(np.fromstring(keys, dtype=np.int64, sep=","))
    counts = np.ones(len(found), dtype=np.int64)
    if repeated:
        pairs = np.array([each.split() for each in repeated.split(",")], dtype=np.int64)
        counts[np.searchsorted(found, pairs[:, 0])] = pairs[:, 1]
    return found, counts


def _chunks(terms: Sequence[str]) -> Iterable[list[str]]:
    for start in range(0, len(terms), _CHUNK):
        yield list(terms[start : start + _CHUNK])
