"""What the documents, chunks, attachments and kept blobs of every `mnemic.ports.store.Store` must do.

Part of the contract of stores (`mnemic.testing.store_contract.CHECKS`). It relies on nothing but the ports.
"""
# ruff: noqa: D401, S101, S106 - a contract is made of asserts, and each docstring says what holds

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from typing import Final

from mnemic.errors import ConflictError
from mnemic.ids import content_hash, new_id
from mnemic.model.attachment import Attachment, AttachmentKind, AttachmentState
from mnemic.model.document import Chunk, ChunkKind, Document, DocumentState, DocumentVersion, Locator, Origin, Refresh
from mnemic.model.index import Entry
from mnemic.model.message import MessageRole, Page, StoredMessage
from mnemic.model.scope import Cube, CubeKind, Role
from mnemic.ports.blobs import Blob
from mnemic.ports.store import Store, Transaction

OpenStore = Callable[[], Store]

NOON: Final = datetime(2024, 5, 1, 12, tzinfo=UTC)
HOUR: Final = timedelta(hours=1)
_ODD: Final = "brackets {x}, \u2028, e\u0301, 'quotes' \" and a \\ backslash"


@contextmanager
def _writing(store: Store) -> Iterator[Transaction]:
    with store.write() as tx:
        tx.enter_all()
        yield tx


def _cube(tx: Transaction, owner: str = "ann", name: str = "shelf") -> Cube:
    made = tx.cubes.create(new_id(), name, CubeKind.KNOWLEDGE, owner, NOON)
    tx.cubes.touch(made.key)
    return made


def blob(words: str) -> Blob:
    """Return the blob of some words."""
    return Blob(sha256(words.encode()).hexdigest(), len(words))


def new_version(document_id: str, number: int = 1, **changed: object) -> DocumentVersion:
    """Return a version that is queued, but for what is changed."""
    made = DocumentVersion(new_id(), document_id, number, DocumentState.QUEUED, NOON)
    return replace(made, **changed)  # type: ignore[arg-type]  # of a version


def put(tx: Transaction, cube: Cube, name: str, *versions: DocumentVersion, **changed: object) -> Document:
    """Store a document with versions (default: one that is queued)."""
    document_id = new_id()
    latest = versions[-1] if versions else new_version(document_id)
    made = Document(document_id, cube.id, cube.key, name, Origin.FILE, "", NOON, latest)
    made = replace(made, **changed)  # type: ignore[arg-type]  # of a document
    tx.documents.put(made)
    for version in versions or (latest,):
        tx.documents.put_version(cube.key, replace(version, document_id=document_id))
    return tx.documents.get(cube.key, [document_id])[document_id]


def new_chunk(document: Document, text: str, position: int, kind: ChunkKind = ChunkKind.PASSAGE) -> Chunk:
    """Return a chunk of a document's latest version."""
    locator = Locator(document.id, document.name, document.latest.number, start=position, end=position + len(text))
    return Chunk(
        new_id(), document.cube_key, document.id, kind, text, content_hash(kind, text), len(text), position, locator
    )


def check_documents_come_back_whole(open_store: OpenStore) -> None:
    """What was put comes back as it was, found by id and by name; others' documents are not there."""
    with closing(open_store()) as store, _writing(store) as tx:
        cube, other = _cube(tx), _cube(tx, "ben")
        refresh = Refresh(6.5, NOON + HOUR, NOON, 'W/"a"', "Wed, 01 May 2024 12:00:00 GMT", "unchanged")
        made = put(
            tx, cube, f"a/b {_ODD}.pdf", origin=Origin.ADDRESS, address="https://example.com/?a=%20b",
            metadata={"a": [1, None, {"b": _ODD}]}, refresh=refresh, job="j1",
        )  # fmt: skip
        whole = replace(
            made.latest, digest="d" * 64, size=7_000_000_000, media="application/pdf", title=_ODD, summary="Two.",
            pages=3, done_pages=2, chunks=9, embedded=4, reused=1, valid_from=NOON, ready_at=NOON + HOUR,
            error=_ODD, error_page=2, seconds={"reading": 1.5}, metadata={"author": _ODD}, notes=("page 2", _ODD),
        )  # fmt: skip
        tx.documents.put_version(cube.key, whole)
        expected = replace(made, latest=whole)
        assert tx.documents.get(cube.key, [made.id, "x"]) == {made.id: expected}
        assert tx.documents.named(cube.key, made.name) == expected
        assert tx.documents.list(cube.key) == [expected]
        assert (expected.name, expected.refresh, expected.cube) == (f"a/b {_ODD}.pdf", refresh, cube.id)
        assert tx.documents.get(other.key, [made.id]) == {}
        assert tx.documents.named(other.key, made.name) is None
        assert tx.documents.named(cube.key, "a") is None
        taken = put(tx, cube, "taken")
        try:
            tx.documents.put(replace(made, name="taken"))
        except ConflictError:
            assert tx.documents.named(cube.key, "taken") == taken, "the transaction went on"
        else:
            raise AssertionError("two documents of one name")
        tx.documents.put(replace(made, name="renamed", job=None))
        assert tx.documents.named(cube.key, made.name) is None
        assert tx.documents.named(cube.key, "renamed") == replace(expected, name="renamed", job=None)


def check_versions_of_documents(open_store: OpenStore) -> None:
    """The current version is the newest that is ready and was not replaced; the latest is the one added last."""
    with closing(open_store()) as store, _writing(store) as tx:
        cube = _cube(tx)
        made = put(tx, cube, "a")
        assert made.current is None
        first = replace(made.latest, state=DocumentState.READY, valid_from=NOON, chunks=5, size=50)
        tx.documents.put_version(cube.key, first, password="never kept")
        assert tx.documents.password(cube.key, first.id) == "", "a password is kept of what is ready"
        second = new_version(made.id, 2, size=9)
        tx.documents.put_version(cube.key, second, password="s\u00e9same")
        found = tx.documents.get(cube.key, [made.id])[made.id]
        assert (found.current, found.latest, found.state) == (first, second, DocumentState.QUEUED)
        assert tx.documents.counts(cube.key) == ({DocumentState.QUEUED: 1}, 5, 50)
        tx.documents.put_version(cube.key, replace(second, state=DocumentState.READING))
        assert tx.documents.password(cube.key, second.id) == "s\u00e9same", "a step loses the password"
        tx.documents.put_version(cube.key, replace(second, state=DocumentState.FAILED))
        assert tx.documents.password(cube.key, second.id) == ""
        third = new_version(made.id, 3, state=DocumentState.READY, valid_from=NOON + HOUR, chunks=7, size=70)
        tx.documents.put_version(cube.key, replace(first, valid_to=NOON + HOUR))
        tx.documents.put_version(cube.key, third)
        found = tx.documents.get(cube.key, [made.id])[made.id]
        assert (found.current, found.latest) == (third, third)
        assert [each.number for each in tx.documents.versions(cube.key, made.id)] == [1, 2, 3]
        queued = put(tx, cube, "b")
        assert tx.documents.counts(cube.key) == ({DocumentState.READY: 1, DocumentState.QUEUED: 1}, 7, 70)
        names = [[each.name for each in tx.documents.list(cube.key, state=state)] for state in DocumentState]
        assert dict(zip(DocumentState, names, strict=True))[DocumentState.READY] == ["a"]
        assert sum(len(each) for each in names) == 2
        assert tx.documents.list(cube.key, after=made.id, limit=1) == [queued]
        assert tx.documents.list(cube.key, limit=1) == [found]


def check_addresses_that_are_due(open_store: OpenStore) -> None:
    """What is to be looked at again is told for all cubes, the longest due first."""
    with closing(open_store()) as store, _writing(store) as tx:
        cubes = [_cube(tx), _cube(tx, "ben")]
        late = put(tx, cubes[0], "late", refresh=Refresh(1, NOON))
        early = put(tx, cubes[1], "early", refresh=Refresh(1, NOON - HOUR))
        put(tx, cubes[1], "to come", refresh=Refresh(1, NOON + HOUR))
        put(tx, cubes[1], "never")
        assert tx.documents.due(NOON, 9) == [(cubes[1].key, early.id), (cubes[0].key, late.id)]
        assert tx.documents.due(NOON, 1) == [(cubes[1].key, early.id)]


def check_chunks_stand_in_versions(open_store: OpenStore) -> None:
    """What stands in two versions is one chunk with a place in each; what is asked for a moment is what held then."""
    with closing(open_store()) as store, _writing(store) as tx:
        cube = _cube(tx)
        made = put(tx, cube, "a", address="https://example.com/a")
        locator = Locator(
            made.id, "a", 1, ("One", _ODD), 3, 4, 17, "Sheet 1", 100, 120, address="https://example.com/a"
        )
        whole = replace(
            new_chunk(made, f"text {_ODD}", 0, ChunkKind.TABLE), locator=locator, parent="section", tokens=5
        )
        moved, gone = new_chunk(made, "moved", 1), new_chunk(made, "gone", 2)
        locator = replace(moved.locator, address=locator.address)
        moved, gone = replace(moved, locator=locator), replace(gone, locator=replace(locator, start=2, end=6))
        tx.chunks.add(made.latest.id, [whole, moved, gone])
        tx.chunks.add(made.latest.id, [whole])  # a step that is done twice
        assert tx.chunks.get(cube.key, [whole.id, "x"]) == {whole.id: whole}
        first = replace(made.latest, state=DocumentState.READY, valid_from=NOON, valid_to=NOON + HOUR)
        second = new_version(made.id, 2)
        for version in (first, second):
            tx.documents.put_version(cube.key, version)
        later = replace(moved, position=7, locator=replace(moved.locator, version=2, page=9))
        again = replace(new_chunk(made, "moved", 8), locator=replace(locator, version=2))
        tx.chunks.add(second.id, [later, again], known=[moved.id])
        assert tx.chunks.get(cube.key, [moved.id])[moved.id] == moved, "a version that is ready comes first"
        ready = replace(second, state=DocumentState.READY, valid_from=NOON + HOUR)
        tx.documents.put_version(cube.key, ready)
        assert tx.chunks.get(cube.key, [moved.id, gone.id]) == {moved.id: later, gone.id: gone}
        both = [moved.id, gone.id]
        assert tx.chunks.at(cube.key, both, NOON) == {moved.id: moved, gone.id: gone}
        assert tx.chunks.at(cube.key, both, NOON + HOUR) == {moved.id: later}, "a version holds up to its end"
        assert tx.chunks.at(cube.key, both, NOON - HOUR) == {}
        assert tx.chunks.hashes(cube.key, second.id) == {moved.hash: [moved.id, again.id]}
        assert tx.chunks.around(cube.key, second.id, [8, 7, 6]) == [later, again]
        assert tx.chunks.clear(cube.key, second.id) == [again.id], "what stands elsewhere too, stays"
        assert tx.chunks.get(cube.key, [moved.id, again.id]) == {moved.id: moved}
        other = _cube(tx, "ben")
        assert tx.chunks.get(other.key, [moved.id]) == {}
        assert tx.chunks.of_version(other.key, first.id) == []


def check_chunks_are_read_in_order(open_store: OpenStore) -> None:
    """Summaries stand before what they are about, outer ones first, and pages cut nothing that stands together."""
    with closing(open_store()) as store, _writing(store) as tx:
        cube = _cube(tx)
        made = put(tx, cube, "a")
        passages = [new_chunk(made, f"passage {number}", number) for number in range(5)]
        document = new_chunk(made, "whole", 0, ChunkKind.DOCUMENT)
        outer, inner = (
            replace(each, locator=replace(each.locator, headings=path))
            for each, path in (
                (new_chunk(made, "outer", 2, ChunkKind.SECTION), ("One",)),
                (new_chunk(made, "inner", 2, ChunkKind.SECTION), ("One", "Two")),
            )
        )
        tx.chunks.add(made.latest.id, [*reversed(passages), inner, outer, document])
        order = [document, *passages[:2], outer, inner, *passages[2:]]
        assert tx.chunks.of_version(cube.key, made.latest.id) == order
        read: list[Chunk] = []
        while some := tx.chunks.of_version(cube.key, made.latest.id, after=read[-1].position if read else -1, limit=2):
            read += some
        assert read == order, "pages leave something out"
        kinds = [ChunkKind.SECTION, ChunkKind.DOCUMENT]
        assert tx.chunks.of_version(cube.key, made.latest.id, kinds=kinds) == [document, outer, inner]
        assert tx.chunks.around(cube.key, made.latest.id, [0, 2]) == [passages[0], passages[2]]


def check_removed_documents_are_gone(open_store: OpenStore) -> None:
    """A document goes with its versions and chunks, counted; others stay; its blobs are marked."""
    with closing(open_store()) as store, _writing(store) as tx:
        cube = _cube(tx)
        kept, shared, lone = blob("kept"), blob("shared"), blob("lone")
        tx.blobs.note(cube.key, [kept, shared, lone], NOON)
        stays = put(tx, cube, "stays", new_version("", digest=kept.digest), new_version("", 2, digest=shared.digest))
        goes = put(tx, cube, "goes", new_version("", digest=shared.digest), new_version("", 2, digest=lone.digest))
        mine, its = new_chunk(stays, "a", 0), [new_chunk(goes, "a", 0), new_chunk(goes, "b", 1)]
        tx.chunks.add(stays.latest.id, [mine])
        tx.chunks.add(goes.latest.id, its)
        assert tx.blobs.doom(cube.key) == []
        assert tx.chunks.ids(cube.key, [goes.id, "x"]) == sorted(each.id for each in its)
        assert tx.documents.remove(cube.key, [goes.id, "x"]) == {"document": 1, "document_version": 2, "chunk": 2}
        assert tx.documents.list(cube.key) == [stays]
        assert tx.chunks.get(cube.key, [mine.id, *(each.id for each in its)]) == {mine.id: mine}
        assert tx.documents.versions(cube.key, goes.id) == []
        assert tx.blobs.doom(cube.key) == [lone.digest], (
            "what another version names is marked, or what none does is not"
        )


def check_blobs_are_kept_by_name(open_store: OpenStore) -> None:
    """A blob is kept while something names it; marks outlive transactions until the file is erased, or noted anew."""
    with closing(open_store()) as store:
        with _writing(store) as tx:
            cube, other = _cube(tx), _cube(tx, "ben")
            one, two = blob("one"), blob("and two")
            tx.blobs.note(cube.key, [one, two, one], NOON)
            tx.blobs.note(cube.key, [one], NOON + HOUR)
            tx.blobs.note(other.key, [one], NOON)
            assert (tx.blobs.size(cube.key), tx.blobs.count(cube.key)) == (10, 2)
            assert tx.blobs.every(cube.key) == {one.digest: 3, two.digest: 7}
            assert tx.blobs.known(cube.key, [one.digest, "x"]) == {one.digest}
            assert tx.blobs.cubes_with_doomed() == []
            assert tx.blobs.doom(cube.key) == sorted([one.digest, two.digest])
        with _writing(store) as tx:
            assert tx.blobs.cubes_with_doomed() == [(cube.key, cube.id)]
            assert (tx.blobs.size(cube.key), tx.blobs.count(cube.key), tx.blobs.every(cube.key)) == (0, 0, {})
            tx.cubes.touch(cube.key)
            tx.blobs.note(cube.key, [one], NOON)
            put(tx, cube, "a", new_version("", digest=one.digest))
            assert tx.blobs.doom(cube.key) == [two.digest]
            tx.blobs.drop(cube.key, [one.digest, two.digest])
            assert tx.blobs.known(cube.key, [one.digest, two.digest]) == {one.digest}, "only marked rows are dropped"
            assert tx.blobs.cubes_with_doomed() == []
            assert tx.blobs.known(other.key, [one.digest]) == {one.digest}


def check_attachments_come_back_whole(open_store: OpenStore) -> None:
    """What was put comes back as it was, by message in the order of its parts, and goes with its message."""
    with closing(open_store()) as store, _writing(store) as tx:
        cube = _cube(tx)
        first, second = _said(tx, cube), _said(tx, cube)
        photo, small = blob("photo"), blob("small")
        whole = Attachment(
            new_id(), first, cube.key, 2, AttachmentKind.IMAGE, AttachmentState.QUEUED, photo.digest, photo.size,
            "image/png", name=_ODD, caption=_ODD, text=_ODD, description=_ODD, seen={"title": _ODD, "axes": ["x"]},
            thumbnail=small.digest, taken_at=NOON.astimezone(timezone(timedelta(hours=2))), place=(-33.5, 151.25),
            error="",
        )  # fmt: skip
        plain = Attachment(
            new_id(), first, cube.key, 0, AttachmentKind.FILE, AttachmentState.SKIPPED, photo.digest, 5, "text/plain"
        )
        last = replace(whole, id=new_id(), message_id=second, part=0, taken_at=None, place=None, thumbnail="")
        tx.blobs.note(cube.key, [photo, small], NOON)
        tx.attachments.put([whole, plain, last])
        assert tx.attachments.of_messages(cube.key, [first, second, "x"]) == {first: [plain, whole], second: [last]}
        assert tx.attachments.get(cube.key, [whole.id, "x"]) == {whole.id: whole}
        assert tx.attachments.get(cube.key, [whole.id])[whole.id].taken_at.utcoffset() == timedelta(hours=2)  # type: ignore[union-attr]
        assert tx.attachments.waiting(cube.key, 9) == [whole, last]
        assert tx.attachments.waiting(cube.key, 1) == [whole]
        assert tx.attachments.waiting(cube.key, 9, AttachmentState.SKIPPED) == [plain]
        read = replace(whole, state=AttachmentState.READY, text="read")
        tx.attachments.put([read])
        assert tx.attachments.of_messages(cube.key, [first]) == {first: [plain, read]}
        assert tx.attachments.waiting(cube.key, 9) == [last]
        assert tx.blobs.doom(cube.key) == []
        tx.erasing.messages(cube.key, [first])
        assert tx.attachments.get(cube.key, [whole.id, plain.id, last.id]) == {last.id: last}
        assert tx.blobs.doom(cube.key) == [small.digest], "a thumbnail is kept by its attachment"


def check_bound_cubes(open_store: OpenStore) -> None:
    """A knowledge base is bound to its owner, and to whom it is bound; of several names, the highest role counts."""
    with closing(open_store()) as store, _writing(store) as tx:
        base, other = _cube(tx), _cube(tx, "ben")
        personal = tx.cubes.create(new_id(), "personal", CubeKind.PERSONAL, "ann", NOON)
        assert tx.cubes.bound(["ann"]) == [(base, Role.OWNER)]
        assert tx.cubes.list(["ann"]) == tx.cubes.list("ann") == [(base, Role.OWNER), (personal, Role.OWNER)]
        everybody = "p\x1f"
        assert not tx.cubes.set_bound(other.key, everybody, bound=True), "who has no role is bound"
        tx.cubes.set_member(other.key, everybody, Role.READER)
        tx.cubes.set_member(other.key, "ann", Role.EDITOR)
        assert tx.cubes.set_bound(other.key, everybody, bound=True)
        both = ("ann", everybody)
        assert tx.cubes.bound(both) == [(base, Role.OWNER), (other, Role.READER)]
        assert tx.cubes.get(both, other.id) == (other, Role.EDITOR)
        assert tx.cubes.get(everybody, other.id) == (other, Role.READER)
        assert tx.cubes.get(everybody, base.id) is None
        assert tx.cubes.list(both) == [(base, Role.OWNER), (other, Role.EDITOR), (personal, Role.OWNER)]
        assert tx.cubes.set_bound(base.key, "ann", bound=False)
        assert tx.cubes.bound(both) == [(other, Role.READER)]
        tx.cubes.set_member(other.key, everybody, None)
        assert tx.cubes.bound(both) == []


def check_what_is_told_of_cubes(open_store: OpenStore) -> None:
    """A cube is renamed and described; a name that its owner has already is refused."""
    with closing(open_store()) as store, _writing(store) as tx:
        base = _cube(tx)
        _cube(tx, name="taken")
        assert tx.cubes.described(base.key) == ("", False)
        tx.cubes.update(base.key, description=_ODD, learns=True)
        tx.cubes.update(base.key)
        tx.cubes.update(base.key, name="new")
        assert tx.cubes.described(base.key) == (_ODD, True)
        assert tx.cubes.find("ann", CubeKind.KNOWLEDGE, "new") == replace(base, name="new")
        try:
            tx.cubes.update(base.key, name="taken", learns=False)
        except ConflictError:
            assert tx.cubes.described(base.key) == (_ODD, True), "the transaction went on, nothing was changed"
        else:
            raise AssertionError("two cubes of one name")


def check_files_of_erased_cubes(open_store: OpenStore) -> None:
    """An erased cube that had files is noted until these are erased; one that is made again is no more."""
    with closing(open_store()) as store, _writing(store) as tx:
        base, other, bare = _cube(tx), _cube(tx, "ben"), _cube(tx, "cleo")
        for each in (base, other):
            tx.blobs.note(each.key, [blob("one")], NOON)
        put(tx, base, "a")
        gone = tx.cubes.delete(base.key, NOON)
        assert (gone["document"], gone["document_version"], gone["blob"]) == (1, 1, 1)
        tx.cubes.delete(other.key, NOON + HOUR)
        tx.cubes.delete(bare.key, NOON)
        assert tx.blobs.erased_cubes() == [(base.id, NOON), (other.id, NOON + HOUR)]
        tx.blobs.drop_erased(base.id)
        assert tx.blobs.erased_cubes() == [(other.id, NOON + HOUR)]
        tx.cubes.create(other.id, "again", CubeKind.KNOWLEDGE, "ben", NOON)
        assert tx.blobs.erased_cubes() == []


def _said(tx: Transaction, cube: Cube) -> str:
    """Store a message, return its id."""
    tail = tx.messages.tail(cube.key, "s", session_id=new_id(), at=NOON)
    at = 0 if tail.page is None else tail.page.position + 1
    page = Page(
        new_id(), cube.key, tail.session.id, at, "ann", replied=False, started_at=NOON, ended_at=NOON, messages=1
    )
    message = StoredMessage(
        id=new_id(), cube_key=cube.key, session_id=tail.session.id, session="s", page_id=page.id,
        position=tail.session.messages, role=MessageRole.USER, speaker="ann", content="Look!", text="Look!",
        said_at=NOON, stored_at=NOON,
    )  # fmt: skip
    counted = replace(tail.session, messages=tail.session.messages + 1)
    tx.messages.append([(message, f"new:{message.id}")], [page], counted)
    return message.id


def check_entries_are_placed_anew(open_store: OpenStore) -> None:
    """An entry gets another place and validity without its text or vector; views follow, other owners stay."""
    with closing(open_store()) as store:
        with _writing(store) as tx:
            cube = _cube(tx)
            entries = [
                Entry("chunk", new_id(), f"boat {number}", "", 5, None, session_id="v1", position=number, valid_to=5,
                      live=False)
                for number in range(3)
            ]  # fmt: skip
            tx.index.add(cube.key, tx.index.newest(cube.key)[0], entries)
        with store.read() as tx:
            tx.enter_all()
            first = tx.index.view(cube.key)
            assert not first.live.any()
        moved = [replace(entries[0], session_id="d", position=7, valid_to=None, live=True, text="", said_at=9)]
        with _writing(store) as tx:
            tx.index.place(cube.key, tx.cubes.touch(cube.key), moved)
            assert tx.index.indexed(cube.key, [entries[0].owner, "nobody"]) == {entries[0].owner}
        with store.read() as tx:
            tx.enter_all()
            view = tx.index.view(cube.key)
            places = {owner: at for at, owner in enumerate(view.owners)}
            at, rest = places[entries[0].owner], [places[each.owner] for each in entries[1:]]
            assert (view.live[at], view.positions[at], view.said_at[at]) == (True, 7, 5)
            assert view.session_ids[view.sessions[at]] == "d"
            assert view.valid_to[at] > 9
            assert [(bool(view.live[each]), int(view.valid_to[each])) for each in rest] == [(False, 5)] * 2
            assert sum(len(keys) for keys, _ in tx.index.postings(cube.key, ["boat"])) == 3
            assert not first.live.any(), "a view that was given out has changed"


CHECKS: Final[tuple[Callable[[OpenStore], None], ...]] = (
    check_documents_come_back_whole,
    check_versions_of_documents,
    check_addresses_that_are_due,
    check_chunks_stand_in_versions,
    check_chunks_are_read_in_order,
    check_removed_documents_are_gone,
    check_blobs_are_kept_by_name,
    check_attachments_come_back_whole,
    check_bound_cubes,
    check_what_is_told_of_cubes,
    check_files_of_erased_cubes,
    check_entries_are_placed_anew,
)
"""All checks; each needs an empty place."""
