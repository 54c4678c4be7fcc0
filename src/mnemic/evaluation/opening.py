"""Opens a file as a dataset by the name of its layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from mnemic.errors import InputError
from mnemic.evaluation import jsonl, locomo, longmemeval
from mnemic.evaluation.datasets import Dataset

LAYOUTS: Final[Mapping[str, Callable[[Path], Dataset]]] = MappingProxyType(
    {each.KIND: each.open_file for each in (locomo, longmemeval, jsonl)}
)
"""Every layout by its name."""


def open_dataset(layout: str, path: Path) -> Dataset:
    """Return a file as a dataset. Raises `InputError` for an unknown layout, an unreadable file, or its faults."""
    if layout not in LAYOUTS:
        raise InputError("layout", f"{layout!r} is not known; known: {', '.join(LAYOUTS)}")
    return LAYOUTS[layout](path)
