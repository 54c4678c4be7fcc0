"""A pulled model is whole and only what an embedder needs, or the folder is as it was."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from mnemic.backends.models.local import open_folder
from mnemic.backends.models.onnx import OnnxEmbedder
from mnemic.backends.models.pull import pull, safe_name, wanted, wanted_weights
from mnemic.errors import EmbedderError, InputError
from mnemic.testing.model_folder import add_layer, write_model_folder, write_static_folder
from tests.unit.loopback_hub import loopback_hub


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_model_folder(tmp_path / "source")


def test_a_model_is_copied_from_a_folder_and_can_be_used(source: Path, tmp_path: Path) -> None:
    pulled = pull("org/mini", tmp_path / "models", source=str(source))
    assert pulled == tmp_path / "models" / "org--mini"
    assert np.allclose(open_folder(pulled).embed(["boat"]), OnnxEmbedder.bundled().embed(["boat"]), atol=1e-5)
    assert not (pulled / "onnx" / "model.onnx").is_symlink()


def test_only_one_set_of_weights_and_no_code_is_taken() -> None:
    files = [
        "onnx/model.onnx", "onnx/model.onnx_data", "onnx/model_O4.onnx", "onnx/model_quantized.onnx",
        "model.safetensors", "pytorch_model.bin", "modeling.py",
        "tokenizer.json", "config.json", "1_Pooling/config.json", "LICENSE.txt",
    ]  # fmt: skip
    assert set(wanted(files)) == {"tokenizer.json", "config.json", "1_Pooling/config.json", "LICENSE.txt"}
    assert wanted_weights(files) == ["onnx/model.onnx", "onnx/model.onnx_data"]
    assert wanted_weights([name for name in files if "onnx" not in name]) == ["model.safetensors"]
    assert wanted_weights(["tokenizer.json"]) == []


def test_of_a_static_model_the_table_is_taken_and_not_a_graph(tmp_path: Path) -> None:
    source = write_static_folder(tmp_path / "source")
    (source / "onnx").mkdir()
    (source / "onnx" / "model.onnx").write_bytes(b"unused")
    pulled = pull("org/potion", tmp_path / "models", source=str(source))
    assert not (pulled / "onnx").exists()
    assert np.allclose(open_folder(pulled).embed(["boat"]), open_folder(source).embed(["boat"]))


def test_layers_and_what_a_person_said_of_a_model_come_with_it(source: Path, tmp_path: Path) -> None:
    add_layer(source, "2_Dense", np.eye(8, 384, dtype=np.float32))
    (source / "onnx" / "model.onnx").rename(source / "onnx" / "mine.onnx")
    (source / "mnemic.json").write_text('{"graph": "onnx/mine.onnx", "query_prefix": "q: "}')
    pulled = pull("mini", tmp_path / "models", source=str(source))
    assert open_folder(pulled).embed(["boat"]).shape == (1, 8)
    (source / "2_Dense" / "model.safetensors").unlink()
    with pytest.raises(EmbedderError, match=r"2_Dense.*is missing"):
        pull("mini", tmp_path / "models", source=str(source))


def test_pulling_again_replaces_the_model_and_leaves_nothing_else(source: Path, tmp_path: Path) -> None:
    models = tmp_path / "models"
    pulled = pull("mini", models, source=str(source))
    (pulled / "stale.txt").write_text("old")
    pull("mini", models, source=str(source))
    assert not (pulled / "stale.txt").exists()
    assert [path.name for path in models.iterdir()] == ["mini"]


@pytest.mark.parametrize("missing", ["onnx/model.onnx", "tokenizer.json"])
def test_a_source_without_a_needed_file_changes_nothing(source: Path, tmp_path: Path, missing: str) -> None:
    models = tmp_path / "models"
    before = pull("mini", models, source=str(source))
    (source / missing).unlink()
    with pytest.raises(EmbedderError):
        pull("mini", models, source=str(source))
    assert (before / missing).is_file()
    assert [path.name for path in models.iterdir()] == ["mini"]


def test_a_source_that_is_no_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="source"):
        pull("mini", tmp_path / "models", source=str(tmp_path / "none"))


@pytest.mark.parametrize(
    "name, safe", [("org/model", "org--model"), ("../../etc", "etc"), (".hidden", "hidden"), ("a b", "a-b")]
)
def test_no_name_leads_out_of_the_folder(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@pytest.mark.parametrize("name", ["", "..", "///", " "])
def test_a_name_that_names_nothing_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="name"):
        safe_name(name)


def test_a_name_that_is_no_repository_is_refused_before_the_network(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no repository of the hub"):
        pull("https://example.org/model", tmp_path)


@pytest.fixture
def hub(source: Path) -> Iterator[str]:
    with loopback_hub(source) as address:
        yield address


def test_a_model_is_fetched_from_a_hub_without_code(source: Path, hub: str, tmp_path: Path) -> None:
    (source / "modeling_mini.py").write_text("raise SystemExit")
    pulled = pull("org/mini", tmp_path / "models", endpoint=hub)
    for name in ("onnx/model.onnx", "tokenizer.json", "1_Pooling/config.json"):
        assert (pulled / name).read_bytes() == (source / name).read_bytes()
    assert not (pulled / "modeling_mini.py").exists()
    assert not (pulled / ".cache").exists()


def test_a_model_that_the_hub_lacks_is_named(hub: str, tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="no model org/other that is open to you"):
        pull("org/other", tmp_path / "models", endpoint=hub)
    assert list((tmp_path / "models").iterdir()) == []


def test_without_a_connection_the_error_says_what_happened_and_what_to_do(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as closed:
        gone = f"http://127.0.0.1:{closed.server_address[1]}"
    with pytest.raises(EmbedderError, match=r"could not be fetched.*check the connection.*folder as source"):
        pull("org/mini", tmp_path / "models", endpoint=gone)
    assert list((tmp_path / "models").iterdir()) == []
