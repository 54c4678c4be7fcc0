"""What counts as a word, a sentence and a token, for everything that reads text.

Indexing, extraction and packing share these so that they agree. Stemming is Snowball's English stemmer (Porter2);
words of other scripts pass through it unchanged, and scripts without spaces are cut into character bigrams.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

import Stemmer

_stemmer = Stemmer.Stemmer("english")

STOP_WORDS: Final = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing don down during each few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just let me more most my myself no nor not of off on
    once only or other our ours ourselves out over own same she should so some such than that the their theirs them
    themselves then there these they this those through to too under until up us very was we were what when where
    which while who whom why will with would you your yours yourself yourselves ll re ve s t d m im ive id dont didnt
    doesnt isnt wasnt arent cant couldnt wont wouldnt thats whats hes shes theyre youre weve yeah oh hey hi wow ok
    okay gonna wanna really got get""".split()
)
"""English function words and fillers: they carry no topic, and are searched only when nothing else is left."""

_EMOJI = "\u2300-\u23ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u0670\u06d6-\u06ed\u0900-\u109f\u1780-\u17ff"
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*(?:['\u2019](?:[^\W_]|[{_MARKS}])+)*|[{_EMOJI}]")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f]+"
)
_SENTENCE_END = re.compile(r"(?<=[.!?\u2026])[\"'\u201d\u2019)\]]*\s+|(?<=[\u3002\uff01\uff1f])|[\n\u2028\u2029]+")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|approx|No)\.[\"']?$")


def clean(text: str) -> str:
    """Return text that every index can hold: NFC, lone surrogates and NUL replaced, byte-order marks dropped."""
    if text.isascii() and "\0" not in text:
        return text
    safe = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return unicodedata.normalize("NFC", safe.replace("\0", "\ufffd").replace("\ufeff", ""))


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
    """Return the folded words of a text in order; scripts without spaces give overlapping character bigrams.

    Each emoji is a word; a text of punctuation only is one word, so that whatever was stored can be found again.
    """
    found: list[str] = []
    folded = fold(text).replace("\u2019", "'")
    for word in _WORD.findall(folded):
        if word.isascii():
            found.append(word.removesuffix("'s").replace("'", ""))
        else:
            found.extend(_cut_unspaced(word))
    return found or [piece[:64] for piece in folded.split()[:64]]


def _cut_unspaced(word: str) -> list[str]:
    pieces: list[str] = []
    position = 0
    for match in _UNSPACED.finditer(word):
        if match.start() > position:
            pieces.append(word[position : match.start()])
        run = match.group()
        pieces.extend([run[i : i + 2] for i in range(len(run) - 1)] or [run])
        position = match.end()
    if position < len(word):
        pieces.append(word[position:])
    return pieces


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the Snowball English stem of a folded word."""
    return str(_stemmer.stemWord(word))


def terms(text: str) -> list[str]:
    """Return the stems of all words of a text, stop words included: what the full-text index holds.

    The characters of scripts without spaces follow one by one, since many words there are a single character.
    """
    found = [stem(word) for word in words(text)]
    if not text.isascii():
        found.extend(char for run in _UNSPACED.findall(fold(text)) if len(run) > 1 for char in run)
    return found


def content_terms(text: str) -> list[str]:
    """Return the stems that carry meaning; when a text has only stop words, those."""
    found = words(text)
    kept = [stem(word) for word in found if word not in STOP_WORDS]
    return kept or [stem(word) for word in found]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) offsets of the sentences of a text, outer white space left out."""
    spans: list[tuple[int, int]] = []
    start = 0
    cuts = [
        match
        for match in _SENTENCE_END.finditer(text)
        if not _ABBREVIATION.search(text[max(0, match.start() - 12) : match.start()])
    ]
    for begin, end in [*((cut.start(), cut.end()) for cut in cuts), (len(text), len(text))]:
        piece = text[start:begin]
        left = len(piece) - len(piece.lstrip())
        if piece.strip():
            spans.append((start + left, start + len(piece.rstrip())))
        start = end
    return spans


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [text[start:end] for start, end in sentence_spans(text)]


def passages(text: str, size: int = 1_200) -> list[tuple[int, int]]:
    """Cut a text into spans of at most `size` characters along sentences; a text that fits is one span.

    Together the spans cover every non-space character, so that the middle of a very long message is found too.
    """
    if len(text) <= size:
        return [(0, len(text))]
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        if spans and end - spans[-1][0] <= size:
            spans[-1] = (spans[-1][0], end)
            continue
        spans.extend(_cut_long(text, start, end, size))
    return spans or [(0, len(text))]


def _cut_long(text: str, start: int, end: int, size: int) -> list[tuple[int, int]]:
    """Cut one long sentence at spaces, or anywhere when it has none."""
    spans: list[tuple[int, int]] = []
    left = start
    while end - left > size:
        cut = text.rfind(" ", left + size // 2, left + size)
        cut = cut if cut > 0 else left + size
        spans.append((left, cut))
        left = cut
    return [*spans, (left, end)]


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a language model sees: the larger of 1.3 per word and a quarter of the bytes of UTF-8.

    It stays at or above the count of common byte-pair tokenizers for prose, so that a budget is not exceeded.
    """
    if not text:
        return 0
    count = len(text.split())
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return max(1, round(count * 1.3), -(-size // 4))


def shorten(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters on one line, cut at a word and marked with an ellipsis."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    cut = flat[: limit - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut).rstrip(",;:. ") + "\u2026"
