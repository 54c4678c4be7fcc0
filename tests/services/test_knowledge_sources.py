"""What documents come from and what is refused: files, names, limits, roles, and addresses that are fetched."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic import AccessError, InputError, Memory, NotFoundError
from mnemic.api import acting
from mnemic.errors import FetchError, TooLargeError
from mnemic.model.caller import LOCAL
from mnemic.model.document import DocumentState
from tests.services.shelved import GUIDE, Shelf, plain_reading, shelf_in

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with shelf_in(tmp_path) as found:
        yield found


# -- what is refused -------------------------------------------------------------------------------------------------


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("source", {}),
    ("text", {"source": b"x", "text": "y"}),
    ("source", {"source": b"", "name": "n"}),
    ("text", {"text": " ", "name": "n"}),
    ("text", {"text": 7, "name": "n"}),
    ("name", {"text": "words"}),
    ("name", {"source": b"bytes"}),
    ("name", {"source": b"bytes", "name": "a\nb"}),
    ("name", {"source": b"bytes", "name": "a\0b"}),
    ("name", {"source": b"bytes", "name": "x" * 513}),
    ("name", {"source": io.BytesIO(b"bytes")}),
    ("source", {"source": io.StringIO("text"), "name": "n"}),
    ("source", {"source": 7, "name": "n"}),
    ("source", {"source": "/nowhere/at/all.txt"}),
    ("source", {"source": "These are the words themselves."}),
    ("source", {"source": "ftp://example.com/a.txt"}),
    ("source", {"source": "file:///etc/passwd"}),
    ("source", {"source": "https://user@example.com/"}),
    ("media", {"source": b"x", "name": "n", "media": "pdf"}),
    ("password", {"source": b"x", "name": "n", "password": ""}),
    ("metadata", {"source": b"x", "name": "n", "metadata": [1]}),
    ("metadata", {"source": b"x", "name": "n", "metadata": {"a": float("nan")}}),
    ("refresh_hours", {"source": b"x", "name": "n", "refresh_hours": 2}),
    ("refresh_hours", {"source": "https://example.com/", "refresh_hours": 0}),
]


def test_what_cannot_be_added_is_refused_by_the_name_of_its_field(shelf: Shelf) -> None:
    for field, given in REFUSED:
        with pytest.raises(InputError) as refused:
            shelf.memory.knowledge.add(cube=shelf.cube, user="ann", **given)
        assert refused.value.field == field, given
    assert shelf.memory.knowledge.documents(shelf.cube, user="ann") == []


def test_a_folder_is_for_sync_and_a_device_is_no_file(shelf: Shelf, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        shelf.memory.knowledge.add(tmp_path, cube=shelf.cube, user="ann")
    with pytest.raises(InputError, match="is no regular file"):
        shelf.memory.knowledge.add("/dev/zero", cube=shelf.cube, user="ann")


def test_a_file_is_known_by_its_name_and_never_by_its_path(shelf: Shelf, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Tides come and go.")
    added = shelf.memory.knowledge.add(path, cube=shelf.cube, user="ann", wait=True)
    assert (added.name, added.address) == ("notes.txt", "")
    with path.open("rb") as opened:
        assert shelf.memory.knowledge.add(opened, cube=shelf.cube, user="ann").job is None


PATHS = ["../../etc/passwd", "/etc/passwd", "C:\\boot.ini", "a/b.txt", "%2e%2e%2f", "-rf", "."]


def test_a_name_that_looks_like_a_path_is_only_a_name(shelf: Shelf, tmp_path: Path) -> None:
    before = {path for path in tmp_path.rglob("*") if "memory" not in path.parts}
    for name in PATHS:
        added = shelf.add("Tides come and go.", name)
        assert (added.name, added.state) == (name, DocumentState.READY)
        assert shelf.memory.knowledge.file(added.id, cube=shelf.cube, user="ann") == b"Tides come and go."
    assert {path for path in tmp_path.rglob("*") if "memory" not in path.parts} == before
    assert not any("passwd" in path.name or "boot" in path.name for path in (tmp_path / "memory").rglob("*"))


def test_a_server_reads_no_paths(shelf: Shelf, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Tides come and go.")
    with acting(LOCAL), pytest.raises(InputError, match="a server reads no files of its own machine"):
        shelf.memory.knowledge.add(path, cube=shelf.cube, user="ann")
    with acting(LOCAL):
        assert shelf.memory.knowledge.add(b"Bytes.", name="b", cube=shelf.cube, user="ann").state == "queued"


def test_what_is_too_large_is_refused_with_the_limit(tmp_path: Path) -> None:
    with plain_reading(tmp_path), Memory(
        tmp_path / "memory", settings={"file_megabytes": 1, "worker": False, "embedder": "hashing"}
    ) as memory:  # fmt: skip
        cube = memory.knowledge.create("docs", user="ann").cube.id
        large = tmp_path / "large.bin"
        large.write_bytes(b"x" * 1_000_001)
        for source in (b"x" * 1_000_001, large, io.BytesIO(b"x" * 1_000_001)):
            with pytest.raises(TooLargeError, match=r"larger than 1 MB.*file_megabytes"):
                memory.knowledge.add(source, name="n", cube=cube, user="ann")
        assert memory.knowledge.add(b"x" * 1_000_000, name="n", cube=cube, user="ann").latest.size == 1_000_000


def test_documents_stand_in_knowledge_bases_only(shelf: Shelf) -> None:
    trip = shelf.memory.cubes.create("trip", user="ann")
    with pytest.raises(InputError, match="is no knowledge base"):
        shelf.memory.knowledge.add(b"x", name="n", cube=trip.id, user="ann")


def test_a_reader_looks_and_does_not_add(shelf: Shelf) -> None:
    added = shelf.add(GUIDE)
    shelf.memory.knowledge.bind(shelf.cube, "bob", user="ann")
    assert shelf.memory.knowledge.get(added.id, cube=shelf.cube, user="bob").name == "guide.txt"
    for refused in (
        lambda: shelf.memory.knowledge.add(b"x", name="n", cube=shelf.cube, user="bob"),
        lambda: shelf.memory.knowledge.remove(added.id, cube=shelf.cube, user="bob"),
        lambda: shelf.memory.knowledge.refresh(added.id, cube=shelf.cube, user="bob"),
        lambda: shelf.memory.knowledge.update(shelf.cube, user="bob", name="his"),
        lambda: shelf.memory.knowledge.delete(shelf.cube, user="bob"),
    ):
        with pytest.raises(AccessError):
            refused()
    with pytest.raises(NotFoundError):
        shelf.memory.knowledge.get(added.id, cube=shelf.cube, user="eve")


# -- addresses -------------------------------------------------------------------------------------------------------

PAGE = "https://example.com/tides.txt"


def test_an_address_is_fetched_by_its_job(shelf: Shelf) -> None:
    shelf.web.pages[PAGE] = b"Tides come and go."
    queued = shelf.memory.knowledge.add(PAGE, cube=shelf.cube, user="ann", refresh_hours=24)
    assert (queued.name, queued.address, queued.latest.digest) == (PAGE, PAGE, "")
    assert shelf.web.asked == []
    with pytest.raises(NotFoundError, match="not fetched yet"):
        shelf.memory.knowledge.file(queued.id, cube=shelf.cube, user="ann")
    shelf.work()
    ready = shelf.get(queued)
    assert (ready.state, ready.latest.media, ready.refresh.found) == (DocumentState.READY, "text/plain", "fetched")
    assert ready.refresh.due is not None
    assert ready.refresh.checked_at is not None
    assert ready.refresh.due - ready.refresh.checked_at == timedelta(hours=24)
    assert shelf.reader.reads[0][0] == "tides.txt"
    assert "fetching" in ready.latest.seconds


def test_an_address_that_has_not_changed_makes_no_version(shelf: Shelf) -> None:
    shelf.web.pages[PAGE] = b"Tides come and go."
    added = shelf.memory.knowledge.add(PAGE, cube=shelf.cube, user="ann", wait=True)
    looked = shelf.memory.knowledge.refresh(added.id, cube=shelf.cube, user="ann", wait=True)
    assert looked.latest == added.latest
    assert looked.refresh.found == "unchanged"
    assert shelf.web.asked == [(PAGE, ""), (PAGE, added.refresh.etag)]


def test_an_address_that_has_changed_makes_one(shelf: Shelf) -> None:
    shelf.web.pages[PAGE] = b"Tides come and go."
    added = shelf.memory.knowledge.add(PAGE, cube=shelf.cube, user="ann", wait=True)
    shelf.web.pages[PAGE] = b"Tides come, and stay."
    looked = shelf.memory.knowledge.add(PAGE, cube=shelf.cube, user="ann", wait=True)
    assert (looked.id, looked.latest.number, looked.state) == (added.id, 2, DocumentState.READY)
    assert shelf.live() == ["Tides come, and stay."]


def test_an_address_that_is_refused_fails_and_one_that_was_read_before_stays(shelf: Shelf) -> None:
    shelf.web.errors[PAGE] = FetchError("there is nothing there (404)", address=PAGE)
    failed = shelf.memory.knowledge.add(PAGE, cube=shelf.cube, user="ann", wait=True)
    assert (failed.state, failed.latest.error) == (DocumentState.FAILED, "there is nothing there (404)")
    del shelf.web.errors[PAGE]
    shelf.web.pages[PAGE] = b"Tides come and go."
    ready = shelf.memory.knowledge.refresh(failed.id, cube=shelf.cube, user="ann", wait=True)
    assert ready.state is DocumentState.READY
    shelf.web.errors[PAGE] = FetchError("there is nothing there (404)", address=PAGE)
    looked = shelf.memory.knowledge.refresh(failed.id, cube=shelf.cube, user="ann", wait=True)
    assert looked.state is DocumentState.READY
    assert looked.refresh.found == "there is nothing there (404); what was fetched before stays"
    assert shelf.live() == ["Tides come and go."]


def test_an_address_that_may_answer_later_is_asked_again(shelf: Shelf) -> None:
    shelf.web.errors[PAGE] = FetchError("it took too long", address=PAGE, passing=True)
    added = shelf.memory.knowledge.add(PAGE, cube=shelf.cube, user="ann")
    assert shelf.memory._parts.worker.run_once()
    assert shelf.get(added).state is DocumentState.READING
    del shelf.web.errors[PAGE]
    shelf.web.pages[PAGE] = b"Tides come and go."
    shelf.clock.at += timedelta(hours=1)
    shelf.work()
    assert shelf.get(added).state is DocumentState.READY
