"""What every reader of other people's files returns: batches of messages by session, and notes on what it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.model.message import Message

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Batch:
    """The messages of one session in their order, ready for `Memory.add`. `title` is what the file calls it."""

    session: str
    messages: tuple[Message, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file holds. Batches are in order of time; `notes` tell what was left out or assumed."""

    format: str
    batches: tuple[Batch, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)

    @property
    def messages(self) -> int:
        """How many messages there are in all batches."""
        return sum(len(batch.messages) for batch in self.batches)


def reading(kind: str, batches: Sequence[Batch], notes: Sequence[str] = ()) -> Reading:
    """Return batches as a reading: those without messages left out, the others in order of time."""
    return Reading(kind, tuple(sorted((batch for batch in batches if batch.messages), key=_begin)), tuple(notes))


def as_list(data: object, field: str) -> Sequence[Any]:
    """Return a list as it is. Raises `InputError` for anything else."""
    if not isinstance(data, list | tuple):
        raise InputError(field, f"needs a list, got {type(data).__name__}")
    return data


def as_object(data: object, field: str) -> Mapping[str, Any]:
    """Return an object as it is. Raises `InputError` for anything else."""
    if not isinstance(data, Mapping):
        raise InputError(field, f"needs an object, got {type(data).__name__}")
    return data


def _begin(batch: Batch) -> tuple[bool, datetime]:
    """Return when a batch begins; those that do not say so come last, in their order."""
    at = batch.messages[0].at
    try:
        moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    except ValueError:
        moment = None
    if isinstance(moment, int | float):
        return (False, datetime.fromtimestamp(moment, UTC))
    if moment is None:
        return (True, _EPOCH)
    return (False, moment if moment.tzinfo else moment.replace(tzinfo=UTC))
