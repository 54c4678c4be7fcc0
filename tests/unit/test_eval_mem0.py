"""The adapter for mem0, against a stand-in of its face: what it adds, what it asks, and what it switches off."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.evaluation.datasets import Turn
from mnemic.evaluation.peers import PEERS


class Stand:
    """Keeps what it is given as mem0ai 2.2 does, newest first."""

    made: dict[str, Any]

    def __init__(self) -> None:
        self.kept: list[dict[str, Any]] = []
        self.asked: dict[str, Any] = {}
        self.embedding_model: Any = None
        self.closed = 0
        self.vector_store = SimpleNamespace(client=self)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Stand:
        cls.made = config
        return cls()

    def add(self, text: str, *, user_id: str, metadata: dict[str, Any], infer: bool) -> None:
        assert not infer
        assert len(self.embedding_model.embed(text, "add")) == 64
        self.kept.insert(0, {"memory": text, "metadata": metadata, "user": user_id})

    def search(self, query: str, *, top_k: int, filters: dict[str, Any], threshold: float) -> dict[str, Any]:
        self.asked = {"filters": filters, "threshold": threshold, "vector": self.embedding_model.embed(query, "search")}
        return {"results": self.kept[:top_k]}

    def close(self) -> None:
        self.closed += 1


class Questions(HashingEmbedder):
    """Tells that it embedded a question."""

    def __init__(self) -> None:
        super().__init__(64)
        self.seen: list[str] = []

    def embed(self, texts: Any) -> Any:
        self.seen += texts
        return super().embed(texts)


@pytest.fixture
def mem0(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Stand-ins for mem0's modules, as they are imported."""
    parts: dict[str, Any] = {name: ModuleType(name) for name in ("mem0", "mem0.memory")}
    parts["mem0"].Memory = Stand
    parts["mem0.memory"].main = SimpleNamespace(MEM0_TELEMETRY=True)
    parts["mem0.memory"].telemetry = SimpleNamespace(MEM0_TELEMETRY=True)
    for name, module in parts.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "mnemic.evaluation.mem0", raising=False)
    return parts


def test_turns_are_added_verbatim_and_come_back_by_their_ids(mem0: dict[str, Any], tmp_path: Path) -> None:
    questions = Questions()
    peer: Any = PEERS["mem0"](HashingEmbedder(64), questions, tmp_path)
    when = datetime(2025, 1, 1, tzinfo=UTC)
    peer.add([Turn("a", "s", "Ann: tea", when), Turn("b", "s", "Ann: figs", when)])
    assert list(peer.search("figs?", 1)) == ["b"] and list(peer.search("figs?", 5)) == ["b", "a"]
    assert questions.seen == ["figs?", "figs?"]
    store = peer._memory
    assert store.kept[0]["memory"] == "Ann: figs"
    assert store.asked["filters"] == {"user_id": store.kept[0]["user"]} and store.asked["threshold"] == 0.0
    assert Stand.made["vector_store"]["config"]["embedding_model_dims"] == 64
    assert Stand.made["vector_store"]["config"]["path"].startswith(str(tmp_path))
    peer.close()
    assert store.closed == 2


def test_its_telemetry_is_off_before_it_is_made(mem0: dict[str, Any], tmp_path: Path) -> None:
    import_module("mnemic.evaluation.mem0")
    PEERS["mem0"](HashingEmbedder(64), HashingEmbedder(64), tmp_path)
    assert mem0["mem0.memory"].main.MEM0_TELEMETRY is False
    assert mem0["mem0.memory"].telemetry.MEM0_TELEMETRY is False
