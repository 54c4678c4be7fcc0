"""Sentences, passages that are embedded one by one, and how many tokens a text costs: cuts, never rewordings."""

from __future__ import annotations

import re

_CLOSING = "\"'\u201d\u2019)\\]"
_SENTENCE_END = re.compile(
    # Latin, Arabic, Devanagari, Khmer and Burmese ones
    rf"(?<=[.!?\u2026\u061f\u06d4\u0964\u0965\u17d4\u17d5\u104b])[{_CLOSING}]*\s+"
    r"|(?<=[\u3002\uff01\uff1f\uff61])(?![\u300d\u300f\u201d\u2019\uff09\u3002\uff01\uff1f])"  # no space follows these
    r"|(?<=[\u3002\uff01\uff1f\uff61][\u300d\u300f\u201d\u2019\uff09])"
    r"|[\n\u2028\u2029]+"
)
_ASIAN = re.compile(r"[\u0900-\u1fff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc]")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|approx|No)\.[\"']?$")


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

    A letter of South and East Asian scripts counts as one, though it has three bytes. It stays at or above the count of
    common byte-pair tokenizers for prose, so that a budget is not exceeded.
    """
    if not text:
        return 0
    count = len(text.split())
    if text.isascii():
        return max(1, round(count * 1.3), -(-len(text) // 4))
    size = len(text.encode("utf-8", "replace"))
    return max(1, round(count * 1.3), -(-(size + len(_ASIAN.findall(text))) // 4))


def shorten(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters on one line, cut at a word and marked with an ellipsis."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    cut = flat[: limit - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut).rstrip(",;:. ") + "\u2026"
