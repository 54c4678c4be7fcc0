"""What counts as a word, how it is folded for comparing, and its stem: for all that reads text, so that it agrees.

A stem here is decided by the word alone. What a word may be in another language in Latin letters is told by `forms.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import Stemmer

from mnemic.text.languages import STOP_WORDS
from mnemic.text.scripts import UNSPACED, clusters, cut, stem_by_script

_stemmer = Stemmer.Stemmer("english")

_EMOJI = "\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u0900-\u0963\u0966-\u0e3e\u0e40-\u0e4e\u0e50-\u0e59\u0e5c-\u1049\u1050-\u109f\u1780-\u17d3\u17d7\u17dc-\u17ff"
)
WORD: Final = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*(?:['\u2019](?:[^\W_]|[{_MARKS}])+)*|[{_EMOJI}]")
"""A word as it stands in a text: letters with their marks, apostrophes between them; or an emoji."""


def clean(text: str) -> str:
    """Return text that every index can hold: NFC, lone surrogates and NUL replaced, byte-order marks dropped."""
    if text.isascii() and "\0" not in text:
        return text
    return unicodedata.normalize("NFC", sound(text).replace("\ufeff", ""))


def sound(text: str) -> str:
    """Return text that can be stored, shown and sent: halves of a character joined or replaced, NUL replaced."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd")


def fold(text: str) -> str:
    """Return text for comparing: cleaned, case-folded, full-width and other forms of a letter as the letter itself,
    the dotless i as i, without combining marks on Latin, Greek and Cyrillic letters.
    """
    text = clean(text)
    if text.isascii():
        return text.lower()
    kept: list[str] = []
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u0131", "i")
    for char in unicodedata.normalize("NFD", plain):
        if unicodedata.combining(char) and kept and ord(kept[-1]) < 0x530:
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def words(text: str) -> list[str]:
    """Return the folded words of a text in order; scripts without spaces give overlapping pairs of letters.

    Each emoji is a word; a text of punctuation only is one word, so that whatever was stored can be found again.
    """
    found: list[str] = []
    folded = fold(text).replace("\u2019", "'")
    for word in WORD.findall(folded):
        if word.isascii():
            found.append(word.removesuffix("'s").replace("'", ""))
        else:
            found.extend(cut(word))
    return found or [piece[:64] for piece in folded.split()[:64]]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of a folded word: by its script, in Latin letters as Snowball's English stemmer has it.

    Every passage is found by these; `forms.py` adds what other languages in Latin letters need.
    """
    if not word.isascii():
        found = stem_by_script(word)
        if found is not None:
            return found
    return str(_stemmer.stemWord(word))


def terms(text: str) -> list[str]:
    """Return the stems of all words of a text, stop words included.

    The letters of scripts without spaces follow one by one, since many words there are a single one.
    """
    return stems_of(words(text), text)


def stems_of(found: Sequence[str], text: str) -> list[str]:
    """Return `terms` of a text whose words are known."""
    stems = [stem(word) for word in found]
    if not text.isascii():
        for run in UNSPACED.findall(fold(text)):
            units = clusters(run)
            if len(units) > 1:
                stems.extend(stem(unit) for unit in units)
    return stems


def content_terms(text: str) -> list[str]:
    """Return the stems that carry meaning in English; when a text has only stop words, those."""
    found = words(text)
    kept = [stem(word) for word in found if word not in STOP_WORDS]
    return kept or [stem(word) for word in found]
