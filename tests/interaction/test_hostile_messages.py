"""Messages in every shape that chat APIs send: kept whole, or refused with the place that is wrong, all or none."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from mnemic import ConflictError, InputError, Memory, Message
from mnemic.errors import InputFaults
from mnemic.model.job import JobState
from mnemic.model.message import StoredMessage
from tests.services.opened import Clock, open_memory

pytestmark = pytest.mark.usefixtures("engine")

CALL = {"id": "call_1", "type": "function", "function": {"name": "find_flight", "arguments": '{"to": "Osaka"}'}}


@pytest.fixture(scope="module")
def memory(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with open_memory(tmp_path_factory.mktemp("messages")) as opened:
        yield opened


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    return (f"speaker-{number}" for number in itertools.count())


@pytest.fixture
def user(names: Iterator[str]) -> str:
    return next(names)


def stored(memory: Memory, user: str, **options: Any) -> list[StoredMessage]:
    found = memory.list(user=user, kinds="message", limit=1_000, **options)
    return [item for item in found if isinstance(item, StoredMessage)]


@pytest.mark.parametrize(
    "message, field",
    [
        (None, "messages[1]"),
        (5, "messages[1]"),
        ({"role": "user"}, "messages[1].content"),
        ({"content": None}, "messages[1].content"),
        ({"content": 5}, "messages[1].content"),
        ({"content": {"type": "text", "text": "one"}}, "messages[1].content"),
        ({"content": b"bytes"}, "messages[1].content"),
        ({"content": [None]}, "messages[1].content[0]"),
        ({"content": ["a", {"text": "no type"}]}, "messages[1].content[1].type"),
        ({"content": [{"type": "hologram", "text": "x"}]}, "messages[1].content[0].type"),
        ({"content": [{"type": ["text"], "text": "x"}]}, "messages[1].content[0].type"),
        (
            {
                "content": [
                    {"type": "image_url", "image_url": {"url": ""}},
                    {"type": "text", "text": "an empty picture"},
                ]
            },
            "messages[1].content[0].image_url.url",
        ),
        ({"content": [{"type": "text"}]}, "messages[1].content[0].text"),
        ({"content": [{"type": "text", "text": None}]}, "messages[1].content[0].text"),
        ({"content": [{"type": "text", "text": 5}]}, "messages[1].content[0].text"),
        ({"content": [{"type": "image_url"}]}, "messages[1].content[0].image_url"),
        ({"content": [{"type": "image_url", "image_url": None}]}, "messages[1].content[0].image_url"),
        ({"content": [{"type": "input_audio"}]}, "messages[1].content[0].input_audio"),
        ({"content": [{"type": "tool_result"}]}, "messages[1].content[0].content"),
        ({"content": [{"type": "text", "text": "x", "more": {1, 2}}]}, "messages[1].content"),
        ({"content": [{"type": "text", "text": "x", "more": float("nan")}]}, "messages[1].content"),
        ({"role": "assistant", "content": None, "tool_calls": []}, "messages[1].content"),
        ({"role": "assistant", "content": None, "tool_calls": "find"}, "messages[1].tool_calls"),
        ({"role": "wizard", "content": "x"}, "messages[1].role"),
        ({"role": None, "content": "x"}, "messages[1].role"),
        ({"role": ["user"], "content": "x"}, "messages[1].role"),
        ({"content": "x", "timestamp": "2024-01-01"}, "messages[1].timestamp"),
        ({"content": "x", 5: "x"}, "messages[1].5"),
        ({"content": "x", "metadata": []}, "messages[1].metadata"),
        ({"content": "x", "metadata": "topic"}, "messages[1].metadata"),
        ({"content": "x", "metadata": {1: "x"}}, "messages[1].metadata"),
        ({"content": "x", "metadata": {"a": {1}}}, "messages[1].metadata"),
        ({"content": "x", "metadata": {"a": float("inf")}}, "messages[1].metadata"),
        ({"content": "x", "at": ""}, "messages[1].at"),
        ({"content": "x", "at": "yesterday"}, "messages[1].at"),
        ({"content": "x", "at": "2024-13-01"}, "messages[1].at"),
        ({"content": "x", "at": "2024-02-30"}, "messages[1].at"),
        ({"content": "x", "at": "0000-01-01"}, "messages[1].at"),
        ({"content": "x", "at": True}, "messages[1].at"),
        ({"content": "x", "at": 1_714_550_400_000}, "messages[1].at"),
        ({"content": "x", "at": 10**400}, "messages[1].at"),
        ({"content": "x", "at": float("nan")}, "messages[1].at"),
        ({"content": "x", "at": datetime.max.replace(tzinfo=UTC)}, "messages[1].at"),
        ({"content": "x", "at": datetime.min}, "messages[1].at"),  # noqa: DTZ901 - without a zone on purpose
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_broken_message_is_named_and_nothing_of_the_call_is_stored(memory: Memory, message: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        memory.add(["The first is fine.", message, "So is the last."], user="broken")
    assert caught.value.field == field
    assert not memory.list(user="broken")
    assert memory.sessions(user="broken") == ()


def test_all_faults_of_a_call_are_told_at_once(memory: Memory) -> None:
    with pytest.raises(InputFaults) as caught:
        memory.add([{"role": "wizard", "content": "x"}, "fine", {"content": None}], user="broken")
    assert [fault.field for fault in caught.value.faults] == ["messages[0].role", "messages[2].content"]


@pytest.mark.parametrize("given", [None, 5, True, b"x", object()], ids=lambda given: type(given).__name__)
def test_what_is_no_message_at_all_is_refused(memory: Memory, given: Any) -> None:
    with pytest.raises(InputError) as caught:
        memory.add(given, user="broken")
    assert caught.value.field == "messages"


@pytest.mark.parametrize(
    "message, words",
    [
        ("plain", "plain"),
        (Message("user", "a value of ours"), "value ours"),
        ({"content": ["one string", {"type": "text", "text": "one part"}]}, "string part"),
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "find_flight Osaka"),
        ({"role": "tool", "content": "JL123 at noon", "tool_call_id": "never called"}, "JL123 noon"),
        ({"role": "function", "content": "the old name of a tool"}, "old name tool"),
        ({"role": "system", "content": "Answer in rhymes."}, "rhymes"),
        ({"role": "developer", "content": "Be brief."}, "brief"),
        ({"role": "assistant", "content": "Nobody asked, but hello."}, "nobody hello"),
        ({"content": [{"type": "image_url", "image_url": {"url": "http://127.0.0.1/x.png"}, "caption": "a red kite"}]},
         "red kite"),
        ({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "weigh", "input": {"kg": 3}}]},
         "weigh kg"),
        ({"content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "3 kilos"}]}]},
         "kilos"),
        ({"content": "a sparse one", "name": None, "at": None, "id": None, "metadata": None}, "sparse"),
    ],
    ids=lambda value: ascii(value)[:40],
)  # fmt: skip
def test_every_shape_of_a_message_is_kept_and_found(memory: Memory, user: str, message: Any, words: str) -> None:
    added = memory.add(message, user=user, wait=True)
    assert added.stored == 1
    [kept] = stored(memory, user)
    content = message["content"] if isinstance(message, dict) else getattr(message, "content", message)
    beside = {}
    if isinstance(message, dict):
        beside = {name: message[name] for name in ("tool_calls", "tool_call_id") if name in message}
    assert kept.content == ({"content": content, **beside} if beside else content)
    hit = memory.search(words, user=user, kinds="message", explain=True)[0]
    assert hit.id == added.message_ids[0]
    assert hit.why is not None
    assert hit.why.channels["lexical"][1] > 0


def test_a_file_is_kept_and_found_by_its_name_and_its_bytes_stand_beside_the_message(memory: Memory, user: str) -> None:
    part = {"type": "file", "file": {"filename": "taxes-2024.pdf", "file_data": "JVBERi0="}}
    added = memory.add({"content": [part]}, user=user, wait=True)
    [kept] = stored(memory, user)
    blob = kept.content[0]["blob"]
    assert kept.content == [{"type": "file", "file": {"filename": "taxes-2024.pdf"}, "blob": blob}]
    assert (blob["media"], blob["size"]) == ("application/pdf", 5)
    assert memory.search("taxes", user=user, kinds="message")[0].id == added.message_ids[0]
    [attachment] = memory.attachments.list(added.message_ids[0], user=user)
    assert memory.attachments.file(attachment.id, user=user) == b"%PDF-"


def test_a_picture_without_words_is_a_message_too(memory: Memory, user: str) -> None:
    picture = {"content": [{"type": "image_url", "image_url": {"url": "http://127.0.0.1/cat.png"}}], "id": "pic"}
    added = memory.add(["Look at this.", picture, "Nice, is it not?"], user=user)
    assert (added.stored, added.skipped) == (3, ())
    assert stored(memory, user)[1].content == picture["content"]


@pytest.mark.parametrize("role", ["system", "assistant", "tool"])
def test_sessions_of_one_role_only_go_through_all_tiers(memory: Memory, user: str, role: str) -> None:
    memory.add([{"role": role, "content": f"Line {number} about gardens."} for number in range(40)], user=user)
    assert all(job.state is JobState.DONE for job in memory.jobs.wait(user=user))
    assert [message.position for message in stored(memory, user)] == list(range(40))
    stats = memory.stats(user=user)
    assert (stats.messages, sum(stats.memories.values())) == (40, 0)
    assert bool(stats.segments) is (role != "system"), "a system message is part of no page"


def test_all_of_a_call_or_nothing_is_stored_when_an_id_is_taken(memory: Memory, user: str) -> None:
    memory.add({"content": "the first", "id": "m1"}, user=user)
    with pytest.raises(ConflictError, match=r"messages\[1\]\.id"):
        memory.add(["another", {"content": "not the first", "id": "m1"}], user=user)
    with pytest.raises(ConflictError, match=r"messages\[2\]\.id"):
        memory.add([{"content": "a", "id": "m2"}, "between", {"content": "b", "id": "m2"}], user=user)
    assert [message.content for message in stored(memory, user)] == ["the first"]


@pytest.mark.parametrize(
    "content",
    ["plain", [{"type": "text", "text": "a part", "extra": (1, 2)}], "a pair \ud83d\ude00, a half \ud83d", ["a", "b"]],
    ids=ascii,
)  # fmt: skip
def test_the_same_message_again_is_stored_once_whatever_it_is_made_of(memory: Memory, user: str, content: Any) -> None:
    for message in ({"content": content, "id": "m"}, {"content": content, "at": "2024-05-01T10:00:00Z"}):
        first = memory.add(message, user=user, session="one")
        again = memory.add(message, user=user, session="one")
        assert (first.stored, again.stored, again.message_ids) == (1, 0, first.message_ids)
        assert (again.skipped[0].reason, again.job) == ("stored already", None)
        assert memory.add(message, user=user, session="two").stored == 1, "an id is unique in its session only"
    twice = memory.add([{"content": content, "id": "n"}] * 2, user=user, session="one")
    assert (twice.stored, twice.skipped[0].index, len(set(twice.message_ids))) == (1, 1, 1)


# --- time ----------------------------------------------------------------------------------------------------------


def test_an_import_of_old_history_keeps_the_times_that_were_said(memory: Memory, user: str) -> None:
    start = datetime(2023, 3, 1, 9, tzinfo=UTC)
    said = [{"content": f"Day {day} of the trek.", "at": start + timedelta(days=day)} for day in range(30)]
    memory.add(said, user=user, wait=True)
    kept = stored(memory, user)
    assert [message.said_at for message in kept] == [message["at"] for message in said]
    assert all(message.stored_at.year == 2026 for message in kept)
    assert [hit.said_at for hit in memory.search("day 17 of the trek", user=user, limit=1)] == [
        start + timedelta(days=17)
    ]
    stats = memory.stats(user=user)
    assert stats.latest_said == said[-1]["at"]
    assert all(warm.segment.ended_at <= start + timedelta(days=29) for warm in stats.segments)
    assert all(warm.recency < 0.01 for warm in stats.segments), "old topics are cold"
    assert [session.started_at for session in memory.sessions(user=user)] == [start]


@pytest.mark.parametrize(
    "given, utc",
    [
        ("1953-05-29T11:30:00+05:45", datetime(1953, 5, 29, 5, 45, tzinfo=UTC)),
        ("0002-01-02T00:00:00Z", datetime(2, 1, 2, tzinfo=UTC)),
        ("9998-12-30T23:59:59.999999Z", datetime(9998, 12, 30, 23, 59, 59, 999_999, tzinfo=UTC)),
        ("2500-07-04", datetime(2500, 7, 4, tzinfo=UTC)),
        (-86_400, datetime(1969, 12, 31, tzinfo=UTC)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1_714_550_400.25, datetime(2024, 5, 1, 8, 0, 0, 250_000, tzinfo=UTC)),
        ("20240501T080000Z", datetime(2024, 5, 1, 8, tzinfo=UTC)),
        (datetime(2024, 5, 1, 8, tzinfo=timezone(timedelta(hours=-23, minutes=-59, seconds=-7))),
         datetime(2024, 5, 2, 7, 59, 7, tzinfo=UTC)),
    ],
    ids=repr,
)  # fmt: skip
def test_any_moment_of_the_calendar_is_kept(memory: Memory, user: str, given: Any, utc: datetime) -> None:
    memory.add({"content": "It was then that I moved to Lima last week.", "at": given}, user=user, wait=True)
    assert stored(memory, user)[0].said_at == utc
    assert memory.search("when did I move?", user=user)[0].said_at is not None
    hour = timedelta(hours=1)
    assert len(memory.search("Lima", user=user, kinds="message", as_of=utc + hour)) == 1
    assert len(memory.search("Lima", user=user, kinds="message", as_of=utc - hour)) == 0
    assert len(memory.search("Lima", user=user, kinds="message", where={"said_at": {"eq": utc}})) == 1
    assert all(job.state is JobState.DONE for job in memory.jobs.list(user=user))


def test_a_time_without_a_zone_takes_that_of_the_settings_and_the_reply_says_so(tmp_path: Any) -> None:
    settings = {"timezone": "Asia/Kathmandu", "embedder": "hashing", "worker": False}
    with Memory(tmp_path, settings=settings) as memory:
        added = memory.add(
            [
                {"content": "without", "at": "2024-05-01T08:00:00"},
                {"content": "London", "at": "2024-05-01T08:00:00+01:00"},
                {"content": "Tokyo", "at": datetime(2024, 5, 1, 8, tzinfo=timezone(timedelta(hours=9)))},
            ],
            user="ann",
        )
        assert added.notes == ("times without a zone were read as Asia/Kathmandu",)
        said = [message.said_at for message in stored(memory, "ann")]
        assert [moment.utcoffset() for moment in said] == [
            timedelta(minutes=345),
            timedelta(hours=1),
            timedelta(hours=9),
        ]
        assert [moment.astimezone(UTC).hour for moment in said] == [2, 7, 23], "each where its clock stood"
        assert [moment.hour for moment in said] == [8, 8, 8], "as it was said"
        assert memory.add({"content": "zoned", "at": "2024-05-01T08:00:00Z"}, user="ann").notes == ()


def test_late_messages_keep_their_order_in_the_session_and_their_times_in_searches(memory: Memory, user: str) -> None:
    arrived = [
        ("I live in Rome now.", "2024-06-01"),
        ("I live in Oslo.", "2024-01-01"),
        ("It is hot here.", "2024-07-01"),
    ]
    for text, day in arrived:
        memory.add({"content": text, "at": f"{day}T12:00:00Z"}, user=user, session="late")
    memory.jobs.wait(user=user)
    kept = stored(memory, user)
    assert [(message.position, message.content) for message in kept] == [
        (number, text) for number, (text, _) in enumerate(arrived)
    ]
    assert [hit.text for hit in memory.search("live", user=user, kinds="message", as_of="2024-02-01")] == [
        "I live in Oslo."
    ]
    assert any("Rome" in hit.text for hit in memory.search("Where do I live?", user=user, kinds="memory"))
    past = memory.search("Where do I live?", user=user, kinds="memory", as_of="2024-02-01")
    assert not any("Rome" in hit.text for hit in past)
    [session] = memory.sessions(user=user)
    assert (session.started_at.month, session.ended_at.month, session.messages) == (1, 7, 3)
    context = memory.context("live hot", user=user, kinds="message").text
    assert context.index("Oslo") < context.index("Rome") < context.index("hot"), "told in the order of time"


def test_a_message_from_the_far_future_makes_no_other_session_quiet(tmp_path: Any) -> None:
    clock = Clock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    with open_memory(tmp_path, clock=clock) as memory:
        memory.add({"content": "Greetings.", "at": "2999-01-01"}, user="ann", session="prank")
        turns = [{"role": "user", "content": "I live in Bonn."}, {"role": "assistant", "content": "Good to know."}]
        memory.add(turns, user="ann", session="real", wait=True)
        assert memory.stats(user="ann").short_term == 2


@pytest.mark.parametrize(
    "name, meant",
    [("timestamp", "at"), ("created_at", "at"), ("text", "content"), ("speaker", "name"), ("message_id", "id")],
)
def test_a_field_under_another_systems_name_is_told_its_own(memory: Memory, name: str, meant: str) -> None:
    with pytest.raises(InputError, match=rf"messages\[0\]\.{name}.*did you mean `{meant}`\?"):
        memory.add({"role": "user", "content": "hi", name: "x"}, user="ann")
