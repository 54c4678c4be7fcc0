"""Pictures: what they are, small copies of them, and copies without what the camera wrote into them.

Pictures come from anywhere: an implementation keeps decoding them apart, within limits of memory and time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Examined:
    """What a picture is: pixels across and down (as it is shown, turned the way the camera was held), frames, format.

    `thumbnail` is a small copy (WebP), `shown` one of at most about 1,500 pixels (`shown_media`) for models to look at;
    neither has anything of what the camera wrote into it. `taken_at` and `place` (latitude, longitude) are that.
    """

    width: int
    height: int
    frames: int
    form: str
    thumbnail: bytes = field(repr=False)
    shown: bytes = field(repr=False)
    shown_media: str
    taken_at: datetime | None = None
    place: tuple[float, float] | None = None


class Pictures(Protocol):
    """Looks at pictures. Threads may share it."""

    def examine(self, picture: Path) -> Examined:
        """Return what a picture is, with small copies of it.

        Raises `ReadError` for what is none, is damaged, too large, or of a format that is not read here, and
        `InputError` when the package that does it is missing.
        """
        ...

    def plain(self, picture: Path) -> bytes:
        """Return a picture as PNG, with its pixels only. Raises as `examine` does."""
        ...
