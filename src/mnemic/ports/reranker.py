"""What Mnemic needs from a reranker: a question and texts in, how well each text answers it out.

Search works without one; with one, it lets it put the best of a question in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Compares texts with a question.

    Guarantees: one finite number for each text, in the order of the texts, the larger the better; only their order
    means something. All or nothing: `mnemic.errors.ModelError` for everything that keeps it from that, within the
    configured time. Calls from several threads are safe.
    """

    @property
    def name(self) -> str:
        """The name of the model, as it is shown."""
        ...

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score for each text."""
        ...

    def close(self) -> None:
        """End connections of its own; a later call may open them again."""
        ...
