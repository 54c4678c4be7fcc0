"""A dry run tells what would be drawn and what it would change, and stores nothing."""

from __future__ import annotations

import json
from pathlib import Path

from mnemic import Memory
from mnemic.testing.scripted_model import ScriptedModel, outage

SETTINGS = {"embedder": "hashing", "worker": False}


def test_without_a_model_it_tells_what_rules_read(tmp_path: Path) -> None:
    with Memory(tmp_path, settings=SETTINGS) as memory:
        memory.add({"content": "I live in Leeds.", "at": "2025-01-01"}, user="ann", wait=True)
        before = list(memory.export(user="ann"))[1:]
        found = memory.extract(
            [{"content": "I moved to Porto.", "at": "2025-05-01"}, {"content": "I live in Leeds.", "at": "2025-01-02"}],
            user="ann",
        )
        assert found.mode == "rules"
        assert [(item.message, item.change, item.value, item.beside) for item in found.items] == [
            (0, "replaces", "Porto", "ann lives in Leeds."),
            (1, "repeats", "Leeds", "ann lives in Leeds."),
        ]
        assert list(memory.export(user="ann"))[1:] == before


def test_nobody_is_made_for_a_dry_run_by_rules(tmp_path: Path) -> None:
    with Memory(tmp_path, settings=SETTINGS) as memory:
        assert memory.extract("I live in Porto.", user="ann").items[0].change == "new"
        assert memory.cubes.list(user="ann") == ()


def test_with_a_model_it_tells_what_it_draws_and_what_is_not_believed(tmp_path: Path) -> None:
    def drawn(quote: str) -> dict[str, object]:
        return {
            "kind": "fact", "about": "user", "attribute": "home.place", "value": "Sevilla", "negated": False,
            "statement": "ann vive en Sevilla.", "said": True, "evidence": [{"message": "m1", "quote": quote}],
        }  # fmt: skip

    answer = json.dumps(
        {
            "memories": [drawn("Vivo en Sevilla"), drawn("Vivo en Madrid")],
            "entities": [{"name": "Sevilla", "type": "place", "messages": ["m1"]}],
        }
    )
    with Memory(tmp_path, settings=SETTINGS, llm=ScriptedModel([answer])) as memory:
        found = memory.extract("Vivo en Sevilla.", user="ann")
        assert (found.mode, found.entities) == ("scripted", (("Sevilla", "place"),))
        assert [(item.text, item.change, item.drawn_by) for item in found.items] == [
            ("ann vive en Sevilla.", "new", "scripted")
        ]
        assert "does not stand" in found.unbelieved[0].reason
        assert memory.list(user="ann") == ()
        assert memory.llm.usage(user="ann").total.calls == 1


def test_what_rules_and_the_model_both_read_is_new_once(tmp_path: Path) -> None:
    walnuts = {
        "kind": "fact", "about": "Ann", "attribute": "health.allergy", "value": "walnuts", "negated": False,
        "statement": "Ann is allergic to walnuts.", "said": True,
        "evidence": [{"message": "m1", "quote": "allergic to walnuts"}],
    }  # fmt: skip
    dates = {**walnuts, "value": "dates", "statement": "Ann is allergic to dates.",
             "evidence": [{"message": "m1", "quote": "dates make me ill"}]}  # fmt: skip
    model = ScriptedModel([json.dumps({"memories": [walnuts, dates]})])
    with Memory(tmp_path, settings=SETTINGS, llm=model) as memory:
        found = memory.extract("I'm allergic to walnuts, and dates make me ill.", user="ann")
    assert [(item.value, item.change, item.beside) for item in found.items] == [
        ("walnuts", "new", ""),
        ("walnuts", "repeats", "ann is allergic to walnuts."),
        ("dates", "new", ""),
    ]


def test_when_the_model_fails_rules_read_and_it_is_told(tmp_path: Path) -> None:
    with Memory(tmp_path, settings=SETTINGS, llm=ScriptedModel([outage()])) as memory:
        found = memory.extract("I live in Porto.", user="ann")
        assert (found.mode, [item.value for item in found.items]) == ("rules", ["Porto"])
        assert "cannot be reached" in found.notes[0]
