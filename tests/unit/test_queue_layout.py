"""Names of keys in Redis: what one command touches lies in one slot of a cluster, and stores do not share any."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.crc import key_slot

from mnemic.backends.queues.layout import Layout
from mnemic.errors import InputError
from mnemic.model.job import KINDS, LANES, Priority
from mnemic.ports.queue import Ticket

PREFIXES = st.from_regex(r"[A-Za-z0-9_.:/-]{1,20}", fullmatch=True)
SHARDS = st.integers(1, 64)


def keys_of(layout: Layout, shard: int) -> set[str]:
    """Return all keys that commands about a shard touch."""
    streams = {stream for lane in LANES for stream in layout.streams(shard, lane, KINDS)}
    return streams | {layout.epoch(shard)} | ({layout.doers(lane) for lane in LANES} if shard == 0 else set())


@given(PREFIXES, SHARDS)
def test_all_keys_of_a_shard_lie_in_one_slot_of_a_cluster(prefix: str, shards: int) -> None:
    layout = Layout(prefix, shards)
    for shard in range(shards):
        assert len({key_slot(key.encode()) for key in keys_of(layout, shard)}) == 1


def test_the_shards_of_a_store_lie_in_many_slots() -> None:
    layout = Layout("mnemic", 16)
    assert len({key_slot(layout.epoch(shard).encode()) for shard in range(16)}) == 16


@given(PREFIXES, PREFIXES)
def test_stores_with_different_prefixes_share_no_key(one: str, other: str) -> None:
    if one != other:
        keys = [
            {layout.dead, *(key for shard in range(layout.shards) for key in keys_of(layout, shard))}
            for layout in (Layout(one, 3), Layout(other, 3))
        ]
        assert not keys[0] & keys[1]


@given(st.integers(0, 1 << 62), st.sampled_from(LANES), st.sampled_from(Priority), st.sampled_from(sorted(KINDS)))
def test_a_ticket_is_read_as_it_was_sent(cube_key: int, lane: str, priority: Priority, kind: str) -> None:
    layout = Layout("a:b}:c".replace("}", ""), 16)
    ticket = Ticket(cube_key, "job", lane, int(priority), kind)
    stream = layout.stream_of(ticket)
    assert layout.ticket(stream, str(cube_key), "job") == ticket
    assert sum(stream in layout.streams(shard, lane, [kind]) for shard in range(16)) == 1


@pytest.mark.parametrize("prefix", ["", "a{b}", "a}", "two words", "new\nline", "é", "x" * 65])
def test_a_prefix_that_would_break_names_is_refused(prefix: str) -> None:
    with pytest.raises(InputError, match="redis_prefix"):
        Layout(prefix, 1)
