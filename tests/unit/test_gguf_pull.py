"""A pulled GGUF file is the one that was meant, whole and a language model, or the folder is as it was."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mnemic import config, wiring
from mnemic.backends.models.llama import LlamaModel
from mnemic.backends.models.pull_gguf import RECOMMENDED, choose, is_gguf, pull_gguf
from mnemic.errors import InputError, LanguageError
from tests.unit.gguf_files import write_gguf
from tests.unit.loopback_hub import loopback_hub

FILES = ["mini-q4_k_m.gguf", "mini-q8_0.gguf", "mini-fp16.gguf", "mmproj-mini-Q4_K_M.gguf", "README.md", "run.py"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    write_gguf(folder / "mini-q4_k_m.gguf", general__name="four")
    write_gguf(folder / "mini-q8_0.gguf", general__name="eight")
    (folder / "LICENSE").write_text("Apache-2.0")
    (folder / "run.py").write_text("raise SystemExit")
    return folder


@pytest.fixture
def hub(source: Path) -> Iterator[str]:
    with loopback_hub(source) as address:
        yield address


def test_the_usual_quantization_is_taken_unless_another_is_named() -> None:
    assert choose(FILES, "org/mini") == "mini-q4_k_m.gguf"
    assert choose(FILES, "org/mini", "Q8_0") == "mini-q8_0.gguf"
    assert choose(["mini-IQ4_K_M.gguf", "mini.Q4_K_M.gguf"], "org/mini") == "mini.Q4_K_M.gguf"
    assert choose(["Q8_0/mini-Q8_0.gguf"], "org/mini") == "Q8_0/mini-Q8_0.gguf"
    assert choose(["the-only-one.gguf"], "org/mini") == "the-only-one.gguf"


@pytest.mark.parametrize(
    "files, quantization, told",
    [
        (FILES, "Q2_K", r"no file Q2_K; name one as org/mini:QUANTIZATION, of mini-fp16, mini-q4_k_m, mini-q8_0"),
        (["mini-Q4_K_M-00001-of-00002.gguf", "mini-Q4_K_M-00002-of-00002.gguf"], "", "no GGUF file in one piece"),
        (["model.safetensors"], "", "no GGUF file"),
        (["mini-odd.gguf", "mini-odder.gguf"], "", "of a usual quantization"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(files: list[str], quantization: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        choose(files, "org/mini", quantization)


@pytest.mark.parametrize(
    "name, meant",
    [
        ("org/mini-GGUF", True), ("org/mini-gguf", True), ("org/mini:Q4_K_M", True), ("org/mini", False),
        ("https://example.org/mini", False), ("intfloat/multilingual-e5-small", False),
    ],
)  # fmt: skip
def test_a_name_tells_whether_a_language_model_is_meant(name: str, meant: bool) -> None:
    assert is_gguf(name) is meant


def test_a_file_is_fetched_with_its_licence_and_without_code(source: Path, hub: str, tmp_path: Path) -> None:
    pulled = pull_gguf("org/mini", tmp_path / "models", endpoint=hub)
    assert pulled == tmp_path / "models" / "org--mini" / "mini-q4_k_m.gguf"
    assert pulled.read_bytes() == (source / "mini-q4_k_m.gguf").read_bytes()
    assert sorted(path.name for path in pulled.parent.iterdir()) == ["LICENSE", "mini-q4_k_m.gguf"]
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["org--mini"]


def test_another_quantization_comes_beside_the_first_and_each_can_be_configured(hub: str, tmp_path: Path) -> None:
    first = pull_gguf("org/mini", tmp_path / "models", endpoint=hub)
    second = pull_gguf("org/mini:q8_0", tmp_path / "models", endpoint=hub)
    assert first.is_file() and second.is_file() and first.parent == second.parent
    model = wiring.build_llm(config.load(tmp_path, {"llm_model": str(second)}))
    assert isinstance(model, LlamaModel) and model.name == "mini-q8_0"


def test_a_file_that_is_not_the_one_the_hub_has_changes_nothing(source: Path, tmp_path: Path) -> None:
    models = tmp_path / "models"
    with loopback_hub(source, wrong=True) as address, pytest.raises(LanguageError, match=r"not the one.*SHA-256"):
        pull_gguf("org/mini", models, endpoint=address)
    assert list(models.iterdir()) == []


def test_a_file_that_is_no_language_model_changes_nothing(source: Path, hub: str, tmp_path: Path) -> None:
    before = pull_gguf("org/mini", tmp_path / "models", endpoint=hub)
    write_gguf(source / "mini-q4_k_m.gguf", general__architecture="bert")
    with pytest.raises(LanguageError, match=r"cannot be used, nothing was changed: the file is of the kind bert"):
        pull_gguf("org/mini", tmp_path / "models", endpoint=hub)
    assert before.read_bytes() != (source / "mini-q4_k_m.gguf").read_bytes()


def test_a_disk_without_room_is_told_before_the_download(
    hub: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1_000}))
    with pytest.raises(InputError, match=r"needs 0\.0 GB in .*, and 0\.0 GB are free"):
        pull_gguf("org/mini", tmp_path / "models", endpoint=hub)


def test_a_model_that_the_hub_lacks_is_named(hub: str, tmp_path: Path) -> None:
    with pytest.raises(LanguageError, match="no model org/other that is open to you"):
        pull_gguf("org/other:Q4_K_M", tmp_path / "models", endpoint=hub)


def test_without_a_connection_the_error_says_what_to_do(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as closed:
        gone = f"http://127.0.0.1:{closed.server_address[1]}"
    with pytest.raises(LanguageError, match=r"could not be fetched.*check the connection"):
        pull_gguf("org/mini-GGUF", tmp_path / "models", endpoint=gone)


def test_what_is_recommended_is_what_its_name_would_bring() -> None:
    for model in RECOMMENDED:
        assert is_gguf(model.name)
        assert choose([model.file, "other-f16.gguf", "other-q8_0.gguf"], model.name) == model.file
