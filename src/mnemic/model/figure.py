"""The figures that Mnemic tells of itself, in one table: name, sort, labels, unit and what it means.

Code counts by these values, `/metrics` shows them, and a test holds the table of `docs/operating.md` to this one. Names
follow Prometheus' conventions (https://prometheus.io/docs/practices/naming/): a unit at the end, `_total` for what only
grows. A label's values are few and our own words: never a user, a cube, a session, an id, or anything that was said.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final


class Sort(enum.StrEnum):
    """What can be done with a figure. A `counter` only grows; a `gauge` goes up and down; a `histogram` spreads."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """One figure; there are no two of one name. `buckets` are upper bounds of a histogram, in its unit."""

    name: str
    sort: Sort
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


MOMENTS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds of what somebody waits for."""

INSTANTS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
"""Seconds of what a part of a call takes."""

STRETCHES: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0)
"""Seconds of work in the background, and of language models."""

WAITS: Final = (0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 86_400.0)
"""Seconds in a queue."""


def _counter(name: str, told: str, *labels: str) -> Figure:
    return Figure(name, Sort.COUNTER, told, labels)


def _gauge(name: str, told: str, *labels: str) -> Figure:
    return Figure(name, Sort.GAUGE, told, labels)


def _spread(name: str, told: str, buckets: tuple[float, ...], *labels: str) -> Figure:
    return Figure(name, Sort.HISTOGRAM, told, labels, buckets)


# -- calls of the library ------------------------------------------------------------------------------------------

CALL_SECONDS: Final = _spread(
    "mnemic_call_seconds", "Seconds that a call of one of the library's verbs took (add, search, context, ask, …); "
    "outcome is ok, left (a stream that was not heard to its end), or the error's code.", MOMENTS, "verb", "outcome",
)  # fmt: skip
SEARCH_SECONDS: Final = _spread(
    "mnemic_search_part_seconds",
    "Seconds of a search's parts: view, embed, filter, words, vectors, ranking, reading, rerank.", INSTANTS, "part",
)  # fmt: skip

# -- background work -----------------------------------------------------------------------------------------------

JOBS: Final = _gauge("mnemic_jobs", "Jobs in the store, by kind and state.", "kind", "state")
OLDEST_DUE: Final = _gauge(
    "mnemic_job_oldest_due_seconds", "How long the first job of a lane has been due that nobody does; 0 when none is.",
    "lane",
)  # fmt: skip
JOBS_RUN: Final = _counter(
    "mnemic_jobs_run_total", "Jobs that this process has run; outcome is done, failed (tried again), dead, cancelled, "
    "queued (put back) or lost (another worker has it).", "kind", "outcome",
)  # fmt: skip
JOB_SECONDS: Final = _spread("mnemic_job_seconds", "Seconds that a job ran, once for each try.", STRETCHES, "kind")
QUEUE_WAIT: Final = _spread(
    "mnemic_queue_wait_seconds", "Seconds from when a job was due until it began, once for each try.", WAITS, "lane"
)
THREADS: Final = _gauge("mnemic_worker_threads", "Threads of this process that take jobs.", "lane")
BUSY: Final = _gauge("mnemic_worker_threads_busy", "Threads of this process that run a job.", "lane")
OVERDUE: Final = _gauge(
    "mnemic_periodic_overdue_seconds", "How long a piece of periodic work has been due; 0 when it is not.", "name"
)

# -- models --------------------------------------------------------------------------------------------------------

MODEL_CALLS: Final = _counter(
    "mnemic_model_calls_total", "Calls of language models; outcome is ok, left, refused (by budget or breaker, before "
    "anything was sent), or the error's code.", "purpose", "model", "outcome",
)  # fmt: skip
MODEL_TOKENS: Final = _counter(
    "mnemic_model_tokens_total", "Tokens of language models, by direction: in or out.", "purpose", "model", "direction"
)
MODEL_SECONDS: Final = _spread(
    "mnemic_model_seconds", "Seconds that a call of a language model took.", STRETCHES, "purpose", "model"
)
EMBEDDER_CALLS: Final = _counter(
    "mnemic_embedder_calls_total",
    "Calls of the embedder, for passages or questions; outcome is ok or the error's code.",
    "use", "outcome",
)  # fmt: skip
EMBEDDED: Final = _counter("mnemic_embedded_texts_total", "Texts that were embedded, by use.", "use")
EMBEDDER_SECONDS: Final = _spread(
    "mnemic_embedder_seconds", "Seconds that a call of the embedder took.", MOMENTS, "use"
)

# -- the store -----------------------------------------------------------------------------------------------------

STORE_SECONDS: Final = _spread(
    "mnemic_store_seconds", "Seconds that a transaction was open, by mode: read or write.", INSTANTS, "mode"
)
STORE_ERRORS: Final = _counter(
    "mnemic_store_errors_total", "Transactions that the store failed, by code.", "mode", "code"
)
CUBES: Final = _gauge("mnemic_cubes", "Cubes in the store.")
ENTRIES: Final = _gauge("mnemic_index_entries", "Passages in the search index; about, on PostgreSQL.")
VECTORS: Final = _gauge("mnemic_index_vectors", "Vectors in the search index; about, on PostgreSQL.")
DATABASE_BYTES: Final = _gauge("mnemic_database_bytes", "Bytes of the database.")
CACHE_BYTES: Final = _gauge(
    "mnemic_view_cache_bytes", "Bytes of vectors and their index that this process keeps in memory."
)
CACHED_CUBES: Final = _gauge("mnemic_view_cache_cubes", "Cubes of which this process keeps them in memory.")

# -- the whole -----------------------------------------------------------------------------------------------------

UP: Final = _gauge("mnemic_up", "Whether a part answers: store, queue.", "part")
INFO: Final = _gauge("mnemic_info", "Always 1: what runs.", "version", "store", "queue", "embedder")

FIGURES: Final = (
    CALL_SECONDS, SEARCH_SECONDS,
    JOBS, OLDEST_DUE, JOBS_RUN, JOB_SECONDS, QUEUE_WAIT, THREADS, BUSY, OVERDUE,
    MODEL_CALLS, MODEL_TOKENS, MODEL_SECONDS, EMBEDDER_CALLS, EMBEDDED, EMBEDDER_SECONDS,
    STORE_SECONDS, STORE_ERRORS, CUBES, ENTRIES, VECTORS, DATABASE_BYTES, CACHE_BYTES, CACHED_CUBES,
    UP, INFO,
)  # fmt: skip
"""Every figure that there is, in the order in which they are shown."""
