"""Backups are whole, made while the store is in use, kept in number, and half ones are never there."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from mnemic import Memory, StoreError
from mnemic.api import backup, backups, move
from mnemic.config import load
from mnemic.ports.moving import RawReading, RawStore
from mnemic.services.backup import Backup
from mnemic.wiring.moving import backup_of, opened
from tests.services.opened import SteppedClock
from tests.services.stores import HASHING, answers, contents, fill, live

WHOLE = {"database file", "references", "full-text index"}
"""What a check-up says of a file, whatever work waits in it."""


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that is only read."""
    folder = tmp_path_factory.mktemp("lived")
    live(folder)
    return folder


def made_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def by(source: Path, folder: Path, clock: SteppedClock, *, keep: int = 7, target: Any = None) -> Backup:
    opening = target or (lambda draft: opened(str(draft), there=False))
    return Backup(
        partial(opened, str(source), there=True), opening, clock, folder=folder, keep=keep, version="0"
    )  # fmt: skip


@contextmanager
def by_rows(source: Path) -> Iterator[RawStore]:
    """A source that cannot be copied at once, as that of another engine cannot."""
    with opened(str(source), there=True) as store:
        real = store.read

        @contextmanager
        def read() -> Iterator[RawReading]:
            with real() as reading:
                reading.copy_into = lambda target: False  # type: ignore[method-assign]
                yield reading

        store.read = read  # type: ignore[method-assign]
        yield store


def test_a_backup_opens_as_the_memory_that_it_was(lived: Path, tmp_path: Path) -> None:
    kept = backup(tmp_path, settings={"home": str(lived)})
    assert (
        Path(kept.path).parent == tmp_path and kept.cubes == 3 and kept.rows == sum(map(len, contents(lived).values()))
    )
    assert made_in(Path(kept.path)) == ["backup.json", "mnemic.db"]
    assert contents(kept.path) == contents(lived)
    assert [each.path for each in backups(tmp_path)] == [kept.path]
    move(tmp_path / "restored", kept.path)
    assert contents(tmp_path / "restored") == contents(lived)
    assert answers(kept.path) == answers(lived)


def test_a_backup_made_row_by_row_is_the_same(lived: Path, tmp_path: Path) -> None:
    maker = by(lived, tmp_path, SteppedClock())
    maker._source = partial(by_rows, lived)
    assert contents(maker.make().path) == contents(lived)


def test_odd_rows_are_kept_as_they_are(tmp_path: Path) -> None:
    fill(tmp_path / "old", cubes=30, rows=60)
    kept = backup(tmp_path / "kept", settings={"home": str(tmp_path / "old")})
    assert contents(kept.path) == contents(tmp_path / "old")


def test_they_go_where_the_settings_say_and_the_newest_stay(lived: Path, tmp_path: Path) -> None:
    clock = SteppedClock()
    shutil.copytree(lived, tmp_path / "memory")
    settings = load(tmp_path / "memory", {"backup_keep": 2})
    (tmp_path / "memory" / "backups" / "mine").mkdir(parents=True)
    (tmp_path / "memory" / "backups" / "2020-01-01T00-00-00Z").mkdir()
    maker = backup_of(settings, clock=clock)
    told = [maker.run()]
    told.append(maker.run())
    clock.forward(timedelta(days=1))
    told.append(maker.run())
    names = ["2020-01-01T00-00-00Z", "2026-01-01T00-00-00Z-2", "2026-01-02T00-00-00Z", "mine"]
    assert made_in(tmp_path / "memory" / "backups") == names
    assert [Path(each.path).name for each in maker.kept()] == names[2:0:-1]
    assert "older removed" not in told[1] and told[2].endswith("; 1 older removed")
    assert backups(settings={"home": str(tmp_path / "nowhere")}) == []


def test_what_is_said_while_a_backup_is_made_is_in_it_whole_or_not_at_all(tmp_path: Path) -> None:
    live(tmp_path / "memory", users=2, messages=8)
    with Memory(tmp_path / "memory", settings={**HASHING, "worker": True}) as memory:
        done = threading.Event()
        added: list[str] = []

        def talk() -> None:
            while not done.is_set():
                added.append(memory.add(f"I live in Quito, {len(added)}.", user="user 0").message_ids[0])

        thread = threading.Thread(target=talk)
        thread.start()
        try:
            before = len(added)
            kept = [
                backup(tmp_path / f"kept{number}", settings={"home": str(tmp_path / "memory")}) for number in (1, 2)
            ]
        finally:
            done.set()
            thread.join(60)
    assert len(added) > before
    for each in kept:
        with Memory(each.path, settings=HASHING) as memory:
            assert all(well for what, well, _ in memory.check() if what in WHOLE)
        stored = {row[1] for row in contents(each.path)["message"]}
        whole = [name in stored for name in added]
        assert whole == sorted(whole, reverse=True), "what was said first is there, up to one moment"


@pytest.mark.parametrize("whole", [True, False])
def test_what_was_forgotten_does_not_come_back_in_a_backup(tmp_path: Path, whole: bool) -> None:
    live(tmp_path / "memory", users=1, messages=4)
    with Memory(tmp_path / "memory", settings={**HASHING, "worker": True}) as memory:
        memory.add("My password is xyzzyplugh, and I live in Atlantisburg.", user="user 0", session="secret", wait=True)
        before = backup(tmp_path / "before", settings={"home": str(tmp_path / "memory")})
        memory.forget(session="secret", user="user 0")
        maker = by(tmp_path / "memory", tmp_path / "after", SteppedClock())
        if not whole:
            maker._source = partial(by_rows, tmp_path / "memory")
        after = maker.make()
    for word in (b"xyzzyplugh", b"atlantisburg"):
        assert word in Path(before.path, "mnemic.db").read_bytes().lower()
        assert word not in Path(after.path, "mnemic.db").read_bytes().lower()


# -- when it cannot be -----------------------------------------------------------------------------------------------


@contextmanager
def on_a_full_disk(draft: Path) -> Iterator[RawStore]:
    with opened(str(draft), there=False) as store:
        engine = store._database.engine  # type: ignore[attr-defined]
        engine.dispose()
        event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count = 120").close())
        yield store


@pytest.mark.parametrize("whole", [True, False])
def test_a_full_disk_is_told_and_leaves_nothing(lived: Path, tmp_path: Path, whole: bool) -> None:
    first = by(lived, tmp_path, SteppedClock()).make()
    maker = by(lived, tmp_path, SteppedClock(), keep=1, target=on_a_full_disk)
    if not whole:
        maker._source = partial(by_rows, lived)
    with pytest.raises(StoreError, match="the disk is full"):
        maker.make()
    assert made_in(tmp_path) == [Path(first.path).name]


def test_a_folder_that_cannot_be_written_is_told(lived: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"no backup was made: .*/file/below cannot be written \(Not a directory\)"):
        backup(tmp_path / "file" / "below", settings={"home": str(lived)})
    with pytest.raises(StoreError, match="there is no memory in"):
        backup(tmp_path / "kept", settings={"home": str(tmp_path / "nowhere")})
    assert made_in(tmp_path / "kept") == []


def test_drafts_of_those_who_were_killed_go_when_nobody_writes_to_them(lived: Path, tmp_path: Path) -> None:
    clock = SteppedClock()
    for name, age in ((".old-1.part", timedelta(hours=13)), (".new-1.part", timedelta(hours=1))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mnemic.db").write_bytes(b"half")
        at = (clock.now() - age).timestamp()
        os.utime(tmp_path / name / "mnemic.db", (at, at))
        os.utime(tmp_path / name, (at, at))
    made = by(lived, tmp_path, clock).make()
    assert made_in(tmp_path) == [".new-1.part", Path(made.path).name]
    assert [each.path for each in by(lived, tmp_path, clock).kept()] == [made.path]


def test_a_receipt_that_cannot_be_read_is_no_backup(lived: Path, tmp_path: Path) -> None:
    made = by(lived, tmp_path, SteppedClock()).make()
    assert made.made_at == datetime(2026, 1, 1, tzinfo=UTC)
    for name, text in (("a", "{"), ("b", '{"made_at": 5}'), ("c", "[]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "backup.json").write_text(text)
    assert [each.path for each in backups(tmp_path)] == [made.path]


def test_backups_are_made_by_the_calendar(tmp_path: Path) -> None:
    clock = SteppedClock()
    settings = {
        **HASHING,
        "schedule_backup": "0 3 * * *",
        "schedule_upkeep": "",
        "backup_folder": str(tmp_path / "kept"),
    }
    with Memory(tmp_path / "memory", settings=settings, clock=clock) as memory:
        memory.add("I live in Porto.", user="ann")
        periodic = memory._parts.periodic
        assert periodic.run_due() == {} and backups(tmp_path / "kept") == []
        clock.forward(timedelta(days=1))
        told = periodic.run_due()["backup"]
        kept = backups(tmp_path / "kept")
        assert len(kept) == 1 and told.startswith(f"{kept[0].path}: {kept[0].rows:,} rows of 1 cube,")
        assert periodic.run_due() == {}
        shutil.rmtree(tmp_path / "kept")
        (tmp_path / "kept").write_text("in the way")
        clock.forward(timedelta(days=1))
        assert periodic.run_due()["backup"].startswith("failed: no backup was made: ")


def test_a_store_in_postgres_is_kept_in_a_folder(postgres: str, tmp_path: Path) -> None:
    live(postgres, users=2, messages=4)
    kept = backup(tmp_path / "kept", settings={"database_url": postgres, "home": str(tmp_path)})
    assert "mnemic:" not in kept.source and kept.source.startswith("postgresql://127.0.0.1:")
    assert contents(kept.path) == contents(postgres)
    assert answers(kept.path, users=2) == answers(postgres, users=2)
