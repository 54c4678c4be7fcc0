"""Who a clause is about and what it says of them: subject, tense, negation, verb, and the words after the verb.

A clause is read from its start: fillers and a time in front are skipped, then come a subject, the verb group and the
rest. Whatever is hedged, hypothetical or about somebody unknown is not read at all: the rules see only plain statements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from mnemic.core.extraction.kin import KIN, Kin, find_kin
from mnemic.core.extraction.sentences import Piece
from mnemic.core.extraction.verbs import Verb, is_past, read_verb
from mnemic.core.temporal import FoundTime, find_times
from mnemic.core.temporal_words import lower_same_length
from mnemic.text import STOP_WORDS

Tense = Literal["present", "past", "perfect", "progressive", "was_progressive", "future", "going_to", "used_to", "can"]


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
class Word:
    """A word in lower case, contractions taken apart, with its place in the text."""

    low: str
    start: int
    end: int


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
    negated: bool
    stopped: bool
    verb: str
    verb_start: int
    rest: str
    times: tuple[FoundTime, ...]
    adverbs: frozenset[str] = frozenset()
    topic: str = ""
    kin: Kin | None = None
    plural: bool = False
    dropped: bool = False
    low_rest: str = field(default="")

    @property
    def time(self) -> FoundTime | None:
        """The first time expression of the clause."""
        return self.times[0] if self.times else None


_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
_CONTRACTED: Final = {
    "i'm": "i am", "im": "i am", "i've": "i have", "ive": "i have", "i'll": "i will", "i'd": "i would",
    "we're": "we are", "we've": "we have", "we'll": "we will", "we'd": "we would",
    "he's": "he is", "she's": "she is", "he'll": "he will", "she'll": "she will", "he'd": "he would", "she'd": "she would",
    "don't": "do not", "dont": "do not", "doesn't": "does not", "doesnt": "does not", "didn't": "did not",
    "didnt": "did not", "can't": "can not", "cant": "can not", "cannot": "can not", "won't": "will not",
    "wont": "will not", "isn't": "is not", "isnt": "is not", "aren't": "are not", "wasn't": "was not",
    "wasnt": "was not", "weren't": "were not", "haven't": "have not", "havent": "have not", "hasn't": "has not",
    "hadn't": "had not", "wouldn't": "would not", "couldn't": "could not", "shouldn't": "should not", "ain't": "am not",
    "gonna": "going to",
}  # fmt: skip
_FILLERS: Final = frozenset(
    """yeah yes yep yup yea ya hey hi hello oh wow well so and but also actually honestly thanks thank sure haha hahaha lol
    anyway anyways plus besides fyi unfortunately fortunately luckily sadly ok okay absolutely definitely totally right no
    nope nah btw ah aw aww ooh hmm um uh man dude guys look listen today's then see cool nice great awesome exactly indeed
    true agreed funny frankly basically personally mostly first second finally lately nowadays again now recently ugh
    gosh omg yay phew still though because since remember note please like yikes damn as for me""".split()
)
_LEADS: Final = re.compile(
    r"(?:(?:by the way|to be honest|guess what|for the record|just so you know|you know(?: what)?|i mean|in fact|of course"
    r"|good news|bad news|the truth is|remember that|i'm (?:so |really |super )?(?:happy|excited|thrilled|glad|proud|pleased) to (?:tell|say|share|announce)(?: you)?(?: that)?(?=\s)"
    r"|i (?:just )?want(?:ed)? to (?:let you know|tell you|share)(?: that)?(?=\s)|please remember(?: that)?|note that|as you know|as a matter of fact"
    r"|thank you|the thing is|for me|believe it or not|long story short|at the moment|these days|for now|and yes)[\s,!.:]{1,3})"
)
_ADVERBS: Final = frozenset(
    """just really also actually recently finally still always usually often sometimes currently absolutely totally so
    kinda definitely even already now once both all mostly only truly simply genuinely honestly especially particularly
    officially normally typically generally rarely ever quite very both sort personally lately proudly happily
    eventually originally then too occasionally regularly first have-been mainly seriously strongly secretly""".split()
)
_HEDGES: Final = frozenset("probably maybe possibly perhaps almost nearly supposedly apparently hardly barely".split())
_MODALS: Final = frozenset("would could should might may must shall ought".split())
_BE: Final = frozenset("am is are was were".split())
_STOPPED: Final = re.compile(r"\b(?:any ?more|any longer|no more|these days no)\b")
_NO_MORE: Final = re.compile(r"\s*\b(?:any ?more|any longer|no more|either|at all)\b")
_TIME_LEAD: Final = frozenset(
    """last yesterday this on in two three four five six a an the since until during back earlier early late over at around few
    today tonight tomorrow next recently lately one from by some couple several after before january february march april
    may june july august september october november december monday tuesday wednesday thursday friday saturday sunday""".split()
)


def words_of(turn: Turn, start: int, end: int) -> list[Word]:
    """Return the words of a stretch, contractions taken apart."""
    found: list[Word] = []
    for match in _WORD.finditer(turn.blanked, start, end):
        low = turn.low[match.start() : match.end()]
        for part in _CONTRACTED.get(low, low).split():
            found.append(Word(part, match.start(), match.end()))
    return found


@dataclass(frozen=True, slots=True)
class _Subject:
    name: str
    person: Literal["first", "third"]
    after: int
    topic: str = ""
    kin: Kin | None = None
    plural: bool = False
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class _Group:
    tense: Tense
    negated: bool
    stopped: bool
    verb: str
    start: int
    end: int
    adverbs: frozenset[str]


def read_clause(turn: Turn, piece: Piece, before: Clause | None) -> Clause | None:
    """Read one clause; `before` is the clause read before it in the text, for a shared subject or a pronoun."""
    words = words_of(turn, piece.start, piece.end)
    if not words:
        return None
    start = _skip_lead(turn, piece, words)
    subject = _subject(turn, piece, words, start, before)
    if subject is None:
        return None
    group = _group(words, subject)
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
        False,
        False,
        "",
        piece.start,
        rest,
        (),
        low_rest=low,
    )


def _clause(turn: Turn, piece: Piece, subject: _Subject, group: _Group) -> Clause:
    hint: Literal["past", "future"] | None = None
    if group.tense in {"future", "going_to"}:
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


_DANGLING: Final = re.compile(
    r"\s(?:about|around|from|on|in|at|for|by|since|during|just|back|over|of|and|only)\s{0,3}\Z"
)
_RELATIVE: Final = re.compile(r"\b(?:that|who|which|where|when|after|before|because|for when)\b")


def _own_times(turn: Turn, piece: Piece, verb_end: int, found: list[FoundTime]) -> tuple[FoundTime, ...]:
    """Return the times of the clause itself: one inside a relative clause ("a book that came out in 2019") is not its own."""
    relative = _RELATIVE.search(turn.low, verb_end, piece.end)
    shifted = [FoundTime(time.span, time.start + piece.start, time.end + piece.start) for time in found]
    return tuple(time for time in shifted if relative is None or time.start <= relative.start())


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
_LEAD_PHRASE: Final = re.compile(r"[^,;:]{2,60},\s{1,3}(?=(?:i|we|i'm|i've|we're|we've|my|our)\b)")


def _after_lead(turn: Turn, piece: Piece, word: Word) -> int | None:
    """Skip "After the trip," and the like in front of a subject."""
    match = _LEAD_PHRASE.match(turn.low, word.start, piece.end)
    return match.end() if match else None


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
    while index < len(words) - 1 and words[index].low in _ADVERBS:
        index += 1
    if piece.first and is_past(words[index].low) and words[index].low not in _NOT_DROPPED:
        return _Subject(turn.speaker, "first", index, dropped=True)
    return None


_TOGETHER: Final = re.compile(r"(?:(?:my|our|the) )?[\w-]{2,16}(?: [\w-]{2,16})?(?:,? and| &) i\b")
_NOT_DROPPED: Final = frozenset("had was were did been made used said felt thought let loved liked told left".split())


_NAME: Final = re.compile(
    r"[A-Z][a-z]{2,15}(?<!ing)(?<!ion)(?<!ness)(?<!ity)(?<!ment)(?<!body)(?<!thing)(?<!one)(?<!s)(?!\w)"
)
_OF_NAMED: Final = frozenset("moved lives loves likes hates studies speaks retired graduated works".split())
_NOT_NAMED: Final = frozenset(
    """mom dad mum grandma grandpa music nature life love family art food yoga work time summer winter spring autumn dance
    everyone nobody anyone someone nothing everything who what that this she somebody team coffee tea water wine
    mother father luck fate god technology science history sport football soccer""".split()
)


def _named(turn: Turn, words: list[Word], index: int) -> _Subject | None:
    """Read "Noor loves liquorice": a name, and a verb that says something lasting about a person."""
    if index + 1 >= len(words) or words[index + 1].low not in _OF_NAMED:
        return None
    name = _NAME.match(turn.blanked, words[index].start)
    if name is None or words[index].low in _NOT_NAMED or words[index].low in STOP_WORDS:
        return None
    return _Subject(name.group(), "third", index + 1)


def _possessed(turn: Turn, words: list[Word], index: int) -> _Subject | None:
    """Read "my brother Tom", "my husband", "my favourite colour" up to the verb."""
    kin = find_kin(turn.blanked, turn.low, words[index].start)
    if kin is not None:
        after = _after(words, kin.end)
        name = kin.names[0] if len(kin.names) == 1 else f"{turn.speaker}'s {kin.noun}"
        return _Subject(name, "third", after, kin=kin)
    for stop in range(index + 2, min(index + 7, len(words))):
        if words[stop].low in _BE or words[stop].low in {"has", "have", "had"}:
            topic = " ".join(word.low for word in words[index + 1 : stop])
            return _Subject(turn.speaker, "first", stop, topic=topic) if not KIN.search(topic) else None
    return None


def _group(words: list[Word], subject: _Subject) -> _Group | None:
    reader = _Reader(words, subject.after)
    return reader.read()


class _Reader:
    """Walks over the verb group; keeps what it saw of negation and adverbs."""

    def __init__(self, words: list[Word], index: int) -> None:
        self.words = words
        self.index = index
        self.negated = False
        self.stopped = False
        self.adverbs: set[str] = set()

    def _low(self, step: int = 0) -> str:
        position = self.index + step
        return self.words[position].low if position < len(self.words) else ""

    def _skip(self) -> bool:
        """Skip adverbs and negation; False when a hedge stands there."""
        while word := self._low():
            if word in _HEDGES:
                return False
            if word == "no" and self._low(1) == "longer":
                self.negated = self.stopped = True
                self.index += 2
            elif word in {"not", "never"}:
                self.negated = True
                self.index += 1
            elif word in _ADVERBS:
                self.adverbs.add(word)
                self.index += 1
            else:
                return True
        return True

    def read(self) -> _Group | None:
        """Read the group; None for what is hedged, hypothetical, or no verb."""
        if not self._skip() or self._low() in _MODALS:
            return None
        word = self._low()
        if word in _BE:
            return self._be("present" if word in {"am", "is", "are"} else "past")
        if word in {"have", "has", "had"}:
            return self._have(word)
        if word in {"do", "does", "did"}:
            return self._do(word)
        if word in {"will", "can"}:
            self.index += 1
            return self._base("future" if word == "will" else "can")
        if word == "used" and self._low(1) == "to":
            self.index += 2
            self.stopped = True
            return self._base("used_to")
        return self._main()

    def _done(self, tense: Tense, lemma: str) -> _Group | None:
        if self.index >= len(self.words):
            return None
        word = self.words[self.index]
        return _Group(tense, self.negated, self.stopped, lemma, word.start, word.end, frozenset(self.adverbs))

    def _base(self, tense: Tense) -> _Group | None:
        if not self._skip() or not self._low():
            return None
        return self._done(tense, self._low())

    def _main(self) -> _Group | None:
        word = self._low()
        verb = read_verb(word)
        if verb is not None and verb.form in {"past", "third", "base"}:
            return self._done("past" if verb.form == "past" else "present", verb.lemma)
        return self._done("present", word) if word and verb is None and word.isalpha() else None

    def _be(self, tense: Tense) -> _Group | None:
        be = self.index
        self.index += 1
        if not self._skip():
            return None
        if (
            self._low() == "going"
            and self._low(1) == "to"
            and read_verb(self._low(2))
            and not self._low(2).endswith("ing")
        ):
            self.index += 2
            return self._base("going_to") if tense == "present" else None
        verb = read_verb(self._low())
        if verb is not None and verb.form == "ing":
            return self._done("progressive" if tense == "present" else "was_progressive", verb.lemma)
        return self._copula(tense, be)

    def _copula(self, tense: Tense, be: int) -> _Group:
        word = self.words[max(be, self.index - 1)]
        return _Group(tense, self.negated, self.stopped, "be", self.words[be].start, word.end, frozenset(self.adverbs))

    def _have(self, word: str) -> _Group | None:
        have = self.index
        self.index += 1
        if not self._skip() or self._low() in {"to", "had"}:
            return None
        tense: Tense = "past" if word == "had" else "perfect"
        following = self._low()
        if following == "been":
            been = self.index
            self.index += 1
            if not self._skip():
                return None
            verb = read_verb(self._low())
            if verb is not None and verb.form == "ing":
                return self._done("perfect" if word != "had" else "was_progressive", verb.lemma)
            return self._copula(tense, been)
        verb = read_verb(following)
        if following == "got":
            return self._got(have) if word != "had" else None
        if verb is not None and (verb.form in {"participle", "past"} or is_same(verb)):
            return self._done(tense, verb.lemma) if word != "had" else None
        self.index = have
        return self._done("past" if word == "had" else "present", "have")

    def _got(self, have: int) -> _Group | None:
        if (
            self._low(1) in {"to", "a", "an", "two", "three", "four", "one", "my", "some", "no"}
            or self._low(1).isdigit()
        ):
            return None if self._low(1) == "to" else self._done("present", "have")
        return self._done("perfect", "get")

    def _do(self, word: str) -> _Group | None:
        do = self.index
        self.index += 1
        was_negated = self.negated
        if not self._skip():
            return None
        verb = read_verb(self._low())
        negated_here = self.negated and not was_negated
        if negated_here or (verb is not None and verb.form in {"base", "past"} and verb.lemma == self._low()):
            if self._low() == "used" and self._low(1) == "to":
                return None
            return self._base("past" if word == "did" else "present")
        self.index = do
        return self._done("past" if word == "did" else "present", "do")


def is_same(verb: Verb) -> bool:
    """Tell whether the participle looks like the dictionary form: "have run", "have become"."""
    return verb.lemma in {
        "run",
        "come",
        "become",
        "quit",
        "read",
        "cut",
        "put",
        "set",
        "hit",
        "hurt",
        "beat",
        "let",
        "split",
    }
