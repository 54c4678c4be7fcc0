"""Words that mean the same in a question and in its answer: irregular verb forms, and a few words for one thing.

Stemming joins "moved" and "move" but not "sold" and "sell"; a question asks in one form and people tell in another. The
table is short on purpose: every pair in it holds in nearly every sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from mnemic.text import STOP_WORDS, stem, words

_FORMS: Final = """
sell sold|buy bought|go went gone|meet met|make made|take took taken|teach taught|win won|write wrote written|run ran
begin began begun start|come came|break broke broken|build built|find found|give gave given|grow grew grown|leave left
lose lost|see saw seen|send sent|spend spent|speak spoke spoken|swim swam|tell told|think thought|wear wore worn
draw drew drawn|drive drove driven|eat ate eaten|fly flew flown|feel felt|fall fell fallen|keep kept|hold held|pay paid
sing sang sung|sleep slept|stand stood|ride rode ridden|choose chose chosen|bring brought|catch caught|hear heard
know knew known|lead led|learn learnt|become became|fight fought|forget forgot forgotten|hide hid hidden|get got gotten
say said|steal stole stolen|throw threw thrown|wake woke|bear born birth baby|mother mom mum|father dad
kid child children
movie film|picture photo photograph pic|favorite favourite fave|color colour|tv television|job work profession career
spouse husband wife|car vehicle|bike bicycle|marry wedding|mention say said talk|travel trip|dairy lactose
"""


def _read() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in _FORMS.replace("\n", "|").split("|"):
        forms = line.split()
        for form in forms:
            table.setdefault(stem(form), stem(forms[0]))
    return table


_ROOTS: Final = _read()


_BIRTH: Final = _ROOTS[stem("born")]
_PARENTS: Final = frozenset({_ROOTS[stem("mother")], _ROOTS[stem("father")]})


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """Return what a folded word is compared by."""
    stemmed = stem(word)
    return _ROOTS.get(stemmed, stemmed)


def roots(text: str) -> frozenset[str]:
    """Return what the words of a text are compared by, function words too, and the parents that a birth implies."""
    found = frozenset(map(root, words(text)))
    return found | _PARENTS if _BIRTH in found else found


def content_roots(found: Iterable[str]) -> list[str]:
    """Return what those words that carry meaning are compared by, in order, each once."""
    return list(dict.fromkeys(root(word) for word in found if word not in STOP_WORDS))
