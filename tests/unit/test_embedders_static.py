"""Static models: token vectors, averaged, from the layouts that they come in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mnemic.backends.models.local import open_folder
from mnemic.backends.models.static import StaticEmbedder
from mnemic.backends.models.tensors import read_tensors
from mnemic.errors import EmbedderError
from mnemic.testing.model_folder import write_static_folder, write_tensors


@pytest.fixture
def potion(tmp_path: Path) -> Path:
    return write_static_folder(tmp_path / "potion")


def test_a_text_is_the_mean_of_its_tokens(potion: Path) -> None:
    red, boat, both = open_folder(potion).embed(["red", "boat", "boat red"])
    table = read_tensors(potion / "model.safetensors")["embeddings"]
    assert both.shape == (table.shape[1],)
    lengths = [np.linalg.norm(row) for row in table]
    ids = [
        next(i for i, row in enumerate(table) if np.allclose(row / lengths[i], one, atol=1e-5)) for one in (red, boat)
    ]
    mean = table[ids].sum(axis=0)
    assert np.allclose(both, mean / np.linalg.norm(mean), atol=1e-5)


def test_small_integers_do_as_well(tmp_path: Path) -> None:
    full = open_folder(write_static_folder(tmp_path / "full"))
    small = open_folder(write_static_folder(tmp_path / "small", kind="|i1"))
    texts = ["a red boat on the lake", "the lease ends in March"]
    assert bool(((full.embed(texts) * small.embed(texts)).sum(axis=1) > 0.99).all())


def test_weights_and_rows_of_tokens_are_kept_to(potion: Path) -> None:
    table = read_tensors(potion / "model.safetensors")["embeddings"]
    plain = open_folder(potion).embed(["boat", "red"])
    rows = np.arange(len(table), dtype=np.int64)[::-1].copy()
    write_tensors(
        potion / "model.safetensors",
        {"embeddings": table[::-1].copy(), "mapping": rows, "weights": np.full(len(table), 0.5)},
    )
    assert np.allclose(open_folder(potion).embed(["boat", "red"]), plain, atol=1e-5)


def test_the_layout_of_sentence_transformers_is_read_too(potion: Path) -> None:
    plain = open_folder(potion).embed(["boat"])
    inner = potion / "0_StaticEmbedding"
    inner.mkdir()
    table = read_tensors(potion / "model.safetensors")["embeddings"]
    write_tensors(inner / "model.safetensors", {"embedding.weight": table})
    (potion / "tokenizer.json").rename(inner / "tokenizer.json")
    (potion / "model.safetensors").unlink()
    (potion / "config.json").unlink()
    kind = "sentence_transformers.models.StaticEmbedding"
    (potion / "modules.json").write_text(json.dumps([{"type": kind, "path": "0_StaticEmbedding"}]))
    found = open_folder(potion)
    assert isinstance(found, StaticEmbedder)
    assert np.allclose(found.embed(["boat"]), plain, atol=1e-5)


@pytest.mark.parametrize("missing", ["model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(potion: Path, missing: str) -> None:
    (potion / missing).unlink()
    with pytest.raises(EmbedderError, match=missing):
        open_folder(potion)


def test_a_table_that_is_too_short_for_its_tokenizer_is_refused(potion: Path) -> None:
    write_tensors(potion / "model.safetensors", {"embeddings": np.ones((5, 8), dtype=np.float32)})
    with pytest.raises(EmbedderError, match="no vector for each token"):
        open_folder(potion).embed(["boat"])


def test_tensors_without_a_table_are_refused(potion: Path) -> None:
    write_tensors(potion / "model.safetensors", {"other": np.ones((5, 8), dtype=np.float32)})
    with pytest.raises(EmbedderError, match="no table of token vectors"):
        open_folder(potion)
