"""Answers from memory without a model: the value, the date or the sentence that the evidence holds, with citations.

`compose` is the whole interface. It takes every word of an answer from the hits, or computes a date from them, and says
that memory does not hold the answer when the evidence is weak or about someone else.
"""

from __future__ import annotations

from mnemic.core.answering.asking import parts_of, put_name
from mnemic.core.answering.composing import NOT_FOUND, THRESHOLD, Draft, compose

__all__ = ["NOT_FOUND", "THRESHOLD", "Draft", "compose", "parts_of", "put_name"]
