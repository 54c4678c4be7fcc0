"""What reads files, as the settings have it: limits, and the words in pictures."""

from __future__ import annotations

from importlib.util import find_spec

from mnemic.backends.readers.apart import Readers, WordsApart
from mnemic.backends.readers.hearing_apart import HearingApart, is_installed
from mnemic.backends.readers.pictures_apart import PicturesApart
from mnemic.config import Settings, process_environment
from mnemic.errors import InputError
from mnemic.ports.pictures import Pictures
from mnemic.ports.reader import Limits, Reader
from mnemic.ports.vision import Hearing, WordsInPictures


def readers_of(settings: Settings) -> Reader:
    """Return what reads files; each in a process of its own, so that nothing is loaded here."""
    return _readers(settings)


def words_of(settings: Settings) -> WordsInPictures | None:
    """Return what finds the words in pictures, None when OCR is off or the extra `vision` is missing."""
    if not settings.ocr or find_spec("rapidocr") is None:
        return None
    return WordsApart(_readers(settings))


def pictures_of(settings: Settings) -> Pictures:
    """Return what looks at pictures; each in a process of its own."""
    return PicturesApart(_readers(settings), settings.zone)


def local_hearing(settings: Settings) -> Hearing | None:
    """Return Whisper on this machine, None where it is not installed and not insisted on. Raises `InputError`."""
    if not is_installed():
        if settings.hear == "local":
            raise InputError("hear", "needs the extra `audio`: pip install 'mnemic[audio]'")
        return None
    return HearingApart(_readers(settings))


def _readers(settings: Settings) -> Readers:
    limits = Limits(
        pages=settings.file_pages,
        seconds=settings.read_seconds,
        memory_megabytes=settings.read_megabytes,
        ocr=settings.ocr,
    )
    return Readers(limits, environment=process_environment())
