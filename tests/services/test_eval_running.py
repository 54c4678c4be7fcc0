"""A run over a file: everything is stored and counted, questions are asked once, figures follow from what is kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from mnemic.api import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.config import Settings
from mnemic.errors import EmbedderError, EvaluationError, InputError
from mnemic.evaluation.asking import confidences, ranks
from mnemic.evaluation.datasets import Turn, turns_of
from mnemic.evaluation.filling import check_count, store
from mnemic.evaluation.opening import open_dataset
from mnemic.evaluation.peers import PEERS, Dense, named
from mnemic.evaluation.running import Options, Run, Step, run
from mnemic.evaluation.summing import abstention, document, rows_of
from mnemic.evaluation.vectors import KeptEmbedder, Vectors
from mnemic.model.answer import Answer
from mnemic.model.query import Results
from tests.conventions.sources import ROOT

OWN = ROOT / "tests" / "data" / "eval" / "own.jsonl"
LONG = ROOT / "tests" / "data" / "eval" / "longmemeval.json"


class Counting(HashingEmbedder):
    """Counts the texts that it is asked for, and fails on a word."""

    def __init__(self, *, fails_on: str = "\0") -> None:
        super().__init__(64)
        self.seen: list[str] = []
        self._fails_on = fails_on

    def embed(self, texts: Sequence[str]) -> Vectors:
        if any(self._fails_on in text for text in texts):
            raise EmbedderError("the model is gone")
        self.seen += texts
        return super().embed(texts)


def options(folder: Path, **changes: Any) -> Options:
    return replace(Options(folder, Settings(embedder="hashing"), baselines=("dense", "text", "rrf")), **changes)


def go(folder: Path, *, layout: str = "jsonl", path: Path = OWN, told: Any = None, **changes: Any) -> Run:
    return run(open_dataset(layout, path), options(folder, **changes), told=told, embedder=Counting())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def done(folder: Path) -> Run:
    return go(folder)


@pytest.fixture
def left(done: Run, folder: Path, tmp_path: Path) -> Path:
    """A copy of what that run left behind."""
    return Path(copytree(folder, tmp_path / "left"))


@pytest.fixture(scope="module")
def figures(done: Run) -> dict[str, Any]:
    return document(done)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "progress.jsonl").read_text("utf-8").splitlines()]


def test_every_turn_is_stored_and_counted(done: Run) -> None:
    assert [(each.conversation, each.turns, each.messages) for each in done.stored] == [("ada", 5, 5), ("bo", 2, 2)]


def test_a_turn_is_found_at_the_rank_of_its_message(done: Run) -> None:
    beans = next(record for record in done.asked if "poles" in record.text)
    for system in ("mnemic", "dense", "text", "rrf"):
        found = beans.systems[system]
        assert found.turns["a4"] >= found.sessions["garden"] >= 1
        assert found.again > 0 and found.seconds > 0
        assert rows_of(beans, system)["turn recall@50"] == 1.0
    assert rows_of(beans, "text")["turn MRR"] == 1.0
    assert 20 < beans.ages["a4"] < 21
    assert beans.packed["500"].turns == ("a4",) and 0 < beans.packed["500"].tokens <= 500


def test_the_document_names_its_measures_and_counts_its_questions(figures: dict[str, Any]) -> None:
    groups = figures["systems"]["mnemic"]["groups"]
    assert {name: group["n"] for name, group in groups.items()} == {"multi": 1, "single": 3, "all answerable": 4}
    assert groups["all answerable"]["scored"] == 3
    measures = groups["all answerable"]["measures"]
    for level in ("turn", "session"):
        for k in (1, 3, 5, 10, 20, 50):
            assert {f"{level} recall@{k}", f"{level} any-hit@{k}", f"{level} all-hit@{k}"} <= set(measures)
        assert {f"{level} MRR", f"{level} nDCG@10"} <= set(measures)
    for budget in (500, 1_000, 2_000, 4_000):
        assert measures[f"context tokens@{budget}"]["mean"] <= budget
    recall = measures["turn recall@50"]
    assert recall["n"] == 3 and recall["low"] <= recall["mean"] <= recall["high"] == 1.0
    assert figures["dataset"]["scored by turns"] == 3 and figures["dataset"]["absent"] == 1
    assert figures["storing"]["turns stored"] == figures["storing"]["turns in the file"] == 7
    assert len(figures["problems"]) == 3
    assert figures["systems"]["rrf"]["spread"]["turn recall@10"]["n"] == 2
    assert sum(each["n"] for each in figures["ages"]["mnemic"]) == 4
    assert json.dumps(json.loads(json.dumps(figures))) == json.dumps(figures)


def test_absent_questions_are_scored_for_abstention_only(figures: dict[str, Any], done: Run) -> None:
    told = figures["abstention"]
    assert (told["absent"], told["answerable"]) == (1, 4)
    assert 0 <= told["AUC"]["answer"] <= 1 and 0 <= told["accuracy"] <= 1
    brother = next(record for record in done.asked if record.absent)
    assert rows_of(brother, "mnemic") == {}
    perfect = [
        replace(record, scores={"x": float(not record.absent)}, answered=not record.absent) for record in done.asked
    ]
    assert abstention(perfect)["AUC"] == {"x": 1.0} and abstention(perfect)["balanced accuracy"] == 1.0


def test_an_interrupted_run_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    def stop(step: Step) -> None:
        if step.asked == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(tmp_path, told=stop)
    kept = lines(tmp_path)
    assert [key for line in kept[1:] for key in line] == ["stored", "asked", "asked"]
    steps: list[Step] = []
    found = go(tmp_path, told=steps.append)
    assert steps[0].resumed and not steps[0].changed
    assert lines(tmp_path)[: len(kept)] == kept
    asked = [line["asked"]["id"] for line in lines(tmp_path) if "asked" in line]
    assert len(asked) == len(set(asked)) == 5 and [record.id for record in found.asked] == asked
    assert [step.conversation for step in steps if step.stage == "read"] == ["bo"]
    assert [record.text for record in go(tmp_path).asked] == [record.text for record in found.asked]


def test_a_line_cut_short_by_a_kill_is_asked_again(left: Path) -> None:
    path = left / "progress.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    assert len(go(left).asked) == 5
    assert len(lines(left)) == 1 + 2 + 5


@pytest.mark.parametrize("line", ["{", "[]", '{"asked": {"id": "x"}}'])
def test_a_journal_that_somebody_else_wrote_into_starts_anew(line: str, left: Path) -> None:
    path = left / "progress.jsonl"
    path.write_text(f"{path.read_text('utf-8')}{line}\n", "utf-8")
    steps: list[Step] = []
    with pytest.raises(InputError, match="'cy'"):
        go(left, told=steps.append, only=("cy",))
    assert steps[0].changed == ("the journal",) and not steps[0].resumed
    assert len(lines(left)) == 1


def test_a_conversation_that_was_not_stored_whole_is_stored_again(left: Path) -> None:
    kept = lines(left)
    path = left / "progress.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in kept[:5]), "utf-8")  # as if killed while storing bo
    assert kept[5]["stored"]["conversation"] == "bo"
    steps: list[Step] = []
    assert [each.messages for each in go(left, told=steps.append).stored] == [5, 2]
    assert [step.conversation for step in steps if step.stage == "read"] == ["bo"]


def test_a_run_that_depends_on_something_else_starts_anew_and_says_so(left: Path) -> None:
    steps: list[Step] = []
    changes: dict[str, Any] = {"settings": Settings(embedder="hashing", stm_pages=3), "baselines": ("text",)}
    go(left, told=steps.append, only=("bo",), **changes)
    assert steps[0].changed == ("the settings", "the baselines") and not steps[0].resumed
    assert [step.conversation for step in steps if step.stage == "read"] == ["bo"]


def test_messages_alone_can_be_measured(tmp_path: Path) -> None:
    found = go(tmp_path, only=("ada",), refine=False)
    assert all(dict(record.systems["mnemic"].strict) == record.systems["mnemic"].turns for record in found.asked)
    steps: list[Step] = []
    go(tmp_path, only=("ada",), told=steps.append)
    assert steps[0].changed == ("refining",)


def test_a_changed_file_starts_anew_and_embeds_only_what_is_new(left: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(OWN.read_text("utf-8").replace("How far did you two get?", "How far was it?"))
    steps: list[Step] = []
    found = go(left, path=path, told=steps.append)
    assert steps[0].changed == ("the file",)
    assert [each.embedded > 0 for each in found.stored] == [True, False]


def test_a_fresh_run_forgets_what_was_done(left: Path) -> None:
    steps: list[Step] = []
    go(left, told=steps.append, only=("bo",), fresh=True)
    assert not steps[0].resumed and not steps[0].changed
    assert [step.conversation for step in steps if step.stage == "read"] == ["bo"]


def test_each_question_of_longmemeval_has_a_memory_of_its_own_that_is_dropped_when_asked(tmp_path: Path) -> None:
    seen: list[int] = []

    def count(step: Step) -> None:
        seen.append(len(list((tmp_path / "memories").iterdir())) if (tmp_path / "memories").exists() else 0)

    found = go(tmp_path, layout="longmemeval", path=LONG, drop=True, told=count)
    assert max(seen) == 1 and seen[-1] == 0
    assert [(each.turns, each.messages) for each in found.stored] == [(5, 4), (6, 6), (4, 4), (2, 2)]
    told = document(found)
    assert list(told["systems"]["mnemic"]["groups"]) == [
        "single-session-user", "single-session-assistant", "knowledge-update", "all answerable",
    ]  # fmt: skip
    by_sessions = told["systems"]["mnemic"]["groups"]["single-session-assistant"]["measures"]
    assert "session recall@10" in by_sessions and "turn recall@10" not in by_sessions


def test_a_part_of_the_file_can_be_run_and_the_rest_later(tmp_path: Path) -> None:
    assert {record.conversation for record in go(tmp_path, only=("bo",)).asked} == {"bo"}
    steps: list[Step] = []
    assert {record.conversation for record in go(tmp_path, first=1).asked} == {"ada"}
    assert len(go(tmp_path, told=steps.append).asked) == 5
    assert not [step for step in steps if step.stage == "read"]
    with pytest.raises(InputError, match="'cy'"):
        go(tmp_path, only=("cy",))


def test_a_turn_that_was_lost_ends_the_run(left: Path) -> None:
    path = left / "progress.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines(left) if "asked" not in line), "utf-8")
    place = min((left / "memories").iterdir())
    with KeptEmbedder(Counting(), left) as kept, Memory(place / "memory", embedder=kept) as memory:
        memory.forget(memory.list(user="ada", kinds="message")[0].id, user="ada")
    with pytest.raises(EvaluationError, match="holds 4 messages where the file has 5"):
        go(left)


def test_turns_that_are_skipped_are_named(tmp_path: Path) -> None:
    ada = next(iter(open_dataset("jsonl", OWN).read()))
    with Memory(tmp_path, settings={"worker": False}, embedder=HashingEmbedder(64)) as memory:
        store(memory, ada)
        check_count(memory, ada)
        with pytest.raises(EvaluationError, match=r"5 of 5 turns of 'ada' are not stored: a1 \(stored already\)"):
            store(memory, ada)


@pytest.mark.parametrize("word", ["herons", "brother"])
def test_a_figure_without_vectors_is_none(word: str, tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="the model is gone"):
        run(open_dataset("jsonl", OWN), options(tmp_path), embedder=Counting(fails_on=word))


def test_two_conversations_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.json"
    entry = json.loads(LONG.read_text("utf-8"))[0]
    path.write_text(json.dumps([entry, entry]))
    with pytest.raises(InputError, match="two conversations are called 'q-kiln'"):
        go(tmp_path / "run", layout="longmemeval", path=path)


def test_vectors_are_kept_by_model_and_text(tmp_path: Path) -> None:
    inner = Counting()
    with KeptEmbedder(inner, tmp_path) as kept:
        first = kept.embed(["a", "b", "a"])
        assert inner.seen == ["a", "b"] and (first[0] == first[2]).all()
        assert kept.embed([]).shape == (0, 64)
    with KeptEmbedder(inner, tmp_path) as kept:
        again = kept.embed(["b", "c"])
        assert inner.seen == ["a", "b", "c"] and (again[0] == first[1]).all()
        kept.for_queries().embed(["a"])
        assert inner.seen[-1] == "a"


def test_only_the_first_hit_on_a_turn_counts_and_memories_stand_on_their_sources() -> None:
    assert ranks(["x", "y", "z"], [["w"], ["x", "y"], ["x"], []]) == {"x": 2, "y": 2}


def test_a_calibrated_confidence_is_taken_when_results_have_one() -> None:
    answer = Answer("x", (), found=True, mode="extractive", confidence=0.5)
    assert confidences(Results(()), answer) == {"top score": 0.0, "answer": 0.5}
    assert confidences(Results((), confidence=0.25), answer)["calibrated"] == 0.25


def test_baselines_rank_as_they_say(tmp_path: Path) -> None:
    ada = next(iter(open_dataset("jsonl", OWN).read()))
    embedder = HashingEmbedder(64)
    for name in ("dense", "text", "rrf"):
        peer = PEERS[name](embedder, embedder, tmp_path)
        peer.add(turns_of(ada))
        found = peer.search("Where do the herons stand?", 3)
        assert found[0] == "a3" and len(found) <= 3
        assert peer.search("?!", 3) is not None
        peer.close()


def test_full_text_takes_stems_and_leaves_function_words_out(tmp_path: Path) -> None:
    peer = PEERS["text"](HashingEmbedder(64), HashingEmbedder(64), tmp_path)
    when = next(iter(open_dataset("jsonl", OWN).read())).ends
    peer.add([Turn("1", "s", "She is where the others are.", when), Turn("2", "s", "We walked.", when)])
    assert list(peer.search("Where is she when walking?", 5)) == ["2"]
    assert list(peer.search('where "is" she', 5)) == ["1"]
    peer.close()


def test_a_question_is_embedded_anew_unless_it_is_asked_again() -> None:
    inner = Counting()
    peer = Dense(HashingEmbedder(64), inner)
    peer.add(turns_of(next(iter(open_dataset("jsonl", OWN).read()))))
    for question in ("a", "a", "b", "a"):
        peer.search(question, 3)
    assert inner.seen == ["a", "b", "a"]


def test_an_unknown_peer_is_refused_and_one_without_its_package_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'zep' is not known; known: dense, text, rrf, mem0"):
        named(["zep"])
    if find_spec("mem0") is None:
        with pytest.raises(InputError, match=r"mnemic\[peers\]"):
            go(tmp_path, baselines=("mem0",))
