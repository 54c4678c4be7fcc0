"""A profile holds what is so at a moment, with evidence and history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from mnemic.core.extraction.attributes import ATTRIBUTES
from mnemic.core.profile import GROUPS, build_profile, described
from mnemic.model.memory import Change, Memory, MemoryKind, Source, Version
from mnemic.model.moment import Grain, TimeSpan

START = datetime(2023, 1, 1, tzinfo=UTC)
_ids = (f"id{n}" for n in count())


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def version(
    value: str, start: float, end: float | None = None, *, polarity: int = 1, span: tuple[float, float] | None = None
) -> Version:
    return Version(
        id=next(_ids),
        number=1,
        text=f"Ann: {value}",
        value=value,
        polarity=polarity,
        valid_from=day(start),
        valid_to=None if end is None else day(end),
        time=TimeSpan(day(span[0]), day(span[1]), Grain.DAY, "then") if span else None,
        recorded_at=day(start),
        confidence=0.9,
        change=Change.ADDED,
        sources=(Source("m", value, day(start), "Ann"),),
    )


def memory(attribute: str, *versions: Version, subject: str = "Ann", locked: bool = False) -> Memory:
    return Memory(next(_ids), 1, MemoryKind.FACT, subject, attribute, "", locked, START, versions)


LIFE = [
    memory("event.happened", version("ran a race", 3, 4)),
    memory("event.happened", version("wedding", 80, 81)),
    memory("preference.like", version("tea", 2)),
    memory("home.place", version("Lisbon", 0, 10), version("Porto", 10), locked=True),
    memory("plan.intends", version("visit Rome", 5, span=(40, 50))),
    memory("plan.intends", version("learn to sail", 5)),
    memory("possession.pet", version("dog", 0, 6), version("dog", 6, polarity=-1)),
    memory("diet.consumes", version("meat", 0, polarity=-1)),
    memory("identity.age", version("34", 1), subject="Ben"),
]


def shown(at: float | None) -> list[tuple[str, str, str]]:
    return [(entry.subject, entry.group, entry.value) for entry in build_profile(LIFE, None if at is None else day(at))]


def test_a_profile_comes_by_person_and_group() -> None:
    assert shown(20) == [
        ("Ann", "home", "Porto"),
        ("Ann", "diet", "meat"),
        ("Ann", "preferences", "tea"),
        ("Ann", "plans", "learn to sail"),
        ("Ann", "plans", "visit Rome"),
        ("Ann", "events", "wedding"),
        ("Ben", "identity", "34"),
    ]


def test_a_profile_of_the_past_holds_what_was_so_then() -> None:
    assert ("Ann", "home", "Lisbon") in shown(5)
    assert ("Ann", "possessions", "dog") in shown(5)
    assert shown(-1) == [("Ann", "events", "ran a race"), ("Ann", "events", "wedding")]


@pytest.mark.parametrize("at, plans", [(45, {"visit Rome", "learn to sail"}), (60, {"learn to sail"}), (400, set())])
def test_plans_leave_when_their_time_has_passed(at: float, plans: set[str]) -> None:
    assert {value for _, group, value in shown(at) if group == "plans"} == plans


def test_an_entry_has_evidence_history_and_its_lock() -> None:
    (entry,) = (entry for entry in build_profile(LIFE, day(20)) if entry.group == "home")
    assert (entry.label, entry.attribute, entry.since, entry.locked) == ("Lives in", "home.place", day(10), True)
    assert [source.quote for source in entry.evidence] == ["Porto"]
    assert [older.value for older in entry.history] == ["Lisbon"]


def test_without_a_moment_the_newest_saying_is_now() -> None:
    assert ("Ann", "home", "Porto") in shown(None)
    assert build_profile([]) == ()


def test_each_attribute_has_a_group_of_the_profile() -> None:
    assert {attribute.group for attribute in ATTRIBUTES.values()} <= set(GROUPS)
    assert described("relation.sister").group == "relations"
    assert described("interest.topic").group == "interests"
    assert (described("mood.today").group, described("mood.today").label) == ("mood", "Today")
