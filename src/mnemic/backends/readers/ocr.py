"""The words in a picture, by RapidOCR: its models come in the wheel, nothing is fetched, one thread is used."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemic.errors import ModelError
from mnemic.model.seen import Line

if TYPE_CHECKING:
    from PIL.Image import Image

_SURE: Final = 0.5
"""Confidence below which a line is not told."""
_SENSIBLE: Final = 0.7
"""Confidence of all lines together, below which they may be upside down."""
_SIDE: Final = 2_000
"""Pixels of the longer side that are looked at; RapidOCR scales down what is larger."""
_GUTTER: Final = 0.02
"""Width of the empty strip between two columns, in shares of the picture."""
_BAND: Final = 1.5
"""Heights of a line that part what stands above from what stands below."""
_COLUMN: Final = 3
"""Lines that a column has at least: two side by side are a row."""
_DEPTH: Final = 12


class OcrWords:
    """`WordsInPictures` in this process; the models are loaded at the first picture. Raises `ModelError`."""

    name = "rapidocr"

    def __init__(self) -> None:
        self._engine: Any = None

    def lines(self, picture: Path) -> Sequence[Line]:
        """Return the lines of words in a file, in reading order."""
        from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - the extra `vision`

        try:
            with Image.open(picture) as opened:
                return self.lines_of(opened)
        except (UnidentifiedImageError, OSError, ValueError) as error:
            raise ModelError(f"the picture cannot be opened ({type(error).__name__})") from error

    def lines_of(self, picture: Image) -> Sequence[Line]:
        """Return the lines of words in a picture that is open, in reading order."""
        import numpy as np  # noqa: PLC0415 - with RapidOCR only
        from PIL import ImageOps  # noqa: PLC0415

        upright = ImageOps.exif_transpose(picture)
        if upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info:
            white = type(upright).convert(upright, "RGBA")
            ground = white.copy()
            ground.paste((255, 255, 255, 255), (0, 0, *white.size))
            ground.alpha_composite(white)
            upright = ground
        colours = upright.convert("RGB")
        colours.thumbnail((_SIDE, _SIDE))
        wide, high = colours.size
        pixels = np.ascontiguousarray(np.asarray(colours)[:, :, ::-1])  # blue first, as OpenCV has it
        try:
            found = self._found(pixels)
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"RapidOCR cannot read the picture ({type(error).__name__})") from error
        if found.boxes is None or found.txts is None:
            return []
        lines = []
        for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
            across, down = [float(x) / wide for x, _ in corners], [float(y) / high for _, y in corners]
            if text.strip() and score >= _SURE:
                box = (_share(min(across)), _share(min(down)), _share(max(across)), _share(max(down)))
                lines.append(Line(text.strip(), round(float(score), 3), box))
        return in_order(lines)

    def _found(self, pixels: Any) -> Any:
        """Look for words as if they were upright; when that makes no sense, for lines that are upside down too."""
        engine = self._load()
        found = engine(pixels, use_cls=False)
        if found.boxes is not None and (not found.scores or sum(found.scores) / len(found.scores) < _SENSIBLE):
            found = engine(pixels, use_cls=True)
        return found

    def _load(self) -> Any:
        if self._engine is None:
            import rapidocr  # noqa: PLC0415 - the extra `vision`, half a second

            logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)  # it tells its settings otherwise
            models = Path(rapidocr.__file__).with_name("models")
            paths = {part: next(models.glob(f"*_{part}_*.onnx"), None) for part in ("det", "cls", "rec")}
            params: dict[str, Any] = {
                "Global.log_level": "critical",
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
            for part, path in paths.items():
                if path is None:
                    raise ModelError(
                        f"this version of rapidocr carries no model for {part}: pip install 'mnemic[vision]'"
                    )
                params[f"{part.capitalize()}.model_path"] = str(path)  # one that is named is never fetched
            self._engine = rapidocr.RapidOCR(params=params)
        return self._engine


def in_order(lines: Iterable[Line]) -> list[Line]:
    """Return lines as they are read: bands from the top down, columns in a band from the left, rows in a column."""
    return _ordered(sorted(lines, key=lambda line: line.box[1]), 0)


def rows_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Return lines that follow each other at one height as rows, each from the left."""
    rows: list[list[Line]] = []
    for line in lines:
        if rows and _level(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.box[0]) for row in rows]


def _ordered(lines: list[Line], depth: int) -> list[Line]:
    if len(lines) < 2 or depth > _DEPTH:
        return lines
    if (cut := _gutter(lines)) is not None:
        left = [line for line in lines if line.box[2] <= cut]
        right = [line for line in lines if line.box[2] > cut]
        return _ordered(left, depth + 1) + _ordered(right, depth + 1)
    bands = _bands(lines)
    if len(bands) > 1:
        return [line for band in bands for line in _ordered(band, depth + 1)]
    by_middle = sorted(lines, key=lambda line: (line.box[1] + line.box[3]) / 2)
    return [line for row in rows_of(by_middle) for line in row]


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return where an empty strip parts two columns of several lines each; the first from the left."""
    edge = 0.0
    ordered = sorted(lines, key=lambda line: line.box[0])
    for at, line in enumerate(ordered):
        if at >= _COLUMN and line.box[0] - edge >= _GUTTER and len(ordered) - at >= _COLUMN:
            left, right = ordered[:at], ordered[at:]
            if _is_prose(left) and _is_prose(right):
                return (edge + line.box[0]) / 2
        edge = max(edge, line.box[2])
    return None


def _is_prose(lines: Sequence[Line]) -> bool:
    """Tell whether lines are a column of text and not of a table: they are long for their height."""
    wide = sum(line.box[2] - line.box[0] for line in lines) / len(lines)
    return wide > 0.15 and sum(len(line.text) for line in lines) / len(lines) > 15


def _bands(lines: Sequence[Line]) -> list[list[Line]]:
    """Part lines, ordered from the top, where there is much room between them."""
    usual = sorted(line.box[3] - line.box[1] for line in lines)[len(lines) // 2]
    bands: list[list[Line]] = []
    edge = -1.0
    for line in lines:
        if not bands or line.box[1] - edge > _BAND * usual:
            bands.append([])
        bands[-1].append(line)
        edge = max(edge, line.box[3])
    return bands


def _level(one: Line, other: Line) -> bool:
    """Tell whether two lines stand at one height: their middles are less than half of the lower one's height apart."""
    middle = abs((one.box[1] + one.box[3]) - (other.box[1] + other.box[3])) / 2
    return middle < 0.5 * min(one.box[3] - one.box[1], other.box[3] - other.box[1])


def _share(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 4)
