"""Fills the holes of a text: `{slot}`, `{slot.form}`, `{^slot}` with a capital, `{day-3}` for the weekday three days
before it is said, `{list}` for a word of a list. Draws do not repeat within a chat until a list is used up.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from bench.assistants.values import Entry

_HOLE: Final = re.compile(r"\{(\^?)([a-z]\w*)(?:\.(\w+))?([+-]\d+)?\}")
_TIMES: Final = {"day": "%A", "month": "%B", "year": "%Y"}


class Deck:
    """The word lists as one chat draws from them."""

    def __init__(self, words: Mapping[str, Sequence[Entry]], chance: random.Random) -> None:
        self._words = words
        self._chance = chance
        self._left: dict[str, list[Entry]] = {}

    def knows(self, name: str) -> bool:
        """Whether there is such a list."""
        return name in self._words

    def draw(self, name: str) -> Entry:
        """Return a word that this chat has not drawn yet; round again when all were."""
        if not self._left.get(name):
            self._left[name] = self._chance.sample(self._words[name], len(self._words[name]))
        return self._left[name].pop()


def form(value: Any, name: str = "") -> str:
    """Return a form of a word; the plain one when no name is given."""
    if isinstance(value, Mapping):
        return str(value[name or "name"])
    if name:
        raise ValueError(f"no form {name!r} of {value!r}")
    return str(value)


def written(day: datetime) -> str:
    """Return a day as an answer gives it: 4 May 2025."""
    return f"{day.day} {day:%B %Y}"


def _time(name: str, when: datetime, offset: str) -> str:
    day = when + timedelta(days=int(offset or 0))
    return f"{day.day} {day:%B}" if name == "date" else day.strftime(_TIMES[name])


def fill(text: str, values: Mapping[str, Any], deck: Deck, when: datetime) -> str:
    """Return the text without holes. Raises `KeyError` for one that nothing fills."""

    def one(hole: re.Match[str]) -> str:
        capital, name, kind, offset = hole.groups()
        if name in values:
            found = form(values[name], kind or "")
        elif name == "date" or name in _TIMES:
            found = _time(name, when, offset or "")
        elif deck.knows(name):
            found = form(deck.draw(name), kind or "")
        else:
            raise KeyError(f"nothing fills {hole.group()} in: {text[:120]}")
        return found[:1].upper() + found[1:] if capital else found

    return _HOLE.sub(one, text)
