"""Which memories feedback means, and what is to become of each: intents, from what was read and what is known.

When several different memories could be meant, or none, there are no intents: the nearest are named instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from mnemic.core.changing import Wording
from mnemic.core.extraction import extract
from mnemic.core.feedback import Asked, Instead, Put, Take, Told, has_words, put_in, read_feedback
from mnemic.core.profile import described
from mnemic.core.wording import akin, same_value, says_more
from mnemic.model.change import Action
from mnemic.model.memory import Candidate, Memory, MemoryKind
from mnemic.text import content_terms, fold, terms

NEAREST: Final = 5
"""Memories that are named when it is not plain which is meant."""

SHOWN: Final = 40
"""Memories that a model is shown at most."""

_NAMES: Final = ("relation.", "possession.pet", "identity.", "work.employer")
"""Attributes whose values are names: one that was wrong is wrong wherever it stands."""

_STEM: Final = 5  # letters in which two words must agree to be of one family, as allergy and allergic are

Similar = Callable[[Candidate, Sequence[Memory]], Sequence[tuple[Memory, float]]]
"""Memories with the cosine of their statement to a candidate's."""


@dataclass(frozen=True, slots=True)
class Remove:
    """Take a memory back: all of it, or (not `whole`) only what it says now."""

    memory_id: str
    reason: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Reword:
    """Put other words in the place of a memory's current ones, which were wrong."""

    memory_id: str
    action: Action
    wording: Wording


@dataclass(frozen=True, slots=True)
class Rename:
    """Let what a memory says be about somebody of another name."""

    memory_id: str
    subject: str
    wording: Wording


@dataclass(frozen=True, slots=True)
class Restate:
    """Put a statement in the place of a memory's current one, which was wrong."""

    memory_id: str
    candidate: Candidate
    reason: str


@dataclass(frozen=True, slots=True)
class Learn:
    """Let a statement find its place among what is known, as one of a conversation does; or in the memory `onto`."""

    candidate: Candidate
    similar: tuple[tuple[str, float], ...] = ()
    onto: str | None = None


Intent = Remove | Reword | Rename | Restate | Learn


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, or which memories could be meant when that is not plain. `notes` say what else is to know."""

    intents: tuple[Intent, ...] = ()
    nearest: tuple[Memory, ...] = ()
    notes: tuple[str, ...] = ()
    understood: bool = True


@dataclass(frozen=True, slots=True)
class Known:
    """What feedback is read beside: all memories of a cube, who speaks, when."""

    memories: Sequence[Memory]
    speaker: str
    said_at: datetime
    similar: Similar = field(default=lambda _, __: ())

    def standing(self) -> list[Memory]:
        """Return the memories that say something, without those that only sum up a topic."""
        return [each for each in self.memories if each.stands and each.kind is not MemoryKind.INSIGHT]

    def statements(self, text: str) -> list[Candidate]:
        """Return what a text states when the speaker says it now."""
        return extract(text, speaker=self.speaker, said_at=self.said_at) if text else []

    def beside(self, candidate: Candidate) -> list[Memory]:
        """Return the memories about the same attribute of the same subject."""
        subject = fold(candidate.subject)
        return [
            each for each in self.memories if each.attribute == candidate.attribute and fold(each.subject) == subject
        ]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model was shown: the feedback, its moment and its speaker, and the memories by number from 1."""

    text: str
    said_at: datetime
    speaker: str
    memories: Sequence[Memory]


NOTHING: Final = Plan(understood=False)


def plan_feedback(text: str, known: Known) -> Plan:
    """Return what feedback asks for, planned by rules."""
    asked: Asked = read_feedback(text)
    match asked:
        case Take():
            return _take(asked, known)
        case Put():
            return _put(asked, known)
        case Instead():
            return _instead(asked, known)
        case Told():
            return _told(asked, text, known)


def _take(asked: Take, known: Known) -> Plan:
    reason = "its owner says that it was never so" if asked.never else "its owner took it back"
    meant = [memory for claim in known.statements(asked.claim) for memory in _stating(claim, known)]
    if not meant:
        meant = _mentioning(asked.about, known.standing())
    if not meant:
        return NOTHING
    if not asked.every and _are_several(meant):
        return _unclear(meant)
    return Plan(tuple(Remove(each.id, reason, whole=not asked.never) for each in _distinct(meant)))


def _put(asked: Put, known: Known) -> Plan:
    intents: list[Intent] = []
    for memory in known.standing():
        intent = _replaced(memory, asked.old, asked.new, known.speaker)
        intents += [intent] if intent else []
    return Plan(tuple(intents)) if intents else NOTHING


def _instead(asked: Instead, known: Known) -> Plan:
    """Correct what has the wrong words; a name that was wrong is wrong wherever it stands."""
    reason = f"{asked.new}, not {asked.old}"
    for candidate in known.statements(asked.statement):
        wrong = [each for each in known.beside(candidate) if each.stands and akin(each.current.value, asked.old)]
        if len(wrong) == 1:
            named = candidate.attribute.startswith(_NAMES)
            if not candidate.single and not named:  # another thing, which may be known already
                return Plan((Remove(wrong[0].id, reason, whole=False), Learn(candidate)))
            intents: list[Intent] = [Restate(wrong[0].id, candidate, reason)]
            if named and asked.old[:1].isupper():
                others = [each for each in known.standing() if each.id != wrong[0].id]
                found = (_replaced(each, asked.old, candidate.value, known.speaker) for each in others)
                intents += [each for each in found if each]
            return Plan(tuple(intents))
    meant = [each for each in known.standing() if has_words(_said(each), asked.old)]
    about = set(content_terms(asked.statement)) - set(content_terms(asked.new)) - set(content_terms(known.speaker))
    about -= set(content_terms("meant mean said call name"))
    if about:
        meant = [each for each in meant if _share(about, each)]
    if not meant:
        return NOTHING
    if _are_several(meant):
        return _unclear(meant)
    found = (_replaced(each, asked.old, asked.new, known.speaker) for each in meant)
    return Plan(tuple(each for each in found if each))


def _told(asked: Told, text: str, known: Known) -> Plan:
    candidates = known.statements(text) or known.statements(asked.statement)
    if not candidates:
        return _moved(asked, known) if asked.statement else NOTHING
    intents: list[Intent] = []
    for candidate in candidates:
        beside = known.beside(candidate)
        ended = _ended(candidate, beside)
        if len(ended) > 1:
            return _unclear(ended)
        wrong = _wrong(candidate, beside) if asked.wrong else None
        if wrong is not None:
            intents.append(Restate(wrong.id, candidate, "its owner says that it was wrong"))
        else:
            near = tuple((memory.id, cosine) for memory, cosine in known.similar(candidate, beside))
            intents.append(Learn(candidate, near))
    return Plan(tuple(intents))


def _moved(asked: Told, known: Known) -> Plan:
    """Read "the meeting is on Tuesday" as the new time of the one meeting that is planned."""
    head, is_, when = asked.statement.partition(" is ")
    noun = head.strip().removeprefix("The ").removeprefix("the ").removeprefix("My ").removeprefix("my ")
    if not is_ or not noun or len(noun.split()) > 4:
        return NOTHING
    for candidate in known.statements(f"I have a {noun} {when}"):
        if candidate.kind is not MemoryKind.EVENT or candidate.time is None:
            continue
        named = set(content_terms(noun))
        planned = [each for each in known.standing() if each.kind is MemoryKind.EVENT]
        meant = [each for each in planned if named <= set(content_terms(each.current.value))]
        meant = [each for each in meant if _is_open(each, known.said_at)]
        if len(meant) > 1:
            return _unclear(meant)
        if meant:
            anew = _dated_anew(candidate, meant[0], asked.statement)
            return Plan((Restate(meant[0].id, anew, "its owner says when it is"),))
    return NOTHING


def _dated_anew(candidate: Candidate, memory: Memory, quote: str) -> Candidate:
    """Return a plan's new time with the words of the plan that is known."""
    current = memory.current
    text = candidate.text.replace(candidate.value, current.value) if current.value in current.text else candidate.text
    return replace(candidate, value=current.value, text=text, quote=quote, start=0, end=len(quote))


def _is_open(memory: Memory, at: datetime) -> bool:
    current = memory.current
    return current.valid_to is None or current.valid_to > at or (current.time is not None and current.time.end is None)


def _ended(candidate: Candidate, beside: Sequence[Memory]) -> list[Memory]:
    """Return what a denial may end when that is more than one thing: "my dog died", of two dogs."""
    if candidate.polarity > 0:
        return []
    holding = [each for each in beside if each.stands and each.current.polarity > 0 and each.current.valid_to is None]
    if any(same_value(each.current.value, candidate.value) for each in holding):
        return []
    return [each for each in holding if says_more(each.current.value, candidate.value)]


def _wrong(candidate: Candidate, beside: Sequence[Memory]) -> Memory | None:
    """Return what memory says instead of a statement: the value of a single attribute, or the same thing denied."""
    for memory in beside:
        current = memory.current
        if not memory.stands or current.valid_to is not None:
            continue
        if candidate.single and candidate.polarity > 0 and not memory.value_key:
            return memory if not akin(current.value, candidate.value) else None
        if akin(current.value, candidate.value) and current.polarity != candidate.polarity:
            return memory
    return None


def _stating(claim: Candidate, known: Known) -> list[Memory]:
    return [
        each
        for each in known.beside(claim)
        if each.stands and each.current.polarity == claim.polarity and akin(each.current.value, claim.value)
    ]


def _replaced(memory: Memory, old: str, new: str, speaker: str) -> Intent | None:
    """Return how a memory is said with words in the place of others; None when it does not have these."""
    current = memory.current
    wording = Wording(put_in(current.text, old, new), put_in(current.value, old, new), reason=f"{new} for {old}")
    spoke = {fold(source.speaker) for version in memory.versions for source in version.sources} | {fold(speaker)}
    if has_words(memory.subject, old) and fold(memory.subject) not in spoke:
        return Rename(memory.id, put_in(memory.subject, old, new), wording)
    if wording.text == current.text:
        return None
    return Reword(memory.id, Action.REPLACE, wording)


def _mentioning(about: str, memories: Iterable[Memory]) -> list[Memory]:
    wanted = set(content_terms(about))
    return [each for each in memories if wanted and all(_is_near(term, _held(each)) for term in wanted)]


def _share(wanted: set[str], memory: Memory) -> bool:
    return any(_is_near(term, _held(memory)) for term in wanted)


def _held(memory: Memory) -> set[str]:
    return set(terms(f"{_said(memory)} {described(memory.attribute).label}"))


def _said(memory: Memory) -> str:
    return f"{memory.current.text}\n{memory.current.value}"


def _is_near(term: str, held: set[str]) -> bool:
    return term in held or (
        len(term) >= _STEM and any(each[:_STEM] == term[:_STEM] and abs(len(each) - len(term)) <= 2 for each in held)
    )


def _are_several(memories: Sequence[Memory]) -> bool:
    """Tell whether memories say different things: not the same of the same subject in other words."""
    first = memories[0]
    return any(
        each.attribute != first.attribute
        or fold(each.subject) != fold(first.subject)
        or not akin(each.current.value, first.current.value)
        for each in memories[1:]
    )


def _unclear(memories: Sequence[Memory]) -> Plan:
    kept = tuple(_distinct(memories)[:NEAREST])
    return Plan(nearest=kept, notes=("several memories could be meant; say which",))


def _distinct(memories: Iterable[Memory]) -> list[Memory]:
    return list({memory.id: memory for memory in memories}.values())
