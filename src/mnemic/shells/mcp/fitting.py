"""How much of a result a model's context is given: whole entries, the first ones first, within a budget of tokens.

Counted is the JSON that is sent, by the estimate that packing uses, which stays above what common tokenizers count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, TypeVar

from mnemic.shells.mcp.results import Result
from mnemic.text import estimate_tokens, sound

R = TypeVar("R", bound=Result)

_BESIDE: Final = ("sources", "metadata", "note", "before", "reason", "attachments", "notes")
"""Fields without which an entry still says what it says."""

FRAME: Final = 60
"""Tokens kept for what stands around the entries."""

SHARE: Final = 0.5
"""Part of a budget that one text may take, so that a long one leaves room for others."""


def dumped(result: Result) -> dict[str, Any]:
    """Return a result as it travels: without what is not known or goes without saying, in text that can be sent."""
    found: dict[str, Any] = _sound(result.model_dump(mode="json", exclude_none=True, exclude_defaults=True))
    return found


def written(value: object) -> str:
    """Return a value as JSON text, without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fit(entries: Iterable[R], budget: int, *, least: int = 1) -> tuple[list[R], int]:
    """Return the entries that fit, in order, and how many were left out.

    So many as `least` are always kept: where one would be too much, without what stands beside its text.
    """
    kept: list[R] = []
    room, left = budget - FRAME, 0
    for entry in entries:
        cost = tokens(entry)
        if len(kept) >= least and (left or cost > room):
            left += 1
            continue
        kept.append(entry if cost <= room else _bare(entry))
        room -= cost
    return kept, left


def tokens(entry: Result) -> int:
    """Return how many tokens an entry takes at most."""
    return estimate_tokens(written(dumped(entry)))


def cut(text: str, budget: int) -> str:
    """Return as much of a text from its beginning as takes so many tokens at most."""
    if estimate_tokens(text) <= budget:
        return text
    low, high = 0, min(len(text), 4 * budget)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle]) <= budget else (low, middle - 1)
    return text[: max(low, 1)]


def _bare(entry: R) -> R:
    absent = {name: field.get_default() for name, field in type(entry).model_fields.items() if name in _BESIDE}
    return entry.model_copy(update=absent)


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, dict):
        return {sound(str(name)): _sound(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_sound(inner) for inner in value]
    return value
