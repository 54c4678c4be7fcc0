"""The figures of a memory as Prometheus reads them (text format), with those that the store has looked up at that time.

The package prometheus-client (extra `[metrics]`) writes the format, in a registry of this memory's own: two memories in
one process share nothing. Looking up must not become a load: what took a second is not looked up again for a hundred.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from mnemic.errors import InputError, MnemicError
from mnemic.model import figure as f
from mnemic.model.figure import Figure, Sort
from mnemic.model.job import LANES, WAITING
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.runtime.metrics import Kept, Labels
from mnemic.runtime.readiness import Readiness

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric

T = TypeVar("T")

_log = logging.getLogger(__name__)

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_SHARE: Final = 100  # of the time, one part may be spent on looking up
_LEAST: Final = 1.0  # seconds that a look is good for
_PATIENCE: Final = 2.0  # seconds for each part to answer: who scrapes waits ten by default

Values = Mapping[Figure, Mapping[Labels, float]]


@dataclass(frozen=True, slots=True)
class Sources:
    """Where figures come from. `info` are the values of the labels of `mnemic_info`."""

    kept: Kept
    store: Store
    clock: Clock
    readiness: Readiness
    info: Sequence[str]


class Exposition:
    """Shows the figures of one memory. Threads may share it."""

    def __init__(self, sources: Sources, *, timer: Callable[[], float] = time.monotonic) -> None:
        self._kept = sources.kept
        self._info = tuple(sources.info)
        self._up = _Look(lambda: _up(sources.readiness), timer)
        self._looks: tuple[_Look[Values], ...] = (
            _Look(lambda: _work(sources.store, sources.clock), timer),
            _Look(lambda: _sizes(sources.store), timer),
        )
        self._lock = threading.Lock()
        self._registry: CollectorRegistry | None = None

    def text(self) -> str:
        """Return all figures. Raises `InputError` when the package that writes them is missing."""
        try:
            from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415 - a quarter of a second
        except ImportError as error:
            raise InputError("metrics", "need the package prometheus-client: pip install 'mnemic[metrics]'") from error
        with self._lock:
            if self._registry is None:
                self._registry = _registry(CollectorRegistry(), self)
        return generate_latest(self._registry).decode("utf-8")

    def collect(self) -> Iterator[Metric]:
        """Yield the figures as Prometheus' client has them."""
        looked: dict[Figure, Mapping[Labels, float]] = {f.INFO: {self._info: 1.0}}
        looked |= self._up.found() or {}
        if looked.get(f.UP, {}).get(("store",)):  # what does not answer is not asked for more
            for look in self._looks:
                looked |= look.found() or {}
        for figure in f.FIGURES:
            if figure.sort is Sort.HISTOGRAM:
                yield _histogram(figure, self._kept)
            else:
                yield _numbers(figure, {**self._kept.numbers(figure), **looked.get(figure, {})})


class _Look(Generic[T]):
    """Something that is looked up when it is asked for, but not too often; None while it cannot be."""

    def __init__(self, look: Callable[[], T], timer: Callable[[], float]) -> None:
        self._look = look
        self._timer = timer
        self._lock = threading.Lock()
        self._found: T | None = None
        self._good_until = float("-inf")

    def found(self) -> T | None:
        """Return what was found, now or a while ago."""
        with self._lock:
            began = self._timer()
            if began < self._good_until:
                return self._found
            try:
                self._found = self._look()
            except MnemicError as error:
                self._found = None
                _log.warning("figures_missing", extra={"reason": str(error)})
            ended = self._timer()
            self._good_until = ended + max(_LEAST, (ended - began) * _SHARE)
            return self._found


def _registry(registry: CollectorRegistry, exposition: Exposition) -> CollectorRegistry:
    from prometheus_client import ProcessCollector  # noqa: PLC0415 - see above

    registry.register(exposition)
    ProcessCollector(registry=registry)
    return registry


def _up(readiness: Readiness) -> Values:
    return {f.UP: {(part,): float(not wrong) for part, wrong in readiness.look(_PATIENCE).items()}}


def _work(store: Store, clock: Clock) -> Values:
    """Return what there is to do, how long it has been due, and which periodic work is late."""
    with store.read() as tx:
        tx.enter_all()
        counts = tx.turns.counts()
        leaders = tx.turns.leaders()
    now = clock.now()
    jobs: dict[Labels, float] = {}
    oldest: dict[Labels, float] = {(lane,): 0.0 for lane in LANES}
    for each in counts:
        jobs[each.kind, each.state.value] = jobs.get((each.kind, each.state.value), 0.0) + each.count
        if each.state in WAITING and each.oldest_due is not None:
            age = _since(each.oldest_due, now)
            oldest[each.lane,] = max(oldest.get((each.lane,), 0.0), age)
    overdue: dict[Labels, float] = {(name,): _since(due, now) for name, (_, due, _) in leaders.items()}
    return {f.JOBS: jobs, f.OLDEST_DUE: oldest, f.OVERDUE: overdue}


def _since(due: datetime | None, now: datetime) -> float:
    return 0.0 if due is None else max((now - due).total_seconds(), 0.0)


def _sizes(store: Store) -> Values:
    sizes = store.sizes()
    found = {
        f.CUBES: sizes.cubes,
        f.ENTRIES: sizes.entries,
        f.VECTORS: sizes.vectors,
        f.DATABASE_BYTES: sizes.database_bytes,
        f.CACHE_BYTES: sizes.cache_bytes,
        f.CACHED_CUBES: sizes.cached_cubes,
    }
    return {figure: {(): float(value)} for figure, value in found.items()}


def _numbers(figure: Figure, values: Mapping[Labels, float]) -> Metric:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415 - see above

    family: Any = CounterMetricFamily if figure.sort is Sort.COUNTER else GaugeMetricFamily
    metric: Metric = family(figure.name, figure.help, labels=figure.labels)
    for labels, value in sorted(values.items()):
        metric.add_metric(labels, value)  # type: ignore[attr-defined] # of every family
    return metric


def _bound(bound: float) -> str:
    """Return a bucket's bound as Prometheus writes numbers."""
    return "+Inf" if bound == float("inf") else repr(bound)


def _histogram(figure: Figure, kept: Kept) -> Metric:
    from prometheus_client.core import HistogramMetricFamily  # noqa: PLC0415 - see above

    metric = HistogramMetricFamily(figure.name, figure.help, labels=figure.labels)
    for labels, spread in sorted(kept.spreads(figure).items()):
        reached, buckets = 0, list[tuple[str, float]]()
        for bound, count in zip((*figure.buckets, float("inf")), spread.counts, strict=True):
            reached += count
            buckets.append((_bound(bound), float(reached)))
        metric.add_metric(labels, buckets, spread.total)
    return metric
