"""Passages after an upgrade that reads text otherwise, after another embedder, and after the embedder was away."""

from __future__ import annotations

from pathlib import Path

from mnemic import Memory, wiring
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.backends.sql.store import SqlStore
from mnemic.config import Settings
from mnemic.text import index_terms
from tests.services.opened import open_memory, sql_store
from tests.services.shelved import GUIDE, CountingEmbedder, plain_reading, shelf_in
from tests.services.test_retexting import read_before_an_upgrade

READ = {
    "Harbour guide\nThe harbour of Porto is old.", "Harbour guide > Tides\nHigh tide is at noon.",
    "Harbour guide > Boats\nBoats are blue.",
}  # fmt: skip


class Wider(CountingEmbedder):
    """Another model."""

    def __init__(self) -> None:
        super().__init__()
        self._inner = HashingEmbedder(96)
        self.name, self.width = self._inner.name, self._inner.width


def holding(store: SqlStore, key: int, term: str) -> int:
    with store.read() as tx:
        tx.enter(key)
        return sum(len(keys) for keys, _ in tx.index.postings(key, [term]))


def test_words_of_passages_are_read_anew_after_an_upgrade(tmp_path: Path) -> None:
    with shelf_in(tmp_path) as shelf:
        key = shelf.add("# Geburtstagsfeier\n\nWir feiern die Feier im Garten und essen dort Kuchen.").cube_key
        terms = [
            term
            for term in index_terms("Geburtstagsfeier\nWir feiern die Feier im Garten und essen dort Kuchen.")[0]
            if "_" in term
        ]
        before = {term: holding(sql_store(shelf.memory), key, term) for term in terms}
        assert any(before.values())
    read_before_an_upgrade(tmp_path / "memory")
    with plain_reading(tmp_path), open_memory(tmp_path / "memory", embedder=CountingEmbedder()) as memory:
        while memory._parts.worker.run_once():
            pass
        assert {term: holding(sql_store(memory), key, term) for term in terms} == before


def test_passages_are_embedded_anew_with_their_headings_after_a_change_of_the_model(tmp_path: Path) -> None:
    with shelf_in(tmp_path) as shelf:
        shelf.add(GUIDE)
    other = Wider()
    with plain_reading(tmp_path):
        parts = wiring.build(Settings(home=str(tmp_path / "memory"), worker=False), embedder=other, replacing=True)
        try:
            assert parts.reindex.run() == 4
        finally:
            parts.close()
        assert set(other.texts) > READ
        with Memory(settings=Settings(home=str(tmp_path / "memory"), worker=False), embedder=Wider()) as memory:
            key = memory.knowledge.list(user="ann")[0].cube.key
            with sql_store(memory).read() as tx:
                tx.enter(key)
                assert tx.index.count_without_vector(key) == 0
                assert tx.index.view(key).vectors.any(axis=1).all()
