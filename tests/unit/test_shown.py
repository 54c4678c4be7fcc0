"""What the library returns can be read when it is printed: one short line each, whatever it holds."""

from __future__ import annotations

from pathlib import Path

from tests.services.opened import open_memory, talk


def test_what_is_listed_prints_as_one_line_that_says_who_and_what(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, [("ann", "I live in Porto.")])
        memory.jobs.wait(user="ann")
        message, home = memory.list(user="ann")
        assert repr(message) == f"<StoredMessage {message.id} 2026-01-01 ann: 'I live in Porto.'>"
        assert repr(home) == f"<Memory {home.id} fact 2026-01-01 ann: 'ann lives in Porto.'>"
        (entry,) = memory.profile(user="ann")
        assert repr(entry) == "<ProfileEntry ann, Lives in: 'ann lives in Porto.' since 2026-01-01>"


def test_receipts_print_what_was_done_and_nothing_when_nothing_was(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        assert repr(memory.add("I live in Porto.", user="ann")) == "<Added 1 message to session 'default'>"
        assert repr(memory.forget(about="zebra", user="ann")) == "<Forgotten nothing>"
