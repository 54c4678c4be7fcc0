"""Where the words of a question stand, from where their terms stand: a word has several, and counts once.

In a passage a word counts as its best term does there. It knows nothing of languages: `text.sought` decides what terms
stand for a word, and how much each counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mnemic.model.index import Posting
from mnemic.text import Sought


def terms_of(words: Sequence[Sought]) -> list[str]:
    """Return all terms that must be looked up for these words, each once."""
    found = dict.fromkeys([term for word in words for term, _ in word.terms])
    found.update(dict.fromkeys([letter for word in words for letter in word.letters]))
    return list(found)


def match_words(words: Sequence[Sought], postings: Mapping[str, Posting]) -> tuple[list[str], list[Posting]]:
    """Return the stems that are ranked by, and where each stands, from the postings of `terms_of` these words.

    A pair of letters that nobody wrote gives way to its letters.
    """
    found: dict[str, Posting] = {}
    alone: dict[str, Posting] = {}
    for word in words:
        posting = _of_word(word, postings)
        if word.letters and not len(posting[0]):
            alone.update({letter: postings[letter] for letter in word.letters})
        else:
            found[word.stem] = posting
    whole = "".join(found)
    found.update({letter: posting for letter, posting in alone.items() if letter not in whole})
    return list(found), list(found.values())


def _of_word(word: Sought, postings: Mapping[str, Posting]) -> Posting:
    if len(word.terms) == 1:
        return postings[word.stem]
    held = [(postings[term], share) for term, share in word.terms if len(postings[term][0])]
    if not held:
        return postings[word.stem]
    if len(held) == 1 and held[0][1] == 1:
        return held[0][0]
    keys, places = np.unique(np.concatenate([posting[0] for posting, _ in held]), return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.float32)
    np.maximum.at(counts, places, np.concatenate([posting[1] * np.float32(share) for posting, share in held]))
    return keys, counts
