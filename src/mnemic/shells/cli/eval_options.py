"""What the options of `mnemic eval` say, as values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of every run."""

    out: Path | None
    baselines: str
    only: tuple[str, ...]
    first: int | None
    drop: bool
    fresh: bool
    unrefined: bool


@dataclass(frozen=True, slots=True)
class Sought:
    """The options of answers, and whether these are asked for at all."""

    answers: bool
    conditions: str | None
    budget: int | None
    limit: int | None
    seed: int | None
    price_in: float | None
    price_out: float | None
