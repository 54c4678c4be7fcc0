"""Whose words a model may take for whose, what numbers it may write, and what of a batch fits into its context."""
# ruff: noqa: RUF001 - Chinese has commas of its own

from __future__ import annotations

from dataclasses import replace

import pytest

from mnemic.core.refining import Batch
from mnemic.core.refining.batch import Item
from mnemic.core.refining.fitting import fitted, taken
from mnemic.core.refining.pairs import Pair, pairs_in, tied
from mnemic.core.replies import number_in
from mnemic.model.language import Reply
from tests.unit.test_refining import TALK, believed, item, known, said


def told(text: str, quote: str, *, about: str = "Ann", value: str, statement: str, **more: object) -> list[str]:
    """Return what is believed of one statement on one message of Ann's, which Bob has answered."""
    batch = Batch((said(0, text), said(1, "I am fine.", "Bob")))
    changed = {"attribute": "note.fact", "when": {}, "evidence": [{"message": "m1", "quote": quote}], **more}
    drawn = believed(item(about=about, value=value, statement=statement, **changed), batch=batch)
    return [each.candidate.text for each in drawn.items]


@pytest.mark.parametrize("attribute", ["preference.like", "note.fact"])
def test_what_somebody_says_of_themselves_is_not_another_speakers(attribute: str) -> None:
    tea = {"value": "green tea", "attribute": attribute}
    assert told("I like green tea.", "I like green tea", about="Bob", statement="Bob likes green tea.", **tea) == []
    assert told("I like green tea.", "I like green tea", statement="Ann likes green tea.", **tea) != []


def test_what_is_said_of_another_by_name_is_theirs() -> None:
    assert told("I like green tea, Bob likes it more.", "Bob likes it more", about="Bob", value="green tea",
                statement="Bob likes green tea.")  # fmt: skip


def test_what_is_plainly_denied_does_not_hold() -> None:
    denied = "I don't eat meat any more."
    assert told(denied, "eat meat", value="meat", statement="Ann eats meat.") == []
    assert told(denied, "don't eat meat", value="meat", statement="Ann eats no meat.", negated=True) != []


def test_the_words_of_others_in_quotation_marks_are_not_the_speakers() -> None:
    assert told('Bob said: "I live in Porto".', "I live in Porto", value="Porto", statement="Ann lives in Porto.") == []


@pytest.mark.parametrize("tie", ["same", "more", "ends", "replaces", "conflicts"])
def test_what_one_person_says_does_nothing_to_anothers_memory(tie: str) -> None:
    home = replace(known("Bob lives in Porto.", value="Porto"), subject="Bob")
    (found,) = believed(item(known="k1", change=tie), batch=Batch(TALK, known=(home,))).items
    assert (found.tie, found.known) == ("new", None)


@pytest.mark.parametrize(
    "given, number", [("m3", 3), (4, 4), ("#5 or 6", 5), (None, 0), ("\u00b2", 0), ("9" * 5000, 0)]
)
def test_numbers_are_read_however_they_are_written_and_endless_ones_are_none(given: object, number: int) -> None:
    assert number_in(given) == number


def test_an_endless_number_of_a_message_costs_only_its_item() -> None:
    evidence = [{"message": "m" + "9" * 5000, "quote": "I moved to Porto last Saturday"}]
    assert len(believed(item(evidence=evidence), item()).items) == 1


def test_an_endless_number_of_a_pair_ties_nothing() -> None:
    (found,) = believed(item()).items
    pairs = [Pair(0, found, known("Ann lives in Leeds."), 0.9)]
    assert tied([found], pairs, Reply('{"pairs": [{"pair": "%s", "change": "same"}]}' % ("9" * 5000), "m")) == [found]


def long_batch(words: str) -> Batch:
    messages = tuple(said(number, words * 60, "Ann" if number % 2 else "Bob") for number in range(24))
    memories = tuple(known(words * 15) for _ in range(30))
    return Batch(messages, before=tuple(said(100 + number, words * 200) for number in range(4)), known=memories)


@pytest.mark.parametrize("context", [3072, 4096, 8192])
@pytest.mark.parametrize("words", ["lorem ipsum dolor ", "我喜欢喝茶和咖啡，每天早上去公园。"])
def test_a_batch_is_cut_to_what_the_model_takes_in(words: str, context: int) -> None:
    batch = long_batch(words)
    reply = min(3_000, context // 3)
    assert taken(batch, reply) > context
    found = fitted(batch, context=context, max_tokens=reply)
    assert found is not None
    assert found.messages and found.messages == batch.messages[: len(found.messages)]
    assert taken(found, reply) <= context


def test_a_message_that_is_too_long_alone_is_shown_by_its_beginning() -> None:
    found = fitted(Batch((said(0, "我喜欢喝茶。" * 2_000),)), context=3_600, max_tokens=1_200)
    assert found is not None
    assert len(found.messages) == 1 and found.shown < 2_000


def test_a_context_that_holds_not_even_the_rules_fits_nothing() -> None:
    assert fitted(Batch(TALK), context=1_024, max_tokens=341) is None


def test_pairs_are_cut_to_what_the_model_takes_in() -> None:
    (found,) = believed(item()).items
    wordy: Item = replace(found, candidate=replace(found.candidate, text="我喜欢喝茶。" * 60))
    pairs = [Pair(0, wordy, known("我喜欢喝茶。" * 60), 0.9) for _ in range(20)]
    assert 0 < len(pairs_in(pairs, 4_096)) < 20
    assert pairs_in(pairs, 256) == []
