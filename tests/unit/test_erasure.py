from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mnemic.core.curating import edited, restored
from mnemic.core.erasure import leaks, remains, without
from mnemic.errors import InputError, NotFoundError
from mnemic.model.memory import Change, Memory, MemoryKind, Source, Version
from mnemic.model.moment import Grain, TimeSpan

START = datetime(2025, 1, 1, tzinfo=UTC)
TEXTS = {"m1": "I live in Porto", "m2": "I moved to Lisbon", "m3": "Faro is home", "m4": "Porto, my home"}


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def version(number: int, place: str, start: int, end: int | None, *sources: str) -> Version:
    told = tuple(Source(each, TEXTS[each], day(start), "ann") for each in sources)
    until = None if end is None else day(end)
    return Version(f"v{number}", number, f"Ann lives in {place}.", place, 1, day(start), until, None, START, 0.9,
                   Change.ADDED, told)  # fmt: skip


def memory(versions: Sequence[Version], *, key: str = "") -> Memory:
    return Memory("a", 1, MemoryKind.FACT, "Ann", "home.place", key, locked=False, created_at=START,
                  versions=tuple(versions))  # fmt: skip


MOVES = memory(
    [version(1, "Porto", 0, 10, "m1"), version(2, "Lisbon", 10, 20, "m2"), version(3, "Faro", 20, None, "m3")]
)


def spans(left: Memory | None) -> list[tuple[str, int, int | None]]:
    return [
        (each.value, (each.valid_from - START).days, None if each.valid_to is None else (each.valid_to - START).days)
        for each in (left.versions if left else ())
    ]


@pytest.mark.parametrize(
    "gone,left",
    [
        ({"m1"}, [("Lisbon", 10, 20), ("Faro", 20, None)]),
        ({"m2"}, [("Porto", 0, 20), ("Faro", 20, None)]),
        ({"m3"}, [("Porto", 0, 10), ("Lisbon", 10, None)]),
        ({"m2", "m3"}, [("Porto", 0, None)]),
        ({"m1", "m2", "m3"}, []),
    ],
)
def test_what_came_before_an_erased_version_goes_on_in_its_place(
    gone: set[str], left: list[tuple[str, int, int | None]]
) -> None:
    assert spans(remains(MOVES, {each: TEXTS[each] for each in gone}, TEXTS).memory) == left
    assert spans(without(MOVES, {f"v{each[1]}" for each in gone})) == left


def test_a_version_that_ends_by_itself_is_not_prolonged() -> None:
    ended = memory([version(1, "Porto", 0, 5, "m1"), version(2, "Lisbon", 10, None, "m2")])
    assert spans(without(ended, {"v2"})) == [("Porto", 0, 5)]


def test_a_version_stays_while_another_message_has_its_words() -> None:
    both = memory([version(1, "Porto", 0, None, "m1", "m4")])
    kept = remains(both, {"m1": "Porto is where I live"}, {"m4": "In Porto, where I live"})
    assert kept.memory is not None and [each.message_id for each in kept.memory.current.sources] == ["m4"]
    assert kept.unread == frozenset()


def test_a_version_goes_when_only_the_erased_message_had_a_word_and_the_others_are_read_again() -> None:
    both = memory([version(1, "Porto by the river", 0, None, "m1", "m4")], key="porto river")
    gone = remains(both, {"m1": "I live in Porto by the river"}, {"m4": "Porto, my home"})
    assert (gone.memory, gone.unread) == (None, frozenset({"m4"}))
    timed = memory(
        [replace(version(1, "Porto", 0, None, "m1", "m4"), time=TimeSpan(START, None, Grain.OPEN, "since 2019"))]
    )
    assert remains(timed, {"m1": "here in Porto since 2019"}, {"m4": "Ann lives in Porto"}).memory is None


def test_an_owners_own_words_without_sources_stay() -> None:
    own = memory([version(1, "Porto", 0, None)])
    assert remains(own, TEXTS, {}).memory == own


def test_the_key_of_what_is_left_holds_no_erased_word() -> None:
    pets = memory([version(1, "Porto", 0, 10, "m1"), version(2, "Lisbon", 10, None, "m2")], key="lisbon")
    left = remains(pets, {"m2": TEXTS["m2"]}, TEXTS).memory
    assert left is not None and left.value_key == "porto"


def test_function_words_do_not_leak() -> None:
    assert not leaks("Ann is at home", ["I am at the sea"], ["my home, Ann"])
    assert leaks("Ann is at sea", ["I am at the sea"], ["my home, Ann"])


def test_an_edit_and_its_undoing_keep_all_versions() -> None:
    once = edited(MOVES, "Ann lives in Beja.", version_id="e1", recorded_at=day(30))
    assert spans(once) == [("Porto", 0, 10), ("Lisbon", 10, 20), ("Faro", 20, 20), ("Beja", 20, None)]
    assert (once.current.number, once.current.change, once.current.sources) == (4, Change.EDITED, MOVES.current.sources)
    back = restored(once, None, version_id="r1", recorded_at=day(31))
    assert (back.current.value, back.current.number, back.current.change) == ("Faro", 5, Change.RESTORED)
    first = restored(back, 1, version_id="r2", recorded_at=day(32))
    assert (first.current.value, first.current.valid_from, len(first.versions)) == ("Porto", day(20), 6)
    with pytest.raises(NotFoundError):
        restored(MOVES, 9, version_id="x", recorded_at=day(1))
    with pytest.raises(InputError):
        restored(memory([MOVES.versions[0]]), None, version_id="x", recorded_at=day(1))


@pytest.mark.parametrize(
    "text,value",
    [
        ("Ann lives in Beja.", "Beja"),
        ("Ann lives in Beja, by the mill.", "Beja, by the mill"),
        ("ANN lives in Beja", "Beja"),
        ("I live in Beja now.", "Beja"),
        ("She moved.", "She moved"),
    ],
)
def test_the_value_of_an_edited_text_is_what_stands_in_the_old_ones_place(text: str, value: str) -> None:
    assert edited(MOVES, text, version_id="e", recorded_at=day(1)).current.value == value
