"""mem0 as a peer (mem0ai 2.x, extra `peers`): verbatim adds, its local Qdrant, and the run's embedder for its own.

`infer=False` stores turns as they are and asks no language model; the one that mem0 wants to be configured is never
called. Hybrid search stays off, as it does in a plain installation of mem0. Its telemetry is switched off.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mem0 import Memory
from mem0.memory import main, telemetry

from mnemic.evaluation.datasets import Turn
from mnemic.evaluation.vectors import Embeds

USER = "evaluation"


class Mem0:
    """One mem0 memory in a folder of its own."""

    def __init__(self, embedder: Embeds, questions: Embeds, folder: Path) -> None:
        telemetry.MEM0_TELEMETRY = main.MEM0_TELEMETRY = False
        never_called = {"provider": "openai", "config": {"api_key": "not-needed"}}
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": str(folder / "qdrant"), "embedding_model_dims": embedder.width},
                },
                "embedder": never_called,
                "llm": never_called,
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _Embedding(embedder, questions)

    def add(self, turns: Sequence[Turn]) -> None:
        """Add each turn verbatim; mem0 has no bulk add."""
        for turn in turns:
            self._memory.add(turn.text, user_id=USER, metadata={"turn": turn.id}, infer=False)

    def search(self, query: str, k: int) -> Sequence[str]:
        """Return the turns in mem0's order, none cut by a threshold."""
        found = self._memory.search(query, top_k=k, filters={"user_id": USER}, threshold=0.0)
        return [str(each["metadata"]["turn"]) for each in found["results"]]

    def close(self) -> None:
        """Close the memory and its store."""
        self._memory.vector_store.client.close()
        self._memory.close()


class _Embedding:
    """The run's embedder as mem0 calls one."""

    def __init__(self, embedder: Embeds, questions: Embeds) -> None:
        self._embedder = embedder
        self._questions = questions

    def embed(self, text: str, memory_action: str = "add") -> list[float]:
        """Return the vector of a text, of a question for `search`."""
        chosen = self._questions if memory_action == "search" else self._embedder
        return [float(value) for value in chosen.embed([text])[0]]

    def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
        """Return the vectors of texts."""
        return [self.embed(text, memory_action) for text in texts]
