"""Answers that a language model writes from memory: what it is told, and what its reply is taken for.

Pure: which lines fit, how data is set apart, which references are real, what is shown of a reply that is still being
written. The prompts themselves are the files of `core.prompts`.
"""

from __future__ import annotations

from mnemic.core.generation.fitting import Room, fit_talk, number, shrink, tokens_of
from mnemic.core.generation.prompting import (
    Frame,
    Manner,
    Reference,
    more_text,
    put_together,
    rules,
    say,
    talk_turns,
    talk_with,
)
from mnemic.core.generation.replies import Read, marks_for, read_reply, searches_in, visible, without_references
from mnemic.core.generation.support import standing_on
from mnemic.core.generation.wishes import EXTRACTIVE, Defaults, Wish, read_wish

__all__ = [
    "EXTRACTIVE", "Defaults", "Frame", "Manner", "Read", "Reference", "Room", "Wish", "fit_talk", "marks_for",
    "more_text", "number", "put_together", "read_reply", "read_wish", "rules", "say", "searches_in", "shrink",
    "standing_on", "talk_turns", "talk_with", "tokens_of", "visible", "without_references",
]  # fmt: skip
