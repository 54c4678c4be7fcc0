"""Small pictures for tests, drawn when they are needed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from PIL.TiffImagePlugin import IFDRational

SECRET = "Canon-serial-4711"
LISBON = (38.7223, -9.1393)


def exif(*, orientation: int = 1, zone: str = "+01:00") -> bytes:
    """Return what a camera writes: its serial number, when and where it was, how it was held."""
    found = Image.Exif()
    found[0x010F] = SECRET
    found[0x0112] = orientation
    found.get_ifd(0x8769).update({0x9003: "2024:05:17 14:03:22", 0x9011: zone, 0xA431: SECRET})
    degrees = [_dms(abs(each)) for each in LISBON]
    found.get_ifd(0x8825).update({1: "N", 2: degrees[0], 3: "W", 4: degrees[1]})
    return found.tobytes()


def _dms(value: float) -> tuple[IFDRational, IFDRational, IFDRational]:
    minutes = value % 1 * 60
    return IFDRational(int(value)), IFDRational(int(minutes)), IFDRational(round(minutes % 1 * 60 * 100), 100)


def saved(picture: Image.Image, form: str = "PNG", **more: Any) -> bytes:
    """Return a picture as a file."""
    out = io.BytesIO()
    picture.save(out, form, **more)
    return out.getvalue()


def photo(form: str = "JPEG", *, size: tuple[int, int] = (64, 48), orientation: int = 1) -> bytes:
    """Return a photo with all that a camera writes into it; its left half is red."""
    picture = Image.new("RGB", size, "blue")
    picture.paste((255, 0, 0), (0, 0, size[0] // 2, size[1]))
    return saved(picture, form, exif=exif(orientation=orientation))


@cache
def chart() -> bytes:
    """Return a bar chart with a title, ticks at its left and quarters beneath it."""
    picture = Image.new("RGB", (640, 420), "white")
    draw = ImageDraw.Draw(picture)
    draw.text((200, 15), "Revenue by quarter", font=_font(26), fill="black")
    for number, tick in enumerate(("400", "300", "200", "100")):
        y = 80 + 70 * number
        draw.text((30, y), tick, font=_font(22), fill="black")
        draw.line((90, y + 12, 600, y + 12), fill="lightgrey")
    for number, (label, high) in enumerate((("Q1", 120), ("Q2", 210), ("Q3", 160), ("Q4", 270))):
        x = 130 + 120 * number
        draw.rectangle((x, 370 - high, x + 60, 370), fill="steelblue")
        draw.text((x + 14, 380), label, font=_font(22), fill="black")
    return saved(picture)


@cache
def screenshot() -> bytes:
    """Return a window with an error in it."""
    lines = ("Backup failed", "The disk Zephyr-9 is full.", "Free 12 GB and try again.")
    picture = Image.new("RGB", (560, 220), "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, 560, 44), fill="lightgrey")
    for number, line in enumerate(lines):
        draw.text((20, 8 + 62 * number), line, font=_font(26), fill="black")
    return saved(picture)


def animation() -> bytes:
    """Return a GIF of three frames with a comment in it."""
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("red", "green", "blue")]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=80, loop=0, comment=SECRET.encode())
    return out.getvalue()


def cmyk() -> bytes:
    """Return a JPEG in the colours of print."""
    return saved(Image.new("CMYK", (32, 24), (0, 255, 255, 0)), "JPEG")


def deep_grey() -> bytes:
    """Return a PNG with 16 bits for each grey."""
    return saved(Image.fromarray(np.full((24, 32), 40_000, dtype=np.uint16)))


def _font(size: int) -> Any:
    return ImageFont.load_default(size)


def words(lines: Sequence[str]) -> bytes:
    """Return a picture with lines of words."""
    picture = Image.new("RGB", (620, 30 + 50 * len(lines)), "white")
    draw = ImageDraw.Draw(picture)
    for number, line in enumerate(lines):
        draw.text((20, 12 + 50 * number), line, font=_font(26), fill="black")
    return saved(picture)
