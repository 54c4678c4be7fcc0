"""Two people who said the same words in the same sessions: no call shows one of them anything of the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import Memory, NotFoundError
from tests.services.opened import open_memory

pytestmark = pytest.mark.usefixtures("engine")

SECRETS = {"ann": "marmalade", "ann2": "turpentine"}


def history(secret: str) -> list[dict[str, object]]:
    turns: list[dict[str, object]] = []
    for number in range(8):
        text = f"I live in Porto and my favourite jar number {number} is full of {secret}."
        turns += [{"content": text, "name": "Sam", "id": f"m{number}"},
                  {"role": "assistant", "content": f"Noted, {secret} it is."}]  # fmt: skip
    return turns


@pytest.fixture(scope="module")
def memory(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with open_memory(tmp_path_factory.mktemp("isolated")) as opened:
        for user, secret in SECRETS.items():
            opened.add(history(secret), user=user, session="kitchen")
            opened.jobs.wait(user=user)
        yield opened


@pytest.fixture(params=["ann", "ann2"])
def user(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def other(user: str) -> str:
    return next(each for each in SECRETS if each != user)


def ids(memory: Memory, user: str) -> set[str]:
    segments = {warm.segment.id for warm in memory.stats(user=user).segments}
    return {item.id for item in memory.list(user=user, limit=1_000)} | segments


def test_both_have_all_tiers_of_their_own(memory: Memory, user: str, other: str) -> None:
    mine, theirs = memory.stats(user=user), memory.stats(user=other)
    assert mine.messages == theirs.messages == 16
    assert mine.segments
    assert mine.memories == theirs.memories
    assert not ids(memory, user) & ids(memory, other)


@pytest.mark.parametrize("query", ["marmalade turpentine jar", "Sam", "Where do I live?", "jar number 3", "the of"])
def test_no_search_context_or_answer_tells_of_the_other(memory: Memory, user: str, other: str, query: str) -> None:
    secret = SECRETS[other]
    kinds = ["message", "segment", "memory"]
    found = memory.search(query, user=user, kinds=kinds, limit=1_000, explain=True)
    assert found
    assert all(secret not in hit.text for hit in found)
    assert {source.message_id for hit in found for source in hit.sources} <= ids(memory, user)
    assert secret not in memory.context(query, user=user, budget=100_000).text
    answer = memory.ask(query, user=user)
    assert secret not in answer.text
    assert {hit.id for hit in answer.citations} <= ids(memory, user)
    past = memory.search(query, user=user, kinds=kinds, limit=1_000, as_of="2027-01-01")
    assert all(secret not in hit.text for hit in past)


def test_a_word_of_the_other_weighs_nothing(memory: Memory, user: str, other: str) -> None:
    hit = memory.search(SECRETS[other], user=user, explain=True, limit=1)[0]
    assert hit.why is not None
    assert hit.why.channels["lexical"][1] == 0
    alone = [hit.score for hit in memory.search("jar number 3", user=user)]
    memory.add([f"jar number {number}" for number in range(50)], user=f"crowd of {user}")
    assert [hit.score for hit in memory.search("jar number 3", user=user)] == pytest.approx(alone, abs=1e-3)


def test_no_list_profile_or_export_tells_of_the_other(memory: Memory, user: str, other: str) -> None:
    told = [
        repr(memory.list(user=user, limit=1_000)),
        repr(memory.profile(user=user)),
        repr(memory.stats(user=user)),
        repr(memory.sessions(user=user)),
        repr(memory.cubes.list(user=user)),
        repr(memory.jobs.list(user=user)),
        "\n".join(memory.export(user=user)),
    ]
    foreign = [SECRETS[other], *ids(memory, other), *(job.id for job in memory.jobs.list(user=other))]
    assert not [name for name in foreign for text in told if name in text]
    assert SECRETS[user] in told[0]
    assert SECRETS[user] in told[-1]


@pytest.mark.parametrize("verb", ["get", "history", "explain", "lock", "restore", "forget"])
def test_an_id_of_the_other_is_one_that_is_not_there(memory: Memory, user: str, other: str, verb: str) -> None:
    for foreign in sorted(ids(memory, other)):
        with pytest.raises(NotFoundError):
            getattr(memory, verb)(foreign, user=user)
    assert memory.stats(user=other).messages == 16


def test_jobs_and_corrections_of_the_other_are_out_of_reach(memory: Memory, user: str, other: str) -> None:
    for job in memory.jobs.list(user=other):
        with pytest.raises(NotFoundError):
            memory.jobs.wait(job.id, user=user)
    for item in memory.list(user=other, kinds="memory"):
        with pytest.raises(NotFoundError):
            memory.update(item.id, "Sam lives in Rome.", user=user)
    with pytest.raises(NotFoundError):
        memory.search("jar", user=user, cubes=[cube.id for cube in memory.cubes.list(user=other)])


def test_forgetting_takes_nothing_from_the_other(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for user in SECRETS:
            memory.add(history("marmalade"), user=user, session="kitchen")
            memory.jobs.wait(user=user)
        memory.forget(about="marmalade", user="ann")
        assert memory.stats(user="ann").messages == 0
        before = memory.stats(user="ann2")
        assert before.messages == 16
        memory.add("again", user="ann", session="kitchen")
        memory.forget(session="kitchen", user="ann")
        memory.forget(everything=True, user="ann")
        after = memory.stats(user="ann2")
        assert (after.messages, after.memories) == (before.messages, before.memories)
        assert memory.search("marmalade", user="ann").hits == ()
        assert len(memory.search("marmalade", user="ann2", kinds="message", limit=100)) == 16


def test_two_memories_on_one_folder_see_each_others_writes_at_once(tmp_path: Path) -> None:
    with open_memory(tmp_path) as first, open_memory(tmp_path) as second:
        for number in range(3):
            writer, reader = (first, second) if number % 2 else (second, first)
            added = writer.add(f"note number {number}", user="ann")
            assert reader.search(f"note number {number}", user="ann")[0].id == added.message_ids[0]
            reader.forget(added.message_ids[0], user="ann")
            assert writer.search("note", user="ann").hits == ()
        personal = first.cubes.list(user="ann")[0].id
        first.cubes.delete(personal, user="ann")
        assert second.search("note", user="ann").hits == ()
        assert second.stats(user="ann").messages == 0
        first.add("a new life", user="ann")
        assert [hit.text for hit in second.search("life", user="ann")] == ["a new life"]
        assert second.add("and more of it", user="ann").stored == 1
        assert len(first.cubes.list(user="ann")) == 1
