"""The demo with a language model tells truly what it took part in: what it drew, what that cost, when it was gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemic.testing.model_says import fails, says_json
from mnemic.testing.model_server import ModelServer
from tests.interaction.terminal import Said, Terminal
from tests.interaction.test_demo import sample

PARROT = {
    "kind": "fact", "about": "Ada", "attribute": "possession.pet", "value": "Kiwi", "statement": "Ada has a parrot.",
    "negated": False, "said": True, "reason": "", "when": {"words": "", "from": "", "to": ""},
    "evidence": [{"message": "m1", "quote": "I adopted a parrot called Kiwi"}], "known": "", "change": "new",
}  # fmt: skip
INVENTED = {**PARROT, "statement": "Ada has a yacht.", "evidence": [{"message": "m1", "quote": "I bought a yacht"}]}
DRAWN = says_json({"memories": [PARROT, INVENTED], "entities": [], "relations": [], "topics": []})


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps([sample()]))
    return path


def played(tiny: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch, *words: str) -> Said:
    for name, value in {"BASE_URL": server.url, "MODEL": "some-model", "TRIES": "1"}.items():
        monkeypatch.setenv(f"MNEMIC_LLM_{name}", value)
    monkeypatch.setenv("MNEMIC_REFINE", "0")
    return Terminal(tiny.parent / "memory", user="demo").type("demo", "--data", str(tiny), *words)


def test_what_the_model_draws_and_costs_is_shown(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(default=DRAWN) as server:
        said = played(tiny, server, monkeypatch)
    assert said.code == 0
    shown = " ".join(said.out.split())
    assert "with the language model some-model" in shown and "no API key" not in shown
    assert "What some-model draws" in shown and "Ada has a parrot." in shown
    assert "not believed: Ada has a yacht." in shown
    assert "1 call of some-model" in shown and "tokens in" in shown
    assert "answers written by some-model" in shown


def test_as_json_the_model_and_what_it_drew_are_named(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(default=DRAWN) as server:
        told = played(tiny, server, monkeypatch, "--json").json
    assert told["model"] == "some-model"
    assert [item["text"] for item in told["drawing"]["extraction"]["items"]] == ["Ada has a parrot."]
    assert told["stats"]["usage"]["total"]["calls"] >= 1


def test_a_model_that_is_gone_ends_no_demo(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(default=fails(401)) as server:
        said = played(tiny, server, monkeypatch)
    assert said.code == 0
    shown = " ".join(said.out.split())
    assert "the language model failed" in shown
    assert "1 of them failed" in shown
    assert "questions answered" in shown
