"""Where what lies in Redis: the names of all keys, so that a cluster can spread them.

All keys of a shard share one hash tag, `{prefix:shard}`, and no command or script touches keys of two shards. Cubes are
spread over the shards of a cluster; one server has one shard, as all of its streams then stand in one call, which
reads them in the order of arrival whatever they are about.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.errors import InputError
from mnemic.model.job import Priority
from mnemic.model.sharding import shard_of
from mnemic.ports.queue import Ticket

GROUP: Final = "workers"
"""The consumer group of every stream."""

_PREFIX: Final = re.compile(r"[\w.:/-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Layout:
    """The names of a store's keys. Stores that share a server have different prefixes."""

    prefix: str
    shards: int

    def __post_init__(self) -> None:
        if not _PREFIX.fullmatch(self.prefix):
            raise InputError("redis_prefix", "needs 1 to 64 letters, digits and . : / - _")

    def stream(self, shard: int, lane: str, priority: int, kind: str) -> str:
        """Return the name of a stream."""
        return f"{self._tag(shard)}:{lane}:{priority}:{kind}"

    def stream_of(self, ticket: Ticket) -> str:
        """Return the name of the stream that a ticket goes into."""
        shard = shard_of(ticket.cube_key, self.shards)
        return self.stream(shard, ticket.lane, ticket.priority, ticket.kind)

    def streams(
        self, shard: int, lane: str, kinds: Collection[str], order: Sequence[int] = tuple(Priority)
    ) -> list[str]:
        """Return a shard's streams of these kinds, one priority after the other."""
        return [self.stream(shard, lane, priority, kind) for priority in order for kind in sorted(kinds)]

    def ticket(self, stream: str, cube_key: str, job_id: str) -> Ticket:
        """Return the ticket that lay in a stream."""
        lane, priority, kind = stream.partition("}:")[2].split(":", 2)
        return Ticket(int(cube_key), job_id, lane, int(priority), kind)

    def epoch(self, shard: int) -> str:
        """Return the key that names the server process which holds a shard: when that is another one, all is gone."""
        return f"{self._tag(shard)}:epoch"

    def doers(self, lane: str) -> str:
        """Return the key that names those who work in a lane."""
        return f"{self._tag(0)}:doers:{lane}"

    @property
    def dead(self) -> str:
        """The stream of what ended dead."""
        return f"{self.prefix}:dead"

    def _tag(self, shard: int) -> str:
        return f"{{{self.prefix}:{shard}}}"
