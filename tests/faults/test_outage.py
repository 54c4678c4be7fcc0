"""The outage drill: a model server that is killed, slow, talks rubbish or refuses, at each step that asks it.

Whatever it does: nothing that was said is lost, nothing is invented, the profile stays as it was, no error's words
become content, and the job that could not be done is tried again, ends dead, and can be seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic import Memory
from mnemic.errors import InputError, ModelError
from mnemic.model.answer import Answer
from mnemic.testing.model_faults import FAULTS, TELLTALE, UNREACHABLE
from mnemic.testing.model_says import says
from mnemic.testing.model_server import ModelServer
from mnemic.text import fold
from tests.services.opened import SteppedClock

SAID = ["I live in Porto.", "My sister Noor works as a nurse.", "I like tea.", "Me gusta el café de Brasil."]
KNOWN = ["Porto", "tea"]


@contextmanager
def drilled(folder: Path, fault: str) -> Iterator[tuple[Memory, SteppedClock, ModelServer]]:
    """Open a memory whose model server does one thing to every request."""
    answer = FAULTS[fault]
    clock = SteppedClock()
    with ModelServer(lambda _: says("x") if answer is None else answer()) as server:
        settings = {
            "embedder": "hashing", "worker": False, "llm_model": "m", "llm_tries": 1, "llm_timeout": 0.3,
            "llm_base_url": UNREACHABLE if answer is None else server.url,
        }  # fmt: skip
        with Memory(folder, settings=settings, clock=clock) as memory:
            yield memory, clock, server


def told(memory: Memory, clock: SteppedClock, said: list[str]) -> None:
    """Add messages, and let rules read them; what the model is to read waits for more."""
    memory.add(said, user="ann")
    assert memory._parts.worker.run_once()
    clock.forward(timedelta(seconds=10))


def contents(memory: Memory) -> str:
    """Return all that the cube holds, as an export tells it."""
    return fold("\n".join(memory.export(user="ann")))


def assert_sound(memory: Memory, said: int) -> None:
    """Nothing lost, nothing invented, the profile untouched."""
    assert memory.stats(user="ann").messages == said
    assert not [word for word in TELLTALE if fold(word) in contents(memory)]
    drawn = [json.loads(line) for line in memory.export(user="ann")]
    versions = [version for each in drawn if each.get("type") == "memory" for version in each["versions"]]
    assert not [version for version in versions if version.get("drawn_by")]
    profile = [entry.value for entry in memory.profile(user="ann", subject="ann")]
    assert [value for value in profile if value in KNOWN] == KNOWN
    for text in SAID:
        assert memory.search(text, user="ann", limit=1, kinds="message")[0].text == text


@pytest.mark.parametrize("fault", FAULTS)
def test_add_and_refine(tmp_path: Path, fault: str) -> None:
    with drilled(tmp_path, fault) as (memory, clock, _):
        added = memory.add(SAID, user="ann", wait=True)
        assert added.stored == len(SAID)
        assert "has not read it yet" in " ".join(added.notes)
        for _ in range(8):
            clock.forward(timedelta(minutes=6))
            if not memory._parts.worker.run_once():
                break
        (job,) = [each for each in memory.jobs.list(user="ann") if each.kind == "refine"]
        assert (job.state, job.attempts) == ("dead", 5)
        assert job.error
        assert memory.stats(user="ann").jobs["dead"] == 1
        assert memory.llm.usage(user="ann").total.calls >= 5
        assert_sound(memory, len(SAID))


@pytest.mark.parametrize("fault", FAULTS)
def test_ask(tmp_path: Path, fault: str) -> None:
    with drilled(tmp_path, fault) as (memory, clock, _):
        told(memory, clock, SAID)
        answer = memory.ask("Where do I live?", user="ann")
        assert answer.mode == "extractive"
        assert answer.text == "Porto"
        assert answer.notes
        pieces = memory.ask_stream("Where do I live?", user="ann")
        if fault == "breaking off":  # what was shown cannot be taken back: no answer comes
            with pytest.raises(ModelError):
                list(pieces)
        else:
            last = list(pieces)[-1]
            assert isinstance(last, Answer)
            assert last.text == "Porto" or not last.found
        assert_sound(memory, len(SAID))


@pytest.mark.parametrize("fault", [name for name in FAULTS if "rubbish" not in name and "saying an" not in name
                                   and "in words" not in name])  # fmt: skip
def test_ask_that_insists_on_the_model(tmp_path: Path, fault: str) -> None:
    with drilled(tmp_path, fault) as (memory, _, _):
        memory.add(SAID, user="ann")
        with pytest.raises(ModelError):
            memory.ask("Where do I live?", user="ann", mode="model")
        assert memory.stats(user="ann").messages == len(SAID)


@pytest.mark.parametrize("fault", FAULTS)
def test_chat(tmp_path: Path, fault: str) -> None:
    with drilled(tmp_path, fault) as (memory, clock, _):
        told(memory, clock, SAID)
        answer = memory.chat("Where do I live?", user="ann", session="talk")
        said = list(memory.list(user="ann", session="talk"))
        assert said[0].text == "Where do I live?"  # type: ignore[union-attr]  # a message
        written = [each for each in said[1:] if any(fold(word) in fold(each.text) for word in TELLTALE)]  # type: ignore[union-attr]
        if answer.mode == "extractive":
            assert len(said) == 1
            assert answer.text == "Porto"
        else:  # what a model says is its reply, whatever it says: kept as its own words, and in nobody's profile
            assert len(written) <= 1
        profile = [entry.value for entry in memory.profile(user="ann", subject="ann")]
        assert [value for value in profile if value in KNOWN] == KNOWN


@pytest.mark.parametrize("fault", FAULTS)
def test_feedback(tmp_path: Path, fault: str) -> None:
    with drilled(tmp_path, fault) as (memory, clock, _):
        told(memory, clock, SAID)
        vague = memory.feedback("Hmm, that thing with the other thing is not quite it.", user="ann")
        assert not vague.applied
        assert vague.notes
        before = memory.stats(user="ann").messages
        plain = memory.feedback("I don't live in Porto any more.", user="ann")
        assert plain.applied
        assert plain.mode == "rules"
        assert plain.notes
        assert memory.stats(user="ann").messages == before + 1
        assert [entry.value for entry in memory.profile(user="ann", subject="ann") if entry.attribute == "home.place"
                and entry.polarity > 0] == []  # fmt: skip
        assert not [word for word in TELLTALE if fold(word) in contents(memory)]


@pytest.mark.parametrize("fault", FAULTS)
def test_reorganize_and_a_dry_run_of_extraction(tmp_path: Path, fault: str) -> None:
    with drilled(tmp_path, fault) as (memory, clock, _):
        likes = ["I like hiking in the Alps.", "I love hiking with my dog.", "I enjoy hiking in autumn."]
        told(memory, clock, [*SAID, *likes])
        memory.reorganize(user="ann")
        found = memory.extract("I live in Lima.", user="ann")
        assert [item.value for item in found.items] == ["Lima"]
        assert found.mode == "rules"
        assert found.notes
        assert_sound(memory, len(SAID) + len(likes))


def test_without_any_model_what_needs_one_says_so(tmp_path: Path) -> None:
    with Memory(tmp_path, settings={"embedder": "hashing", "worker": False}) as memory:
        memory.add(SAID, user="ann", wait=True)
        with pytest.raises(InputError):
            memory.ask("Where do I live?", user="ann", mode="model")
        assert memory.ask("Where do I live?", user="ann").mode == "extractive"
        assert memory.feedback("I don't live in Porto any more.", user="ann").mode == "rules"
