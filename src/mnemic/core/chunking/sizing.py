"""How large a chunk is: an estimate of the word pieces that a sentence embedder makes of a text.

Embedders read a window (the bundled one 256 word pieces) and nothing beyond it. `text.estimate_tokens` counts what a
language model sees of prose; tables of figures make up to 1.8 times as many word pieces. Of 4,000 passages of manuals,
change logs, Markdown, code and tables, measured with the bundled embedder's tokenizer, 95 in 100 have at most 1.15
times as many as is said here: chunks of 220 fit its window.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_UNSPACED: Final = "\u0e00-\u0eff\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc"
_PIECE: Final = re.compile(rf"[A-Za-z]+|[0-9]+|[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+|\S")
_WORD: Final = re.compile(r"\S+")
_KNOWN: Final = 6  # letters of a piece; words in everyday use are longer, technical ones are cut into shorter ones
_UNKNOWN: Final = 4  # of letters beyond ASCII, every 4 make 3 pieces


def size_of(text: str) -> int:
    """Return about how many word pieces a text is. Of two texts joined it is never more than of both."""
    return sum(map(_weight, _PIECE.findall(text)))


def fitting(text: str, room: int) -> str:
    """Return the beginning of a text, of whole words where one fits, that is not larger than the room."""
    end = next(iter(parts(text, max(1, room))), (0, 0))[1]
    return text[:end]


def parts(text: str, room: int) -> list[tuple[int, int]]:
    """Cut a text into spans no larger than the room: between words, and inside of one only when it is larger."""
    spans: list[tuple[int, int]] = []
    used = 0
    for word in _WORD.finditer(text):
        size = size_of(word.group())
        if spans and used + size <= room:
            spans[-1] = (spans[-1][0], word.end())
            used += size
            continue
        start = word.start()
        while size > room:  # no character is more than one piece
            spans.append((start, start + room))
            start += room
            size = size_of(text[start : word.end()])
        used = size if start < word.end() else room
        if start < word.end():
            spans.append((start, word.end()))
    return spans


@lru_cache(maxsize=65_536)
def _weight(word: str) -> int:
    length = len(word)
    if length == 1:
        return 1
    if word[0].isdigit() and word.isascii():
        return (length + 1) // 2
    if word.isascii():
        return 1 + (length - 1) // _KNOWN
    return -(-3 * length // _UNKNOWN)
