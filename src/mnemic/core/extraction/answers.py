"""Short answers: "In Lisbon." after "Where do you live?", "Blue!" after "What's your favourite colour?".

The question is put together with the answer into a full sentence, which the ordinary rules then read; only a handful of
questions whose answers cannot be misread are understood.
"""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 60
_QUESTIONS: Final = tuple(
    (re.compile(pattern), lead)
    for pattern, lead in (
        (r"where (?:do you|are you) (?:live|living|based)(?: now| these days| currently)?\?", "I live in "),
        (r"where are you (?:originally )?from(?: originally)?\?", "I'm from "),
        (r"where do you work(?: now| these days)?\?", "I work at "),
        (r"what(?:'s| is) your name\?", "My name is "),
        (r"how old are you(?: now)?\?", "I'm "),
        (r"what(?:'s| is) your (?P<what>fav(?:ou?rite)? [a-z ]{2,24})\?", "My {what} is "),
        (r"what do you do(?: for (?:a living|work))?\?", ""),
        (r"when(?:'s| is) your birthday\?", "My birthday is on "),
        (r"what are you (?:studying|majoring in)(?: at [a-z]+)?\?", "I'm studying "),
        (r"what languages do you speak\?", "I speak "),
        (r"what are you allergic to\?", "I'm allergic to "),
    )
)
_LEAD: Final = re.compile(
    r"(?:(?:oh|um|uh|well|hmm|it's|definitely|probably not|that would be|i'd say|in|at|from|on|i'm"
    r"|mostly|currently)[\s,]{1,3}){0,3}",
    re.IGNORECASE,
)
_UNSURE: Final = re.compile(
    r"\b(?:not|no|none|don't|secret|guess|maybe|depends|nothing|nowhere|everywhere|idk|dunno|why|what"
    r"|how|hard|can't|yes|yeah|i|we|you|haha|lol|same|good|great|thanks|ask|many|all|both)\b"
    r"|[?:]",
    re.IGNORECASE,
)


def complete(text: str, question: str | None) -> tuple[str, int] | None:
    """Return a full sentence and the offset in `text` that its answer starts at; None for what is no short answer."""
    if not question or len(text) > _LONGEST:
        return None
    asked = question.strip().lower().replace("\u2019", "'")
    asked = re.split(r"[.!?\n]\s+", asked)[-1] if asked.endswith("?") else ""
    body = text.strip()
    lead = _LEAD.match(body)
    answer = body[lead.end() :].rstrip(" .!") if lead else body
    if not asked or not answer or _UNSURE.search(answer) or len(answer.split()) > 6:
        return None
    for pattern, opening in _QUESTIONS:
        match = pattern.search(asked)
        if match is not None and match.end() == len(asked):
            named = match.groupdict().get("what") or ""
            opened = opening or ("I'm " if re.match(r"an? ", answer.lower()) else "")
            return (opened.format(what=named) + answer, text.find(answer)) if opened else None
    return None
