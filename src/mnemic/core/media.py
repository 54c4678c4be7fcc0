"""What bytes are, by their first ones: media types of pictures, sounds, videos and common files.

Enough to keep a video from being taken for a picture, and to send each attachment to who can read it. What is not
recognised here is what its sender says; readers of files decide for themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from mnemic.model.attachment import AttachmentKind

_HEADS: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"#!AMR", "audio/amr"),
    (b"FLV\x01", "video/x-flv"),
    (b"\x00\x00\x01\xba", "video/mpeg"),
    (b"\x1a\x45\xdf\xa3", "video/webm"),
    (b"\x00\x00\x00\x0cJXL \r\n\x87\n", "image/jxl"),
    (b"\xff\x0a", "image/jxl"),
)
_RIFF: Final[Mapping[bytes, str]] = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_BRANDS: Final[Mapping[bytes, str]] = {
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"hevc": "image/heic",
    b"heim": "image/heic",
    b"heis": "image/heic",
    b"mif1": "image/heif",
    b"msf1": "image/heif",
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"M4A ": "audio/mp4",
    b"M4B ": "audio/mp4",
    b"qt  ": "video/quicktime",
}
_BOTH: Final = frozenset({"video/mp4", "video/webm", "video/quicktime"})
"""Containers that may hold sound alone: taken for sound where the sender says so."""

_SVG: Final = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]", re.DOTALL
)


def media_of(data: bytes, declared: str = "", kind: AttachmentKind = AttachmentKind.FILE) -> str:
    """Return the media type of bytes: what they begin like, else what is declared, else octets."""
    found = _recognised(data)
    if found in _BOTH and kind is AttachmentKind.AUDIO and not declared.startswith("video/"):
        return f"audio/{found.partition('/')[2]}"
    return found or declared or "application/octet-stream"


def family_of(media: str) -> AttachmentKind | None:
    """Return the kind of attachment that a media type is; None for what may be anything."""
    if media == "image/svg+xml":
        return AttachmentKind.FILE
    if media.startswith("image/"):
        return AttachmentKind.IMAGE
    if media.startswith("audio/"):
        return AttachmentKind.AUDIO
    return None if media == "application/octet-stream" else AttachmentKind.FILE


def _recognised(data: bytes) -> str:
    for head, media in _HEADS:
        if data.startswith(head):
            return media
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "")
    if data[4:8] == b"ftyp":
        return _BRANDS.get(data[8:12], "video/mp4")
    if data[:2] == b"BM" and len(data) > 26 and data[6:10] == b"\0\0\0\0":
        return "image/bmp"
    if len(data) > 3 and data[0] == 0xFF and data[1] & 0xE0 == 0xE0:  # MPEG audio's sync word; layer I is left out,
        if data[1] & 0xF6 == 0xF0:  # since UTF-16 begins like it
            return "audio/aac"
        if data[1] >> 1 & 3 in (1, 2):
            return "audio/mpeg"
    return "image/svg+xml" if _SVG.match(data[:4096]) else ""
