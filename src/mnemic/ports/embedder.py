"""What Mnemic needs from an embedding model: texts in, one unit vector for each out.

The store keeps `name` and `width` beside every vector and refuses to mix models, so a name must change whenever
the vectors would. Batching, threads, retries and loading belong to the backend, not to the caller.

Some models were trained with other words in front of a question than of a passage. Such a backend has `for_queries`
beside what `Embedder` asks for; `questions_of` gives what embeds questions for any embedder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:  # annotations only: importing a port must not cost the import of numpy
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their cosine similarity.

    Guarantees: rows are L2-normalised and finite; the same text gives the same vector within 1e-3 a component,
    whatever else is in the batch; any text is accepted (empty, white space, lone surrogates, any length, of which
    a model may read only the beginning); calls from several threads are safe. All or nothing: a call that cannot
    give a vector for every text raises `mnemic.errors.EmbedderError` and returns none.
    """

    @property
    def name(self) -> str:
        """The stable identity of the model, such as `minilm-l6-v2-int8`; never empty."""
        ...

    @property
    def width(self) -> int:
        """The number of components of a vector; a remote backend may have to ask its server once."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 of shape (len(texts), width), row i for text i; no texts give shape (0, width)."""
        ...


@runtime_checkable
class TellsQueriesApart(Protocol):
    """What an `Embedder` has besides when its model reads questions in another way than passages."""

    def for_queries(self) -> Embedder:
        """Return the embedder of questions: the same model, name and width, so that its vectors fit those stored."""
        ...


def questions_of(embedder: Embedder) -> Embedder:
    """Return what embeds questions: what the embedder has for them, or the embedder itself."""
    return embedder.for_queries() if isinstance(embedder, TellsQueriesApart) else embedder
