"""Answering: a question is searched for, and answered from what was found, with the hits that the answer stands on.

Reads only. A question of two parts ("Who is her mother, and what is her job?") is answered part by part, the name that
the first one gives taking the place of the second one's pronoun.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from typing import Final

from mnemic.core.answering import (
    CORRECTS,
    NOT_FOUND,
    TAKEN_BACK,
    THRESHOLD,
    Draft,
    Open,
    best_known,
    compose,
    parts_of,
    person_of,
    put_name,
    read_open,
    told,
)
from mnemic.core.claims import taken_back
from mnemic.core.generation import EXTRACTIVE
from mnemic.core.intake import check_text, read_time
from mnemic.model.answer import Answer
from mnemic.model.memory import Change, Memory, MemoryKind, Version
from mnemic.model.profile import ProfileEntry
from mnemic.model.query import Hit, Results
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.services.context import rests_on
from mnemic.services.profiles import Profiles
from mnemic.services.recall import Recall
from mnemic.services.scoping import Scoping

EMPTY: Final = "say what to answer"
"""What to do about a question without words."""

LIMIT: Final = 30
"""Hits that an answer is drawn from."""

MEMORIES: Final = 10
"""Memories that are looked at besides, for a search leaves out those whose message it has found already."""


class AnswerService:
    """The use case of `ask`."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        scoping: Scoping,
        recall: Recall,
        *,
        zone: tzinfo,
        threshold: float = THRESHOLD,
    ) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping
        self._recall = recall
        self._profiles = Profiles(store, clock, scoping, zone=zone)
        self._zone = zone
        self._threshold = threshold

    def ask(
        self,
        question: object,
        *,
        user: object,
        cubes: Sequence[str] | str | None = None,
        as_of: datetime | str | float | None = None,
        reference_time: datetime | str | float | None = None,
        without: Collection[str] = (),
    ) -> Answer:
        """Return the answer that memory holds, or one that says it holds none; see `Memory.ask`.

        Messages of the ids in `without` are no evidence.
        """
        words = check_text(question, "question", EMPTY)
        reference = read_time(reference_time, "reference_time", now=self._clock.now(), zone=self._zone)[0]
        drafts: list[Draft] = []
        notes: dict[str, None] = {}
        for part in parts_of(words):
            named = put_name(part, drafts[0].name) if drafts and drafts[0].name else None
            asked = named or part
            about = read_open(asked)
            draft = self._about(about, user, cubes, as_of) if about is not None else None
            if draft is None:
                hits = self.search(asked, user, cubes=cubes, as_of=as_of, reference_time=reference)
                hits = replace(hits, hits=tuple(hit for hit in hits if not rests_on(hit, without)))
                notes |= dict.fromkeys(hits.notes)
                draft = self._draft(asked, hits, user, cubes, as_of, reference)
            drafts.append(draft)
        return replace(_joined(drafts), notes=tuple(notes))

    def _draft(
        self,
        question: str,
        hits: Results,
        user: object,
        cubes: Sequence[str] | str | None,
        as_of: datetime | str | float | None,
        reference: datetime,
    ) -> Draft:
        return compose(
            question,
            hits,
            reference=reference,
            speakers=speakers_of(hits.hits),
            asker=str(user),
            over=self._over(hits.hits, user, cubes, as_of, reference),
            threshold=self._threshold,
        )

    def search(
        self,
        question: str,
        user: object,
        *,
        cubes: Sequence[str] | str | None = None,
        as_of: datetime | str | float | None = None,
        reference_time: datetime | str | float | None = None,
    ) -> Results:
        """Return the hits that an answer is drawn from."""
        search = partial(
            self._recall.search, question, user=user, cubes=cubes, as_of=as_of, reference_time=reference_time
        )
        found = search(limit=LIMIT)
        hits = {hit.id: hit for hit in found}
        hits |= {hit.id: hit for hit in search(limit=MEMORIES, kinds="memory") if hit.id not in hits}
        return replace(found, hits=tuple(hits.values()))

    def _over(
        self,
        hits: Sequence[Hit],
        user: object,
        cubes: Sequence[str] | str | None,
        as_of: datetime | str | float | None,
        reference: datetime,
    ) -> list[Hit]:
        """Return the versions of memories that stand on the found messages and that are closed, denials or taken back.

        What a message says and its owner has corrected since is evidence no longer.
        """
        at = reference
        if as_of is not None:
            at = read_time(as_of, "as_of", now=self._clock.now(), zone=self._zone)[0]
        found: list[Hit] = []
        with self._store.read() as tx:
            for cube in self._scoping.for_read(tx, user, cubes, bound=True).cubes:
                ids = [hit.id for hit in hits if hit.kind == "message" and hit.cube == cube.id]
                stands_on = [source.message_id for hit in hits if hit.kind != "message" for source in hit.sources]
                ids += [each for each in stands_on if each]  # a passage of a document stands on no message
                memories = tx.memories.get(cube.key, tx.memories.of_messages(cube.key, ids) if ids else [])
                for memory in memories.values():
                    found.extend(_version_hit(memory, each, cube.id) for each in _versions_over(memory, at))
                    found.extend(_corrections(memory, at, cube.id))
        return found

    def _about(
        self, asked: Open, user: object, cubes: Sequence[str] | str | None, as_of: datetime | str | float | None
    ) -> Draft | None:
        """Return what memory holds best about a person; None when it holds nothing."""
        with self._store.read() as tx:
            scope = self._scoping.for_read(tx, user, cubes)
        entries: list[tuple[ProfileEntry, str]] = []
        for cube in scope.cubes:
            named = None if cubes is None else cube.id
            found = self._profiles.profile(user=user, as_of=as_of, cube=named)
            entries.extend((entry, cube.id) for entry in found)
        everyone = [entry for entry, _ in entries]
        person = person_of(asked, everyone, str(user))
        best = best_known(asked, everyone, person) if person is not None else []
        if not best:
            return None
        citations = tuple(entry_hit(entry, cube) for entry, cube in entries if entry in best)
        sure = min(entry.confidence for entry in best)
        text = told(best, name_only=asked.name_only)
        return Draft(text, citations, found=True, confidence=round(sure, 3), value=text, name=best[0].subject)


def speakers_of(hits: Sequence[Hit]) -> list[str]:
    """Return who speaks in the hits, each once."""
    return list(dict.fromkeys(hit.speaker for hit in hits if hit.speaker))


def _versions_over(memory: Memory, at: datetime) -> list[Version]:
    """Return what a memory holds to be over at a moment, or to be denied then. One version that was only put into
    fuller words is neither, nor is an event, which ends by itself.
    """
    if memory.kind is MemoryKind.EVENT:
        return []
    known = [version for version in memory.versions if version.valid_from <= at]
    found = []
    for version, after in zip(known, [*known[1:], None], strict=False):
        closed = version.valid_to is not None and version.valid_to <= at
        if version.polarity < 0 and not closed:
            found.append(replace(version, valid_to=None))
        reworded = after is not None and after.change is Change.REFINED
        if version.polarity > 0 and closed and not reworded and version.valid_from != version.valid_to:
            found.append(version)
    return found


def _corrections(memory: Memory, at: datetime, cube: str) -> list[Hit]:
    """Return what a memory took back, and what it says in its place at a moment, each marked as that."""
    wrong = [
        _version_hit(memory, replace(each, valid_to=since), cube, taken_back=True) for each, since in taken_back(memory)
    ]
    current = memory.current
    if not wrong or not memory.stands or current.valid_from > at or (current.valid_to or at) < at:
        return wrong
    right = _version_hit(memory, current, cube)
    return [*wrong, replace(right, metadata={**right.metadata, CORRECTS: True})]


def _version_hit(memory: Memory, version: Version, cube: str, *, taken_back: bool = False) -> Hit:
    first = version.sources[0] if version.sources else None
    said_at = first.said_at if first else version.valid_from
    facts = {
        "subject": memory.subject, "attribute": memory.attribute, "value": version.value, "polarity": version.polarity,
        "valid_from": version.valid_from.isoformat(), TAKEN_BACK: taken_back,
    }  # fmt: skip
    return Hit(
        memory.id, memory.kind.value, version.text, 0.0, said_at, first.speaker if first else memory.subject,
        first.session if first else "", cube, version.sources, metadata=facts, valid_to=version.valid_to,
    )  # fmt: skip


def entry_hit(entry: ProfileEntry, cube: str) -> Hit:
    """Return a line of a profile as the hit that it stands for."""
    first = entry.evidence[0] if entry.evidence else None
    kind = "preference" if entry.attribute.startswith("preference.") else "fact"
    facts = {"subject": entry.subject, "attribute": entry.attribute, "value": entry.value, "polarity": entry.polarity}
    return Hit(
        entry.memory_id, kind, entry.text, entry.confidence, first.said_at if first else entry.since,
        first.speaker if first else entry.subject, first.session if first else "", cube, entry.evidence, metadata=facts,
    )  # fmt: skip


def _joined(drafts: Sequence[Draft]) -> Answer:
    """Return the drafts of a question's parts as one answer; a part that was not found says so."""
    found = [draft for draft in drafts if draft.found]
    if not found:
        return Answer(NOT_FOUND, (), found=False, mode=EXTRACTIVE, confidence=max(draft.confidence for draft in drafts))
    citations = {(hit.id, hit.text): hit for draft in found for hit in draft.citations}  # versions share an id
    return Answer(
        text="; ".join(draft.text for draft in drafts),
        citations=tuple(citations.values()),
        found=True,
        mode=EXTRACTIVE,
        confidence=min(draft.confidence for draft in found),
    )
