"""What came with a message besides words: images, files and sounds, kept as blobs, with what was read from them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


class AttachmentKind(enum.StrEnum):
    """What a part of a message holds."""

    IMAGE = "image"
    FILE = "file"
    AUDIO = "audio"


class AttachmentState(enum.StrEnum):
    """How far reading it is. `skipped`: nothing here can read it (`error` says what would), which loses nothing."""

    QUEUED = "queued"
    READY = "ready"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Attachment:
    """One image, file or sound of a message: part `part` of its content, counted from 0.

    `digest` is the SHA-256 of its bytes as they came; `thumbnail` that of a small picture of an image, made without
    what the camera wrote into it. `caption` was given by the caller, `text` is what stands in it (words of a picture,
    what was said), `description` what a vision model saw, all of it searched with the message. `seen` has what is
    structured: a chart's title, axes and values, a sound's marks of speakers and time, width and height. `taken_at` and
    `place` (degrees of latitude and longitude, WGS 84) are the camera's.
    """

    id: str
    message_id: str
    cube_key: int
    part: int
    kind: AttachmentKind
    state: AttachmentState
    digest: str
    size: int
    media: str
    name: str = ""
    caption: str = ""
    text: str = ""
    description: str = ""
    seen: Mapping[str, Any] = field(default_factory=dict)
    thumbnail: str = ""
    taken_at: datetime | None = None
    place: tuple[float, float] | None = None
    error: str = ""
