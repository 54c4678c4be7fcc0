"""What is forgotten while a language model reads it, sums it up or replies to it, does not come back by way of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory
from mnemic.model.language import Prompt
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.testing.scripted_model import said_to
from tests.services.opened import bytes_of
from tests.services.scripted import opened as told
from tests.services.scripted import reply, statement
from tests.services.test_refining import NUMBERED, TOPICS, opened, texts

pytestmark = pytest.mark.usefixtures("engine")


class Once:
    """Forgets something of Ann's the first time that it is called, as somebody does while a model is busy."""

    def __init__(self) -> None:
        self.memory: Memory
        self.ids: list[str] = []

    def __call__(self) -> None:
        ids, self.ids = self.ids, []
        for each in ids:
            self.memory.forget(each, user="ann")


def while_reading(script: Callable[[Prompt], Any]) -> tuple[Once, Callable[[Prompt], Any]]:
    once = Once()

    def answer(prompt: Prompt) -> Any:
        said = script(prompt)
        once()
        return said

    return once, answer


def test_a_topic_is_not_titled_by_a_message_that_was_forgotten_meanwhile(tmp_path: Path) -> None:
    def titled(prompt: Prompt) -> str:
        asked = prompt.turns[-1].text
        name = "Zanzibar" if "Zanzibar" in asked else "Hills"
        return reply(
            topics=[{"topic": each, "title": name, "summary": f"About {name}.", "keywords": [name]}
                    for each in TOPICS.findall(asked)]
        )  # fmt: skip

    once, script = while_reading(titled)
    with opened(tmp_path, script, stm_pages=1, segment_threshold=0.0) as (memory, model):
        said = [f"I went walking in the hills, day {day}{' at Zanzibar' if day == 3 else ''}" for day in range(8)]
        turns = [turn for each in said for turn in ({"role": "user", "content": each},
                                                    {"role": "assistant", "content": "Nice."})]  # fmt: skip
        added = memory.add(turns, user="ann")
        once.memory, once.ids = memory, [added.message_ids[6]]
        memory.jobs.wait(user="ann")
        assert not once.ids and any("Zanzibar" in said_to(prompt) for prompt in model.prompts)
        assert memory.search("walking", user="ann", kinds="segment")[0].text == "About Hills."
    assert b"Zanzibar" not in bytes_of(tmp_path)


def test_a_turn_that_told_the_name_is_forgotten_meanwhile_and_the_rest_is_read_anew(tmp_path: Path) -> None:
    def drawn(prompt: Prompt) -> str:
        name = "Zanzibar" if "Zanzibar" in prompt.turns[-1].text else "somewhere"
        return reply(*(statement(number, "Yes", value=name if name == "Zanzibar" else "Yes", statement=f"Ann: {name}.")
                       for number, _, _, text in NUMBERED.findall(prompt.turns[-1].text) if text == "Yes"))  # fmt: skip

    once, script = while_reading(drawn)
    with opened(tmp_path, script) as (memory, model):
        added = memory.add(
            [{"role": "assistant", "content": "Is it Zanzibar?"}, {"role": "user", "content": "Yes"}], user="ann"
        )
        once.memory, once.ids = memory, [added.message_ids[0]]
        memory.jobs.wait(user="ann")
        assert len(model.prompts) == 2
        assert texts(memory) == ["Ann: somewhere."]


PEAKS = ("Zermatt", "Chamonix", "Verbier", "Davos")


def climbing(prompt: Prompt) -> str:
    if "insights" in str(prompt.schema):
        return json.dumps({"insights": [{"group": "g1", "sentence": "ann climbs in Zermatt and Davos.",
                                         "value": "climbing"}]})  # fmt: skip
    if "memories" not in str(prompt.schema):
        return '{"pairs": []}'
    return reply(*(statement(number, text) for number, _, _, text in NUMBERED.findall(prompt.turns[-1].text)))


def sums(memory: Memory) -> list[str]:
    found = [each for each in memory.list(user="ann", limit=1000) if isinstance(each, MemoryRecord)]
    return [each.current.text for each in found if each.kind == "insight"]


def climbed(memory: Memory) -> str:
    """Let Ann tell of four peaks; return the memory of the first."""
    memory.add([f"voy de excursión por las montañas de {peak}" for peak in PEAKS], user="ann", wait=True)
    found = [each for each in memory.list(user="ann", limit=1000) if isinstance(each, MemoryRecord)]
    return next(each.id for each in found if "Zermatt" in each.current.text)


def test_a_sum_does_not_tell_what_was_forgotten_while_it_was_written(tmp_path: Path) -> None:
    once, script = while_reading(climbing)
    with opened(tmp_path, script, embedder="bundled", reorganize_hours=0) as (memory, _):
        first = climbed(memory)
        once.memory, once.ids = memory, [first]
        memory.reorganize(user="ann")
        assert not once.ids
        assert sums(memory) == []


def test_a_sum_goes_with_the_memory_that_alone_told_a_part_of_it(tmp_path: Path) -> None:
    with opened(tmp_path, climbing, embedder="bundled", reorganize_hours=0) as (memory, _):
        first = climbed(memory)
        memory.reorganize(user="ann")
        assert sums(memory) == ["ann climbs in Zermatt and Davos."]
        memory.forget(first, user="ann")
        assert sums(memory) == []


def test_a_reply_is_not_kept_when_what_it_may_tell_of_was_forgotten_meanwhile(tmp_path: Path) -> None:
    once, script = while_reading(lambda _: "You live in Porto, with Rex.")
    with told(tmp_path, script) as memory:
        hit = memory.search("Porto", user="ann")[0]
        once.memory, once.ids = memory, [hit.sources[0].message_id]
        answer = memory.chat("Where do I live?", user="ann")
        assert len(answer.stored) == 1
        assert any("forgotten" in note for note in answer.notes)
        assert not [hit for hit in memory.search("Porto", user="ann") if "Porto" in hit.text]
        assert len(memory.chat("Where do I live?", user="ann").stored) == 2
