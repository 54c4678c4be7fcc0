"""The further terms that a passage is found by: stems of its words in other languages than English, and parts of them.

A passage is indexed by its stems (`words.terms`) and, beside them, under terms that name the language (`de_feier`) in
each language that it may be in. A question looks for its words in the same way (`asking.py`). Since these terms are
apart from the stems, a wrong guess costs room and nothing else, and text in English has none of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import Stemmer

from mnemic.text.languages import FUNCTION_WORDS, STOP_WORDS, likely
from mnemic.text.scripts import root
from mnemic.text.words import WORD, clean, fold, stems_of, words

_SNOWBALL: Final[Mapping[str, str]] = {
    "de": "german", "nl": "dutch", "sv": "swedish", "da": "danish", "fr": "french", "es": "spanish",
    "pt": "portuguese", "it": "italian", "tr": "turkish", "pl": "polish", "fi": "finnish", "hu": "hungarian",
}  # fmt: skip
_STEM: Final[Mapping[str, Callable[[str], str]]] = {
    language: Stemmer.Stemmer(name).stemWord for language, name in _SNOWBALL.items()
}
COMPOUNDING: Final = frozenset(("de", "nl", "sv", "da", "fi", "hu"))
"""Languages that write several words as one."""

_AGGLUTINATING: Final = frozenset(("tr", "fi", "hu"))
"""Languages whose endings are too many for a stemmer to know: the first five letters stand for the word as well, which
in Turkish finds as much as a lemmatiser does (Can et al. 2008, "Information retrieval on Turkish texts")."""

PART: Final = 0.5
"""What it counts that a word stands in a passage in part only: as one half of a compound, or by its beginning."""

_BEGINNING: Final = 5  # letters
_LONG: Final = 7  # letters from which a word may be made of two
_ONSET = (
    "(?:[bcdfghjklmnpqrstvwxz]|[bpgkcfv]l|[bpgkctdfvw]r|sch[lmnrw]?|sp[lr]?|st[r]?|s[jklmnvw]|k[nv]|gn|pf[lr]?|ch|ph|qu|"
    "th|tj|tw|zw|hj|kj|schr|skr|vl|wr)"
)
_SECOND: Final = re.compile(rf"{_ONSET}?[aeiouy]")
"""How the second word of a compound can begin."""

_FIRST: Final = re.compile(r"(?=.*[aeiouy]).*(?:[aeiouy]|(?<=[aeiouy])[^aeiouy]{1,4})")
"""How the first one can end."""

_PARTICIPLE: Final = re.compile(r"^((?:ab|an|auf|aus|bei|ein|los|mit|nach|um|vor|weg|zu)?)ge(....*?)(?:e?t|en)?$")
_ELISION: Final[Mapping[str, re.Pattern[str]]] = {
    "fr": re.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)'(?=.)"),
    "it": re.compile(r"^(?:[cdlmnstv]|un|gl|all|dall|dell|nell|sull|quell|quest)'(?=.)"),
    "tr": re.compile(r"(?<=.)'.*"),  # what follows a name's apostrophe is its ending
}
"""What an apostrophe parts from the word."""


@dataclass(frozen=True, slots=True)
class Forms:
    """The terms of a word in a language. `halves` are what may be words in it, `beginning` its first letters."""

    stems: tuple[str, ...]
    halves: tuple[str, ...]
    beginning: tuple[str, ...]

    def terms(self, language: str) -> Iterator[str]:
        """Yield what a passage with this word is indexed by."""
        yield from (f"{language}_{each}" for each in self.stems)
        yield from (f"{language}__{each}" for each in self.halves)
        yield from (f"{language}___{each}" for each in self.beginning)

    def wanted(self, language: str, *, parts: bool) -> Iterator[tuple[str, float]]:
        """Yield what a question with this word looks for, with how much each counts; its own halves with `parts`."""
        yield from ((f"{language}_{each}", 1.0) for each in self.stems)
        if language in COMPOUNDING:
            yield from ((f"{language}__{each}", PART) for each in self.stems)
        if parts:
            yield from ((f"{language}_{each}", PART) for each in self.halves)
        yield from ((f"{language}___{each}", PART) for each in self.beginning)


def index_terms(text: str) -> tuple[list[str], int]:
    """Return all terms that a passage is found by, and its length: the number of its stems, without other terms."""
    spoken = words(text)
    found = stems_of(spoken, text)
    count = len(found)
    if not text.isascii():
        found.extend(f"_{short}" for short in map(root, found[:count]) if short is not None)
    languages = likely(spoken, text)
    if languages:
        found.extend(_further(text, languages))
    return found, count


def _further(text: str, languages: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for written, folded in surfaces(text):
        if folded not in STOP_WORDS:
            for language in languages:
                if folded not in FUNCTION_WORDS[language]:
                    found.extend(forms(written, folded, language).terms(language))
    return found


def is_latin(word: str) -> bool:
    """Tell whether a word begins with a Latin letter and is more than that letter: what can have forms."""
    return len(word) > 1 and word[0].isalpha() and word[0] < "\u0250"


def surfaces(text: str) -> list[tuple[str, str]]:
    """Return the words in Latin letters of a text, each as it is written (in small letters) and folded."""
    plain = clean(text).replace("\u2019", "'")
    lowered = plain.lower() if plain.isascii() else plain.replace("\u0130", "i").lower()
    return [(word, fold(word)) for word in WORD.findall(lowered) if is_latin(word)]


@lru_cache(maxsize=32_768)
def forms(written: str, folded: str, language: str) -> Forms:
    """Return the forms of a word in a language.

    The word is stemmed as written and without accents, since people leave them out.
    """
    if language in _ELISION and "'" in folded:
        written, folded = _ELISION[language].sub("", written), _ELISION[language].sub("", folded)
    written, folded = written.replace("'", ""), folded.replace("'", "")
    stems = dict.fromkeys((fold(_STEM[language](written)), _stemmed(folded, language)))
    halves: dict[str, None] = {}
    if language == "de" and (participle := _PARTICIPLE.match(folded)):
        halves[_stemmed(participle[1] + participle[2], language)] = None
    if language in COMPOUNDING and len(folded) >= _LONG:
        halves.update(dict.fromkeys(_stemmed(part, language) for part in split(folded)))
    agglutinating = language in _AGGLUTINATING and len(folded) >= _BEGINNING
    return Forms(
        tuple(each for each in stems if each),
        tuple(each for each in halves if each and each not in stems),
        (folded[:_BEGINNING],) if agglutinating else (),
    )


def split(word: str) -> list[str]:
    """Return what may be the first or the last word of a compound: both halves wherever it can be said in two.

    No list of words is asked, so most halves are no words; a question that is about one does not ask for those.
    """
    found: list[str] = []
    for place in range(3, len(word) - 2):
        first, second = word[:place], word[place:]
        if _SECOND.match(second) and _FIRST.fullmatch(first):
            found += [first, second]
    return found


@lru_cache(maxsize=32_768)
def _stemmed(folded: str, language: str) -> str:
    found = fold(_STEM[language](folded))
    if language == "de" and found.endswith(("ern", "eln")) and len(found) > 5:
        return found[:-1]  # feiern, the verb, has the stem of Feier
    return found
