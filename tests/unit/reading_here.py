"""Reads files in this process, as the child does it, so that tests of families cost no process each."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.families import read
from mnemic.model.reading import Block, BlockKind, Reading
from mnemic.ports.reader import Limits


def read_here(
    content: bytes, name: str, *, media: str = "", password: str = "", office: str = "", **limits: Any
) -> Reading:
    """Return what a file says. Raises what reading it raises."""
    blocks: list[Block] = []
    ends: list[Mapping[str, Any]] = []

    def write(what: Mapping[str, Any]) -> None:
        if "block" in what:
            blocks.append(Block(**{**what["block"], "kind": BlockKind(what["block"]["kind"])}))
        if "end" in what:
            ends.append(what["end"])

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "given"
        path.write_bytes(content)
        inner = Path(folder) / "free"
        inner.mkdir()
        asked = Asked(path, name, inner, media, password, Limits(**limits), office)
        telling = Telling(write, asked.limits)
        read(asked, telling)
        telling.end()
    return Reading(blocks=tuple(blocks), **ends[0])


def kinds(reading: Reading) -> list[tuple[str, str]]:
    """Return the kind and text of each block."""
    return [(block.kind.value, block.text) for block in reading.blocks]


def of_kind(reading: Reading, kind: BlockKind) -> list[Block]:
    """Return the blocks of a kind."""
    return [block for block in reading.blocks if block.kind is kind]
