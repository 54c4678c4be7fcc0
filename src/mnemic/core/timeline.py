"""The versions of one memory as a line of time, drawn from what was claimed and when each claim holds from.

Versions are read back into claims, a new claim is put among them, and the line is drawn again. So the line follows
from the set of claims and not from their order of arrival, and no source is ever taken from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from mnemic.core.wording import akin, same_value, says_more
from mnemic.model.memory import Change, Source, Version
from mnemic.model.moment import TimeSpan

CONFIDENCE_CAP: Final = 0.99
"""No number of sources makes a statement certain."""

SAME_EVENT: Final = timedelta(days=3)
"""Two tellings of an event are of one event when they date it this close."""


@dataclass(frozen=True, slots=True)
class Claim:
    """That a value holds (with polarity -1: does not hold) from `at` until `until`, None when no end was said.

    `floating` marks a past without a known beginning ("used to live in Lisbon"): all that it tells is an end.
    `origin` is the version that the claim was read from, None for a new one.
    """

    at: datetime
    until: datetime | None
    value: str
    text: str
    polarity: int
    time: TimeSpan | None
    confidence: float
    sources: tuple[Source, ...] = ()
    floating: bool = False
    origin: Version | None = None

    @property
    def order(self) -> tuple[datetime, datetime, str, int]:
        """What claims are sorted by: when they hold from, then when they were said."""
        return (self.at, min((source.said_at for source in self.sources), default=self.at), self.value, self.polarity)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring claims that say the same; `stages` are their wordings, each saying more than the one before."""

    stages: tuple[tuple[Claim, ...], ...]
    evidence: tuple[Source, ...] = ()

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
        """The latest end that the claims give."""
        return max((claim.until for stage in self.stages for claim in stage if claim.until is not None), default=None)

    @property
    def passing(self) -> bool:
        """Tell whether each of the claims gives an end: what held before goes on after it."""
        return all(claim.until is not None for stage in self.stages for claim in stage)

    def joined(self, claim: Claim) -> Stretch:
        """Return the stretch with a claim that says the same, less, or more."""
        if says_more(claim.value, self.best.value):
            return replace(self, stages=(*self.stages, (claim,)))
        return replace(self, stages=(*self.stages[:-1], (*self.stages[-1], claim)))


def is_told(versions: Sequence[Version], claim: Claim) -> bool:
    """Tell whether the versions stand on this claim's sources already, for the same value."""
    told = {(source.message_id, source.quote) for source in claim.sources}
    return bool(told) and all(
        any(
            source.message_id == message_id
            and quote in source.quote
            and akin(version.value, claim.value)
            and (version.polarity == claim.polarity or source.holds_from == claim.at)
            for version in versions
            for source in version.sources
        )
        for message_id, quote in told
    )


def stretches(claims: Sequence[Claim], *, event: bool = False) -> list[Stretch]:
    """Return the claims as stretches in order of time.

    A denial, or a past without a beginning, of a value that does not hold then is evidence for that value's end: it
    stays with the last stretch that held it. The claims of events, which happen and do not last, join only when they
    date it alike.
    """
    line: list[Stretch] = []
    for claim in sorted(claims, key=lambda claim: claim.order):
        if line and _joins(line[-1], claim, event=event):
            line[-1] = line[-1].joined(claim)
            continue
        owner = _ended_by(line, claim)
        if owner is None:
            line.append(Stretch(((claim,),)))
        else:
            line[owner] = replace(line[owner], evidence=line[owner].evidence + _dated(claim))
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


def _ended_by(line: Sequence[Stretch], claim: Claim) -> int | None:
    """Return the place of the stretch whose end the claim only confirms; None when it stands for itself."""
    if claim.polarity > 0 and not claim.floating:
        return None
    if line and claim.polarity < 0 and line[-1].first.polarity > 0 and denies(claim, line[-1].best.value):
        return None
    for place in range(len(line) - 1, -1, -1):
        if line[place].first.polarity > 0 and denies(claim, line[place].best.value):
            return place
    return None


def claims_of(versions: Sequence[Version]) -> list[Claim]:
    """Return the claims that versions were drawn from.

    A source says when its claim holds from; one that does not is read as said then, and the earliest one of a version
    as what the version begins with.
    """
    read: list[list[Claim]] = []
    for version in versions:
        if not is_resumption(version):
            read.append(_claims_of(version))
            continue
        if read:  # what passed has an end, and what goes on after it had none there
            read[-1] = [replace(claim, until=version.valid_from) for claim in read[-1]]
        for claims in reversed(read[:-1]):
            if claims[0].polarity == version.polarity and same_value(claims[0].value, version.value):
                claims[-1] = replace(claims[-1], until=version.valid_to)
                break
    return [claim for claims in read for claim in claims]


def is_resumption(version: Version) -> bool:
    """Tell whether a version stands only on what was claimed before it began: it goes on after something passed."""
    dates = [source.holds_from for source in version.sources]
    return version.change is Change.SUPERSEDED and bool(dates) and all(
        date is not None and date < version.valid_from for date in dates
    )  # fmt: skip


def _claims_of(version: Version) -> list[Claim]:
    start, end = version.valid_from, version.valid_to
    dated: dict[datetime, list[Source]] = {}
    ended: list[Source] = []
    for source in version.sources:
        at = _date_in(version, source)
        if end is not None and start < end <= at:
            ended.append(source)
        else:
            dated.setdefault(at, []).append(source)
    dates = sorted(dated)
    if dates and start not in dated:
        dated[start] = dated.pop(dates[0])
        dates[0] = start
    first = Claim(start, None, version.value, version.text, version.polarity, version.time, version.confidence)
    first = replace(first, origin=version)
    claims = [replace(first, at=date, sources=tuple(dated[date])) for date in dates] or [first]
    if start != end:
        claims[-1] = replace(claims[-1], until=end)
    denied = replace(first, polarity=-1, time=None, origin=None)
    return claims + [replace(denied, at=_date_in(version, each), text=each.quote, sources=(each,)) for each in ended]


def _date_in(version: Version, source: Source) -> datetime:
    if source.holds_from is not None:
        return max(source.holds_from, version.valid_from)
    inside = version.valid_from <= source.said_at and (version.valid_to is None or source.said_at < version.valid_to)
    return source.said_at if inside else version.valid_from


def _dated(claim: Claim) -> tuple[Source, ...]:
    return tuple(replace(source, holds_from=claim.at) for source in claim.sources)
