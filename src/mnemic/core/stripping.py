"""Pictures without what cameras and programs wrote into them (EXIF, XMP, IPTC, comments), with the same pixels.

Nothing is decoded: the parts of the file that hold such words are left out, and what stands behind the picture's end
(a second picture, a film) is cut off. How a picture is to be turned is kept, in an EXIF of that one number.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Final

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT: Final = frozenset(
    b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP sBIT bKGD pHYs hIST acTL fcTL fdAT cICP mDCV cLLI".split()
)
_GIF_KEPT: Final = frozenset({b"NETSCAPE2.0", b"ANIMEXTS1.0"})
_WEBP_KEPT: Final = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"})
_EXIF: Final = b"Exif\0\0"
_ORIENTATION: Final = 0x0112


def stripped(data: bytes, media: str) -> bytes:
    """Return a picture of one of the types in `KEEPS` without metadata. Raises `ValueError` when it is damaged."""
    try:
        return KEEPS[media](data)
    except (struct.error, IndexError) as error:
        raise ValueError("it ends too early") from error


def _jpeg(data: bytes) -> bytes:
    """Return a JPEG with the segments that its pixels need (ITU T.81, B.1; JFIF, ICC profiles, Adobe's colours)."""
    if not data.startswith(b"\xff\xd8\xff"):
        raise ValueError("it is no JPEG")
    out, place, turned = [b"\xff\xd8"], 2, 1
    body: list[bytes] = []
    scanned = False
    while place < len(data):
        marker, start, end = _segment(data, place)
        if marker == 0xD9:
            break
        payload = data[start + 4 : end]
        if marker == 0xE1 and payload.startswith(_EXIF):
            turned = _orientation(payload[len(_EXIF) :]) or turned
        elif _is_needed(marker, payload):
            body.append(data[start:end])
        place = end
        if marker == 0xDA:
            scanned = True
            place = _after_scan(data, end)
            body.append(data[end:place])
    if not scanned:
        raise ValueError("it ends too early")
    if turned != 1:
        exif = _EXIF + _turning(turned)
        out.append(b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif)
    return b"".join([*out, *body, b"\xff\xd9"])


def _segment(data: bytes, place: int) -> tuple[int, int, int]:
    """Return the marker at a place, where it starts (behind fill bytes) and where its segment ends."""
    if data[place] != 0xFF:
        raise ValueError("it is no JPEG where a segment should begin")
    while data[place + 1] == 0xFF:
        place += 1
    marker = data[place + 1]
    if marker == 0xD9 or 0xD0 <= marker <= 0xD8 or marker == 0x01:
        return marker, place, place + 2
    (length,) = struct.unpack_from(">H", data, place + 2)
    if length < 2 or place + 2 + length > len(data):
        raise ValueError("it ends too early")
    return marker, place, place + 2 + length


def _is_needed(marker: int, payload: bytes) -> bool:
    if marker == 0xE0:
        return payload.startswith((b"JFIF\0", b"JFXX\0"))
    if marker == 0xE2:
        return payload.startswith(b"ICC_PROFILE\0")
    if marker == 0xEE:
        return payload.startswith(b"Adobe")
    return not (0xE0 <= marker <= 0xEF or marker == 0xFE)


def _after_scan(data: bytes, place: int) -> int:
    """Return where the entropy-coded bytes that begin at a place end: at the next marker that is none of theirs."""
    while True:
        place = data.find(b"\xff", place)
        if place < 0 or place + 1 >= len(data):
            return len(data)  # it was cut off: what there is of it is shown
        follows = data[place + 1]
        if follows != 0 and not 0xD0 <= follows <= 0xD7 and follows != 0xFF:
            return place
        place += 1 if follows == 0xFF else 2


def _png(data: bytes) -> bytes:
    """Return a PNG with the chunks that its pixels and frames need (PNG, third edition, 11)."""
    if not data.startswith(_PNG):
        raise ValueError("it is no PNG")
    out, place = [_PNG], len(_PNG)
    while True:
        length, kind = struct.unpack_from(">I4s", data, place)
        end = place + 12 + length
        if end > len(data):
            raise ValueError("it ends too early")
        if kind in _PNG_KEPT:
            out.append(data[place:end])
        if kind == b"eXIf" and (turned := _orientation(data[place + 8 : end - 4])) not in (None, 1):
            exif = b"eXIf" + _turning(turned or 1)
            out.append(struct.pack(">I", len(exif) - 4) + exif + struct.pack(">I", zlib.crc32(exif)))
        if kind == b"IEND":
            return b"".join(out)
        place = end


def _webp(data: bytes) -> bytes:
    """Return a WebP without its EXIF and XMP chunks (RFC 9649, 2)."""
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        raise ValueError("it is no WebP")
    (size,) = struct.unpack_from("<I", data, 4)
    last = min(len(data), size + 8)
    if size + 8 > len(data) + 1:
        raise ValueError("it ends too early")
    turned, chunks = 1, list[bytes]()
    place = 12
    while place + 8 <= last:
        kind, length = struct.unpack_from("<4sI", data, place)
        end = place + 8 + length + (length & 1)
        if kind in _WEBP_KEPT:
            chunks.append(data[place:end])
        elif kind == b"EXIF":
            exif = data[place + 8 : place + 8 + length]
            turned = _orientation(exif.removeprefix(_EXIF)) or 1
        place = end
    exif = b"" if turned == 1 else _turning(turned)
    if chunks and chunks[0].startswith(b"VP8X"):
        head = bytearray(chunks[0])
        head[8] = head[8] & ~0x0C | (0x08 if exif else 0)  # the bits that say whether EXIF and XMP follow
        chunks[0] = bytes(head)
        chunks += [b"EXIF" + struct.pack("<I", len(exif)) + exif] if exif else []
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _gif(data: bytes) -> bytes:
    """Return a GIF with its frames, and without comments and what programs added (GIF89a, 23 to 27)."""
    if data[:6] not in (b"GIF87a", b"GIF89a"):
        raise ValueError("it is no GIF")
    place = 13 + _table(data[10])
    out = [data[:place]]
    while True:
        start, kind = place, data[place]
        if kind == 0x3B:
            return b"".join([*out, b"\x3b"])
        if kind == 0x2C:
            place = _blocks_end(data, start + 10 + _table(data[start + 9]) + 1)
            out.append(data[start:place])
        elif kind == 0x21:
            place = _blocks_end(data, start + 2)
            label, name = data[start + 1], data[start + 3 : start + 14]
            if label == 0xF9 or (label == 0xFF and name in _GIF_KEPT):
                out.append(data[start:place])
        else:
            raise ValueError("it is no GIF where a block should begin")


def _table(packed: int) -> int:
    return 3 * 2 ** ((packed & 7) + 1) if packed & 0x80 else 0


def _blocks_end(data: bytes, place: int) -> int:
    while data[place]:
        place += data[place] + 1
    return place + 1


def _same(data: bytes) -> bytes:
    return data


def _orientation(exif: bytes) -> int | None:
    """Return how a picture is to be turned, 1 to 8 (EXIF 2.3, 4.6.4); None where that is not said."""
    try:
        order = {b"II": "<", b"MM": ">"}[exif[:2]]
        return next((value for tag, value in _shorts(exif, order) if tag == _ORIENTATION and 1 <= value <= 8), None)
    except (KeyError, struct.error):
        return None


def _shorts(exif: bytes, order: str) -> Iterator[tuple[int, int]]:
    (place,) = struct.unpack_from(f"{order}I", exif, 4)
    (count,) = struct.unpack_from(f"{order}H", exif, place)
    for number in range(count):
        tag, kind, _, value = struct.unpack_from(f"{order}HHIH", exif, place + 2 + 12 * number)
        if kind == 3:
            yield tag, value


def _turning(value: int) -> bytes:
    """Return an EXIF that says how a picture is to be turned, and nothing else."""
    return b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, _ORIENTATION, 3, 1, value, 0, 0)


KEEPS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "image/jpeg": _jpeg,
    "image/png": _png,
    "image/webp": _webp,
    "image/gif": _gif,
    "image/bmp": _same,  # it has no room for more than pixels
}
"""What strips a picture of each type."""
