"""Changes of several memories made as one: what an edit makes of a memory, how a step records it, how it is undone.

Nothing is overwritten: what is taken back stays as history that never held, with a version after it that says so, and
undoing makes a new version of what held before. Which memories are meant, and whether to change them, is decided
elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from mnemic.core.curating import edited, keyed
from mnemic.core.erasure import mark, marks
from mnemic.model.change import Action, Step
from mnemic.model.memory import Change, Memory, Source, Version
from mnemic.model.moment import from_micros, to_micros

LOCKED: Final = "its owner locked this memory"
CHANGED: Final = "it has changed since"
GONE: Final = "it is not there any more"


@dataclass(frozen=True, slots=True)
class Edit:
    """One memory as a change finds it (`before`, None for a new one) and as it leaves it.

    `into` is the id of the memory that a merged one went into.
    """

    action: Action
    before: Memory | None
    after: Memory
    reason: str = ""
    into: str | None = None


@dataclass(frozen=True, slots=True)
class Wording:
    """What a memory is to say: a text, the value in it (None: to be found there), the model that wrote it, and why."""

    text: str
    value: str | None = None
    drawn_by: str = ""
    reason: str = ""


def corrected(
    memory: Memory, wording: Wording, *, version_id: str, recorded_at: datetime, source: Source | None = None
) -> Memory:
    """Return the memory with other words in the current ones' place, which never held: the record was wrong.

    `source`, what asks for the correction, is added to what the memory stands on. The same memory when the text is.
    """
    after = edited(memory, wording.text, version_id=version_id, recorded_at=recorded_at)
    if after is memory:
        return memory

    def finished(version: Version) -> Version:
        sources = version.sources if source is None else (*version.sources, source)
        told = version.value if wording.value is None else wording.value
        return replace(version, value=told, sources=sources, drawn_by=wording.drawn_by, reason=wording.reason)

    versions = (finished(each) if each.id == version_id else each for each in after.versions)
    return keyed(replace(after, versions=tuple(versions)))


def retracted(
    memory: Memory,
    *,
    version_id: str,
    recorded_at: datetime,
    whole: bool = True,
    reason: str = "",
    change: Change = Change.RETRACTED,
) -> Memory:
    """Return the memory without what it says: it never held, and a version after it says that it was taken back.

    `whole` takes all of its versions back; else only the current one, and what that had taken the place of goes on.
    """
    current = memory.current
    last = max((each.valid_from for each in memory.versions), default=current.valid_from) if whole else None
    at = current.valid_from if last is None else last
    drawn: list[Version] = []
    for version in memory.versions:
        if whole or version.id == current.id:
            drawn.append(replace(version, valid_to=version.valid_from))
        elif version.valid_to == current.valid_from and version.valid_to != version.valid_from:
            drawn.append(replace(version, valid_to=current.valid_to))
        else:
            drawn.append(version)
    drawn.append(
        replace(
            current,
            id=version_id,
            number=max(each.number for each in memory.versions) + 1,
            valid_from=at,
            valid_to=at,
            recorded_at=recorded_at,
            change=change,
            reason=reason,
        )
    )
    return keyed(replace(memory, versions=_ordered(drawn)))


def merged(memory: Memory, *, version_id: str, recorded_at: datetime, reason: str = "") -> Memory:
    """Return the memory without what it says, since another says it: its sources stand there (see `joined`)."""
    return retracted(memory, version_id=version_id, recorded_at=recorded_at, reason=reason, change=Change.MERGED)


def joined(memory: Memory, sources: Sequence[Source], *, version_id: str, recorded_at: datetime) -> Memory:
    """Return the memory with a version in the current one's place that says the same, on more sources."""
    current = memory.current
    known = {source.message_id for source in current.sources}
    more = tuple({each.message_id: each for each in sources if each.message_id not in known}.values())
    version = replace(
        current,
        id=version_id,
        number=max(each.number for each in memory.versions) + 1,
        recorded_at=recorded_at,
        sources=(*current.sources, *more),
        change=Change.MERGED,
    )
    closed = replace(current, valid_to=current.valid_from)
    others = [each for each in memory.versions if each.id != current.id]
    return replace(memory, versions=_ordered([*others, closed, version]))


def step_of(edit: Edit, *, source: str = "", planned: bool = False) -> Step:
    """Return how a change records an edit; `source` is the message that asked for it. A plan has made no version."""
    before, after = edit.before, edit.after
    stood = before is not None and before.stands
    made = max(after.versions, key=lambda version: version.number)
    return Step(
        action=edit.action,
        memory_id=after.id,
        subject=after.subject,
        attribute=after.attribute,
        before=before.current.text if before is not None and stood else None,
        after=after.current.text if after.stands else None,
        before_version=None if before is None else before.current.id,
        after_version=None if planned else made.id,
        into=edit.into,
        reason=edit.reason,
        source=source,
        held=() if before is None else tuple(_held(version) for version in before.versions),
    )


def stands_in_the_way(step: Step, memory: Memory | None) -> str | None:
    """Return why a step cannot be taken back: its memory is not as the step left it; None when it can.

    A memory on which later changes were taken back is as the step left it again.
    """
    if memory is None:
        return GONE
    if memory.locked:
        return LOCKED
    newest = max(memory.versions, key=lambda version: version.number)
    told = memory.current.text if memory.stands else None
    undone_since = newest.change is Change.RESTORED and told == step.after
    if newest.id != step.after_version and not undone_since:
        return CHANGED
    known = {version.id for version in memory.versions}
    return None if all(version_id in known for version_id, _, _ in step.held) else GONE


def undone(memory: Memory, step: Step, *, version_id: str, recorded_at: datetime) -> Memory:
    """Return the memory as a step found it: a new version says what held before, and held as long as that.

    A memory that the step made is taken back. Call it when nothing stands in the way.
    """
    if step.before_version is None:
        return retracted(memory, version_id=version_id, recorded_at=recorded_at)
    held = {known: (from_micros(start), None if end is None else from_micros(end)) for known, start, end in step.held}
    drawn: list[Version] = []
    for version in memory.versions:
        start, end = held.get(version.id, (version.valid_from, version.valid_from))
        if version.id == step.before_version:
            sources = tuple(each for each in version.sources if not step.source or each.message_id != step.source)
            again = replace(
                version,
                id=version_id,
                number=max(each.number for each in memory.versions) + 1,
                valid_from=start,
                valid_to=end,
                recorded_at=recorded_at,
                change=Change.RESTORED,
                sources=sources or version.sources,
            )
            drawn += [replace(version, valid_from=start, valid_to=start), again]
        else:
            drawn.append(replace(version, valid_from=start, valid_to=end))
    return keyed(replace(memory, versions=_ordered(drawn)))


def marks_of(edit: Edit, source: str = "") -> set[str]:
    """Return the marks of the statements that an edit takes back: reading their messages again must not repeat them,
    nor reading the message `source`, which speaks of them to take them back.
    """
    if edit.before is None or edit.action is not Action.REMOVE:
        return set()
    current = edit.before.current
    asking = {mark(source, edit.before.subject, edit.before.attribute, current.value)} if source else set()
    return _lost(edit.before, edit.after) | asking


def marks_undone(step: Step, before: Memory, after: Memory) -> tuple[set[str], set[str]]:
    """Return the marks to lift and those to set when a step is taken back: `before` and `after` undoing it."""
    lifted = _lost(after, before) if step.action is Action.REMOVE else set()
    return lifted, _lost(before, after) if step.before_version is None else set()


def _lost(before: Memory, after: Memory) -> set[str]:
    """Return the marks of the statements that held in one and hold no longer in the other."""
    lasting = {version.id for version in after.versions if version.valid_to != version.valid_from}
    lost = [each.id for each in before.versions if each.valid_to != each.valid_from and each.id not in lasting]
    return marks(before, lost) - marks(after, lasting)


def _held(version: Version) -> tuple[str, int, int | None]:
    return (
        version.id,
        to_micros(version.valid_from),
        None if version.valid_to is None else to_micros(version.valid_to),
    )


def _ordered(versions: Sequence[Version]) -> tuple[Version, ...]:
    return tuple(sorted(versions, key=lambda version: (version.valid_from, version.number)))
