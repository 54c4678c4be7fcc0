"""Jobs that are watched: each runs as part of the call that caused it, is timed and counted, and says how it ended.

The worker opens `JobWatch.job` around a job from when it is taken until its end is stored.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from mnemic.model.figure import BUSY, JOB_SECONDS, JOBS_RUN, QUEUE_WAIT, THREADS
from mnemic.model.job import KINDS, Job
from mnemic.ports.spans import UNWATCHED, Watch
from mnemic.tracing import span_of, tracing

_log = logging.getLogger(__name__)

LOST: Final = "lost"
"""How a job ended here that another worker has taken over."""

_OTHER: Final = "other"


class Ending:
    """How a job ended, once that is known."""

    def __init__(self) -> None:
        self.outcome = LOST

    def stored(self, job: Job) -> None:
        """Note that this new state of the job is stored; without this call it was lost to another worker."""
        self.outcome = job.state.value


class JobWatch:
    """Watches the jobs of a worker. Threads may share it."""

    def __init__(self, watch: Watch = UNWATCHED, *, timer: Callable[[], float] = time.perf_counter) -> None:
        self._watch = watch
        self._timer = timer

    def threads(self, lane: str, more: int) -> None:
        """Say that so many threads more take jobs of a lane; less when it is negative."""
        self._watch.meter.add(THREADS, more, lane)

    @contextmanager
    def job(self, job: Job) -> Iterator[Ending]:
        """Do what the block does as this job, under the trace that it came with."""
        meter = self._watch.meter
        kind = job.kind if job.kind in KINDS else _OTHER
        waited = 0.0 if job.started_at is None else max((job.started_at - job.not_before).total_seconds(), 0.0)
        meter.observe(QUEUE_WAIT, waited, job.lane)
        meter.add(BUSY, 1, job.lane)
        ending = Ending()
        with tracing(job.trace or None, job=job.id) as trace:
            span = self._watch.spans.start(
                f"job {kind}",
                span_id=span_of(job.id) if job.attempts <= 1 else "",  # one of its tries can have the job's own
                parent=span_of(job.parent or trace.id),
                attributes={"kind": kind, "lane": job.lane, "attempt": job.attempts, "job": job.id, "waited": waited},
            )
            began = self._timer()
            try:
                with tracing(span=span.id):
                    yield ending
            finally:
                seconds = self._timer() - began
                meter.add(BUSY, -1, job.lane)
                meter.add(JOBS_RUN, 1, kind, ending.outcome)
                meter.observe(JOB_SECONDS, seconds, kind)
                span.end("ok" if ending.outcome == "done" else ending.outcome)
                told = {"kind": kind, "outcome": ending.outcome, "seconds": round(seconds, 4)}
                _log.info("job_ended", extra={**told, "attempt": job.attempts, "waited": round(waited, 3)})
