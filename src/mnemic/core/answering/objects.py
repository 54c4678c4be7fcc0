"""What a verb of the question is done to in the evidence: "What is she wearing?" finds "a greyhound wearing goggles".

It follows the verb, or the adjective with its preposition, to the end of the noun phrase behind it. Verbs that say
little (do, have, say) are left out, for what follows them is rarely the answer.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.answering.asking import Asked
from mnemic.core.answering.evidence import Sentence
from mnemic.core.answering.roots import root, roots
from mnemic.text import STOP_WORDS, words

_PREPOSITIONS: Final = frozenset("of to about for with in on at from by".split())
_WEAK: Final = frozenset(
    """do have be say tell think feel describe mention like want plan make take get go give use find share start
    happen see keep look know come help let put try need ask talk call name hold enjoy work""".split()
)
_WEAK_ROOTS: Final = frozenset(map(root, _WEAK))
_WORD: Final = re.compile(r"[^\W_](?:[\w'\u2019&-]*[^\W_])?|[,.;:!?()\u2013\u2014\[\]\"\u201c\u201d]|\s-\s")
_ENDS: Final = frozenset(
    """because when which that who so but while after before since last yesterday today tonight this if as then
    though although where and i we he she they it you sitting standing""".split()
)
_LEADS: Final = frozenset("a an the my some our his her their its".split())
_ASKED: Final = re.compile(
    r"^(?:and |so |but )?(?:what|which|who|whom|where)\b.*?"
    r"\b(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could)\b\s(?P<rest>.+?)\??$"
)
_NOUN_LEADS: Final = _LEADS | {"this", "that", "family", "of", "for", "some", "another"}
_NO_OBJECTS: Final = frozenset(
    "is are was were isn't has had have sure really usually always pretty like not now then more".split()
)
_MOST: Final = 8  # words of a value


def object_value(asked: Asked, sentence: Sentence) -> str | None:
    """Return the noun phrase that the question's verb has in the sentence; None when there is no such thing."""
    match = _ASKED.search(asked.low)
    if match is None or sentence.text.rstrip().endswith("?"):
        return None
    rest = words(match["rest"])
    for place in range(1, min(4, len(rest))):
        word, after = rest[place], rest[place + 1 : place + 2]
        bound = after[0] if after and after[0] in _PREPOSITIONS and place + 2 == len(rest) else ""
        if root(word) not in asked.stems or root(word) in _WEAK_ROOTS:
            continue
        if rest[place - 1] in {"every", "each"}:
            continue
        if bound or not after or (word.endswith("ing") and after[0] in _PREPOSITIONS):
            found = _behind(asked, sentence.text, root(word), bound)
            if found:
                return found
    return None


def _behind(asked: Asked, text: str, verb: str, preposition: str) -> str | None:
    tokens = list(_WORD.finditer(text))
    for place, token in enumerate(tokens):
        if not token.group()[0].isalnum() or root(words(token.group())[0]) != verb:
            continue
        start = place + 1
        if place and tokens[place - 1].group().lower() in _NOUN_LEADS:
            continue
        if preposition:
            if start >= len(tokens) or tokens[start].group().lower() != preposition:
                continue
            start += 1
        found = _phrase(asked, text, tokens[start:])
        if found:
            return found
    return None


def _phrase(asked: Asked, text: str, tokens: list[re.Match[str]]) -> str | None:
    taken: list[re.Match[str]] = []
    for token in tokens[: _MOST + 1]:
        word = token.group().strip().lower()
        ends = word in _ENDS and not (word == "and" and taken)
        if ends or not word[:1].isalnum():
            break
        taken.append(token)
    while taken and (taken[-1].group().lower() in STOP_WORDS or taken[-1].group().lower() in _LEADS):
        taken.pop()
    if not taken or len(taken) > _MOST or taken[0].group().lower() in _PREPOSITIONS | _NO_OBJECTS:
        return None
    fresh = [
        each for each in taken
        if each.group().lower() not in STOP_WORDS and not roots(each.group()) & set(asked.stems)
    ]  # fmt: skip
    return text[taken[0].start() : taken[-1].end()] if fresh else None
