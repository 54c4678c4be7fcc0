"""A language model reads what was said: one call for a batch of messages, at most one more for pairs it left open.

No transaction is held while it answers. What it says is checked (`core.refining`) and reconciled like what rules read.
A batch is one transaction with the mark that it was read, so that a crash repeats it or does not, and never half of it.
An outage leaves everything as it is. Messages that the model answers with nonsense, while it does well on others, are
given up: they stay what rules and search make of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np

from mnemic.core.refining import Batch, Drawn, Item, Tastes, Topic, check, prompt_of, read
from mnemic.core.refining.checking import same_one
from mnemic.core.refining.fitting import fitted
from mnemic.core.refining.pairs import CLOSE, MOST, Pair, pairs_in, pairs_prompt, tied
from mnemic.core.refining.prompting import MAX_TOKENS
from mnemic.core.refining.tying import woven
from mnemic.errors import LanguageError
from mnemic.ids import new_id
from mnemic.model.index import Vector, unit
from mnemic.model.language import Reply
from mnemic.model.memory import Memory, MemoryKind, Source
from mnemic.model.message import MessageRole, StoredMessage
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.drawing import Known, mark_of, source_in
from mnemic.services.indexing import embed_texts, indexed_text, segment_entry
from mnemic.services.language import Language
from mnemic.services.nearest import nearest
from mnemic.text import estimate_tokens

_log = logging.getLogger(__name__)

PURPOSE: Final = "refine"
PAIRS_PURPOSE: Final = "reconcile"

_BEFORE: Final = 4  # messages before a batch that are shown for understanding
_KNOWN: Final = 30  # memories that are shown beside a batch
_NEAR: Final = 0.3  # cosine to a message from which a memory is shown; some are shown in any case
_ANYHOW: Final = 10
_TOPICS: Final = 6  # segments described in one call
_GROWN: Final = 1.5  # a segment is described again when it has so many times the pages
_SPLITS: Final = 8  # calls at most to find out which messages of a batch the model stumbles over
_KNOWN_SHARE: Final = 8  # of what a model takes in, one part in so many may be what is known
_TOPICS_SHARE: Final = 8  # and the topics
_LINE: Final = 40  # tokens beside the text that a message or memory takes, at most
_Shown = TypeVar("_Shown")
_READ: Final = (MessageRole.USER, MessageRole.ASSISTANT)


@dataclass(frozen=True, slots=True)
class Pace:
    """How much is read at once: messages, and tokens that the model can take in."""

    messages: int = 24
    context: int = 8_192


class Refining:
    """Lets a language model read the messages of a cube that it has not read yet."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        clock: Clock,
        language: Language,
        *,
        pace: Pace | None = None,
        tastes: Tastes | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._language = language
        self._pace = pace or Pace()
        self._tastes = tastes or Tastes()
        self._max_tokens = min(MAX_TOKENS, self._pace.context // 3)

    def step(self, cube_key: int) -> int:
        """Read one batch; return how many messages and topics were done, 0 when there is nothing left.

        When something that the model was shown is forgotten while it reads, its answer is dropped and asked for anew.
        """
        while True:
            with self._store.read() as tx:
                tx.enter(cube_key)
                waiting = tx.messages.to_refine(cube_key, self._pace.messages)
                batch = self._batch(tx, cube_key, waiting)
            if not waiting and not batch.topics:
                return 0
            batch = self._fitted(batch)
            drawn, given_up = self._drawn(cube_key, batch) if batch.messages or batch.topics else (Drawn(), [])
            drawn = self._with_pairs(cube_key, batch, drawn)
            if self._write(cube_key, batch, waiting, drawn, given_up):
                silent = {each.id for each in waiting if not _is_read(each)}
                return len(silent.union(message.id for message in batch.messages)) + len(batch.topics)
            _log.info("read_anew", extra={"messages": len(batch.messages)})

    def draft(self, cube_key: int, messages: Sequence[StoredMessage], *, payer: int) -> Drawn:
        """Return what would be drawn from messages; nothing is written but the calls in the payer's books."""
        with self._store.read() as tx:
            tx.enter(cube_key)
            known = self._beside(tx, cube_key, messages)
        left = tuple(message for message in messages if _is_read(message))
        drawn = Drawn()
        while left:
            batch = self._fitted(Batch(left[: self._pace.messages], known=known, tastes=self._tastes))
            drawn = _joined(drawn, self._asked(payer, batch))
            left = left[len(batch.messages) :]
        return drawn

    def _batch(self, tx: Transaction, cube_key: int, waiting: Sequence[StoredMessage]) -> Batch:
        messages = [message for message in waiting if _is_read(message)]
        before: Sequence[StoredMessage] = ()
        if messages:
            first = messages[0]
            places = list(range(max(0, first.position - _BEFORE), first.position))
            before = [each for each in tx.messages.around(cube_key, first.session_id, places) if _is_read(each)]
        return Batch(
            messages=tuple(messages),
            before=tuple(before),
            known=self._beside(tx, cube_key, messages) if messages else (),
            topics=tuple(self._topics(tx, cube_key)),
            tastes=self._tastes,
        )

    def _fitted(self, batch: Batch) -> Batch:
        """Return what of a batch fits into the model's context. Raises `LanguageError` when nothing does."""
        found = fitted(batch, context=self._pace.context, max_tokens=self._max_tokens)
        if found is None:
            raise LanguageError(
                f"a context of {self._pace.context:,} tokens (llm_context) is too small to read messages with; raise "
                "it, or set refine = false to have the model answer only",
                passing=False, retry_after=None, status=None, model=self._language.name,
            )  # fmt: skip
        return found

    def _beside(self, tx: Transaction, cube_key: int, messages: Sequence[StoredMessage]) -> tuple[Memory, ...]:
        """Return what is known beside messages: memories that stand on them, then those closest in meaning."""
        ids = [message.id for message in messages]
        chosen = dict.fromkeys(tx.memories.of_messages(cube_key, ids))
        held = tx.index.vectors(cube_key, ids)
        if held:
            for memory_id, cosine in nearest(tx, cube_key, np.array(list(held.values()))):
                if len(chosen) >= (_KNOWN if cosine >= _NEAR else _ANYHOW):
                    break
                chosen[memory_id] = None
        found = tx.memories.get(cube_key, list(chosen)[:_KNOWN])
        known = [found[each] for each in chosen if each in found and _is_told(found[each])]
        return tuple(_within(self._pace.context // _KNOWN_SHARE, known, lambda memory: memory.current.text))

    def _topics(self, tx: Transaction, cube_key: int) -> list[Topic]:
        """Return segments of more than one page that were not described since they grew, the newest first."""
        due = [
            segment
            for segment, _ in tx.segments.list(cube_key)
            if segment.pages > 1 and segment.pages >= _GROWN * segment.described
        ]
        due = sorted(due, key=lambda segment: (segment.ended_at, segment.id), reverse=True)[:_TOPICS]
        topics = []
        for segment in due:
            pages = tx.pages.of_segment(cube_key, segment.id, newest=3)
            said = tx.pages.messages(cube_key, [page.id for page in pages])
            newest = [message for page in pages for message in said[page.id]][-6:]
            topics.append(Topic(segment, tuple(newest)))
        shown = _within(
            self._pace.context // _TOPICS_SHARE,
            topics,
            lambda topic: "".join(each.text[:160] for each in topic.messages),
        )
        return shown or topics[:1]

    def _drawn(self, cube_key: int, batch: Batch) -> tuple[Drawn, list[str]]:
        """Return what the model draws, and the messages that it stumbles over while it reads others."""
        queue: list[Batch] = [batch]
        drawn = Drawn()
        stumbled: list[str] = []
        read_any = False
        calls = 0
        while queue:
            part = queue.pop(0)
            calls += 1
            try:
                drawn = _joined(drawn, self._asked(cube_key, part))
                read_any = True
            except _UnreadableError as error:
                if len(part.messages) + bool(part.topics) > 1 and calls < _SPLITS:
                    queue = [*_halves(part), *queue]
                    continue
                stumbled += [message.id for message in part.messages]
                if not read_any and not queue:
                    raise LanguageError(str(error), **error.fields) from error
        if stumbled:
            _log.warning("messages_given_up", extra={"messages": len(stumbled)})
        return drawn, stumbled

    def _asked(self, cube_key: int, batch: Batch) -> Drawn:
        prompt = prompt_of(batch, max_tokens=self._max_tokens)
        reply = self._language.complete(prompt, purpose=PURPOSE, cube_key=cube_key)
        try:
            answered = read(reply)
        except LanguageError as error:
            raise _UnreadableError(str(error), **error.fields) from error
        drawn = check(answered, batch, drawn_by=reply.model or self._language.name)
        _log.info(
            "batch_read",
            extra={"messages": len(batch.messages), "items": len(drawn.items), "void": len(drawn.void)},
        )
        for void in drawn.void:
            _log.debug("item_void", extra={"said": void.said, "reason": void.reason})
        return drawn

    def _with_pairs(self, cube_key: int, batch: Batch, drawn: Drawn) -> Drawn:
        """Return what was drawn with the ties that a further call tells; without them when the call fails."""
        fresh = [place for place, item in enumerate(drawn.items) if item.tie == "new"]
        if not fresh:
            return drawn
        vectors = embed_texts(self._embedder, (_text(item) for item in drawn.items))
        with self._store.read() as tx:
            tx.enter(cube_key)
            pairs = self._close(tx, cube_key, batch, [(place, drawn.items[place]) for place in fresh], vectors)
        pairs = list(pairs_in(pairs, self._pace.context))
        if not pairs:
            return drawn
        try:
            reply: Reply = self._language.complete(pairs_prompt(pairs), purpose=PAIRS_PURPOSE, cube_key=cube_key)
            return replace(drawn, items=tuple(tied(drawn.items, pairs, reply)))
        except LanguageError as error:
            _log.warning("pairs_left_open", extra={"pairs": len(pairs), "reason": str(error)})
            return drawn

    def _close(
        self,
        tx: Transaction,
        cube_key: int,
        batch: Batch,
        fresh: Sequence[tuple[int, Item]],
        vectors: Mapping[str, Vector],
    ) -> list[Pair]:
        """Return the pairs of a new statement and a memory close to it that the model was not shown together."""
        shown = {memory.id for memory in batch.known}
        found: list[tuple[float, int, Item, str]] = []
        for place, item in fresh:
            for memory_id, cosine in nearest(tx, cube_key, vectors[_text(item)][np.newaxis])[:3]:
                if cosine >= CLOSE and memory_id not in shown:
                    found.append((cosine, place, item, memory_id))
        best = sorted(found, key=lambda each: (-each[0], each[1]))[:MOST]
        held = tx.memories.get(cube_key, [memory_id for *_, memory_id in best])
        return [
            Pair(place, item, held[memory_id], cosine)
            for cosine, place, item, memory_id in best
            if memory_id in held and _is_open(held[memory_id], item)
        ]

    def _write(
        self,
        cube_key: int,
        batch: Batch,
        waiting: Sequence[StoredMessage],
        drawn: Drawn,
        given_up: Sequence[str],
    ) -> bool:
        """Store what was drawn; False, and nothing is stored, when something that was shown has been forgotten.

        Messages that somebody else has read in the meantime are left as they are.
        """
        vectors = embed_texts(self._embedder, (_text(item) for item in drawn.items))
        now = self._clock.now()
        with self._store.write() as tx:
            tx.enter(cube_key)
            revision = tx.cubes.touch(cube_key)
            if _is_forgotten(tx, cube_key, batch):
                return False
            unread = {message.id for message in tx.messages.to_refine(cube_key, self._pace.messages)}
            known = Known(tx, cube_key, now)
            forgotten = tx.memories.disowned(cube_key, [mark_of(item.message, item.candidate) for item in drawn.items])
            for item in drawn.items:
                if item.message.id in unread and mark_of(item.message, item.candidate) not in forgotten:
                    _learn(tx, known, item, vectors[_text(item)])
            known.store(self._embedder, revision, vectors)
            for mention in drawn.mentions:
                tx.entities.note(cube_key, mention.name, mention.kind, mention.messages, entity_id=new_id(), at=now)
            _describe(tx, cube_key, revision, batch, drawn)
            silent = {message.id for message in waiting if not _is_read(message)}
            lost = unread.intersection(given_up)
            tx.messages.set_refined(cube_key, [*{message.id for message in batch.messages} - lost, *silent])
            tx.messages.set_refined(cube_key, sorted(lost), given_up=True)
        return True


class _UnreadableError(LanguageError):
    """A reply that is not what was asked for, while the model itself can be reached."""


def _is_read(message: StoredMessage) -> bool:
    return message.role in _READ and bool(message.text.strip())


def _is_forgotten(tx: Transaction, cube_key: int, batch: Batch) -> bool:
    """Tell whether something that a batch shows is gone: no word of it may come back by way of the model."""
    told = (message for topic in batch.topics for message in topic.messages)
    shown = {message.id for message in (*batch.messages, *batch.before, *told)}
    known = {memory.id for memory in batch.known}
    return len(tx.messages.get(cube_key, list(shown))) < len(shown) or len(
        tx.memories.get(cube_key, list(known))
    ) < len(known)


def _within(tokens: int, items: Sequence[_Shown], text: Callable[[_Shown], str]) -> list[_Shown]:
    """Return the first items, as many as are shown within so many tokens."""
    found: list[_Shown] = []
    for item in items:
        tokens -= estimate_tokens(text(item)) + _LINE
        if tokens < 0:
            break
        found.append(item)
    return found


def _text(item: Item) -> str:
    return indexed_text(item.candidate.attribute, item.candidate.text)


def _halves(batch: Batch) -> tuple[Batch, Batch]:
    """Return a batch as two: without its topics and these alone, or each half of its messages.

    Neither is shown the other's messages, for it may be one of these that the model stumbles over.
    """
    if batch.topics:
        return replace(batch, topics=()), replace(batch, messages=(), before=())
    middle = len(batch.messages) // 2
    first, second = batch.messages[:middle], batch.messages[middle:]
    return replace(batch, messages=first), replace(batch, messages=second, before=())


def _joined(first: Drawn, second: Drawn) -> Drawn:
    return Drawn(
        (*first.items, *second.items),
        (*first.mentions, *second.mentions),
        (*first.topics, *second.topics),
        (*first.void, *second.void),
    )


def _is_open(memory: Memory, item: Item) -> bool:
    """Tell whether rules leave open how a statement stands to a memory of the same person: both are about many things,
    or about others.
    """
    if not same_one(memory.subject, item.candidate.subject):  # what one says ends nothing of another's
        return False
    same = memory.attribute == item.candidate.attribute
    return memory.kind is not MemoryKind.INSIGHT and not (same and item.candidate.single)


def _learn(tx: Transaction, known: Known, item: Item, vector: Vector) -> None:
    tied_to = None if item.known is None else known.current(item.known)
    item = replace(item, known=tied_to)
    cosine = 0.0
    if tied_to is not None:
        held = tx.index.vectors(item.message.cube_key, [tied_to.id]).get(tied_to.id)
        cosine = 0.0 if held is None else float(unit(held) @ unit(vector))
    for candidate, against in woven(item, cosine):
        memory = known.learn(item.message, candidate, vector, against=against)
        if memory is None:
            continue
        further = [source_in(message, quote) for message, quote in item.further]
        if further:
            known.take(_supported(memory, item.message.id, further))


def _supported(memory: Memory, message_id: str, further: Sequence[Source]) -> Memory:
    """Return a memory with further sources beside the one that a message gave it."""
    versions = []
    for version in memory.versions:
        own = next((source for source in version.sources if source.message_id == message_id), None)
        held = {source.message_id for source in version.sources}
        more = [
            replace(source, holds_from=own.holds_from, holds_to=own.holds_to)
            for source in further
            if own is not None and source.message_id not in held
        ]
        versions.append(replace(version, sources=(*version.sources, *more)) if more else version)
    return replace(memory, versions=tuple(versions))


def _describe(tx: Transaction, cube_key: int, revision: int, batch: Batch, drawn: Drawn) -> None:
    """Give segments what the model said of them; those that it left out count as described, for it was asked."""
    notes = {note.segment_id: note for note in drawn.topics}
    held = tx.segments.get(cube_key, [topic.segment.id for topic in batch.topics])
    for topic in batch.topics:
        if topic.segment.id not in held:
            continue
        segment, centroid = held[topic.segment.id]
        note = notes.get(segment.id)
        described = replace(segment, described=topic.segment.pages)
        if note is not None:
            keywords = note.keywords or segment.keywords
            described = replace(described, title=note.title, summary=note.summary, keywords=keywords)
        tx.segments.put(described, centroid)
        if note is not None:
            tx.index.remove(cube_key, [segment.id])
            tx.index.add(cube_key, revision, [segment_entry(described, centroid, live=not segment.archived)])


def _is_told(memory: Memory) -> bool:
    """Tell whether a model is shown a memory: not a summary of a topic, and not what was taken back."""
    return memory.stands and memory.kind is not MemoryKind.INSIGHT
