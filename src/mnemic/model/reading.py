"""What a file says, as readers hand it over: blocks in the order in which a person reads them, each with its place.

The text of a file is its blocks, joined by blank lines; all offsets (of chunks, of quotes) count characters of that.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

BETWEEN: Final = "\n\n"
"""What stands between two blocks."""


class BlockKind(enum.StrEnum):
    """What a block is. A table's text is one row a line, cells between ` | `; code keeps its lines."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    NOTE = "note"
    CAPTION = "caption"


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a file.

    `level` is 1 to 6 for a heading, 0 otherwise. `page` counts from 1: pages, slides; None where a file has none.
    `part` names a sheet, a chapter's file or a mail's attachment. `row` is the number, from 1, of a table's first row
    of data in its sheet or file, and `header` the line that names its columns, which is not part of `text`. `seen` says
    that the words were read from a picture.
    """

    kind: BlockKind
    text: str
    level: int = 0
    page: int | None = None
    part: str = ""
    row: int | None = None
    header: str = ""
    seen: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A file as it was read.

    `metadata` has what the file says about itself (author, created, modified, language, site, …), as text; times in ISO
    8601. `notes` tell what the reader did not read, or read otherwise, in words for people.
    """

    title: str
    blocks: Sequence[Block]
    media: str
    pages: int = 0
    metadata: Mapping[str, str] = field(default_factory=dict)
    links: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def text(self) -> str:
        """All that was read, in order."""
        return BETWEEN.join(block.text for block in self.blocks)

    def placed(self) -> Iterator[tuple[int, Block]]:
        """Yield each block with where it starts in `text`."""
        start = 0
        for block in self.blocks:
            yield start, block
            start += len(block.text) + len(BETWEEN)
