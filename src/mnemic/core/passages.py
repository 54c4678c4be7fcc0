"""What is shown of passages of documents: the words to quote, the order in which documents are heard, how sure it is.

Passages are ranked by the plain sum of the channels: the learned weights know how people talk, not how documents are
written. `PASSAGES` makes a probability of that sum, so that a passage can stand beside what was said, whose score is
one too; `python -m bench.knowledge --fit` finds its numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from mnemic.core.fusion import Fusion, Row
from mnemic.core.ranking import Weights, shares_of
from mnemic.model.document import Chunk, ChunkKind, Locator
from mnemic.text import content_terms, sentence_spans

T = TypeVar("T")

IN_A_ROW: Final = 2
"""Passages of one document that may stand behind each other while another document has something to say."""

WORTH_HEARING: Final = 0.1
"""What a passage of another document must be worth to go first, as a share of the one that it goes before."""

_QUOTED: Final = 400
"""Characters of a quotation at most."""

_SUMMED: Final = ("dense", "lexical", "dense_pair", "lexical_pair", "neighbour", "session", "speaker", "entity", "time")

PASSAGES: Final = Fusion(
    rows={name: Row(share) for name, share in shares_of(Weights()).items() if name in _SUMMED},
    sureness={"sum": 38.29, "dense": -12.38, "lexical": -5.33},
    offset=-6.64,
)
"""The plain sum, as log-odds: the better the best passage comes, the less the others are worth beside it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a passage, `start:end` of its text, and where they stand."""

    text: str
    start: int
    end: int
    locator: Locator


def quote_of(chunk: Chunk, stems: Collection[str]) -> Quote:
    """Return the sentence of a passage that fits a question's stems best; of a table the row, of code the line.

    One that only leads to what is said, as headings do, is quoted with the one behind it. A stem tells the more, the
    fewer parts of the passage hold it. Of parts that fit as well, the first.
    """
    spans = _parts(chunk)
    if not spans:
        return Quote(chunk.text[:_QUOTED], 0, min(len(chunk.text), _QUOTED), chunk.locator)
    held = [set(content_terms(chunk.text[start:end])) & set(stems) for start, end in spans]
    counts = Counter(stem for each in held for stem in each)
    best = max(range(len(spans)), key=lambda place: (sum(1 / counts[stem] for stem in held[place]), -place))
    start, end = spans[best]
    after = spans[best + 1] if best + 1 < len(spans) else None
    if chunk.kind is ChunkKind.PASSAGE and after is not None and _leads(chunk.text[start:end]):
        end = after[1]
    if end - start > _QUOTED:
        start, end = _around(chunk.text, start, end, held[best])
    return Quote(chunk.text[start:end], start, end, located(chunk, start, end))


def located(chunk: Chunk, start: int, end: int) -> Locator:
    """Return where `start:end` of a chunk's text stands in its document."""
    return placed(chunk.text, chunk.locator, start, end, table=chunk.kind is ChunkKind.TABLE)


def placed(text: str, at: Locator, start: int, end: int, *, table: bool) -> Locator:
    """Return where `start:end` of a passage's text stands in its document: its offsets there, and its row in a table.

    A passage may repeat a header, or the sentence that leads a list in, in front of what it is cut from: offsets are
    counted from its end.
    """
    length, rows = len(text), _rows_begin(text, at)
    begins = min(max(at.end - (length - start), at.start), at.end)
    at = replace(at, start=begins, end=min(max(at.end - (length - end), begins), at.end))
    if at.row is None or not table:
        return at
    above = sum(1 for begin, _ in _lines(text) if rows <= begin < start)
    return replace(at, row=at.row + above)


def _rows_begin(text: str, at: Locator) -> int:
    """Return where a table's rows begin in a passage, behind what is told above it and the header."""
    told = text.rfind("\n\n")
    if told < 0:
        return max(0, len(text) - (at.end - at.start))
    header = text.find("\n", told + 2)
    return header + 1 if header >= 0 else len(text)


def place_of(locator: Locator) -> str:
    """Return where something stands, without the headings: handbook.pdf, p. 3."""
    return str(replace(locator, headings=()))


def in_turn(found: Sequence[T], document: Callable[[T], str], worth: Callable[[T], float]) -> list[T]:
    """Return what was found, best first, so that no document fills the list while another has something to say.

    What is of no document (`document` gives "") is a voice of its own.
    """
    left, heard = list(found), list[T]()
    last, run = "", 0
    while left:
        place = 0
        if last and run >= IN_A_ROW and document(left[0]) == last:
            least = WORTH_HEARING * worth(left[0])
            place = next((at for at, one in enumerate(left) if document(one) != last and worth(one) >= least), 0)
        one = left.pop(place)
        run = run + 1 if document(one) == last else 1
        last = document(one)
        heard.append(one)
    return heard


def _parts(chunk: Chunk) -> list[tuple[int, int]]:
    """Return what a passage is quoted by: its sentences, the rows of a table without the header, the lines of code."""
    if chunk.kind is ChunkKind.TABLE:
        begin = _rows_begin(chunk.text, chunk.locator)
        return [span for span in _lines(chunk.text) if span[0] >= begin] or _lines(chunk.text)
    return _lines(chunk.text) if chunk.kind is ChunkKind.CODE else list(sentence_spans(chunk.text))


def _leads(words_: str) -> bool:
    return words_.rstrip().endswith(":") or len(words_.split()) <= 3


def _lines(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            spans.append((start, start + len(line.rstrip())))
        start += len(line)
    return spans


def _around(text: str, start: int, end: int, stems: Collection[str]) -> tuple[int, int]:
    """Return a stretch of a long part that begins at a word, shortly before the first that was asked for."""
    place = start
    for begin in range(start, end, 40):
        if set(content_terms(text[begin : begin + 80])) & set(stems):
            place = max(start, begin - 80)
            break
    space = text.find(" ", place, end) if place > start else -1
    place = space + 1 if space >= 0 else place
    return place, min(end, place + _QUOTED)
