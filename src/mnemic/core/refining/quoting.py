"""Where a quote stands in a text: models change spaces, marks, accents and case; the words must match."""

from __future__ import annotations

import unicodedata
from typing import Final

_SAME: Final = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u02bc": "'", "`": "'",
        "\u201c": '"', "\u201d": '"', "\u00ab": '"', "\u00bb": '"',
        "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2212": "-",
    }
)  # fmt: skip
_EDGES: Final = " .,;:!?\"'()[]\u2026\u3002\uff0c\uff01\uff1f\u3001"


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a quote stands in a text, (start, end); None when it does not.

    Of a quote with an ellipsis inside, each part must stand there, in order. It begins and ends with whole words.
    """
    plain, places = _plain(text)
    parts = [part for part in (_plain(each)[0].strip(_EDGES) for each in _split(quote)) if part]
    if not parts:
        return None
    start, at = -1, 0
    for part in parts:
        begins = _find(part, plain, at)
        if begins < 0:
            return None
        start = begins if start < 0 else start
        at = begins + len(part)
    return places[start], places[at - 1] + 1


def _find(part: str, plain: str, at: int) -> int:
    """Return where a part stands from a place on, not inside a word of Latin letters or a number; -1 for nowhere."""
    begins = plain.find(part, at)
    while begins >= 0 and (_cuts(plain, begins) or _cuts(plain, begins + len(part))):
        begins = plain.find(part, begins + 1)
    return begins


def _cuts(plain: str, place: int) -> bool:
    """Tell whether a place lies inside a word or number."""
    return (
        0 < place < len(plain) and plain[place - 1].isascii() and plain[place - 1].isalnum() and plain[place].isalnum()
    )


def _split(quote: str) -> list[str]:
    return quote.replace("\u2026", "...").split("...")


def _plain(text: str) -> tuple[str, list[int]]:
    """Return a text as it is compared, and for each of its characters the place that it came from."""
    found: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        for each in unicodedata.normalize("NFKD", char).translate(_SAME).casefold():
            if each.isspace():
                if found and found[-1] != " ":
                    found.append(" ")
                    places.append(place)
            elif unicodedata.category(each) not in ("Mn", "Cf"):
                found.append(each)
                places.append(place)
    return "".join(found), places
