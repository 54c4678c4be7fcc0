"""Pictures from outside: what is in them is made out in a child process, and what is wrong with one stays there."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from PIL import Image, ImageColor

from mnemic.backends.readers.apart import Readers, WordsApart
from mnemic.backends.readers.examined import examine, plain
from mnemic.backends.readers.hearing_apart import HearingApart, is_installed
from mnemic.backends.readers.pictures_apart import PicturesApart
from mnemic.config import process_environment
from mnemic.core.charts import chart_in
from mnemic.errors import ReadError
from mnemic.ports.reader import Limits
from tests import pictures

DATA = Path(__file__).parent.parent / "data"
READERS = Readers(Limits(), environment=process_environment(), office="")
APART = PicturesApart(READERS, ZoneInfo("Europe/Lisbon"))


def put(folder: Path, data: bytes) -> Path:
    path = folder / "picture"
    path.write_bytes(data)
    return path


def copies(folder: Path, data: bytes) -> Mapping[str, str]:
    """Examine a picture in this process, which is quicker than in a child."""
    return examine(put(folder, data), folder)


def shown(folder: Path, name: str = "shown.jpg") -> Image.Image:
    picture = Image.open(folder / name)
    picture.load()
    return picture


def looks_like(picture: Image.Image, at: tuple[int, int], colour: str) -> bool:
    """Tell whether a pixel has about this colour."""
    found = picture.convert("RGB").crop((*at, at[0] + 1, at[1] + 1)).tobytes()
    return all(abs(one - other) < 60 for one, other in zip(found, ImageColor.getrgb(colour), strict=True))


def test_a_photo_is_examined_apart_and_its_copies_have_pixels_only(tmp_path: Path) -> None:
    found = APART.examine(put(tmp_path, pictures.photo(size=(900, 600), orientation=6)))
    assert (found.width, found.height, found.frames, found.form) == (600, 900, 1, "JPEG")
    assert found.taken_at is not None
    assert found.taken_at.isoformat() == "2024-05-17T14:03:22+01:00"
    assert found.place == pytest.approx(pictures.LISBON, abs=1e-4)
    for data in (found.thumbnail, found.shown):
        assert pictures.SECRET.encode() not in data
        picture = Image.open(io.BytesIO(data))
        assert not picture.getexif()
    thumbnail = Image.open(io.BytesIO(found.thumbnail))
    assert (thumbnail.format, max(thumbnail.size)) == ("WEBP", 512)
    assert looks_like(thumbnail, (10, 10), "red")  # the left half stands above when it is turned
    assert looks_like(thumbnail, (10, 500), "blue")


def test_a_time_without_a_zone_is_read_in_that_of_the_settings(tmp_path: Path) -> None:
    picture = Image.new("RGB", (8, 8))
    exif = Image.Exif()
    exif[0x0132] = "2024:07:01 10:00:00"
    found = APART.examine(put(tmp_path, pictures.saved(picture, "JPEG", exif=exif.tobytes())))
    assert found.taken_at is not None
    assert found.taken_at.utcoffset() == timedelta(hours=1)


@pytest.mark.parametrize(
    "taken, place",
    [("0000:00:00 00:00:00", (1, 2, 3)), ("yesterday", (400, 0, 0)), ("2024:13:45 99:99:99", (91, 0, 0))],
)
def test_what_a_camera_wrote_wrongly_says_nothing(tmp_path: Path, taken: str, place: tuple[float, ...]) -> None:
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = taken
    exif.get_ifd(0x8825).update({1: "N", 2: place, 3: "E", 4: (0.0, 0.0, 0.0)})
    data = pictures.saved(Image.new("RGB", (8, 8)), "JPEG", exif=exif.tobytes())
    found = APART.examine(put(tmp_path, data))
    assert found.taken_at is None
    assert found.place is None or abs(found.place[0]) < 90


def test_an_animation_shows_its_first_frame(tmp_path: Path) -> None:
    assert copies(tmp_path, pictures.animation())["frames"] == "3"
    assert looks_like(shown(tmp_path), (5, 5), "red")


def test_colours_of_print_and_deep_greys_become_those_of_screens(tmp_path: Path) -> None:
    copies(tmp_path, pictures.cmyk())
    assert looks_like(shown(tmp_path), (5, 5), "red")
    copies(tmp_path, pictures.deep_grey())
    grey = 40_000 // 257
    assert looks_like(shown(tmp_path), (5, 5), f"rgb({grey},{grey},{grey})")


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I", "F", "YCbCr"])
def test_pictures_of_every_mode_are_shown(tmp_path: Path, mode: str) -> None:
    form = "TIFF" if mode in ("I", "F", "YCbCr") else "PNG"
    assert copies(tmp_path, pictures.saved(Image.new(mode, (20, 10)), form))["width"] == "20"
    assert shown(tmp_path).size == (20, 10)
    plain(tmp_path / "picture", tmp_path)
    assert shown(tmp_path, "plain.png").mode == "RGB"


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    copies(tmp_path, pictures.saved(Image.new("RGBA", (20, 10), (0, 0, 0, 0))))
    assert shown(tmp_path).getpixel((3, 3)) == (255, 255, 255)


def bomb(width: int, height: int) -> bytes:
    """Return a PNG of a few bytes that says that it is huge."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1_000_000), 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize(
    "data, why",
    [
        (bomb(60_000, 60_000), "million are the limit"),
        (pictures.photo(size=(300, 300))[:-400], "cut off"),
        (b"\0\0\0\x18ftypheic" + bytes(40), "HEIC or AVIF.*save it as JPEG or PNG"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>x()</script></svg>", "no picture that is read"),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "damaged"),
        (b"plain words", "no picture that is read"),
        (b"", "no picture|empty"),
    ],
    ids=["bomb", "cut", "heic", "svg", "png", "words", "nothing"],
)
def test_what_is_no_picture_is_told_in_words(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(ReadError, match=why):
        APART.examine(put(tmp_path, data))


def test_a_chart_is_read_by_its_words_and_where_they_stand(tmp_path: Path) -> None:
    lines = WordsApart(READERS).lines(put(tmp_path, pictures.chart()))
    chart = chart_in(lines)
    assert chart is not None
    assert (chart.title, chart.axes) == ("Revenue by quarter", ("Q1 to Q4", "100 to 400"))
    assert not chart.series  # how high the bars are stands nowhere in words


def test_a_screenshot_is_read_and_is_no_chart(tmp_path: Path) -> None:
    lines = WordsApart(READERS).lines(put(tmp_path, pictures.screenshot()))
    assert [line.text for line in lines] == ["Backup failed", "The disk Zephyr-9 is full.", "Free 12 GB and try again."]
    assert chart_in(lines) is None


@pytest.mark.skipif(not is_installed(), reason="the extra `audio` is not installed")
def test_what_is_said_in_a_recording_is_written_down_here(tmp_path: Path) -> None:
    heard = HearingApart(READERS).hear(DATA / "speech.mp3", "audio/mpeg")
    said = " ".join(each.text for each in heard).lower()
    assert "london" in said
    assert 3 < heard[-1].end < 8


@pytest.mark.skipif(not is_installed(), reason="the extra `audio` is not installed")
def test_what_is_no_recording_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="damaged, or no sound"):
        HearingApart(READERS).hear(put(tmp_path, b"ID3 but nothing else"), "audio/mpeg")
