"""The demo: the shipped conversation goes in whole, questions come out answered, and what is told is true."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mnemic.importing.locomo import Question, conversations, evidence
from mnemic.shells.cli import demo_script, tiers
from mnemic.shells.cli.demo_screen import Screen
from tests.interaction.terminal import Said, Terminal

TURNS, SESSIONS, QUESTIONS = 187, 18, 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def played(folder: Path) -> Said:
    """The whole shipped demo as text, with its report."""
    return Terminal(folder / "memory", user="demo").type("demo", "--html", str(folder / "report.html"))


@pytest.fixture(scope="module")
def page(played: Said, folder: Path) -> str:
    assert played.code == 0
    return (folder / "report.html").read_text("utf-8")


def sample(**changes: Any) -> dict[str, Any]:
    """A conversation of two sessions in LoCoMo's layout, with hostile words."""
    talk: dict[str, Any] = {
        "speaker_a": "Ada",
        "speaker_b": "<b>Bo</b>",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I live in Lyon. <script>alert(1)</script>"},
            {"speaker": "<b>Bo</b>", "dia_id": "D1:2", "text": "", "blip_caption": "a photo of a red canoe",
             "img_url": ["https://example.org/canoe.jpg"]},
        ],
        "session_2_date_time": "9:10 am on 2 June, 2023",
        "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "I adopted a parrot called Kiwi yesterday."}],
        "session_3_date_time": "9:10 am on 3 June, 2023",
    }  # fmt: skip
    questions = [
        {"question": "Where does Ada live?", "answer": "Lyon", "evidence": ["D1:1"], "category": 4},
        {"question": "When did Ada adopt Kiwi?", "answer": 2023, "evidence": ["D2:1; D1:1"], "category": 2},
        {"question": "What is Bo's job?", "adversarial_answer": "baker", "evidence": [], "category": 5},
    ]
    return {"sample_id": "tiny", "conversation": talk, "qa": questions, **changes}


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps([sample(), sample(sample_id="other")]))
    return path


def test_the_whole_conversation_goes_in_and_answers_come_out(played: Said) -> None:
    assert f"{TURNS} turns in {SESSIONS} sessions" in played.out
    assert re.search(rf"{TURNS} turns in, \d+ pages, \d+ topics, \d+ memories", played.out)
    questions = [line for line in played.out.splitlines() if re.match(r"\d  \S.*\?  [\d.]+ (ms|s)$", line)]
    assert len(questions) == QUESTIONS
    assert "Hanne's cats?" in questions[0] and "Biscuit" in played.out


def test_each_session_has_a_line_with_its_date_and_turns(played: Said) -> None:
    lines = re.findall(r"^ +\d+ \d+ \w{3} 2025 +(\d+) ", played.out, re.MULTILINE)
    assert len(lines) == SESSIONS and sum(map(int, lines)) == TURNS


def test_people_topics_times_and_sources_are_told(played: Said) -> None:
    for heading in ("Warmest topics", "Whom it knows", "Questions", "Times", "Now you"):
        assert re.search(rf"^{heading}\b", played.out, re.MULTILINE)
    assert re.search(r"^Hanne$", played.out, re.MULTILINE) and re.search(r"^Kofi$", played.out, re.MULTILINE)
    assert "before: " in played.out and "since " in played.out
    assert re.search(r"↳ +\d+ \w{3} 2025 +(Hanne|Kofi) +“", played.out)
    assert "turns a second" in played.out and "median" in played.out


def test_nothing_is_wider_than_100_columns_but_commands_to_copy(played: Said) -> None:
    wide = [line for line in played.out.splitlines() if len(line.rstrip()) > 100]
    assert all(line.lstrip().startswith(("$ ", "report: ")) for line in wide), wide


def test_what_it_says_to_type_next_works(played: Said, folder: Path) -> None:
    commands = [shlex.split(line)[1:] for line in played.out.splitlines() if line.startswith("  $ ")]
    assert len(commands) == 3
    for words in commands:
        typed = words[words.index("--home") + 4 :]
        assert words[words.index("--home") + 1] == str(folder / "memory")
        said = Terminal(folder / "memory", user="demo").type(*typed, stdin="/quit\n")
        assert said.code in (0, 1) and "error" not in said.err


def test_the_captions_of_photos_can_be_found(played: Said, folder: Path) -> None:
    found = Terminal(folder / "memory", user="demo").json("search", "goggles cargo bicycle", "--kind", "message")
    assert any("goggles" in hit["text"] for hit in found["hits"])


def test_playing_it_again_stores_nothing_twice(played: Said, folder: Path) -> None:
    again = Terminal(folder / "memory", user="demo").json("demo")
    assert sum(step["stored"] for step in again["sessions"]) == 0
    assert again["stats"]["messages"] == TURNS


def test_the_page_stands_alone(page: str) -> None:
    assert page.startswith("<!doctype html>") and page.count("<svg") > 10
    assert not re.search(r"(?:https?:)?//[\w.]|@import|url\(|<script|<link|<img|src=|href=", page, re.IGNORECASE)
    assert "default-src 'none'" in page


def test_the_page_has_the_plots_the_people_and_the_answers(page: str) -> None:
    for heading in ("Over time", "The tiers, filling", "Warmest topics", "Whom it knows", "Questions", "Times"):
        assert f"<h2>{heading}</h2>" in page
    assert "Hanne&#x27;s cats?" in page and "prefers-color-scheme: dark" in page and "before: " in page


def test_a_file_of_conversations_is_played_with_gold_answers_beside_ours(tiny: Path, tmp_path: Path) -> None:
    html = tmp_path / "tiny.html"
    said = Terminal(tmp_path / "m").type("demo", "--data", str(tiny), "--conversation", "tiny", "--html", str(html))
    assert said.code == 0
    assert "3 turns in 2 sessions" in said.out and "gold: Lyon" in said.out
    assert "gold: not in the conversation" in said.out and "adversarial" in said.out
    page = html.read_text("utf-8")
    assert "<script" not in page and "&lt;script&gt;" in page and "<b>Bo" not in page
    assert "example.org" not in page


def test_json_has_all_that_the_screen_told(tiny: Path, tmp_path: Path) -> None:
    told = Terminal(tmp_path / "m", user="lab").json("demo", "--data", str(tiny), "--conversation", "other")
    assert (told["conversation"], told["user"], told["speakers"][0]) == ("other", "lab", "Ada")
    assert [step["turns"] for step in told["sessions"]] == [2, 1] and told["sessions"][0]["pictures"] == 1
    assert [step["question"]["category"] for step in told["answers"]] == [4, 2, 5]
    assert all(step["seconds"] > 0 for step in told["answers"]) and told["stats"]["messages"] == 3
    assert told["ends"] == "2023-06-02T09:10:00+00:00"


def test_the_demo_goes_into_a_folder_of_its_own_when_none_is_named(tiny: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner  # noqa: PLC0415 - this one call names no folder

    from mnemic.shells.cli.main import app  # noqa: PLC0415

    environment = {"MNEMIC_EMBEDDER": "hashing", "MNEMIC_HOME": str(tmp_path / "mine"), "TMPDIR": str(tmp_path)}
    done = CliRunner().invoke(app, ["demo", "--data", str(tiny), "--json"], env=environment)
    assert done.exit_code == 0
    assert Path(json.loads(done.stdout)["folder"]).is_dir() and not (tmp_path / "mine").exists()


def test_at_a_terminal_the_tiers_are_redrawn_in_place(tmp_path: Path) -> None:
    from mnemic.api import Memory  # noqa: PLC0415 - the only test that opens one itself
    from mnemic.shells.cli.demo_run import play  # noqa: PLC0415

    console = Console(force_terminal=True, width=100, record=True, file=(tmp_path / "screen").open("w"))
    script = demo_script.load(None, None)
    with Memory(tmp_path / "m", settings={"embedder": "hashing"}) as memory:
        steps = (step for step, _ in zip(play(memory, script, "demo"), range(2), strict=False))
        seen = Screen(console, pace=0).sessions(steps)
    text = console.export_text()
    assert len(seen) == 2 and "short-term" in text and "long-term" in text
    assert len(tiers.warmest(seen[-1].stats.segments)) == len(seen[-1].stats.segments)
    console.file.close()


def test_eight_questions_are_picked_evenly_by_a_rule() -> None:
    there = [Question(f"{category}-{place}", "x", category, ()) for category in (1, 2, 3, 4, 5) for place in range(10)]
    picked = demo_script.pick(there)
    assert len(picked) == 8 and len(set(picked)) == 8
    assert [question.category for question in picked] == [4, 4, 2, 2, 1, 1, 3, 5]
    assert picked == demo_script.pick(there)
    assert demo_script.pick(there[:3]) == [there[0], there[2], there[1]]


def test_malformed_evidence_is_repaired_and_never_dropped() -> None:
    assert evidence(["D8:6; D9:17", "D:11:26", "D30:05", "D", "D8:6"]) == ("D8:6", "D9:17", "D11:26", "D30:5", "D")
    assert evidence(None) == () and evidence("D1:2") == ("D1:2",)


def test_turns_keep_their_ids_captions_and_order() -> None:
    (one,) = conversations(sample())
    assert one.speakers == ("Ada", "<b>Bo</b>") and [name for name, _, _ in one.sessions] == ["session_1", "session_2"]
    first, second = one.sessions[0][2]
    assert (first.id, first.role, first.name) == ("D1:1", "user", "Ada")
    assert second.content == [
        {"type": "image", "caption": "a photo of a red canoe", "url": "https://example.org/canoe.jpg"}
    ]
    assert str(first.at) < str(second.at)
    assert one.questions[2].answer is None and one.questions[2].wrong == "baker" and one.questions[1].answer == "2023"


@pytest.mark.parametrize(
    "text, says",
    [
        ("{", "not JSON"),
        ("[]", "no conversation"),
        ("3", "LoCoMo"),
        ('[{"sample_id": "x"}]', "data[0].conversation"),
        ('[{"conversation": {"session_1": [], "session_1_date_time": "soon"}}]', "session_1_date_time"),
        ('[{"conversation": {"session_1": 3}}]', "data[0].conversation.session_1"),
        ('[{"conversation": {"session_1_date_time": "8 May, 2023", "session_1": [{"text": "x"}]}}]', "speaker"),
        ('[{"conversation": {}}]', "no sessions"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_conversation_is_refused_by_name(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    said = Terminal(tmp_path / "m").type("demo", "--data", str(path))
    assert said.code == 2 and says in said.err
