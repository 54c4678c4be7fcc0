"""Which of a model's statements are believed: those whose evidence is in the messages, about whom it is, and no more.

* Evidence: a quote that stands in the message that it names. What is not there voids the item.
* Who: the subject spoke, is named in the messages, or is known. What an assistant says tells nothing about a person
  unless a person's message is evidence too; promises need the assistant's own words. Where rules read whose statement
  it is, and whether it is denied, they decide (`agreeing`).
* What: no number and no name that nobody said (`grounding`), and a word of the value, unless it is a conclusion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core.extraction.attributes import attribute_of, kind_of
from mnemic.core.grounding import shares_a_word, unsaid
from mnemic.core.refining.agreeing import disputed
from mnemic.core.refining.batch import Batch, Drawn, Item, Mention, Tie, TopicNote, Void
from mnemic.core.refining.prompting import CUSTOM, TYPES, slug
from mnemic.core.refining.quoting import locate
from mnemic.core.refining.reading import Answered, Described, Evidence, Named, Related, Statement
from mnemic.core.refining.timing import held
from mnemic.core.replies import number_in
from mnemic.core.wording import same_value
from mnemic.model.memory import Candidate, MemoryKind
from mnemic.model.message import MessageRole, StoredMessage
from mnemic.text import clean, fold, shorten, words

SAID: Final = 0.85
"""Confidence in what somebody said in so many words."""

CONCLUDED: Final = 0.6
"""Confidence in what a model concluded."""

_SELF: Final = frozenset("i me user speaker the_user the_speaker human".split())
_LONGEST: Final = {"statement": 400, "value": 160, "reason": 240, "title": 80, "summary": 600}
_LEAF: Final = re.compile(r"[a-z][a-z0-9_]{0,40}\Z")
_AGENT: Final = {"promise": "agent.promise", "learned": "agent.learned"}
_USUAL: Final = {"preference": "preference.like", "event": "event.happened", "plan": "plan.intends"}


class _Voided(Exception):  # noqa: N818 - a signal, not a fault
    """An item is not believed, and why."""


@dataclass(frozen=True, slots=True)
class _Quote:
    message: StoredMessage
    start: int
    end: int

    @property
    def words(self) -> str:
        return self.message.text[self.start : self.end]


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
            if not _is_told(item, items):
                items.append(item)
    return Drawn(
        items=tuple(items),
        mentions=tuple(judge.mentions(answered.named)),
        topics=tuple(judge.topics(answered.described)),
        void=tuple(void),
    )


def _is_told(item: Item, items: Sequence[Item]) -> bool:
    return any(
        fold(other.candidate.subject) == fold(item.candidate.subject)
        and same_value(other.candidate.value, item.candidate.value)
        for other in items
    )


class _Judge:
    """Checks the items of one answer against their batch."""

    def __init__(self, batch: Batch, drawn_by: str) -> None:
        self._batch = batch
        self._drawn_by = drawn_by
        self._numbered = {f"m{number}": message for number, message in enumerate(batch.messages, 1)}
        self._known = {f"k{number}": memory for number, memory in enumerate(batch.known, 1)}
        self._topics = {f"t{number}": topic.segment.id for number, topic in enumerate(batch.topics, 1)}
        self._before = _turns_before(batch)
        every = (*batch.before, *batch.messages)
        self._heard = " ".join(f"{message.speaker} {message.text}" for message in every)
        self._people = {fold(message.speaker): message.speaker for message in every}
        self._people |= {fold(memory.subject): memory.subject for memory in batch.known}

    def statement(self, said: Statement) -> Item:
        """Return the item of a statement; raises `_Voided`."""
        quotes = self._quotes(said.evidence)
        known = self._known.get(_reference("k", said.known))
        subject = self._subject(said, quotes)
        attribute = self._attribute(said)
        text, value = _cleaned("statement", said.statement), _cleaned("value", said.value or said.statement)
        if not text or not words(text):
            raise _Voided("it says nothing")
        first = quotes[0].message
        happens = kind_of(attribute) is MemoryKind.EVENT
        when = held(said.when, first, happens=happens)
        told = [*self._words_behind(quotes), subject, *((each.current.text for each in [known]) if known else ())]
        foreign = unsaid(text, value, told, when.time)
        if foreign is not None:
            raise _Voided(f"nobody said {foreign!r} there")
        concluded = not said.said and bool(said.reason)
        if not concluded and not shares_a_word(value, [*told, text if said.negated else ""]):
            raise _Voided("its value does not stand in its evidence")
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
        dispute = self._dispute(candidate, quotes, dated=bool(when.valid_to or when.time))
        if dispute is not None:
            raise _Voided(dispute)
        tie: Tie = said.change if known is not None else "new"  # type: ignore[assignment]  # reading holds it to TIES
        return Item(first, candidate, tuple((each.message, each.words) for each in quotes[1:]), tie, known)

    def relation(self, said: Related) -> Item:
        """Return the item of a relation between two named things; raises `_Voided`."""
        quote = self._quotes([Evidence(message=said.message, quote=said.quote)])[0]
        verb = "_".join(words(said.relation))
        ends = [_cleaned("value", said.start), _cleaned("value", said.end)]
        if not _LEAF.match(verb) or not all(ends):
            raise _Voided("it is no relation between two things")
        heard = set(words(self._heard))
        lost = next((end for end in ends if not set(words(end)) <= heard), None)
        if lost is not None:
            raise _Voided(f"nobody said {lost!r} there")
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
                message = self._numbered.get(_reference("m", reference))
                place = None if message is None else locate(name, message.text)
                if message is not None and place is not None:
                    held_in[message.id] = message.text[place[0] : place[1]]
            if name and held_in:
                yield Mention(name, each.type if each.type in TYPES else "other", held_in)

    def topics(self, described: Iterable[Described]) -> Iterable[TopicNote]:
        """Yield descriptions of the topics that were asked for, each once."""
        left = dict(self._topics)
        for each in described:
            segment_id = left.pop(_reference("t", each.topic), None)
            title, summary = _cleaned("title", each.title), _cleaned("summary", each.summary)
            keywords = tuple(dict.fromkeys(_cleaned("title", word) for word in each.keywords if word.strip()))[:8]
            if segment_id is not None and title and summary:
                yield TopicNote(segment_id, title, summary, keywords)

    def _quotes(self, evidence: Sequence[Evidence]) -> list[_Quote]:
        found: list[_Quote] = []
        reason = "it has no evidence"
        for each in evidence[:3]:
            message = self._numbered.get(_reference("m", each.message))
            if message is None:
                reason = f"there is no message {each.message!r}"
                continue
            place = locate(each.quote, message.text)
            if place is None:
                reason = f"its evidence does not stand in {each.message}"
                continue
            found.append(_Quote(message, *place))
        if not found:
            raise _Voided(reason)
        return found

    def _subject(self, said: Statement, quotes: Sequence[_Quote]) -> str:
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
        about = " ".join(clean(said.about).split())
        if not about or "_".join(words(about)) in _SELF:
            return speaker
        if fold(about) in self._people:
            return self._people[fold(about)]
        if set(words(about)) <= set(words(self._heard)):
            return about
        raise _Voided(f"nobody of the name {about!r} is in the messages")

    def _dispute(self, candidate: Candidate, quotes: Sequence[_Quote], *, dated: bool) -> str | None:
        """Return why rules do not bear out a statement; several quotes say more together than rules can read."""
        first = quotes[0].message
        if len(quotes) > 1 or first.role is not MessageRole.USER or candidate.attribute in _AGENT.values():
            return None
        return disputed(candidate, first, self._before.get(first.id), dated=dated)

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

    def _words_behind(self, quotes: Sequence[_Quote]) -> list[str]:
        """Return what stands behind quotes: their messages and the turns before them, with their speakers."""
        told: list[str] = []
        for quote in quotes:
            told += [quote.message.text, quote.message.speaker]
            before = self._before.get(quote.message.id)
            if before is not None:
                told += [before.text, before.speaker]
        return told

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


def _reference(letter: str, given: str) -> str:
    """Return a reference such as m3, however the model wrote it."""
    number = number_in(given)
    return f"{letter}{number}" if number else ""


def _is_known(name: str) -> bool:
    try:
        attribute_of(name)
    except KeyError:
        return False
    return all(_LEAF.match(step) for step in name.split("."))


def _cleaned(field: str, text: str) -> str:
    return shorten(" ".join(clean(text).split()), _LONGEST[field])
