"""What is over: how a denial ends what was stated before it, and how an answer says so.

A denial is a statement with polarity -1 ("Ann no longer drinks coffee"). It ends what has its value, and all of one
attribute when it names only the kind of thing ("sold the car"). Nothing is guessed to be over from silence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import Final

from mnemic.core.answering.asking import Asked, Wants
from mnemic.core.answering.evidence import Sentence
from mnemic.core.answering.moments import day
from mnemic.core.answering.roots import content_roots, root, roots
from mnemic.core.answering.stated import Standing, Statement
from mnemic.core.wording import akin
from mnemic.text import STOP_WORDS, fold, words

_GENERIC: Final = {
    "possession.vehicle": "car vehicle",
    "possession.home": "house home flat apartment",
    "possession.pet": "pet",
    "work.employer": "job work",
    "relation.partner": "partner boyfriend girlfriend husband wife fiance fiancee spouse",
}
ALONE: Final = frozenset({"single", "divorced", "separated", "widowed"})
"""What a relationship's status is called when there is no partner."""

_LEFT: Final = re.compile(
    r"^(?:quit|left|lost|resigned|retired|unemployed|fired|laid off|out of work)\b", re.IGNORECASE
)
_HAVING: Final = frozenset(
    map(root, "have has own drive get got still anymore work live keep currently now any longer".split())
)
ENDS: Final = re.compile(
    r"\b(?:sold|quit|resigned|broke up|broken up|split up|divorced|got rid of|any ?more)\b", re.IGNORECASE
)
_PARTED: Final = re.compile(
    r"\b(?:sold|gave away|got rid of|no longer (?:have|own)|don't (?:have|own))\s+(?:my|our|the|that|this)\s+(?=\w)",
    re.IGNORECASE,
)
_DIED: Final = re.compile(r"\b(?P<who>\w+)(?: has| just)? (?:died|passed away)\b", re.IGNORECASE)
_UNREAL: Final = re.compile(
    r"\?\s*$|\b(?:if|would|could|almost|nearly|never|wish|dream\w*)\b|\b(?:not|n['\u2019]t)\s(?:yet\s)?(?:sold|given)",
    re.IGNORECASE,
)
_BESIDE: Final = frozenset("yesterday today recently finally last week month year and then already now ago".split())
DENIES: Final = re.compile(r"n['\u2019]t\b|\b(?:not|never|no longer|stopped|gave up|used to)\b", re.IGNORECASE)
_NOT_NOW: Final = re.compile(r"\b(?:did|was|were|used|before|formerly|ever)\b")


def is_general(attribute: str, value: str) -> bool:
    """Tell whether a value names only what kind of thing an attribute holds: the car, the house, the girlfriend."""
    known = {root(word) for word in _GENERIC.get(attribute, "").split()}
    return bool(known) and {root(word) for word in words(value) if word not in STOP_WORDS} <= known


def asks_any(asked: Asked, attribute: str) -> bool:
    """Tell whether a question asks if there is any: "Do I have a car?"."""
    known = {root(word) for word in _GENERIC.get(attribute, "").split()}
    return bool(known) and set(asked.stems) <= known | _HAVING


def closes(statement: Statement, old: Statement) -> bool:
    """Tell whether a statement about another attribute ends an older one: who is single has no partner, who quit has
    no employer, who quit at Acme is no longer what they were there.
    """
    if statement.ended or statement.until is not None or statement.since < old.since:
        return False
    if statement.attribute == "relation.status" and old.attribute == "relation.partner":
        return statement.polarity > 0 and fold(statement.value) in ALONE
    if statement.attribute == "work.status" and old.attribute in {"work.employer", "work.job"}:
        return statement.polarity > 0 and bool(_LEFT.search(statement.value))
    if statement.attribute == "work.employer" and old.attribute == "work.job":
        quoted = " ".join([old.hit.text, *(source.quote for source in old.hit.sources)])
        return statement.polarity < 0 and roots(statement.value) <= roots(quoted)
    return False


def ends(denial: Statement, old: Statement) -> bool:
    """Tell whether a denial ends an older statement of the same subject and attribute."""
    return akin(old.value, denial.value) or is_general(denial.attribute, denial.value)


def say_over(asked: Asked, held: Standing) -> tuple[str, Sequence[Statement]] | None:
    """Return the words that say that what is asked for is over, and what they stand on; None when nothing is known to
    be over.
    """
    if _NOT_NOW.search(asked.low):
        return None
    last = held.before[-1] if held.before else None
    closing = held.closing
    if asked.wants is Wants.YES_NO:
        return _say_no(asked, last, closing)
    if last is None:
        return None if closing is None else (f"{_plain(closing)} ({day(closing.since)})", (closing,))
    if last.taken_back and closing is None:
        taken = told_taken_back(last)
        return taken[:1].upper() + taken[1:], (last,)
    if last.ended:
        return _plain(last), (last,)
    if closing is not None and closing.text.rstrip(".").endswith((")", '"')):  # it says by itself when that was
        return f"No longer: {last.value} \u2014 {_plain(closing)}", (last, closing)
    until = closing.since if closing is not None else last.until
    if until is None:
        return None
    return f"No longer: {last.value} (until {day(until)})", (last,) if closing is None else (last, closing)


def _say_no(asked: Asked, last: Statement | None, closing: Statement | None) -> tuple[str, Sequence[Statement]] | None:
    told = closing or last
    if told is None or told.ended or (closing is None and (last is None or last.until is None)):
        return None
    named = {each for one in (last, closing) if one is not None for each in roots(one.value)}
    if not named & set(asked.stems) and not asks_any(asked, (last or told).attribute):
        return None
    if closing is not None:
        return f"No \u2014 {_plain(closing)}", (closing,)
    if told.taken_back:
        return f"No \u2014 {told_taken_back(told)}", (told,)
    return f"No \u2014 {_plain(told)}, until {day(told.until or told.since)}", (told,)


def told_taken_back(statement: Statement) -> str:
    """Return the words for what was said and then taken back."""
    return f"taken back on {day(statement.until or statement.since)}: {_plain(statement)}"


def corrected_to(wrong: Statement, statements: Sequence[Statement]) -> Statement | None:
    """Return what its memory says in the place of what was taken back; None when it says nothing any more."""
    if not wrong.taken_back:
        return None
    right = [each for each in statements if each.hit.id == wrong.hit.id and not each.taken_back and each.until is None]
    return right[-1] if right else None


def denied_since(
    asked: Asked, sentence: Sentence, value: str, statements: Sequence[Statement], sentences: Sequence[Sentence]
) -> tuple[Statement, bool] | None:
    """Return the latest denial of what a sentence says, and whether it says no to the question; None when there is
    none, when the thing was told anew after it, or when the question is about the past.
    """
    if _NOT_NOW.search(asked.low) or DENIES.search(asked.low) or asked.wants in {Wants.TIME, Wants.SPAN, Wants.REASON}:
        return None
    hit, about = sentence.hit, set(asked.stems)
    for each in reversed(statements):
        known = set(content_roots(words(each.value)))
        if (
            (each.polarity >= 0 and each.until is None)
            or each.ended
            or not known
            or fold(each.subject) not in {fold(hit.speaker), fold(str(hit.metadata.get("subject", "")))}
            or (each.polarity < 0 and each.since < hit.said_at)
            or any(each.since < one.since and one.polarity > 0 and _same(one, each) for one in statements)
            or _told_anew(each, about | known, sentences)
        ):
            continue
        told = each.polarity < 0 or any(source.message_id == hit.id for source in each.hit.sources)
        if asked.wants is Wants.YES_NO:
            if told and known <= about and _verbs(each, about):
                return each, True
        elif told and known <= roots(sentence.text) and _says(each, about, roots(value)) and each.hit.id != hit.id:
            return each, False
    return None


def _told_anew(denial: Statement, wanted: set[str], sentences: Sequence[Sentence]) -> bool:
    return any(_is_anew(each, denial, wanted) for each in sentences)


def _is_anew(sentence: Sentence, denial: Statement, wanted: set[str]) -> bool:
    return (
        sentence.said_at > (denial.until or denial.hit.said_at)
        and wanted <= sentence.terms
        and sentence.hit.speaker == denial.hit.speaker
        and not any(rule.search(sentence.text) for rule in (DENIES, _PARTED, ENDS))
        and not sentence.text.rstrip().endswith("?")
    )


def _same(one: Statement, other: Statement) -> bool:
    return fold(one.subject) == fold(other.subject) and one.until is None and akin(one.value, other.value)


def _says(denial: Statement, about: set[str], value: frozenset[str]) -> bool:
    """Tell whether what is denied is what the question asks for and the answer gives; of more words than one, one is
    the verb.
    """
    known = set(content_roots(words(denial.value)))
    return (len(known) > 1 and bool(known & about and known & value)) or (
        bool(known & (about | value)) and _verbs(denial, about)
    )


def _verbs(denial: Statement, about: set[str]) -> bool:
    """Tell whether a denial has a word beside its value that the question has too, when that has more than the value:
    "no longer drinks coffee" says nothing about who grows it.
    """
    other = about - set(content_roots(words(denial.value))) - _HAVING
    return not other or bool(other & roots(denial.text))


def told_after(asked: Asked, closing: Statement, sentences: Sequence[Sentence]) -> Sentence | None:
    """Return a sentence in which the thing asked for is told of again after it was over: "I have a new girlfriend"."""
    wanted = {each for each in asked.stems if each not in _HAVING}
    return next((each for each in sentences if wanted and _is_anew(each, closing, wanted)), None)


def parted_with(sentence: str) -> str | None:
    """Return the folded word for what the speaker says to have parted with: the Toyota of "I sold my old Toyota"."""
    match = _PARTED.search(sentence)
    if match is None or _UNREAL.search(sentence):
        return None
    named = takewhile(lambda word: word not in STOP_WORDS and word not in _BESIDE, words(sentence[match.end() :]))
    return next(reversed(list(islice(named, 4))), None)


def tells_end(old: Statement, sentence: str) -> bool:
    """Tell whether a sentence of its subject ends what a statement says: a thing sold, a partner parted from, a pet
    that died.
    """
    if old.attribute == "relation.partner":
        name = re.escape(old.value)
        rule = (
            rf"\b{name} (?:and I )?(?:broke|split) up\b(?: with me)?|\b(?:broke|split) up with {name}\b|"
            rf"\b{name} (?:left|dumped) me\b|\bI (?:left|dumped|divorced) {name}\b"
        )
        return bool(re.search(rule, sentence, re.IGNORECASE)) and not _UNREAL.search(sentence)
    gone = _DIED.search(sentence) if old.attribute == "possession.pet" and not _UNREAL.search(sentence) else None
    word = fold(gone["who"]) if gone else parted_with(sentence)
    return word is not None and word in words(old.value)


def ended_in_words(asked: Asked, sentences: Sequence[Sentence]) -> Sentence | None:
    """Return the sentence in which who said the best one says, no earlier, that the thing asked for is gone."""
    best, wanted = sentences[0], {each for each in asked.stems if each not in _HAVING}
    if _NOT_NOW.search(asked.low) or not wanted:
        return None
    mine = [each for each in sentences if each.said_at >= best.said_at and each.hit.speaker == best.hit.speaker]
    found = [each for each in mine if (word := parted_with(each.text)) and root(word) in wanted]
    last = max(found, key=lambda each: each.said_at, default=None)
    if last is None or any(each.said_at > last.said_at and wanted <= each.terms for each in mine):
        return None
    return last


def _plain(statement: Statement) -> str:
    return statement.text.rstrip(".")
