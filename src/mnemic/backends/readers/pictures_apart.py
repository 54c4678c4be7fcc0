"""`Pictures` in child processes: what comes from outside is decoded there, within limits of memory and time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from pathlib import Path

from mnemic.backends.readers.apart import Readers
from mnemic.backends.readers.examined import PLAIN, SHOWN, THUMBNAIL
from mnemic.errors import ReadError
from mnemic.ports.pictures import Examined


class PicturesApart:
    """Looks at pictures, each in a process of its own. Times without a zone are read in `zone`."""

    def __init__(self, readers: Readers, zone: tzinfo) -> None:
        self._readers = readers
        self._zone = zone

    def examine(self, picture: Path) -> Examined:
        """Return what a picture is, with small copies of it."""
        facts, made = self._readers.copies(picture, "copies")
        return Examined(
            width=int(facts["width"]),
            height=int(facts["height"]),
            frames=int(facts["frames"]),
            form=facts.get("format", ""),
            thumbnail=_made(made, THUMBNAIL),
            shown=_made(made, SHOWN),
            shown_media="image/jpeg",
            taken_at=self._taken(facts.get("taken_at", "")),
            place=_place(facts),
        )

    def plain(self, picture: Path) -> bytes:
        """Return a picture as PNG, with its pixels only."""
        return _made(self._readers.copies(picture, "plain")[1], PLAIN)

    def _taken(self, told: str) -> datetime | None:
        """Return when a picture was taken; None for what is no time, such as a clock that was never set."""
        try:
            moment = datetime.fromisoformat(told)
            zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=self._zone)
            zoned.timestamp()
        except (ValueError, OverflowError):
            return None
        return zoned if 1 < zoned.year < 9999 else None


def _made(made: Mapping[str, bytes], name: str) -> bytes:
    found = made.get(name, b"")
    if not found:
        raise ReadError("the picture cannot be read: no copy of it could be made")
    return found


def _place(facts: Mapping[str, str]) -> tuple[float, float] | None:
    if "latitude" not in facts or "longitude" not in facts:
        return None
    return float(facts["latitude"]), float(facts["longitude"])
