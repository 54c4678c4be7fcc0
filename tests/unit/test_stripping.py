"""Pictures are shown without what cameras and programs wrote into them, and with every pixel as it was."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image, ImageOps, PngImagePlugin

from mnemic.core.stripping import KEEPS, stripped
from tests import pictures

SECRET = pictures.SECRET.encode()


def pixels(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data)) as picture:
        return picture.convert("RGB").tobytes()


def opened(data: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(data))
    picture.load()
    return picture


@pytest.mark.parametrize("form, media", [("JPEG", "image/jpeg"), ("PNG", "image/png"), ("WEBP", "image/webp")])
def test_exif_is_gone_and_every_pixel_is_as_it_was(form: str, media: str) -> None:
    data = pictures.photo(form)
    assert SECRET in data
    left = stripped(data, media)
    assert SECRET not in left
    assert pixels(left) == pixels(data)
    assert not opened(left).getexif()
    assert stripped(left, media) == left


@pytest.mark.parametrize("form, media", [("JPEG", "image/jpeg"), ("PNG", "image/png"), ("WEBP", "image/webp")])
@pytest.mark.parametrize("orientation", [3, 6])
def test_how_a_picture_is_turned_is_all_that_is_kept(form: str, media: str, orientation: int) -> None:
    data = pictures.photo(form, orientation=orientation)
    left = stripped(data, media)
    assert SECRET not in left
    kept = opened(left)
    assert dict(kept.getexif()) == {0x0112: orientation}
    turned, before = ImageOps.exif_transpose(kept), ImageOps.exif_transpose(opened(data))
    assert turned.convert("RGB").tobytes() == before.convert("RGB").tobytes()


def test_a_jpeg_keeps_its_colours_and_loses_comments_xmp_and_what_stands_behind_it() -> None:
    picture = Image.new("CMYK", (16, 16), (0, 255, 255, 0))
    xmp = b"http://ns.adobe.com/xap/1.0/\0<x>" + SECRET
    data = pictures.saved(picture, "JPEG", comment=SECRET, xmp=xmp, progressive=True, icc_profile=b"a profile")
    data += b"\xff\xd8" + SECRET  # phones hide films and second pictures there
    left = stripped(data, "image/jpeg")
    assert SECRET not in left
    assert opened(left).mode == "CMYK"
    assert opened(left).info["icc_profile"] == b"a profile"
    assert pixels(left) == pixels(data)


def test_a_jpeg_that_was_cut_off_loses_its_exif_too() -> None:
    whole = pictures.photo(size=(256, 256))
    left = stripped(whole[: len(whole) - 300], "image/jpeg")
    assert SECRET not in left
    assert left.endswith(b"\xff\xd9")


def test_a_png_loses_its_texts_and_its_time() -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("Author", pictures.SECRET)
    info.add_itxt("Comment", pictures.SECRET)
    data = pictures.saved(Image.new("RGBA", (8, 8), (1, 2, 3, 4)), pnginfo=info)
    when = b"tIME" + bytes(7)
    at = data.index(b"IDAT") - 4
    data = data[:at] + struct.pack(">I", 7) + when + struct.pack(">I", zlib.crc32(when)) + data[at:] + SECRET
    left = stripped(data, "image/png")
    assert SECRET not in left
    assert b"tIME" not in left
    assert opened(left).getpixel((0, 0)) == (1, 2, 3, 4)


def test_an_animation_keeps_its_frames_and_loses_its_comment() -> None:
    data = pictures.animation()
    left = stripped(data, "image/gif")
    assert SECRET in data
    assert SECRET not in left
    moving = opened(left)
    assert (moving.n_frames, moving.info["loop"]) == (3, 0)  # type: ignore[attr-defined]  # of GIFs only


@pytest.mark.parametrize("media", sorted(set(KEEPS) - {"image/bmp"}))
@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"\xff\xd8\xff", b"GIF89a", b"\x89PNG\r\n\x1a\n\0\0", b"RIFF\xff\0\0\0WEBP", b"x" * 40]
)
def test_what_is_no_such_picture_is_told(media: str, data: bytes) -> None:
    with pytest.raises(ValueError, match="it "):
        stripped(data, media)


@pytest.mark.parametrize(
    "form, media", [("JPEG", "image/jpeg"), ("PNG", "image/png"), ("WEBP", "image/webp"), ("GIF", "image/gif")]
)
def test_a_file_cut_anywhere_never_shows_what_was_stripped(form: str, media: str) -> None:
    data = pictures.animation() if form == "GIF" else pictures.photo(form)
    for end in range(0, len(data), 7):
        try:
            left = stripped(data[:end], media)
        except ValueError:
            continue
        assert SECRET not in left
