"""Who a clause is about and what it says of them: subject, tense, negation, verb, and the words after the verb.

A clause is read from its start: fillers and a time in front are skipped, then come a subject, the verb group and the
rest. Whatever is hedged, hypothetical or about somebody unknown is not read: the rules see only plain statements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final, Literal

from mnemic.core.extraction.kin import KIN, Kin, find_kin
from mnemic.core.extraction.sentences import Piece
from mnemic.core.extraction.verb_group import ADVERBS, BE, Tense, VerbGroup, Word, read_group
from mnemic.core.extraction.verbs import is_past
from mnemic.core.temporal import FoundTime, find_times
from mnemic.core.temporal_words import lower_same_length
from mnemic.text import STOP_WORDS


@dataclass(frozen=True, slots=True)
class Turn:
    """A message being read: its words, its twin with foreign parts blanked, who said it to whom, and when."""

    text: str
    blanked: str
    low: str
    speaker: str
    listener: str | None
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Clause:
    """A plain statement. `verb` is in dictionary form; `rest` are the words after it, times taken out.

    `topic` is the possessed noun of a subject such as "my favourite colour"; `kin` the relation of "my brother Tom".
    `stopped` tells that it held once and no longer does ("anymore", "no longer", "used to").
    """

    turn: Turn
    start: int
    end: int
    subject: str
    person: Literal["first", "third"]
    tense: Tense
    verb: str
    verb_start: int
    rest: str
    low_rest: str
    negated: bool = False
    stopped: bool = False
    times: tuple[FoundTime, ...] = ()
    adverbs: frozenset[str] = frozenset()
    topic: str = ""
    kin: Kin | None = None
    plural: bool = False
    dropped: bool = False

    @property
    def time(self) -> FoundTime | None:
        """The first time expression of the clause."""
        return self.times[0] if self.times else None


_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
_CONTRACTED: Final = {
    "i'm": "i am", "im": "i am", "i've": "i have", "ive": "i have", "i'll": "i will", "i'd": "i would",
    "we're": "we are", "we've": "we have", "we'll": "we will", "we'd": "we would",
    "he's": "he is", "she's": "she is", "he'll": "he will", "she'll": "she will", "he'd": "he would",
    "she'd": "she would",
    "don't": "do not", "dont": "do not", "doesn't": "does not", "doesnt": "does not", "didn't": "did not",
    "didnt": "did not", "can't": "can not", "cant": "can not", "cannot": "can not", "won't": "will not",
    "wont": "will not", "isn't": "is not", "isnt": "is not", "aren't": "are not", "wasn't": "was not",
    "wasnt": "was not", "weren't": "were not", "haven't": "have not", "havent": "have not", "hasn't": "has not",
    "hadn't": "had not", "wouldn't": "would not", "couldn't": "could not", "shouldn't": "should not", "ain't": "am not",
    "gonna": "going to",
}  # fmt: skip
_FILLERS: Final = frozenset(
    """yeah yes yep yup yea ya hey hi hello oh wow well so and but also actually honestly thanks thank sure haha
    hahaha lol
    anyway anyways plus besides fyi unfortunately fortunately luckily sadly ok okay absolutely definitely totally
    right no
    nope nah btw ah aw aww ooh hmm um uh man dude guys look listen today's then see cool nice great awesome exactly
    indeed
    true agreed funny frankly basically personally mostly first second finally lately nowadays again now recently ugh
    gosh omg yay phew still though because since remember note please like yikes damn""".split()
)
_LEADS: Final = re.compile(
    r"(?:(?:by the way|to be honest|guess what|for the record|just so you know|you know(?: what)?"
    r"|i mean|in fact|of course"
    r"|good news|bad news|the truth is|remember that|i'm (?:so |really |super )?(?:happy|excited"
    r"|thrilled|glad|proud|pleased) to (?:tell|say|share|announce)(?: you)?(?: that)?(?=\s)"
    r"|i'm (?:so |really |very )?(?:happy|glad|sad|relieved|proud|grateful|thrilled"
    r"|excited)(?: that)?(?= (?:i|we) )|i (?:just )?want(?:ed)? to (?:let you know|tell you"
    r"|share)(?: that)?(?=\s)"
    r"|please remember(?: that)?|note that|keep in mind(?: that)?|remind(?:er| me)(?: that)?|correction"
    r"|heads up|as you know"
    r"|for (?:context|(?:future )?reference|your information|what it's worth)|as a matter of fact"
    r"|thank you|the thing is|(?:as )?for me|believe it or not|long story short|at the moment|these days"
    r"|for now|and yes)[\s,!.:]{1,3})"
)
_STOPPED: Final = re.compile(r"\b(?:any ?more|any longer|no more|these days no)\b")
_NO_MORE: Final = re.compile(r"\s*\b(?:any ?more|any longer|no more|either|at all)\b")
_TIME_LEAD: Final = frozenset(
    """last yesterday this on in two three four five six a an the since until during back earlier early late over
    at around few
    today tonight tomorrow next recently lately one from by some couple several after before january february march
    april
    may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday""".split()
)


def _apart(word: str) -> list[str]:
    parts = _CONTRACTED.get(word)
    return parts.split() if parts else [word]


_MOST_WORDS: Final = 32
"""How far into a clause its verb may stand."""


def words_of(turn: Turn, start: int, end: int) -> list[Word]:
    """Return the first words of a stretch, contractions taken apart."""
    return [
        Word(part, match.start(), match.end())
        for match in islice(_WORD.finditer(turn.blanked, start, end), _MOST_WORDS)
        for part in _apart(turn.low[match.start() : match.end()])
    ]


@dataclass(frozen=True, slots=True)
class _Subject:
    name: str
    person: Literal["first", "third"]
    after: int
    topic: str = ""
    kin: Kin | None = None
    plural: bool = False
    dropped: bool = False


def read_clause(turn: Turn, piece: Piece, before: Clause | None) -> Clause | None:
    """Read one clause; `before` is the clause read before it in the text, for a shared subject or a pronoun."""
    words = words_of(turn, piece.start, piece.end)
    if not words:
        return None
    start = _skip_lead(turn, piece, words)
    subject = _subject(turn, piece, words, start, before)
    if subject is None:
        return None
    group = read_group(words, subject.after)
    if group is None:
        return None
    return _clause(turn, piece, subject, group)


def bare_clause(turn: Turn, piece: Piece) -> Clause:
    """Return a whole piece as the rest of a clause of the speaker, for rules that read all of its words."""
    rest = " ".join(turn.blanked[piece.start : piece.end].split()).strip(" ,;:.!")
    low = lower_same_length(rest)
    return Clause(
        turn,
        piece.start,
        piece.end,
        turn.speaker,
        "first",
        "present",
        verb="",
        verb_start=piece.start,
        rest=rest,
        low_rest=low,
    )


def _clause(turn: Turn, piece: Piece, subject: _Subject, group: VerbGroup) -> Clause:
    hint: Literal["past", "future"] | None = None
    arranged = group.verb == "have" and APPOINTMENT.match(turn.low, group.end + 1, piece.end) is not None
    if group.tense in {"future", "going_to"} or (arranged and group.tense == "present"):
        hint = "future"
    elif group.tense in {"past", "perfect", "was_progressive", "used_to"}:
        hint = "past"
    found = find_times(turn.blanked[piece.start : piece.end], turn.said_at, tense=hint)
    times = _own_times(turn, piece, group.end, found)
    rest = _without(turn.blanked, group.end, piece.end, times)
    low = lower_same_length(rest)
    stopped = group.stopped or (group.negated and _STOPPED.search(low) is not None)
    if stopped or group.negated:
        rest = _NO_MORE.sub("", rest)
    return Clause(
        turn=turn,
        start=piece.start,
        end=piece.end,
        subject=subject.name,
        person=subject.person,
        tense=group.tense,
        negated=group.negated,
        stopped=stopped,
        verb=group.verb,
        verb_start=group.start,
        rest=rest,
        times=times,
        adverbs=group.adverbs,
        topic=subject.topic,
        kin=subject.kin,
        plural=subject.plural,
        dropped=subject.dropped,
        low_rest=lower_same_length(rest),
    )


APPOINTMENT: Final = re.compile(
    r"(?:an?|my|our|another|two|some) (?:[\w'-]+ ){0,4}?(?:appointment|meeting|interview|exam|flight"
    r"|trip|concert|wedding|game|match|race|date|show"
    r"|performance|surgery|class|test|deadline|tournament|competition|gig|recital|checkup|check-up"
    r"|party|presentation|audition)s?\b"
    r"(?: (?:with [A-Z][\w'-]{1,20}(?: [A-Z][\w'-]{1,20})?\b|at \d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\b)?)){0,2}"
)
"""What stands in a calendar: "I have a dentist appointment on Friday" speaks of a day to come."""
_DANGLING: Final = re.compile(
    r"\s(?:about|around|from|on|in|at|for|by|since|during|just|back|over|of|and|only)\s{0,3}\Z"
)
_RELATIVE: Final = re.compile(r"\b(?:that|who|which|where|when|after|before|because|for when)\b")


_OF_A_NOUN: Final = re.compile(r"\w\s(?:from|of)\s\Z")


def _own_times(turn: Turn, piece: Piece, verb_end: int, found: list[FoundTime]) -> tuple[FoundTime, ...]:
    """Return the times of the clause itself, without those of a relative clause: "a book that came out in 2019"."""
    relative = _RELATIVE.search(turn.low, verb_end, piece.end)
    shifted = [FoundTime(time.span, time.start + piece.start, time.end + piece.start) for time in found]
    own = [time for time in shifted if relative is None or time.start <= relative.start()]
    return tuple(time for time in own if time.start < verb_end or not _OF_A_NOUN.search(turn.low, verb_end, time.start))


def _without(text: str, start: int, end: int, times: tuple[FoundTime, ...]) -> str:
    """Return a stretch of the text on one line, time expressions taken out."""
    kept: list[str] = []
    position = start
    for time in times:
        if time.start >= position:
            kept.append(_DANGLING.sub("", text[position : time.start]))
        position = max(position, time.end)
    kept.append(text[position:end])
    return re.sub(r"\s{1,9}(?=[,.!])", "", " ".join(" ".join(kept).split())).strip(" \t,;:.!-\u2013\u2014")


def _skip_lead(turn: Turn, piece: Piece, words: list[Word]) -> int:
    """Return the index of the first word after fillers, a name that is called, and a time in front."""
    index = 0
    while index < len(words) - 1:
        word = words[index]
        match = _LEADS.match(turn.low, word.start, piece.end)
        if match:
            index = _after(words, match.end())
        elif word.low in _FILLERS or _called(turn, word):
            index += 1
        elif word.low in _TIME_LEAD or word.low.isdigit():
            past = _after_time(turn, piece, word) or _after_lead(turn, piece, word)
            if past is None:
                return index
            index = _after(words, past)
        elif word.low in _SUBJECTS or (past := _after_lead(turn, piece, word)) is None:
            return index
        else:
            index = _after(words, past)
    return index


def _called(turn: Turn, word: Word) -> bool:
    """Tell whether a word is a name in front of a comma: "Mel, I moved"."""
    after = turn.blanked[word.end : word.end + 1]
    return after in {",", "!"} and turn.blanked[word.start].isupper() and word.low not in {"i", "my", "we"}


def _after(words: list[Word], position: int) -> int:
    return next((index for index, word in enumerate(words) if word.start >= position), len(words) - 1)


def _after_time(turn: Turn, piece: Piece, word: Word) -> int | None:
    found = find_times(turn.blanked[word.start : min(piece.end, word.start + 60)], turn.said_at)
    return word.start + found[0].end if found and found[0].start == 0 else None


_SUBJECTS: Final = frozenset("i we my our he she they it you".split())
_TOLD_LEAD: Final = re.compile(
    r"\b(?:goes|says|said|sings|sang|reads|claims|thinks)\b"
    r"|\bin (?:the|my|a|an|this|that) (?:\w+ )?(?:game|dream|book|novel|story|film|movie|play|show|simulation"
    r"|campaign)\b"
)
_LEAD_PHRASE: Final = re.compile(r"[^,;:]{2,60},\s{1,3}(?=(?:i|we|i'm|i've|we're|we've|my|our)\b)")


def _after_lead(turn: Turn, piece: Piece, word: Word) -> int | None:
    """Skip "After the trip," and the like in front of a subject."""
    match = _LEAD_PHRASE.match(turn.low, word.start, piece.end)
    return match.end() if match and not _TOLD_LEAD.search(match.group()) else None


def _subject(turn: Turn, piece: Piece, words: list[Word], index: int, before: Clause | None) -> _Subject | None:
    if index >= len(words):
        return None
    word = words[index]
    if word.low in {"i", "we"}:
        return _Subject(turn.speaker, "first", index + 1, plural=word.low == "we")
    together = _TOGETHER.match(turn.low, word.start, piece.end)
    if together is not None:
        return _Subject(turn.speaker, "first", _after(words, together.end()), plural=True)
    if word.low in {"my", "our"}:
        return _possessed(turn, words, index)
    if word.low in {"he", "she"} and before is not None and before.person == "third":
        return _Subject(before.subject, "third", index + 1)
    if piece.shares and before is not None and before.end <= word.start and not before.topic:
        return _Subject(before.subject, before.person, index, plural=before.plural, dropped=True)
    named = _named(turn, words, index)
    if named is not None:
        return named
    while index < len(words) - 1 and words[index].low in ADVERBS:
        index += 1
    if piece.first and is_past(words[index].low) and words[index].low not in _NOT_DROPPED:
        return _Subject(turn.speaker, "first", index, dropped=True)
    return None


_TOGETHER: Final = re.compile(r"(?:(?:my|our|the) )?[\w-]{2,16}(?: [\w-]{2,16})?(?:,? and| &) i\b|me and [\w-]{2,16}\b")
_NOT_DROPPED: Final = frozenset("had was were did been made used said felt thought let loved liked told left".split())


_NAME: Final = re.compile(
    r"[A-Z][a-z]{2,15}(?<!ing)(?<!ion)(?<!ness)(?<!ity)(?<!ment)(?<!body)(?<!thing)(?<!one)(?<!s)(?!\w)"
)
_OF_NAMED: Final = frozenset("moved lives loves likes hates studies speaks retired graduated works".split())
_HAD_BABY: Final = re.compile(r"(?:has |just |finally ){0,2}(?:had|gave birth to) (?:her|a|their) baby\b")
_NOT_NAMED: Final = frozenset(
    """mom dad mum grandma grandpa music nature life love family art food yoga work time summer winter spring
    autumn dance
    everyone nobody anyone someone nothing everything who what that this she somebody team coffee tea water wine
    mother father luck fate god technology science history sport football soccer""".split()
)


def _named(turn: Turn, words: list[Word], index: int) -> _Subject | None:
    """Read "Noor loves liquorice": a name, and a verb that says something lasting about a person."""
    if index + 1 >= len(words):
        return None
    if words[index + 1].low not in _OF_NAMED and not _HAD_BABY.match(turn.low, words[index + 1].start):
        return None
    name = _NAME.match(turn.blanked, words[index].start)
    if name is None or words[index].low in _NOT_NAMED or words[index].low in STOP_WORDS:
        return None
    return _Subject(name.group(), "third", index + 1)


def _possessed(turn: Turn, words: list[Word], index: int) -> _Subject | None:
    """Read "my brother Tom", "my husband", "my favourite colour" up to the verb."""
    kin = find_kin(turn.blanked, turn.low, words[index].start)
    if kin is not None and turn.low[kin.end : kin.end + 1] == "'":
        return None
    if kin is not None:
        after = _after(words, kin.end)
        name = kin.names[0] if len(kin.names) == 1 else f"{turn.speaker}'s {kin.noun}"
        return _Subject(name, "third", after, kin=kin)
    for stop in range(index + 2, min(index + 7, len(words))):
        if words[stop].low in BE or words[stop].low in {"has", "have", "had"}:
            topic = " ".join(word.low for word in words[index + 1 : stop])
            return _Subject(turn.speaker, "first", stop, topic=topic) if not KIN.search(topic) else None
    return None
