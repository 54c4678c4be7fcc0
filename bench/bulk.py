"""A store of a million memories in minutes: the rows that `add` writes, many in one statement and without its checks.

The first memory of each session is added as users do; the others are rows like its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from sqlalchemy import insert, select, update

from bench.corpus import Batch, Corpus
from bench.stored import StoredEmbedder
from mnemic import Memory
from mnemic.backends.sql import fulltext
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.index import vector_values
from mnemic.backends.sql.prepared import Prepared
from mnemic.backends.sql.store import SqlStore
from mnemic.ids import new_id
from mnemic.text import index_terms

SESSION: Final = 1_000
"""Memories in one session."""

_MESSAGE: Final = Prepared(insert(s.message))
_ENTRY: Final = Prepared(insert(s.entry))
_VECTOR: Final = Prepared(insert(s.vector))


def load(folder: Path, corpus: Corpus, settings: Mapping[str, Any]) -> None:
    """Store a whole corpus."""
    embedder = StoredEmbedder()
    for number in range(corpus.users):
        batch = corpus.batch(number)
        starts = range(0, len(batch.texts), SESSION)
        embedder.know([batch.texts[at] for at in starts], batch.vectors[::SESSION])
        with Memory(folder, settings=settings, embedder=embedder) as memory:
            firsts = [memory.add(batch.texts[at], user=batch.user, session=f"s{at}").message_ids[0] for at in starts]
        store = SqlStore(folder, model=embedder.name, width=lambda: embedder.width, cache_bytes=1)
        for first, at in zip(firsts, starts, strict=True):
            some = slice(at + 1, at + SESSION)
            _extend(store, first, replace(batch, texts=batch.texts[some], vectors=batch.vectors[some]), embedder.name)
        store.close()


def _extend(store: SqlStore, first: str, batch: Batch, model: str) -> None:
    """Write rows like those of a session's first message behind it."""
    with store.write() as tx:
        db = tx.connection
        message = dict(db.execute(select(s.message).where(s.message.c.id == first)).mappings().one())
        entry = dict(db.execute(select(s.entry).where(s.entry.c.owner == first)).mappings().one())
        revision = tx.cubes.touch(message["cube_key"])
        key = int(db.scalar(select(s.entry.c.key).order_by(s.entry.c.key.desc()).limit(1)) or 0)
        messages, entries, documents, vectors = [], [], [], []
        for number, (text, vector) in enumerate(zip(batch.texts, batch.vectors, strict=True), 1):
            found = [_terms(message["cube_key"], word) for word in text.split()]
            own, place = new_id(), {"position": number, "said_at": message["said_at"] + number}
            length = sum(count for _, count in found)
            written = {"id": own, "content": json.dumps(text), "dedupe": f"new:{own}"}
            indexed = {"key": key + number, "owner": own, "length": length, "changed": revision, "end": len(text)}
            messages.append({**message, **place, **written})
            entries.append({**entry, **place, **indexed})
            documents.append({"key": key + number, "terms": " ".join(terms for terms, _ in found)})
            vectors.append(vector_values(message["cube_key"], key + number, model, vector))
        if messages:
            _MESSAGE.run_each(db, messages)
            _ENTRY.run_each(db, entries)
            _VECTOR.run_each(db, vectors)
            fulltext.insert(db, documents)
        count = {"messages": len(messages) + 1}
        db.execute(update(s.session).where(s.session.c.id == message["session_id"]).values(count))
        db.execute(update(s.page).where(s.page.c.id == message["page_id"]).values(count))


@lru_cache(maxsize=50_000)
def _terms(cube_key: int, word: str) -> tuple[str, int]:
    stems, count = index_terms(word)
    return str(fulltext.document(cube_key, 0, stems)["terms"]), count
