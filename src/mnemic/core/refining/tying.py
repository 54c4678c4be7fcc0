"""What a tie to something known makes of a statement, so that reconciling by rules does what the model saw.

The model tells that two statements are about the same thing; which of them holds when is still decided by event time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mnemic.core.grounding import shares_a_word
from mnemic.core.refining.batch import Item
from mnemic.core.wording import says_more, stems_key
from mnemic.model.memory import Candidate, Memory

NEAR: Final = 0.5
"""Cosine below which two statements that share no word are not about the same thing, whatever the model says."""


def woven(item: Item, cosine: float) -> Sequence[tuple[Candidate, Memory | None]]:
    """Return the statements that an item comes to, each with the memory that it contradicts (None: none).

    `cosine` is that of its statement to what it is tied to.
    """
    candidate, known = item.candidate, item.known
    if known is None or item.tie == "new" or known.locked:
        return [(candidate, None)]
    current = known.current
    if cosine < NEAR and not shares_a_word(candidate.value, [current.text, current.value]):
        return [(candidate, None)]
    there = replace(
        candidate,
        subject=known.subject,
        attribute=known.attribute,
        kind=known.kind,
        single=not known.value_key and candidate.attribute == known.attribute and candidate.single,
    )
    match item.tie:
        case "same" if candidate.polarity == current.polarity:
            return [(_repeating(there, known), None)]
        case "more" if candidate.polarity == current.polarity and says_more(candidate.value, current.value):
            return [(there, None)]
        case "ends":
            return [(_ending(there, known), None)]
        case "replaces" if candidate.single and candidate.attribute == known.attribute:
            return [(candidate, None)]
        case "replaces" if current.polarity > 0 and candidate.valid_from > current.valid_from:
            if stems_key(candidate.value) == stems_key(current.value) and candidate.time is not None:
                return [(_at_its_time(there), None)]
            return [(_ending(there, known), None), (candidate, None)]
        case "conflicts" if stems_key(candidate.value) != stems_key(current.value):
            return [(candidate, known)]
        case _:
            return [(candidate, None)]


def _repeating(candidate: Candidate, known: Memory) -> Candidate:
    """Return the known statement with this one's evidence."""
    current = known.current
    return replace(candidate, value=current.value, text=current.text, polarity=current.polarity, single=_single(known))


def _ending(candidate: Candidate, known: Memory) -> Candidate:
    """Return the denial of the known statement, with this one's words and evidence, from its time on.

    The time itself is left out: what was called off on a day does not come back the day after.
    """
    return replace(candidate, value=known.current.value, polarity=-1, single=_single(known), time=None, valid_to=None)


def _at_its_time(candidate: Candidate) -> Candidate:
    """Return a statement whose value tells its time, for the same thing at another time is told apart by that alone."""
    time = candidate.time
    return candidate if time is None else replace(candidate, value=f"{candidate.value} ({time.label()})")


def _single(memory: Memory) -> bool:
    """Tell whether a memory holds one value at a time: those that do are told apart by nothing."""
    return not memory.value_key
