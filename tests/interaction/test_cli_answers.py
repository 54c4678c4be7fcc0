"""`mnemic ask` and `mnemic chat` with a language model: what is shown, when, and how they end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest

from mnemic.model.language import Prompt
from mnemic.testing.scripted_model import Broken, Scripted, ScriptedModel, outage, said_to
from mnemic.wiring import parts
from tests.interaction.terminal import Terminal, lived


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a memory in which ann lived in Leeds, and then moved to Porto."""
    return lived(tmp_path_factory.mktemp("model"))


@pytest.fixture
def terminal(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A copy of that memory; nothing is refined by a model."""
    monkeypatch.setenv("MNEMIC_REFINE", "no")
    return Terminal(copytree(filled, tmp_path / "memory"))


Follow = Callable[..., ScriptedModel]


@pytest.fixture
def follow(monkeypatch: pytest.MonkeyPatch) -> Follow:
    """Let commands find a model that follows a script, where the settings would name one."""

    def put(*replies: Scripted | Callable[[Prompt], Scripted]) -> ScriptedModel:
        first = replies[0]
        model = (
            ScriptedModel(first) if callable(first) else ScriptedModel([one for one in replies if not callable(one)])
        )
        monkeypatch.setattr(parts, "build_llm", lambda _: model)
        return model

    return put


def porto(prompt: Prompt) -> str:
    """Answer with a reference to the message about Porto."""
    line = next(line for line in said_to(prompt).split("\n") if line.startswith("[") and "Porto" in line)
    return f"You live in **Porto** {line.split()[0]}."


def test_an_answer_of_a_model_is_shown_with_its_numbered_sources(terminal: Terminal, follow: Follow) -> None:
    model = follow(porto)
    said = terminal.type("ask", "Where do I live?")
    assert said.code == 0 and "You live in **Porto** [" in said.out
    assert "1 call" in said.out and "scripted" in said.out and "\u201c" in said.out
    assert model.closed


def test_options_reach_the_model(terminal: Terminal, follow: Follow) -> None:
    model = follow("[none] No.", "[none] No.")
    said = terminal.type(
        "ask", "Where?", "--style", "brief", "--persona", "A gardener", "--relationship", "tutor",
        "--system", "Be kind", "--model", "other", "--temperature", "0.7", "--max-tokens", "99", "--suggest", "2",
        "--depth", "1", "--session", "s1", "--now", "2025-07-01T10:00Z",
    )  # fmt: skip
    assert said.code == 1 and "not in memory" in said.out
    prompt = model.prompts[0]
    assert (prompt.model, prompt.temperature, prompt.max_tokens) == ("other", 0.7, 99)
    for words in ("brief", "A gardener", "tutor", "Be kind", "2025-07-01", "searches left: 1", "next questions: 2"):
        assert words in said_to(prompt)


def test_json_has_all_of_an_answer_and_no_stream(
    terminal: Terminal, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as at a terminal
    follow(lambda prompt: porto(prompt) + "\n[next] Who is Rex?")
    found = terminal.json("ask", "Where do I live?", "--suggest", "1")
    assert found["found"] and found["suggestions"] == ["Who is Rex?"] and len(found["numbers"]) == 1
    assert found["spent"]["calls"] == 1 and found["citations"][0]["sources"]


def test_at_a_terminal_an_answer_is_shown_while_it_is_written(
    terminal: Terminal, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    follow(lambda prompt: porto(prompt) + "\n[next] Who is Rex?")
    said = terminal.type("ask", "Where do I live?", "--suggest", "1")
    assert said.code == 0 and said.out.count("You live in") == 1 and "next: Who is Rex?" in said.out
    assert "[next]" not in said.out


def test_an_answer_that_breaks_off_at_a_terminal_ends_as_a_model_error(
    terminal: Terminal, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    follow(Broken("You live in Po", outage()))
    said = terminal.type("ask", "Where do I live?")
    assert said.code == 5 and "You live in" in said.out and "cannot be reached" in said.err
    assert "models test" in said.err


def test_an_outage_is_a_note_beside_the_extractive_answer(terminal: Terminal, follow: Follow) -> None:
    follow(outage("the server hangs"), outage("the server hangs"))
    said = terminal.type("ask", "Where do I live?")
    assert said.code == 0 and "Porto" in said.out and "extractive" in said.out and "the server hangs" in said.err
    demanded = terminal.type("ask", "Where do I live?", "--mode", "model")
    assert demanded.code == 5 and demanded.out == ""


def test_a_chat_with_a_model_talks_and_keeps_both_sides(terminal: Terminal, follow: Follow) -> None:
    follow("Nice, a cello!", "[none] You never said.")
    said = terminal.type("chat", "--session", "talk", stdin="I play the cello.\nWhat is my cat called?\n/quit\n")
    assert said.code == 0 and "Nice, a cello!" in said.out and "You never said." in said.out
    assert "not in memory" not in said.out and "[none]" not in said.out
    stored = [(one["role"], one["text"]) for one in terminal.json("list", "--session", "talk", "--kind", "message")]
    assert stored == [
        ("user", "I play the cello."), ("assistant", "Nice, a cello!"),
        ("user", "What is my cat called?"), ("assistant", "You never said."),
    ]  # fmt: skip


def test_a_chat_goes_on_after_a_turn_that_came_to_grief(
    terminal: Terminal, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(outage("gone"), "Hello again.")
    said = terminal.type("chat", "--session", "talk", "--mode", "model", stdin="Hello.\nAnd now?\n")
    assert said.code == 0 and "gone" in said.err and "Hello again." in said.out
    monkeypatch.setenv("MNEMIC_LLM_CONTEXT", "1024")
    follow("Fine.")
    turns = terminal.json("chat", "--session", "talk", stdin="so " * 4_000 + "\nHello.\n")["turns"]
    assert turns[0]["error"]["field"] == "message" and turns[1]["answer"]["text"] == "Fine."


def test_a_chat_streams_at_a_terminal(terminal: Terminal, follow: Follow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    follow("Nice, a cello!")
    said = terminal.type("chat", stdin="I play the cello.\n")
    assert said.code == 0 and said.out.count("Nice, a cello!") == 1


def test_a_wish_that_cannot_be_ends_a_chat_at_once(terminal: Terminal) -> None:
    said = terminal.type("chat", "--mode", "model", stdin="Hello.\nAnd now?\n")
    assert said.code == 2 and "mode" in said.err
