"""Answers from memory without a model: the value, the date or the sentence that the evidence holds, with citations.

`compose` answers from hits, `best_known` chooses what to say of a person. `compose` takes every word of an answer from
the hits, or computes a date from them, and says that memory does not hold the answer when the evidence is weak or about
someone else; it never states what memory holds to be over.
"""

from __future__ import annotations

from mnemic.core.answering.about import Open, best_known, person_of, read_open, told
from mnemic.core.answering.asking import is_question, parts_of, put_name
from mnemic.core.answering.composing import NOT_FOUND, THRESHOLD, Draft, compose
from mnemic.core.answering.stated import CORRECTED, CORRECTS, TAKEN_BACK

__all__ = [
    "CORRECTED",
    "CORRECTS",
    "NOT_FOUND",
    "TAKEN_BACK",
    "THRESHOLD",
    "Draft",
    "Open",
    "best_known",
    "compose",
    "is_question",
    "parts_of",
    "person_of",
    "put_name",
    "read_open",
    "told",
]
