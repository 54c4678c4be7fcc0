"""Whatever a caller filters by, SQLite and PostgreSQL let the same things through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mnemic.ids import new_id
from mnemic.model.message import MessageRole, Page, StoredMessage
from mnemic.model.query import AllOf, AnyOf, Compare, Filter, Not
from mnemic.model.scope import Cube
from mnemic.ports.store import Store
from mnemic.testing.store_contract import NOON, new_cube, reading, writing
from tests.databases import ENGINES, opened, place_of

KEYS = ("n", "topic", 'q"x', "it's", "$.n", "a.b", "100%", "\\u0000", "\u6570", "n\n")
WORDS = ("", "work", "Work", "\u00c9cole", "ecole", "a\\u0000b", "%", "5", "true", "\U0001f600", 'say "hi"')
VALUES: tuple[Any, ...] = (5, 5.0, -0.5, 2**62, 1e300, True, False, None, *WORDS)
MET: tuple[Any, ...] = (
    *VALUES,
    "nul \0 inside",
    "half \ud800",
    [1, "a", None, True, "5", 2.5],
    [],
    {"n": 5},
    {},
    [[1]],
)
OPERATORS = ("eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains", "exists")
SPEAKERS = ("Zoe", "zoe", "\u00c9lodie Stra\u00dfe", "Kai", "100%", "_")


@dataclass(frozen=True)
class Both:
    """Two stores with the same messages, and what their ids stand for."""

    stores: dict[str, tuple[Store, Cube]]
    numbers: dict[str, dict[str, int]]

    def found(self, where: Filter) -> dict[str, list[int]]:
        answers = {}
        for engine, (store, cube) in self.stores.items():
            with reading(store) as tx:
                ids = tx.messages.find_matching(cube.key, where)
            answers[engine] = sorted(self.numbers[engine][each] for each in ids)
        return answers


def metadata() -> list[dict[str, Any]]:
    """Return metadata of each kind of value under several keys."""
    found: list[dict[str, Any]] = [{}]
    for at, value in enumerate(MET):
        found += [{"n": value}, {KEYS[at % len(KEYS)]: value, "other": {"n": "work"}}]
    return found


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    with ExitStack() as stack:
        stores: dict[str, tuple[Store, Cube]] = {}
        numbers: dict[str, dict[str, int]] = {}
        for engine in ENGINES:
            place = stack.enter_context(place_of(engine))
            store = stack.enter_context(opened(place))
            cube = new_cube(store)
            stores[engine], numbers[engine] = (store, cube), _fill(store, cube)
        yield Both(stores, numbers)


def _fill(store: Store, cube: Cube) -> dict[str, int]:
    given = metadata()
    with writing(store) as tx:
        tx.cubes.touch(cube.key, said_at=NOON)
        session = tx.messages.tail(cube.key, "s", session_id=new_id(), at=NOON).session
        page = Page(new_id(), cube.key, session.id, 0, "ann", replied=False, started_at=NOON, ended_at=NOON, messages=1)
        messages = [
            StoredMessage(
                id=new_id(), cube_key=cube.key, session_id=session.id, session="s", page_id=page.id, position=number,
                role=MessageRole.USER, speaker=SPEAKERS[number % len(SPEAKERS)], content="x", text="x", said_at=NOON,
                stored_at=NOON, metadata=held, agent=None if number % 3 else "captain",
            )
            for number, held in enumerate(given)
        ]  # fmt: skip
        ended = replace(session, messages=len(messages))
        tx.messages.append([(each, f"new:{each.id}") for each in messages], [page], ended)
    return {message.id: number for number, message in enumerate(messages)}


def compare(field: str, key: str | None, operator: str, value: Any) -> Compare:
    """Return a comparison as the grammar lets it through."""
    if operator in ("in", "nin"):
        value = (value, "work")
    elif operator == "exists":
        value = bool(value)
    elif operator in ("gt", "gte", "lt", "lte") and (value is None or isinstance(value, bool)):
        value = 5
    return Compare(field, key, operator, value)  # type: ignore[arg-type]  # of the operators


of_metadata = st.builds(
    lambda key, operator, value: compare(f"metadata.{key}", key, operator, value),
    st.sampled_from((*KEYS, "nowhere")),
    st.sampled_from(OPERATORS),
    st.sampled_from(VALUES),
)
of_fields = st.builds(
    lambda field, operator, value: compare(field, None, operator, value),
    st.sampled_from(("speaker", "agent", "kind", "session", "subject")),
    st.sampled_from(OPERATORS),
    st.sampled_from((*SPEAKERS, "captain", "message", "m", "s", "")),
)
leaves = of_metadata | of_fields


def joined(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    """Return conditions that are made of others."""
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.builds(Not, inner) | st.builds(AllOf, several) | st.builds(AnyOf, several)


filters = leaves | joined(leaves) | joined(leaves | joined(leaves))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(where=Compare("metadata.n", "n", "contains", "NUL"))
@example(where=Not(Compare("metadata.n", "n", "exists", value=False)))
@example(where=Compare("speaker", None, "contains", "strasse"))
@given(where=filters)
def test_both_engines_let_the_same_messages_through(both: Both, where: Filter) -> None:
    found = both.found(where)
    assert found["sqlite"] == found["postgres"]


@pytest.mark.parametrize("value", MET, ids=lambda value: repr(value)[:30])
def test_a_value_is_found_by_itself(both: Both, value: Any) -> None:
    if isinstance(value, list | dict) or (isinstance(value, str) and ("\0" in value or "\ud800" in value)):
        return  # no filter asks for these
    found = both.found(Compare("metadata.n", "n", "eq", value))
    assert found["postgres"] == found["sqlite"] != []
