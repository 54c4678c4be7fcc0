"""What is made out of an attachment, step by step: by this machine first, then by a model where one is configured.

Steps give values and store nothing but bytes: `services/describing.py` does, and says what becomes of errors. What can
read an attachment may be missing here; then it is skipped, and says what would.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from mnemic.core.attaching import AttachmentLimits
from mnemic.core.charts import chart_in
from mnemic.core.described import TEXT_LIMIT, as_seen, transcript
from mnemic.core.media import family_of, media_of
from mnemic.errors import InputError, ModelError, NotFoundError, ReadError, TooLargeError
from mnemic.model.attachment import Attachment, AttachmentKind, AttachmentState
from mnemic.model.message import StoredMessage
from mnemic.model.parts import address_of, media_parts
from mnemic.model.reading import BETWEEN, Reading
from mnemic.model.scope import Cube
from mnemic.model.seen import Line, Seen
from mnemic.ports.blobs import Blob, Blobs
from mnemic.ports.fetch import Fetcher
from mnemic.ports.pictures import Pictures
from mnemic.ports.reader import Reader
from mnemic.ports.store import Store
from mnemic.ports.vision import WordsInPictures
from mnemic.services.listening import Listening
from mnemic.services.looking import Looking
from mnemic.text import sound

_SURE: Final = 0.5  # confidence from which a line of words in a picture is believed
_HEAD: Final = 4_096  # bytes that say what a file is
_PICTURE_TEXT: Final = 20_000  # characters of the words in a picture
_MARKS: Final = 5_000  # stretches of speech that are kept with their times
_MEGABYTE: Final = 1_000_000

_NO_EARS: Final = "nothing here hears recordings; pip install 'mnemic[audio]', or set hear_base_url and hear_model"
_NO_READER: Final = "files are not read here; install the extra: pip install 'mnemic[documents]'"


@dataclass(frozen=True, slots=True)
class Senses:
    """What attachments are read with; None for what is not there."""

    pictures: Pictures
    words: WordsInPictures | None = None
    reader: Reader | None = None
    looking: Looking | None = None
    listening: Listening | None = None
    fetcher: Fetcher | None = None


@dataclass(frozen=True, slots=True)
class Perceived:
    """An attachment with what was made out so far, its cube, and the blobs that it names since."""

    attachment: Attachment
    cube: Cube
    blobs: tuple[Blob, ...] = ()


class Perceiving:
    """Makes out what attachments hold."""

    def __init__(self, store: Store, blobs: Blobs, senses: Senses, *, limits: AttachmentLimits) -> None:
        self._store = store
        self._blobs = blobs
        self._senses = senses
        self._limits = limits

    def steps(self, attachment: Attachment, message: StoredMessage) -> Iterator[Perceived]:
        """Yield an attachment as it is known after each step; the last one waits for nothing more.

        Raises `ReadError` for what cannot be read, `FetchError`, `LanguageError` and `BudgetError` for what stands in
        the way of it.
        """
        with self._store.read() as tx:
            tx.enter(attachment.cube_key)
            cube = tx.cubes.of_key(attachment.cube_key)
        if cube is None:
            raise NotFoundError("this cube was deleted by another call")
        if not attachment.digest:
            fetched = self._fetched(attachment, message, cube)
            yield fetched
            attachment = fetched.attachment
        with self._blobs.local(cube.id, attachment.digest) as path:
            match attachment.kind:
                case AttachmentKind.IMAGE:
                    yield from self._image(attachment, message, cube, path)
                case AttachmentKind.FILE:
                    yield Perceived(self._file(attachment, path), cube)
                case AttachmentKind.AUDIO:
                    yield Perceived(self._audio(attachment, path), cube)

    # -- addresses -------------------------------------------------------------------------------------------------

    def _fetched(self, attachment: Attachment, message: StoredMessage, cube: Cube) -> Perceived:
        """Return an attachment with the bytes that its address gave."""
        address = _address(message, attachment.part)
        if self._senses.fetcher is None or not address:
            raise ReadError("what is at addresses is not fetched here; turn on fetch_attachments, or give its bytes")
        most = self._limits.megabytes * _MEGABYTE
        with self._senses.fetcher.fetch(address) as found:
            if found.path is None:
                raise ReadError("its address gave nothing")
            with found.path.open("rb") as opened:
                head = opened.read(_HEAD)
                opened.seek(0)
                try:
                    blob = self._blobs.put(cube.id, opened, most=most)
                except TooLargeError as error:
                    raise ReadError(
                        f"what is at its address has more than {self._limits.megabytes} MB (attachment_megabytes)"
                    ) from error
        media = media_of(head, found.media.partition(";")[0].strip().lower(), attachment.kind)
        kind = family_of(media) or attachment.kind
        if media.startswith("video/"):
            raise ReadError("what is at its address is a video, which is not taken")
        if attachment.kind is AttachmentKind.IMAGE and kind is not AttachmentKind.IMAGE:
            raise ReadError(f"what is at its address is no picture, but {media}")
        name = attachment.name or found.name
        known = replace(attachment, digest=blob.digest, size=blob.size, media=media, kind=kind, name=name)
        return Perceived(known, cube, (blob,))

    # -- pictures --------------------------------------------------------------------------------------------------

    def _image(self, attachment: Attachment, message: StoredMessage, cube: Cube, path: Path) -> Iterator[Perceived]:
        try:
            found = self._senses.pictures.examine(path)
        except InputError as error:  # the package is missing
            yield Perceived(replace(attachment, state=AttachmentState.SKIPPED, error=str(error)), cube)
            return
        looking = self._senses.looking
        if "width" not in attachment.seen:
            thumbnail = self._blobs.put(cube.id, io.BytesIO(found.thumbnail))
            lines, unread = self._lines(path)
            seen: dict[str, Any] = {"width": found.width, "height": found.height, "format": found.form}
            if found.frames > 1:
                seen["frames"] = found.frames
            if (chart := chart_in(lines)) is not None:
                seen["chart"] = as_seen(chart)
            attachment = replace(
                attachment,
                thumbnail=thumbnail.digest,
                taken_at=found.taken_at,
                place=found.place,
                text="\n".join(sound(line.text) for line in lines)[:_PICTURE_TEXT],
                seen={**attachment.seen, **seen},
                error=unread,
                state=AttachmentState.READY if looking is None else AttachmentState.QUEUED,
            )
            yield Perceived(attachment, cube, (thumbnail,))
        if looking is None:
            if attachment.state is not AttachmentState.READY:  # a model was configured when it was read before
                yield Perceived(replace(attachment, state=AttachmentState.READY, error=""), cube)
            return
        said = "\n".join(each for each in (attachment.caption, message.text) if each)
        yield Perceived(
            _looked(attachment, looking.look(found.shown, found.shown_media, beside=said, cube_key=cube.key)), cube
        )

    def _lines(self, path: Path) -> tuple[list[Line], str]:
        """Return the lines of words in a picture that can be believed, and why there are none, when there is a why."""
        if self._senses.words is None:
            return [], "the words in it are not read here; install the extra: pip install 'mnemic[vision]'"
        try:
            return _believed(self._senses.words.lines(path)), ""
        except ModelError as error:
            return [], str(error)

    # -- files and sounds ------------------------------------------------------------------------------------------

    def _file(self, attachment: Attachment, path: Path) -> Attachment:
        if self._senses.reader is None:
            return replace(attachment, state=AttachmentState.SKIPPED, error=_NO_READER)
        name = attachment.name or f"attachment {attachment.part}"
        reading = self._senses.reader.read(path, name=name, media=attachment.media, told=_unheard)
        text = _whole(reading)
        seen: dict[str, Any] = {"pages": reading.pages} if reading.pages else {}
        seen |= {"title": reading.title} if reading.title else {}
        seen |= {"notes": list(reading.notes)} if reading.notes else {}
        seen |= {"left_out": len(text) - TEXT_LIMIT} if len(text) > TEXT_LIMIT else {}
        return replace(
            attachment,
            text=sound(text[:TEXT_LIMIT]),
            media=reading.media or attachment.media,
            seen={**attachment.seen, **seen},
            state=AttachmentState.READY,
            error="",
        )

    def _audio(self, attachment: Attachment, path: Path) -> Attachment:
        if self._senses.listening is None:
            return replace(attachment, state=AttachmentState.SKIPPED, error=_NO_EARS)
        heard = self._senses.listening.hear(path, attachment.media, cube_key=attachment.cube_key)
        marks = [
            {"start": each.start, "end": each.end, "text": sound(each.text)}
            | ({"speaker": sound(each.speaker)} if each.speaker else {})
            for each in heard[:_MARKS]
        ]
        return replace(
            attachment,
            text=sound(transcript(heard))[:TEXT_LIMIT],
            seen={**attachment.seen, "marks": marks, "heard_by": self._senses.listening.name},
            state=AttachmentState.READY,
            error="",
        )


def _whole(reading: Reading) -> str:
    """Return all that was read, each table below the names of its columns."""
    parts: list[str] = []
    before = ("", "")
    for block in reading.blocks:
        named = (block.part, block.header)
        parts.append(f"{block.header}\n{block.text}" if block.header and named != before else block.text)
        before = named
    return BETWEEN.join(parts)


def _believed(lines: Sequence[Line]) -> list[Line]:
    """Return the lines that say something: strokes and edges of a picture are often taken for a letter or a dash."""
    told = [line for line in lines if line.confidence >= _SURE and any(char.isalnum() for char in line.text)]
    return told if any(len(line.text.strip()) > 1 for line in told) else []


def _looked(attachment: Attachment, seen: Seen) -> Attachment:
    """Return a picture with what a model saw; words that were read here stay, as they carry no guesses."""
    chart = {"chart": as_seen(seen.chart)} if seen.chart is not None else {}
    return replace(
        attachment,
        description=sound(seen.description),
        text=attachment.text or sound(seen.text)[:_PICTURE_TEXT],
        seen={**attachment.seen, **chart},
        state=AttachmentState.READY,
        error="",
    )


def _address(message: StoredMessage, number: int) -> str:
    return next((address_of(part) for at, part in media_parts(message.content) if at == number), "")


def _unheard(_done: int, _of: int) -> None:
    """Take no notice of how far reading a file is: it is one step of a job."""
