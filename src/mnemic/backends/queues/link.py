"""The way to a Redis server or cluster: opening it, asking it, and telling its faults apart.

Two things can be wrong. It is away (`QueueError`): not reached, silent, not ready to serve; jobs go on without it. Or
it answers and its streams are gone (`Lost`): flushed, or another server in its place; they are made anew. Passwords
stand in the address only, and no message shows more of it than host, port and database.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from mnemic.backends.queues.layout import GROUP, Layout
from mnemic.backends.queues.scripts import SCRIPTS, Script
from mnemic.errors import InputError, QueueError

CONNECT: Final = 2.0
"""Seconds that a connection may take."""

ANSWER: Final = 3.0
"""Seconds that an answer may take, beyond those that were asked for."""

_OLDEST: Final = (6, 2)
_ACKNOWLEDGES_AND_DELETES: Final = (8, 2)  # Redis, not Valkey
_CONNECTIONS: Final = 1_000
_GONE: Final = (
    "NOGROUP",
    "NOSCRIPT",
    "UNBLOCKED",
    "No matching script",
    "no longer exists",
    "requires the key to exist",
)

Command = tuple[Any, ...]


class Lost(Exception):  # noqa: N818 - a signal, not a fault
    """The server answers, but what was in it is gone."""


class UnfitError(QueueError):
    """The server can never carry jobs: it is too old, or its address is wrong."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the queue's server is: its address, the first part of all its keys, and a cluster's shards."""

    url: str
    prefix: str = "mnemic"
    shards: int = 16


@dataclass(frozen=True, slots=True)
class Server:
    """What a server told of itself. `runs` names, shard by shard, the process that holds it.

    `full` is the share of its memory's limit that is used, 0 without a limit; `unsaved` that its last snapshot failed.
    """

    title: str
    cluster: bool
    acknowledges_and_deletes: bool
    evicts: str
    runs: Sequence[str] = ()
    full: float = 0.0
    appends: bool = False
    unsaved: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """An open way: a client for each shard, and where what lies."""

    server: Server
    layout: Layout
    clients: Sequence[Any]
    whole: Any

    @property
    def shards(self) -> range:
        """The numbers of the shards."""
        return range(self.layout.shards)

    @property
    def machines(self) -> Sequence[tuple[Any, Sequence[int]]]:
        """The machines: for each, its client and the shards that it holds."""
        held: dict[int, tuple[Any, list[int]]] = {}
        for shard, client in enumerate(self.clients):
            held.setdefault(id(client), (client, []))[1].append(shard)
        return list(held.values())

    def close(self) -> None:
        """Close connections that nobody uses; those in use end with their call: closed under it, they fail oddly."""
        for client, _ in self.machines:
            client.connection_pool.disconnect(inuse_connections=False)


class Link:
    """The way to the server. Threads share it; who meets a fault says so, and one thread opens it again."""

    def __init__(self, place: Place) -> None:
        self.name = _named(place.url)
        self._place = place
        self._layout = Layout(place.prefix, place.shards)
        self._opened: Opened | None = None
        self._lock = threading.Lock()
        if importlib.util.find_spec("redis") is None:
            raise QueueError("a queue on Redis needs the package redis: pip install 'mnemic[redis]'")

    @property
    def opened(self) -> Opened:
        """What is open. Raises `QueueError` when nothing is."""
        opened = self._opened
        if opened is None:
            raise QueueError(f"Redis at {self.name} is not connected")
        return opened

    def open(self) -> Opened:
        """Connect anew and look the server over. Raises `QueueError`; `UnfitError` for one that can never serve."""
        self.shut()
        with self.telling():
            opened = self._connected()
        with self._lock:
            self._opened = opened
        return opened

    def shut(self) -> None:
        """Close all connections."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def look(self) -> Server:
        """Ask the server about itself over a connection of its own."""
        with self.telling():
            client = self._client()
            try:
                return _looked_over(client, self.name)
            finally:
                client.close()

    def has_more_shards(self) -> bool:
        """Tell whether another process spreads a cluster's cubes over more shards than this one does."""
        from redis.cluster import RedisCluster  # noqa: PLC0415

        with self.telling():
            whole = RedisCluster.from_url(self._place.url, **_options())
            try:
                return bool(whole.exists(self._layout.epoch(self._layout.shards)))
            finally:
                whole.close()

    def ask(self, shard: int, *commands: Command) -> list[Any]:
        """Send commands to a shard's server at once; return the answers in order. Raises `QueueError` or `Lost`."""
        return self.ask_client(self.opened.clients[shard], *commands)

    def ask_all(self, of: Callable[[int], Iterable[Command]]) -> Mapping[int, list[Any]]:
        """Send each shard's commands, to each machine at once; return the answers by shard."""
        answers: dict[int, list[Any]] = {}
        for client, shards in self.opened.machines:
            commands = {shard: list(of(shard)) for shard in shards}
            found = iter(self.ask_client(client, *(each for mine in commands.values() for each in mine)))
            answers |= {shard: [next(found) for _ in mine] for shard, mine in commands.items()}
        return answers

    def ask_client(self, client: Any, *commands: Command) -> list[Any]:
        """As `ask`, through one client."""
        if not commands:
            return []
        with self.telling():
            if len(commands) == 1:
                return [client.execute_command(*commands[0])]
            with client.pipeline(transaction=False) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)
                answers = pipeline.execute(raise_on_error=False)
            for answer in answers:
                if isinstance(answer, Exception):
                    raise answer
            return list(answers)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Turn the library's errors into ours."""
        from redis.exceptions import RedisClusterException, RedisError, ResponseError  # noqa: PLC0415

        try:
            yield
        except ResponseError as error:
            if any(each in str(error) for each in _GONE):
                raise Lost(str(error)) from error
            raise self._away(f"refuses: {error}") from error
        except (RedisError, RedisClusterException, OSError) as error:
            raise self._away(f"is away: {error}") from error

    def _away(self, what: str) -> QueueError:
        return QueueError(f"Redis at {self.name} {what}")

    def _client(self) -> Any:
        from redis import Redis  # noqa: PLC0415 - an extra, and slow to import

        try:
            return Redis.from_url(self._place.url, **_options())
        except (TypeError, ValueError) as error:
            raise UnfitError(f"the address of Redis at {self.name} cannot be used: {error}") from error

    def _connected(self) -> Opened:
        client = self._client()
        try:
            server = _looked_over(client, self.name)
            if server.cluster:
                return self._spread(server)
            _load(client)
            return Opened(server, Layout(self._layout.prefix, 1), [client], client)
        except BaseException:
            client.close()
            raise

    def _spread(self, server: Server) -> Opened:
        """Return the way to a cluster: for each shard, the client of the machine that holds it."""
        from redis.cluster import RedisCluster  # noqa: PLC0415

        whole = RedisCluster.from_url(self._place.url, **_options())
        try:
            holder: Callable[[str], Any] = whole.get_node_from_key
            nodes = [holder(self._layout.epoch(shard)) for shard in range(self._layout.shards)]
            clients = {node.name: whole.get_redis_connection(node) for node in nodes}
            runs = {name: _looked_over(client, name).runs[0] for name, client in clients.items()}
            for client in clients.values():
                _load(client)
            spread = [clients[node.name] for node in nodes]
            return Opened(replace(server, runs=[runs[node.name] for node in nodes]), self._layout, spread, whole)
        except BaseException:
            whole.close()
            raise


def call(script: Script, keys: Sequence[str], *arguments: object) -> Command:
    """Return the command that runs a script, for the queue's group where it is the first argument."""
    return ("EVALSHA", script.sha, len(keys), *keys, *arguments)


def grouped(script: Script, keys: Sequence[str], *arguments: object) -> Command:
    """As `call`, with the group as the first argument."""
    return call(script, keys, GROUP, *arguments)


def _options() -> dict[str, Any]:
    """Return how connections are made: answers are awaited so long, and nothing is tried twice behind our back."""
    from redis.backoff import NoBackoff  # noqa: PLC0415 - an extra
    from redis.retry import Retry  # noqa: PLC0415

    return {
        "decode_responses": True,
        "protocol": 2,  # every server speaks it, and nothing comes unasked
        "retry": Retry(NoBackoff(), 0),
        "socket_connect_timeout": CONNECT,
        "socket_timeout": ANSWER,
        "max_connections": _CONNECTIONS,
    }


def _looked_over(client: Any, name: str) -> Server:
    """Return what a server tells of itself. Raises `UnfitError` for one that is too old."""
    told = {**client.info("server"), **client.info("memory"), **client.info("persistence")}
    version = str(told.get("redis_version", ""))
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    valkey = told.get("valkey_version")
    if numbers < _OLDEST:
        raise UnfitError(
            f"Redis at {name} is version {version or 'unknown'}, and 6.2 or newer is needed, or Valkey; update it, or"
            " leave `redis_url` empty: workers then ask the database",
            version=version,
        )
    return Server(
        title=f"Valkey {valkey}" if valkey else f"Redis {version}",
        cluster=told.get("redis_mode") == "cluster",
        acknowledges_and_deletes=valkey is None and numbers >= _ACKNOWLEDGES_AND_DELETES,
        evicts="" if str(told.get("maxmemory_policy", "")) == "noeviction" else str(told.get("maxmemory_policy", "")),
        runs=[str(told.get("run_id", ""))],
        full=int(told.get("used_memory", 0)) / most if (most := int(told.get("maxmemory", 0))) else 0.0,
        appends=bool(told.get("aof_enabled")),
        unsaved=str(told.get("rdb_last_bgsave_status", "ok")) != "ok",
    )


def _load(client: Any) -> None:
    with client.pipeline(transaction=False) as pipeline:
        for script in SCRIPTS:
            pipeline.execute_command("SCRIPT LOAD", script.text)
        pipeline.execute()


def _named(url: str) -> str:
    """Return host, port and database of an address. Raises `InputError` for one that cannot be used."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise InputError("redis_url", "is not an address such as redis://127.0.0.1:6379/0") from error
    if parts.scheme not in ("redis", "rediss", "unix"):
        raise InputError("redis_url", "starts with redis://, rediss:// or unix://, as in redis://127.0.0.1:6379/0")
    return _shown(parts)


def _shown(parts: SplitResult) -> str:
    if parts.scheme == "unix":
        return parts.path
    return f"{parts.hostname or 'localhost'}:{parts.port or 6379}/{parts.path.strip('/') or '0'}"
