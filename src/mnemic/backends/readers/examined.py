"""What a picture is, and small copies of it: inside the child, where a picture that is made to harm harms nobody else.

Copies have pixels only. They are turned the way the camera was held; transparency is put on white, colours of print and
deep greys become those of screens. Of an animation the first frame is taken.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemic.backends.readers.pictures import checked

if TYPE_CHECKING:
    from PIL.Image import Image

THUMBNAIL: Final = "thumbnail.webp"
SHOWN: Final = "shown.jpg"
PLAIN: Final = "plain.png"
"""The files that are written."""

_THUMBNAIL_SIDE: Final = 512  # pixels of the longer side
_SHOWN_SIDE: Final = 1_536  # enough to read the labels of a chart; servers scale down what is larger
_EXIF: Final = 0x8769
_GPS: Final = 0x8825
_TAKEN: Final = (0x9003, 0x9004, 0x0132)  # taken, digitised, changed: the first that is there
_OFFSET: Final = (0x9011, 0x9012, 0x9010)  # the zones of these
_MOMENT: Final = re.compile(r"(\d{4}):(\d\d):(\d\d)[ T](\d\d:\d\d:\d\d)")
_ZONE: Final = re.compile(r"[+-]\d\d:\d\d")


def examine(path: Path, folder: Path) -> dict[str, str]:
    """Write small copies of a picture into a folder; return what it is. Raises `ReadError`."""
    with checked(path) as picture:
        facts = {"format": str(picture.format or ""), "frames": str(getattr(picture, "n_frames", 1) or 1)}
        facts |= _of_camera(picture)
        upright = _upright(picture)
    facts |= {"width": str(upright.width), "height": str(upright.height)}
    shown = upright.copy()
    shown.thumbnail((_SHOWN_SIDE, _SHOWN_SIDE))
    shown.save(folder / SHOWN, "JPEG", quality=85)
    shown.thumbnail((_THUMBNAIL_SIDE, _THUMBNAIL_SIDE))
    shown.save(folder / THUMBNAIL, "WEBP", quality=80)
    return facts


def plain(path: Path, folder: Path) -> dict[str, str]:
    """Write a picture's pixels into a folder, as PNG. Raises `ReadError`."""
    with checked(path) as picture:
        _upright(picture).save(folder / PLAIN, "PNG")
    return {}


def _upright(picture: Image) -> Image:
    """Return the pixels of a picture as they are seen: upright, red, green and blue, on white."""
    from PIL import Image as Pillow  # noqa: PLC0415 - the extra `vision`
    from PIL import ImageOps  # noqa: PLC0415

    turned = ImageOps.exif_transpose(picture)
    if turned.mode.startswith(("I", "F")):
        turned = _greys(turned)
    if turned.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in turned.info:
        seen = turned.convert("RGBA")
        ground = Pillow.new("RGBA", seen.size, "white")
        ground.alpha_composite(seen)
        turned = ground
    pixels = turned.convert("RGB")
    clean = Pillow.new("RGB", pixels.size)
    clean.paste(pixels)  # nothing but the pixels: no EXIF, no profile, no comment comes along
    return clean


def _greys(picture: Image) -> Image:
    """Return a picture of deep greys, 16 bits or more, as one of 8."""
    import numpy as np  # noqa: PLC0415
    from PIL import Image as Pillow  # noqa: PLC0415

    values = np.nan_to_num(np.asarray(picture, dtype=np.float64))
    most = 65_535.0 if picture.mode.startswith("I") else max(float(values.max(initial=0.0)), 1.0)
    return Pillow.fromarray((values.clip(0, most) / most * 255).astype(np.uint8))


def _of_camera(picture: Any) -> dict[str, str]:
    """Return when and where a picture was taken, as far as the camera wrote it; what is broken says nothing."""
    try:
        exif = picture.getexif()
        taken = _taken({**exif, **exif.get_ifd(_EXIF)})
        return taken | _place(exif.get_ifd(_GPS))
    except (OSError, ValueError, SyntaxError, KeyError, TypeError, ArithmeticError, AttributeError):
        return {}


def _taken(tags: Mapping[int, Any]) -> dict[str, str]:
    for moment, zone in zip(_TAKEN, _OFFSET, strict=True):
        if found := _MOMENT.match(str(tags.get(moment) or "").strip("\0 ")):
            offset = str(tags.get(zone) or "").strip("\0 ")
            told = f"{found[1]}-{found[2]}-{found[3]}T{found[4]}"
            return {"taken_at": told + (offset if _ZONE.fullmatch(offset) else "")}
    return {}


def _place(gps: Mapping[int, Any]) -> dict[str, str]:
    """Return degrees of latitude and longitude (EXIF 2.3, 4.6.6); north and east count up."""
    if not all(tag in gps for tag in (1, 2, 3, 4)):
        return {}
    latitude = _degrees(gps[2]) * (-1 if str(gps[1]).upper().startswith("S") else 1)
    longitude = _degrees(gps[4]) * (-1 if str(gps[3]).upper().startswith("W") else 1)
    if not (math.isfinite(latitude) and math.isfinite(longitude) and abs(latitude) <= 90 and abs(longitude) <= 180):
        return {}
    return {"latitude": f"{latitude:.6f}", "longitude": f"{longitude:.6f}"}


def _degrees(given: Any) -> float:
    parts = [float(each) for each in given]
    return math.fsum(part / 60**place for place, part in enumerate(parts))
