"""Lines of a PDF's pages to blocks: what each page repeats is dropped, headings are told from the outline and the sizes
of letters, lines are joined to paragraphs, lists and code.

A PDF does not say what is a heading or a paragraph: all here is a guess from how pages are usually set.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mnemic.backends.readers.asked import Telling
from mnemic.backends.readers.pdf_lines import HYPHEN, LEADER, Page, Ruled, TextLine
from mnemic.backends.readers.pictures import tell_lines
from mnemic.backends.readers.rows import tell_table
from mnemic.model.reading import BlockKind

Outline = Mapping[int, Sequence[tuple[int, str]]]

_MARGIN: Final = 0.1
"""Share of a page's height, above and below, in which it may repeat what others have."""
_REPEATED: Final = 3
"""Pages on which a line stands there that belongs to none of them: titles of chapters run along over few."""
_LARGER: Final = 1.12
"""How much larger than the text a heading's letters are."""
_RARE: Final = 0.2
"""Share of all letters that headings of one size have at most."""
_SHORT: Final = 200
"""Characters of a heading at most."""
_GAP: Final = 0.45
"""Heights of a letter by which the space between paragraphs exceeds that between lines."""
_ITEM: Final = re.compile(r"(?:[•●◦▪■‣∙·○\u2013\u2014*\uf0b7-]|\(?(?:\d{1,2}|[a-zA-Z])[.)])\s+\S")
_BULLET: Final = re.compile(r"[•●◦▪■‣∙·○\uf0b7]\s*")
_SECTION: Final = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|[A-Z]\.(?:\d{1,2}\.?)*|[IVX]{1,5}\.|Chapter \d+|Appendix [A-Z])\s+\S"
)
_ENDS: Final = re.compile(r"[.!?:;…。\uff01\uff1f][\"'”\u2019)\]]*$")
_DIGITS: Final = re.compile(r"\d+|\b[ivxlc]+\b")
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'\\)\]]+[^\s<>\"'\\)\].,;:!?]")


@dataclass(slots=True)
class _Group:
    """Lines that belong together, on one page."""

    page: int
    lines: list[TextLine] = field(default_factory=list)
    table: Ruled | None = None

    @property
    def text(self) -> str:
        return joined([line.text for line in self.lines])

    @property
    def size(self) -> float:
        return max(self.lines, key=lambda line: len(line.text)).size

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)

    @property
    def mono(self) -> bool:
        return all(line.mono for line in self.lines)


def tell_pages(telling: Telling, pages: Sequence[Page], outline: Outline) -> None:
    """Tell the blocks of all pages."""
    _drop_repeated(pages)
    body = _body_size(pages)
    groups = {page.number: list(_groups(page)) for page in pages}
    levels = _levels([group for each in groups.values() for group in each], outline, body)
    mono = _mostly_mono(pages)
    for page in pages:
        telling.page = page.number
        tell_lines(telling, page.seen, page=page.number)
        for kind, group, text in _kinds(groups[page.number], levels, mono=mono):
            if group.table is not None:
                tell_table(telling, group.table.rows, page=page.number)
                continue
            level = levels.get(id(group), 0) if kind is BlockKind.HEADING else 0
            if not telling.title and kind is BlockKind.HEADING and page.number == 1:
                telling.title = text
            telling.block(kind, text, level=level, page=page.number)
            for address in _ADDRESS.findall(text):
                telling.link(address)
    telling.page = None


def joined(lines: Sequence[str]) -> str:
    """Return lines as one, with words whole that were parted at their ends."""
    text = ""
    for line in lines:
        if text.endswith((HYPHEN, "-")) and text[-2:-1].isalnum():
            last = text[:-1].rsplit(maxsplit=1)[-1]
            whole = line[:1].islower() and last[-1:].isalpha() and "-" not in last  # one that has others keeps it
            text = text[:-1] + ("" if whole else "-") + line
        else:
            text = f"{text} {line}" if text else line
    return text.replace(HYPHEN, "-") if text.endswith(HYPHEN) else text


def _drop_repeated(pages: Sequence[Page]) -> None:
    """Drop lines above and below that stand on many pages, numbers aside: titles that run along, page numbers."""
    counts: Counter[tuple[bool, str]] = Counter()
    for page in pages:
        counts.update({mark for line in page.lines if (mark := _mark(page, line)) is not None})
    repeated = {mark for mark, count in counts.items() if count >= _REPEATED}
    for page in pages:
        page.lines = [line for line in page.lines if _mark(page, line) not in repeated]


def _mark(page: Page, line: TextLine) -> tuple[bool, str] | None:
    above = line.bottom > (1 - _MARGIN) * page.height
    below = line.top < _MARGIN * page.height
    return (above, _DIGITS.sub("#", line.text.casefold())) if above or below else None


def _body_size(pages: Sequence[Page]) -> float:
    """Return the height of the letters that most of the text is set in."""
    counts: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            counts[_rounded(line.size)] += len(line.text)
    return counts.most_common(1)[0][0] if counts else 1.0


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _mostly_mono(pages: Sequence[Page]) -> bool:
    lines = [line for page in pages for line in page.lines]
    return sum(1 for line in lines if line.mono) > 0.5 * len(lines)


def _groups(page: Page) -> Iterator[_Group]:
    """Yield lines that belong together, and tables in the place of the lines that are in them."""
    usual = _usual_gap(page.lines)
    group = _Group(page.number)
    told: set[int] = set()
    for line in page.lines:
        table = next((each for each in page.tables if _inside(line, each)), None)
        if table is not None or (group.lines and _parts(group, line, usual)):
            if group.lines:
                yield group
            group = _Group(page.number)
        if table is None:
            group.lines.append(line)
        elif id(table) not in told:
            told.add(id(table))
            yield _Group(page.number, table=table)
    if group.lines:
        yield group


def _inside(line: TextLine, table: Ruled) -> bool:
    across, down = (line.left + line.right) / 2, (line.bottom + line.top) / 2
    return table.left - 2 <= across <= table.right + 2 and table.bottom - 2 <= down <= table.top + 2


def _usual_gap(lines: Sequence[TextLine]) -> float:
    """Return the usual space between lines of one size, in heights of their letters."""
    gaps = sorted(
        (above.bottom - below.top) / above.size
        for above, below in itertools.pairwise(lines)
        if abs(above.size - below.size) < 0.08 * above.size and -0.6 < (above.bottom - below.top) / above.size < 1.2
    )
    return gaps[len(gaps) // 2] if gaps else 0.1


def _parts(group: _Group, line: TextLine, usual: float) -> bool:
    """Tell whether a line begins something new."""
    last = group.lines[-1]
    if abs(line.bottom - last.bottom) < 0.4 * last.size and line.left >= last.right - 1:
        return False  # further along on the same line
    if abs(line.size - last.size) > 0.09 * last.size or line.mono != last.mono:
        return True
    if (
        LEADER.search(last.text)
        or _BULLET.match(line.text)
        or (_ITEM.match(line.text) and _ITEM.match(group.lines[0].text))
    ):
        return True
    gap = (last.bottom - line.top) / last.size
    if gap < -2:  # the next column
        return _ENDS.search(last.text) is not None or not line.text[:1].islower()
    if gap > usual + _GAP:
        return True
    ended = _ENDS.search(last.text) is not None
    if _ITEM.match(group.lines[0].text) and line.left < group.lines[0].left + 0.4 * line.size:
        return True  # back at the margin, or further out
    if line.bold != last.bold and (ended or group.bold):
        return True
    left, right = min(each.left for each in group.lines), max(each.right for each in group.lines)
    indented = len(group.lines) > 1 and line.left > left + 0.8 * line.size
    cut_short = last.right < right - 0.25 * (right - left)
    return ended and (indented or cut_short) and not line.mono


def _levels(groups: Sequence[_Group], outline: Outline, body: float) -> dict[int, int]:
    """Return the level of each group that is a heading, by its id: as the outline has it, else by size."""
    entries = {page: [(level, _key(words)) for level, words in each] for page, each in outline.items()}
    wanted = sum(map(len, entries.values()))
    known: dict[int, int] = {}
    by_size: dict[float, Counter[int]] = {}
    for group in groups:
        level = _outlined(group, entries.get(group.page, ()))
        if level:
            known[id(group)] = min(6, level)
            by_size.setdefault(_rounded(group.size), Counter())[min(6, level)] += 1
    if len(known) < max(2, 0.4 * wanted):
        known, by_size = {}, {}
    return {**_by_size(groups, body, by_size), **known}


def _outlined(group: _Group, entries: Sequence[tuple[int, str]]) -> int:
    if group.table is not None or not entries or len(group.text) > _SHORT:
        return 0
    key = _key(group.text)
    for level, words in entries:
        if words and (key == words or (key.endswith(words) and len(key) - len(words) <= 6)):
            return level
    return 0


def _key(words: str) -> str:
    return re.sub(r"\W+", "", words).casefold()


def _by_size(groups: Sequence[_Group], body: float, known: Mapping[float, Counter[int]]) -> dict[int, int]:
    """Return levels by size; sizes that the outline names have its level, others follow in their order."""
    large = [group for group in groups if _may_head(group, body)]
    letters = sum(len(line.text) for group in groups for line in group.lines) or 1
    sizes: Counter[float] = Counter()
    for group in groups:
        if group.table is None and group.size > body * _LARGER:
            sizes[_rounded(group.size)] += len(group.text)
    ranked = sorted((size for size, count in sizes.items() if count <= _RARE * letters or count < 300), reverse=True)
    levels = {size: min(6, at) for at, size in enumerate(ranked, start=1)}
    deepest = max(levels.values(), default=0)
    if known:
        deepest = max(level for counts in known.values() for level in counts)
        largest = max(known)
        levels = {size: 1 if size > largest else min(6, deepest + 1) for size in levels}
        levels.update({size: counts.most_common(1)[0][0] for size, counts in known.items()})
    found = {}
    for group in large:
        size = _rounded(group.size)
        if size in levels:
            found[id(group)] = levels[size]
        elif group.bold:
            found[id(group)] = min(6, deepest + 1)
    return found


def _may_head(group: _Group, body: float) -> bool:
    if group.table is not None or len(group.lines) > 3 or not any(letter.isalpha() for letter in group.text):
        return False
    text = group.text
    if len(text) > _SHORT or text.endswith((",", ";")) or _BULLET.match(text) or LEADER.search(text):
        return False
    if group.size > body * _LARGER:
        return True
    if not group.bold or group.mono or group.size < body * 0.95 or len(text) > 100:
        return False
    return _SECTION.match(text) is not None or not _ENDS.search(text)


def _kinds(
    groups: Sequence[_Group], levels: Mapping[int, int], *, mono: bool
) -> Iterator[tuple[BlockKind, _Group, str]]:
    """Yield what each group is; items that follow each other are one list, code too."""
    waiting: tuple[BlockKind, _Group, list[str]] | None = None
    for group in groups:
        kind = _kind(group, levels, mono=mono)
        if waiting is not None and waiting[0] is not kind:
            yield waiting[0], waiting[1], "\n".join(waiting[2])
            waiting = None
        if kind is BlockKind.LIST:
            text = _BULLET.sub("- ", group.text, count=1) if _BULLET.match(group.text) else group.text
            waiting = (kind, group, [*(waiting[2] if waiting else []), text])
        elif kind is BlockKind.CODE:
            waiting = (kind, group, [*(waiting[2] if waiting else []), *_indented(group.lines)])
        else:
            yield kind, group, group.text if group.lines else ""
    if waiting is not None:
        yield waiting[0], waiting[1], "\n".join(waiting[2])


def _kind(group: _Group, levels: Mapping[int, int], *, mono: bool) -> BlockKind:
    if group.table is not None:
        return BlockKind.TABLE
    if id(group) in levels:
        return BlockKind.HEADING
    if group.mono and not mono and (len(group.lines) > 1 or len(group.text) < 120):
        return BlockKind.CODE
    listed = _BULLET.match(group.text) or _ITEM.match(group.text) or LEADER.search(group.text)
    return BlockKind.LIST if listed else BlockKind.PARAGRAPH


def _indented(lines: Sequence[TextLine]) -> Iterator[str]:
    """Yield lines of code with the room before them, which a PDF has only as a place on the page."""
    left = min(line.left for line in lines)
    for line in lines:
        width = (line.right - line.left) / max(1, len(line.text))
        yield " " * min(60, round((line.left - left) / max(1.0, width))) + line.text.replace(HYPHEN, "-")
