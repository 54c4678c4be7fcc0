"""What came with messages: images, files and sounds, as they came and as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.api.calls import watched
from mnemic.model.attachment import Attachment

if TYPE_CHECKING:
    from mnemic.wiring.parts import Parts


@watched("attachments")
class Attachments:
    """What came with messages besides words: `memory.attachments`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def list(self, message: str, *, user: str | int, cube: str | None = None) -> Sequence[Attachment]:
        """Return the attachments of a message, in the order of its parts."""
        return self._parts.attaching.list(message, user=user, cube=cube)

    def get(self, id: str, *, user: str | int, cube: str | None = None) -> Attachment:  # noqa: A002
        """Return an attachment with what was read from it. Raises `NotFoundError`."""
        return self._parts.attaching.get(id, user=user, cube=cube)

    def file(self, id: str, *, user: str | int, cube: str | None = None, thumbnail: bool = False) -> bytes:  # noqa: A002
        """Return its bytes. Of an image: without what the camera wrote into it (EXIF), or a small picture of it."""
        return self._parts.attaching.file(id, user=user, cube=cube, thumbnail=thumbnail)
