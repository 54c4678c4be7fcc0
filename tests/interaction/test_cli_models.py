"""`mnemic models`: what is configured, whether it works, how fast it is, and what is worth a pull."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mnemic.testing.model_says import fails, says_json
from mnemic.testing.model_server import ModelServer
from mnemic.wiring.models import PACKAGES
from tests.interaction.terminal import Terminal
from tests.unit.gguf_files import write_gguf

KEY = "sk-very-secret"
FITS = says_json({"person": "Ann", "city": "Porto"})


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path / "memory")


def configure(monkeypatch: pytest.MonkeyPatch, **settings: str) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"MNEMIC_{name.upper()}", value)


def test_without_settings_it_tells_what_is_there_and_how_to_set_the_rest(terminal: Terminal) -> None:
    said = terminal.type("models")
    assert said.code == 0
    assert said.out.count("not configured") == 3
    for name in ("MNEMIC_LLM_MODEL", "MNEMIC_JUDGE_MODEL", "MNEMIC_RERANK_BASE_URL"):
        assert name in said.out
    told = terminal.json("models", "list")
    assert [one["purpose"] for one in told["models"]] == ["embedder", "llm", "judge", "reranker"]
    assert [one["configured"] for one in told["models"]] == [True, False, False, False]
    assert told["pulled"] == []


def test_it_tells_where_each_model_is_and_no_key(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(
        monkeypatch, llm="anthropic", llm_model="claude", llm_api_key=KEY, judge_model="judge",
        judge_base_url=f"https://me:{KEY}@judge.example/v1?key={KEY}", judge_api_key=KEY,
        rerank_base_url="http://127.0.0.1:7997", rerank_model="bge", rerank_api_key=KEY,
    )  # fmt: skip
    told = {one["purpose"]: one for one in terminal.json("models")["models"]}
    assert [told[name]["endpoint"] for name in ("llm", "judge", "reranker")] == [
        "https://api.anthropic.com", "https://judge.example/v1", "http://127.0.0.1:7997",
    ]  # fmt: skip
    assert all(told[name]["with_key"] for name in ("llm", "judge", "reranker"))
    assert KEY not in terminal.type("models").out + json.dumps(told)


def test_pulled_models_are_listed_with_the_setting_that_uses_them(terminal: Terminal) -> None:
    folder = terminal.home / "models" / "org--mini-GGUF"
    folder.mkdir(parents=True)
    path = write_gguf(folder / "mini-q4_k_m.gguf")
    (terminal.home / "models" / "org--small").mkdir()
    (terminal.home / "models" / "org--small" / "model.safetensors").write_bytes(b"12345")
    model, embedder = terminal.json("models")["pulled"]
    assert model == {
        "name": "org/mini-GGUF: mini-q4_k_m.gguf", "kind": "language model", "bytes": path.stat().st_size,
        "path": str(path),
    }  # fmt: skip
    assert (embedder["name"], embedder["kind"], embedder["bytes"]) == ("org/small", "embedder", 5)
    shown = "".join(terminal.type("models").out.split())
    assert f"MNEMIC_LLM_MODEL={path}" in shown and "MNEMIC_EMBEDDER=" in shown


def test_the_embedder_is_called_and_timed(terminal: Terminal) -> None:
    told = terminal.json("models", "test")
    assert told["ok"] and [one["purpose"] for one in told["models"]] == ["embedder"]
    figures = told["models"][0]["figures"]
    assert figures["cold_seconds"] > 0 and figures["warm_seconds"] > 0 and figures["texts_per_second"] > 0
    assert [one["purpose"] for one in told["missing"]] == ["llm", "judge", "reranker"]


def test_a_language_model_is_called_timed_and_held_to_a_schema(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(["Hello.", "To remember by.", FITS]) as server:
        configure(monkeypatch, llm_base_url=server.url, llm_model="some-model", llm_api_key=KEY)
        (told,) = terminal.json("models", "test", "llm")["models"]
    assert told["ok"] and told["figures"]["keeps_schema"] is True
    assert told["figures"]["cold_seconds"] > 0 and told["figures"]["tokens_per_second"] > 0
    assert told["figures"]["tokens"] > 10
    assert [request.streams for request in server.requests] == [True, True, False]


def test_a_model_that_keeps_no_schema_works_and_is_told_of(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(["Hello.", "To remember by.", "She lives in Porto."]) as server:
        configure(monkeypatch, llm_base_url=server.url, llm_model="some-model")
        said = terminal.type("models", "test", "llm")
    assert said.code == 0 and "does not keep a JSON schema" in " ".join(said.out.split())


def test_each_that_fails_is_told_with_what_to_do_and_ends_with_five(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(default=fails(401, "no such key")) as server:
        configure(monkeypatch, judge_base_url=server.url, judge_model="judge", judge_api_key=KEY)
        gone = terminal.home / ("long" * 30) / "gone.gguf"
        configure(monkeypatch, llm_model=str(gone))
        said = terminal.type("models", "test")
    assert said.code == 5
    shown = " ".join(said.out.split())
    assert "ok embedder" in shown
    assert "wrong llm" in shown and "see MNEMIC_LLM_" in shown
    assert str(gone) in "".join(said.out.split()), "a long path is wrapped, never cut"
    assert "wrong judge" in shown and "see MNEMIC_JUDGE_" in shown
    assert KEY not in said.out
    assert terminal.type("models", "test", "llm", "--json").json["ok"] is False


def test_a_reranker_is_called_and_has_to_tell_an_answer_from_none(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer() as server:
        configure(monkeypatch, rerank_base_url=server.url, rerank_model="bge")
        (told,) = terminal.json("models", "test", "reranker")["models"]
    assert told["ok"] and told["figures"]["right"] is True
    with ModelServer([fails(401)] * 2) as server:
        configure(monkeypatch, rerank_base_url=server.url)
        assert terminal.type("models", "test", "reranker").code == 5


def test_testing_what_is_not_configured_finds_nothing(terminal: Terminal) -> None:
    said = terminal.type("models", "test", "judge")
    assert said.code == 1 and "not configured" in said.out
    assert terminal.type("models", "test", "oracle").code == 2


def test_a_pull_without_a_name_lists_what_is_worth_one(terminal: Terminal) -> None:
    told = terminal.json("models", "pull")
    assert len(told) >= 2
    for model in told:
        assert model["name"].lower().endswith("-gguf") and model["file"].endswith(".gguf")
        assert model["licence"] == "Apache-2.0" and model["bytes"] > 1e8 and model["good_for"]
        assert model["name"] in terminal.type("models", "pull").out


def test_a_pull_of_a_language_model_takes_no_source(terminal: Terminal, tmp_path: Path) -> None:
    said = terminal.type("models", "pull", "org/mini-GGUF", "--source", str(tmp_path))
    assert said.code == 2 and "llm_model" in said.err


def test_a_pulled_language_model_is_told_how_to_use(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_gguf(tmp_path / "mini.gguf")
    monkeypatch.setattr("mnemic.wiring.pull_model", lambda *_, **__: path)
    said = terminal.type("models", "pull", "org/mini-GGUF")
    assert said.code == 0 and "mini.gguf" in said.out
    assert f"MNEMIC_LLM_MODEL={path}" in "".join(said.err.split())
    assert terminal.json("models", "pull", "org/mini-GGUF") == {"file": str(path)}


def test_the_doctor_tells_which_language_model_there_is(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> dict[str, str]:
        checks = terminal.type("doctor", "--json").json["checks"]
        return next(check for check in checks if check["name"] == "language model")

    assert told()["ok"] and "by rules" in told()["told"]
    configure(monkeypatch, llm_base_url="http://127.0.0.1:9/v1", llm_model="some-model")
    assert told()["ok"] and "some-model" in told()["told"]
    configure(monkeypatch, llm="local", llm_model="gone.gguf")
    assert not told()["ok"] and "gone.gguf" in told()["told"]


@pytest.mark.parametrize("provider, package", PACKAGES.items())
def test_the_doctor_finds_that_the_package_of_a_provider_is_missing(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, provider: str, package: str
) -> None:
    file = write_gguf(terminal.home.parent / "mini.gguf")
    configure(monkeypatch, llm=provider, llm_model=str(file) if provider == "local" else "some-model")
    monkeypatch.setitem(sys.modules, package, None)
    said = terminal.type("doctor")
    assert said.code == 5
    shown = " ".join(said.out.split())
    assert f"the package {package} is not installed" in shown
    assert f"pip install 'mnemic[{provider}]'" in shown
