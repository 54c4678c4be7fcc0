"""Messages with all that `describe` reads, in steps: pictures, one of them damaged, an address, a file, a recording."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory
from mnemic.model.seen import Utterance
from mnemic.testing.scripted_model import ScriptedModel
from tests.services.contents import Row
from tests.services.sensing import FakeFetcher, FakeHearing, png, sensing

_ADDRESS = "https://example.com/tulips"
_DOG = "A brown dog jumps over a fence."
_SEEN = {"description": _DOG, "text": "", "is_chart": False, "chart": {}}
_PARAGRAPHS = "\n\n".join(f"Boats come to harbour {number} and leave it again." for number in range(60))
_WAV = base64.b64encode(b"RIFF\0\0\0\0WAVE").decode()


def sensed(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let memories that are opened from now on read what `say_with_attachments` gives, always alike."""
    sensing(
        patch,
        vision=ScriptedModel(lambda _prompt: json.dumps(_SEEN)),
        hearing=FakeHearing([Utterance(0.0, 2.5, "Shall we meet in Faro?", "Ann")]),
        fetcher=FakeFetcher(folder, {_ADDRESS: (png("|Tulips"), "image/png")}),
    )


def say_with_attachments(memory: Memory) -> None:
    """Add the messages; nothing of what came with them is read yet."""
    contents: Sequence[Sequence[Any]] = (
        ["Look", {"type": "image", "bytes": png("|Gate B22"), "caption": "my ticket"}],
        [{"type": "image", "bytes": png("broken")}, {"type": "image", "url": _ADDRESS}],
        [{"type": "file", "bytes": _PARAGRAPHS.encode(), "name": "notes.txt"}],
        [{"type": "input_audio", "input_audio": {"data": _WAV, "format": "wav"}}],
    )
    memory.add([{"role": "user", "content": list(parts)} for parts in contents], user="ann")


def is_described(found: Sequence[Row]) -> bool:
    """Tell whether all of it is read, indexed with its messages, and its files are kept."""
    attachments = [row for row in found if row[0] == "attachment"]
    entries = [row for row in found if row[0] == "entry"]
    told = "\n".join(map(repr, attachments))
    return (
        sorted(str(row[6]) for row in attachments) == ["failed", *["ready"] * 4]
        and all(words in told for words in ("Gate B22", "Tulips", "harbour 59", "meet in Faro", "it is damaged"))
        and told.count(_DOG) == 2
        and sum(bool(row[3]) for row in entries) > 4
        and all(row[16] for row in entries)
    )
