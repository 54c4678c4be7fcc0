"""What attachments are read with in tests: nothing is started, and every call is on record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory
from mnemic.errors import FetchError, LanguageError, ModelError, ReadError
from mnemic.model.attachment import Attachment
from mnemic.model.reading import Block, BlockKind, Reading
from mnemic.model.seen import Line, Utterance
from mnemic.ports.fetch import Fetched
from mnemic.ports.llm import LanguageModel
from mnemic.ports.pictures import Examined
from mnemic.services.perceiving import Senses
from mnemic.wiring import media

PNG = b"\x89PNG\r\n\x1a\n"
TAKEN = datetime(2024, 5, 17, 14, 3, tzinfo=UTC)


def png(what: str) -> bytes:
    """Return what is taken for a picture that shows something."""
    return PNG + what.encode()


class FakePictures:
    """Looks at pictures that `png` made; those that show `broken` are damaged."""

    def __init__(self) -> None:
        self.looked = 0
        self.missing: Exception | None = None

    def examine(self, picture: Path) -> Examined:
        self.looked += 1
        if self.missing is not None:
            raise self.missing
        data = picture.read_bytes()
        if b"broken" in data:
            raise ReadError("the picture cannot be read: it is damaged")
        small = b"small " + data[-8:]
        return Examined(640, 480, 1, "PNG", small, b"shown" + data, "image/jpeg", TAKEN, (38.7, -9.1))

    def plain(self, picture: Path) -> bytes:
        return PNG + b"plain"


class FakeWords:
    """Finds the words that stand behind `|` in what `png` made."""

    name = "fake"

    def __init__(self) -> None:
        self.failing = False

    def lines(self, picture: Path) -> Sequence[Line]:
        if self.failing or not picture.exists():
            raise ModelError("no words were read from the picture: it went wrong")
        words = picture.read_bytes().decode("utf-8", "replace").split("|")[1:]
        return [Line(text, 0.9, (0.1, 0.1 * at, 0.9, 0.1 * at + 0.05)) for at, text in enumerate(words)]


class FakeReader:
    """Reads files of words; one that begins with `%` is damaged."""

    def read(self, path: Path, *, name: str, media: str = "", password: str = "", told: Any) -> Reading:
        text = path.read_bytes().decode()
        if text.startswith("%"):
            raise ReadError(f"{name}, page 3 cannot be read: it is damaged", page=3)
        blocks = [Block(BlockKind.PARAGRAPH, each) for each in text.split("\n\n")]
        return Reading(name, blocks, media or "text/plain", pages=2)


class FakeHearing:
    """Hears what a script says."""

    name = "ears"

    def __init__(self, heard: Sequence[Utterance | LanguageError]) -> None:
        self._heard = heard
        self.asked = 0

    def hear(self, sound: Path, media: str) -> Sequence[Utterance]:
        self.asked += 1
        for each in self._heard:
            if isinstance(each, LanguageError):
                raise each
        return [each for each in self._heard if isinstance(each, Utterance)]

    def close(self) -> None:
        """Nothing is open."""


class FakeFetcher:
    """Gives what a mapping holds; what it does not is not found."""

    def __init__(self, folder: Path, found: Mapping[str, tuple[bytes, str] | FetchError]) -> None:
        self._folder = folder
        self._found = found
        self.asked: list[str] = []

    def check(self, address: str) -> str:
        return address

    @contextmanager
    def fetch(self, address: str, *, etag: str = "", modified: str = "") -> Iterator[Fetched]:
        self.asked.append(address)
        found = self._found.get(address) or FetchError("not found (404)", address=address)
        if isinstance(found, FetchError):
            raise found
        path = self._folder / "fetched"
        path.write_bytes(found[0])
        yield Fetched(path, address, found[1], "a.png")
        path.unlink()


def sensing(
    monkeypatch: pytest.MonkeyPatch,
    *,
    vision: LanguageModel | None = None,
    hearing: FakeHearing | None = None,
    **senses: Any,
) -> Senses:
    """Let memories that are opened from now on read attachments with these; return them."""
    found = Senses(**{"pictures": FakePictures(), "words": FakeWords(), "reader": FakeReader(), **senses})
    given: Callable[[Any], Senses] = lambda _settings: found  # noqa: E731 - what stands in for a function
    monkeypatch.setattr(media, "senses_of", given)
    monkeypatch.setattr(media, "build_vision", lambda _settings: vision)
    monkeypatch.setattr(media, "build_hearing", lambda _settings: hearing)
    return found


def say(memory: Memory, *parts: Any, user: str = "ann", read: bool = True, **more: Any) -> str:
    """Add a message of parts; return its id, when all that came with it is read (unless it is not to be)."""
    added = memory.add([{"role": "user", "content": list(parts), **more}], user=user)
    if read:
        memory.jobs.wait(user=user)
    return added.message_ids[0]


def only(memory: Memory, message: str, user: str = "ann") -> Attachment:
    """Return the one attachment of a message."""
    found = memory.attachments.list(message, user=user)
    assert len(found) == 1
    return found[0]
