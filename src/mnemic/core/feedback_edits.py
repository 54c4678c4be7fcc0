"""What the intents of feedback make of memories: edits, each with the memory before and after.

The owner's word is the newest, and stands on a message: that of the feedback itself. Applied again to the same
memories, the same intents give the same edits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

from mnemic.core import reconcile
from mnemic.core.changing import LOCKED, Edit, corrected, retracted, step_of
from mnemic.core.curating import in_place_of_current
from mnemic.core.feedback_plan import Intent, Learn, Remove, Rename, Restate, Reword
from mnemic.model.change import Action, Step
from mnemic.model.memory import Candidate, Change, Memory, MemoryKind, Source
from mnemic.text import fold

KNOWN_ALREADY: Final = "memory says that already"

NewId = Callable[[], str]


@dataclass(slots=True)
class Drafting:
    """Edits in the making: memories as they are now, and as they were found."""

    memories: dict[str, Memory]
    source: Source
    now: datetime
    new_id: NewId
    cube_key: int
    found: dict[str, Memory | None] = field(default_factory=dict)
    told: dict[str, tuple[Action, str]] = field(default_factory=dict)
    skipped: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def take(self, memory: Memory, action: Action, reason: str) -> None:
        """Keep a memory that an intent has made or changed."""
        self.found.setdefault(memory.id, self.memories.get(memory.id))
        self.told.setdefault(memory.id, (action, reason))
        self.memories[memory.id] = memory

    def edits(self) -> list[Edit]:
        """Return the edits, one for each memory, in the order of the intents."""
        return [
            Edit(action, self.found[memory_id], self.memories[memory_id], reason)
            for memory_id, (action, reason) in self.told.items()
            if self.memories[memory_id] != self.found[memory_id]
        ]


def draft_edits(intents: Iterable[Intent], drafting: Drafting) -> Drafting:
    """Apply intents to the memories of a draft; a locked one, or one that is gone, is skipped and told."""
    for intent in intents:
        if isinstance(intent, Learn):
            _learn(intent, drafting)
            continue
        memory = drafting.memories.get(intent.memory_id)
        if memory is None or not memory.stands:
            continue
        if memory.locked:
            drafting.skipped.append(_skipped(memory, _action(intent)))
            continue
        _draft(intent, memory, drafting)
    drafting.notes[:] = list(dict.fromkeys(drafting.notes))
    return drafting


def _draft(intent: Remove | Reword | Rename | Restate, memory: Memory, drafting: Drafting) -> None:
    version_id, now = drafting.new_id(), drafting.now
    match intent:
        case Remove():
            after = retracted(memory, version_id=version_id, recorded_at=now, whole=intent.whole, reason=intent.reason)
            drafting.take(after, Action.REMOVE, intent.reason)
        case Reword():
            after = corrected(memory, intent.wording, version_id=version_id, recorded_at=now, source=drafting.source)
            drafting.take(after, intent.action, intent.wording.reason)
        case Restate():
            drafting.take(_restated(memory, intent, drafting), Action.CORRECT, intent.reason)
        case Rename():
            reason = intent.wording.reason
            gone = retracted(memory, version_id=version_id, recorded_at=now, reason=reason)
            drafting.take(gone, Action.REMOVE, reason)
            drafting.take(_renamed(memory, intent, drafting), Action.ADD, reason)


def _learn(intent: Learn, drafting: Drafting) -> None:
    candidate = intent.candidate
    beside = [
        each
        for each in drafting.memories.values()
        if each.attribute == candidate.attribute and fold(each.subject) == fold(candidate.subject)
    ]
    similar = [(drafting.memories[name], cosine) for name, cosine in intent.similar if name in drafting.memories]
    plan = reconcile.plan(candidate, beside, similar=similar)
    if intent.onto is not None:
        chosen = drafting.memories.get(intent.onto)
        if chosen is None or not chosen.stands:
            return
        changes = reconcile.Supersede(chosen.id, chosen.current.id, candidate, past=False)
        plan = reconcile.Skip(chosen.id, LOCKED) if chosen.locked else changes
    if isinstance(plan, reconcile.Skip):
        drafting.skipped.append(_skipped(drafting.memories[plan.memory_id], Action.CORRECT))
        return
    if isinstance(plan, reconcile.Contradicts):  # its owner decides it
        memory = drafting.memories[plan.memory_id]
        drafting.take(_restated(memory, Restate(memory.id, candidate, ""), drafting), Action.CORRECT, "")
        return
    target = None if isinstance(plan, reconcile.Add) else drafting.memories[plan.memory_id]
    after = reconcile.apply(
        target, plan, source=replace(drafting.source, quote=candidate.quote), ids=iter(drafting.new_id, None),
        recorded_at=drafting.now, cube_key=drafting.cube_key,
    )  # fmt: skip
    if candidate.drawn_by:  # rules would not read it again: it stays as its owner's word
        after = _by_hand(after, target)
    if target is not None and _tells_the_same(target, after):
        drafting.notes.append(KNOWN_ALREADY)
        return
    drafting.take(after, _LEARNED.get(type(plan), Action.CORRECT), "")


_LEARNED: Final[Mapping[type[object], Action]] = MappingProxyType(
    {reconcile.Add: Action.ADD, reconcile.Refine: Action.SUPPLEMENT}
)


def _by_hand(memory: Memory, before: Memory | None) -> Memory:
    known = {version.id for version in before.versions} if before is not None else set()
    versions = (each if each.id in known else replace(each, change=Change.EDITED) for each in memory.versions)
    return replace(memory, versions=tuple(versions))


def _tells_the_same(before: Memory, after: Memory) -> bool:
    def told(memory: Memory) -> Sequence[tuple[object, ...]]:
        return [(each.id, each.valid_from, each.valid_to) for each in memory.versions]

    return told(before) == told(after)


def _restated(memory: Memory, intent: Restate, drafting: Drafting) -> Memory:
    """Return a memory with a statement in the current one's place; an event takes its own time along."""
    candidate, current = intent.candidate, memory.current
    is_plan = memory.attribute.startswith("plan.")
    event = memory.kind is MemoryKind.EVENT
    start = candidate.valid_from if event and not is_plan else current.valid_from
    version = replace(
        current,
        id=drafting.new_id(),
        text=candidate.text,
        value=candidate.value,
        polarity=candidate.polarity,
        valid_from=start,
        valid_to=_end(candidate) if event else current.valid_to,
        time=candidate.time if event else current.time,
        recorded_at=drafting.now,
        confidence=max(current.confidence, candidate.confidence),
        change=Change.EDITED,
        sources=(*current.sources, replace(drafting.source, quote=candidate.quote)),
        drawn_by=candidate.drawn_by,
        reason=intent.reason,
    )
    return in_place_of_current(memory, version)


def _end(candidate: Candidate) -> datetime | None:
    end = candidate.valid_to or (candidate.time.end if candidate.time else None)
    return None if end is None else max(end, candidate.valid_from)


def _renamed(memory: Memory, intent: Rename, drafting: Drafting) -> Memory:
    """Return what a memory says as a new one about the same person under another name."""
    version = replace(
        memory.current,
        id=drafting.new_id(),
        number=1,
        text=intent.wording.text,
        value=intent.wording.value or memory.current.value,
        recorded_at=drafting.now,
        change=Change.EDITED,
        sources=(*memory.current.sources, drafting.source),
        reason=intent.wording.reason,
    )
    return replace(memory, id=drafting.new_id(), subject=intent.subject, created_at=drafting.now, versions=(version,))


def _action(intent: Intent) -> Action:
    match intent:
        case Remove():
            return Action.REMOVE
        case Reword():
            return intent.action
        case Rename():
            return Action.REPLACE
        case _:
            return Action.CORRECT


def _skipped(memory: Memory, action: Action) -> Step:
    return replace(step_of(Edit(action, memory, memory), planned=True), reason=LOCKED)
