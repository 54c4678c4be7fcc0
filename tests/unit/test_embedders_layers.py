"""Layers after pooling are applied as the folder says, and a folder that asks for more than Mnemic has is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnemic.backends.models.local import open_folder
from mnemic.backends.models.onnx import OnnxEmbedder
from mnemic.backends.models.tensors import read_tensors
from mnemic.errors import EmbedderError
from mnemic.testing.model_folder import add_layer, write_model_folder, write_tensors

TEXTS = ["A small boat on the lake.", "The lease ends in March."]


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    return write_model_folder(tmp_path / "mini")


def test_a_layer_comes_after_pooling_and_decides_the_width(mini: Path) -> None:
    weight = np.random.default_rng(1).normal(size=(16, 384)).astype(np.float32)
    plain = open_folder(mini)
    add_layer(mini, "2_Dense", weight)
    layered = open_folder(mini)
    assert layered.width == 16
    assert layered.name != plain.name
    expected = plain.embed(TEXTS) @ weight.T  # the same direction: lengths do not count without a bias
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(layered.embed(TEXTS), expected, atol=1e-4)


def test_an_activation_is_applied(mini: Path) -> None:
    add_layer(mini, "2_Dense", np.eye(8, 384, dtype=np.float32), activation="ReLU")
    assert bool((open_folder(mini).embed(TEXTS) >= 0).all())


@pytest.mark.parametrize(
    "name, content, says",
    [
        ("modules.json", '[{"type": "sentence_transformers.models.LSTM", "path": "2_LSTM"}]', "asks for LSTM"),
        ("modules.json", '[{"path": "2"}]', "cannot be read"),
        ("2_Dense/config.json", '{"out_features": 8, "activation_function": "torch.nn.Softsign"}', "Softsign"),
        ("2_Dense/config.json", "{}", "a layer None wide"),
    ],
)
def test_a_module_that_mnemic_lacks_is_named(mini: Path, name: str, content: str, says: str) -> None:
    add_layer(mini, "2_Dense", np.eye(8, 384, dtype=np.float32))
    (mini / name).write_text(content)
    with pytest.raises(EmbedderError, match=says):
        open_folder(mini)


def test_weights_of_another_shape_are_an_error_before_anything_is_stored(mini: Path) -> None:
    add_layer(mini, "2_Dense", np.eye(8, 384, dtype=np.float32))
    write_tensors(mini / "2_Dense" / "model.safetensors", {"linear.weight": np.eye(4, 384, dtype=np.float32)})
    with pytest.raises(EmbedderError, match="a layer 8 wide"):
        OnnxEmbedder.from_folder(mini).embed(TEXTS)


@pytest.mark.parametrize("kind", ["<f2", "<f4", "<f8", "|i1", "<i8"])
def test_tensors_are_read_as_they_were_written(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "model.safetensors"
    written = np.arange(12).reshape(3, 4).astype(kind)
    write_tensors(path, {"a": written, "b": written[:1]})
    found = read_tensors(path)
    assert set(found) == {"a", "b"}
    assert found["a"].dtype == written.dtype and np.array_equal(found["a"], written)


def test_short_floats_are_widened(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    header = b'{"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\x80\x3f\x00\xc0")
    assert read_tensors(path)["a"].tolist() == [1.0, -2.0]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 64,
        (2).to_bytes(8, "little") + b"[]",
        (55).to_bytes(8, "little") + b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,4]}}  ' + b"\0" * 4,
        (55).to_bytes(8, "little") + b'{"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}}  ' + b"\0" * 4,
    ],
)
def test_a_damaged_file_is_an_error_that_says_to_fetch_it_again(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    with pytest.raises(EmbedderError, match="fetch the model again"):
        read_tensors(path)
