"""Searching: a question goes through the channels of every cube in scope, and comes back as explained hits.

Reads only: one snapshot for each search, no lock held while the question is embedded or the best hits are reranked.
Visits are counted in memory and written by the next piece of background work: a search never waits for a writer.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import partial
from typing import Final, Unpack

import numpy as np
from numpy.typing import NDArray

from mnemic.core.asked import as_spoken, asks_for, is_sentence, subjects_of
from mnemic.core.filtering import parse_filter
from mnemic.core.fusion import Fusion
from mnemic.core.heat import HeatWeights, heat
from mnemic.core.holding import MEASURED, ROLES, clues_of, likelihood
from mnemic.core.intake import check_count, check_names, check_text, read_time
from mnemic.core.matching import match_words, terms_of
from mnemic.core.passages import PASSAGES, in_turn
from mnemic.core.ranking import FOCUS, Looked, Question, Ranked, Scores, Weights, is_written, look, rank, warmed
from mnemic.core.scanning import worked_out
from mnemic.core.temporal import question_times
from mnemic.errors import EmbedderError, InputError
from mnemic.model.figure import SEARCH_SECONDS
from mnemic.model.index import CHUNK, SECTION, CubeView, Posting, Vector
from mnemic.model.memory import MemoryKind
from mnemic.model.moment import to_micros
from mnemic.model.query import Filter, Hit, Results, SearchOptions
from mnemic.model.scope import Cube
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.meter import SILENT, Meter
from mnemic.ports.store import Store, Transaction
from mnemic.services.apart import compared
from mnemic.services.correcting import corrections_first, with_corrections
from mnemic.services.hits import MEMORY_KINDS, SEGMENT, WRITTEN, Telling, hits_of, with_notes, without_repeats
from mnemic.services.laps import Laps
from mnemic.services.questions import Questions
from mnemic.services.reranking import DEPTH, Reranking
from mnemic.services.scoping import Scoping
from mnemic.text import Sought, content_terms, sought, words

ARCHIVED: Final = "archived"
"""What asks for the segments that the middle tier has let go of."""

KINDS: Final = ("message", CHUNK, SECTION, SEGMENT, ARCHIVED, *MEMORY_KINDS)
DEFAULT_KINDS: Final = ("message", CHUNK, *(kind for kind in MEMORY_KINDS if kind != MemoryKind.INSIGHT))
LIMIT: Final = 1_000
"""Hits that one search may ask for."""

_NAMES: Final = re.compile(
    r"(?<=\s)[A-Z\u00c0-\u00de][\w'\u2019&.-]*(?:\s+[A-Z\u00c0-\u00de][\w'\u2019&.-]*)*"  # capitals inside a sentence
    r"|[\"\u201c]([^\"\u201c\u201d]{2,80})[\"\u201d]"  # quotations
)
_STALE: Final = (
    "an upgrade reads words otherwise, and older passages are being indexed anew: until that is done, some may be "
    "missed that are not in English (`mnemic reindex` does it at once)"
)
_VISITS = 5  # hits of a search that count as a visit of their topics
_NOTED = 10_000  # searches of a cube that are remembered until their visits are written
_STEMS = 128  # stems of a question that are looked for
_SPARE = 8  # entries ranked beyond the limit, for those that only repeat others
_VOICES = 3  # times as many entries are ranked among documents, so that others than the best one are heard
_LOOKED_OVER = 20  # hits of each cube among which corrections of documents are looked for
_OPEN = np.iinfo(np.int64).max  # as a view has the end of what still holds
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


@dataclass(frozen=True, slots=True)
class _Found:
    """What one request found, best first, in which cubes; how likely they hold an answer; what to know about it."""

    hits: Sequence[Hit]
    cubes: Sequence[Cube]
    confidence: float | None
    notes: Sequence[str]


class Recall:
    """The use case of `search`."""

    def __init__(
        self, store: Store, embedder: Embedder, clock: Clock, scoping: Scoping, *, zone: tzinfo, warmth: HeatWeights
    ) -> None:
        self._store = store
        self._questions = Questions(embedder)
        self._measured = embedder.name in MEASURED
        self._clock = clock
        self._scoping = scoping
        self._zone = zone
        self.weights = Weights()
        self.fusion: Fusion | None = None
        self.reranking: Reranking | None = None
        self.meter: Meter = SILENT
        self._heat_weights = warmth
        self._visits: dict[int, list[Sequence[str]]] = {}
        self._lock = threading.Lock()

    def search(self, query: object, *, user: object, **options: Unpack[SearchOptions]) -> Results:
        """Return the best hits; see `Memory.search`."""
        return self._answers([self._request(query, options)], user, options)[0]

    def search_many(self, queries: object, *, user: object, **options: Unpack[SearchOptions]) -> list[Results]:
        """Return the best hits of each question; see `Memory.search_many`."""
        if not isinstance(queries, Sequence) or isinstance(queries, str):
            raise InputError("queries", f"needs a list of strings, got {type(queries).__name__}")
        return self._answers([self._request(query, options) for query in queries], user, options)

    def _answers(self, requests: Sequence[Request], user: object, options: SearchOptions) -> list[Results]:
        """Answer all requests from one moment. They differ in their question only."""
        laps = Laps()
        try:
            return self._reranked(requests, user, options, laps)
        finally:
            laps.tell(self.meter, SEARCH_SECONDS)

    def _reranked(self, requests: Sequence[Request], user: object, options: SearchOptions, laps: Laps) -> list[Results]:
        if self.reranking is None:
            found = self._look_up(requests, user, options, laps)
            return [self._best(each, each.hits, request) for each, request in zip(found, requests, strict=True)]
        deep = [replace(request, limit=max(request.limit, DEPTH)) for request in requests]
        answers, failed = list[Results](), None
        for each, request in zip(self._look_up(deep, user, options, laps), requests, strict=True):
            hits = each.hits
            if failed is None:  # who has failed for one question is not asked for the others
                log_odds = self._fusion(request.query) is not None
                hits, failed = self.reranking.ordered(request.query, hits, log_odds=log_odds)
            told = each if failed is None else replace(each, notes=(*each.notes, failed))
            answers.append(self._best(told, hits, request))
        laps("rerank")
        return answers

    def _look_up(self, requests: Sequence[Request], user: object, options: SearchOptions, laps: Laps) -> list[_Found]:
        """Find what there is in one moment.

        Questions are embedded as the speakers of each cube would put them, so the cubes are looked at first; when that
        leaves a question to embed, nothing is held meanwhile, and the moment is the one after.
        """
        with self._store.read() as tx:
            places = self._places(tx, user, options)
            laps("view")
            texts = [spoken(request.query, view) for request in requests for _, view in places]
            known = self._questions.known(texts)
            if all(text in known for text in texts):
                return self._found(tx, places, requests, (known, []), laps)
        embedded = self._questions.vectors(texts)
        laps("embed")
        with self._store.read() as tx:
            places = self._places(tx, user, options)
            laps("view")
            return self._found(tx, places, requests, embedded, laps)

    def _fusion(self, query: str, view: CubeView | None = None) -> Fusion | None:
        """Return the weights for a question that they are made for: those of documents, or the learned ones of talk."""
        if self.fusion is None or not is_sentence(query):
            return None
        return PASSAGES if view is not None and is_written(view) else self.fusion

    def _places(self, tx: Transaction, user: object, options: SearchOptions) -> list[tuple[Cube, CubeView]]:
        cubes = self._scoping.for_read(tx, user, options.get("cubes"), bound=True).cubes
        return [(cube, tx.index.view(cube.key)) for cube in cubes]

    def _found(
        self,
        tx: Transaction,
        places: Sequence[tuple[Cube, CubeView]],
        requests: Sequence[Request],
        embedded: tuple[Mapping[str, Vector | None], list[str]],
        laps: Laps,
    ) -> list[_Found]:
        vectors, notes = embedded
        if len(places) > 1 and any(is_written(view) for _, view in places):  # what corrects a document may stand lower
            requests = [replace(request, limit=max(request.limit, _LOOKED_OVER)) for request in requests]
        found: list[list[Hit]] = [[] for _ in requests]
        sure: list[list[float]] = [[] for _ in requests]
        for cube, view in places:
            own = [self._vector(spoken(request.query, view), vectors, notes) for request in requests]
            known = worked_out(view, own)
            laps("vectors")
            for number, (request, vector, products) in enumerate(zip(requests, own, known, strict=True)):
                hits, holds = self._search_cube(tx, (cube, view), request, (vector, products), laps)
                found[number].extend(hits)
                sure[number].extend([] if holds is None else [holds])
        cubes = [cube for cube, _ in places]
        if any(tx.terms.is_stale(cube.key) for cube in cubes):
            notes = [*notes, _STALE]
        best = [with_corrections(tx, cubes, sorted(hits, key=lambda hit: -hit.score)) for hits in found]
        laps("reading")
        return [
            _Found(hits, cubes, max(holds, default=None), tuple(notes)) for hits, holds in zip(best, sure, strict=True)
        ]

    def _vector(self, text: str, vectors: Mapping[str, Vector | None], notes: list[str]) -> Vector | None:
        if text in vectors:
            return vectors[text]
        made, told = self._questions.vectors([text])  # somebody new has spoken since the cubes were looked at
        notes.extend(told)
        return made[text]

    def look(
        self, query: object, *, user: object, **options: Unpack[SearchOptions]
    ) -> Iterator[tuple[Cube, CubeView, Looked]]:
        """Give what each cube shows on a closer look at a question, unweighed: for those who learn weights."""
        request, notes = self._request(query, options), list[str]()
        with self._store.read() as tx:
            for cube, view in self._places(tx, user, options):
                eligible = _eligible(tx, cube, view, request)
                if bool(eligible.any()):
                    vector = self._vector(spoken(request.query, view), {}, notes)
                    if notes:
                        raise EmbedderError(notes[0])  # weights that are learned without vectors would be wrong ones
                    question, postings = self._question(tx, (cube, view), request, vector, eligible)
                    yield cube, view, look(view, question, postings, eligible=eligible, weights=self.weights)

    def _best(self, found: _Found, hits: Sequence[Hit], request: Request) -> Results:
        best = corrections_first(in_turn(hits, _of_document, _score))[: request.limit]
        kept = [hit for hit in best if request.threshold is None or hit.score >= request.threshold]
        self._note_visits(found.cubes, kept)
        return Results(tuple(kept), len(best) - len(kept), tuple(found.notes), found.confidence)

    def _note_visits(self, cubes: Sequence[Cube], hits: Sequence[Hit]) -> None:
        keys = {cube.id: cube.key for cube in cubes}
        found: dict[int, list[str]] = {}
        for hit in hits[:_VISITS]:
            told = (source.message_id for source in hit.sources[:1] if source.message_id)
            found.setdefault(keys[hit.cube], []).extend(told)
        with self._lock:
            for cube_key, message_ids in found.items():
                noted = self._visits.setdefault(cube_key, [])
                noted.append(message_ids)
                del noted[:-_NOTED]

    def take_visits(self) -> Mapping[int, Sequence[Sequence[str]]]:
        """Return, by cube key, the messages that each search has found since the last call, and count anew."""
        with self._lock:
            visits, self._visits = self._visits, {}
        return visits

    def _request(self, query: object, options: SearchOptions) -> Request:
        words = check_text(query, "query", "say what to look for, or use `list` to see everything")
        now = self._clock.now()
        as_of = options.get("as_of")
        return Request(
            query=words,
            limit=check_count(options.get("limit", 10), "limit", most=LIMIT),
            kinds=_kinds(options.get("kinds")),
            where=parse_filter(options.get("where"), self._zone),
            as_of=None if as_of is None else read_time(as_of, "as_of", now=now, zone=self._zone)[0],
            reference=read_time(options.get("reference_time"), "reference_time", now=now, zone=self._zone)[0],
            threshold=_threshold(options.get("threshold")),
            explain=bool(options.get("explain", False)),
        )

    def _search_cube(
        self,
        tx: Transaction,
        place: tuple[Cube, CubeView],
        request: Request,
        known: tuple[Vector | None, Scores | None],
        laps: Laps,
    ) -> tuple[list[Hit], float | None]:
        """Return a cube's hits, and how likely it holds an answer; None when that is not known."""
        cube, view = place
        vector, products = known
        eligible = _eligible(tx, cube, view, request)
        laps("filter")
        if not bool(eligible.any()):
            return [], 0.0
        question, postings = self._question(tx, place, request, vector, eligible, products)
        limit = (request.limit + _SPARE) * (_VOICES if is_written(view) else 1)
        count = max(FOCUS, limit)
        looked = look(view, question, postings, eligible=eligible, weights=self.weights, count=count, passed=laps)
        fusion = self._fusion(request.query, view)
        ranked = rank(
            view,
            looked,
            weights=self.weights,
            fusion=fusion,
            limit=limit,
            explain=request.explain,
        )
        heats = self._heats(tx, cube, [view.owners[item.place] for item in ranked])
        ranked = warmed(ranked, heats, self.weights, fusion)
        if is_written(view):
            ranked = in_turn(ranked, partial(_document, view), _score)[: request.limit + _SPARE]
        elif not request.explain:  # an explanation tells the rank among all of them
            spare = sum(view.kind_names[view.kinds[item.place]] != "message" for item in ranked)  # these may repeat
            ranked = ranked[: request.limit + spare]
        laps("ranking")
        telling = Telling(frozenset(content_terms(request.query)), request.as_of, request.explain)
        hits = hits_of(tx, cube, view, ranked, telling)
        holds = None if vector is None or not self._measured else likelihood(clues_of(view, question.speakers, looked))
        told = with_notes(tx, cube, without_repeats(hits)[: request.limit], request.as_of)
        laps("reading")
        return told, holds

    def _question(
        self,
        tx: Transaction,
        place: tuple[Cube, CubeView],
        request: Request,
        vector: Vector | None,
        eligible: NDArray[np.bool_],
        products: Scores | None = None,
    ) -> tuple[Question, Sequence[Posting]]:
        """Return a question ready for ranking in a cube, and where its words stand there."""
        cube, view = place
        speakers = named_speakers(request.query, view.speaker_names)
        wanted = question_words(request.query, speakers)
        terms = terms_of(wanted)
        stems, postings = match_words(wanted, dict(zip(terms, tx.index.postings(cube.key, terms), strict=True)))
        norms = None
        if view.apart and vector is not None:
            products, norms = compared(tx, view, vector, postings, eligible)
        question = Question(
            vector=vector,
            stems=stems,
            speakers=speakers,
            subjects=subjects_of(request.query, speakers),
            asks=asks_for(request.query),
            entities=question_entities(request.query, stems),
            spans=self._spans(request),
            reference=to_micros(request.reference),
            products=products,
            pair_norms=norms,
        )
        return question, postings

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


def spoken(query: str, view: CubeView) -> str:
    """Return the question as it is embedded for a cube: see `core.asked.as_spoken`."""
    return as_spoken(query, named_speakers(query, view.speaker_names) - ROLES)


def named_speakers(query: str, speakers: Sequence[str]) -> frozenset[str]:
    """Return the speakers whose name, or its first word, stands in the question."""
    present = set(words(query))
    found = []
    for speaker in speakers:
        parts = words(speaker)
        if parts and (parts[0] in present or set(parts) <= present):
            found.append(speaker)
    return frozenset(found)


def question_words(query: str, speakers: frozenset[str]) -> list[Sought]:
    """Return the words to look for, each once; names of speakers are left to the speaker boost if others remain.

    Of a question as long as a document the longest words are looked for: they are the rarest, by and large.
    """
    names = {stem for speaker in speakers for stem in content_terms(speaker)}
    every = sought(query)
    found = [word for word in every if word.stem not in names] or every
    if len(found) <= _STEMS:
        return found
    kept = {word.stem for word in sorted(found, key=lambda word: len(word.stem), reverse=True)[:_STEMS]}
    return [word for word in found if word.stem in kept]


def question_entities(query: str, stems: Sequence[str]) -> list[list[int]]:
    """Return the names and quotations in a question, each as the places of its words among the stems."""
    groups: list[list[int]] = []
    for match in _NAMES.finditer(query):
        places = [stems.index(stem) for stem in content_terms(match.group()) if stem in stems]
        if places and places not in groups:
            groups.append(places)
    return groups


def _document(view: CubeView, item: Ranked) -> str:
    """Return the document that an entry is of, "" for what is of none."""
    return view.session_ids[view.sessions[item.place]] if view.kind_names[view.kinds[item.place]] == CHUNK else ""


def _of_document(hit: Hit) -> str:
    return str(hit.metadata["document"]) if hit.kind == CHUNK else ""


def _score(found: Ranked | Hit) -> float:
    return found.score


def _threshold(given: object) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise InputError("threshold", f"needs a number from 0 to 1, got {given!r}")
    return float(given)


def _kinds(given: object) -> tuple[str, ...]:
    if given is None:
        return DEFAULT_KINDS
    found: list[str] = []
    for name in check_names(given, "kinds"):
        if name not in (*KINDS, "memory"):
            raise InputError("kinds", f"{name!r} is not a kind; known: {', '.join(KINDS)}, memory (all memory kinds)")
        found.extend(MEMORY_KINDS if name == "memory" else [str(name)])
    return tuple(dict.fromkeys(found))


def _eligible(tx: Transaction, cube: Cube, view: CubeView, request: Request) -> NDArray[np.bool_]:
    wanted = np.array([name in request.kinds for name in view.kind_names] or [False])
    topics = np.array([name == SEGMENT for name in view.kind_names] or [False])[view.kinds]
    live = wanted[view.kinds] & view.live
    archived = topics & ~view.live if ARCHIVED in request.kinds else np.zeros_like(topics)
    written = [place for place, name in enumerate(view.kind_names) if name in WRITTEN]
    if request.as_of is None:
        eligible = live | archived
    else:
        moment = to_micros(request.as_of)
        coming = np.isin(view.kinds, written) & ~view.live & (view.valid_to == _OPEN)  # of a version not ready yet
        eligible = live | archived | (wanted[view.kinds] & ~topics & ~coming)  # superseded versions held once
        eligible = eligible & (view.said_at <= moment) & (moment < view.valid_to)
    if request.where is not None:
        allowed = tx.messages.find_matching(cube.key, request.where)
        eligible = eligible & np.fromiter((owner in allowed for owner in view.owners), dtype=np.bool_, count=len(view))
    return np.asarray(eligible, dtype=np.bool_)
