"""Limits, thresholds and filters: the right result, or an error that names what cannot be asked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from mnemic import InputError, Memory, NotFoundError
from tests.services.opened import open_memory

pytestmark = pytest.mark.usefixtures("engine")

METADATA: tuple[Any, ...] = (
    {"n": 5},
    {"n": 5.0},
    {"n": "5"},
    {"n": True},
    {"n": None},
    {"n": 2 / 3},
    {"n": [1, "a", True, None, 2 / 3, "5"]},
    {"n": {"x": 1, "y": [None, {"z": "deep"}]}},
    {"a.b": 1, 'q"x': 2, "it's": 3, "$.n": 4, "": 5, "n%": 6, "\u6570": 7, "user_id": "bob", "said_at": "never"},
    {"user": "bob", "id": 1, "kind": "fact", "session": "s", "cube": "c", "text": "t", "and": 1, "or": [], "not": {}},
    None,
    {},
    {"n": 2**62},
    {"n": "Ann's {note}"},
)  # fmt: skip


@pytest.fixture(scope="module")
def memory(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with open_memory(tmp_path_factory.mktemp("filters")) as opened:
        notes = [{"content": f"note {number}", "metadata": given} for number, given in enumerate(METADATA)]
        opened.add(notes, user="ann")
        opened.add("note of a stranger", user="bob")
        opened.add(
            [
                {"content": "We sail on Monday.", "name": "Zoe", "at": "2024-05-01T10:00:00Z", "id": "z1"},
                {"role": "assistant", "content": "Sail safely.", "at": "2024-06-01T10:00:00Z"},
                {"content": "I live in Oslo and I like to sail.", "name": "Kai", "at": "2025-01-01T10:00:00Z"},
            ],
            user="crew",
            session="boat",
            agent="captain",
        )
        opened.add("Sail away.", user="crew", session="shore")
        opened.jobs.wait(user="crew")
        yield opened


def numbers(memory: Memory, where: dict[str, Any]) -> list[int]:
    found = memory.search("note", user="ann", where=where, kinds="message", limit=100)
    return sorted(int(hit.text.split()[1]) for hit in found)


def texts(memory: Memory, where: dict[str, Any], **options: Any) -> set[str]:
    return {hit.text.split()[0] for hit in memory.search("sail", user="crew", where=where, kinds="message", **options)}


def test_metadata_comes_back_as_it_was(memory: Memory) -> None:
    found = {hit.text: hit.metadata for hit in memory.search("note", user="ann", kinds="message", limit=100)}
    assert [found[f"note {number}"] for number in range(len(METADATA))] == [given or {} for given in METADATA]


@pytest.mark.parametrize(
    "asked, expected",
    [
        (5, [0, 1]),
        (5.0, [0, 1]),
        ("5", [2]),
        (True, [3]),
        (False, []),
        (None, [4]),
        (2 / 3, [5]),
        (2**62, [12]),
        ("Ann's {note}", [13]),
        ({"eq": 5}, [0, 1]),
        ({"in": [5, "5", None]}, [0, 1, 2, 4]),
        ({"in": {5}}, [0, 1]),
        ({"in": []}, []),
        ({"gte": 5, "lt": 6}, [0, 1]),
        ({"gt": 0, "lte": 1}, [5]),
        ({"gt": 5, "lt": 5}, []),
        ({"gt": "4", "lt": "6"}, [2]),
        ({"contains": "ann"}, [13]),
        ({"contains": "a"}, [6, 13]),
        ({"contains": 1}, [6]),
        ({"contains": True}, [6]),
        ({"contains": 2 / 3}, [6]),
        ({"exists": True}, [*range(8), 12, 13]),
        ({"exists": False}, [8, 9, 10, 11]),
        ({"exists": True, "ne": 5}, [*range(2, 8), 12, 13]),
    ],
    ids=repr,
)
def test_metadata_is_compared_by_value_and_type(memory: Memory, asked: Any, expected: list[int]) -> None:
    assert numbers(memory, {"metadata.n": asked}) == expected
    everything = set(range(len(METADATA)))
    assert numbers(memory, {"not": {"metadata.n": asked}}) == sorted(everything - set(expected))


@pytest.mark.parametrize("operator, opposite", [("eq", "ne"), ("in", "nin")])
def test_an_operator_and_its_opposite_share_everything_out(memory: Memory, operator: str, opposite: str) -> None:
    value: Any = [5, "5"] if operator == "in" else 5
    some, others = (numbers(memory, {"metadata.n": {name: value}}) for name in (operator, opposite))
    assert sorted(some + others) == list(range(len(METADATA)))


@pytest.mark.parametrize("key", [key for key in METADATA[8] if key] + list(METADATA[9]))
def test_keys_of_metadata_may_be_called_anything(memory: Memory, key: str) -> None:
    assert numbers(memory, {f"metadata.{key}": {"exists": True}}) == ([8] if key in METADATA[8] else [9])


def test_metadata_called_like_a_field_is_not_the_field(memory: Memory) -> None:
    assert numbers(memory, {"metadata.kind": "fact"}) == [9]
    assert numbers(memory, {"kind": "fact"}) == []
    assert numbers(memory, {"metadata.session": "s", "session": "default"}) == [9]
    assert numbers(memory, {"session": "s"}) == []


@pytest.mark.parametrize(
    "where, expected",
    [
        ({"speaker": "Zoe"}, {"We"}),
        ({"speaker": {"in": ["Zoe", "Kai"]}}, {"We", "I"}),
        ({"speaker": {"contains": "zO"}}, {"We"}),
        ({"role": "assistant"}, {"Sail"}),
        ({"session": "boat", "agent": "captain"}, {"We", "Sail", "I"}),
        ({"agent": {"exists": False}}, {"Sail"}),
        ({"agent": None, "session": "shore"}, {"Sail"}),
        ({"external_id": "z1"}, {"We"}),
        ({"said_at": {"gte": "2024-06", "lt": "2025"}}, {"Sail"}),
        ({"said_at": {"gte": "2024-05-01T12:00:00+02:00", "lte": 1_714_557_600}}, {"We"}),
        ({"said_at": {"eq": "2024-05-01T10:00:00Z"}}, {"We"}),
        ({"or": [{"speaker": "Zoe"}, {"and": [{"role": "user"}, {"not": {"session": "boat"}}]}]}, {"We", "Sail"}),
        ({"speaker": {"ne": "Zoe"}, "session": "boat"}, {"Sail", "I"}),
        ({"subject": "Kai"}, set()),
        ({"not": {"subject": "Kai"}, "session": "boat"}, {"We", "Sail", "I"}),
        ({"speaker": {"gte": "L"}, "session": "boat"}, {"We", "Sail"}),
        ({"speaker": {"in": [f"nobody {number}" for number in range(9_999)] + ["Zoe"]}}, {"We"}),
        ({"or": [{"metadata.x": number} for number in range(199)] + [{"speaker": "Zoe"}]}, {"We"}),
    ],
    ids=lambda value: repr(sorted(value) if isinstance(value, set) else value)[:60],
)  # fmt: skip
def test_fields_and_operators_let_the_right_ones_through(memory: Memory, where: Any, expected: set[str]) -> None:
    assert texts(memory, where) == expected


def test_memories_are_let_through_by_their_own_fields_and_by_their_sources(memory: Memory) -> None:
    for where in ({"subject": "Kai"}, {"attribute": {"contains": "home"}}, {"speaker": "Kai"}, {"session": "boat"}):
        found = memory.search("Oslo", user="crew", kinds="memory", where=where)
        assert [hit.metadata["value"] for hit in found if "Oslo" in hit.text] == ["Oslo"], where


@pytest.mark.parametrize(
    "where, field",
    [
        ([], "where"),
        ("speaker", "where"),
        ({}, "where"),
        ({"colour": "red"}, "where.colour"),
        ({"user_id": "bob"}, "where.user_id"),
        ({"metadata": {"n": 5}}, "where.metadata"),
        ({"metadata.": 5}, "where.metadata."),
        ({1: 2}, "where.1"),
        ({"speaker": {"like": "Z"}}, "where.speaker.like"),
        ({"speaker": {"$eq": "Z"}}, "where.speaker.$eq"),
        ({"speaker": {}}, "where.speaker"),
        ({"speaker": ["Zoe"]}, "where.speaker"),
        ({"speaker": 1.5}, "where.speaker"),
        ({"speaker": True}, "where.speaker"),
        ({"speaker": {"in": "Zoe"}}, "where.speaker.in"),
        ({"speaker": {"in": {"Zoe": 1}}}, "where.speaker.in"),
        ({"speaker": {"in": b"Zoe"}}, "where.speaker.in"),
        ({"speaker": {"in": ["Zoe", 1.5]}}, "where.speaker.in"),
        ({"speaker": {"contains": 5}}, "where.speaker.contains"),
        ({"speaker": {"exists": "yes"}}, "where.speaker.exists"),
        ({"speaker": {"gt": None}}, "where.speaker.gt"),
        ({"speaker": "\ud800"}, "where.speaker"),
        ({"speaker": {"contains": "\0"}}, "where.speaker.contains"),
        ({"speaker": 10**5_000}, "where.speaker"),
        ({"metadata.n": {"x": 1}}, "where.metadata.n.x"),
        ({"metadata.n": [1]}, "where.metadata.n"),
        ({"metadata.n": {"in": [[1]]}}, "where.metadata.n.in"),
        ({"metadata.n": {1, 2}}, "where.metadata.n"),
        ({"metadata.n": b"x"}, "where.metadata.n"),
        ({"metadata.n": math.nan}, "where.metadata.n"),
        ({"metadata.n": {"gt": math.inf}}, "where.metadata.n.gt"),
        ({"metadata.n": {"gt": 2**70}}, "where.metadata.n.gt"),
        ({"metadata.n": 10**400}, "where.metadata.n"),
        ({"metadata.n": {"gt": True}}, "where.metadata.n.gt"),
        ({"metadata.n": "a\0b"}, "where.metadata.n"),
        ({"metadata.\ud800": 1}, r"where.metadata.\ud800"),
        ({"said_at": "yesterday"}, "where.said_at"),
        ({"said_at": None}, "where.said_at"),
        ({"said_at": {"contains": "2024"}}, "where.said_at.contains"),
        ({"said_at": {"gt": True}}, "where.said_at.gt"),
        ({"said_at": {"in": "2024"}}, "where.said_at.in"),
        ({"and": []}, "where.and"),
        ({"and": {"speaker": "Zoe"}}, "where.and"),
        ({"or": "speaker"}, "where.or"),
        ({"or": [{"speaker": "Zoe"}, None]}, "where.or[1]"),
        ({"not": None}, "where.not"),
        ({"not": []}, "where.not"),
        ({"not": {}}, "where.not"),
        ({"or": [{"speaker": "x"}] * 201}, "where"),
        ({"speaker": {"in": ["x"] * 10_001}}, "where"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_asked_is_named(memory: Memory, where: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        memory.search("sail", user="crew", where=where)
    assert caught.value.field == field
    str(caught.value).encode()


def test_a_filter_without_a_bottom_is_refused(memory: Memory) -> None:
    where: dict[str, Any] = {"speaker": "Zoe"}
    for _ in range(2_000):
        where = {"not": where}
    with pytest.raises(InputError, match="deeper than 20"):
        memory.search("sail", user="crew", where=where)


@pytest.mark.parametrize("limit", [0, -1, 1_001, 10**30, True, 1.0, "10", None, math.nan], ids=repr)
def test_a_limit_that_is_none_is_refused(memory: Memory, limit: Any) -> None:
    for call in (memory.search, memory.context):
        with pytest.raises(InputError, match=r"^limit"):
            call("sail", user="crew", limit=limit)
    with pytest.raises(InputError, match=r"^limit"):
        memory.list(user="crew", limit=limit)


@pytest.mark.parametrize("budget", [0, -1, True, 1.0, "10", None], ids=repr)
def test_a_budget_that_is_none_is_refused(memory: Memory, budget: Any) -> None:
    with pytest.raises(InputError, match=r"^budget"):
        memory.context("sail", user="crew", budget=budget)


@pytest.mark.parametrize("limit", [1, 2, 5, 1_000])
def test_a_limit_is_a_limit(memory: Memory, limit: int) -> None:
    found = memory.search("note", user="ann", limit=limit)
    assert len(found) == min(limit, len(METADATA))
    assert [hit.id for hit in found] == [hit.id for hit in memory.search("note", user="ann", limit=1_000)][:limit]
    assert len(memory.list(user="ann", limit=limit)) == min(limit, len(METADATA))


def test_pages_of_a_list_hold_everything_once(memory: Memory) -> None:
    whole = [item.id for item in memory.list(user="ann", limit=1_000)]
    paged: list[str] = []
    while page := memory.list(user="ann", limit=3, after=paged[-1] if paged else None):
        paged.extend(item.id for item in page)
    assert paged == whole
    assert len(set(whole)) == len(METADATA)


@pytest.mark.parametrize("budget", [1, 8, 30, 100, 10**9])
def test_a_budget_is_never_exceeded(memory: Memory, budget: int) -> None:
    context = memory.context("note", user="ann", budget=budget)
    assert context.tokens <= budget
    assert (len(context.text) == 0) == (context.tokens == 0)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, True, "0.5", math.nan, math.inf], ids=repr)
def test_a_threshold_that_is_none_is_refused(memory: Memory, threshold: Any) -> None:
    with pytest.raises(InputError, match=r"^threshold"):
        memory.search("sail", user="crew", threshold=threshold)


def test_a_threshold_cuts_what_lies_below_and_counts_it(memory: Memory) -> None:
    free = memory.search("We sail on Monday.", user="crew", kinds="message")
    assert (len(free), free.cut) == (4, 0)
    nothing_cut = memory.search("We sail on Monday.", user="crew", kinds="message", threshold=0)
    assert ([hit.id for hit in nothing_cut], nothing_cut.cut) == ([hit.id for hit in free], 0)
    all_cut = memory.search("We sail on Monday.", user="crew", kinds="message", threshold=1)
    assert len(all_cut) + all_cut.cut == 4
    assert all(hit.score >= 1 for hit in all_cut)
    between = (free[0].score + free[1].score) / 2
    some_cut = memory.search("We sail on Monday.", user="crew", kinds="message", threshold=between)
    assert ([hit.id for hit in some_cut], some_cut.cut) == ([free[0].id], 3)
    assert all(0 <= hit.score <= 1 for hit in free)


@pytest.mark.parametrize(
    "kinds", ["", "memo", [], ["message", "x"], 5, b"message", [5], [None], {"message": 1}], ids=repr
)
def test_kinds_that_are_none_are_refused(memory: Memory, kinds: Any) -> None:
    for call in (memory.search, memory.context):
        with pytest.raises(InputError, match=r"^kinds"):
            call("sail", user="crew", kinds=kinds)
    with pytest.raises(InputError, match=r"^kinds"):
        memory.list(user="crew", kinds=kinds)


@pytest.mark.parametrize(
    "moment", ["", "x", "2024-13", True, 10**400, math.nan, [], "0001-01-01"], ids=lambda m: repr(m)[:20]
)
@pytest.mark.parametrize("field", ["as_of", "reference_time"])
def test_a_moment_that_is_none_is_refused(memory: Memory, field: str, moment: Any) -> None:
    with pytest.raises(InputError, match=rf"^{field}"):
        memory.search("sail", user="crew", **{field: moment})


@pytest.mark.parametrize(
    "question",
    [
        "what happened 100,000 years ago",
        "99999999 days ago",
        "in year 0",
        "0000-00-00",
        "31 February 2023",
        "13 July 2024",
        "in 999999999999999999999 months",
        "last century",
        "between 9000 and 99999",
        "before 0001-01-01",
        "ticket 9077, port 2019, 2000 tokens",
        "\u5341\u4e07\u5e74\u524d",
        "we me did do",
    ],
)
@pytest.mark.parametrize("reference", ["0002-01-01", "2024-02-29", "9998-12-31"])
def test_no_time_in_a_question_breaks_the_calendar(memory: Memory, question: str, reference: str) -> None:
    assert len(memory.search(f"sail {question}", user="crew", reference_time=reference, kinds="message")) == 4


@pytest.mark.parametrize("query", [None, 5, b"sail", ["sail"], {"query": "sail"}], ids=repr)
def test_a_query_that_is_no_text_is_refused(memory: Memory, query: Any) -> None:
    for call in (memory.search, memory.context, memory.ask):
        with pytest.raises(InputError):
            call(query, user="crew")


@pytest.mark.parametrize("timeout", [-1, True, "soon", math.nan, None], ids=repr)
def test_a_timeout_that_is_none_is_refused(memory: Memory, timeout: Any) -> None:
    with pytest.raises(InputError, match=r"^timeout"):
        memory.jobs.wait(user="crew", timeout=timeout)


def test_an_unknown_job_is_not_waited_for(memory: Memory) -> None:
    foreign = memory.jobs.list(user="crew")[0].id
    for job in ("nonsense", foreign):
        with pytest.raises(NotFoundError):
            memory.jobs.wait(job, user="ann")
