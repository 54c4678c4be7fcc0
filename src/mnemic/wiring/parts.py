"""Opens what a memory is made of in order, hands each part the values it needs, and closes it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from mnemic.backends.sql.postgres_near import Comparing
from mnemic.backends.sql.store import SqlStore
from mnemic.config import Settings
from mnemic.core.heat import HeatWeights
from mnemic.core.learned import LEARNED
from mnemic.errors import EmbedderError, StoreError
from mnemic.model.job import DESCRIBE, INGEST
from mnemic.ports.blobs import Blobs
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder, questions_of
from mnemic.ports.llm import LanguageModel
from mnemic.ports.queue import Queue
from mnemic.ports.spans import Watch
from mnemic.ports.store import Store
from mnemic.runtime.following import Following
from mnemic.runtime.metered import MeteredEmbedder, MeteredStore
from mnemic.runtime.periodic import Periodic
from mnemic.runtime.waiting import Waiting
from mnemic.runtime.worker import Worker
from mnemic.services.accounts import Accounts
from mnemic.services.answer import AnswerService
from mnemic.services.attaching import Attaching
from mnemic.services.bases import Bases
from mnemic.services.blobs import BlobKeeper
from mnemic.services.changing import Changing
from mnemic.services.chat import Chat
from mnemic.services.checking import check_work
from mnemic.services.checking_files import check_files
from mnemic.services.context import Contexts
from mnemic.services.cubes import CubeDesk
from mnemic.services.curate import Curate
from mnemic.services.embedding import Embedding
from mnemic.services.explain import Explain
from mnemic.services.feedback import FeedbackService
from mnemic.services.forget import Forget
from mnemic.services.generate import Generate
from mnemic.services.jobdesk import JobDesk
from mnemic.services.language import Budget, Language
from mnemic.services.learning import Learning
from mnemic.services.library import Library
from mnemic.services.listing import Listing
from mnemic.services.loading_files import Files
from mnemic.services.newest import Newest
from mnemic.services.organize import Further, Organize
from mnemic.services.portability import Portability
from mnemic.services.preview import Preview
from mnemic.services.profile_editing import ProfileEditing
from mnemic.services.profiles import Profiles
from mnemic.services.promoting import Promoting
from mnemic.services.reader import Reader
from mnemic.services.rebuild import Rebuild
from mnemic.services.recall import Recall
from mnemic.services.reindex import Reindex
from mnemic.services.remember import Remember
from mnemic.services.reorganizing import Reorganizing
from mnemic.services.reranking import Reranking
from mnemic.services.retexting import Retexting
from mnemic.services.scoping import Scoping
from mnemic.services.syncing import Syncing
from mnemic.services.tiering import Tiering
from mnemic.version import __version__
from mnemic.wiring.access import Access, access_of
from mnemic.wiring.answers import Answers, answers_of
from mnemic.wiring.clocks import ServerClock, SystemClock
from mnemic.wiring.files import blobs_of
from mnemic.wiring.knowledge import KnowledgeParts, knowledge_of
from mnemic.wiring.media import Media, media_of
from mnemic.wiring.models import build_embedder, build_llm, build_reranker
from mnemic.wiring.watching import watch_of
from mnemic.wiring.work import Background, Chores, background_of, handlers_of

_log = logging.getLogger(__name__)

_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that an open memory is made of."""

    settings: Settings
    clock: Clock
    watch: Watch
    embedder: Embedder
    store: Store
    blobs: Blobs
    keeper: BlobKeeper
    scoping: Scoping
    remember: Remember
    attaching: Attaching
    bases: Bases
    library: Library
    syncing: Syncing
    recall: Recall
    contexts: Contexts
    answer: AnswerService
    generate: Generate
    chat: Chat
    curate: Curate
    listing: Listing
    changing: Changing
    feedback: FeedbackService
    explain: Explain
    cubes: CubeDesk
    forget: Forget
    profiles: Profiles
    profile_editing: ProfileEditing
    portability: Portability
    organize: Organize
    reorganizing: Reorganizing
    reindex: Reindex
    rebuild: Rebuild
    worker: Worker
    waiting: Waiting
    following: Following
    jobs: JobDesk
    periodic: Periodic
    queue: Queue
    language: Language | None
    accounts: Accounts
    preview: Preview
    access: Access
    settle: Callable[[], None]
    close_models: Sequence[Callable[[], None]]

    def begin(self) -> None:
        """Begin the background work, when this process is to do any."""
        self.worker.wake()
        if self.settings.worker:
            self.periodic.start()

    def close(self) -> None:
        """Close what was opened, last first, whatever fails on the way."""
        try:
            self.syncing.close()
            self.periodic.close()
            self.worker.close()
            self.settle()
            self.access.close()
        except StoreError:
            _log.exception("not_settled")  # visits are not counted; nothing that was acknowledged is lost
        finally:
            self.queue.close()
            self.store.close()
            for close in self.close_models:
                close()
            self.watch.spans.close()

    def checkup(self) -> Sequence[tuple[str, bool, str]]:
        """Look everything over: the store's parts, the queue, the background work, then the embedder."""
        found = [*self.store.check(), *self.queue.check(), *check_work(self.store, self.clock)]
        found.append(check_files(self.store, self.blobs))
        try:
            vector = self.embedder.embed(["a first and a last sentence"])[0]
            found.append(("embedder", True, f"{self.embedder.name}, {len(vector)} wide"))
        except EmbedderError as error:
            found.append(("embedder", False, str(error)))
        return found


def build(
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    llm: LanguageModel | None = None,
    clock: Clock | None = None,
    replacing: bool = False,
    guarded: bool = False,
) -> Parts:
    """Open a memory's parts; a given embedder, language model or clock takes the place of the configured one.

    Where it is `guarded`, calls for which no caller was named are refused (`mnemic.acting`). With `replacing`, a store
    whose vectors come from another embedder is opened all the same, to be reindexed.
    """
    watch = watch_of(settings)
    close_embedder = _nothing
    if embedder is None:
        embedder = build_embedder(settings)
        close_embedder = getattr(embedder, "close", _nothing)
    embedder = MeteredEmbedder(embedder, watch)
    closers = [close_embedder]
    if llm is None and (llm := build_llm(settings)) is not None:
        closers.append(llm.close)
    if (reranker := build_reranker(settings)) is not None:
        closers.append(reranker.close)
    store = SqlStore(
        settings.database_url or settings.folder,
        connections=settings.database_connections,
        comparing=Comparing(settings.vector_index, settings.vector_index_from),
        model=embedder.name,
        width=partial(getattr, embedder, "width"),
        cache_bytes=settings.cache_megabytes * _MEGABYTE,
        replacing=replacing,
    )
    metered = MeteredStore(store, watch)
    try:
        clock = clock or _clock(settings, store, closers)
        parts = _assembled(settings, metered, embedder, llm, clock, Scoping(clock, guarded=guarded), closers)
        if not replacing:
            Retexting(metered, clock).queue()
    except BaseException:
        for close in (store.close, *closers):
            close()
        raise
    if reranker is not None:
        parts.recall.reranking = Reranking(reranker, parts.clock)
    return parts


def _clock(settings: Settings, store: Store, closers: list[Callable[[], None]]) -> Clock:
    if not settings.database_url:
        return SystemClock()
    clock = ServerClock(store.time)
    closers.append(clock.close)
    return clock


@dataclass(frozen=True, slots=True)
class _Made:
    """What other parts need of the parts."""

    language: Language | None
    recall: Recall
    reorganizing: Reorganizing
    organize: Organize
    files: Files
    media: Media
    remember: Remember
    answers: Answers
    forget: Forget
    access: Access
    knowledge: KnowledgeParts
    settle: Callable[[], None]
    work: Background


def _made(
    settings: Settings,
    store: MeteredStore,
    embedder: Embedder,
    llm: LanguageModel | None,
    clock: Clock,
    scoping: Scoping,
) -> _Made:
    language = None if llm is None else _language(settings, llm, store, clock)
    recall = _recall(settings, store, embedder, clock, scoping)
    reorganizing = _reorganizing(settings, store, embedder, clock, scoping, language)
    keeper = BlobKeeper(store, blobs := blobs_of(settings), clock)
    reader = _reader(settings, store, embedder, clock, language)
    organize = _organize(settings, store, embedder, clock, recall, [each for each in (reorganizing, reader) if each])
    media = media_of(settings, store, (blobs, keeper), embedder, clock, scoping)
    settle = partial(_settle, organize, forget := Forget(store, clock, scoping, keeper))
    access = access_of(settings, store, clock, scoping)
    knowledge = knowledge_of(settings, store, embedder, clock, scoping, language, (blobs, keeper, forget))
    handlers = {
        **handlers_of(organize, reorganizing, reader),
        DESCRIBE: media.describing.work,
        INGEST: knowledge.ingesting.work,
    }
    chores = Chores(settle, access.audit.prune, keeper.settle_all)
    return _Made(
        language=language,
        recall=recall,
        reorganizing=reorganizing,
        organize=organize,
        files=Files(blobs, keeper),
        media=media,
        remember=_remember(settings, store, embedder, clock, scoping, media.attaching),
        answers=answers_of(settings, store, clock, scoping, recall, language),
        forget=forget,
        access=access,
        knowledge=knowledge,
        settle=settle,
        work=background_of(settings, store, clock, scoping, handlers, chores),
    )


def _assembled(
    settings: Settings,
    store: MeteredStore,
    embedder: Embedder,
    llm: LanguageModel | None,
    clock: Clock,
    scoping: Scoping,
    close_models: Sequence[Callable[[], None]],
) -> Parts:
    made = _made(settings, store, embedder, llm, clock, scoping)
    return Parts(
        settings=settings,
        clock=clock,
        watch=store.watch,
        embedder=embedder,
        store=store,
        blobs=made.files.blobs,
        keeper=made.files.keeper,
        scoping=scoping,
        remember=made.remember,
        attaching=made.media.attaching,
        bases=made.knowledge.bases,
        library=made.knowledge.library,
        syncing=made.knowledge.syncing,
        recall=made.recall,
        contexts=made.answers.contexts,
        answer=made.answers.extractive,
        generate=made.answers.generate,
        chat=Chat(made.answers.generate, made.remember),
        curate=Curate(store, embedder, clock, scoping),
        listing=Listing(store, scoping, zone=settings.zone),
        changing=Changing(store, embedder, clock, scoping),
        feedback=_feedback(store, embedder, clock, scoping, made.remember, made.language),
        explain=Explain(store, embedder, clock, scoping, capacity=settings.stm_pages, weights=_warmth(settings)),
        cubes=CubeDesk(store, clock, scoping),
        forget=made.forget,
        profiles=made.answers.profiles,
        profile_editing=ProfileEditing(store, embedder, clock, scoping),
        portability=Portability(store, embedder, clock, scoping, made.files, version=__version__),
        language=made.language,
        accounts=Accounts(store, clock, scoping, made.language),
        preview=_preview(settings, store, embedder, clock, scoping, made.language),
        access=made.access,
        settle=made.settle,
        close_models=(*close_models, made.media.close),
        organize=made.organize,
        reorganizing=made.reorganizing,
        rebuild=Rebuild(store, clock, scoping),
        reindex=Reindex(store, Embedding(store, embedder), Retexting(store, clock)),
        worker=made.work.worker,
        waiting=made.work.waiting,
        following=Following(Newest(store, scoping), store.bell),
        jobs=made.work.jobs,
        periodic=made.work.periodic,
        queue=made.work.queue,
    )


def _recall(settings: Settings, store: MeteredStore, embedder: Embedder, clock: Clock, scoping: Scoping) -> Recall:
    recall = Recall(store, questions_of(embedder), clock, scoping, zone=settings.zone, warmth=_warmth(settings))
    recall.meter = store.watch.meter
    recall.fusion = LEARNED if settings.ranking == "learned" else None
    return recall


def _warmth(settings: Settings) -> HeatWeights:
    return HeatWeights(tau=timedelta(hours=settings.heat_hours))


def _language(settings: Settings, llm: LanguageModel, store: MeteredStore, clock: Clock) -> Language:
    budget = Budget(settings.llm_daily_calls, settings.llm_daily_tokens)
    return Language(llm, store, clock, budget=budget, watch=store.watch)


def _remember(
    settings: Settings, store: Store, embedder: Embedder, clock: Clock, scoping: Scoping, attaching: Attaching
) -> Remember:
    gap = timedelta(hours=settings.page_gap_hours)
    return Remember(store, embedder, clock, scoping, attaching, zone=settings.zone, gap=gap)


def _reorganizing(
    settings: Settings, store: Store, embedder: Embedder, clock: Clock, scoping: Scoping, language: Language | None
) -> Reorganizing:
    every = timedelta(hours=settings.reorganize_hours)
    return Reorganizing(store, embedder, clock, scoping, language, every=every)


def _settle(organize: Organize, forget: Forget) -> None:
    """Do what waits for a quiet moment."""
    organize.settle()
    forget.settle()


def _feedback(
    store: Store, embedder: Embedder, clock: Clock, scoping: Scoping, remember: Remember, language: Language | None
) -> FeedbackService:
    reader = None
    if language is not None:
        from mnemic.services.feedback_reading import FeedbackReading  # noqa: PLC0415 - what a model needs, as above

        reader = FeedbackReading(language)
    learn = Learning(store, embedder, clock).step
    return FeedbackService(store, embedder, clock, scoping, remember, learn, reader)


def _nothing() -> None:
    """Close what needs no closing: a given embedder is its owner's to close."""


def _preview(
    settings: Settings, store: Store, embedder: Embedder, clock: Clock, scoping: Scoping, language: Language | None
) -> Preview:
    refining = None
    if language is not None:
        from mnemic.wiring.refinement import refining_of  # noqa: PLC0415 - what a model needs, only when there is one

        refining = refining_of(settings, store, embedder, clock, language)
    model = "" if language is None else language.name
    return Preview(store, embedder, clock, scoping, zone=settings.zone, refining=refining, model=model)


def _reader(
    settings: Settings, store: Store, embedder: Embedder, clock: Clock, language: Language | None
) -> Reader | None:
    if language is None or not settings.refine:
        return None
    from mnemic.wiring.refinement import reader_of  # noqa: PLC0415 - what a model needs, only when there is one

    return reader_of(settings, store, embedder, clock, language)


def _organize(
    settings: Settings,
    store: Store,
    embedder: Embedder,
    clock: Clock,
    recall: Recall,
    further: Sequence[Further],
) -> Organize:
    return Organize(
        Learning(store, embedder, clock),
        Tiering(
            store,
            clock,
            capacity=settings.stm_pages,
            quiet=settings.stm_quiet,
            threshold=settings.segment_threshold,
        ),
        Promoting(
            store,
            embedder,
            clock,
            threshold=settings.heat_threshold,
            capacity=settings.mtm_segments,
            weights=_warmth(settings),
        ),
        Embedding(store, embedder),
        Retexting(store, clock),
        recall,
        further,
    )
