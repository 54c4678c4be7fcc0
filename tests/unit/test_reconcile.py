"""What becomes of a statement beside what is known: examples from people's lives, then properties over many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.reconcile import (
    Add,
    Contradicts,
    Refine,
    Reinforce,
    Skip,
    Supersede,
    apply,
    plan,
    value_key,
)
from mnemic.errors import ConflictError
from mnemic.model.memory import Candidate, Change, Memory, MemoryKind, Source
from mnemic.model.moment import Grain, TimeSpan

DAY = timedelta(days=1)
START = datetime(2023, 1, 1, 12, tzinfo=UTC)


def day(number: float) -> datetime:
    return START + number * DAY


def said(
    value: str,
    at: float,
    *,
    attribute: str = "home.place",
    single: bool = True,
    polarity: int = 1,
    until: float | None = None,
    span: bool = False,
    quote: str = "",
    confidence: float = 0.9,
    kind: MemoryKind = MemoryKind.FACT,
) -> Candidate:
    words = quote or f"{'' if polarity > 0 else 'not '}{value} since day {at}"
    time = TimeSpan(day(at), day(until) if until is not None else day(at) + DAY, Grain.DAY, "then") if span else None
    return Candidate(
        kind=kind,
        subject="Ann",
        attribute=attribute,
        value=value,
        text=f"Ann: {words}",
        polarity=polarity,
        single=single,
        time=time,
        valid_from=day(at),
        valid_to=None if until is None else day(until),
        confidence=confidence,
        quote=words,
        start=0,
        end=len(words),
    )


class Shelf:
    """Keeps memories as the services do: plan against what is known, apply, put back."""

    def __init__(self, candidates: Sequence[Candidate] = ()) -> None:
        self.memories: list[Memory] = []
        self.plans: list[object] = []
        self._ids: Iterator[str] = (f"id{n:04}" for n in count())
        for candidate in candidates:
            self.tell(candidate)

    def tell(self, candidate: Candidate, *, similar: Sequence[tuple[Memory, float]] = ()) -> object:
        made = plan(candidate, self.memories, similar=similar)
        self.plans.append(made)
        target = getattr(made, "memory_id", None) if not isinstance(made, Contradicts) else None
        old = next((memory for memory in self.memories if memory.id == target), None)
        source = Source(f"message of {candidate.quote}", candidate.quote, candidate.valid_from, "Ann")
        new = apply(old, made, source=source, ids=self._ids, recorded_at=day(900), cube_key=1)
        self.memories = [memory for memory in self.memories if memory.id != new.id] + [new]
        return made

    def main(self) -> Memory:
        return next(memory for memory in self.memories if not memory.value_key)

    def line(self) -> list[tuple[str, int, int | None]]:
        """The versions of the main memory that last, as value, first day and last day."""
        return [
            (
                f"{'' if version.polarity > 0 else 'not '}{version.value}",
                _day(version.valid_from),
                _end(version.valid_to),
            )
            for version in self.main().versions
            if version.valid_to != version.valid_from
        ]


def _day(moment: datetime) -> int:
    return round((moment - START) / DAY)


def _end(moment: datetime | None) -> int | None:
    return None if moment is None else _day(moment)


def test_the_first_statement_is_added() -> None:
    shelf = Shelf([said("Lisbon", 0)])
    assert isinstance(shelf.plans[0], Add)
    version = shelf.main().current
    assert (version.change, version.number, version.value) == (Change.ADDED, 1, "Lisbon")
    assert version.sources[0].quote == "Lisbon since day 0"


@pytest.mark.parametrize("again", ["Lisbon", "lisbon", "in Lisbon"])
def test_the_same_value_reinforces_and_keeps_the_beginning(again: str) -> None:
    shelf = Shelf([said("Lisbon", 0), said(again, 9)])
    assert isinstance(shelf.plans[1], Reinforce)
    version = shelf.main().current
    assert shelf.line() == [("Lisbon", 0, None)]
    assert len(version.sources) == 2
    assert version.confidence == pytest.approx(0.99)


def test_words_about_an_earlier_time_move_the_beginning_back() -> None:
    shelf = Shelf([said("Lisbon", 9), said("Lisbon", 2, span=True)])
    assert isinstance(shelf.plans[1], Reinforce)
    assert shelf.line() == [("Lisbon", 2, None)]
    assert shelf.main().current.time is not None


def test_another_value_of_a_single_attribute_closes_the_one_before() -> None:
    shelf = Shelf([said("Lisbon", 0), said("Porto", 9)])
    change = shelf.plans[1]
    assert isinstance(change, Supersede) and not change.past
    assert change.version_id == shelf.main().versions[0].id
    assert shelf.line() == [("Lisbon", 0, 9), ("Porto", 9, None)]
    assert shelf.main().current.change is Change.SUPERSEDED


def test_a_statement_about_an_older_time_becomes_a_past_version() -> None:
    shelf = Shelf([said("Porto", 9), said("Lisbon", 0, span=True)])
    change = shelf.plans[1]
    assert isinstance(change, Supersede) and change.past
    assert shelf.line() == [("Lisbon", 0, 9), ("Porto", 9, None)]
    assert shelf.main().current.value == "Porto"


def test_a_late_statement_from_between_splits_what_was_said_before_and_after_it() -> None:
    shelf = Shelf([said("Lisbon", 0), said("Lisbon", 9), said("Porto", 5)])
    assert shelf.line() == [("Lisbon", 0, 5), ("Porto", 5, 9), ("Lisbon", 9, None)]


def test_a_value_with_more_words_refines_and_keeps_the_old_text_as_history() -> None:
    shelf = Shelf([said("Lisbon", 0), said("Alfama, Lisbon", 9)])
    assert isinstance(shelf.plans[1], Refine)
    old, new = shelf.main().versions
    assert (old.value, old.valid_from, old.valid_to) == ("Lisbon", day(0), day(0))
    assert (new.value, new.valid_from, new.valid_to, new.change) == ("Alfama, Lisbon", day(0), None, Change.REFINED)
    assert shelf.main().current == new
    assert isinstance(shelf.tell(said("Lisbon", 12)), Reinforce)
    assert shelf.main().current.value == "Alfama, Lisbon"


def test_a_refined_thing_is_still_found_by_its_old_name() -> None:
    shelf = Shelf([said("dog", 0, single=False), said("dog named Max", 5, single=False)])
    assert isinstance(shelf.plans[1], Refine)
    assert [memory.value_key for memory in shelf.memories] == ["dog max name"]
    assert isinstance(shelf.tell(said("a dog", 9, single=False)), Reinforce)


def test_a_promotion_is_a_change_and_not_a_better_word() -> None:
    shelf = Shelf([said("nurse", 0), said("nurse at St Mary", 3), said("senior nurse", 9)])
    assert [type(each).__name__ for each in shelf.plans] == ["Add", "Refine", "Supersede"]
    assert shelf.line() == [("nurse at St Mary", 0, 9), ("senior nurse", 9, None)]


@pytest.mark.parametrize("other", ["dog food", "cat", "dog-eared books", "new dog"])
def test_other_things_are_memories_of_their_own(other: str) -> None:
    shelf = Shelf([said("dog", 0, single=False), said(other, 5, single=False)])
    assert isinstance(shelf.plans[1], Add)
    assert len(shelf.memories) == 2


def test_a_fact_its_denial_and_the_fact_again_are_three_versions() -> None:
    shelf = Shelf(
        [
            said("meat", 0, single=False),
            said("meat", 5, single=False, polarity=-1),
            said("meat", 9, single=False),
        ]
    )
    (memory,) = shelf.memories
    assert [(v.polarity, _day(v.valid_from), _end(v.valid_to)) for v in memory.versions] == [
        (1, 0, 5),
        (-1, 5, 9),
        (1, 9, None),
    ]
    assert isinstance(shelf.plans[1], Supersede) and isinstance(shelf.plans[2], Supersede)


def test_a_denial_ends_a_single_value_but_not_another_one() -> None:
    shelf = Shelf([said("Lisbon", 0), said("Berlin", 3, polarity=-1)])
    assert shelf.main().current.value == "Lisbon"
    shelf.tell(said("Lisbon", 5, polarity=-1))
    assert shelf.line() == [("Lisbon", 0, 5), ("not Lisbon", 5, None)]


def test_a_late_denial_of_a_past_value_is_evidence_for_its_end() -> None:
    shelf = Shelf([said("Lisbon", 0), said("Porto", 5), said("Lisbon", 9, polarity=-1)])
    assert shelf.line() == [("Lisbon", 0, 5), ("Porto", 5, None)]
    assert len(shelf.main().versions[0].sources) == 2
    shelf.tell(said("Lisbon", 7))
    assert shelf.line() == [("Lisbon", 0, 5), ("Porto", 5, 7), ("Lisbon", 7, 9), ("not Lisbon", 9, None)]


def test_a_denial_that_came_first_ends_the_value_that_comes_late() -> None:
    shelf = Shelf([said("Lisbon", 9, polarity=-1), said("Lisbon", 0)])
    assert shelf.line() == [("Lisbon", 0, 9)]


def test_used_to_closes_what_holds_and_leaves_what_followed_alone() -> None:
    used_to = replace(said("Lisbon", 9 - 1e-9, until=9), quote="used to live in Lisbon")
    assert Shelf([said("Lisbon", 0), used_to]).line() == [("Lisbon", 0, 9)]
    after = Shelf([said("Lisbon", 0), said("Porto", 5), used_to])
    assert after.line() == [("Lisbon", 0, 5), ("Porto", 5, None)]
    alone = Shelf([said("Porto", 5), used_to])
    assert alone.line() == [("Porto", 5, None)]
    assert len(alone.memories) == 2


def test_what_passed_lets_the_value_before_it_go_on() -> None:
    shelf = Shelf([said("Lisbon", 0), said("Berlin", 5, until=9, span=True)])
    assert shelf.line() == [("Lisbon", 0, 5), ("Berlin", 5, 9), ("Lisbon", 9, None)]
    assert isinstance(shelf.plans[1], Supersede) and shelf.plans[1].past
    shelf.tell(said("Porto", 12))
    assert shelf.line() == [("Lisbon", 0, 5), ("Berlin", 5, 9), ("Lisbon", 9, 12), ("Porto", 12, None)]


def test_two_values_from_one_day_contradict_each_other_and_both_stay() -> None:
    shelf = Shelf([said("Lisbon", 0), said("Porto", 0.2)])
    assert isinstance(shelf.plans[1], Contradicts)
    assert sorted(memory.current.value for memory in shelf.memories) == ["Lisbon", "Porto"]
    assert isinstance(shelf.tell(said("Porto", 3)), Reinforce), "what was said on another day joins its own side"


@pytest.mark.parametrize("quote", ["Actually, I live in Porto", "we moved to Porto", "I live in Porto now"])
def test_a_correction_supersedes_on_the_same_day(quote: str) -> None:
    shelf = Shelf([said("Lisbon", 0), said("Porto", 0.2, quote=quote)])
    assert isinstance(shelf.plans[1], Supersede)
    assert shelf.main().current.value == "Porto"


def test_a_doubtful_statement_supersedes_nothing() -> None:
    shelf = Shelf([said("Lisbon", 0), said("Porto", 9, confidence=0.3)])
    assert isinstance(shelf.plans[1], Contradicts)
    assert shelf.main().current.value == "Lisbon"


def test_a_locked_memory_is_never_changed() -> None:
    shelf = Shelf([said("Lisbon", 0)])
    locked = replace(shelf.main(), locked=True)
    shelf.memories = [locked]
    made = shelf.tell(said("Porto", 9))
    assert isinstance(made, Skip) and "locked" in made.reason
    assert shelf.memories == [locked]


def test_two_events_of_one_name_are_two_memories_and_two_tellings_are_one() -> None:
    told = [said("ran a race", at, single=False, kind=MemoryKind.EVENT, span=True, quote=f"told {n}")
            for n, at in enumerate((0, 1, 40))]  # fmt: skip
    shelf = Shelf(told)
    assert [type(each).__name__ for each in shelf.plans] == ["Add", "Reinforce", "Add"]
    assert sorted(memory.value_key for memory in shelf.memories) == ["race ran @2023-01-01", "race ran @2023-02-10"]


def test_a_near_duplicate_in_other_words_reinforces() -> None:
    shelf = Shelf([said("hiking trips", 0, single=False)])
    known = shelf.memories[0]
    for value, cosine, expected in (
        ("going on hikes", 0.97, Reinforce), ("swimming", 0.82, Add), ("2 hikes", 0.97, Add),
    ):  # fmt: skip
        assert isinstance(plan(said(value, 9, single=False), [known], similar=[(known, cosine)]), expected), value


def test_a_plan_for_another_memory_is_refused() -> None:
    shelf = Shelf([said("Lisbon", 0)])
    made = plan(said("Porto", 9), shelf.memories)
    source = Source("m", "Porto", day(9))
    with pytest.raises(ConflictError):
        apply(None, made, source=source, ids=iter(["a"]), recorded_at=day(9), cube_key=1)


def test_a_store_that_keeps_no_dates_of_claims_still_keeps_the_order() -> None:
    shelf = Shelf([said("Lisbon", 0), said("Lisbon", 9)])
    main = shelf.main()
    plain = [replace(v, sources=tuple(replace(s, holds_from=None) for s in v.sources)) for v in main.versions]
    shelf.memories = [replace(main, versions=tuple(plain))]
    shelf.tell(said("Porto", 5))
    assert shelf.line() == [("Lisbon", 0, 5), ("Porto", 5, 9), ("Lisbon", 9, None)]


def test_the_key_of_a_memory_is_its_value_only_where_many_are_possible() -> None:
    assert value_key(said("Lisbon", 0)) == ""
    assert value_key(said("Golden Retrievers", 0, single=False)) == "golden retriev"


# --- properties ----------------------------------------------------------------------------------------------------

_PLACES = ("Lisbon", "Porto", "Berlin")


@st.composite
def dated_facts(draw: st.DrawFn, *, closed: bool = False, many: bool = False) -> list[Candidate]:
    days = draw(st.lists(st.integers(0, 60), min_size=1, max_size=8, unique=True))
    told = []
    for number in days:
        value = "meat" if many else draw(st.sampled_from(_PLACES))
        polarity = draw(st.sampled_from((1, -1))) if many else 1
        until = number + draw(st.integers(1, 20)) if closed and draw(st.booleans()) else None
        told.append(said(value, number, single=not many, polarity=polarity, until=until, span=until is not None))
    return told


def _lasting(shelf: Shelf) -> list[tuple[str, list[tuple[object, ...]]]]:
    return sorted(
        (
            memory.value_key,
            [(v.value, v.polarity, v.valid_from, v.valid_to) for v in memory.versions if v.valid_to != v.valid_from],
        )
        for memory in shelf.memories
    )


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_order_of_arrival_gives_the_same_timeline(data: st.DataObject) -> None:
    told = data.draw(dated_facts(closed=data.draw(st.booleans()), many=data.draw(st.booleans())))
    arrived = data.draw(st.permutations(told))
    assert _lasting(Shelf(arrived)) == _lasting(Shelf(sorted(told, key=lambda each: each.valid_from)))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_validity_has_no_overlap_and_never_ends_before_it_begins(data: st.DataObject) -> None:
    told = data.draw(st.permutations(data.draw(dated_facts(closed=True))))
    for memory in Shelf(told).memories:
        lasting = [version for version in memory.versions if version.valid_to != version.valid_from]
        assert all(version.valid_to is None or version.valid_to > version.valid_from for version in lasting)
        for left, right in pairwise(lasting):
            assert left.valid_to is not None and left.valid_to <= right.valid_from
        numbers = [version.number for version in memory.versions]
        assert len(set(numbers)) == len(numbers)
        assert len({version.id for version in memory.versions}) == len(numbers)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost_and_telling_it_all_again_changes_nothing(data: st.DataObject) -> None:
    many = data.draw(st.booleans())
    told = data.draw(st.permutations(data.draw(dated_facts(closed=True, many=many))))
    shelf = Shelf(told)
    quotes = {source.quote for memory in shelf.memories for version in memory.versions for source in version.sources}
    assert {candidate.quote for candidate in told} <= quotes
    before = sorted(shelf.memories, key=lambda memory: memory.id)
    for candidate in told:
        shelf.tell(candidate)
    assert sorted(shelf.memories, key=lambda memory: memory.id) == before


@given(dated_facts(closed=True))
@settings(max_examples=50, deadline=None)
def test_replaying_the_same_statements_gives_the_same_memories(told: list[Candidate]) -> None:
    assert Shelf(told).memories == Shelf(told).memories
