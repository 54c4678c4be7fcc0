"""`mnemic doctor` as who runs Mnemic reads it: each part, what is wrong with it, and what to do."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from mnemic import Memory
from mnemic.shells.cli.findings import KNOWN
from mnemic.testing.model_says import fails
from mnemic.testing.model_server import ModelServer
from mnemic.testing.redis_server import RedisCluster, RedisServer, waited_for
from tests.databases import databases
from tests.interaction.terminal import Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path / "memory")


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Any:
    def given(**values: object) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"MNEMIC_{name.upper()}", str(value))

    return given


def findings(terminal: Terminal, name: str | None = None) -> list[dict[str, Any]]:
    checks: list[dict[str, Any]] = terminal.type("doctor", "--json").json["checks"]
    return [check for check in checks if name in (None, check["name"])]


def test_every_finding_is_known_and_a_healthy_memory_has_none_to_look_at(terminal: Terminal) -> None:
    terminal.type("add", "I live in Leeds.")
    found = findings(terminal)
    assert {each["name"] for each in found} <= set(KNOWN)
    assert {"settings", "database file", "queue", "dead jobs", "due jobs", "leases", "periodic work", "memory"} <= {
        each["name"] for each in found
    }
    assert all(each["ok"] and not each["warns"] for each in found)


def test_settings_that_are_set_are_told_without_their_secrets(terminal: Terminal, settings: Any) -> None:
    settings(embed_api_key="sk-embedding", llm_base_url="http://ann:hunter2@127.0.0.1:9/v1", llm_model="m", llm="none")
    told = " ".join(each["told"] for each in findings(terminal, "settings"))
    assert "embedder=hashing" in told and "embed_api_key (set)" in told
    assert "llm is `none`: the model that is named is not asked" in told
    assert "hunter2" not in told and "sk-embedding" not in told


@pytest.mark.parametrize(
    "given, told",
    [
        ({"redis_shards": 8}, "redis_shards is set and not used: redis_url is not"),
        ({"vector_index": "memory"}, "vector_index is set and not used: database_url is not"),
        ({"embed_model": "e5"}, "embed_model is set and not used: embedder is not openai"),
        ({"metrics_port": 9464, "metrics_host": "0.0.0.0"}, "figures can be read by whoever reaches 0.0.0.0:9464"),
    ],
)
def test_settings_that_contradict_each_other_are_a_warning(
    terminal: Terminal, settings: Any, given: dict[str, object], told: str
) -> None:
    settings(**given)
    (warning,) = [each for each in findings(terminal, "settings") if each["warns"]]
    assert warning["ok"] and warning["told"] == told
    said = terminal.type("doctor")
    assert said.code == 0 and "look" in said.out and "→" in said.out


def test_a_settings_file_with_keys_that_others_can_read_is_told(terminal: Terminal) -> None:
    terminal.home.mkdir()
    file = terminal.home / "mnemic.toml"
    file.write_text("llm_api_key = 'sk-ours'\n")
    file.chmod(0o644)
    (found,) = findings(terminal, "settings file")
    assert found["warns"] and "llm_api_key" in found["told"] and "sk-ours" not in str(found)
    file.chmod(0o600)
    assert findings(terminal, "settings file") == []


def test_a_file_of_the_store_that_cannot_be_written_is_told(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.type("add", "I live in Leeds.")
    may = os.access  # whoever runs tests may be one who may do everything
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("mnemic.db") and may(path, mode))
    (found,) = findings(terminal, "folder")
    assert not found["ok"] and "mnemic.db cannot be written" in found["told"] and "chown" in found["advice"]


def test_backups_that_are_planned_need_a_folder(terminal: Terminal, settings: Any, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    settings(schedule_backup="0 3 * * *", backup_folder=blocked / "backups")
    (found,) = findings(terminal, "backups")
    assert not found["ok"] and terminal.type("doctor").code == 4


def test_a_server_of_language_models_is_reached_without_a_question(terminal: Terminal, settings: Any) -> None:
    with ModelServer(models=["some-model"]) as server:
        settings(llm="openai", llm_base_url=server.url, llm_model="some-model")
        (found,) = findings(terminal, "language model")
        assert found["ok"] and not found["warns"] and "answers, and was asked nothing" in found["told"]
        settings(llm_model="another")
        (found,) = findings(terminal, "language model")
        assert found["warns"] and "it has some-model" in found["told"]
        settings(llm="anthropic", llm_base_url=server.root, llm_model="some-model")
        assert "was asked nothing" in findings(terminal, "language model")[0]["told"]
        assert {asked.path.partition("?")[0] for asked in server.requests} == {"/v1/models"}


def test_a_server_that_refuses_the_key_is_wrong_and_one_that_is_away_a_warning(
    terminal: Terminal, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer() as server:
        settings(llm="openai", llm_base_url=server.url, llm_model="fake-model", llm_api_key="sk-wrong")
        monkeypatch.setattr(server._loopback, "respond", lambda _: fails(401, "no such key sk-wrong"))
        (found,) = findings(terminal, "language model")
        assert not found["ok"] and "401" in found["told"] and "sk-wrong" not in found["told"]
        assert terminal.type("doctor").code == 5
        monkeypatch.setattr(server._loopback, "respond", lambda _: fails(404, "no such route"))
        (found,) = findings(terminal, "language model")
        assert found["ok"] and not found["warns"] and "does not tell which models it has" in found["told"]
    (found,) = findings(terminal, "language model")
    assert found["ok"] and found["warns"] and "could not be reached" in found["told"]


def test_a_store_on_postgresql_tells_of_its_server(terminal: Terminal, settings: Any) -> None:
    with databases().fresh() as url:
        settings(database_url=url)
        terminal.type("add", "I live in Leeds.")
        found = {each["name"]: each for each in findings(terminal)}
    assert set(found) <= set(KNOWN)
    assert found["database server"]["ok"] and "PostgreSQL" in found["database server"]["told"]
    assert found["clock"]["ok"] and "beside this machine's" in found["clock"]["told"]
    assert found["pgvector"]["told"][0].isdigit()
    assert found["row-level checks"]["ok"] and not found["row-level checks"]["warns"]
    assert not found["durability"]["ok"], "the server of tests does not wait for disks, and the doctor sees it"
    assert "1 message" in found["memory"]["told"]


def test_a_redis_that_may_throw_streams_away_is_a_warning_and_one_that_is_gone_is_wrong(
    terminal: Terminal, settings: Any
) -> None:
    terminal.type("add", "I live in Leeds.")
    with RedisServer(settings=["--maxmemory-policy", "allkeys-lru"]) as redis:
        settings(redis_url=redis.url)
        found = {each["name"]: each for each in findings(terminal)}
        assert found["queue"]["ok"] and "Redis" in found["queue"]["told"]
        assert found["queue memory"]["warns"] and "allkeys-lru" in found["queue memory"]["told"]
        assert terminal.type("doctor").code == 0
    said = terminal.type("doctor")
    assert said.code == 4 and "MNEMIC_REDIS_URL" in said.out


def test_a_redis_that_is_nearly_full_or_could_not_save_is_a_warning(
    terminal: Terminal, settings: Any, tmp_path: Path
) -> None:
    terminal.type("add", "I live in Leeds.")
    disk = tmp_path / "disk"
    disk.mkdir()
    with RedisServer(settings=["--appendonly", "yes", "--dir", str(disk)]) as redis:
        settings(redis_url=redis.url)
        found = {each["name"]: each for each in findings(terminal)}
        assert "it keeps an append-only file" in found["queue"]["told"]
        assert "queue memory" not in found and "queue disk" not in found
        redis.say("CONFIG", "SET", "maxmemory", "1mb")
        (found_memory,) = findings(terminal, "queue memory")
        assert found_memory["warns"] and "of its limit is used" in found_memory["told"]
        redis.say("CONFIG", "SET", "maxmemory", "0")
        rmtree(disk)
        redis.say("BGSAVE")
        waited_for(lambda: "rdb_last_bgsave_status:err" in redis.say("INFO", "persistence"))
        (found_disk,) = findings(terminal, "queue disk")
        assert found_disk["warns"] and "stop-writes-on-bgsave-error" in found_disk["told"]


def test_processes_with_other_numbers_of_shards_are_found_in_a_cluster(terminal: Terminal, settings: Any) -> None:
    with RedisCluster() as cluster:
        settings(redis_url=cluster.url, redis_shards=4)
        with Memory(terminal.home, settings={"embedder": "hashing"}) as memory:
            memory.add("I live in Leeds.", user="ann", wait=True)
            waited_for(lambda: "mnemic:3" in "".join(node.say("KEYS", "*epoch") for node in cluster.nodes))
        assert findings(terminal, "queue shards") == []
        settings(redis_shards=2)
        (found,) = findings(terminal, "queue shards")
        assert found["warns"] and "redis_shards must be the same" in found["told"]
