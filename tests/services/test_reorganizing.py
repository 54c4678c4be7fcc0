"""Putting memories in order: merged with their sources, closed, summed up, and taken back as one."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory
from mnemic.core.profile import PLAN_LASTS
from mnemic.model.change import Action
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.testing.scripted_model import ScriptedModel, outage, said_to
from tests.services.opened import SteppedClock
from tests.services.scripted import reply, statement

pytestmark = pytest.mark.usefixtures("engine")

SETTINGS = {"worker": False}


def live(memory: Memory) -> list[MemoryRecord]:
    found = [each for each in memory.list(user="ann", limit=1000) if isinstance(each, MemoryRecord)]
    return [each for each in found if each.stands]


def seen(memory: Memory) -> tuple[list[str], list[str]]:
    hits = memory.search("running every morning in the park", user="ann", kinds="memory", limit=50)
    return sorted(hit.text for hit in hits), sorted(entry.text for entry in memory.profile(user="ann"))


TWICE = (
    statement("m1", "corro cada mañana en el parque", statement="ann corre cada mañana en el parque.",
              attribute="habit.regular"),
    statement("m2", "cada mañana corro en el parque", statement="Cada mañana ann corre en el parque."),
)  # fmt: skip
SAID = ["Siempre corro cada mañana en el parque", "Pues cada mañana corro en el parque"]


def test_what_says_the_same_becomes_one_memory_with_all_sources_and_undo_gives_it_back(tmp_path: Path) -> None:
    with Memory(tmp_path, settings=SETTINGS, llm=ScriptedModel([reply(*TWICE)])) as memory:
        memory.add(SAID, user="ann", wait=True)
        assert len(live(memory)) == 2
        before = seen(memory)
        planned = memory.reorganize(user="ann", dry_run=True)
        assert planned is not None
        assert [step.action for step in planned.steps] == [Action.SUPPLEMENT, Action.MERGE]
        assert seen(memory) == before
        change = memory.reorganize(user="ann")
        assert change is not None
        (kept,) = live(memory)
        assert len({source.message_id for source in kept.current.sources}) == 2
        assert len(seen(memory)[0]) == 1
        assert memory.reorganize(user="ann") is None
        memory.undo(change.id, user="ann")
        assert seen(memory) == before


def test_a_locked_memory_is_left_alone(tmp_path: Path) -> None:
    with Memory(tmp_path, settings=SETTINGS, llm=ScriptedModel([reply(*TWICE)])) as memory:
        memory.add(SAID, user="ann", wait=True)
        memory.lock(live(memory)[0].id, user="ann")
        assert memory.reorganize(user="ann") is None


@pytest.mark.parametrize("change, left", [("same", 1), ("different", 2), ("nonsense", 2), (None, 2)])
def test_what_rules_leave_open_a_model_decides(tmp_path: Path, change: str | None, left: int) -> None:
    def answer(prompt: Any) -> Any:
        if "Messages to read" in said_to(prompt):
            return reply(
                statement("m1", "love jogging", statement="ann loves jogging in the morning.",
                          attribute="preference.like", kind="preference", value="jogging in the morning"),
                statement("m2", "enjoys running", statement="ann enjoys running in the morning.",
                          attribute="interest.hobby", kind="preference", value="running in the morning"),
            )  # fmt: skip
        return outage() if change is None else json.dumps({"pairs": [{"pair": "p1", "change": change}]})

    with Memory(tmp_path, settings=SETTINGS, llm=ScriptedModel(answer)) as memory:
        said = ["Ja, ich love jogging in the morning", "Er enjoys running in the morning, sagt er"]
        memory.add(said, user="ann", wait=True)
        assert len(live(memory)) == 2
        memory.reorganize(user="ann")
        assert len(live(memory)) == left


def test_plans_of_which_nothing_was_heard_are_closed(tmp_path: Path) -> None:
    clock = SteppedClock()
    with Memory(tmp_path, settings=SETTINGS, clock=clock) as memory:
        memory.add("I'm planning to learn the cello.", user="ann", wait=True)
        (plan,) = live(memory)
        assert memory.reorganize(user="ann") is None
        clock.forward(PLAN_LASTS + timedelta(days=1))
        change = memory.reorganize(user="ann")
        assert change is not None
        (closed,) = live(memory)
        assert closed.current.valid_to == plan.current.valid_from + PLAN_LASTS
        memory.undo(change.id, user="ann")
        assert live(memory)[0].current.valid_to is None


THEMES = [
    "I like hiking in the Alps.",
    "I love hiking with my dog.",
    "I enjoy hiking in autumn.",
    "I like hiking at dawn.",
]


def summing(sentence: str) -> Any:
    def answer(prompt: Any) -> str:
        if "Messages to read" in said_to(prompt):
            return reply()
        if "g1 |" in said_to(prompt):
            return json.dumps({"insights": [{"group": "g1", "sentence": sentence, "value": "hiking"}]})
        return json.dumps({"pairs": []})

    return answer


def test_what_belongs_together_is_summed_up_with_its_sources_once(tmp_path: Path) -> None:
    model = ScriptedModel(summing("ann likes hiking in many ways."))
    with Memory(tmp_path, settings=SETTINGS, llm=model) as memory:
        memory.add(THEMES, user="ann", wait=True)
        change = memory.reorganize(user="ann")
        assert change is not None
        (insight,) = [each for each in live(memory) if each.kind == "insight"]
        assert insight.current.drawn_by == "scripted"
        assert len(insight.current.sources) == 4
        kinds = {kind for kind, *_ in memory.explain(insight.id, user="ann").relations}
        assert kinds == {"derived-from"}
        asked = len(model.prompts)
        assert memory.reorganize(user="ann") is None
        assert not any("g1 |" in said_to(prompt) for prompt in model.prompts[asked:])
        memory.undo(change.id, user="ann")
        assert not [each for each in live(memory) if each.kind == "insight"]


@pytest.mark.parametrize("sentence", ["ann climbed Everest in 1999.", "ann likes hiking with Mallory.", ""])
def test_a_sum_that_says_more_than_its_memories_is_not_kept(tmp_path: Path, sentence: str) -> None:
    with Memory(tmp_path, settings=SETTINGS, llm=ScriptedModel(summing(sentence))) as memory:
        memory.add(THEMES, user="ann", wait=True)
        memory.reorganize(user="ann")
        assert not [each for each in live(memory) if each.kind == "insight"]


def test_it_runs_by_itself_a_while_after_memories_came_in(tmp_path: Path) -> None:
    clock = SteppedClock()
    with Memory(tmp_path, settings={**SETTINGS, "reorganize_hours": 5.0}, clock=clock) as memory:
        memory.add([f"I like number{n} cheese." for n in range(14)], user="ann", wait=True)
        (job,) = memory.jobs.list(user="ann", open_only=True)
        assert (job.kind, job.not_before - job.created_at) == ("reorganize", timedelta(hours=5))
        assert memory.jobs.wait(user="ann") == []
        clock.forward(timedelta(hours=6))
        assert memory._parts.worker.run_once()
        assert memory.jobs.list(user="ann", open_only=True) == ()
