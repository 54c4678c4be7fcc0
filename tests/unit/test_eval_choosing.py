"""Which questions a run of answers takes: a sample by a seed, the same each time, to which a larger limit only adds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from mnemic.evaluation.choosing import choose
from mnemic.evaluation.datasets import Conversation, Dataset, Question
from mnemic.model.message import Message

SAID = Message("user", "I moved to Porto.", at=datetime(2025, 1, 1, tzinfo=UTC), id="m1")


def conversation(name: str, questions: Sequence[Question]) -> Conversation:
    return Conversation(name, (("s", (SAID,)),), tuple(questions), 1)


def questions(name: str, count: int) -> list[Question]:
    """Return questions in turn about two things, of which the last has no gold answer."""
    kinds = ("where", "when")
    found = [Question(f"{name}/{n}", "?", kinds[n % 2], answer=str(n)) for n in range(count)]
    return [*found, Question(f"{name}/none", "?", "where"), Question(f"{name}/absent", "?", "absent", absent=True)]


def dataset(kind: str, conversations: Sequence[Conversation]) -> Dataset:
    return Dataset(kind, "file", "0", len(conversations), 0, lambda: iter(conversations))


TWO = dataset("locomo", [conversation(name, questions(name, 20)) for name in ("a", "b")])


def test_all_that_can_be_scored_is_taken_without_a_limit() -> None:
    chosen = choose(TWO, (), None, limit=None, seed=1)
    assert len(chosen.ids) == chosen.eligible == 42
    assert chosen.unanswered == ("a/none", "b/none") and not chosen.ids & set(chosen.unanswered)


def test_a_limit_takes_so_many_of_each_category_of_each_conversation() -> None:
    chosen = choose(TWO, (), None, limit=3, seed=1)
    of = {each.id: (name, each.category) for name in ("a", "b") for each in questions(name, 20)}
    assert Counter(of[each] for each in chosen.ids) == {
        ("a", "where"): 3, ("a", "when"): 3, ("a", "absent"): 1,
        ("b", "where"): 3, ("b", "when"): 3, ("b", "absent"): 1,
    }  # fmt: skip
    assert chosen.eligible == 42


def test_a_larger_limit_keeps_what_a_smaller_one_took() -> None:
    few, more = (choose(TWO, (), None, limit=limit, seed=7).ids for limit in (2, 5))
    assert few < more


def test_a_seed_draws_the_same_and_another_draws_others() -> None:
    first, again, other = (choose(TWO, (), None, limit=4, seed=seed).ids for seed in (1, 1, 2))
    assert first == again != other


def test_of_longmemeval_the_limit_holds_for_the_whole_file() -> None:
    haystacks = [conversation(str(n), [Question(str(n), "?", f"type {n % 2}", answer="x")]) for n in range(10)]
    chosen = choose(dataset("longmemeval", haystacks), (), None, limit=2, seed=1)
    assert Counter(int(each) % 2 for each in chosen.ids) == {0: 2, 1: 2}


def test_only_the_named_and_the_first_conversations_are_drawn_from() -> None:
    assert {each[0] for each in choose(TWO, ("b",), None, limit=None, seed=1).ids} == {"b"}
    assert {each[0] for each in choose(TWO, (), 1, limit=None, seed=1).ids} == {"a"}
