"""A dry run of extraction: what rules and the language model would draw from messages, and what it would change.

Nothing is stored but the model's call in the books.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Final

from mnemic.core import reconcile
from mnemic.core.intake import Incoming, check_id, read_messages
from mnemic.core.wording import stems_key
from mnemic.errors import ModelError
from mnemic.model.extraction import Extracted, Extraction, Unbelieved
from mnemic.model.memory import Candidate
from mnemic.model.message import StoredMessage
from mnemic.model.scope import Cube, Role
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.drawing import Known
from mnemic.services.indexing import embed_texts, indexed_text
from mnemic.services.learning import statements_of
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable

if TYPE_CHECKING:  # what a model needs is imported only when there is one
    from mnemic.core.refining import Drawn
    from mnemic.services.refining import Refining

RULES: Final = "rules"

_CHANGES: Final = {
    reconcile.Add: "new",
    reconcile.Reinforce: "repeats",
    reconcile.Refine: "refines",
    reconcile.Supersede: "replaces",
    reconcile.Contradicts: "contradicts",
    reconcile.Skip: "nothing",
}


class Preview:
    """The use case of `extract`."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        clock: Clock,
        scoping: Scoping,
        *,
        zone: tzinfo,
        refining: Refining | None = None,
        model: str = "",
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._scoping = scoping
        self._zone = zone
        self._refining = refining
        self._model = model

    def extract(self, messages: object, *, user: object, agent: object = None, cube: object = None) -> Extraction:
        """Return what would be drawn from messages; see `Memory.extract`."""
        principal = check_id(user, "user")
        assistant = None if agent is None else check_id(agent, "agent")
        incoming = read_messages(messages, user=principal, agent=assistant, now=self._clock.now(), zone=self._zone)
        stored = [_as_stored(place, message) for place, message in enumerate(incoming)]
        found = [(message, each) for message in stored for each in statements_of(message, _before(stored, message))]
        drawn: Drawn | None = None
        notes: tuple[str, ...] = ()
        if self._refining is not None and stored:
            try:
                reads, payer = self._cubes(principal, cube)
                drawn = self._refining.draft(reads, stored, payer=payer)
            except ModelError as error:
                notes = (f"read by rules only, for the language model failed: {error}",)
        if drawn is not None:
            found += [(item.message, item.candidate) for item in drawn.items]
        with self._store.read() as tx:
            items = tuple(self._planned(tx, readable(self._scoping, tx, principal, cube), found))
        if drawn is None:
            return Extraction(items, notes=notes)
        return Extraction(
            items,
            entities=tuple((mention.name, mention.kind) for mention in drawn.mentions),
            unbelieved=tuple(Unbelieved(void.said, void.reason) for void in drawn.void),
            mode=self._model,
        )

    def _cubes(self, user: str, cube: object) -> tuple[int, int]:
        """Return the cube that is read, and the one that the model's call is accounted to: the same for who may write.

        Else it is the user's own, which is made when there is none.
        """
        named = None if cube is None else check_id(cube, "cube")
        with self._store.read() as tx:
            scope = self._scoping.for_read(tx, user, named)
        if scope.cubes and scope.roles[0].covers(Role.EDITOR):
            return scope.keys[0], scope.keys[0]
        with self._store.write() as tx:
            own = self._scoping.for_costs(tx, user)
        self._scoping.remember(own)
        return (scope.keys or (own.key,))[0], own.key

    def _planned(
        self, tx: Transaction, cube: Cube | None, found: Sequence[tuple[StoredMessage, Candidate]]
    ) -> Iterator[Extracted]:
        vectors = embed_texts(self._embedder, (indexed_text(each.attribute, each.text) for _, each in found))
        known = None if cube is None else Known(tx, cube.key, self._clock.now())
        told: dict[tuple[str, str, int, str], str] = {}
        for message, candidate in found:
            change, beside = "new", ""
            if known is not None:
                plan = known.plan(candidate, vectors[indexed_text(candidate.attribute, candidate.text)])
                change = _CHANGES[type(plan)]
                beside = "" if isinstance(plan, reconcile.Add) else known.text_of(plan.memory_id)
            same = (candidate.subject.casefold(), candidate.attribute, candidate.polarity, stems_key(candidate.value))
            if change == "new" and same in told:  # rules and the model read the same words
                change, beside = "repeats", told[same]
            told.setdefault(same, candidate.text)
            yield Extracted(
                message=message.position,
                kind=candidate.kind,
                subject=candidate.subject,
                attribute=candidate.attribute,
                value=candidate.value,
                text=candidate.text,
                polarity=candidate.polarity,
                valid_from=candidate.valid_from,
                valid_to=candidate.valid_to,
                confidence=candidate.confidence,
                quote=candidate.quote,
                change=change,
                beside=beside,
                drawn_by=candidate.drawn_by,
                reason=candidate.reason,
            )


def _as_stored(place: int, message: Incoming) -> StoredMessage:
    return StoredMessage(
        id=f"draft-{place}",
        cube_key=0,
        session_id="draft",
        session="draft",
        page_id=None,
        position=place,
        role=message.role,
        speaker=message.speaker,
        content=message.content,
        text=message.text,
        said_at=message.said_at,
        stored_at=message.said_at,
        metadata=message.metadata,
    )


def _before(stored: Iterable[StoredMessage], message: StoredMessage) -> StoredMessage | None:
    return next((each for each in stored if each.position == message.position - 1), None)
