"""Pictures: the words in them (OCR), and what the file says of itself. Each frame of a TIFF is a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.ocr import OcrWords, rows_of
from mnemic.errors import ReadError
from mnemic.model.reading import BlockKind
from mnemic.model.seen import Line

if TYPE_CHECKING:
    from PIL.Image import Image

PIXELS: Final = 100_000_000
"""Pixels of a picture at most: 300 MB in memory."""
_CAMERA: Final = {
    271: "camera_maker",
    272: "camera",
    306: "modified",
    315: "author",
    270: "description",
    33432: "rights",
}
"""Tags of EXIF 2.3, by their numbers."""
_TAKEN: Final = 36867
_MOMENT: Final = re.compile(r"(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)")
_APART: Final = 0.9
"""Heights of a line that are between two paragraphs."""


def read(asked: Asked, telling: Telling) -> None:
    """Read a picture. Raises `ReadError` for one that is damaged or too large."""
    with checked(asked.path) as picture:
        telling.fact("width", picture.width)
        telling.fact("height", picture.height)
        telling.fact("format", picture.format)
        _tell_camera(telling, picture)
        frames = _frames(picture)
        if not asked.limits.ocr:
            telling.note("the words in it were not looked for: OCR is off (ocr)")
            return
        words = OcrWords()
        for number in range(1, frames + 1):
            if frames > 1:
                telling.at(number, frames)
                picture.seek(number - 1)
                _check(picture)
            tell_lines(telling, words.lines_of(picture), page=number if frames > 1 else None)
    if not telling.blocks:
        telling.note("no words were found in it")


def checked(path: Path) -> Image:
    """Open a picture that is within bounds. Raises `ReadError`."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - the extra `vision`

    Image.MAX_IMAGE_PIXELS = None  # ours is told in words
    try:
        picture = Image.open(path)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise ReadError("it is damaged, or a kind of picture that is not known") from error
    try:
        _check(picture)
        picture.load()
    except (OSError, ValueError, SyntaxError) as error:
        picture.close()
        raise ReadError("it is damaged or cut off: not all of the picture is there") from error
    except ReadError:
        picture.close()
        raise
    return picture


def tell_lines(telling: Telling, lines: Sequence[Line], *, page: int | None = None) -> None:
    """Tell lines of words as paragraphs: rows that are close belong together."""
    for rows in _paragraphs(rows_of(lines)):
        text = "\n".join("  ".join(line.text for line in row) for row in rows)
        telling.block(BlockKind.PARAGRAPH, text, page=page, seen=True)


def _check(picture: Image) -> None:
    if picture.width * picture.height > PIXELS:
        raise ReadError(
            f"it has {picture.width:,} by {picture.height:,} pixels, and {PIXELS // 1_000_000} million are the limit",
            limit="pixels",
        )


def _frames(picture: Image) -> int:
    """Return how many pages a picture has: frames of a TIFF; an animation is its first."""
    return int(getattr(picture, "n_frames", 1)) if picture.format == "TIFF" else 1


def _paragraphs(rows: Sequence[list[Line]]) -> Iterator[list[list[Line]]]:
    """Part rows where there is more room between them than a line is high, or where the next column begins."""
    gathered: list[list[Line]] = []
    for row in rows:
        if gathered:
            above, line = gathered[-1][0].box, row[0].box
            high = max(above[3] - above[1], line[3] - line[1])
            if line[1] - above[3] > _APART * high or line[1] < above[1]:
                yield gathered
                gathered = []
        gathered.append(row)
    if gathered:
        yield gathered


def _tell_camera(telling: Telling, picture: Any) -> None:
    try:
        exif = picture.getexif()
        taken = exif.get_ifd(0x8769).get(_TAKEN) or ""
    except (OSError, ValueError, SyntaxError, KeyError, TypeError):
        return  # what a camera wrote is often broken, and nothing depends on it
    if found := _MOMENT.fullmatch(str(taken).strip("\0 ")):
        telling.fact("created", f"{found[1]}-{found[2]}-{found[3]}T{found[4]}")
    for tag, name in _CAMERA.items():
        value = exif.get(tag)
        if isinstance(value, str):
            moment = _MOMENT.fullmatch(value.strip("\0 "))
            told = f"{moment[1]}-{moment[2]}-{moment[3]}T{moment[4]}" if moment else value
            telling.fact(name, told)
