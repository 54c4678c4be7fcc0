"""Puts an answer together: reads the question, chooses the way to answer it, and decides whether it is good enough.

The ways are tried from the surest to the plainest: an attribute that is stated, a date, a value that the question's own
words point at, the sentence that fits best. It writes no word that is not in the hits, but for dates and frames.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from mnemic.core.answering.asking import Asked, Wants, read_question
from mnemic.core.answering.certainty import confidence, read_signs
from mnemic.core.answering.endings import (
    DENIES,
    ENDS,
    corrected_to,
    denied_since,
    ended_in_words,
    say_over,
    told_after,
    told_taken_back,
)
from mnemic.core.answering.evidence import Sentence, corrected, pool_of, read_sentences
from mnemic.core.answering.moments import date_answer, day
from mnemic.core.answering.stated import Statement
from mnemic.core.answering.statements import (
    asks_attribute,
    phrase,
    read_statements,
    replaced,
    standing,
    topic_of,
)
from mnemic.core.answering.values import value_answer
from mnemic.core.holding import are_several
from mnemic.core.passages import place_of, placed
from mnemic.model.document import ChunkKind, Locator
from mnemic.model.memory import Source
from mnemic.model.query import Hit, Results
from mnemic.text import shorten

NOT_FOUND: Final = "Not in memory."
THRESHOLD: Final = 0.42
"""The confidence from which an answer is given; set on public data, see `certainty`."""

_LONGEST: Final = 320  # characters of a quotation, about 60 words
_SHORT: Final = 10  # words of a sentence that says little by itself
_CLEAR: Final = 0.75
_STATED: Final = 0.9
_NOW: Final = re.compile(r"^(?!.*\b(?:did|was|were|used|before|formerly)\b).*\b(?:do|does|is|are|am)\b")
"""A question of what holds now; when nothing does, what used to is said as that."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer and the hits that it stands on. `value` is the answer without its frame: a value, a date, the words
    of a quotation; empty when nothing was found. `name` is the person that it names, when one is asked for.
    """

    text: str
    citations: tuple[Hit, ...]
    found: bool
    confidence: float
    value: str = ""
    name: str = ""


def compose(
    question: str,
    hits: Results | Sequence[Hit],
    *,
    reference: datetime,
    speakers: Sequence[str],
    asker: str | None = None,
    over: Sequence[Hit] = (),
    threshold: float = THRESHOLD,
) -> Draft:
    """Answer a question from hits, best first. `speakers` are the display names that memory knows, `asker` the one who
    says "I" in the question, `reference` the aware moment from which its time words count. `over` are versions that
    long-term memory holds to be closed or denied: they go before what is read anew from the messages that they stand
    on. The confidence of a search counts, when hits come with one. Never
    raises, whatever the texts.
    """
    usable = corrected([hit for hit in hits if hit.text.strip()], over)
    asked = read_question(question, speakers, reference, asker)
    if not usable:
        return Draft(NOT_FOUND, (), found=False, confidence=0.0)
    stated = _stated(asked, usable, over)
    if stated is not None:
        return stated
    pool = pool_of(usable)
    sentences = read_sentences(asked, pool)
    signs = read_signs(asked, pool, sentences, rivals=bool(asked.speakers) and are_several(speakers))
    sure = round(confidence(signs, hits.confidence if isinstance(hits, Results) else None), 3)
    if sure < threshold or not sentences:
        return Draft(NOT_FOUND, (), found=False, confidence=sure)
    statements = read_statements(usable, over)
    draft = _denied(asked, _drawn(asked, sentences, sure, statements), sentences, statements)
    whole = {(hit.id, hit.text): hit for hit in usable}  # as they were found, not as the pool weighs them
    cited = (whole.get((hit.id, hit.text), hit) for hit in draft.citations)
    return replace(draft, citations=tuple(_quoting(hit, draft, sentences) for hit in cited))


def _quoting(hit: Hit, draft: Draft, sentences: Sequence[Sentence]) -> Hit:
    """Return a cited hit; a passage of a document with the sentence that the answer stands on as what it quotes."""
    own = [each for each in sentences if each.hit.id == hit.id]
    used = next((each for each in own if draft.value in each.text), own[0] if own else None)
    if hit.locator is None or used is None:
        return hit
    place = _place(hit, hit.locator, used.start, used.end)
    return replace(hit, sources=(Source("", used.text, hit.said_at, locator=place),))


def _place(hit: Hit, locator: Locator, start: int, end: int) -> Locator:
    return placed(hit.text, locator, start, end, table=hit.metadata.get("passage") == ChunkKind.TABLE)


def _stated(asked: Asked, hits: Sequence[Hit], over: Sequence[Hit]) -> Draft | None:
    """Answer from statements about an attribute."""
    if not asks_attribute(asked):
        return None
    statements = read_statements(hits, over)
    topic = topic_of(asked, statements)
    if topic is None:
        return None
    held = standing(topic, asked, statements)
    if not held.now:
        said = say_over(asked, held) if _NOW.search(asked.low) else None
        if said is None:
            return None
        again = told_after(asked, said[1][-1], read_sentences(asked, pool_of(hits)))
        if again is not None:
            text = quoted(again.hit, again.text)
            return Draft(text, (again.hit,), found=True, confidence=_STATED, value=again.text)
        cited = _each_once(each.hit for each in said[1])
        return Draft(said[0], cited, found=True, confidence=_STATED, value=said[0])
    text = phrase(asked, topic, held)
    before = [each for each in held.before if not each.taken_back]
    told = [*held.now, *(each for each in before[-1:] if "before:" in text)]
    return Draft(text, _each_once(each.hit for each in told), found=True, confidence=_STATED, value=text)


def _each_once(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Return hits, each once; the versions of a memory share its id."""
    return tuple({(hit.id, hit.text): hit for hit in hits}.values())


def _denied(asked: Asked, draft: Draft, sentences: Sequence[Sentence], statements: Sequence[Statement]) -> Draft:
    """Return the draft as it may be said when what it says has been denied since; mostly as it is."""
    cited = next((each for each in sentences if each.hit.id == draft.citations[0].id), None)
    if cited is None or not _NOW.search(asked.low) or draft.text.startswith("No \u2014"):
        return draft
    found = denied_since(asked, cited, draft.value, statements, sentences)
    if found is not None and (right := corrected_to(found[0], statements)) is not None:
        text = f"No \u2014 {right.text}" if found[1] else right.text
        return replace(draft, text=text, citations=(right.hit,), value=right.value)
    if found is not None:
        denial, no = found
        past = denial.text.rstrip(".")
        if denial.taken_back:
            past = told_taken_back(denial)
        elif denial.polarity > 0:
            past = f"{past}, until {day(denial.until or denial.since)}"
        text = f"No \u2014 {past}" if no else f"No longer: {draft.value.rstrip('.')} ({past})"
        hits = (denial.hit,) if no else _each_once((*draft.citations, denial.hit))
        return replace(draft, text=text, citations=hits)
    gone = ended_in_words(asked, sentences) if asked.wants is Wants.YES_NO else None
    if gone is None:
        return draft
    return replace(draft, text=f"No \u2014 {quoted(gone.hit, gone.text)}", citations=(gone.hit,), value=gone.text)


def _drawn(asked: Asked, sentences: Sequence[Sentence], sure: float, statements: Sequence[Statement]) -> Draft:
    """Answer from the sentences."""
    if asked.wants is Wants.TIME:
        dated = date_answer(asked, sentences)
        if dated is not None:
            return Draft(dated.text, (dated.sentence.hit,), found=True, confidence=sure, value=dated.text)
    drawn = value_answer(asked, sentences)
    if drawn is not None:
        name = drawn.text if asked.wants is Wants.PERSON else ""
        text = drawn.text[:1].upper() + drawn.text[1:]
        return Draft(
            text,
            tuple({each.hit.id: each.hit for each in drawn.sentences}.values()),
            found=True,
            confidence=sure,
            value=drawn.text,
            name=name,
        )
    words = _quotation(sentences)
    text = quoted(sentences[0].hit, words)
    if asked.wants is Wants.YES_NO and sentences[0].ours and sentences[0].cover >= _CLEAR:
        later = replaced(sentences[0].hit, asked, statements) if _NOW.search(asked.low) else None
        if later is not None:
            return Draft(f"No \u2014 {later.text}", (later.hit,), found=True, confidence=sure, value=later.text)
        over = ENDS.search(words)
        if DENIES.search(words):
            text = f"No \u2014 {text}"
        elif over is None or over.group().lower() in asked.low:
            text = f"Yes \u2014 {text}"
    return Draft(text, (sentences[0].hit,), found=True, confidence=sure, value=words)


def _quotation(sentences: Sequence[Sentence]) -> str:
    """Return the best sentence, with the one behind it when it is short, for that is where people go on to say it."""
    best = sentences[0]
    after = [each for each in sentences if each.rank == best.rank and each.start >= best.end]
    following = min(after, key=lambda each: each.start, default=None)
    end = best.end
    if following is not None and len(best.text.split()) <= _SHORT and following.end - best.start <= _LONGEST:
        end = following.end
    return shorten(best.hit.text[best.start : end], _LONGEST)


def quoted(hit: Hit, words: str) -> str:
    """Return words of a hit as an answer shows them: with the speaker or the place in a document, a memory as it is."""
    if hit.locator is not None:
        start = max(hit.text.find(words.removesuffix("\u2026").rstrip()), 0)
        return f'{place_of(_place(hit, hit.locator, start, start + len(words)))}: "{words}"'
    if hit.kind != "message" or not hit.speaker:
        return words
    return f'{hit.speaker}: "{words}"'
