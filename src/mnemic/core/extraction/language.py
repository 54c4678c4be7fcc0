"""Whether a text is English, told cheaply from its script and its small words.

A short text without small words counts as English when its letters are Latin: an answer such as "In Lisbon" or
"Blue!" should not be lost. It is not a language detector: it only keeps English rules away from other languages.
"""

from __future__ import annotations

import re
from typing import Final

_SAMPLE: Final = 2_000
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_LETTER: Final = re.compile(r"[^\W\d_]")
_ENGLISH_WORDS: Final = frozenset(
    """the a an and but or of to for from with by on at as is are was were be been am have has had do does did not i i'm
    i've i'll i'd you he she it we they my your his her its our their this that these those what which who when where
    how why there here so very just really all any some can could will would should about after before than then if
    because
    im ive dont cant didnt doesnt
    don't didn't can't it's that's we're into out up in no me him them us like love get got go going went""".split()
)
_OTHER_WORDS: Final = frozenset(
    """el la los las un una y pero que de del en con por para es soy está estoy tengo mi su muy como más yo tú
    le les et mais dans pour avec est suis je tu il elle nous vous ils mon ma mes c'est j'ai des une ne pas sur au du
    der die das und aber ich du er sie wir ihr ist bin habe mein meine nicht mit auf für ein eine zu im den dem
    il lo gli una e ma di che sono ho mio mia non per nel della
    o os as uma e mas não eu ele ela meu minha são com em no na do da
    ik je jij hij wij het een en maar niet van met voor op naar mijn ben heb
    jag och men inte är det som på för med att har min
    og ikke jeg er på til med har min
    ja nie to jest się na w z że mam moja mój
    bir ve bu için çok ben evim
    saya dan yang di itu dengan""".split()
)
_ENGLISH: Final = _ENGLISH_WORDS - _OTHER_WORDS
_OTHER: Final = _OTHER_WORDS - _ENGLISH_WORDS


def is_english(text: str) -> bool:
    """Tell whether English rules may read the text."""
    sample = text[:_SAMPLE]
    if not _LETTER.search(sample) or not (sample.isascii() or _is_latin(sample)):
        return False
    return _more_english(sample)


def _is_latin(sample: str) -> bool:
    letters = [char for char in sample if char.isalpha()]
    return sum(char < "\u0250" for char in letters) >= 0.8 * len(letters)


def _more_english(sample: str) -> bool:
    words = _WORD.findall(sample.lower().replace("\u2019", "'"))
    english = sum(word in _ENGLISH for word in words)
    other = sum(word in _OTHER for word in words)
    if other > english:
        return False
    return english > 0 or len(words) <= 6
