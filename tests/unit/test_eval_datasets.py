"""Files of conversations with questions: what is read, what is told to be wrong, and what is refused."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InputError
from mnemic.evaluation.datasets import Conversation, turns_of
from mnemic.evaluation.json_array import elements
from mnemic.evaluation.longmemeval import conversation
from mnemic.evaluation.opening import open_dataset
from tests.conventions.sources import ROOT

DATA = ROOT / "tests" / "data" / "eval"
SHARED = ROOT.parent / "shared" / "data" / "locomo-dev.json"


def read(layout: str, path: Path) -> list[Conversation]:
    return list(open_dataset(layout, path).read())


def locomo(tmp_path: Path, evidence: list[Any], **turn: Any) -> list[Conversation]:
    """A conversation of three turns in LoCoMo's layout, with a question of each category but one."""
    talk = {
        "speaker_a": "Ada",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I live in Lyon."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "I sail.", "blip_caption": "a red canoe"},
        ],
        "session_2_date_time": "9:10 am on 2 June, 2023",
        "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "I adopted a parrot."} | turn],
    }
    questions = [
        {"question": "Where does Ada live?", "answer": "Lyon", "evidence": evidence, "category": 4},
        {"question": "What is Bo's job?", "adversarial_answer": "baker", "evidence": ["D1:2"], "category": 5},
    ]
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "tiny", "conversation": talk, "qa": questions}]))
    return read("locomo", path)


def test_locomo_gives_turns_with_speakers_and_questions_with_sessions(tmp_path: Path) -> None:
    (found,) = locomo(tmp_path, ["D1:1", "D2:1"])
    assert (found.id, found.turns, found.messages, found.problems) == ("tiny", 3, 3, ())
    assert [turn.text for turn in turns_of(found)][1] == "Bo: I sail.\n[image: a red canoe]"
    first, second = found.questions
    assert (first.evidence, first.sessions, first.category) == (
        ("D1:1", "D2:1"),
        ("session_1", "session_2"),
        "single-hop",
    )
    assert second.absent and second.evidence == () and second.category == "adversarial"
    assert found.ends == datetime(2023, 6, 2, 9, 10, tzinfo=UTC)


def test_evidence_that_is_malformed_or_names_no_turn_is_told_by_question(tmp_path: Path) -> None:
    (found,) = locomo(tmp_path, ["D1:1; D2:1", "D1:02", "D", "D9:9"])
    assert found.questions[0].evidence == ("D1:1", "D2:1", "D1:2")
    assert [(problem.question, problem.what) for problem in found.problems] == [
        ("tiny/1", "evidence 'D1:1; D2:1' is malformed; read as D1:1, D2:1"),
        ("tiny/1", "evidence 'D1:02' is malformed; read as D1:2"),
        ("tiny/1", "evidence 'D' names no turn; left out"),
        ("tiny/1", "evidence 'D9:9' names no turn; left out"),
    ]


@pytest.mark.parametrize("evidence,told", [([], "names no evidence"), (["D7:1"], "no evidence names a turn")])
def test_a_question_without_any_evidence_is_told_and_kept(evidence: list[str], told: str, tmp_path: Path) -> None:
    (found,) = locomo(tmp_path, evidence)
    assert found.questions[0].evidence == ()
    assert found.problems[-1].what == f"{told}; not scored for recall"


def test_a_turn_without_words_is_counted_and_told(tmp_path: Path) -> None:
    (found,) = locomo(tmp_path, ["D1:1"], text="")
    assert (found.turns, found.messages) == (3, 2)
    assert found.problems[0].text == "D2:1" and "not stored" in found.problems[0].what


def test_two_turns_of_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'D1:1' is the id of another turn"):
        locomo(tmp_path, ["D1:1"], dia_id="D1:1")


def test_longmemeval_has_a_haystack_for_each_question_in_the_order_of_time() -> None:
    kiln, shift, advice, llama = read("longmemeval", DATA / "longmemeval.json")
    assert [session for session, _ in kiln.sessions] == ["s-kiln", "s-later"]
    (question,) = kiln.questions
    assert question.evidence == ("s-kiln:1",) and question.sessions == ("s-kiln",)
    assert question.at == datetime(2024, 3, 20, 10, tzinfo=UTC) and question.answer == "Green"
    assert (kiln.turns, kiln.messages) == (5, 4)
    assert [problem.what for problem in kiln.problems] == ["a turn without words: not stored"]
    assert shift.questions[0].evidence == ("s-1:1", "s-2:1")
    assert [session for session, _ in shift.sessions] == ["s-1", "s-2", "s-2#2"]
    assert advice.questions[0].evidence == () and advice.questions[0].sessions == ("s-violin",)
    assert [problem.what for problem in advice.problems] == [
        "evidence session 's-gone' is not in the haystack; left out",
        "no turn is marked as evidence; scored by its sessions only",
    ]
    (absent,) = llama.questions
    assert absent.absent and absent.category == "abstention" and absent.sessions == absent.evidence == ()


def test_longmemeval_is_counted_before_it_is_read() -> None:
    found = open_dataset("longmemeval", DATA / "longmemeval.json")
    assert (found.questions, found.conversations) == (4, 4)
    assert found.categories[-1] == "abstention"


@pytest.mark.parametrize(
    "change,field",
    [
        ({"question": ""}, "data.question"),
        ({"haystack_dates": []}, "differ in length"),
        ({"question_date": "tomorrow"}, "data.question_date"),
        ({"haystack_sessions": None}, "data.haystack_sessions"),
    ],
)
def test_a_fault_in_longmemeval_is_named_by_place(change: dict[str, Any], field: str) -> None:
    entry = json.loads((DATA / "longmemeval.json").read_text("utf-8"))[0]
    with pytest.raises(InputError, match=field):
        conversation(entry | change)


def test_lines_of_ones_own_are_read_by_conversation_however_they_are_mixed() -> None:
    ada, bo = read("jsonl", DATA / "own.jsonl")
    assert (ada.id, ada.messages, len(ada.questions)) == ("ada", 5, 3)
    assert [session for session, _ in ada.sessions] == ["walks", "garden"]
    assert ada.questions[0].evidence == ("a1", "a3") and ada.questions[0].category == "multi"
    assert ada.questions[1].at == datetime(2025, 7, 1, tzinfo=UTC)
    assert ada.questions[2].absent and ada.questions[2].category == "absent"
    assert turns_of(ada)[0].text == "Ada: I walked along the canal with Sol this morning."
    assert turns_of(bo)[0].text == "My sourdough starter is called Gerald."
    assert bo.questions[0].evidence == ("b1",) and bo.questions[1].evidence == ()
    assert [problem.what for problem in bo.problems] == [
        "evidence 'b9' names no message; left out",
        "evidence 'b7' names no message; left out",
        "no evidence names a message; not scored for recall",
    ]


MESSAGE: dict[str, Any] = {
    "conversation": "c",
    "session": "s",
    "role": "user",
    "content": "hi",
    "at": "2025-01-01T00:00Z",
    "id": "m",
}
QUESTION: dict[str, Any] = {"conversation": "c", "question": "who?", "evidence": ["m"]}


@pytest.mark.parametrize(
    "line,told",
    [
        (MESSAGE | {"role": "bot"}, r"lines\[2\].role: needs one of user, assistant"),
        (MESSAGE | {"at": "yesterday"}, r"lines\[2\].at: needs an ISO 8601 time"),
        (MESSAGE | {"id": 7}, r"lines\[2\].id: needs a name"),
        (MESSAGE | {"content": None}, r"lines\[2\].content"),
        (MESSAGE | {"content": [{"type": "hologram"}]}, r"lines\[2\].content"),
        (MESSAGE | {"text": "x"}, r"lines\[2\].text: is not a field of a message"),
        ({**MESSAGE, "session": ""}, r"lines\[2\].session"),
        (QUESTION | {"evidence": "m"}, r"lines\[2\].evidence: needs a list"),
        (QUESTION | {"absent": True}, r"lines\[2\].evidence: must be empty"),
        (QUESTION | {"absent": "yes"}, r"lines\[2\].absent"),
        (QUESTION | {"gold": "m"}, r"lines\[2\].gold: is not a field of a question"),
        (QUESTION | {"conversation": "other"}, r"lines\[2\].conversation: 'other' has questions and no message"),
        ([], r"lines\[2\]: needs an object"),
    ],
)
def test_a_fault_in_ones_own_file_names_line_and_field(line: Any, told: str, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(f"{json.dumps(MESSAGE | {'id': 'first'})}\n{json.dumps(line)}\n{json.dumps(QUESTION)}\n")
    with pytest.raises(InputError, match=told):
        open_dataset("jsonl", path)


def test_a_file_that_is_not_there_or_asks_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        open_dataset("jsonl", tmp_path / "absent.jsonl")
    path = tmp_path / "silent.jsonl"
    path.write_text(json.dumps(MESSAGE) + "\n")
    with pytest.raises(InputError, match="holds no question"):
        open_dataset("jsonl", path)
    with pytest.raises(InputError, match="layout"):
        open_dataset("csv", path)


@pytest.mark.parametrize("chunk", [1, 2, 7, 64, 4_096])
def test_an_array_is_read_element_by_element_however_it_is_cut(chunk: int) -> None:
    values: list[Any] = [{"a": "x" * 300, "b": ["\u2603", '"[{', "\\"]}, 12345, "text, ]", [], None, True, -1.5e-7, {}]
    for text in (json.dumps(values), json.dumps(values, indent=2, ensure_ascii=False) + "\n", " [ ] "):
        assert list(elements(io.StringIO(text), "data", chunk=chunk)) == json.loads(text)


@pytest.mark.parametrize("text", ["{}", "", "[1, 2", "[1 2]", "[1,, 2]", '["a', "[nul]", '[{"a": 1 "b"}]'])
def test_what_is_no_whole_array_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="data"):
        list(elements(io.StringIO(text), "data", chunk=4))


@pytest.mark.skipif(not SHARED.exists(), reason="the development conversations of LoCoMo are not beside this checkout")
def test_the_development_conversations_are_read_whole_and_their_bad_evidence_is_told() -> None:
    found = read("locomo", SHARED)
    assert sum(each.turns for each in found) == sum(each.messages for each in found) == 2_760
    scored = [question for each in found for question in each.questions if question.evidence]
    assert len(scored) == 760
    lost = [problem for each in found for problem in each.problems if "names no turn" in problem.what]
    assert lost and all(problem.question for problem in lost)
