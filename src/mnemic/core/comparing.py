"""How the newer of two statements stands to the older one, where only a language model can tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, get_args

from mnemic.core.prompts import load, on_one_line
from mnemic.core.replies import entries_in, picked
from mnemic.core.shapes import TEXT, list_of, object_of, one_of
from mnemic.model.language import Prompt, Reply, Turn
from mnemic.model.memory import Candidate, Version

Standing = Literal["same", "more", "replaces", "ends", "conflicts", "different"]

_STANDINGS: Final[tuple[Standing, ...]] = get_args(Standing)
_SHAPE: Final = object_of(pairs=list_of(object_of(pair=TEXT, change=one_of(_STANDINGS))))
_EXCERPT: Final = 300  # characters of a statement that are shown


def comparing_prompt(pairs: Sequence[tuple[Version, Version | Candidate]]) -> Prompt:
    """Return what a language model is asked about pairs of statements, the older one first."""
    lines = [line for number, pair in enumerate(pairs, 1) for line in _lines(number, *pair)]
    turns = (Turn("system", load("pairs")), Turn("user", "\n".join(lines)))
    return Prompt(turns, schema=_SHAPE, max_tokens=64 + 24 * len(pairs))


def standings(reply: Reply, count: int) -> dict[int, Standing]:
    """Return what a reply says of so many pairs, by their places. Raises `LanguageError` when it holds no JSON."""
    found: dict[int, Standing] = {}
    for entry in entries_in(reply, "pairs"):
        place = picked(entry.get("pair"), range(count))
        told = next((each for each in _STANDINGS if each == entry.get("change")), None)
        if place is not None and told is not None:
            found[place] = told
    return found


def _lines(number: int, known: Version, new: Version | Candidate) -> list[str]:
    return [
        f"p{number} known (since {known.valid_from:%Y-%m-%d}): {on_one_line(known.text, _EXCERPT)}",
        f"   new (since {new.valid_from:%Y-%m-%d}): {on_one_line(new.text, _EXCERPT)}",
    ]
