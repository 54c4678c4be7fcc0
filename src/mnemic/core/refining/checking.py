"""Which of a model's statements are believed: those whose evidence is in the messages, about whom it is, and no more.

* Evidence: a quote that stands in the message that it names. What is not there voids the item.
* Who: the subject spoke, is named in the messages, or is known, and the quote is about them (`bearing`). What an
  assistant says tells nothing about a person unless a person's message is evidence too; promises need the assistant's
  own words.
* What: no number and no name that nobody said, the words of the value, and few others (`grounding`); nothing that is
  only asked, wished or denied (`bearing`).
* Conclusions are about tastes, habits and the like, and their reason stands on the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mnemic.core.counting import numbers_said
from mnemic.core.extraction.attributes import attribute_of, kind_of
from mnemic.core.grounding import goes_beyond, rests_on, shares_a_word, unsaid
from mnemic.core.refining.batch import Batch, Drawn, Item, Mention, Tie, TopicNote, Void
from mnemic.core.refining.bearing import Quote, about_another, denied, only_asked, only_supposed
from mnemic.core.refining.prompting import CUSTOM, TYPES, slug
from mnemic.core.refining.quoting import locate
from mnemic.core.refining.reading import Answered, Described, Evidence, Named, Related, Statement
from mnemic.core.refining.timing import Lasting, held
from mnemic.core.replies import one_line, picked
from mnemic.model.memory import Candidate, Memory, MemoryKind
from mnemic.model.message import MessageRole, StoredMessage
from mnemic.model.moment import TimeSpan
from mnemic.text import STOP_WORDS, fold, shorten, words

SAID: Final = 0.85
"""Confidence in what somebody said in so many words."""

CONCLUDED: Final = 0.6
"""Confidence in what a model concluded."""

_SELF: Final = frozenset("i me user speaker the_user the_speaker human".split())
_LONGEST: Final = {"statement": 400, "value": 160, "reason": 240, "title": 80, "summary": 600}
_LEAF: Final = re.compile(r"[a-z][a-z0-9_]{0,40}\Z")
_TURNS: Final = 3  # before a quote, whose names a statement may hold: who "she" is, was said a little earlier
_PLAIN_ONLY: Final = ("identity.", "health.")
"""What is never concluded, beside all that holds one value at a time: it would take the place of what was said."""

_COUNTS: Final = ("identity.age", "relation.children")
_TASTES: Final = ("preference.", "interest.", "habit.", "trait.", "diet.")
"""What a conclusion may put in words that nobody used."""

_NAMES: Final = ("identity.name", "identity.nickname")
_AGENT: Final = {"promise": "agent.promise", "learned": "agent.learned"}
_USUAL: Final = {"preference": "preference.like", "event": "event.happened", "plan": "plan.intends"}


class _Voided(Exception):  # noqa: N818 - a signal, not a fault
    """An item is not believed, and why."""


def check(answered: Answered, batch: Batch, *, drawn_by: str) -> Drawn:
    """Return what of an answer is believed, and what is not."""
    judge = _Judge(batch, drawn_by)
    items: list[Item] = []
    void = list(answered.void)
    for statement in answered.statements:
        try:
            items.append(judge.statement(statement))
        except _Voided as reason:
            void.append(Void(shorten(statement.statement, 200), str(reason)))
    for related in answered.related:
        try:
            item = judge.relation(related)
        except _Voided as reason:
            void.append(Void(f"{related.start} {related.relation} {related.end}"[:200], str(reason)))
        else:
            told = [(each.candidate.subject, each.candidate.value) for each in items]
            told += [(each.subject, each.current.value) for each in batch.known]
            if not _is_told(item.candidate, told):
                items.append(item)
    return Drawn(
        items=tuple(items),
        mentions=tuple(judge.mentions(answered.named)),
        topics=tuple(judge.topics(answered.described)),
        void=tuple(void),
    )


def _is_told(relation: Candidate, told: Iterable[tuple[str, str]]) -> bool:
    """Tell whether a statement about one end of a relation names the other already."""
    ends = (relation.subject, relation.value), (relation.value, relation.subject)
    return any(
        fold(subject) == fold(end) and set(words(other)) <= set(words(value))
        for subject, value in told
        for end, other in ends
    )


class _Judge:
    """Checks the items of one answer against their batch."""

    def __init__(self, batch: Batch, drawn_by: str) -> None:
        self._batch = batch
        self._drawn_by = drawn_by
        self._before = _turns_before(batch)
        every = (*batch.before, *batch.messages)
        self._heard = " ".join(f"{message.speaker} {message.text}" for message in every)
        self._speakers = {fold(message.speaker): message.speaker for message in every}
        self._called = _called(every, batch.known)
        self._people = self._speakers | {fold(memory.subject): memory.subject for memory in batch.known}

    def statement(self, said: Statement) -> Item:
        """Return the item of a statement; raises `_Voided`."""
        quotes = self._quotes(said.evidence)
        known = picked(said.known, self._batch.known)
        subject = self._subject(said, quotes)
        known = known if known is not None and _same_one(known.subject, subject) else None
        attribute = self._attribute(said)
        text, value = _cleaned("statement", said.statement), _cleaned("value", said.value or said.statement)
        if not text or not words(text):
            raise _Voided("it says nothing")
        place = next((quote.message for quote in quotes if locate(said.when.words, quote.message.text)), None)
        first = quotes[0].message
        when = held(said.when, place or first, _lasting(attribute))
        if attribute in _COUNTS:
            value = _in_digits(value)
        concluded = not said.said and bool(said.reason)
        told = [each.text for each in self._behind(quotes, 1)]
        self._check_said(text, value, quotes, subject, known, when.time)
        if said.kind not in _AGENT:
            self._check_borne(
                said, subject, attribute, quotes, [*told, *(each.current.text for each in [known] if each)]
            )
        self._check_wanted(text, value, attribute)
        candidate = Candidate(
            kind=kind_of(attribute),
            subject=subject,
            attribute=attribute,
            value=value,
            text=text,
            polarity=-1 if said.negated else 1,
            single=attribute_of(attribute).single,
            time=when.time,
            valid_from=when.valid_from,
            valid_to=when.valid_to,
            confidence=CONCLUDED if concluded else SAID,
            quote=quotes[0].words,
            start=quotes[0].start,
            end=quotes[0].end,
            drawn_by=self._drawn_by,
            reason=_cleaned("reason", said.reason) if concluded else "",
        )
        tie: Tie = said.change if known is not None else "new"
        if tie == "new" and (twin := self._twin(candidate)) is not None:
            tie, known = "same", twin
        return Item(first, candidate, tuple((each.message, each.words) for each in quotes[1:]), tie, known)

    def _twin(self, candidate: Candidate) -> Memory | None:
        """Return a known memory that has the very words of a statement."""
        return next(
            (
                memory
                for memory in self._batch.known
                if words(memory.current.text) == words(candidate.text)
                and memory.current.polarity == candidate.polarity
                and fold(memory.subject) == fold(candidate.subject)
            ),
            None,
        )

    def _check_said(
        self, text: str, value: str, quotes: Sequence[Quote], subject: str, known: Memory | None, time: TimeSpan | None
    ) -> None:
        """Void what nobody said."""
        years = [f"{quote.message.said_at:%Y}" for quote in quotes]
        told = [*self._words_behind(quotes, 1), subject, *self._speakers.values(), *years]
        if known is not None:
            told.append(known.current.text)
        beside = self._words_behind(quotes, _TURNS)
        beside += [each.current.text for each in self._batch.known if fold(each.subject) == fold(subject)]
        dated = text
        for quote in quotes:
            dated = _undated(dated, quote.message)
        foreign = unsaid(dated, value, told, time, beside=beside)
        if foreign is not None:
            raise _Voided(f"nobody said {foreign!r} there")
        if goes_beyond(text, [*told, *beside]):
            raise _Voided("it tells more than was said")

    def _check_borne(
        self, said: Statement, subject: str, attribute: str, quotes: Sequence[Quote], told: Sequence[str]
    ) -> None:
        """Void what the quotes do not bear out."""
        value = said.value or said.statement
        if about_another(subject, quotes, self._speakers):
            raise _Voided("its evidence is about somebody else")
        if not said.negated and denied(value, said.statement, quotes, was=attribute == "event.happened"):
            raise _Voided("its evidence denies it")
        if not said.said and said.reason:
            _check_concluded(said.reason, value, attribute, told)
            return
        if all(_is_empty(quote) for quote in quotes):
            raise _Voided("its evidence says nothing")
        if not rests_on(value, [*told, said.statement if said.negated else ""]):
            raise _Voided("its value does not stand in its evidence")
        if only_asked(subject, quotes):
            raise _Voided("it is only asked")
        wishes = attribute.startswith(("plan.", "preference.", "interest."))
        if not wishes and only_supposed(value, said.statement, quotes):
            raise _Voided("it is only wished or supposed")

    def relation(self, said: Related) -> Item:
        """Return the item of a relation between two named things; raises `_Voided`."""
        quote = self._quotes([Evidence(message=said.message, quote=said.quote)])[0]
        verb = "_".join(words(said.relation))
        ends = [_cleaned("value", said.start), _cleaned("value", said.end)]
        if not _LEAF.match(verb) or not all(ends):
            raise _Voided("it is no relation between two things")
        heard = set(words(" ".join(self._words_behind([quote], 1))))
        lost = next((end for end in ends if not set(words(end)) <= heard), None)
        if lost is not None:
            raise _Voided(f"nobody said {lost!r} there")
        if not shares_a_word(verb.replace("_", " "), [quote.message.text]):
            raise _Voided("its relation does not stand in its evidence")
        self._check_wanted(" ".join(ends), verb, "tie")
        subject = self._people.get(fold(ends[0]), ends[0])
        candidate = Candidate(
            kind=MemoryKind.FACT,
            subject=subject,
            attribute=f"tie.{verb}",
            value=ends[1],
            text=f"{subject} {verb.replace('_', ' ')} {ends[1]}.",
            polarity=1,
            single=False,
            time=None,
            valid_from=quote.message.said_at,
            valid_to=None,
            confidence=SAID,
            quote=quote.words,
            start=quote.start,
            end=quote.end,
            drawn_by=self._drawn_by,
        )
        return Item(quote.message, candidate)

    def mentions(self, named: Iterable[Named]) -> Iterable[Mention]:
        """Yield the entities that messages really mention."""
        for each in named:
            name = _cleaned("title", each.name)
            held_in: dict[str, str] = {}
            for reference in each.messages:
                message = picked(reference, self._batch.messages)
                place = None if message is None else locate(name, message.text)
                if message is not None and place is not None:
                    held_in[message.id] = message.text[place[0] : place[1]]
            if name and held_in:
                yield Mention(name, each.type if each.type in TYPES else "other", held_in)

    def topics(self, described: Iterable[Described]) -> Iterable[TopicNote]:
        """Yield descriptions of the topics that were asked for, each once."""
        left = {topic.segment.id for topic in self._batch.topics}
        for each in described:
            topic = picked(each.topic, self._batch.topics)
            title, summary = _cleaned("title", each.title), _cleaned("summary", each.summary)
            keywords = tuple(dict.fromkeys(_cleaned("title", word) for word in each.keywords if word.strip()))[:8]
            if topic is not None and topic.segment.id in left and title and summary:
                left.remove(topic.segment.id)
                yield TopicNote(topic.segment.id, title, summary, keywords)

    def _quotes(self, evidence: Sequence[Evidence]) -> list[Quote]:
        found: list[Quote] = []
        reason = "it has no evidence"
        for each in evidence[:3]:
            message = picked(each.message, self._batch.messages)
            if message is None:
                reason = f"there is no message {each.message!r}"
                continue
            place = locate(each.quote, message.text)
            if place is None:
                reason = f"its evidence does not stand in {each.message}"
                continue
            found.append(Quote(message, *place))
        if not found:
            raise _Voided(reason)
        return found

    def _subject(self, said: Statement, quotes: Sequence[Quote]) -> str:
        roles = {quote.message.role for quote in quotes}
        by_assistant = next((quote.message for quote in quotes if quote.message.role is MessageRole.ASSISTANT), None)
        if said.kind in _AGENT:
            if said.kind == "promise" and by_assistant is None:
                raise _Voided("a promise of the assistant needs the assistant's words")
            assistant = by_assistant or next(
                (each for each in self._batch.messages if each.role is MessageRole.ASSISTANT), None
            )
            if assistant is None:
                raise _Voided("no assistant speaks there")
            return assistant.speaker
        if MessageRole.USER not in roles:
            raise _Voided("only the assistant says so")
        speaker = next(quote.message.speaker for quote in quotes if quote.message.role is MessageRole.USER)
        about = _cleaned("value", said.about)
        if not about or "_".join(words(about)) in _SELF:
            return speaker
        if fold(about) in self._people:
            return self._people[fold(about)]
        if fold(about) in self._called:
            return speaker
        if set(words(about)) <= set(words(self._heard)):
            return about
        raise _Voided(f"nobody of the name {about!r} is in the messages")

    def _attribute(self, said: Statement) -> str:
        if said.kind in _AGENT:
            return _AGENT[said.kind]
        name = said.attribute.strip().lower()
        if said.kind in ("event", "plan"):
            return name if name.startswith(f"{said.kind}.") and _is_known(name) else _USUAL[said.kind]
        if name.startswith(CUSTOM):
            own = {slug(each) for each in self._batch.tastes.categories}
            return name if name.removeprefix(CUSTOM) in own else "note.fact"
        fits = _is_known(name) and not name.startswith(("event.", "plan.", "agent.", "tie."))
        return name if fits else _USUAL.get(said.kind, "note.fact")

    def _behind(self, quotes: Sequence[Quote], turns: int) -> list[StoredMessage]:
        """Return the messages that stand behind quotes: their own and so many turns before them."""
        found: list[StoredMessage] = []
        for quote in quotes:
            message: StoredMessage | None = quote.message
            for _ in range(turns + 1):
                if message is not None:
                    found.append(message)
                    message = self._before.get(message.id)
        return found

    def _words_behind(self, quotes: Sequence[Quote], turns: int) -> list[str]:
        """Return what the messages behind quotes say, with their speakers."""
        return [words for each in self._behind(quotes, turns) for words in (each.text, each.speaker)]

    def _check_wanted(self, text: str, value: str, attribute: str) -> None:
        present = set(words(f"{text} {value} {attribute.replace('.', ' ').replace('_', ' ')}"))
        for topic in self._batch.tastes.exclude:
            if set(words(topic)) and set(words(topic)) <= present:
                raise _Voided(f"its owner wants nothing about {topic!r}")


def _turns_before(batch: Batch) -> Mapping[str, StoredMessage]:
    every = (*batch.before, *batch.messages)
    placed = {(message.session_id, message.position): message for message in every}
    found = ((message, placed.get((message.session_id, message.position - 1))) for message in every)
    return {message.id: before for message, before in found if before is not None}


def _lasting(attribute: str) -> Lasting:
    if attribute.startswith("plan."):
        return "plan"
    return "event" if kind_of(attribute) is MemoryKind.EVENT else "state"


def _in_digits(value: str) -> str:
    """Return a count as rules write it: 6 for six."""
    said = numbers_said(value)
    return value if not said or any(char.isdigit() for char in value) else str(max(said))


def _check_concluded(reason: str, value: str, attribute: str, told: Sequence[str]) -> None:
    """Void what is no conclusion from what was said."""
    if attribute_of(attribute).single or attribute.startswith(_PLAIN_ONLY):
        raise _Voided("this is not for concluding")
    if not shares_a_word(reason, told):
        raise _Voided("its reason does not stand in its evidence")
    if not attribute.startswith(_TASTES) and not rests_on(value, told):
        raise _Voided("its value does not stand in its evidence")


def _is_empty(quote: Quote) -> bool:
    """Tell whether a quote holds no word that carries meaning, such as "I" or "and"."""
    return all(word in STOP_WORDS for word in words(quote.words))


def _called(messages: Sequence[StoredMessage], known: Iterable[Memory]) -> frozenset[str]:
    """Return the names, folded, by which the only user who speaks is called; none where several speak."""
    users = {fold(each.speaker) for each in messages if each.role is MessageRole.USER}
    own = (each for each in known if each.attribute in _NAMES and {fold(each.subject)} == users)
    return frozenset(fold(each.current.value) for each in own)


def _same_one(known: str, subject: str) -> bool:
    """Tell whether two subjects may be one: "Maud" and "sister Maud"."""
    return not set(words(known)).isdisjoint(words(subject))


def _undated(text: str, message: StoredMessage) -> str:
    """Return a text without the day on which a message was said, which a statement may name."""
    at = message.said_at
    for written in (f"{at.day} {at:%B %Y}", f"{at:%B} {at.day}, {at.year}", f"{at:%Y-%m-%d}"):
        text = text.replace(written, "")
    return text


def _is_known(name: str) -> bool:
    try:
        attribute_of(name)
    except KeyError:
        return False
    return all(_LEAF.match(step) for step in name.split("."))


def _cleaned(field: str, text: str) -> str:
    return one_line(text, _LONGEST[field])
