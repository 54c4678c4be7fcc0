"""What a script alone decides: how a run without spaces is cut, and the stem of a word that is not in Latin letters.

Runs are cut into what a reader sees as one letter (a Thai consonant with its vowels and tone, a Hangul syllable, an
ideograph) and these are taken in overlapping pairs. Arabic is stemmed by affixes, after Larkey, Ballesteros & Connell
2002 ("light10"); Cyrillic, Greek, Devanagari, Tamil and Armenian by Snowball; the two kana of Japanese are one.
"""

# ruff: noqa: RUF001 - affixes stand in their own letters

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final

import Stemmer

UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f]+"
)
"""A run in a script that is written without spaces, or whose words are too long to be looked for whole (Hangul)."""

_MARKS: Final = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"  # Thai, Lao
    "\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074"  # Burmese
    "\u1082-\u108d\u108f\u109a-\u109d"
    "\u17b4-\u17d3\u17dd\u3099\u309a"  # Khmer; the marks that voice a kana
)
_CLUSTER: Final = re.compile(
    rf"[\u0e40-\u0e44\u0ec0-\u0ec4]?[^\u0e40-\u0e44\u0ec0-\u0ec4{_MARKS}][{_MARKS}]*[\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3]?"
    r"|[\u0e40-\u0e44\u0ec0-\u0ec4]"
)


def clusters(run: str) -> list[str]:
    """Return the letters of an unspaced run as they are read, each with its marks; marks that follow nothing go."""
    return _CLUSTER.findall(run)


def pairs(units: list[str]) -> list[str]:
    """Return overlapping pairs of letters; of one letter, the letter."""
    return [left + right for left, right in pairwise(units)] or units


def cut(word: str) -> list[str]:
    """Return a word of any script with its unspaced runs in pairs, in order."""
    pieces: list[str] = []
    position = 0
    for match in UNSPACED.finditer(word):
        if match.start() > position:
            pieces.append(word[position : match.start()])
        pieces.extend(pairs(clusters(match.group())))
        position = match.end()
    if position < len(word):
        pieces.append(word[position:])
    return pieces


def _snowball(language: str) -> Callable[[str], str]:
    stemmer = Stemmer.Stemmer(language)
    return lambda word: str(stemmer.stemWord(word))


_russian: Final = _snowball("russian")
_SHORT_I: Final = re.compile("(?<=[\u0435\u043e\u044b])\u0438$")

_KANA: Final = {code: code - 0x60 for code in range(0x30A1, 0x30F7)} | {0x30FD: 0x309D, 0x30FE: 0x309E}

_ARABIC_LETTERS: Final = str.maketrans(
    {
        **dict.fromkeys("\u0622\u0623\u0625\u0671", "\u0627"),  # alef with madda or hamza, wasla
        **dict.fromkeys("\u0649\u06cc", "\u064a"),  # alef maqsura, Persian ya
        "\u0624": "\u0648",
        "\u0626": "\u064a",
        "\u06a9": "\u0643",  # Persian kaf
        **{chr(code): "" for code in (0x640, *range(0x610, 0x61B), *range(0x64B, 0x660), 0x670, *range(0x6D6, 0x6EE))},
    }
)
"""One form for letters that are written for one another; the stroke that stretches a word and vowel signs go."""

_ARTICLES: Final = tuple("وال بال كال فال ولل ال لل".split())  # the, alone or with and, by, like, so, to
_ENDINGS: Final = tuple("ها ان ات ون ين يه ية هم نا ه ة ي".split())
_CLITICS: Final = "\u0648\u0641\u0628\u0643\u0644\u0633"  # and, so, by, like, to, will
_PERSONS: Final = "\u0627\u064a\u062a\u0646"  # what a verb of now begins with
_HEBREW_PREFIX: Final = re.compile("^\u05d5?(?:\u05db\u05e9|[\u05d4\u05d1\u05dc\u05db\u05de\u05e9]){0,2}(?=.{3})")
_HEBREW_ENDING: Final = re.compile("(?<=...)(?:\u05d9\u05dd|\u05d5\u05ea|\u05d4|\u05d9)$")
_NIQQUD: Final = re.compile("[\u0591-\u05c7]")


def _arabic(word: str) -> str:
    found = word.translate(_ARABIC_LETTERS)
    if found.startswith("\u0648") and len(found) > 3 and not found.startswith(_ARTICLES):
        found = found[1:]
    article = next((each for each in _ARTICLES if found.startswith(each)), "")
    if len(found) >= len(article) + 2:
        found = found[len(article) :]
    for ending in _ENDINGS:
        if found.endswith(ending) and len(found) >= len(ending) + 2:
            found = found[: -len(ending)]
    return found or word


def _cyrillic(word: str) -> str:
    return _russian(_SHORT_I.sub("\u0439", word))  # folding took the breve from the short i


def _hebrew(word: str) -> str:
    return _NIQQUD.sub("", word)


def _kana(word: str) -> str:
    return word.translate(_KANA)


_STEMMERS: Final[tuple[tuple[int, int, Callable[[str], str]], ...]] = (
    (0x370, 0x3FF, _snowball("greek")),
    (0x400, 0x52F, _cyrillic),
    (0x531, 0x58F, _snowball("armenian")),
    (0x590, 0x5FF, _hebrew),
    (0x600, 0x6FF, _arabic),
    (0x900, 0x97F, _snowball("hindi")),
    (0xB80, 0xBFF, _snowball("tamil")),
    (0x3040, 0x30FF, _kana),
)


def stem_by_script(word: str) -> str | None:
    """Return the stem of a folded word by the script of its first letter, or None where the script has no stemmer."""
    first = ord(word[0])
    for start, end, stemmer in _STEMMERS:
        if start <= first <= end:
            return stemmer(word)
    return _kana(word) if first > 0x3000 else None


def root(stem: str) -> str | None:
    """Return what is left of an Arabic or Hebrew stem without the particles and endings that stand in one word with it.

    It is coarse: unlike words may share it, so that a match of roots should count less than one of stems.
    """
    first = ord(stem[0])
    if 0x590 <= first <= 0x5FF:
        return _HEBREW_ENDING.sub("", _HEBREW_PREFIX.sub("", stem))
    if not 0x600 <= first <= 0x6FF:
        return None
    found = stem[:-1] if len(stem) > 2 and stem[-1] in "تةه" else stem
    if len(found) > 3 and found[0] in _CLITICS:
        found = found[1:]
        if found.startswith(_ARTICLES[-2]) and len(found) > 4:
            found = found[2:]
    for _ in range(2):
        if len(found) > 3 and found[0] in _PERSONS:
            found = found[1:]
    return found
