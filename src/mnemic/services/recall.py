"""Searching: a question goes through the channels of every cube in scope, and comes back as explained hits.

Reads only: one snapshot for each search, no lock held while the question is embedded. Visits are counted in memory
and written by the next piece of background work, so that a search never waits for a writer.
"""

from __future__ import annotations

import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mnemic.core.filtering import parse_filter
from mnemic.core.heat import HeatWeights, heat
from mnemic.core.intake import read_time
from mnemic.core.packing import Line, pack
from mnemic.core.ranking import Question, Ranked, Weights, rank, warmed
from mnemic.core.temporal import question_times
from mnemic.errors import EmbedderError, InputError
from mnemic.model.index import CubeView, Vector
from mnemic.model.memory import Memory, MemoryKind, Source, Version
from mnemic.model.message import StoredMessage
from mnemic.model.moment import from_micros, to_micros
from mnemic.model.query import Context, Filter, Hit, Results, Why
from mnemic.model.scope import Cube
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.scoping import Scoping
from mnemic.text import content_terms, fold, shorten, words

_log = logging.getLogger(__name__)

MEMORY_KINDS: Final = tuple(kind.value for kind in MemoryKind)
KINDS: Final = ("message", "segment", *MEMORY_KINDS)
DEFAULT_KINDS: Final = ("message", *MEMORY_KINDS)
LIMIT: Final = 1_000
"""Hits that one search may ask for."""

_SPARE = 8  # entries ranked beyond the limit, for those that only repeat others
_REACH = 200 * 365 * 86_400_000_000  # microseconds that an open span of time reaches


@dataclass(frozen=True, slots=True)
class Request:
    """A checked search."""

    query: str
    limit: int
    kinds: tuple[str, ...]
    where: Filter | None
    as_of: datetime | None
    reference: datetime
    threshold: float | None
    explain: bool


class Recall:
    """The use cases of `search` and `context`."""

    def __init__(
        self, store: Store, embedder: Embedder, clock: Clock, scoping: Scoping, *, zone: tzinfo, warmth: HeatWeights
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._scoping = scoping
        self._zone = zone
        self.weights = Weights()
        self._heat_weights = warmth
        self._questions: OrderedDict[str, Vector] = OrderedDict()
        self._visits: dict[int, list[str]] = {}
        self._lock = threading.Lock()

    def search(
        self,
        query: object,
        *,
        user: object,
        cubes: Sequence[str] | str | None = None,
        limit: object = 10,
        kinds: Sequence[str] | str | None = None,
        where: object = None,
        as_of: object = None,
        reference_time: object = None,
        threshold: object = None,
        explain: bool = False,
    ) -> Results:
        """Return the best hits; see `Memory.search`."""
        request = self._request(query, limit, kinds, where, as_of, reference_time, threshold, explain=explain)
        vector, notes = self._embed(request.query)
        with self._store.read() as tx:
            scope = self._scoping.for_read(tx, user, cubes)
            found: list[Hit] = []
            for cube in scope.cubes:
                found.extend(self._search_cube(tx, cube, request, vector))
        found.sort(key=lambda hit: -hit.score)
        kept = [hit for hit in found if request.threshold is None or hit.score >= request.threshold]
        return Results(tuple(kept[: request.limit]), len(found) - len(kept), tuple(notes))

    def context(self, query: object, *, budget: object = 2_000, user: object, **options: Any) -> Context:
        """Return hits and the turns around them, packed into a budget; see `Memory.context`."""
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
            raise InputError("budget", f"needs a whole number of tokens above 0, got {budget!r}")
        results = self.search(query, user=user, limit=options.pop("limit", min(100, 10 + budget // 25)), **options)
        lines = [Line(hit, hit.score, _time_order(hit)) for hit in results]
        return pack(lines, budget)

    def take_visits(self) -> Mapping[int, Sequence[str]]:
        """Return the messages that searches have found since the last call, by cube key, and count anew."""
        with self._lock:
            visits, self._visits = self._visits, {}
        return visits

    def _request(
        self, query: object, limit: object, kinds: Sequence[str] | str | None, where: object, as_of: object,
        reference_time: object, threshold: object, *, explain: bool,
    ) -> Request:  # fmt: skip
        if not isinstance(query, str):
            raise InputError("query", f"needs a string, got {type(query).__name__}")
        if not query.strip():
            raise InputError("query", "is empty; say what to look for, or use `list` to see everything")
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= LIMIT:
            raise InputError("limit", f"needs a whole number from 1 to {LIMIT}, got {limit!r}")
        if threshold is not None and (
            isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1
        ):
            raise InputError("threshold", f"needs a number from 0 to 1, got {threshold!r}")
        now = self._clock.now()
        return Request(
            query=query,
            limit=limit,
            kinds=_kinds(kinds),
            where=parse_filter(where, self._zone),
            as_of=None if as_of is None else read_time(as_of, "as_of", now=now, zone=self._zone)[0],
            reference=read_time(reference_time, "reference_time", now=now, zone=self._zone)[0],
            threshold=None if threshold is None else float(threshold),
            explain=explain,
        )

    def _embed(self, query: str) -> tuple[Vector | None, list[str]]:
        with self._lock:
            if query in self._questions:
                self._questions.move_to_end(query)
                return self._questions[query], []
        try:
            vector = self._embedder.embed([query])[0]
        except EmbedderError as error:
            _log.warning("search_without_vectors", extra={"reason": str(error)})
            return None, [f"searched by words only: {error}"]
        with self._lock:
            self._questions[query] = vector
            while len(self._questions) > 1_000:
                self._questions.popitem(last=False)
        return vector, []

    def _search_cube(self, tx: Transaction, cube: Cube, request: Request, vector: Vector | None) -> list[Hit]:
        view = tx.index.view(cube.key)
        speakers = named_speakers(request.query, view.speaker_names)
        stems = question_stems(request.query, speakers)
        question = Question(vector, stems, speakers, self._spans(request), to_micros(request.reference))
        ranked = rank(
            view,
            question,
            tx.index.postings(cube.key, stems),
            eligible=_eligible(tx, cube, view, request),
            weights=self.weights,
            limit=request.limit + _SPARE,
        )
        ranked = warmed(ranked, self._heats(tx, cube, [view.owners[item.place] for item in ranked]), self.weights)
        hits = _hydrate(tx, cube, view, ranked, explain=request.explain)
        hits = _without_repeats(hits)[: request.limit]
        with self._lock:
            self._visits.setdefault(cube.key, []).extend(
                source.message_id for hit in hits[:5] for source in hit.sources[:1]
            )
        return hits

    def _heats(self, tx: Transaction, cube: Cube, owners: Sequence[str]) -> list[float]:
        segments = tx.segments.of_messages(cube.key, owners)
        now = self._clock.now()
        return [
            heat(found.visits, found.pages, found.touched_at, now, self._heat_weights).total if found else 0.0
            for found in (segments.get(owner) for owner in owners)
        ]

    def _spans(self, request: Request) -> list[tuple[int, int]]:
        """Return the times that the question names, as microseconds; open ends reach far."""
        reference = request.reference.astimezone(self._zone)
        spans = []
        for span in question_times(request.query, reference):
            start = to_micros(span.start) if span.start else to_micros(reference) - _REACH
            end = to_micros(span.end) if span.end else to_micros(reference) + _REACH
            spans.append((start, end))
        return spans


def named_speakers(query: str, speakers: Sequence[str]) -> frozenset[str]:
    """Return the speakers whose name, or its first word, stands in the question."""
    present = set(words(query))
    found = []
    for speaker in speakers:
        parts = words(speaker)
        if parts and (parts[0] in present or set(parts) <= present):
            found.append(speaker)
    return frozenset(found)


def question_stems(query: str, speakers: frozenset[str]) -> list[str]:
    """Return the stems to look for, each once; names of speakers are left to the speaker boost if others remain."""
    names = {stem for speaker in speakers for stem in content_terms(speaker)}
    stems = list(dict.fromkeys(content_terms(query)))
    return [stem for stem in stems if stem not in names] or stems


def _kinds(given: Sequence[str] | str | None) -> tuple[str, ...]:
    if given is None:
        return DEFAULT_KINDS
    names = [given] if isinstance(given, str) else list(given)
    if not names:
        raise InputError("kinds", "is empty; leave it out to search all kinds")
    unknown = [name for name in names if name not in KINDS and name != "memory"]
    if unknown:
        raise InputError("kinds", f"{unknown[0]!r} is not a kind; known: {', '.join(KINDS)}, memory (all memory kinds)")
    return tuple(dict.fromkeys(kind for name in names for kind in (MEMORY_KINDS if name == "memory" else (name,))))


def _eligible(tx: Transaction, cube: Cube, view: CubeView, request: Request) -> NDArray[np.bool_]:
    wanted = np.array([name in request.kinds for name in view.kind_names] or [False])
    eligible = wanted[view.kinds]
    if request.as_of is None:
        eligible = eligible & view.live
    else:
        moment = to_micros(request.as_of)
        eligible = eligible & (view.said_at <= moment) & (moment < view.valid_to)
    if request.where is not None:
        allowed = tx.messages.find_matching(cube.key, request.where)
        eligible = eligible & np.fromiter((owner in allowed for owner in view.owners), dtype=np.bool_, count=len(view))
    return np.asarray(eligible, dtype=np.bool_)


def _hydrate(
    tx: Transaction, cube: Cube, view: CubeView, ranked: Sequence[Ranked], *, explain: bool
) -> list[Hit]:
    kinds = [view.kind_names[view.kinds[item.place]] for item in ranked]
    owners = [view.owners[item.place] for item in ranked]
    messages = tx.messages.get(cube.key, [owner for owner, kind in zip(owners, kinds, strict=True) if kind == "message"])
    memories = tx.memories.get(cube.key, [o for o, kind in zip(owners, kinds, strict=True) if kind in MEMORY_KINDS])
    segments = {segment.id: segment for segment, _ in tx.segments.list(cube.key)} if "segment" in kinds else {}
    hits: list[Hit] = []
    for item, kind, owner in zip(ranked, kinds, owners, strict=True):
        why = _why(item, ranked) if explain else None
        if kind == "message" and owner in messages:
            hits.append(_message_hit(messages[owner], cube, view, item, why))
        elif kind in MEMORY_KINDS and owner in memories:
            hits.append(_memory_hit(memories[owner], cube, view, item, why))
        elif kind == "segment" and owner in segments:
            segment = segments[owner]
            hits.append(
                Hit(owner, kind, segment.summary, item.score, segment.started_at, "", "", cube.id,
                    _segment_sources(tx, cube, owner), why=why)
            )  # fmt: skip
    return hits


def _segment_sources(tx: Transaction, cube: Cube, segment_id: str) -> tuple[Source, ...]:
    pages = [page.id for page in tx.pages.of_segment(cube.key, segment_id)]
    return tuple(
        source_of(message) for messages in tx.pages.messages(cube.key, pages).values() for message in messages
    )


def source_of(message: StoredMessage, quote: str | None = None) -> Source:
    """Return a message as the source of something."""
    words_ = shorten(message.text, 160) if quote is None else quote
    return Source(message.id, words_, message.said_at, message.speaker, message.session, message.external_id)


def _message_hit(message: StoredMessage, cube: Cube, view: CubeView, item: Ranked, why: Why | None) -> Hit:
    start, end = int(view.starts[item.place]), int(view.ends[item.place])
    whole = (start, end) == (0, len(message.text)) or end == 0
    text = message.text if whole else message.text[start:end]
    return Hit(
        id=message.id,
        kind="message",
        text=text,
        score=item.score,
        said_at=message.said_at,
        speaker=message.speaker,
        session=message.session,
        cube=cube.id,
        sources=(source_of(message),),
        external_id=message.external_id,
        metadata=message.metadata,
        why=why,
    )


def _memory_hit(memory: Memory, cube: Cube, view: CubeView, item: Ranked, why: Why | None) -> Hit:
    version = _version(memory, view.versions[item.place])
    first = version.sources[0] if version.sources else None
    return Hit(
        id=memory.id,
        kind=memory.kind.value,
        text=version.text,
        score=item.score,
        said_at=first.said_at if first else from_micros(int(view.said_at[item.place])),
        speaker=first.speaker if first else memory.subject,
        session=first.session if first else "",
        cube=cube.id,
        sources=version.sources,
        external_id=first.external_id if first else None,
        metadata={"subject": memory.subject, "attribute": memory.attribute, "value": version.value},
        valid_to=version.valid_to,
        why=why,
    )


def _version(memory: Memory, version_id: str | None) -> Version:
    return next((version for version in memory.versions if version.id == version_id), memory.current)


def _why(item: Ranked, ranked: Sequence[Ranked]) -> Why:
    channels = {}
    for name, value in item.channels.items():
        better = sum(1 for other in ranked if other.channels[name] > value)
        channels[name] = (better + 1, round(value, 4))
    return Why(channels, {name: round(value, 4) for name, value in item.boosts.items()})


def _without_repeats(hits: Sequence[Hit]) -> list[Hit]:
    """Leave out a memory whose only source is a message that stands above it, and memories with the same words."""
    seen_messages: set[str] = set()
    seen_words: set[str] = set()
    kept: list[Hit] = []
    for hit in hits:
        stands_on = {source.message_id for source in hit.sources}
        if hit.kind not in ("message", "segment") and stands_on and stands_on <= seen_messages:
            continue
        if hit.kind == "message":
            seen_messages.add(hit.id)
        else:
            said = fold(re.sub(r"\W+", " ", hit.text))
            if said in seen_words:
                continue
            seen_words.add(said)
        kept.append(hit)
    return kept


def _time_order(hit: Hit) -> tuple[object, ...]:
    return (hit.said_at, hit.kind != "message", hit.id)

