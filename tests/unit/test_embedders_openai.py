"""A remote embedder believes only whole answers, and tries again only when that can help."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from email.utils import formatdate

import numpy as np
import pytest

from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.backends.models.http_json import JsonPoster, Patience
from mnemic.backends.models.openai_embeddings import OpenAIEmbedder, split
from mnemic.errors import EmbedderError, InputError
from mnemic.testing.embedding_server import Answer, EmbeddingServer, Script

NOW = 1_700_000_000.0


class Remote:
    """Starts a scripted server and an embedder over it; `waits` has what the embedder would have slept."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.waits: list[float] = []

    def start(
        self, *script: Answer | Script, timeout: float = 5.0, dimensions: int | None = None
    ) -> tuple[OpenAIEmbedder, EmbeddingServer]:
        server = self._stack.enter_context(EmbeddingServer(script, width=dimensions or 64))
        poster = JsonPoster(
            server.url, "sk-secret", patience=Patience(timeout=timeout), sleep=self.waits.append, clock=lambda: NOW
        )
        embedder = OpenAIEmbedder(poster, "fake-model", dimensions=dimensions)
        self._stack.callback(embedder.close)
        return embedder, server


@pytest.fixture
def remote() -> Iterator[Remote]:
    with ExitStack() as stack:
        yield Remote(stack)


def vectors(*rows: object) -> Answer:
    return Answer({"data": [{"index": index, "embedding": row} for index, row in enumerate(rows)]})


def test_answers_are_put_in_the_order_of_the_texts(remote: Remote) -> None:
    embedder, server = remote.start()
    found = embedder.embed(["red", "green", "blue"])
    assert np.allclose(found, HashingEmbedder(64).embed(["red", "green", "blue"]), atol=1e-6)
    assert server.requests[0].path == "/v1/embeddings"
    assert server.requests[0].headers["authorization"] == "Bearer sk-secret"
    assert server.requests[0].body == {
        "model": "fake-model",
        "input": ["red", "green", "blue"],
        "encoding_format": "float",
    }


def test_vectors_that_are_not_of_length_one_are_normalised(remote: Remote) -> None:
    embedder, _ = remote.start(vectors([3.0, 4.0]))
    assert embedder.embed(["x"]).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]


def test_no_request_holds_more_than_128_texts(remote: Remote) -> None:
    embedder, server = remote.start()
    assert embedder.embed([f"text {number}" for number in range(300)]).shape == (300, 64)
    sizes = [len(request.body["input"]) for request in server.requests if isinstance(request.body["input"], list)]
    assert sizes == [128, 128, 44]


def test_no_request_holds_more_characters_than_a_server_takes() -> None:
    assert [len(batch) for batch in split(["x" * 90_000] * 5 + ["x" * 300_000])] == [2, 2, 1, 1]


def test_blank_and_odd_texts_reach_the_server_as_text_it_can_take(remote: Remote) -> None:
    embedder, server = remote.start()
    embedder.embed(["", " \n", "\ud800", "y" * 9_000])
    assert server.requests[0].body["input"] == [".", ".", "\ufffd", "y" * 8_000]


def test_the_width_is_asked_for_once_when_nothing_was_embedded_yet(remote: Remote) -> None:
    embedder, server = remote.start()
    assert (embedder.width, embedder.width, embedder.embed([]).shape) == (64, 64, (0, 64))
    assert len(server.requests) == 1


def test_dimensions_that_were_asked_for_are_sent_and_are_the_width(remote: Remote) -> None:
    embedder, server = remote.start(dimensions=32)
    assert embedder.width == 32
    assert embedder.embed(["x"]).shape == (1, 32)
    assert [request.body["dimensions"] for request in server.requests] == [32]


@pytest.mark.parametrize(
    "answer, says",
    [
        (vectors([1.0, 0.0]), "1 vectors for 2 texts"),
        (vectors([1.0], [1.0], [1.0]), "3 vectors for 2 texts"),
        (vectors([1.0, 0.0], [1.0]), "different widths"),
        (vectors([1.0, 0.0], [float("nan"), 0.0]), "not a finite number for text 1: nan"),
        (vectors([1.0, 0.0], [float("inf"), 0.0]), "not a finite number for text 1: inf"),
        (vectors([1.0, 0.0], [10**400, 0.0]), "not a finite number for text 1"),
        (vectors([1.0, 0.0], [None, 0.0]), "not a finite number for text 1: None"),
        (vectors([1.0, 0.0], [True, 0.0]), "not a finite number for text 1: True"),
        (vectors([1.0, 0.0], [0.0, 0.0]), "zero or not finite for 1 of 2"),
        (vectors([1.0, 0.0], []), "no list of numbers for text 1"),
        (vectors([1.0, 0.0], "AACAPw=="), "no list of numbers for text 1"),
        (Answer({"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}), "repeated"),
        (Answer({"data": [{"embedding": [1.0]}, {"embedding": [1.0]}]}), "index that is missing"),
        (Answer({"data": [1, 2]}), "index that is missing"),
        (Answer({"error": "overloaded"}), "without a list named data"),
        (Answer(["no object"]), "without a list named data"),
        (Answer(raw=b"<html>proxy</html>"), "not JSON: '<html>proxy</html>'"),
    ],
)
def test_an_answer_that_does_not_fit_is_an_error_that_names_the_fault(
    remote: Remote, answer: Answer, says: str
) -> None:
    embedder, server = remote.start(answer)
    with pytest.raises(EmbedderError) as caught:
        embedder.embed(["one", "two"])
    assert says in str(caught.value)
    assert (len(server.requests), remote.waits) == (1, [])


def test_another_width_than_before_is_an_error_that_says_to_reindex(remote: Remote) -> None:
    embedder, _ = remote.start(vectors([1.0, 0.0]), vectors([1.0, 0.0, 0.0]))
    embedder.embed(["one"])
    with pytest.raises(EmbedderError, match=r"3 wide, expected 2.*mnemic reindex"):
        embedder.embed(["two"])


@pytest.mark.parametrize(
    "status, says",
    [
        (400, "refused the request"),
        (401, "check the API key"),
        (404, "usually ends in /v1"),
        (302, "check the address"),
    ],
)
def test_a_refusal_that_will_not_pass_is_told_at_once(remote: Remote, status: int, says: str) -> None:
    embedder, server = remote.start(Answer({"error": "no such model"}, status=status))
    with pytest.raises(EmbedderError, match=says) as caught:
        embedder.embed(["x"])
    assert caught.value.fields["status"] == status
    assert "no such model" in str(caught.value)
    assert (len(server.requests), remote.waits) == (1, [])


def test_the_key_is_never_part_of_an_error(remote: Remote) -> None:
    embedder, _ = remote.start(Answer({"error": "x" * 270 + " the key sk-secret is bad"}, status=401))
    with pytest.raises(EmbedderError) as caught:
        embedder.embed(["x"])
    assert "sk-s" not in f"{caught.value} {caught.value.fields}"


@pytest.mark.parametrize("asked, waited", [("7", 7.0), (formatdate(NOW + 9, usegmt=True), 9.0), ("soon", 0.5)])
def test_a_429_is_tried_again_after_the_time_the_server_asks_for(remote: Remote, asked: str, waited: float) -> None:
    embedder, server = remote.start(Answer(status=429, headers={"retry-after": asked}))
    assert embedder.embed(["x"]).shape == (1, 64)
    assert (len(server.requests), remote.waits) == (2, [waited])


def test_a_wait_longer_than_our_patience_is_an_error_at_once(remote: Remote) -> None:
    embedder, _ = remote.start(Answer(status=429, headers={"retry-after": "3600"}))
    with pytest.raises(EmbedderError, match="3600 s"):
        embedder.embed(["x"])
    assert remote.waits == []


def test_server_faults_are_tried_again_with_growing_waits_and_then_told(remote: Remote) -> None:
    embedder, server = remote.start(*[Answer({"error": "boom"}, status=500)] * 4)
    with pytest.raises(EmbedderError, match=r"failed after 4 tries: status 500.*boom") as caught:
        embedder.embed(["x"])
    assert caught.value.fields["attempts"] == 4
    assert (len(server.requests), remote.waits) == (4, [0.5, 1.0, 2.0])


def test_a_body_that_was_cut_is_asked_for_again(remote: Remote) -> None:
    embedder, server = remote.start(Answer({"data": []}, cut=True))
    assert embedder.embed(["x"]).shape == (1, 64)
    assert (len(server.requests), remote.waits) == (2, [0.5])


def test_a_silent_server_is_a_timeout_and_is_asked_again(remote: Remote) -> None:
    embedder, server = remote.start(Answer(stall=True), timeout=0.3)
    assert embedder.embed(["x"]).shape == (1, 64)
    assert (len(server.requests), remote.waits) == (2, [0.5])


def test_a_server_that_is_not_there_is_an_error_that_says_what_to_check() -> None:
    with EmbeddingServer() as server:
        gone = server.url
    waits: list[float] = []
    embedder = OpenAIEmbedder(JsonPoster(gone, patience=Patience(tries=2), sleep=waits.append), "fake-model")
    with pytest.raises(EmbedderError, match=r"ConnectError.*check that the server runs"):
        embedder.embed(["x"])
    assert waits == [0.5]
    embedder.close()


def test_an_answer_without_end_is_cut_by_the_clock(remote: Remote) -> None:
    ticks = iter(range(0, 1_000, 20))
    _, server = remote.start()
    poster = JsonPoster(server.url, clock=lambda: float(next(ticks)), patience=Patience(timeout=10.0))
    with pytest.raises(EmbedderError, match="did not end its answer"):
        OpenAIEmbedder(poster, "fake-model").embed(["x"])
    poster.close()


@pytest.mark.parametrize(
    "make, field",
    [
        (lambda: JsonPoster("ftp://host"), "base_url"),
        (lambda: JsonPoster("http://host", "key\n"), "api_key"),
        (lambda: OpenAIEmbedder(JsonPoster("http://host"), " "), "model"),
        (lambda: OpenAIEmbedder(JsonPoster("http://host"), "m", dimensions=0), "dimensions"),
    ],
)
def test_settings_that_cannot_be_are_named(make: Callable[[], object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field


def test_the_answer_of_the_fake_server_has_the_form_of_the_real_one() -> None:
    with EmbeddingServer(width=2) as server:
        body = server.honest(["x"]).body
    assert json.loads(json.dumps(body))["data"][0].keys() == {"object", "index", "embedding"}
