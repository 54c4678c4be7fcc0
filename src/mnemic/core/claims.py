"""What the versions of a memory claim: which value holds from when, on which sources.

A version is drawn from one claim or more; here versions are read back into claims, so that a claim that arrives late
can be put among them. A source remembers when its claim holds from, which is not always when it was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from mnemic.core.wording import akin
from mnemic.model.memory import Candidate, Change, Memory, MemoryKind, Source, Version
from mnemic.model.moment import TimeSpan


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
    drawn_by: str = ""
    reason: str = ""

    @property
    def order(self) -> tuple[datetime, datetime, str, int]:
        """What claims are sorted by: when they hold from, then when they were said."""
        return (self.at, min((source.said_at for source in self.sources), default=self.at), self.value, self.polarity)


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


def is_read(memories: Iterable[Memory], message_id: str, candidate: Candidate) -> bool:
    """Tell whether a statement of this message stands in the memories already, as history even: it is read again."""
    return any(
        source.message_id == message_id
        and candidate.quote in source.quote
        and version.polarity == candidate.polarity
        and akin(version.value, candidate.value)
        for memory in memories
        for version in memory.versions
        for source in version.sources
    )


def claims_of(versions: Sequence[Version]) -> list[Claim]:
    """Return the claims that versions, ordered by `valid_from`, were drawn from.

    A source says from when and until when it holds; one that does not is read as said then, and the earliest one of a
    version as what the version begins with. An end that neither a source nor the next version explains was set by
    hand, and stays.
    """
    claims: list[Claim] = []
    lasting = [version for version in versions if version.valid_to != version.valid_from]
    for version in versions:
        if not is_resumption(version):
            begun = (each.valid_from for each in lasting if each.valid_from > version.valid_from)
            claims += _claims_of(version, next(begun, None))
    return claims


_HANDS: Final = (Change.EDITED, Change.RESTORED, Change.RETRACTED)
_TAKEN_BACK: Final = (Change.RETRACTED, Change.MERGED, Change.RESTORED)


def settled(versions: Sequence[Version]) -> list[Version]:
    """Return the versions that claim nothing any more, for they are only history: those that a correction, undoing,
    taking back or merging has replaced, and what says that something was taken back.
    """
    latest = max((each.number for each in versions if each.change in (Change.EDITED, *_TAKEN_BACK)), default=0)
    return [
        version
        for version in versions
        if version.valid_to == version.valid_from and (version.number < latest or version.change in _TAKEN_BACK)
    ]


def taken_back(memory: Memory) -> list[tuple[Version, datetime]]:
    """Return what was said of a memory and its owner has taken back or corrected, each with the moment of that.

    What another version says that does hold, or that held, was not taken back.
    """
    lasting = [each for each in memory.versions if each.valid_to != each.valid_from]
    found: list[tuple[Version, datetime]] = []
    if is_merged_away(memory):
        return found
    for version in settled(memory.versions):
        hands = [each for each in memory.versions if each.number > version.number and each.change in _HANDS]
        told = any(
            each.polarity == version.polarity
            and (each.text == version.text if memory.kind is MemoryKind.EVENT else akin(each.value, version.value))
            for each in lasting
        )
        own = _own_sources(memory, version)
        if version.change not in _TAKEN_BACK and hands and not told and own:
            found.append((replace(version, sources=own), min(hands, key=lambda each: each.number).recorded_at))
    return found


def _own_sources(memory: Memory, version: Version) -> tuple[Source, ...]:
    """Return the messages that said what a version says: of a correction, only what asked for it."""
    if version.change is not Change.EDITED:
        return version.sources
    before = (each for each in memory.versions if each.number < version.number)
    known = {source.message_id for each in before for source in each.sources}
    return tuple(source for source in version.sources if source.message_id not in known)


def is_by_hand(versions: Iterable[Version]) -> bool:
    """Tell whether an owner's hand has changed a memory: corrected it, undone a change, or taken it back."""
    return any(version.change in _HANDS for version in versions)


def is_merged_away(memory: Memory) -> bool:
    """Tell whether another memory says what this one said."""
    return not memory.stands and memory.current.change is Change.MERGED


def is_resumption(version: Version) -> bool:
    """Tell whether a version stands only on what was claimed before it began: it goes on after something passed."""
    dates = [source.holds_from for source in version.sources]
    return version.change is Change.SUPERSEDED and bool(dates) and all(
        date is not None and date < version.valid_from for date in dates
    )  # fmt: skip


def _claims_of(version: Version, following: datetime | None) -> list[Claim]:
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
    first = replace(first, origin=version, drawn_by=version.drawn_by, reason=version.reason)
    claims = [replace(first, at=at, until=_end(dated[at]), sources=tuple(dated[at])) for at in dates] or [first]
    explained = following == end or any(claim.until == end for claim in claims)
    if end is not None and start < end and not explained:
        claims[-1] = replace(claims[-1], until=end)
    denied = replace(first, polarity=-1, time=None, origin=None, reason="")
    return claims + [
        replace(denied, at=_date_in(version, each), until=each.holds_to, text=each.quote, sources=(each,))
        for each in ended
    ]


def _end(sources: Sequence[Source]) -> datetime | None:
    return max((source.holds_to for source in sources if source.holds_to is not None), default=None)


def _date_in(version: Version, source: Source) -> datetime:
    if source.holds_from is not None:
        return max(source.holds_from, version.valid_from)
    inside = version.valid_from <= source.said_at and (version.valid_to is None or source.said_at < version.valid_to)
    return source.said_at if inside else version.valid_from
