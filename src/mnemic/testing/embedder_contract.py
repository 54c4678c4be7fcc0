"""What every `mnemic.ports.embedder.Embedder` must do, as plain functions that raise AssertionError.

An outside backend runs `for check in CHECKS: check(embedder)` in its own tests. It relies on nothing but the port,
and says nothing about how good the vectors are beyond that close texts are closer than unrelated ones.
"""
# ruff: noqa: S101 - a contract is made of asserts

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np

from mnemic.ports.embedder import Embedder, questions_of

TOLERANCE: Final = 1e-3
"""How much a component may differ between two calls for the same text."""

EXOTIC_TEXTS: Final = (
    "",
    " \t\n\u2028 ",
    "...!?",
    "the of and",
    "\U0001f600\U0001f469\u200d\U0001f680",
    "a lone \ud800 surrogate",
    "a nul \0 inside",
    "\ufeffa byte-order mark",
    "\u0130stanbul \u0131\u015f\u0131k",
    "e\u0301 e\u0301 combining",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\u6211\u559c\u6b22\u5403\u82f9\u679c",
    "\u0e09\u0e31\u0e19\u0e0a\u0e2d\u0e1a\u0e1c\u0e25\u0e44\u0e21\u0e49",
    "[CLS] [SEP] [MASK] </s> <|endoftext|> {curly} ```fence```",
    "x" * 75_000,
    "word " * 17_600,
)

_PLAIN = ("A cat sat on the mat.", "Nine people came to dinner on Friday.", "ok", "The invoice of May is unpaid. " * 20)


def check_identity(embedder: Embedder) -> None:
    """Name and width are there and stay the same."""
    assert embedder.name.strip(), "an embedder needs a name"
    assert embedder.width > 0, "vectors need a width"
    assert (embedder.name, embedder.width) == (embedder.name, embedder.width), "name and width must not change"


def check_shape(embedder: Embedder) -> None:
    """Rows are float32, one for each text, of length 1; a single text is no special case."""
    for texts in (_PLAIN, _PLAIN[:1], list(_PLAIN)):
        _unit(embedder, texts)


def check_no_texts(embedder: Embedder) -> None:
    """No texts give no rows of the full width."""
    vectors = embedder.embed([])
    assert vectors.shape == (0, embedder.width), f"expected (0, {embedder.width}), found {vectors.shape}"
    assert vectors.dtype == np.float32, f"expected float32, found {vectors.dtype}"


def check_batch_independence(embedder: Embedder) -> None:
    """Vectors stay the same alone, among others, in another order, and twice in one batch."""
    together = embedder.embed([*_PLAIN, *reversed(_PLAIN)])
    alone = np.concatenate([embedder.embed([text]) for text in _PLAIN])
    for found in (together[: len(_PLAIN)], together[len(_PLAIN) :][::-1]):
        difference = float(np.abs(found - alone).max())
        assert difference <= TOLERANCE, f"a vector depends on its batch: {difference:.4f} apart"


def check_exotic_texts(embedder: Embedder) -> None:
    """Every text that a user can send has a vector: empty, odd characters, any script, very long."""
    _unit(embedder, EXOTIC_TEXTS)
    for text in EXOTIC_TEXTS[:6]:
        _unit(embedder, [text])


def check_many_texts(embedder: Embedder) -> None:
    """More texts than any batch holds come back in their order."""
    texts = [str(number) for number in range(300)]
    vectors = _unit(embedder, texts)
    picked = [0, 127, 128, 255, 299]
    difference = float(np.abs(vectors[picked] - embedder.embed([texts[number] for number in picked])).max())
    assert difference <= TOLERANCE, f"rows are out of order: {difference:.4f} apart"


def check_threads(embedder: Embedder) -> None:
    """Eight threads get what one thread gets."""
    texts = _PLAIN[:3]
    expected = embedder.embed(texts)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: embedder.embed(texts), range(16)):
            assert float(np.abs(found - expected).max()) <= TOLERANCE, "a thread got another thread's vectors"


def check_likeness(embedder: Embedder) -> None:
    """Texts about one thing are closer than texts about two."""
    dog, dogs, tax = embedder.embed(["my dog likes the park", "the dog likes this park a lot", "quarterly tax filing"])
    assert float(dog @ dogs) > float(dog @ tax) + 0.1, "likeness is not visible in the vectors"


def check_queries(embedder: Embedder) -> None:
    """Questions are embedded by the same model, keep the contract, and are nearer to what answers them."""
    questions = questions_of(embedder)
    assert (questions.name, questions.width) == (embedder.name, embedder.width), "questions need the passages' model"
    (question,) = _unit(questions, ["Does your dog like the park?"])
    _unit(questions, EXOTIC_TEXTS[:6])
    dog, tax = embedder.embed(["my dog likes the park", "quarterly tax filing"])
    assert float(question @ dog) > float(question @ tax), "a question is nearer to what it is not about"


CHECKS: Final[tuple[Callable[[Embedder], None], ...]] = (
    check_identity,
    check_shape,
    check_no_texts,
    check_batch_independence,
    check_exotic_texts,
    check_many_texts,
    check_threads,
    check_likeness,
    check_queries,
)
"""All checks; each is independent of the others."""


def _unit(embedder: Embedder, texts: list[str] | tuple[str, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    vectors = embedder.embed(texts)
    assert vectors.shape == (len(texts), embedder.width), f"expected one row a text, found {vectors.shape}"
    assert vectors.dtype == np.float32, f"expected float32, found {vectors.dtype}"
    assert bool(np.isfinite(vectors).all()), "a vector is not finite"
    lengths = np.linalg.norm(vectors, axis=1)
    assert bool(np.allclose(lengths, 1.0, atol=TOLERANCE)), (
        f"rows must have length 1, found {lengths.min()} to {lengths.max()}"
    )
    return vectors
