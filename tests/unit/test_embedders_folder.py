"""A model folder is used as its files say, and a folder that leaves something unsaid is named."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from mnemic.backends.models import folder
from mnemic.backends.models.local import open_folder
from mnemic.backends.models.onnx import OnnxEmbedder
from mnemic.backends.models.onnx_graph import quantizes_by_batch
from mnemic.errors import EmbedderError
from mnemic.testing.model_folder import write_model_folder

TEXTS = ["A small boat on the lake.", "The lease ends in March."]


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    return write_model_folder(tmp_path / "mini")


@pytest.fixture(scope="module")
def plain() -> OnnxEmbedder:
    return OnnxEmbedder.bundled()


def test_a_folder_of_the_bundled_model_gives_the_bundled_vectors(mini: Path, plain: OnnxEmbedder) -> None:
    found = OnnxEmbedder.from_folder(mini)
    assert found.width == 384
    assert np.allclose(found.embed(TEXTS), plain.embed(TEXTS), atol=1e-5)


def test_a_graph_beside_the_other_files_is_found_too(mini: Path) -> None:
    (mini / "onnx" / "model.onnx").rename(mini / "model.onnx")
    assert folder.need_graph(mini) == mini / "model.onnx"


def test_full_weights_are_preferred_to_quantized_ones(mini: Path) -> None:
    (mini / "onnx" / "model_quantized.onnx").write_bytes(b"unused")
    assert folder.find_graph(mini) == mini / "onnx" / "model.onnx"
    (mini / "onnx" / "model.onnx").unlink()
    assert folder.find_graph(mini) == mini / "onnx" / "model_quantized.onnx"


def test_the_name_begins_with_the_folder_and_changes_with_what_changes_vectors(mini: Path) -> None:
    first = OnnxEmbedder.from_folder(mini).name
    assert first.startswith("mini-")
    assert OnnxEmbedder.from_folder(mini).name == first
    (mini / "1_Pooling" / "config.json").write_text('{"word_embedding_dimension": 384, "pooling_mode_cls_token": true}')
    assert OnnxEmbedder.from_folder(mini).name != first


def test_cls_pooling_is_taken_from_the_folder(tmp_path: Path, plain: OnnxEmbedder) -> None:
    cls = OnnxEmbedder.from_folder(write_model_folder(tmp_path / "cls", pooling="cls_token"))
    assert not np.allclose(plain.embed(TEXTS), cls.embed(TEXTS), atol=0.01)


def test_passages_and_queries_get_the_prefixes_of_the_folder(tmp_path: Path, plain: OnnxEmbedder) -> None:
    prompts = {"query": "query: ", "document": "passage: "}
    prefixed = OnnxEmbedder.from_folder(write_model_folder(tmp_path / "e5", prompts=prompts))
    assert np.allclose(prefixed.embed(["boat"]), plain.embed(["passage: boat"]), atol=1e-5)
    assert np.allclose(prefixed.for_queries().embed(["boat"]), plain.embed(["query: boat"]), atol=1e-5)
    assert prefixed.for_queries().name == prefixed.name


def test_the_token_limit_is_taken_from_the_folder(mini: Path) -> None:
    (mini / "sentence_bert_config.json").write_text('{"max_seq_length": 4}')
    first, second = OnnxEmbedder.from_folder(mini).embed(["red boat here", "red boat elsewhere"])
    assert np.allclose(first, second, atol=1e-5)


def test_a_graph_that_scales_by_batch_is_recognised(tmp_path: Path) -> None:
    graph = tmp_path / "model.onnx"
    graph.write_bytes(b"\x08\x07 DynamicQuantizeLinear \x00")
    assert quantizes_by_batch(graph)
    assert quantizes_by_batch(graph.read_bytes())
    assert not quantizes_by_batch(b"\x08\x07 MatMul")


@pytest.mark.parametrize(
    "name, content, says",
    [
        ("1_Pooling/config.json", '{"pooling_mode_max_tokens": true}', "asks for pooling_mode_max_tokens"),
        ("1_Pooling/config.json", "[1]", "must hold a JSON object"),
        ("config_sentence_transformers.json", "{", "cannot be read as JSON"),
    ],
)
def test_a_description_that_cannot_be_used_is_named(mini: Path, name: str, content: str, says: str) -> None:
    (mini / name).write_text(content)
    with pytest.raises(EmbedderError, match=says):
        OnnxEmbedder.from_folder(mini)


def test_a_folder_that_does_not_tell_its_width_says_which_file_should(mini: Path) -> None:
    (mini / "config.json").unlink()
    (mini / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    with pytest.raises(EmbedderError, match="word_embedding_dimension"):
        OnnxEmbedder.from_folder(mini)


def test_a_width_that_is_not_the_graphs_is_an_error_before_anything_is_stored(mini: Path) -> None:
    (mini / "1_Pooling" / "config.json").write_text('{"word_embedding_dimension": 128}')
    with pytest.raises(EmbedderError, match="384 wide, its files say 128"):
        OnnxEmbedder.from_folder(mini).embed(TEXTS)


def test_a_missing_tokenizer_and_a_broken_one_are_named(mini: Path) -> None:
    (mini / "tokenizer.json").write_text('{"version": "1.0"}')
    with pytest.raises(EmbedderError, match=r"tokenizer\.json is not a tokenizer"):
        OnnxEmbedder.from_folder(mini).embed(TEXTS)
    (mini / "tokenizer.json").unlink()
    with pytest.raises(EmbedderError, match=r"has no tokenizer\.json"):
        OnnxEmbedder.from_folder(mini)


def test_a_broken_graph_is_an_error_that_says_to_fetch_it_again(mini: Path) -> None:
    (mini / "onnx" / "model.onnx").unlink()
    (mini / "onnx" / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(EmbedderError, match=r"cannot be loaded.*fetch the model again"):
        OnnxEmbedder.from_folder(mini).embed(TEXTS)


def test_a_token_id_outside_the_graphs_vocabulary_is_our_error_with_its_cause(mini: Path) -> None:
    described = json.loads((mini / "tokenizer.json").read_text(encoding="utf-8"))
    described["model"]["vocab"]["boat"] = 90_000
    (mini / "tokenizer.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(EmbedderError, match="failed on a batch of 1 texts") as caught:
        OnnxEmbedder.from_folder(mini).embed(["boat"])
    assert caught.value.__cause__ is not None


def test_a_folder_without_weights_is_no_model_folder(mini: Path) -> None:
    (mini / "onnx" / "model.onnx").unlink()
    with pytest.raises(EmbedderError, match="is no model folder"):
        open_folder(mini)


def test_safetensors_without_a_graph_ask_for_the_extra(mini: Path) -> None:
    (mini / "onnx" / "model.onnx").unlink()
    (mini / "model.safetensors").write_bytes(b"\0" * 16)
    with pytest.raises(EmbedderError, match=r"mnemic\[parametric\]"):
        OnnxEmbedder.from_folder(mini)
    if find_spec("torch") and find_spec("transformers"):
        pytest.skip("the extra is installed: its own loading is tested by the contract")
    with pytest.raises(EmbedderError, match=r"pip install 'mnemic\[parametric\]'"):
        open_folder(mini).embed(TEXTS)
