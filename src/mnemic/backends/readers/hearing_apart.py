"""`Hearing` in child processes: Whisper run on this machine, with weights that came with the package."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from mnemic.backends.readers.apart import Readers
from mnemic.backends.readers.speech import NAME, WEIGHTS
from mnemic.model.seen import Utterance


class HearingApart:
    """Hears recordings, each in a process of its own. Raises `ReadError` for what is no sound."""

    name = NAME

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def hear(self, sound: Path, media: str) -> Sequence[Utterance]:
        """Return what is said, in order."""
        return self._readers.speech(sound)

    def close(self) -> None:
        """Nothing is kept open."""


def is_installed() -> bool:
    """Tell whether the packages of the extra `audio` are here."""
    return all(find_spec(name) is not None for name in ("faster_whisper", *WEIGHTS))
