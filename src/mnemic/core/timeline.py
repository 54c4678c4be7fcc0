"""The versions of one memory as a line of time, drawn from what was claimed and when each claim holds from.

Claims are put in order of time, neighbours that say the same are joined to stretches, and stretches become versions.
So the line follows from the set of claims and not from their order of arrival, and no source is ever taken from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from mnemic.core.claims import Claim, claims_of, is_resumption, is_told, settled
from mnemic.core.wording import akin, same_value, says_more
from mnemic.model.memory import Change, Source, Version

CONFIDENCE_CAP: Final = 0.99
"""No number of sources makes a statement certain."""

SAME_EVENT: Final = timedelta(days=3)
"""Two tellings of an event are of one event when they date it this close."""


@dataclass(slots=True)
class Stretch:
    """Neighbouring claims that say the same, gathered in order of time.

    `stages` are their wordings, each saying more than the one before. `ends` is the latest end that one of them gives,
    `open_at` the latest beginning of one that gives none.
    """

    stages: list[list[Claim]] = field(default_factory=list)
    evidence: list[Source] = field(default_factory=list)
    ends: datetime | None = None
    open_at: datetime | None = None

    @property
    def first(self) -> Claim:
        """The earliest claim: the stretch holds from there."""
        return self.stages[0][0]

    @property
    def best(self) -> Claim:
        """The first claim in the wording that says most."""
        return self.stages[-1][0]

    @property
    def until(self) -> datetime | None:
        """The latest end that the claims give; None when one without an end begins there, or when none gives one."""
        goes_on = self.ends is not None and self.open_at is not None and self.open_at >= self.ends
        return None if goes_on else self.ends

    @property
    def passing(self) -> bool:
        """Tell whether each of the claims gives an end: what held before goes on after it."""
        return self.open_at is None

    def join(self, claim: Claim) -> None:
        """Take in a claim that says the same, less, or more."""
        if not self.stages or says_more(claim.value, self.best.value):
            self.stages.append([])
        self.stages[-1].append(claim)
        if claim.until is None:
            self.open_at = claim.at
        else:
            self.ends = max(self.ends or claim.until, claim.until)


def stretches(claims: Sequence[Claim], *, event: bool = False) -> list[Stretch]:
    """Return the claims as stretches in order of time.

    A denial, or a past without a beginning, of a value that does not hold then is evidence for that value's end: it
    stays with the last stretch that held it. The claims of events, which happen and do not last, join only when they
    date it alike.
    """
    line: list[Stretch] = []
    for claim in sorted(claims, key=lambda claim: claim.order):
        if line and _joins(line[-1], claim, event=event):
            line[-1].join(claim)
            continue
        owner = _ended_by(line, claim)
        if owner is not None:
            owner.evidence += _dated(claim)
            continue
        stretch = Stretch()
        stretch.join(claim)
        line.append(stretch)
    return line


def denies(claim: Claim, value: str) -> bool:
    """Tell whether a claim's value covers another: no dog means no dog named Max."""
    return same_value(claim.value, value) or says_more(value, claim.value)


def _joins(stretch: Stretch, claim: Claim, *, event: bool) -> bool:
    if stretch.first.polarity != claim.polarity:
        return False
    known = stretch.best.value
    if not (same_value(claim.value, known) if claim.polarity < 0 else akin(claim.value, known)):
        return False
    if event and claim.at - stretch.first.at > SAME_EVENT:
        return stretch.until is not None and claim.at < stretch.until
    return stretch.until is None or claim.at <= stretch.until


def _ended_by(line: Sequence[Stretch], claim: Claim) -> Stretch | None:
    """Return the stretch whose end the claim only confirms; None when it stands for itself."""
    if claim.polarity > 0 and not claim.floating:
        return None
    lasting = (stretch for stretch in reversed(line) if stretch.until is None or stretch.until > claim.at)
    held = next(lasting, line[-1] if line else None)
    if claim.polarity < 0 and held is not None and held.first.polarity > 0 and denies(claim, held.best.value):
        return None
    for stretch in reversed(line):
        if stretch.first.polarity > 0 and denies(claim, stretch.best.value):
            return stretch
    return None


def _dated(claim: Claim) -> tuple[Source, ...]:
    return tuple(
        source if claim.origin is not None and source.holds_from else replace(source, holds_from=claim.at)
        for source in claim.sources
    )


def timeline(
    versions: Sequence[Version], claim: Claim, *, ids: Iterator[str], recorded_at: datetime, event: bool = False
) -> tuple[Version, ...]:
    """Return the versions of a memory with one more claim among them, ordered by `valid_from`.

    Ends are never before beginnings, and no two versions that last overlap. A version keeps its id, number and words;
    when a claim falls inside it, what comes after is a version of its own. A claim told already changes nothing, and
    what an owner has replaced claims nothing any more.
    """
    if is_told(versions, claim):
        return tuple(versions)
    if versions and not event and _repeats(claim, versions[-1]):
        return (*versions[:-1], _said_again(versions[-1], claim))
    history = settled(versions)
    line = stretches([*claims_of([each for each in versions if each not in history]), claim], event=event)
    pen = _Pen(versions, ids, recorded_at)
    drawn: list[Version] = [*history]
    standing: Stretch | None = None
    for place, stretch in enumerate(line):
        following = line[place + 1].first.at if place + 1 < len(line) else None
        end = _earlier(stretch.until, following)
        drawn += pen.draw(stretch, end)
        over = stretch.until
        if over is None or not stretch.passing or standing is None or event or _outlasts(over, standing.until):
            standing = stretch
        elif (following is None or over < following) and not _alike(standing, stretch):
            drawn.append(pen.resume(standing, over, _earlier(standing.until, following)))
    return tuple(sorted(drawn, key=_by_validity))


def _repeats(claim: Claim, last: Version) -> bool:
    """Tell whether a claim only says again what the last version says, which still holds: nothing is to be redrawn."""
    goes_on = claim.until is None and last.valid_to is None and claim.at >= last.valid_from
    same = claim.polarity == last.polarity and same_value(claim.value, last.value)
    return goes_on and same and not is_resumption(last)


def _said_again(version: Version, claim: Claim) -> Version:
    dated = sorted((*version.sources, *_dated(claim)), key=lambda source: source.holds_from or source.said_at)
    return replace(version, sources=_merged(dated), confidence=strengthened(version.confidence, claim.confidence))


class _Pen:
    """Turns stretches into versions: an old version where there is one, a new id and number where not."""

    def __init__(self, versions: Sequence[Version], ids: Iterator[str], recorded_at: datetime) -> None:
        self._ids = ids
        self._recorded_at = recorded_at
        self._number = max((version.number for version in versions), default=0)
        self._fresh = not versions
        self._used: set[str] = set()
        self._resumptions = [version for version in versions if is_resumption(version)]

    def draw(self, stretch: Stretch, end: datetime | None) -> list[Version]:
        """Return one version for each wording; all but the one that says most end where they begin."""
        start = stretch.first.at
        drawn: list[Version] = []
        for place, stage in enumerate(stretch.stages):
            last = place + 1 == len(stretch.stages)
            change = Change.REFINED if place else Change.SUPERSEDED
            drawn += self._stage(stage, start, end if last else start, change)
        drawn[-1] = replace(drawn[-1], sources=_merged(drawn[-1].sources, stretch.evidence))
        return drawn

    def resume(self, stretch: Stretch, start: datetime, end: datetime | None) -> Version:
        """Return the version that goes on where something that passed has ended."""
        best = stretch.best
        for known in self._resumptions:
            if known.id not in self._used and known.valid_from == start and same_value(known.value, best.value):
                self._used.add(known.id)
                return replace(known, valid_to=end)
        return replace(self._new(best, start, end, Change.SUPERSEDED), time=None, sources=_dated(best))

    def _stage(self, stage: Sequence[Claim], start: datetime, end: datetime | None, change: Change) -> list[Version]:
        origins: dict[str, Version] = {}
        for claim in stage:
            if claim.origin is not None and claim.origin.id not in self._used:
                origins.setdefault(claim.origin.id, claim.origin)
        self._used.update(origins)
        kept, *spare = origins.values() or [None]
        folded = [self._folded(version, stage) for version in spare if version is not None]
        gone = {version.id for version in folded}
        claims = [claim for claim in stage if claim.origin is None or claim.origin.id not in gone]
        sources = _merged(*(_dated(claim) for claim in claims))
        if kept is None:
            return [*folded, replace(self._new(claims[0], start, end, change), sources=sources)]
        time = stage[0].time if stage[0].origin is None and stage[0].time is not None else kept.time
        sure = kept.confidence
        for claim in claims:
            sure = sure if claim.origin is not None else strengthened(sure, claim.confidence)
        kept = replace(kept, valid_from=start, valid_to=end, time=time, confidence=sure, sources=sources)
        return [*folded, kept]

    def _folded(self, version: Version, stage: Sequence[Claim]) -> Version:
        """Return a version that another has taken in: it keeps its sources and no longer lasts."""
        sources = [_dated(claim) for claim in stage if claim.origin is not None and claim.origin.id == version.id]
        return replace(version, valid_to=version.valid_from, sources=_merged(*sources))

    def _new(self, claim: Claim, start: datetime, end: datetime | None, change: Change) -> Version:
        self._number += 1
        return Version(
            id=next(self._ids),
            number=self._number,
            text=claim.text,
            value=claim.value,
            polarity=claim.polarity,
            valid_from=start,
            valid_to=end,
            time=claim.time,
            recorded_at=self._recorded_at,
            confidence=claim.confidence,
            change=Change.ADDED if self._fresh else change,
            drawn_by=claim.drawn_by,
            reason=claim.reason,
        )


def strengthened(known: float, more: float) -> float:
    """Return the confidence in what two sources say independently: 1 - (1 - c1)(1 - c2), at most 0.99."""
    return max(known, min(1 - (1 - known) * (1 - more), CONFIDENCE_CAP))


def _merged(*groups: Sequence[Source]) -> tuple[Source, ...]:
    """Return sources with one for each message; a message that says it twice gives both quotes."""
    merged: dict[str, Source] = {}
    for source in (source for group in groups for source in group):
        known = merged.get(source.message_id)
        if known is None:
            merged[source.message_id] = source
        elif source.quote not in known.quote:
            merged[source.message_id] = replace(known, quote=f"{known.quote} \u2026 {source.quote}")
    return tuple(merged.values())


def _earlier(a: datetime | None, b: datetime | None) -> datetime | None:
    return min((moment for moment in (a, b) if moment is not None), default=None)


def _outlasts(a: datetime, b: datetime | None) -> bool:
    return b is not None and a >= b


def _alike(a: Stretch, b: Stretch) -> bool:
    return a.first.polarity == b.first.polarity and akin(a.best.value, b.best.value)


def _by_validity(version: Version) -> tuple[datetime, bool, datetime, int]:
    return (version.valid_from, version.valid_to is None, version.valid_to or version.valid_from, version.number)
