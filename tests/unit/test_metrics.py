"""Figures: what is kept of what parts tell, and how it is shown to Prometheus."""

from __future__ import annotations

import re
import sys
import threading

import pytest
from prometheus_client.parser import text_string_to_metric_families

from mnemic.errors import InputError, QueueError, StoreError
from mnemic.model import figure as f
from mnemic.model.figure import FIGURES, Figure, Sort
from mnemic.ports.counts import Sizes
from mnemic.ports.store import Store
from mnemic.runtime.exposition import Exposition, Sources
from mnemic.runtime.metrics import MOST, OTHER, Kept
from mnemic.runtime.readiness import Readiness
from tests.services.opened import SteppedClock

FORBIDDEN = {"user", "cube", "cube_key", "session", "id", "text", "query", "message", "principal", "worker"}
UNITS = ("_seconds", "_bytes", "_total")
PLAIN = {
    "mnemic_jobs", "mnemic_worker_threads", "mnemic_worker_threads_busy", "mnemic_cubes", "mnemic_index_entries",
    "mnemic_index_vectors", "mnemic_view_cache_cubes", "mnemic_up", "mnemic_info",
}  # fmt: skip


class Nowhere:
    """A store that is away."""

    def read(self) -> object:
        raise StoreError("the database does not answer")

    def sizes(self) -> Sizes:
        raise StoreError("the database does not answer")


def shown(kept: Kept, store: object = None) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return all samples by name and labels, of a memory whose store is away."""
    text = exposition(kept, store).text()
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def exposition(kept: Kept, store: object = None, readiness: Readiness | None = None) -> Exposition:
    away: Store = store or Nowhere()  # type: ignore[assignment] # what is asked of it, it has
    return Exposition(
        Sources(
            kept, away, SteppedClock(), readiness or Readiness({"store": _away}), ("1.0", "sqlite", "database", "x")
        )
    )


def _away() -> str:
    raise StoreError("the database does not answer")


def test_names_follow_prometheus_and_no_label_could_hold_what_is_somebodys() -> None:
    names = [figure.name for figure in FIGURES]
    assert len(set(names)) == len(names)
    for figure in FIGURES:
        assert re.fullmatch(r"mnemic_[a-z_]+", figure.name)
        assert (figure.sort is Sort.COUNTER) == figure.name.endswith("_total"), figure.name
        assert figure.name.endswith(UNITS) or figure.name in PLAIN, f"{figure.name} has no unit"
        assert bool(figure.buckets) == (figure.sort is Sort.HISTOGRAM)
        assert list(figure.buckets) == sorted(set(figure.buckets))
        assert not set(figure.labels) & FORBIDDEN
        assert figure.help.endswith(".")


def test_every_figure_of_the_module_is_in_the_table() -> None:
    assert {each for each in vars(f).values() if isinstance(each, Figure)} == set(FIGURES)


def test_counters_gauges_and_histograms_are_shown_as_they_were_told() -> None:
    kept = Kept()
    kept.add(f.JOBS_RUN, 1, "organize", "done")
    kept.add(f.JOBS_RUN, 2, "organize", "done")
    kept.add(f.BUSY, 1, "quick")
    kept.add(f.BUSY, -1, "quick")
    for seconds in (0.0004, 0.001, 0.0011, 99.0):
        kept.observe(f.CALL_SECONDS, seconds, "add", "ok")
    kept.observe_each(f.SEARCH_SECONDS, {"view": 0.5, "words": 0.25})
    found = shown(kept)
    assert found["mnemic_jobs_run_total"] == {(("kind", "organize"), ("outcome", "done")): 3}
    assert found["mnemic_worker_threads_busy"] == {(("lane", "quick"),): 0}
    buckets = {dict(labels)["le"]: value for labels, value in found["mnemic_call_seconds_bucket"].items()}
    assert (buckets["0.001"], buckets["0.0025"], buckets["30.0"], buckets["+Inf"]) == (2, 3, 3, 4)
    assert found["mnemic_call_seconds_count"] == {(("outcome", "ok"), ("verb", "add")): 4}
    assert found["mnemic_call_seconds_sum"][("outcome", "ok"), ("verb", "add")] == pytest.approx(99.0025)
    assert found["mnemic_search_part_seconds_sum"] == {(("part", "view"),): 0.5, (("part", "words"),): 0.25}


def test_a_figure_never_has_more_than_so_many_series_and_counts_the_rest_together() -> None:
    kept = Kept()
    for number in range(MOST + 50):
        kept.add(f.JOBS_RUN, 1, f"kind {number}", "done")
        kept.observe(f.CALL_SECONDS, 1.0, f"verb {number}", "ok")
    assert len(kept.numbers(f.JOBS_RUN)) == MOST + 1
    assert kept.numbers(f.JOBS_RUN)[OTHER, OTHER] == 50
    assert kept.spreads(f.CALL_SECONDS)[OTHER, OTHER].count == 50
    with pytest.raises(ValueError, match="labels"):
        kept.add(f.JOBS_RUN, 1, "organize")


def test_threads_lose_nothing() -> None:
    kept = Kept()

    def tell() -> None:
        for _ in range(2_000):
            kept.add(f.EMBEDDED, 1, "passages")
            kept.observe(f.STORE_SECONDS, 0.5, "read")

    threads = [threading.Thread(target=tell) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert kept.numbers(f.EMBEDDED) == {("passages",): 8_000}
    assert kept.spreads(f.STORE_SECONDS)[("read",)].count == 8_000


def test_a_store_that_is_away_is_told_as_such_and_what_was_counted_is_shown_all_the_same() -> None:
    kept = Kept()
    kept.add(f.EMBEDDED, 7, "passages")
    found = shown(kept)
    assert found["mnemic_up"] == {(("part", "store"),): 0}
    assert found["mnemic_embedded_texts_total"] == {(("use", "passages"),): 7}
    assert "mnemic_jobs" not in found and "mnemic_database_bytes" not in found
    assert found["mnemic_info"] == {
        (("embedder", "x"), ("queue", "database"), ("store", "sqlite"), ("version", "1.0")): 1
    }


def test_what_took_long_to_look_up_is_not_looked_up_at_each_scrape() -> None:
    asked: list[str] = []
    now = [0.0]

    class Slow:
        def sizes(self) -> Sizes:
            asked.append("sizes")
            now[0] += 2.0
            return Sizes(1, 2, 3, 4, 5, 6)

        def read(self) -> object:
            raise StoreError("not asked about here")

    readiness = Readiness({"store": lambda: ""})
    sources = Sources(Kept(), Slow(), SteppedClock(), readiness, ("1", "s", "q", "e"))  # type: ignore[arg-type]
    looked = Exposition(sources, timer=lambda: now[0])
    for moment, times in ((0.0, 1), (100.0, 1), (201.9, 1), (203.0, 2)):
        now[0] = max(now[0], moment)
        assert "mnemic_index_entries 2.0" in looked.text()
        assert len(asked) == times, moment


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(InputError, match=r"mnemic\[metrics\]"):
        exposition(Kept()).text()


def test_a_part_that_hangs_is_told_in_time_and_not_asked_twice() -> None:
    go_on = threading.Event()
    asked: list[int] = []

    def hang() -> str:
        asked.append(1)
        go_on.wait(30)
        return ""

    def fail() -> str:
        raise QueueError("redis://ann:hunter2@cache:6379 does not answer")

    readiness = Readiness({"store": hang, "queue": fail, "worker": lambda: "it is being drained"})
    try:
        for _ in range(2):
            assert readiness.look(0.05)["store"] == "does not answer within 0.05 s"
        found = readiness.look(0.05)
        assert found["queue"] == "redis://[hidden]@cache:6379 does not answer"
        assert found["worker"] == "it is being drained"
        assert len(asked) == 1
    finally:
        go_on.set()
    assert readiness.look(30)["store"] == ""
