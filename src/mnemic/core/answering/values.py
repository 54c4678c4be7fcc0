"""Short values inside the evidence that the question's own words point at: a number, a duration, a title, a name.

Each rule gives a stretch of a sentence, never new words, and nothing when it is not sure. The rules look only at the
few best sentences, for a value of the right kind in a poor sentence is mostly wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core.answering.asking import Asked, Wants
from mnemic.core.answering.evidence import Sentence
from mnemic.core.answering.objects import object_value
from mnemic.core.answering.roots import root
from mnemic.text import STOP_WORDS, fold, words

_NEAR_BEST: Final = 0.3
_READ: Final = 6  # sentences
_MOST: Final = 4  # values of a list

_NUMBER_WORDS: Final = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen|once|twice"
)
_NUMBER: Final = re.compile(
    rf"(?<![\w$-])(?:\$?\d[\d,.]*\d|\d|(?:(?:{_NUMBER_WORDS})(?:[ -](?:and )?)?){{1,6}}(?<![ -]))\b(?![-/]\d)",
    re.IGNORECASE,
)
_DURATION: Final = re.compile(
    rf"\b(?:(?:about|around|almost|nearly|over|more than|less than|at least)\s)?"
    rf"(?:an?|(?:a )?few|several|(?:a )?couple(?: of)?|many|\d+(?:\.\d+)?|{_NUMBER_WORDS})(?: and a half)?\s"
    r"(?:second|minute|hour|day|night|week|month|year|decade)s?\b(?:\s(?:ago|now))?",
    re.IGNORECASE,
)
_AGE: Final = re.compile(
    rf"\b(?:turn(?:ed|ing|s)?|am|i'm|is|he's|she's|aged?)\s(?P<age>\d{{1,3}}|(?:{_NUMBER_WORDS})(?:-(?:{_NUMBER_WORDS}))?)\b"
    r"|\b(?P<old>[\w-]+)[ -]years?[ -]old\b",
    re.IGNORECASE,
)
_TITLED: Final = re.compile(
    r"\b(?:book|novel|movie|film|song|track|album|game|show|series|band|artist|musician|play|poem|quote|magazine|podcast|"
    r"screenplay|story|title|name)s?\b"
)
_QUOTED: Final = re.compile(r"[\"\u201c](?P<title>[^\"\u201c\u201d]{2,80})[\"\u201d]")
_NAME: Final = re.compile(
    r"(?<![\w'\u2019])[A-Z\u00c0-\u00de][\w\u00c0-\u024f'\u2019&.-]*\w(?:\s(?:(?:of|the|de|da|and|&)\s){0,2}[A-Z\u00c0-\u00de0-9][\w\u00c0-\u024f&.-]*\w)*"
)
_PLACE: Final = re.compile(
    r"\b(?:in|to|at|from|near|around|visit(?:ed|ing)?|of)\s(?:the\s)?(?P<place>[A-Z\u00c0-\u00de][\w\u00c0-\u024f.-]+(?:,?\s[A-Z\u00c0-\u00de][\w\u00c0-\u024f.-]+)*)"
)
_KINSFOLK: Final = re.compile(
    r"\bmy\s(?:\w+\s){0,1}(?:mom|mum|mother|dad|father|sister|brother|wife|husband|girlfriend|boyfriend|partner|son|daughter|"
    r"kids?|children|family|grandma|grandmother|grandpa|grandfather|aunt|uncle|cousin|friends?|colleagues?|neighbou?rs?|"
    r"teammates?|team|coach|teacher|boss)\b",
    re.IGNORECASE,
)
_BECAUSE: Final = re.compile(
    r"\b(?:because|so that|so I could|so I can|in order to|due to|thanks to|as a way to)\s[^.;!?]{4,160}", re.IGNORECASE
)
_NO_NAMES: Final = frozenset(
    """i im ive ill id the a an it it's its my we were weve our you your he she they this that these those there here
    what when where who why how yes yeah no not oh hey hi wow thanks thank and but so just also then well god happy
    good great monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december christmas is are was were have had do did got if in on at for to of
    as by with dont cant last next one got photo english""".split()
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A value, as it is written in the evidence, and the sentence that it stands in."""

    text: str
    sentences: tuple[Sentence, ...]


def value_answer(asked: Asked, sentences: Sequence[Sentence]) -> Drawn | None:
    """Return the value in the best sentences that has the kind that is asked for; None when none stands out.

    A question for several things takes a value from each of the best sentences.
    """
    read = best_of(sentences)
    for rule in _rules(asked):
        found: dict[str, tuple[str, Sentence]] = {}
        for sentence in read:
            value = (rule(asked, sentence) or "").strip(" ,-")
            if value.strip(".") and fold(value) not in found:
                found[fold(value)] = (value, sentence)
        kept = list(found.values())[: _MOST if asked.many and rule in _LISTED else 1]
        if kept:
            return Drawn(", ".join(value for value, _ in kept), tuple(sentence for _, sentence in kept))
    return None


def best_of(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the best sentences that are nearly as good as the very best, then the rest of the best hit's.

    Of documents the very best only: their sentences stand close together and speak of different things.
    """
    if sentences[0].hit.locator is not None:
        return [sentences[0]]
    near = [sentence for sentence in sentences[:_READ] if sentence.score >= sentences[0].score - _NEAR_BEST]
    return near + [each for each in sentences if each.rank == sentences[0].rank and each not in near][:_READ]


Rule = Callable[[Asked, Sentence], str | None]


def _rules(asked: Asked) -> Iterator[Rule]:
    kinds: dict[Wants, Rule] = {
        Wants.COUNT: _count, Wants.SPAN: _span, Wants.AGE: _age, Wants.PERSON: _person, Wants.PLACE: _place,
        Wants.REASON: _reason,
    }  # fmt: skip
    if asked.wants in kinds:
        yield kinds[asked.wants]
    if asked.wants in {Wants.THING, Wants.PLACE} and _TITLED.search(asked.low):
        yield _title
    if asked.wants in {Wants.THING, Wants.PERSON, Wants.PLACE}:
        yield object_value


def _count(asked: Asked, sentence: Sentence) -> str | None:
    """Return the number that stands before the thing that is counted."""
    noun = re.search(r"\b(?:how (?:many|much)|number of)\s(?P<noun>[a-z'-]+(?:\s[a-z'-]+)?)", asked.low)
    wanted = {root(word) for word in words(noun["noun"]) if word not in STOP_WORDS} if noun else set()
    for match in _NUMBER.finditer(sentence.text):
        after = words(sentence.text[match.end() : match.end() + 60])[:4]
        if wanted & {root(word) for word in after}:
            return match.group()
    return None


def _span(asked: Asked, sentence: Sentence) -> str | None:
    found = [match.group() for match in _DURATION.finditer(sentence.text)]
    if "ago" in asked.low:
        found = [each for each in found if each.lower().endswith("ago")] or found
    return found[0] if found else None


def _age(_: Asked, sentence: Sentence) -> str | None:
    match = _AGE.search(sentence.text)
    return (match["age"] or match["old"]) if match else None


def _title(asked: Asked, sentence: Sentence) -> str | None:
    """Return a title in quotation marks that the question does not have."""
    for match in _QUOTED.finditer(sentence.text):
        if fold(match["title"]) not in fold(asked.text):
            return match["title"].rstrip(",.")
    return None


def _person(asked: Asked, sentence: Sentence) -> str | None:
    for name in names_in(asked, sentence):
        return name
    kin = _KINSFOLK.search(sentence.text)
    return kin.group() if kin else None


def names_in(asked: Asked, sentence: Sentence) -> list[str]:
    """Return the names in a sentence that are not the question's, the speaker's, or words that only open a sentence."""
    known = set(words(asked.text)) | set(words(sentence.hit.speaker))
    found = []
    for match in _NAME.finditer(sentence.text):
        parts = match.group().split()
        while parts and words(parts[0])[0] in _NO_NAMES:
            parts = parts[1:]
        name = re.sub(r"['\u2019]s?$", "", " ".join(parts))
        opens = match.start() == 0 and len(parts) == 1 and len(match.group().split()) == 1
        if not name[:1].isalpha() or set(words(name)) & known or (opens and not _acts(sentence.text[match.end() :])):
            continue
        if not name.isupper() or len(name) < 4:
            found.append(name)
    return found


def _acts(rest: str) -> bool:
    """Tell whether a capitalised word at the start is a name by what follows: a verb, or another person."""
    return bool(
        re.match(
            r"(?:['\u2019]s)?\s(?:had|has|is|was|will|and I|told|gave|made|moved|came|went|said|works|lives|\w+ed)\b",
            rest,
        )
    )


def _place(asked: Asked, sentence: Sentence) -> str | None:
    known = set(words(asked.text)) | set(words(sentence.hit.speaker))
    for match in _PLACE.finditer(sentence.text):
        place = match["place"].rstrip(".")
        if not set(words(place)) & known and fold(place.split()[0].rstrip(",")) not in _NO_NAMES:
            return place
    return None


def _reason(_: Asked, sentence: Sentence) -> str | None:
    match = _BECAUSE.search(sentence.text)
    return match.group() if match else None


_LISTED: Final = (_title, _place, _person)
