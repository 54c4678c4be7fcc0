"""Contexts for prompts: hits with the turns around them, packed into a budget of tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, Unpack

from mnemic.core.intake import check_tokens
from mnemic.core.packing import Line, pack
from mnemic.model.index import CHUNK
from mnemic.model.message import StoredMessage
from mnemic.model.query import Context, Hit, Results, SearchOptions
from mnemic.model.scope import Cube
from mnemic.ports.store import Store, Transaction
from mnemic.services.attached import attachments_of
from mnemic.services.hits import message_hit, with_notes
from mnemic.services.passages import around, passage_hit, passages_of
from mnemic.services.recall import Recall
from mnemic.services.scoping import Scoping
from mnemic.text import Trait, content_terms, traits_of

BESIDE: Final = 0.1
"""What the turn before or after a hit is worth, as a share of the hit's score."""

ANSWERING: Final = 0.5
"""The same when one of the two asks and the other answers: they travel together."""

READ_ON: Final = 0.3
"""What the passage before or behind a passage of a document is worth: documents are read on."""

_TOKENS_A_HIT = 25  # about what a turn takes, to know how many hits can fit
_EXPANDED = 12  # hits whose neighbours are looked at


class Contexts:
    """The use case of `context`."""

    def __init__(self, store: Store, recall: Recall, scoping: Scoping) -> None:
        self._store = store
        self._recall = recall
        self._scoping = scoping

    def context(
        self,
        query: object,
        *,
        user: object,
        budget: object = 2_000,
        without: Collection[str] = (),
        **options: Unpack[SearchOptions],
    ) -> Context:
        """Return what a prompt needs, without the messages of these ids; see `Memory.context`."""
        tokens = check_tokens(budget, "budget")
        options.setdefault("limit", min(100, 10 + tokens // _TOKENS_A_HIT))
        results = self._recall.search(query, user=user, **options)
        if options.get("as_of") is not None or options.get("where") is not None:
            return _packed(results, [], tokens, without)  # what lies around a hit may lie outside of these
        with self._store.read() as tx:
            scope = self._scoping.for_read(tx, user, options.get("cubes"), bound=True)
            beside = [hit for cube in scope.cubes for hit in with_notes(tx, cube, _around(tx, cube, results), None)]
            stems = frozenset(content_terms(str(query)))
            beside += [hit for cube in scope.cubes for hit in _read_on(tx, cube, results, stems)]
        return _packed(results, beside, tokens, without)


def _packed(results: Results, beside: Sequence[Hit], budget: int, without: Collection[str]) -> Context:
    lines = [line for line in _lines(results, beside) if not rests_on(line.hit, without)]
    return replace(pack(lines, budget), notes=results.notes)


def rests_on(hit: Hit, messages: Collection[str]) -> bool:
    """Tell whether a hit is one of these messages, or stands on nothing else."""
    return bool(messages) and (
        hit.id in messages or (bool(hit.sources) and all(source.message_id in messages for source in hit.sources))
    )


def _lines(results: Results, beside: Sequence[Hit]) -> list[Line]:
    found = {hit.id for hit in results}
    lines = [Line(hit, hit.score, _order(hit)) for hit in results]
    best: dict[str, Hit] = {}
    for hit in beside:
        if hit.id not in found and hit.score > (best[hit.id].score if hit.id in best else 0):
            best[hit.id] = hit
    return lines + [Line(hit, hit.score, _order(hit)) for hit in best.values()]


def _around(tx: Transaction, cube: Cube, results: Results) -> list[Hit]:
    """Return the turns before and after the best messages, worth a share of what these are worth."""
    best = [hit for hit in results if hit.kind == "message" and hit.cube == cube.id][:_EXPANDED]
    stored = tx.messages.get(cube.key, [hit.id for hit in best])
    beside: list[Hit] = []
    near: dict[str, StoredMessage] = {}
    for hit in best:
        message = stored.get(hit.id)
        if message is None:
            continue
        positions = [message.position - 1, message.position + 1]
        neighbours: Sequence[StoredMessage] = tx.messages.around(cube.key, message.session_id, positions)
        for neighbour in neighbours:
            asking = min(message, neighbour, key=lambda turn: turn.position)
            share = ANSWERING if traits_of(asking.text) & Trait.ASKS else BESIDE
            beside.append(message_hit(neighbour, cube, hit.score * share))
            near[neighbour.id] = neighbour
    attached = attachments_of(tx, cube.key, near.values())
    return [replace(hit, attachments=attached[hit.id]) if hit.id in attached else hit for hit in beside]


def _read_on(tx: Transaction, cube: Cube, results: Results, stems: frozenset[str]) -> list[Hit]:
    """Return the passages before and behind the best passages of documents, worth a share of what these are worth."""
    best = [hit for hit in results if hit.kind == CHUNK and hit.cube == cube.id][:_EXPANDED]
    found = passages_of(tx, cube, [hit.id for hit in best], None)
    return [
        passage_hit(beside, cube, hit.score * READ_ON, stems)
        for hit in best
        if hit.id in found
        for beside in around(tx, cube, found[hit.id], (-1, 1))
    ]


def _order(hit: Hit) -> tuple[object, ...]:
    if hit.locator is not None:  # passages in reading order
        return (hit.said_at, True, hit.locator.document, hit.locator.version, int(hit.metadata["position"]))
    return (hit.said_at, hit.kind != "message", hit.id)
