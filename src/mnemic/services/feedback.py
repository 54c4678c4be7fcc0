"""Feedback in plain language: what is meant is found, planned, and made as one change, together with the words.

A language model reads the feedback when there is one; rules read it otherwise, and when the model fails. Nothing is
held while a model answers. Memories are read again in the transaction that changes them, so that the plan is carried
out on what is there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.changing import Edit, step_of
from mnemic.core.feedback import Put, read_feedback
from mnemic.core.feedback_edits import Drafting, draft_edits
from mnemic.core.feedback_plan import NEAREST, SHOWN, Known, Plan, Shown, plan_feedback
from mnemic.core.intake import check_flag, check_text
from mnemic.core.profile import known_as
from mnemic.errors import EmbedderError, InputError, ModelError
from mnemic.ids import new_id
from mnemic.model.change import MemoryChange, Step
from mnemic.model.feedback import NOT_UNDERSTOOD, Feedback, Suggestion
from mnemic.model.index import Vector, unit
from mnemic.model.memory import Candidate, Memory, Source
from mnemic.model.scope import Cube
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.changing import make, vectors_of
from mnemic.services.indexing import indexed_text
from mnemic.services.language import NONE_CONFIGURED
from mnemic.services.nearest import nearest
from mnemic.services.paging import every_memory
from mnemic.services.remember import Prepared, Remember
from mnemic.services.scoping import Scoping
from mnemic.services.targets import writable
from mnemic.text import content_terms, terms

if TYPE_CHECKING:  # what a model needs is imported only when there is one
    from mnemic.services.feedback_reading import FeedbackReading

_log = logging.getLogger(__name__)

SESSION: Final = "feedback"
"""The session that keeps the words of feedback, unless another is named."""

KIND: Final = "feedback"
"""The kind of change that feedback makes."""

RULES: Final = "rules"
MODES: Final = ("auto", RULES, "model")
LONGEST: Final = 4_000
"""Characters of feedback at most."""

_EMPTY: Final = "say what is to change"
_INVISIBLE: Final = "\0\ufeff\u200b"
_CATCH_UP: Final = 8  # batches of unread messages that are read before feedback is


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call: the words, ready to be stored, and the message that they will be."""

    text: str
    prepared: Prepared
    speaker: str
    notes: tuple[str, ...]

    def source(self, message_id: str = "") -> Source:
        """Return the message as what new versions stand on."""
        return Source(message_id, self.text, self.prepared.filled[0][1].said_at, self.speaker, self.prepared.session)


class _UnchangedError(Exception):
    """Ends the transaction of feedback that changes nothing: its words are not stored either."""

    def __init__(self, skipped: tuple[Step, ...]) -> None:
        super().__init__()
        self.skipped = skipped


class FeedbackService:
    """The use case of `feedback`."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        clock: Clock,
        scoping: Scoping,
        remember: Remember,
        learn: Callable[[int], int],
        reader: FeedbackReading | None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._scoping = scoping
        self._remember = remember
        self._learn = learn
        self._reader = reader

    def give(
        self,
        text: object,
        *,
        user: object,
        cube: object = None,
        session: object = None,
        dry_run: object = False,
        mode: object = "auto",
    ) -> Feedback:
        """Change memories as feedback asks; see `Memory.feedback`."""
        words, planned = _words(text), check_flag(dry_run, "dry_run")
        self._check_mode(mode)
        with self._store.read() as tx:
            target = writable(self._scoping, tx, user, cube)
        notes = self._catch_up(target, dry_run=planned)
        with self._store.read() as tx:
            if target is not None:
                tx.enter(target.key)
            memories = [] if target is None else list(every_memory(tx, target.key))
        asked = self._asked(words, user, cube, session, known_as(memories, str(user)), notes)
        plan, mode_used = self._plan(asked, target, memories, str(mode))
        if not plan.intents:
            return self._unclear(asked, plan, mode_used, target, memories)
        draft = draft_edits(plan.intents, self._drafting(memories, asked.source(), target))
        edits = draft.edits()
        told = tuple(dict.fromkeys((*asked.notes, *plan.notes, *draft.notes)))
        if planned or not edits:
            steps = tuple(step_of(edit, planned=True) for edit in edits)
            skipped = tuple(draft.skipped)
            return Feedback(
                words, understood=True, applied=False, steps=steps, skipped=skipped, mode=mode_used, notes=told
            )
        return self._apply(asked, plan, edits, told, mode_used)

    def _apply(self, asked: _Asked, plan: Plan, planned: Sequence[Edit], notes: tuple[str, ...], mode: str) -> Feedback:
        vectors = vectors_of(self._embedder, planned)
        try:
            with self._store.write() as tx:
                target, done = self._carry_out(tx, asked, plan, vectors, mode)
        except _UnchangedError as unchanged:
            told = (*notes, "what it is about has changed in the meantime; nothing was changed")
            return Feedback(
                asked.text, understood=True, applied=False, steps=(), skipped=unchanged.skipped, mode=mode, notes=told
            )
        self._scoping.remember(target)
        return replace(done, notes=tuple(dict.fromkeys((*notes, *done.notes))))

    def _carry_out(
        self, tx: Transaction, asked: _Asked, plan: Plan, vectors: Mapping[str, Vector], mode: str
    ) -> tuple[Cube, Feedback]:
        """Store the words and make the change. Raises `_UnchangedError` when nothing is left to change."""
        target, added = self._remember.put(tx, asked.prepared)
        message_id = added.message_ids[0]
        memories = list(every_memory(tx, target.key))
        draft = draft_edits(plan.intents, self._drafting(memories, asked.source(message_id), target))
        change = MemoryChange(new_id(), target.key, KIND, asked.text, self._clock.now(), ())
        made = make(tx, tx.cubes.touch(target.key), draft.edits(), vectors, change, source=message_id)
        skipped = (*draft.skipped, *made.skipped)
        if made.change is None:
            raise _UnchangedError(skipped)
        if mode != RULES:  # a model has read these words already
            tx.messages.set_refined(target.key, [message_id])
        done = Feedback(
            asked.text, understood=True, applied=True, steps=made.change.steps, skipped=skipped, mode=mode,
            change=made.change.id, message=message_id, notes=added.notes,
        )  # fmt: skip
        return target, done

    def _plan(self, asked: _Asked, target: Cube | None, memories: Sequence[Memory], mode: str) -> tuple[Plan, str]:
        """Return the plan, and who has made it: a model by name, or rules."""
        by_rules = plan_feedback(asked.text, self._known(asked, target, memories))
        told: list[str] = []
        exact = isinstance(read_feedback(asked.text), Put) and by_rules.intents and mode != "model"
        if self._reader is not None and target is not None and mode != RULES and not exact:
            shown = self._shown(asked, target, memories)
            try:
                plan = self._reader.read(shown, target.key)
                if plan.intents or mode == "model":
                    return plan, self._reader.name
                told += [*plan.notes, f"{self._reader.name} found nothing to change; read by rules"]
            except ModelError as error:
                if mode == "model":
                    raise
                _log.warning("feedback_by_rules", extra={"reason": str(error)})
                told.append(f"read by rules, for the language model failed: {error}")
        notes = (*told, *by_rules.notes)
        return Plan(by_rules.intents, by_rules.nearest, notes, by_rules.understood), RULES

    def _known(self, asked: _Asked, target: Cube | None, memories: Sequence[Memory]) -> Known:
        said_at = asked.prepared.filled[0][1].said_at

        def similar(candidate: Candidate, beside: Sequence[Memory]) -> Sequence[tuple[Memory, float]]:
            return self._similar(candidate, beside, target)

        return Known(memories, asked.speaker, said_at, similar)

    def _similar(
        self, candidate: Candidate, beside: Sequence[Memory], target: Cube | None
    ) -> Sequence[tuple[Memory, float]]:
        if target is None or not beside:
            return ()
        try:
            vector: Vector = self._embedder.embed([indexed_text(candidate.attribute, candidate.text)])[0]
        except EmbedderError as error:
            _log.warning("embedding_deferred", extra={"texts": 1, "reason": str(error)})
            return ()
        with self._store.read() as tx:
            tx.enter(target.key)
            held = tx.index.vectors(target.key, [memory.id for memory in beside])
        return [(memory, float(unit(held[memory.id]) @ vector)) for memory in beside if memory.id in held]

    def _shown(self, asked: _Asked, target: Cube, memories: Sequence[Memory]) -> Shown:
        """Return what a model is shown: memories that share words with the feedback, then those closest in meaning."""
        standing = {memory.id: memory for memory in memories if memory.stands}
        chosen = dict.fromkeys(memory.id for memory in _sharing(asked.text, memories))
        chosen |= dict.fromkeys(self._closest(asked, target))
        kept = [standing[each] for each in chosen if each in standing][:SHOWN]
        return Shown(asked.text, asked.prepared.filled[0][1].said_at, asked.speaker, kept)

    def _closest(self, asked: _Asked, target: Cube) -> list[str]:
        vectors = [each for each in asked.prepared.pieces[0].vectors if each is not None]
        if not vectors:
            return []
        with self._store.read() as tx:
            tx.enter(target.key)
            return [memory_id for memory_id, _ in nearest(tx, target.key, np.array(vectors))[:SHOWN]]

    def _unclear(
        self, asked: _Asked, plan: Plan, mode: str, target: Cube | None, memories: Sequence[Memory]
    ) -> Feedback:
        held = {memory.id: memory for memory in memories if memory.stands}
        near = list(plan.nearest)
        if not near and target is not None:
            near = _sharing(asked.text, memories) or [
                held[each] for each in self._closest(asked, target) if each in held
            ]
        suggested = tuple(
            Suggestion(each.id, each.subject, each.attribute, each.current.text) for each in near[:NEAREST]
        )
        told = () if plan.understood else (NOT_UNDERSTOOD,)
        notes = tuple(dict.fromkeys((*asked.notes, *plan.notes, *told)))
        return Feedback(
            asked.text, understood=plan.understood, applied=False, steps=(), suggestions=suggested, mode=mode,
            notes=notes,
        )  # fmt: skip

    def _asked(
        self, words: str, user: object, cube: object, session: object, speaker: str, notes: tuple[str, ...]
    ) -> _Asked:
        message = {"role": "user", "name": speaker, "content": words, "metadata": {"kind": "feedback"}}
        name = SESSION if session is None else session
        prepared = self._remember.prepare([message], user=user, session=name, cube=cube)
        return _Asked(words, prepared, speaker, notes)

    def _drafting(self, memories: Sequence[Memory], source: Source, target: Cube | None) -> Drafting:
        held = {memory.id: memory for memory in memories}
        return Drafting(held, source, self._clock.now(), new_id, target.key if target is not None else 0)

    def _catch_up(self, target: Cube | None, *, dry_run: bool) -> tuple[str, ...]:
        """Read what was said and not read yet, so that feedback on it finds it; a dry run only says that it waits."""
        if target is None:
            return ()
        try:
            for _ in range(0 if dry_run else _CATCH_UP):
                if not self._learn(target.key):
                    return ()
        except EmbedderError as error:
            _log.warning("feedback_before_learning", extra={"reason": str(error)})
        with self._store.read() as tx:
            tx.enter(target.key)
            waiting = tx.messages.to_extract(target.key, 1)
        return ("some messages were not read yet; what they say is not found",) if waiting else ()

    def _check_mode(self, mode: object) -> None:
        if mode not in MODES:
            raise InputError("mode", f"{mode!r} is not known; known: {', '.join(MODES)}")
        if mode == "model" and self._reader is None:
            raise InputError("mode", NONE_CONFIGURED)


def _words(text: object) -> str:
    told = check_text(text, "text", _EMPTY)
    if not told.strip().strip(_INVISIBLE):
        raise InputError("text", f"is empty; {_EMPTY}")
    if len(told) > LONGEST:
        raise InputError("text", f"has {len(told):,} characters; feedback has {LONGEST:,} at most")
    return told


def _sharing(text: str, memories: Sequence[Memory]) -> list[Memory]:
    """Return standing memories that share words with a text, those that share most first."""
    wanted = set(content_terms(text))
    scored = [
        (len(wanted & set(terms(f"{memory.current.text} {memory.current.value}"))), memory)
        for memory in memories
        if memory.stands
    ]
    return [memory for count, memory in sorted(scored, key=lambda pair: (-pair[0], pair[1].id)) if count]
