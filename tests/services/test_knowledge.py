"""Documents of knowledge bases: added, read, searched, changed, found in the past, and removed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic import NotFoundError
from mnemic.model.document import ChunkKind, DocumentState
from mnemic.model.index import CHUNK, SECTION
from tests.services.opened import bytes_of
from tests.services.shelved import GUIDE, Shelf, shelf_in

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with shelf_in(tmp_path) as found:
        yield found


def test_what_is_added_is_stored_at_once_and_found_when_its_job_is_done(shelf: Shelf) -> None:
    queued = shelf.add(GUIDE, wait=False)
    assert (queued.state, queued.current, queued.latest.size) == (DocumentState.QUEUED, None, len(GUIDE))
    assert shelf.memory.knowledge.file(queued.id, cube=shelf.cube, user="ann") == GUIDE.encode()
    assert shelf.live() == []
    shelf.work()
    ready = shelf.get(queued)
    assert ready.state is DocumentState.READY
    assert ready.current == ready.latest
    assert shelf.live() == sorted(shelf.texts(ready))
    assert ready.latest.title == "Harbour guide"
    assert set(ready.latest.seconds) == {"queued", "reading", "chunking", "summing", "embedding", "publishing"}
    assert (ready.latest.chunks, ready.latest.embedded, ready.latest.reused) == (4, 4, 0)


def test_with_wait_a_document_is_ready_when_the_call_returns(shelf: Shelf) -> None:
    added = shelf.add(GUIDE)
    assert added.state is DocumentState.READY
    assert [each.locator.headings for each in shelf.memory.knowledge.chunks(added.id, cube=shelf.cube, user="ann")] == [
        ("Harbour guide",), ("Harbour guide",), ("Harbour guide", "Tides"), ("Harbour guide", "Boats"),
    ]  # fmt: skip


def test_search_reads_the_headings_with_the_text(shelf: Shelf) -> None:
    shelf.add(GUIDE)
    assert "Harbour guide > Tides\nHigh tide is at noon." in shelf.embedder.texts


def test_the_same_content_again_is_no_change(shelf: Shelf) -> None:
    added = shelf.add(GUIDE)
    embedded, reads = len(shelf.embedder.texts), len(shelf.reader.reads)
    again = shelf.add(GUIDE)
    assert (again.id, again.job, again.latest) == (added.id, None, added.latest)
    assert (len(shelf.embedder.texts), len(shelf.reader.reads)) == (embedded, reads)
    assert len(shelf.memory.knowledge.versions(added.id, cube=shelf.cube, user="ann")) == 1


def test_other_content_is_a_version_of_which_only_what_differs_is_embedded(shelf: Shelf) -> None:
    added = shelf.add(GUIDE)
    known = len(shelf.embedder.texts)
    changed = shelf.add(GUIDE.replace("at noon", "at midnight"))
    assert changed.id == added.id
    assert (changed.latest.number, changed.latest.reused) == (2, 2)
    assert [each for each in shelf.embedder.texts[known:] if "guide > " in each] == [
        "Harbour guide > Tides\nHigh tide is at midnight."
    ]
    assert shelf.live() == sorted(shelf.texts(changed))
    assert any("midnight" in each for each in shelf.live())
    assert not any("noon" in each for each in shelf.live())


def test_the_old_version_is_answered_from_until_the_new_one_is_ready(shelf: Shelf) -> None:
    shelf.add(GUIDE)
    before = shelf.live()
    changed = shelf.add(GUIDE.replace("at noon", "at midnight"), wait=False)
    assert changed.current is not None
    assert (changed.current.number, changed.latest.number) == (1, 2)
    shelf.embedder.away = 1
    assert shelf.memory._parts.worker.run_once()
    assert shelf.live() == before
    assert shelf.get(changed).state is DocumentState.EMBEDDING


def test_what_an_earlier_version_said_is_found_by_who_asks_about_that_time(shelf: Shelf) -> None:
    first = shelf.add(GUIDE)
    old = shelf.texts(first)
    moment = shelf.clock.now()
    shelf.clock.at += timedelta(days=1)
    second = shelf.add(GUIDE.replace("at noon", "at midnight"))
    assert shelf.as_of(first.id, moment) == sorted(old)
    assert shelf.as_of(first.id, shelf.clock.now()) == sorted(shelf.texts(second))
    assert shelf.texts(second, version=1) == old
    one, two = shelf.memory.knowledge.versions(first.id, cube=shelf.cube, user="ann")
    assert one.valid_to == two.valid_from
    assert two.valid_to is None


def test_a_passage_that_comes_back_is_found_then_and_now_but_not_between(shelf: Shelf) -> None:
    other = GUIDE.replace("High tide is at noon.", "Low tide is at six.")
    moments = []
    added = shelf.add(GUIDE)
    for text in (GUIDE, other, GUIDE):
        shelf.add(text)
        moments.append(shelf.clock.now())
        shelf.clock.at += timedelta(days=1)
    found = [any("at noon" in each for each in shelf.as_of(added.id, moment)) for moment in moments]
    assert found == [True, False, True]


def test_passages_are_neighbours_in_the_version_that_is_searched(shelf: Shelf) -> None:
    shelf.add(GUIDE)
    shelf.add(GUIDE.replace("## Tides", "## Wind\n\nThe wind is strong.\n\n## Tides"))
    view = shelf.view()
    at = next(at for at in range(len(view)) if view.live[at] and view.kind_names[view.kinds[at]] == CHUNK)
    while view.previous[at] >= 0:
        at = int(view.previous[at])
    told = []
    while at >= 0:
        assert view.live[at]
        told += shelf._texts([view.owners[at]])
        at = int(view.following[at])
    assert [each.split("\n")[0] for each in told] == ["Harbour guide", "Wind", "Tides", "Boats"]


def test_summaries_stand_above_passages_and_beside_nothing(shelf: Shelf) -> None:
    pages = "\f".join(f"Page {number} tells of boats. " * 30 for number in range(25))
    added = shelf.add(pages)
    chunks = shelf.memory.knowledge.chunks(added.id, cube=shelf.cube, user="ann", limit=1_000)
    kinds = [each.kind for each in chunks]
    assert kinds.count(ChunkKind.DOCUMENT) == 1
    assert kinds.count(ChunkKind.SECTION) == 3
    above = {each.id: each for each in chunks if each.kind in (ChunkKind.SECTION, ChunkKind.DOCUMENT)}
    assert all(each.parent in above for each in chunks if each.kind is not ChunkKind.DOCUMENT)
    assert {above[each.parent or ""].locator.page for each in chunks if each.kind is ChunkKind.PASSAGE} == {1, 11, 21}
    view = shelf.view()
    section = view.kind_names.index(SECTION)
    assert all(view.previous[at] < 0 for at in range(len(view)) if view.kinds[at] == section)
    assert added.latest.summary == next(each.text for each in chunks if each.kind is ChunkKind.DOCUMENT)


def test_chunks_come_in_pages_behind_a_position(shelf: Shelf) -> None:
    added = shelf.add("\f".join(f"Page {number}." for number in range(12)))
    found: list[Any] = []
    after = None
    while page := shelf.memory.knowledge.chunks(
        added.id, cube=shelf.cube, user="ann", kinds="passage", after=after, limit=5
    ):
        found += page
        after = page[-1].position
    assert [each.locator.page for each in found] == list(range(1, 13))


def test_a_file_that_cannot_be_read_fails_with_the_reason_and_the_page(shelf: Shelf) -> None:
    failed = shelf.add("One.\fTwo.\fBROKEN")
    assert failed.state is DocumentState.FAILED
    assert (failed.latest.error, failed.latest.error_page) == ("this page is damaged", 3)
    assert shelf.memory.jobs.list(user="ann", cube=shelf.cube)[0].state == "done", "a damaged file is no failed job"
    assert shelf.memory.knowledge.list(user="ann")[0].states == {DocumentState.FAILED: 1}
    assert shelf.memory.knowledge.documents(shelf.cube, user="ann", state="failed") == [failed]
    assert shelf.live() == []


def test_a_version_that_fails_leaves_the_one_before_as_it_was(shelf: Shelf) -> None:
    shelf.add(GUIDE)
    before = shelf.live()
    failed = shelf.add("One.\fBROKEN")
    assert failed.state is DocumentState.FAILED
    assert failed.current is not None
    assert failed.current.number == 1
    assert shelf.live() == before
    repaired = shelf.add(GUIDE + "\n\nRepaired.")
    assert (repaired.state, repaired.latest.number) == (DocumentState.READY, 3)


def test_what_may_pass_is_tried_again(shelf: Shelf) -> None:
    shelf.embedder.away = 2
    added = shelf.add(GUIDE, wait=False)
    for _ in range(3):
        assert shelf.memory._parts.worker.run_once()
        shelf.clock.at += timedelta(hours=1)
    ready = shelf.get(added)
    assert ready.state is DocumentState.READY
    assert len(shelf.reader.reads) == 1, "what was read is not read again for the embedder's sake"
    assert ready.latest.embedded == ready.latest.chunks


def test_what_never_passes_is_told_on_the_document_and_can_be_tried_again(shelf: Shelf) -> None:
    shelf.embedder.away = 5
    added = shelf.add(GUIDE, wait=False)
    for _ in range(5):
        assert shelf.memory._parts.worker.run_once()
        shelf.clock.at += timedelta(hours=1)
    failed = shelf.get(added)
    assert (failed.state, failed.latest.error) == (DocumentState.FAILED, "the server of the embedder is away")
    assert shelf.memory.jobs.list(user="ann", cube=shelf.cube)[0].state == "dead"
    again = shelf.memory.knowledge.refresh(added.id, cube=shelf.cube, user="ann", wait=True)
    assert (again.state, again.latest.number, again.latest.error) == (DocumentState.READY, 1, "")
    assert len(shelf.live()) == 3


def test_a_document_whose_job_was_cancelled_has_failed(shelf: Shelf) -> None:
    added = shelf.add(GUIDE, wait=False)
    shelf.memory.jobs.cancel(added.job or "", user="ann", cube=shelf.cube)
    assert (shelf.get(added).state, shelf.get(added).latest.error) == (DocumentState.FAILED, "its job was cancelled")
    assert shelf.add(GUIDE).state is DocumentState.READY


def test_a_newer_version_takes_the_place_of_one_that_was_not_ready(shelf: Shelf) -> None:
    first = shelf.add(GUIDE, wait=False)
    second = shelf.add(GUIDE + "\n\nMore.", wait=False)
    shelf.work()
    one, two = shelf.memory.knowledge.versions(first.id, cube=shelf.cube, user="ann")
    assert (one.state, one.error) == (DocumentState.FAILED, "replaced by version 2 before it was ready")
    assert two.state is DocumentState.READY
    assert shelf.live() == sorted(shelf.texts(second))


def test_a_password_is_used_once_and_kept_nowhere(shelf: Shelf, tmp_path: Path) -> None:
    failed = shelf.add("LOCKED\n\nThe secret harbour.")
    assert (failed.state, failed.latest.error) == (DocumentState.FAILED, "needs a password")
    opened = shelf.memory.knowledge.add(
        b"LOCKED\n\nThe secret harbour.", name="guide.txt", cube=shelf.cube, user="ann", password="sesame", wait=True
    )  # fmt: skip
    assert (opened.state, opened.latest.number) == (DocumentState.READY, 1)
    assert shelf.reader.reads[-1][2] == "sesame"
    assert "sesame" not in repr(shelf.memory.jobs.list(user="ann", cube=shelf.cube))
    shelf.memory.rebuild(user="ann", cube=shelf.cube, wait=True)  # what nobody can open again stays as it is
    again = shelf.memory.knowledge.get(opened.id, cube=shelf.cube, user="ann")
    assert (again.state, again.latest.number) == (DocumentState.READY, 1)
    shelf.memory.close()
    assert b"sesame" not in bytes_of(tmp_path / "memory")


def test_a_removed_document_is_gone_everywhere(shelf: Shelf, tmp_path: Path) -> None:
    kept = shelf.add("The lighthouse stays.", "other.txt")
    added = shelf.add("# Xyzzy\n\nThe word is plugh.")
    shelf.add("# Xyzzy\n\nThe word is plover.")
    receipt = shelf.memory.knowledge.remove(added.id, cube=shelf.cube, user="ann")
    assert receipt.removed["document"] == 1
    assert receipt.removed["document_version"] == 2
    assert receipt.removed["file"] == 2
    assert shelf.live() == ["The lighthouse stays."]
    with pytest.raises(NotFoundError):
        shelf.get(added)
    assert [each.id for each in shelf.memory.knowledge.documents(shelf.cube, user="ann")] == [kept.id]
    shelf.memory.close()
    found = bytes_of(tmp_path / "memory") + b"".join(
        path.read_bytes() for path in sorted((tmp_path / "memory").rglob("*")) if path.is_file()
    )
    assert not [word for word in (b"xyzzy", b"Xyzzy", b"plugh", b"plover") if word in found]


def test_removing_what_is_not_there_removes_nothing(shelf: Shelf) -> None:
    added = shelf.add(GUIDE)
    with pytest.raises(NotFoundError, match="no document 'nowhere'"):
        shelf.memory.knowledge.remove([added.id, "nowhere"], cube=shelf.cube, user="ann")
    assert shelf.get(added).state is DocumentState.READY


def test_a_document_removed_while_it_waits_is_not_read(shelf: Shelf) -> None:
    added = shelf.add(GUIDE, wait=False)
    shelf.memory.knowledge.remove(added.id, cube=shelf.cube, user="ann")
    shelf.work()
    assert shelf.reader.reads == []
    assert shelf.memory.jobs.list(user="ann", cube=shelf.cube)[0].state == "done"


def test_a_document_removed_while_it_is_read_leaves_nothing(shelf: Shelf) -> None:
    added = shelf.add("One.\fTwo.\fThree.", wait=False)

    def remove(page: int) -> None:
        if page == 2:
            shelf.memory.knowledge.remove(added.id, cube=shelf.cube, user="ann")

    shelf.reader.on_page = remove
    shelf.work()
    assert shelf.live() == []
    assert shelf.memory.knowledge.documents(shelf.cube, user="ann") == []
    assert shelf.memory.jobs.list(user="ann", cube=shelf.cube)[0].state == "done"


def test_two_users_with_the_same_file_share_nothing(shelf: Shelf) -> None:
    shelf.add(GUIDE)
    bobs = shelf.memory.knowledge.create("docs", user="bob")
    his = shelf.memory.knowledge.add(GUIDE.encode(), name="guide.txt", cube=bobs.cube.id, user="bob", wait=True)
    assert (his.state, his.latest.reused) == (DocumentState.READY, 0)
    with pytest.raises(NotFoundError):
        shelf.memory.knowledge.get(his.id, cube=shelf.cube, user="ann")
    with pytest.raises(NotFoundError):
        shelf.memory.knowledge.file(his.id, cube=bobs.cube.id, user="ann")
    shelf.memory.knowledge.remove(his.id, cube=bobs.cube.id, user="bob")
    assert shelf.memory.knowledge.documents(shelf.cube, user="ann")[0].state is DocumentState.READY
    assert len(shelf.live()) == 3


def test_a_document_without_text_is_ready_and_says_so(shelf: Shelf) -> None:
    added = shelf.add("\n\n \f\n")
    assert (added.state, added.latest.chunks) == (DocumentState.READY, 0)
    assert added.latest.notes == ("there is no text in it that could be read",)


def test_how_far_reading_is_can_be_seen(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr("mnemic.services.ingesting._TOLD", 0.0)
    added = shelf.add("One.\fTwo.\fThree.", wait=False)
    shelf.reader.on_page = lambda page: seen.append(
        (shelf.get(added).state.value, shelf.get(added).latest.done_pages, shelf.get(added).latest.pages)
    )
    shelf.work()
    assert seen == [("reading", 0, 0), ("reading", 1, 3), ("reading", 2, 3)]


# -- many ------------------------------------------------------------------------------------------------------------


def test_a_thousand_and_one_documents_are_taken_counted_and_listed(shelf: Shelf) -> None:
    for number in range(1_001):
        shelf.add(f"Document {number} tells of boat {number}.", f"{number:04}.txt", wait=False)
    for _ in range(20):  # all of them: `python -m bench.knowledge.many`
        assert shelf.memory._parts.worker.run_once()
    base = shelf.memory.knowledge.list(user="ann")[0]
    assert (base.documents, base.states) == (1_001, {DocumentState.READY: 20, DocumentState.QUEUED: 981})
    found: list[Any] = []
    after = None
    while page := shelf.memory.knowledge.documents(shelf.cube, user="ann", after=after, limit=400):
        found += page
        after = page[-1].id
    assert [each.name for each in found] == [f"{number:04}.txt" for number in range(1_001)]
    assert [each.state for each in found[:20]] == [DocumentState.READY] * 20, "they are read in the order they came"
