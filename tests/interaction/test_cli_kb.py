"""Knowledge bases from the command line: files, folders, addresses and texts go in, and what came of them is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic.model.document import Document, DocumentState, DocumentVersion, Locator, Origin
from mnemic.model.memory import Source
from mnemic.model.query import Hit
from mnemic.shells.cli import kb_documents, kb_waiting, showing_kb
from mnemic.shells.cli.showing import cited
from mnemic.testing.loopback import Answer, Loopback, Request
from tests.interaction.terminal import Terminal
from tests.unit.made_pdf import MadePage, made_pdf

NOW = datetime(2026, 5, 4, tzinfo=UTC)
TEXT = {"content-type": "text/plain"}


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    found = Terminal(tmp_path / "memory")
    assert found.type("kb", "create", "house").code == 0
    return found


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "old").mkdir(parents=True)
    (folder / "boiler.md").write_text("# Boiler\n\nThe boiler was serviced in May.\n")
    (folder / "old" / "roof.txt").write_text("The roof has eleven skylights.\n")
    (folder / ".hidden.txt").write_text("not this")
    return folder


def test_a_file_is_added_read_and_found_in_its_passages(terminal: Terminal, papers: Path) -> None:
    said = terminal.type("kb", "add", str(papers / "boiler.md"), "--meta", "room=cellar")
    assert said.code == 0, said.err
    assert "boiler.md" in said.out and "ready" in said.out
    shown = terminal.json("kb", "show", "boiler.md")
    assert shown["document"]["metadata"] == {"room": "cellar"}
    assert [each["number"] for each in shown["versions"]] == [1]
    chunks = terminal.json("kb", "chunks", "boiler.md", "--kind", "passage")
    assert "serviced in May" in chunks[0]["text"]
    assert "serviced in May" in terminal.type("kb", "chunks", "boiler.md").out


def test_answers_and_results_name_document_and_headings(terminal: Terminal, papers: Path) -> None:
    (papers / "stove.md").write_text("# Stove\n\nThe stove was serviced in June.\n")
    terminal.type("kb", "add", str(papers))
    assert "boiler.md, Boiler" in terminal.type("search", "When was the boiler serviced?").out
    said = terminal.type("ask", "When was the boiler serviced?")
    assert "boiler.md, Boiler" in said.out and "serviced in May" in said.out


def test_each_passage_that_is_cited_is_shown_with_its_place() -> None:
    places = [Locator("d", "guide.pdf", 1, page=page) for page in (3, 7)]
    hits = [
        Hit(
            f"chunk-{place.page}",
            "chunk",
            "words",
            0.9,
            NOW,
            "",
            "",
            "cube",
            (Source("", "words", NOW, locator=place),),
        )
        for place in places
    ]
    assert [str(source.locator) for source in cited(hits)] == ["guide.pdf, p. 3", "guide.pdf, p. 7"]


def test_what_fails_for_want_of_an_extra_is_told_once_with_what_to_do_then() -> None:
    version = DocumentVersion(
        "v", "d", 1, DocumentState.FAILED, NOW, error="a.pdf cannot be read: it needs pip install 'mnemic[documents]'"
    )
    document = Document("d", "c", 1, "a.pdf", Origin.FILE, "", NOW, version)
    told = [str(line) for line in showing_kb.failures([document])]
    assert told[0] == "a.pdf: cannot be read: it needs pip install 'mnemic[documents]'"
    assert "mnemic kb refresh" in told[1]


def test_the_same_file_again_is_nothing_new(terminal: Terminal, papers: Path) -> None:
    terminal.type("kb", "add", str(papers / "boiler.md"))
    said = terminal.type("kb", "add", str(papers / "boiler.md"))
    assert said.code == 0 and "nothing new: 1 there already" in said.out


def test_a_folder_and_a_text_from_stdin_are_added(terminal: Terminal, papers: Path) -> None:
    told = terminal.json("kb", "add", str(papers), "--kb", "house")
    assert sorted(each["name"] for each in told["documents"]) == ["boiler.md", "old/roof.txt"]
    assert told["skipped"] == [[".hidden.txt", "is hidden"]]
    assert terminal.type("kb", "add", "-", stdin="The key is under the pot.").code == 2
    said = terminal.type("kb", "add", "-", "--name", "notes", stdin="The key is under the pot.")
    assert said.code == 0
    names = [each["name"] for each in terminal.json("kb", "docs")]
    assert sorted(names) == ["boiler.md", "notes", "old/roof.txt"]


def test_a_document_that_cannot_be_read_is_told_with_its_reason_and_the_others_are_added(
    terminal: Terminal, papers: Path
) -> None:
    broken = papers / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nnothing more")
    said = terminal.type("kb", "add", str(broken), str(papers / "boiler.md"))
    assert said.code == 6
    assert "broken.pdf" in said.out and "failed" in said.out and "ready" in said.out
    reason = next(line for line in said.out.splitlines() if line.startswith("broken.pdf"))
    assert len(reason) > len("broken.pdf: ")
    failed = terminal.json("kb", "docs", "--state", "failed")
    assert [each["name"] for each in failed] == ["broken.pdf"] and failed[0]["latest"]["error"]
    again = terminal.type("kb", "refresh")
    assert again.code == 6 and "broken.pdf" in again.out


def test_a_locked_file_is_opened_with_a_password_that_is_asked_for_and_never_shown(
    terminal: Terminal, papers: Path
) -> None:
    locked = papers / "locked.pdf"
    locked.write_bytes(made_pdf([MadePage().text("The safe is behind the mirror.")], password="open sesame"))
    refused = terminal.type("kb", "add", str(locked))
    assert refused.code == 6 and "password" in refused.out
    said = terminal.type("kb", "add", str(locked), "--ask-password", stdin="open sesame\n")
    assert said.code == 0 and "ready" in said.out
    assert "sesame" not in said.out + said.err
    assert "behind the mirror" in terminal.type("kb", "chunks", "locked.pdf").out


def test_how_far_documents_are_is_shown_in_a_few_words() -> None:
    def at(state: DocumentState, **more: int) -> Document:
        latest = DocumentVersion("v", "d", 1, state, datetime(2026, 1, 1, tzinfo=UTC), **more)  # type: ignore[arg-type]
        return Document("d", "c", 1, "atlas.pdf", Origin.FILE, "", latest.stored_at, latest)

    reading = at(DocumentState.READING, pages=300, done_pages=12)
    assert kb_waiting._about([at(DocumentState.QUEUED), reading]) == "reading atlas.pdf, page 12 of 300"
    embedding = at(DocumentState.EMBEDDING, chunks=90, embedded=64)
    assert kb_waiting._about([embedding]) == "embedding atlas.pdf, 64 of 90 chunks"
    assert kb_waiting._about([at(DocumentState.QUEUED)]) == "queued"


def test_a_path_that_is_not_there_stops_none_of_the_others(terminal: Terminal, papers: Path) -> None:
    said = terminal.type("kb", "add", str(papers / "absent.pdf"), str(papers / "boiler.md"))
    assert said.code == 2
    assert "absent.pdf" in said.err and "boiler.md" in said.out


def test_a_knowledge_base_is_meant_by_its_name_its_id_or_because_there_is_only_one(terminal: Terminal) -> None:
    other = terminal.json("kb", "create", "garden", "--description", "beds and bulbs")
    assert [each["cube"]["name"] for each in terminal.json("kb", "list")] == ["house", "garden"]
    several = terminal.type("kb", "docs")
    assert several.code == 2 and "house" in several.err and "--kb" in several.err
    assert terminal.type("kb", "docs", "--kb", other["cube"]["id"]).code == 0
    assert "'attic'" in terminal.type("kb", "docs", "--kb", "attic").err
    assert terminal.json("kb", "rename", "garden", "orchard")["cube"]["name"] == "orchard"
    assert terminal.type("kb", "delete", "orchard").code == 2
    assert terminal.type("kb", "delete", "orchard", "--yes").code == 0
    assert terminal.type("kb", "docs").code == 0
    none = Terminal(terminal.home, user="eve").type("kb", "docs")
    assert none.code == 1 and "mnemic kb create" in none.err


def test_a_knowledge_base_is_bound_to_others_and_unbound(terminal: Terminal) -> None:
    assert terminal.json("kb", "bind", "house", "bo", "--role", "editor")["role"] == "editor"
    bo = Terminal(terminal.home, user="bo")
    assert [each["bound"] for each in bo.json("kb", "list")] == [True]
    assert bo.type("kb", "unbind", "house").code == 0
    assert [each["bound"] for each in bo.json("kb", "list")] == [False]


def test_a_document_is_removed_by_its_name(terminal: Terminal, papers: Path) -> None:
    terminal.type("kb", "add", str(papers))
    assert terminal.type("kb", "remove", "old/roof.txt").code == 0
    assert [each["name"] for each in terminal.json("kb", "docs")] == ["boiler.md"]
    gone = terminal.type("kb", "remove", "old/roof.txt")
    assert gone.code == 1 and "mnemic kb docs" in gone.err


def test_a_folder_is_kept_in_step(terminal: Terminal, papers: Path) -> None:
    assert "2 added" in terminal.type("kb", "sync", str(papers)).out
    (papers / "old" / "roof.txt").unlink()
    (papers / "boiler.md").write_text("# Boiler\n\nThe boiler was serviced in June.\n")
    (papers / "new.txt").write_text("The fence is green.")
    said = terminal.type("kb", "sync", str(papers))
    assert said.code == 0
    assert said.out.strip() == "1 added, 1 changed, 1 removed, 1 left out"
    assert ".hidden.txt is hidden" in said.err
    told = terminal.json("kb", "sync", str(papers))
    assert (told["added"], told["changed"], told["same"], told["removed"]) == ([], [], 2, [])
    assert terminal.type("kb", "sync", str(papers / "absent")).code == 2


def test_watching_ends_when_it_is_interrupted(
    terminal: Terminal, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> object:
        raise KeyboardInterrupt

    tell = kb_documents._tell_synced
    monkeypatch.setattr(kb_documents, "_tell_synced", lambda *given: (tell(*given), stop()))
    said = terminal.type("kb", "sync", str(papers), "--watch")
    assert said.code == 0
    assert "2 added" in said.out and "no longer watching" in said.err


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Loopback, list[Answer]]]:
    monkeypatch.setenv("MNEMIC_FETCH_PRIVATE", "127.0.0.0/8")
    answers = [Answer(raw=b"The pump is loud.", headers=TEXT)]

    def respond(_: Request) -> Answer:
        return answers[-1]

    server = Loopback(respond)
    server.start()
    yield server, answers
    server.stop()


def test_an_address_is_fetched_and_looked_at_again(terminal: Terminal, page: tuple[Loopback, list[Answer]]) -> None:
    server, answers = page
    address = f"http://127.0.0.1:{server.port}/pump.txt"
    said = terminal.type("kb", "add", address, "--refresh-hours", "24")
    assert said.code == 0 and "ready" in said.out, said.out + said.err
    assert "unchanged" in terminal.type("kb", "refresh", address).out
    answers.append(Answer(raw=b"The pump is quiet.", headers=TEXT))
    assert terminal.type("kb", "refresh", address).code == 0
    shown = terminal.json("kb", "show", address)
    assert [each["number"] for each in shown["versions"]] == [1, 2]
    assert shown["document"]["refresh"]["hours"] == 24
    answers.append(Answer(status=404, raw=b""))
    gone = terminal.type("kb", "refresh", address)
    assert "404" in gone.out
    assert terminal.json("kb", "show", address)["document"]["current"]["number"] == 2


def test_an_address_of_this_machine_is_refused(terminal: Terminal) -> None:
    said = terminal.type("kb", "add", "http://127.0.0.1:1/")
    assert said.code == 2 and "loopback" in said.err
    assert terminal.json("kb", "docs") == []
