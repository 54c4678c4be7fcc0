"""`mnemic eval` as people and programs type it: tables, a document, a report that stands alone, and faults."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mnemic.testing.model_says import fails
from mnemic.testing.model_server import Asked, ModelServer
from tests.conventions.sources import ROOT
from tests.interaction.terminal import Said, Terminal

DATA = ROOT / "tests" / "data" / "eval"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("eval") / "out"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our own lines, with markup in a name and a question, as a file."""
    path = tmp_path_factory.mktemp("file") / "<own>.jsonl"
    text = (DATA / "own.jsonl").read_text("utf-8")
    path.write_text(text.replace("baked?", "baked? <script>alert(1)</script> https://example.org/x"))
    return path


@pytest.fixture(scope="module")
def said(out: Path, hostile: Path) -> Said:
    return Terminal(out.parent / "home").type("eval", "jsonl", str(hostile), "--out", str(out))


@pytest.fixture(scope="module")
def page(said: Said, out: Path) -> str:
    return (out / "report.html").read_text("utf-8")


def test_the_tables_tell_what_was_found_beside_the_baselines(said: Said) -> None:
    assert said.code == 0, said.err
    for heading in ("How well it finds", "Beside", "Spread", "Not in memory", "Time", "Wrong in the file"):
        assert re.search(rf"^{heading}\b", said.out, re.MULTILINE), heading
    for name in ("multi", "single", "all answerable", "mnemic", "dense", "text", "rrf"):
        assert re.search(rf"^{name} ", said.out, re.MULTILINE), name
    assert "all 7 turns stored" in said.out and "5 questions asked, 3 with evidence, 1 absent" in said.out
    assert "bo/line 12" in said.out and "evidence 'b7' names no message" in said.out
    assert all(len(line.rstrip()) <= 100 for line in said.out.splitlines() if "results: " not in line)


def test_progress_is_told_on_stderr_by_conversation(said: Said) -> None:
    assert "2 conversations, 5 questions" in said.err
    assert re.search(r"ada: 5 turns stored in .*; 3 questions", said.err)


def test_the_results_are_a_document_of_their_own(said: Said, out: Path) -> None:
    found = json.loads((out / "results.json").read_text("utf-8"))
    assert found["format"] == "mnemic-eval-1" and len(found["questions"]) == 5
    assert found["systems"]["mnemic"]["groups"]["all answerable"]["measures"]["turn recall@10"]["n"] == 3


def test_the_report_stands_alone(page: str) -> None:
    assert page.startswith("<!doctype html>") and page.count("<svg") == 6
    assert not re.search(r"@import|url\(|<script|<link|<img|src=|href=", page, re.IGNORECASE)
    assert "default-src 'none'" in page and "&lt;script&gt;" in page and "&lt;own&gt;.jsonl" in page


def test_the_report_has_every_plot_and_table(page: str) -> None:
    for heading in (
        "By category", "Beside others", "Recall by k, turns", "Recall by k, sessions", "Recall@10 by category",
        "By age of the evidence", "Tokens against recall", "Time of one question", "Evidence in a context",
        "Not in memory", "Times", "Over conversations", "Wrong in the file (3)", "What this is",
    ):  # fmt: skip
        assert f"<h2>{heading}</h2>" in page, heading


def test_the_same_again_goes_on_and_gives_the_same_document(said: Said, out: Path, hostile: Path) -> None:
    before: dict[str, Any] = json.loads((out / "results.json").read_text("utf-8"))
    again = Terminal(out.parent / "home").type("eval", "jsonl", str(hostile), "--out", str(out), "--json")
    assert again.code == 0 and "questions" not in again.json and again.json["report"].endswith("report.html")
    after: dict[str, Any] = json.loads((out / "results.json").read_text("utf-8"))
    assert before | {"about": 0} == after | {"about": 0}
    resumed = Terminal(out.parent / "home").type("eval", "jsonl", str(hostile), "--out", str(out))
    assert "going on where the last run stopped" in resumed.err
    other = Terminal(out.parent / "home").type(
        "eval", "jsonl", str(hostile), "--out", str(out), "--baselines", "none", "--only", "bo"
    )
    assert "starting anew; changed since the last run: the baselines" in other.err
    assert "Beside" not in other.out and other.code == 0


def test_longmemeval_is_measured_by_question_types(tmp_path: Path) -> None:
    path, out = DATA / "longmemeval.json", tmp_path / "out"
    said = Terminal(tmp_path / "home").type(
        "eval", "longmemeval", str(path), "--out", str(out), "--drop", "--baselines", "text"
    )
    assert said.code == 0 and "16 of 17 turns stored, the others have no words" in said.out
    assert re.search(r"^knowledge-update ", said.out, re.MULTILINE) and "Not in memory" in said.out
    assert not list((out / "memories").iterdir())


@pytest.mark.parametrize(
    "words,told",
    [
        (("jsonl", "absent.jsonl"), "cannot read"),
        (("locomo", str(DATA / "own.jsonl")), "is not JSON"),
        (("longmemeval", str(DATA / "own.jsonl")), "not a JSON array"),
        (("jsonl", str(DATA / "longmemeval.json")), "lines[1]"),
        (("jsonl", str(DATA / "own.jsonl"), "--baselines", "zep"), "'zep' is not known"),
        (("jsonl", str(DATA / "own.jsonl"), "--only", "cy"), "no conversation 'cy'"),
        (("jsonl", str(DATA / "own.jsonl"), "--limit", "3"), "limit: is an option of answers; add --answers"),
        (("jsonl", str(DATA / "own.jsonl"), "--answers", "--conditions", "none"), "'none' needs a language model"),
        (("jsonl", str(DATA / "own.jsonl"), "--answers", "--price-in", "1"), "price_out: is missing"),
    ],
)
def test_what_cannot_be_measured_is_bad_input(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    said = Terminal(tmp_path / "home").type("eval", *words, "--out", str(tmp_path / "out"))
    assert said.code == 2 and told in said.err


def test_answers_are_measured_without_any_model(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("eval", "longmemeval", str(DATA / "longmemeval.json"), "--out", str(out), "--answers", "--limit", "1")
    said = Terminal(tmp_path / "home").type(*words)
    assert said.code == 0, said.err
    for heading in ("How right the answers are", "By condition", "What a question takes"):
        assert re.search(rf"^{heading}\b", said.out, re.MULTILINE), heading
    assert re.search(r"^extractive +\d", said.out, re.MULTILINE) and "abstention" in said.out
    assert "no more than 1 a category" in " ".join(said.out.split()) and "drawn by the seed 2026" in said.out
    assert all(len(line.rstrip()) <= 100 for line in said.out.splitlines() if "results: " not in line)
    found = json.loads((out / "results.json").read_text("utf-8"))
    assert found["format"] == "mnemic-eval-answers-1" and list(found["conditions"]) == ["extractive"]
    again = Terminal(tmp_path / "home").type(*words, "--json")
    assert again.code == 0 and again.json["conditions"] == found["conditions"] and "questions" not in again.json
    page = (out / "report.html").read_text("utf-8")
    assert "<h2>By category</h2>" in page and "answered by rules alone, without a model" in page


def test_a_model_and_a_judge_behind_a_server_answer_and_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def said_by_the_model(asked: Asked) -> str:
        if asked.model == "judge":
            return '{"right": true, "reason": "it says so"}'
        return "along the canal to the tannery" if asked.turns[-1][1].startswith("CONTEXT") else "no idea"

    with ModelServer(said_by_the_model) as server:
        for name, value in {
            "LLM_BASE_URL": server.url, "LLM_API_KEY": "sk-secret", "LLM_MODEL": "small", "REFINE": "false",
            "JUDGE_BASE_URL": server.url, "JUDGE_API_KEY": "sk-secret", "JUDGE_MODEL": "judge",
        }.items():  # fmt: skip
            monkeypatch.setenv(f"MNEMIC_{name}", value)
        out = tmp_path / "out"
        words = ("eval", "jsonl", str(DATA / "own.jsonl"), "--out", str(out), "--answers", "--price-in", "1",
                 "--price-out", "2", "--json")  # fmt: skip
        found = Terminal(tmp_path / "home").json(*words)
        asked = len(server.requests)
        again = Terminal(tmp_path / "home").json(*words)
        assert len(server.requests) == asked == 2 * 3 + 2 * 4  # answers of three conditions, judgements of four
    assert list(found["conditions"]) == ["none", "full", "mnemic", "extractive"]
    for name, right in (("none", 0.0), ("full", 1.0), ("mnemic", 1.0)):
        assert found["conditions"][name]["groups"]["all answerable"]["measures"]["F1"]["mean"] == right, name
    assert found["conditions"]["mnemic"]["judged"]["readable"] == 2
    assert found["conditions"]["mnemic"]["usage"]["cost"] > 0
    assert again["conditions"] == found["conditions"]
    kept = [path.read_text("utf-8") for path in out.iterdir() if path.suffix in (".json", ".jsonl", ".html")]
    assert len(kept) == 3 and not any("sk-secret" in text for text in kept)


def test_a_model_that_is_away_ends_the_run_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(default=fails(503, "overloaded")) as server:
        for name, value in {
            "LLM_BASE_URL": server.url,
            "LLM_MODEL": "small",
            "LLM_TRIES": "1",
            "REFINE": "false",
        }.items():
            monkeypatch.setenv(f"MNEMIC_{name}", value)
        words = ("eval", "jsonl", str(DATA / "own.jsonl"), "--out", str(tmp_path / "out"), "--answers",
                 "--conditions", "none,full,mnemic")  # fmt: skip
        said = Terminal(tmp_path / "home").type(*words)
    assert said.code == 6 and "5 times in a row" in said.err and "run the same command again" in said.err
    assert not (tmp_path / "out" / "results.json").exists()
