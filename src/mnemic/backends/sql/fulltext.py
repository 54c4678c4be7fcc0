"""The half of the schema that each engine speaks in its own way: full text.

Stems stand in it with the cube's key in front of each (`1f:hike`), so that every cube has its own vocabulary: the
posting list of a word is as long as that cube makes it, however many cubes share the store, and document frequencies
never tell one user about another's words. What stands for a word in a language has its code in front (`1f:de_feier`).
BM25 is computed from these postings in `core/ranking.py`. SQLite's FTS5 is asked here, PostgreSQL in
`postgres_text.py`; both have the same stems.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, text

from mnemic.backends.sql import postgres_text
from mnemic.backends.sql.prepared import Prepared
from mnemic.model.index import Posting

_SQLITE: Final = (
    "CREATE VIRTUAL TABLE entry_text USING fts5(terms, columnsize = 0, tokenize = \"ascii tokenchars ':_'\")",
    "CREATE VIRTUAL TABLE entry_term USING fts5vocab(entry_text, 'instance')",
    "CREATE VIRTUAL TABLE entry_vocabulary USING fts5vocab(entry_text, 'row')",
)
_INSERT: Final = Prepared(text("INSERT INTO entry_text (rowid, terms) VALUES (:key, :terms)"))
_DELETE: Final = text("DELETE FROM entry_text WHERE rowid IN :keys").bindparams(bindparam("keys", expanding=True))
_POSTINGS: Final = Prepared(
    text("SELECT term, group_concat(doc) FROM entry_term WHERE term IN :terms GROUP BY term").bindparams(
        bindparam("terms", expanding=True)
    ),
    lists=["terms"],
)
_FREQUENCIES: Final = text("SELECT term, doc FROM entry_vocabulary WHERE term IN :terms").bindparams(
    bindparam("terms", expanding=True)
)
_NOWHERE: Final[Posting] = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
_FIRST: Final[NDArray[np.int64]] = np.zeros(1, dtype=np.int64)
_COUNT: Final = text("SELECT count(*) FROM entry_text")
_OPTIMIZE: Final = text("INSERT INTO entry_text (entry_text) VALUES ('optimize')")


def create(dialect: str) -> Sequence[str]:
    """Return the statements that create the full-text index of SQLite; PostgreSQL's is made with its tables."""
    return _SQLITE if dialect == "sqlite" else ()


def _term(cube_key: int, stem: str) -> str:
    if (
        stem.isascii() and stem.replace("_", "").isalnum()
    ):  # letters and digits of a word, and the marks of its language
        return f"{cube_key:x}:{stem}"
    return f"{cube_key:x}_{stem.encode('utf-8', 'replace').hex()}"  # exact, whatever Unicode version FTS5 knows


def insert(connection: Connection, documents: Sequence[Mapping[str, Any]]) -> None:
    """Index entries; each of the documents comes from `document`."""
    if _is_postgres(connection):
        postgres_text.insert(connection, documents)
    else:
        joined = [{"key": each["key"], "terms": " ".join(each["terms"])} for each in documents]
        _INSERT.run_each(connection, joined)


def document(cube_key: int, key: int, stems: Iterable[str]) -> Mapping[str, Any]:
    """Return what indexes these stems for an entry."""
    return {"cube_key": cube_key, "key": key, "terms": [_term(cube_key, stem) for stem in stems]}


def delete(connection: Connection, cube_key: int, keys: Sequence[int]) -> None:
    """Take entries of a cube out of the index."""
    if _is_postgres(connection):
        postgres_text.delete(connection, cube_key, keys)
        return
    for start in range(0, len(keys), 500):
        connection.execute(_DELETE, {"keys": list(keys[start : start + 500])})


def postings(connection: Connection, cube_key: int, stems: Sequence[str]) -> list[Posting]:
    """Return, for each stem, the entries of one cube that hold it.

    SQLite hands over a term's keys as one text, one for each time it stands somewhere: a row for each would cost more
    than finding it.
    """
    names = [_term(cube_key, stem) for stem in stems]
    if _is_postgres(connection):
        return postgres_text.postings(connection, cube_key, names)
    short = _shortened(names)
    found = dict(_POSTINGS.rows(connection, {"terms": [*names, *short]})) if names else {}
    for other in short.keys() & found.keys():
        found[short[other]] = ",".join(filter(None, [found.get(short[other]), found[other]]))
    return [_counted(found[name]) if name in found else _NOWHERE for name in names]


def _shortened(names: Sequence[str]) -> dict[str, str]:
    """Return very long terms by the names that PostgreSQL has them under: a store that was moved from it keeps them."""
    return {short: name for name in names if (short := postgres_text.name_of(name)) != name}


def _counted(joined: str) -> Posting:
    """Return the different keys, ascending, and how often each stands there; SQLite gives them in order."""
    keys = np.fromstring(joined, dtype=np.int64, sep=",")
    rising = keys[1:] > keys[:-1]
    if rising.all():
        return keys, np.ones(len(keys), dtype=np.int64)
    if bool(np.any(keys[1:] < keys[:-1])):
        return np.unique(keys, return_counts=True)
    firsts = np.concatenate([_FIRST, np.flatnonzero(rising) + 1])
    return keys[firsts], np.diff(firsts, append=len(keys))


def frequencies(connection: Connection, cube_key: int, stems: Sequence[str]) -> dict[str, int]:
    """Return in how many entries of one cube each stem stands."""
    named = {_term(cube_key, stem): stem for stem in stems}
    found = dict.fromkeys(stems, 0)
    if _is_postgres(connection):
        held = postgres_text.frequencies(connection, cube_key, list(named))
        return found | {named[term]: count for term, count in held.items()}
    named |= {short: named[name] for short, name in _shortened(list(named)).items()}
    names = list(named)
    for start in range(0, len(names), 500):
        for term, count in connection.execute(_FREQUENCIES, {"terms": names[start : start + 500]}):
            found[named[term]] += count
    return found


def count(connection: Connection) -> int:
    """Return how many entries are indexed."""
    return int(connection.scalar(_COUNT) or 0)


def scrub(connection: Connection) -> None:
    """Merge the index so that deleted terms leave the file, not only the results."""
    if _is_postgres(connection):
        postgres_text.note_erasure(connection)
    else:
        connection.execute(_OPTIMIZE)


def _is_postgres(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"
