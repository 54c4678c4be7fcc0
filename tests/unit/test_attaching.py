"""What a message brings besides words is taken out of its content, whichever way it was written."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest

from mnemic.core.attaching import AttachmentLimits, Intake
from mnemic.core.media import media_of
from mnemic.errors import InputError, TooLargeError
from mnemic.model.attachment import AttachmentKind
from mnemic.model.parts import check_content, searchable_text

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
JPEG = b"\xff\xd8\xff\xe0" + bytes(8)
PDF = b"%PDF-1.7 and more"
WAV = b"RIFF\x24\0\0\0WAVEfmt "
MP4 = b"\0\0\0\x18ftypisom" + bytes(8)
B64 = base64.b64encode(PNG).decode()
PLACE = "messages[0].content"


def taken(part: Any, intake: Intake | None = None) -> tuple[Any, Any]:
    check_content([part], PLACE)
    content, brought = (intake or Intake()).take([part], PLACE)
    return content[0], brought[0] if brought else None


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{B64}"}},
        {"type": "image_url", "image_url": f"data:image/png;base64,{B64}"},
        {"type": "input_image", "image_url": f"data:;base64,{B64}"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": B64}},
        {"type": "image", "data": B64},
        {"type": "image", "data": B64.rstrip("=").replace("+", "-").replace("/", "_")},
        {"type": "image", "data": "\n".join(B64[at : at + 8] for at in range(0, len(B64), 8))},
        {"type": "image", "bytes": PNG},
        {"type": "image", "bytes": bytearray(PNG)},
        {"type": "file", "file": {"file_data": f"data:image/png;base64,{B64}"}},
        {"type": "input_file", "file_data": B64},
        {"type": "image", "url": "data:image/png," + "".join(f"%{byte:02x}" for byte in PNG)},
    ],
)
def test_a_picture_is_the_same_blob_however_it_is_written(part: dict[str, Any]) -> None:
    content, brought = taken(part)
    digest = hashlib.sha256(PNG).hexdigest()
    assert content == {"type": part["type"], "blob": {"digest": digest, "media": "image/png", "size": len(PNG)}}
    assert (brought.kind, brought.data, brought.digest, brought.part) == (AttachmentKind.IMAGE, PNG, digest, 0)


def test_what_else_a_part_says_stays_in_it() -> None:
    url = {"url": f"data:image/png;base64,{B64}", "detail": "low"}
    content, _ = taken({"type": "image_url", "image_url": url, "caption": "A cat", "cache_control": {"type": "x"}})
    assert content["image_url"] == {"detail": "low"}
    assert (content["caption"], content["cache_control"]) == ("A cat", {"type": "x"})
    assert searchable_text([content]) == "[image: A cat]"


def test_taking_twice_takes_nothing_more() -> None:
    once, _ = taken({"type": "image", "bytes": PNG, "alt": "x"})
    twice, brought = taken(once)
    assert twice == once
    assert (brought.data, brought.digest, brought.caption) == (None, once["blob"]["digest"], "x")


@pytest.mark.parametrize(
    "part, kind, media, name",
    [
        (
            {"type": "file", "file": {"filename": "../../etc/a.pdf", "file_data": base64.b64encode(PDF).decode()}},
            AttachmentKind.FILE, "application/pdf", "a.pdf",
        ),
        (
            {"type": "input_audio", "input_audio": {"data": base64.b64encode(WAV).decode(), "format": "wav"}},
            AttachmentKind.AUDIO, "audio/wav", "",
        ),
        (
            {"type": "input_audio", "input_audio": {"data": base64.b64encode(b"\1\2\3").decode(), "format": "mp3"}},
            AttachmentKind.AUDIO, "audio/mp3", "",
        ),
        (
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hi"}},
            AttachmentKind.FILE, "text/plain", "",
        ),
        ({"type": "image", "bytes": PDF, "name": "C:\\scans\\b.pdf"}, AttachmentKind.FILE, "application/pdf", "b.pdf"),
        ({"type": "input_audio", "bytes": MP4}, AttachmentKind.AUDIO, "audio/mp4", ""),
        ({"type": "file", "bytes": b"\xff\xfehello", "name": "u.txt"}, AttachmentKind.FILE, "application/octet-stream",
         "u.txt"),
    ],
)  # fmt: skip
def test_the_bytes_say_what_an_attachment_is(part: Any, kind: AttachmentKind, media: str, name: str) -> None:
    content, brought = taken(part)
    assert (brought.kind, brought.media, brought.name) == (kind, media, name)
    assert content["blob"]["media"] == media


def test_an_address_stays_and_nothing_is_taken() -> None:
    part = {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}
    content, brought = taken(part)
    assert content == part
    assert (brought.address, brought.digest, brought.size) == ("https://example.com/cat.png", "", 0)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "caption": "two dogs"},
        {"type": "image", "url": "file-service://file-1"},
        {"type": "input_file", "file_id": "file-1"},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "audio", "audio": {"id": "a-1", "transcript": "hello"}},
        {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "x"}]}},
    ],
)
def test_a_part_that_stands_for_itself_brings_nothing(part: dict[str, Any]) -> None:
    assert taken(part) == (part, None)


@pytest.mark.parametrize(
    "part, field",
    [
        ({"type": "image"}, "source"),
        ({"type": "image_url", "image_url": {}}, "image_url.url"),
        ({"type": "image_url", "image_url": {"detail": "low"}}, "image_url.url"),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png"}}, "source.data"),
        ({"type": "file", "file": {}}, "file.file_data"),
        ({"type": "input_audio", "input_audio": {"format": "wav"}}, "input_audio.data"),
        ({"type": "image", "data": "no base64!"}, "data"),
        ({"type": "image", "data": "  "}, "data"),
        ({"type": "image", "bytes": b""}, "bytes"),
        ({"type": "image", "bytes": 7}, "bytes"),
        ({"type": "image", "url": "ftp://example.com/a.png"}, "url"),
        ({"type": "image", "url": "file:///etc/passwd"}, "url"),
        ({"type": "image", "path": "/etc/passwd"}, "path"),
        ({"type": "image_url", "image_url": {"url": "data:nonsense"}}, "image_url.url"),
        ({"type": "image", "blob": {"digest": "../x", "media": "image/png", "size": 1}}, "blob.digest"),
        ({"type": "image", "blob": {"digest": "a" * 64, "media": "image/png"}}, "blob.size"),
        ({"type": "image", "blob": "a" * 64}, "blob"),
        ({"type": "video_url", "video_url": {"url": "https://x/y.mp4"}}, "type"),
        ({"type": "input_video", "data": "AAAA"}, "type"),
    ],
)
def test_a_part_that_cannot_be_used_names_its_field(part: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        taken(part)
    assert caught.value.field == f"{PLACE}[0].{field}"


@pytest.mark.parametrize(
    "part",
    [
        {"type": "file", "bytes": MP4},
        {"type": "image", "bytes": MP4},
        {"type": "file", "data": "AAAA", "mime_type": "video/mp4"},
        {"type": "image_url", "image_url": {"url": "data:video/webm;base64,AAAA"}},
        {"type": "file", "url": "https://example.com/x", "media": "video/quicktime"},
        {"type": "file", "bytes": b"\x1a\x45\xdf\xa3" + bytes(20)},
        {"type": "file", "bytes": b"RIFF0000AVI LIST"},
    ],
)
def test_videos_are_refused_in_words(part: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="is a video, which is not taken; give single pictures"):
        taken(part)


@pytest.mark.parametrize(
    "data", [b"<svg xmlns='x'/>", b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a -->\n<svg width='1'>", b"  <svg>"]
)
def test_drawings_are_refused_as_pictures(data: bytes) -> None:
    with pytest.raises(InputError, match="SVG drawing"):
        taken({"type": "image", "bytes": data})
    assert taken({"type": "file", "bytes": data})[1].kind is AttachmentKind.FILE


def test_what_is_too_large_is_told_with_the_limit() -> None:
    small = Intake(AttachmentLimits(megabytes=1, count=20))
    for part in ({"type": "image", "bytes": PNG + bytes(1_000_000)}, {"type": "image", "data": "A" * 2_000_000}):
        with pytest.raises(TooLargeError, match="1 MB") as caught:
            small.take([part], PLACE)
        assert caught.value.fields["limit"] == 1_000_000
    assert small.take([{"type": "image", "bytes": PNG + bytes(999_000)}], PLACE)[1][0].size == 999_016


def test_too_many_attachments_are_told_with_the_limit() -> None:
    part = {"type": "image", "bytes": PNG}
    few = Intake(AttachmentLimits(megabytes=1, count=2))
    assert len(few.take([part, part], PLACE)[1]) == 2
    with pytest.raises(TooLargeError, match="3 attachments; a message may have 2"):
        few.take([part, part, part], PLACE)


def test_pictures_in_a_tools_result_are_taken_too_and_numbered_behind_the_parts() -> None:
    content = [
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text"}, {"type": "image", "bytes": PNG}]},
        {"type": "image", "bytes": JPEG},
    ]  # fmt: skip
    kept, brought = Intake().take(content, PLACE)
    assert sorted((each.part, each.media) for each in brought) == [(1, "image/jpeg"), (2, "image/png")]
    assert kept[0]["content"][1]["blob"]["media"] == "image/png"


def test_a_path_is_read_where_that_is_allowed_and_gives_the_name() -> None:
    reads: list[str] = []

    def read(path: str, place: str) -> bytes:
        reads.append(path)
        return PNG

    content, brought = taken({"type": "image", "path": "/pictures/cat.png"}, Intake(read=read))
    assert reads == ["/pictures/cat.png"]
    assert "path" not in content
    assert (content["name"], brought.name) == ("cat.png", "cat.png")


@pytest.mark.parametrize(
    "data, media",
    [
        (b"\0\0\0\x18ftypheic", "image/heic"),
        (b"\0\0\0\x18ftypavif", "image/avif"),
        (b"\0\0\0\x18ftypM4A ", "audio/mp4"),
        (b"ID3\x04", "audio/mpeg"),
        (b"\xff\xfb\x90\x00", "audio/mpeg"),
        (b"\xff\xf1\x50\x80", "audio/aac"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"plain words", "application/octet-stream"),
    ],
)
def test_bytes_are_recognised_by_their_head(data: bytes, media: str) -> None:
    assert media_of(data) == media
