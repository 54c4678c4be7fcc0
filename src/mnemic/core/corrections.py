"""Whether what somebody said later corrects what a document says: the same subject, and another value.

Careful rather than clever: a false correction hides what is right, a missed one leaves two statements side by side. The
statement has to say something now, of everybody, in so many words: each word of it that tells what it is about has to
stand in the sentence of the document, or in what it stands under, and most of the sentence's own words in it. Only
English is read.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from mnemic.core.assertions import Assertion, Name, Value, read_assertion
from mnemic.text import content_terms, sentence_spans, stem

_LONGEST: Final = 600  # characters of a sentence that is compared
_HALF: Final = 0.5
_MOST: Final = 0.7
"""The share of a sentence's own words that a statement has to say again: for another value, and for a denial."""

_DOCUMENT: Final = (
    r"handbook|manual|document|documentation|docs?|guide|guideline|guidelines|wiki|policy|page|pdf|file|sheet|"
    r"spreadsheet|table|list|website|site|readme|slides?|presentation|specification|spec|faq|brochure|leaflet|"
    r"contract|price list|knowledge base"
)
_WRONG: Final = re.compile(
    rf"\b(?:{_DOCUMENT})\b[^.!?]{{0,80}}\b(?:wrong|outdated|out of date|out-of-date|incorrect|mistaken|obsolete|"
    r"not (?:right|true|correct|up to date|current)|no longer (?:right|true|correct|current|valid)|isn't (?:right|true|"
    r"correct|up to date)|contains? an error|has an error)\b",
    re.IGNORECASE,
)
"""Words that say that a document is wrong, whichever."""

_WORDS_FOR_IT: Final = frozenset(stem(word) for word in re.findall(r"[a-z]+", _DOCUMENT))
_PIECES: Final = re.compile(
    r"(?:\s*[:;\u2014\u2013]\s+|,?\s+but\s+|,\s+(?=(?:it|we|they|that|this|there)\b))", re.IGNORECASE
)


class Verdict(enum.StrEnum):
    """What a statement makes of a sentence: it says otherwise, or it says the same again."""

    CORRECTS = "corrects"
    CONFIRMS = "confirms"


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict on the sentence `start:end` of a passage's text, and the words that it stands on."""

    verdict: Verdict
    start: int
    end: int
    words: str


def judge(said: str, passage: str, *, under: str = "") -> Judged | None:
    """Return what a later statement makes of a passage; None when it is about something else, or when that is not sure.

    A sentence that it corrects goes before one that it confirms. `under` is as in `judgements`.
    """
    found = list(judgements(said, passage, under=under))
    return next((each for each in found if each.verdict is Verdict.CORRECTS), found[0] if found else None)


def judgements(said: str, passage: str, *, under: str = "") -> Iterator[Judged]:
    """Yield what a later statement makes of each sentence of a passage that it is about.

    `under` is what the passage stands under: the name of its document and its headings.
    """
    context = frozenset(content_terms(under)) | _WORDS_FOR_IT
    wrong = bool(_WRONG.search(said))
    told = [each for each in _told(said) if each.about or each.names]
    if not told:
        return
    known = frozenset(content_terms(passage)) | context
    told = [each for each in told if each.about <= known]
    for start, end in _spans(passage):
        sentence = read_assertion(passage[start:end])
        verdicts = [(_verdict(each, sentence, context, wrong=wrong), each.text) for each in told]
        for wanted in (Verdict.CORRECTS, Verdict.CONFIRMS):
            words = next((text for verdict, text in verdicts if verdict is wanted), None)
            if words is not None:
                yield Judged(wanted, start, end, words)
                break


def _told(said: str) -> Iterator[Assertion]:
    """Yield what the sentences of a message assert, and what their parts do: "I asked HR: we get 30 days"."""
    for start, end in sentence_spans(said):
        sentence = said[start : min(end, start + _LONGEST)]
        whole = read_assertion(sentence)
        if whole.firm:
            yield whole
        parts = _PIECES.split(sentence)
        if len(parts) > 1 and not sentence.rstrip().endswith("?"):
            yield from (part for part in map(read_assertion, map(str.strip, parts)) if part.firm)


def _spans(passage: str) -> list[tuple[int, int]]:
    return [(start, end) for start, end in sentence_spans(passage) if end - start <= _LONGEST]


def _verdict(said: Assertion, written: Assertion, context: Collection[str], *, wrong: bool) -> Verdict | None:
    if written.text.rstrip().endswith("?"):
        return None
    own = written.about
    about = said.about - (set(context) - own)  # what it stands under need not be said, and may be
    named = _stems(written.names)
    common = about & own
    shared = {name.stems for name in said.names} & {name.stems for name in written.names}
    if not (common or shared) or not about <= own | named or _tells_of_the_past(said, written):
        return None
    explicit = wrong or said.changes
    enough = len(common) + len(shared) >= (1 if explicit or _same_unit(said, written) else 2)
    share, left = _share(said, written, about)
    if not enough or share < _HALF or (share == _HALF and not wrong):
        return None
    if left & written.scoped and not (said.over or wrong):
        return None  # what is written holds in some case, which may be another one than is meant
    fresh = [name for name in said.names if not _held(name, written, context)]
    if said.denied != written.denied and not (
        said.values and said.contrasts and _other_value(said, written, explicit=explicit)
    ):
        return _denial(said, written, share, explicit=explicit, fresh=bool(fresh))
    if fresh:
        return _other_name(said, written, fresh, explicit=explicit)
    return _other_value(said, written, explicit=explicit)


def _share(said: Assertion, written: Assertion, about: Collection[str]) -> tuple[float, frozenset[str]]:
    """Return the share of what is written that a statement is about too, and the stems that it leaves out."""
    units = {unit for value in written.values for unit in value.units}
    names = {each for name in written.names for each in name.stems} & {
        each for name in said.names for each in name.stems
    }
    own = (written.about - units) | names
    left = frozenset(own - set(about) - names)
    return (1 - len(left) / len(own) if own else 1.0), left


def _tells_of_the_past(said: Assertion, written: Assertion) -> bool:
    """Tell whether a statement tells what happened once, where the document says what happens: started, starts."""
    return bool((said.pasts & written.about) - written.pasts) and not said.changes


def _same_unit(said: Assertion, written: Assertion) -> bool:
    return any(_alike(one, other) and one.units for one in said.values for other in written.values)


def _held(name: Name, written: Assertion, context: Collection[str]) -> bool:
    return name.stems <= written.about | _stems(written.names) | set(context)


def _stems(names: Collection[Name]) -> frozenset[str]:
    return frozenset(each for name in names for each in name.stems)


def _denial(said: Assertion, written: Assertion, share: float, *, explicit: bool, fresh: bool) -> Verdict | None:
    """Judge a statement that denies what is written, or says what that denies."""
    theirs = {(value.kind, value.value) for value in written.values}
    if fresh or not {(value.kind, value.value) for value in said.values} <= theirs:
        return None
    least = _HALF if said.over else _MOST
    return Verdict.CORRECTS if share >= least and (explicit or len(said.about) >= 2) else None


def _other_name(said: Assertion, written: Assertion, fresh: list[Name], *, explicit: bool) -> Verdict | None:
    """Judge a statement with a name that is not written: in the place of the one that is, or about another thing."""
    theirs = [name for name in written.names if not any(name.stems <= each.stems for each in said.names)]
    replaced = [name for name in written.names if name not in theirs]
    if len(fresh) != 1 or said.values or said.denied != written.denied:
        return None
    new = fresh[0]
    if new.leads and not _is_turned(said):
        return None
    if said.changes and (theirs or replaced):
        return Verdict.CORRECTS if len(theirs) <= 1 else None
    if len(theirs) != 1 or len(written.names) != 1 + len(replaced):
        return None
    fits = new.preposition == theirs[0].preposition or new.leads
    return Verdict.CORRECTS if fits and (explicit or len(said.about) >= 2) else None


def _is_turned(said: Assertion) -> bool:
    """Tell whether a name is said to be something: "Jonas Weber is the head of finance"."""
    return bool(re.match(r"^(?:[A-Z][\w'-]*\s+){1,3}(?:is|are)\s+(?:now\s+)?(?:the|our)\b", said.text))


def _other_value(said: Assertion, written: Assertion, *, explicit: bool) -> Verdict | None:
    """Judge a statement by its values: another one of the same kind, of the same thing, and no other besides."""
    verdict: Verdict | None = None
    mine = {(value.kind, value.value) for value in said.values}
    which = {value.units for value in written.values if value.label and (value.kind, value.value) not in mine}
    for value in said.values:
        theirs = [other for other in written.values if _alike(value, other)]
        if not theirs:
            return None  # it has a value of which the document says nothing
        same = [other for other in theirs if _same(value, other)]
        if same:
            verdict = verdict or Verdict.CONFIRMS
            continue
        if len({other.value for other in theirs}) > 1:
            return None  # which one is meant is not plain
        if value.bound != theirs[0].bound and not explicit:
            return None
        if any(other.value == theirs[0].value for other in said.values) and not said.contrasts:
            return None
        if verdict is Verdict.CORRECTS or which - {other.units for other in theirs}:
            return None  # of another one: another room, another floor
        verdict = Verdict.CORRECTS
    if verdict is None and not said.values and said.about and said.denied == written.denied:
        whole = bool(written.about) and said.about >= written.about
        return Verdict.CONFIRMS if whole and not written.values else None
    return verdict


def _same(one: Value, other: Value) -> bool:
    """Tell whether two values may be the same; of hours, it is not always said which half of the day is meant."""
    if one.kind != "time" or "-" in one.value:
        return one.value == other.value
    (hour, minutes), (their, theirs) = one.value.split(":"), other.value.split(":")
    return (int(hour) % 12, minutes) == (int(their) % 12, theirs)


def _alike(one: Value, other: Value) -> bool:
    """Tell whether two values are of the same kind, and of the same thing."""
    if one.kind != other.kind or ("-" in one.value) != ("-" in other.value):
        return False
    if one.kind != "number":
        return True
    if not one.units or not other.units:
        return not one.units  # "it is 30 now": what it counts was said before
    return bool(one.units & other.units)
