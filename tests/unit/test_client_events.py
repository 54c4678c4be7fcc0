"""Server-sent events are taken apart the same however the bytes come in, and by the standard's ends of lines only."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.client.events import Event, Events

STREAM = (
    "\ufeff: a comment\r\n\r\n"
    "event: text\ndata: one\n\n"
    "id: 7\rdata: two\rdata:three\r\r"
    "data: a\u2028b\x85c\x0bd é 名前 👩\r\n\r\n"
    "data\n\n"
    "event: lost\n\n"
    "id: no\0id\nretry: 10\nfield: unknown\ndata:  space\n\n"
    ": the end is cut\ndata: never"
).encode()

EVENTS = [
    Event("text", "one"),
    Event("message", "two\nthree", "7"),
    Event("message", "a\u2028b\x85c\x0bd é 名前 👩", "7"),
    Event("message", "", "7"),
    Event("message", " space", "7"),
]


def fed(*chunks: bytes) -> list[Event]:
    events = Events()
    return [event for chunk in chunks for event in events.feed(chunk)]


def test_events_are_taken_apart() -> None:
    assert fed(STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=40))
def test_events_are_the_same_wherever_the_stream_is_cut(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    assert fed(*(STREAM[start:end] for start, end in pairwise(places))) == EVENTS


def test_events_are_the_same_byte_by_byte() -> None:
    assert fed(*(STREAM[place : place + 1] for place in range(len(STREAM)))) == EVENTS


def test_a_stream_that_is_cut_inside_an_event_is_open() -> None:
    events = Events()
    parts = (b"data: whole\n\n", b"data: half", b"\n")
    seen = [(len(list(events.feed(part))), events.is_open) for part in parts]
    assert seen == [(1, False), (0, True), (0, True)]


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(UnicodeDecodeError):
        fed(b"data: \xff\n\n")


def test_an_event_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.client.events.LONGEST", 1_000)
    many = [b"data: short\n\n"] * 1_000
    assert len(fed(*many)) == 1_000, "the limit is of one event"
    with pytest.raises(ValueError, match="more than"):
        fed(*[b"data: " + b"x" * 90] * 12)
