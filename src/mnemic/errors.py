"""Every error that Mnemic raises on purpose, as one tree.

A message says what was wrong and what to do next; `code` is stable and travels over HTTP, MCP and the CLI; `fields`
holds the values that a program needs. Errors of other libraries are translated where they come in, cause kept.

    MnemicError
    ├── InputError            bad input: names the field; nothing was stored
    │   ├── InputFaults       several faults found in one bulk input
    │   └── TooLargeError     more was sent than is taken at once
    ├── NotFoundError         no such thing inside the caller's scope
    ├── ConflictError         the write contradicts what is already stored
    │   └── StaleError        it was to change one version, and another holds by now
    ├── AccessError           the principal lacks the role that the call needs, or the key does not reach so far
    ├── KeyRefusedError       no key, or one that is unknown, expired or revoked
    ├── RateError             the key has made as many calls as it may for now
    ├── BusyError             the server has as much to do as it takes on, or is shutting down
    ├── UnreachableError      the server did not answer: what became of a write is not known
    ├── ReadError             a file cannot be read to text: names the page where that is known
    ├── FetchError            an address was refused, or did not give what it should
    ├── StoreError            the store cannot do it: damaged, busy, disk full, closed
    │   ├── StoreVersionError the store was written by a newer Mnemic
    │   └── StoreModelError   the store's vectors come from another embedder
    ├── ModelError            a model cannot be loaded, reached or trusted
    │   ├── EmbedderError     the same, for embeddings
    │   ├── LanguageError     the same, for language models: outages, refusals, replies that cannot be read
    │   └── BudgetError       the cube's budget of model calls or tokens is spent for today
    ├── QueueError            the server that carries jobs cannot be reached; nothing is lost, the store has them
    ├── JobError              background work ended dead or was cancelled
    ├── EvaluationError       a measurement would not be true: not all that was given is in memory
    └── WaitTimeoutError      the wait ended first; the work goes on
"""

from __future__ import annotations

from collections.abc import Sequence


class MnemicError(Exception):
    """The root: catch it to catch everything that Mnemic raises on purpose."""

    code = "error"

    def __init__(self, message: str, /, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def __str__(self) -> str:
        return self.message


class InputError(MnemicError):
    """The input cannot be used. `field` names the place, such as `messages[2].content`."""

    code = "invalid_input"

    def __init__(self, field: str, message: str, /, **fields: object) -> None:
        super().__init__(f"{field}: {message}", **fields)
        self.field = field


class InputFaults(InputError):  # noqa: N818 - it is a list of faults, told as one error
    """Several faults in one bulk input; `faults` has them all, and nothing was stored."""

    code = "invalid_input"

    def __init__(self, field: str, faults: Sequence[InputError]) -> None:
        shown = "; ".join(str(fault) for fault in faults[:5])
        more = f"; and {len(faults) - 5} more" if len(faults) > 5 else ""
        super().__init__(field, f"{len(faults)} faults, nothing was stored: {shown}{more}")
        self.faults = tuple(faults)


class TooLargeError(InputError):
    """More was sent than is taken at once; nothing was stored."""

    code = "too_large"


class NotFoundError(MnemicError):
    """Nothing with this id is visible to the caller."""

    code = "not_found"


class ConflictError(MnemicError):
    """The write contradicts what is stored; nothing was changed."""

    code = "conflict"


class StaleError(ConflictError):
    """The write was to change one version of something, and another one holds by now; nothing was changed."""

    code = "stale"


class AccessError(MnemicError):
    """The caller may not do this; `fields` names the cube and the role that it needs, or what the key lacks."""

    code = "forbidden"


class KeyRefusedError(MnemicError):
    """The call came without a key, or with one that is unknown, expired or revoked. All look the same to a stranger."""

    code = "unauthenticated"


class RateError(MnemicError):
    """The key has made as many calls as it may; `fields` has `retry_after`, in seconds."""

    code = "rate_limited"


class BusyError(MnemicError):
    """The server takes on no more at this moment, or is shutting down; `fields` has `retry_after`, in seconds."""

    code = "busy"


class UnreachableError(MnemicError):
    """The server could not be reached, or did not answer in time. Whether a write was carried out is not known."""

    code = "unreachable"


class ReadError(MnemicError):
    """A file cannot be read to text. `fields` has `page`, from 1, or None."""

    code = "unreadable"

    def __init__(self, message: str, /, *, page: int | None = None, **fields: object) -> None:
        super().__init__(message, page=page, **fields)
        self.page = page


class FetchError(MnemicError):
    """An address was not fetched. `fields` has `address`, and `passing`: whether trying again later can help."""

    code = "not_fetched"

    def __init__(self, message: str, /, *, address: str, passing: bool = False, **fields: object) -> None:
        super().__init__(message, address=address, passing=passing, **fields)
        self.passing = passing


class StoreError(MnemicError):
    """The store could not do what was asked; what was acknowledged before stays."""

    code = "store_failed"


class StoreVersionError(StoreError):
    """The store was written by a newer Mnemic; it was not touched."""

    code = "store_too_new"


class StoreModelError(StoreError):
    """The store's vectors come from another embedder; run `mnemic reindex`."""

    code = "store_other_model"


class ModelError(MnemicError):
    """A model could not be loaded, reached or trusted."""

    code = "model_failed"


class EmbedderError(ModelError):
    """The embedder failed or answered with something that is not a vector for each text."""

    code = "embedder_failed"


class LanguageError(ModelError):
    """A language model could not be reached, refused, or answered with something that cannot be used.

    `fields` has `passing` (trying again later can help), `retry_after` (seconds, or None), `status` (HTTP, or None).
    """

    code = "language_model_failed"


class BudgetError(ModelError):
    """The cube has spent its budget for today; storing and searching go on, refining goes on tomorrow."""

    code = "budget_spent"


class QueueError(MnemicError):
    """The server that carries jobs to workers cannot be reached. Jobs are rows of the store: they wait there."""

    code = "queue"


class JobError(MnemicError):
    """Background work ended dead or was cancelled; the job keeps its error for reading."""

    code = "job_failed"


class WaitTimeoutError(MnemicError):
    """The wait ended before the work did; nothing is lost, the work goes on."""

    code = "wait_timeout"


class EvaluationError(MnemicError):
    """A figure would not be true, so there is none: not every turn is stored, or some without vectors."""

    code = "evaluation_failed"
