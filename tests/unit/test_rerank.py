"""A reranker behind a `/rerank` route is believed only whole, and its order is put upon the scores that there were."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.backends.models.http_json import Patience
from mnemic.backends.models.rerank import ServedReranker
from mnemic.core.reordering import reordered
from mnemic.errors import InputError, ModelError
from mnemic.model.query import Hit, Why
from mnemic.testing.loopback import Answer
from mnemic.testing.model_says import babbles, fails, hangs
from mnemic.testing.model_server import ModelServer, Script

TEXTS = ["nothing of it", "the blue bicycle", "blue"]


class Remote:
    """Starts a scripted server and a reranker over it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def start(self, script: Script = (), *, model: str = "fake-reranker") -> tuple[ServedReranker, ModelServer]:
        server = self._stack.enter_context(ModelServer(script))
        patience = Patience(timeout=0.5, tries=2, first_wait=0.001)
        reranker = ServedReranker(server.url, "sk-secret", model, patience=patience)
        self._stack.callback(reranker.close)
        return reranker, server


@pytest.fixture
def remote() -> Iterator[Remote]:
    with ExitStack() as stack:
        yield Remote(stack)


def scored(*pairs: tuple[Any, Any], name: str = "relevance_score", under: str = "results") -> Answer:
    return Answer({under: [{"index": index, name: score} for index, score in pairs]})


def test_scores_come_in_the_order_of_the_texts(remote: Remote) -> None:
    reranker, server = remote.start()
    assert reranker.rerank("blue bicycle", TEXTS) == [0.0, 1.0, 0.5]
    (request,) = server.requests
    assert (request.path, request.headers["authorization"]) == ("/v1/rerank", "Bearer sk-secret")
    assert request.body == {"model": "fake-reranker", "query": "blue bicycle", "documents": TEXTS, "top_n": 3}


def test_no_texts_need_no_request(remote: Remote) -> None:
    reranker, server = remote.start()
    assert (reranker.rerank("x", []), server.requests) == ([], [])


def test_a_server_with_one_model_needs_no_name(remote: Remote) -> None:
    reranker, server = remote.start(model="")
    reranker.rerank("x", ["y"])
    assert (reranker.name, "model" in server.requests[0].body) == ("reranker", False)


def test_blank_and_odd_texts_are_sent_as_text_that_a_server_takes(remote: Remote) -> None:
    reranker, server = remote.start()
    reranker.rerank("a \ud800", [" ", "\0"])
    assert (server.requests[0].body["query"], server.requests[0].body["documents"]) == ("a \ufffd", [".", "\ufffd"])


@pytest.mark.parametrize(
    "answer",
    [scored((1, -3), (0, 2.5)), scored((0, 2.5), (1, -3), name="score"), scored((0, 2.5), (1, -3), under="data")],
)
def test_the_forms_of_several_servers_are_read(remote: Remote, answer: Answer) -> None:
    reranker, _ = remote.start([answer])
    assert reranker.rerank("x", ["a", "b"]) == [2.5, -3.0]


@pytest.mark.parametrize(
    "answer, tells",
    [
        (scored((0, 1)), "1 scores for 2 texts"),
        (scored((0, 1), (0, 1)), "repeated"),
        (scored((0, 1), (2, 1)), "out of range: 2"),
        (scored((0, 1), (True, 1)), "out of range: True"),
        (scored((0, 1), ("1", 1)), "out of range: '1'"),
        (scored((0, 1), (1, None)), "no finite score for text 1: None"),
        (scored((0, 1), (1, True)), "no finite score for text 1: True"),
        (scored((0, 1), (1, math.nan)), "no finite score for text 1: nan"),
        (scored((0, 1), (1, math.inf)), "no finite score for text 1: inf"),
        (Answer({"results": ["odd", None]}), "index that is missing"),
        (Answer({"results": None}), "without a list named results"),
        (Answer([1]), "without a list named results"),
        (babbles(), "not JSON"),
        (babbles(b"[" * 100_000), "not JSON"),
        (fails(401), "check the API key"),
        (fails(404), "no such route"),
        (fails(501), "not started for this"),
    ],
)
def test_an_answer_that_does_not_fit_is_an_error_and_tells_no_key(remote: Remote, answer: Answer, tells: str) -> None:
    reranker, server = remote.start([answer])
    with pytest.raises(ModelError, match=tells) as caught:
        reranker.rerank("x", ["a", "b"])
    assert "the ranking stays as it was" in str(caught.value) and "sk-secret" not in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("outage", [fails(503), fails(429), hangs(), Answer({"results": []}, cut=True)])
def test_an_outage_is_tried_once_more_and_then_told(remote: Remote, outage: Answer) -> None:
    reranker, server = remote.start([outage, scored((0, 1)), outage, outage])
    assert reranker.rerank("x", ["a"]) == [1.0]
    with pytest.raises(ModelError, match="after 2 tries"):
        reranker.rerank("x", ["a"])
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    "url, key, field", [("host", "", "rerank_base_url"), ("http://host", "k\u00e9y", "rerank_api_key")]
)
def test_settings_that_cannot_be_are_named(url: str, key: str, field: str) -> None:
    with pytest.raises(InputError) as caught:
        ServedReranker(url, key, "m")
    assert caught.value.field == field


def hit(name: str, score: float, *, why: Why | None = None) -> Hit:
    return Hit(name, "message", name, score, datetime(2026, 1, 1, tzinfo=UTC), "Ann", "s", "ann", (), why=why)


def test_hits_take_the_new_order_and_the_scores_of_their_places() -> None:
    found = reordered([hit("a", 0.9), hit("b", 0.5), hit("c", 0.1)], [0.0, 7.0, 3.0], log_odds=True)
    assert [(each.id, each.score) for each in found] == [("b", 0.9), ("c", 0.5), ("a", 0.1)]


def test_hits_that_are_equal_to_the_reranker_stay_as_they_stand() -> None:
    found = reordered([hit("a", 0.9), hit("b", 0.5), hit("c", 0.1)], [1.0, 1.0, 2.0], log_odds=False)
    assert [each.id for each in found] == ["c", "a", "b"]


@pytest.mark.parametrize("log_odds, part", [(True, math.log(9.0)), (False, 0.4)])
def test_an_explained_hit_tells_what_the_reranker_did_to_it(log_odds: bool, part: float) -> None:
    why = Why({"dense": (2, 0.5)}, {"speaker": 0.1})
    first, second = reordered([hit("a", 0.9), hit("b", 0.5, why=why)], [0.0, 1.0], log_odds=log_odds)
    assert first.why == Why({"dense": (2, 0.5), "rerank": (1, round(part, 4))}, {"speaker": 0.1})
    assert second.why is None


SCORES = st.lists(st.floats(0, 1), max_size=8).map(lambda scores: sorted(scores, reverse=True))


@given(SCORES, st.data())
def test_reordering_moves_hits_and_changes_no_score(scores: list[float], data: st.DataObject) -> None:
    hits = [hit(str(number), score, why=Why({}, {})) for number, score in enumerate(scores)]
    finite = st.floats(allow_nan=False, allow_infinity=False)
    relevance = data.draw(st.lists(finite, min_size=len(hits), max_size=len(hits)))
    found = reordered(hits, relevance, log_odds=True)
    assert [each.score for each in found] == scores
    assert sorted(each.id for each in found) == sorted(each.id for each in hits)
    ranks = [relevance[int(each.id)] for each in found]
    assert ranks == sorted(ranks, reverse=True)
