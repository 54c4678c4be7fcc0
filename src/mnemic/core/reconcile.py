"""A statement beside what is known: it adds, reinforces, refines, supersedes or contradicts.

What changes is decided by the time that a statement is about, never by when it arrived, and a change closes a version
instead of overwriting it. Words decide here; pairs that only a language model could tell apart both stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Final

from mnemic.core.claims import Claim, is_merged_away, is_resumption
from mnemic.core.timeline import SAME_EVENT, denies, timeline
from mnemic.core.wording import akin, same_value, stems_key, value_terms
from mnemic.errors import ConflictError
from mnemic.model.memory import Candidate, Change, Memory, MemoryKind, Source, Version
from mnemic.model.moment import TimeSpan
from mnemic.text import fold

DOUBT: Final = 0.5
"""Confidence below which a statement does not supersede what is known."""

_SAME: Final = 0.95
"""Cosine of two statements from which they are the same whatever their words."""

_CLOSE: Final = 0.8
"""Cosine from which they are the same when half of the words of their values are."""

_MOMENT: Final = timedelta(seconds=1)
"""What ends sooner after its beginning has an unknown beginning: "used to live in Lisbon"."""

_TRIAL: Final = "trial"

_CORRECTION: Final = re.compile(
    r"\b(?:actually|correction|i meant?|sorry|wait|rather|instead|not any ?more|any ?more|no longer|now|moved?|moving"
    r"|changed?|switched|became|left|quit|just|started|new|used to|turns out|in fact|updated?)\b",
    re.IGNORECASE,
)
"""Words by which a speaker corrects or changes what was said before on the same day."""


@dataclass(frozen=True, slots=True)
class Add:
    """Nothing known is about this: a new memory, told apart from its siblings by `value_key`."""

    candidate: Candidate
    value_key: str


@dataclass(frozen=True, slots=True)
class Reinforce:
    """The version says it already: it gains a source and confidence, and an earlier beginning or an end if told."""

    memory_id: str
    version_id: str
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Refine:
    """The value says more than the version's: a new version in its place, the old one kept as history."""

    memory_id: str
    version_id: str
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Supersede:
    """Another value, or its denial, from some time on. `past`: that time is over, and what holds now stays."""

    memory_id: str
    version_id: str
    candidate: Candidate
    past: bool


@dataclass(frozen=True, slots=True)
class Contradicts:
    """It cannot be told which of the two holds: both stay, as two memories with a relation between them."""

    memory_id: str
    candidate: Candidate
    value_key: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Nothing is changed, and why."""

    memory_id: str
    reason: str


Plan = Add | Reinforce | Refine | Supersede | Contradicts | Skip
"""What becomes of a candidate."""


def value_key(candidate: Candidate) -> str:
    """Return what tells a memory apart from others of its subject and attribute.

    It is empty for an attribute with a single value, the stems of the value for one with many; an event has its day.
    """
    if _is_event(candidate.kind, candidate.attribute) and not candidate.single:
        return f"{stems_key(candidate.value)} @{candidate.valid_from:%Y-%m-%d}"
    return "" if candidate.single else stems_key(candidate.value)


def plan(candidate: Candidate, known: Sequence[Memory], *, similar: Sequence[tuple[Memory, float]] = ()) -> Plan:
    """Return what becomes of a candidate beside the memories that are known in its cube.

    `known` are memories of the same subject and attribute (others are ignored), `similar` memories with the cosine of
    their statement to the candidate's. Locked memories are never changed.
    """
    siblings = [memory for memory in known if _same_question(memory, candidate) and not is_merged_away(memory)]
    if candidate.single:
        candidate = _bounded(candidate, siblings)
        target = _single_target(candidate, siblings)
    else:
        target = _target_of_many(candidate, siblings)
        if target is None and (target := _duplicate(candidate, similar)) is not None:
            candidate = replace(candidate, value=target.current.value)
    if target is None:
        return Add(candidate, _key_beside(candidate))
    if target.locked:
        return Skip(target.id, "its owner locked this memory")
    return _change(candidate, target)


def contradicting(candidate: Candidate, memory: Memory) -> Plan:
    """Return the plan by which a statement stands beside a memory that it contradicts."""
    return Contradicts(memory.id, candidate, stems_key(candidate.value))


def apply(
    memory: Memory | None, plan: Plan, *, source: Source, ids: Iterator[str], recorded_at: datetime, cube_key: int
) -> Memory:
    """Return the memory that a plan makes or changes; the same memory when there is nothing to change.

    `memory` is the one that the plan names, and is ignored by plans that make a new one (`Add`, `Contradicts`).
    `source` is the message with the candidate's quote. Applying a plan again changes nothing. A memory that is not
    the plan's is a `ConflictError`.
    """
    if isinstance(plan, Add | Contradicts):
        candidate = plan.candidate
        versions = timeline((), _claim(candidate, source), ids=ids, recorded_at=recorded_at)
        return Memory(
            id=next(ids),
            cube_key=cube_key,
            kind=candidate.kind,
            subject=candidate.subject,
            attribute=candidate.attribute,
            value_key=plan.value_key,
            locked=False,
            created_at=recorded_at,
            versions=versions,
        )
    if memory is None or memory.id != plan.memory_id:
        raise ConflictError(f"The plan changes memory {plan.memory_id!r}: apply it to that one.", id=plan.memory_id)
    if isinstance(plan, Skip) or memory.locked:
        return memory
    event = _is_event(memory.kind, memory.attribute)
    claim = _claim(plan.candidate, source)
    versions = timeline(memory.versions, claim, ids=ids, recorded_at=recorded_at, event=event)
    key = memory.value_key
    if key and not event and isinstance(plan, Refine):
        key = stems_key(plan.candidate.value)
    return replace(memory, versions=versions, value_key=key)


def _is_event(kind: MemoryKind, attribute: str) -> bool:
    """Tell whether statements are about what happens once; a plan is an event that lasts until its time."""
    return kind is MemoryKind.EVENT and not attribute.startswith("plan.")


def _change(candidate: Candidate, target: Memory) -> Plan:
    """Return what the candidate changes in a memory, by putting it in and looking."""
    claim = _claim(candidate, Source(_TRIAL, candidate.quote, candidate.valid_from))
    event = _is_event(target.kind, target.attribute)
    drawn = timeline(
        target.versions, claim, ids=(f"{_TRIAL}{n}" for n in count()), recorded_at=target.created_at, event=event
    )
    made = next(version for version in drawn if any(source.message_id == _TRIAL for source in version.sources))
    if any(version.id == made.id for version in target.versions):
        return Reinforce(target.id, made.id, candidate)
    before = _before(target, candidate.valid_from)
    if made.change is Change.REFINED:
        return Refine(target.id, before.id, candidate)
    if candidate.single and _is_ambiguous(candidate, target):
        return Contradicts(target.id, candidate, stems_key(candidate.value))
    holds_now = next(version for version in reversed(drawn) if version.id == made.id or version.valid_to is None)
    return Supersede(target.id, before.id, candidate, past=holds_now.id != made.id)


def _before(memory: Memory, moment: datetime) -> Version:
    earlier = [version for version in memory.versions if version.valid_from <= moment]
    return earlier[-1] if earlier else memory.versions[0]


def _claim(candidate: Candidate, source: Source) -> Claim:
    span, until = candidate.time, candidate.valid_to
    if until is None and candidate.kind is MemoryKind.EVENT and span is not None:
        until = span.end
    if until is not None:
        until = max(until, candidate.valid_from + timedelta(microseconds=1))
    return Claim(
        at=candidate.valid_from,
        until=until,
        value=candidate.value,
        text=candidate.text,
        polarity=candidate.polarity,
        time=span,
        confidence=candidate.confidence,
        sources=(replace(source, holds_from=candidate.valid_from, holds_to=until),),
        floating=_is_floating(candidate),
        drawn_by=candidate.drawn_by,
        reason=candidate.reason,
    )


def _is_floating(candidate: Candidate) -> bool:
    """Tell whether the words give an end but no beginning, which extraction writes as a moment before the end."""
    return (
        candidate.polarity > 0
        and candidate.kind is not MemoryKind.EVENT
        and candidate.valid_to is not None
        and candidate.valid_to - candidate.valid_from < _MOMENT
    )


def _same_question(memory: Memory, candidate: Candidate) -> bool:
    return memory.attribute == candidate.attribute and fold(memory.subject) == fold(candidate.subject)


def _key_beside(candidate: Candidate) -> str:
    """Return the key of a new memory; what a single attribute is not, or once was, is no answer to what it is."""
    if candidate.single and (candidate.polarity < 0 or _is_floating(candidate)):
        return stems_key(candidate.value)
    return value_key(candidate)


def _single_target(candidate: Candidate, siblings: Sequence[Memory]) -> Memory | None:
    main = next((memory for memory in siblings if not memory.value_key), None)
    beside = [memory for memory in siblings if memory.value_key and _says(memory, candidate)]
    if main is not None and (_says(main, candidate) or not beside):
        ends_only = candidate.polarity < 0 or _is_floating(candidate)
        held = any(version.polarity > 0 and _ends(candidate, version) for version in main.versions)
        if held or not ends_only or _says(main, candidate):
            return main
    return beside[0] if beside else None


def _says(memory: Memory, candidate: Candidate) -> bool:
    return any(
        version.polarity == candidate.polarity and akin(version.value, candidate.value) for version in memory.versions
    )


def _ends(candidate: Candidate, version: Version) -> bool:
    return denies(_claim(candidate, Source(_TRIAL, "", candidate.valid_from)), version.value)


def _bounded(candidate: Candidate, siblings: Sequence[Memory]) -> Candidate:
    """Return the candidate with the end that a memory beside the main one knows of: a denial, or a past."""
    if candidate.polarity < 0 or candidate.valid_to is not None:
        return candidate
    ends: list[datetime] = []
    for memory in siblings:
        current = memory.current
        if memory.value_key and memory.stands and same_value(current.value, candidate.value):
            ends += [moment for moment in [current.valid_from if current.polarity < 0 else current.valid_to] if moment]
    end = min((moment for moment in ends if moment > candidate.valid_from), default=None)
    return candidate if end is None else replace(candidate, valid_to=end)


def _target_of_many(candidate: Candidate, siblings: Sequence[Memory]) -> Memory | None:
    if _is_event(candidate.kind, candidate.attribute):
        alike = [memory for memory in siblings if _says(memory, candidate) and _is_same_time(memory, candidate)]
        return alike[0] if alike else None
    key = value_key(candidate)
    exact = next((memory for memory in siblings if memory.value_key == key), None)
    if exact is not None:
        return exact
    holding = [memory for memory in siblings if memory.stands and memory.current.polarity > 0]
    if candidate.polarity < 0:
        denied = [memory for memory in holding if _ends(candidate, memory.current)]
        return denied[0] if len(denied) == 1 else None
    related = [memory for memory in holding if akin(memory.current.value, candidate.value)]
    return max(related, key=lambda memory: (memory.current.valid_from, memory.id), default=None)


def _is_same_time(memory: Memory, candidate: Candidate) -> bool:
    span = candidate.time
    for version in memory.versions:
        if abs(version.valid_from - candidate.valid_from) <= SAME_EVENT:
            return True
        if _is_within(version.valid_from, span) or _is_within(candidate.valid_from, version.time):
            return True
    return False


def _is_within(moment: datetime, span: TimeSpan | None) -> bool:
    return span is not None and span.start is not None and span.end is not None and span.contains(moment)


def _duplicate(candidate: Candidate, similar: Sequence[tuple[Memory, float]]) -> Memory | None:
    """Return the memory that says the same in other words; numbers must be the same for that."""
    if _is_event(candidate.kind, candidate.attribute):
        return None
    for memory, cosine in sorted(similar, key=lambda pair: (-pair[1], pair[0].id)):
        current = memory.current
        if (
            not memory.stands
            or cosine < _CLOSE
            or current.polarity != candidate.polarity
            or not _same_question(memory, candidate)
        ):
            continue
        mine, theirs = value_terms(candidate.value), value_terms(current.value)
        if {term for term in mine ^ theirs if any(char.isdigit() for char in term)}:
            continue
        if cosine >= _SAME or len(mine & theirs) >= 0.5 * len(mine | theirs):
            return memory
    return None


def _is_ambiguous(candidate: Candidate, target: Memory) -> bool:
    """Tell whether nothing says which of two values holds: doubt, or both from the same day without a correction."""
    if candidate.confidence < DOUBT:
        return True
    if candidate.polarity < 0 or _CORRECTION.search(candidate.quote):
        return False
    zone, day = candidate.valid_from.tzinfo, candidate.valid_from.date()
    return any(
        version.polarity > 0
        and version.valid_to != version.valid_from
        and not is_resumption(version)
        and version.valid_from.astimezone(zone).date() == day
        and not akin(version.value, candidate.value)
        for version in target.versions
    )
