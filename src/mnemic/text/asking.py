"""What a question looks for in the full-text index: its words, each with the forms that a passage may have it in.

The words of scripts without spaces are found by leaving out what only makes it a question (particles, pronouns, what
and where): the rest is looked for in pairs of letters. In English all of this is the stems of the words that are no
function words. It is about words only: who spoke, and when, is for others to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mnemic.text.forms import PART, forms, is_latin, surfaces
from mnemic.text.languages import LANGUAGES, STOP_WORDS, fillers, likely
from mnemic.text.runs import in_pairs, is_japanese, wanted
from mnemic.text.scripts import UNSPACED, root
from mnemic.text.words import WORD, fold, stem, words


@dataclass(frozen=True, slots=True)
class Sought:
    """A word that is looked for: terms that it may stand by, each with how much its being there counts, 0 to 1.

    The first is its stem. `letters` are looked for in its place when none of the terms stands anywhere.
    """

    terms: tuple[tuple[str, float], ...]
    letters: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """The stem, by which the word is known."""
        return self.terms[0][0]


def sought(text: str) -> list[Sought]:
    """Return the words that a question looks for, each stem once; of a text of function words only, all of them."""
    present = words(text)
    languages = likely(present, text)
    if languages == () and text.isascii():
        return _plain(present)
    skipped = fillers(present, text)
    written = {folded: as_written for as_written, folded in surfaces(text)}
    folded = fold(text).replace("\u2019", "'")
    japanese = is_japanese(folded)
    found: dict[str, Sought] = {}
    for word in WORD.findall(folded):
        if UNSPACED.search(word):
            for each in _in_pieces(word, japanese=japanese):
                found.setdefault(each.stem, each)
        elif (known := _bare(word)) not in skipped:
            each = _of_word(known, word, written.get(word, word), languages)
            found.setdefault(each.stem, each)
    return list(found.values()) or _plain(present)


def _plain(present: Sequence[str]) -> list[Sought]:
    kept = [word for word in present if word not in STOP_WORDS] or present
    return list({stem(word): _by_stem(word) for word in kept}.values())


@lru_cache(maxsize=65_536)
def _by_stem(word: str) -> Sought:
    return Sought(((stem(word), 1.0),))


@lru_cache(maxsize=16_384)
def _of_word(known: str, word: str, written: str, languages: tuple[str, ...] | None) -> Sought:
    """Return a word with its forms in some languages; where these are not known, in all, without parts of the word."""
    base = stem(known)
    terms = {base: 1.0}
    short = root(base)
    if short is not None:
        terms[f"_{short}"] = PART
    for language in (LANGUAGES if languages is None else languages) if is_latin(word) else ():
        for term, share in forms(written, word, language).wanted(language, parts=languages is not None):
            terms.setdefault(term, share)
    return Sought(tuple(terms.items()))


def _bare(word: str) -> str:
    return word.removesuffix("'s").replace("'", "") if word.isascii() else word


def _in_pieces(word: str, *, japanese: bool) -> list[Sought]:
    """Return what a word with unspaced runs looks for; what stands between the runs is a word of its own."""
    found: list[Sought] = []
    position = 0
    for run in UNSPACED.finditer(word):
        found.extend(Sought(((stem(word[position : run.start()]), 1.0),)) for _ in "1" if run.start() > position)
        for letters in wanted(run.group(), japanese=japanese):
            found.extend(
                Sought(((stem(pair), 1.0),), tuple(stem(each) for each in alone)) for pair, alone in in_pairs(letters)
            )
        position = run.end()
    if position < len(word):
        found.append(Sought(((stem(word[position:]), 1.0),)))
    return found
