"""What every `mnemic.ports.llm.LanguageModel` must do, as plain functions that raise AssertionError.

An outside backend runs `for check in CHECKS: check(model)` in its own tests; one that talks to a server with OpenAI's
or Anthropic's API also runs `for check in SERVED_CHECKS: check(open)`, where `open` gives a model at a scripted server.
Nothing here says how good a model's answers are.
"""
# ruff: noqa: D401, S101 - a contract is made of asserts, and a check's docstring is what must hold

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol

from mnemic.errors import LanguageError
from mnemic.model.language import Prompt, Reply, Turn
from mnemic.ports.llm import LanguageModel
from mnemic.testing.embedder_contract import EXOTIC_TEXTS
from mnemic.testing.model_says import (
    Said,
    babbles,
    calls_tool,
    cuts,
    fails,
    hangs,
    refuses,
    says,
    says_json,
    says_nothing,
    trickles,
)
from mnemic.testing.model_server import ModelServer

KEY: Final = "sk-of-the-contract"
"""The key that `open` must give to its model: no error may tell it."""

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
_SOON: Final = {"retry-after-ms": "1"}
_LONGEST_PROMPT: Final = 600  # characters: what a small local model reads in a second or two


class Opener(Protocol):
    """Gives a model at a server, which tries twice and is closed by whoever made it."""

    def __call__(self, server: ModelServer, *, timeout: float = 5.0) -> LanguageModel:
        """Open a model whose requests take at most `timeout` seconds."""
        ...


def ask(text: str = "Where does Ann live?", **changes: Any) -> Prompt:
    """Return a prompt for a short answer."""
    return Prompt((Turn("system", "Be brief."), Turn("user", text)), **({"max_tokens": 24} | changes))


def check_identity(model: LanguageModel) -> None:
    """The name is there and stays the same."""
    assert model.name.strip(), "a language model needs a name"
    assert model.name == model.name, "its name must not change"


def check_reply(model: LanguageModel) -> None:
    """A reply has text, tells who answered, and what it took."""
    reply = model.complete(ask())
    assert reply.text.strip(), "a reply has text"
    assert reply.model.strip(), "a reply tells its model"
    assert reply.tokens_in > 0, "the prompt's tokens are counted"
    assert reply.tokens_out > 0, "the reply's tokens are counted"
    assert 0 <= reply.tokens_cached <= reply.tokens_in, "cached tokens are some of those that went in"


def check_stream(model: LanguageModel) -> None:
    """A stream gives pieces of text, then the whole once."""
    reply = heard(model)
    assert reply.tokens_in > 0, "the prompt's tokens are counted"
    assert reply.tokens_out > 0, "the reply's tokens are counted"


def check_left_streams(model: LanguageModel) -> None:
    """A stream that is left after its first piece, or before it, leaves the model ready."""
    for pieces in (model.stream(ask()), model.stream(ask())):
        close = getattr(pieces, "close", None)
        assert close is not None, "a stream can be closed"
        next(pieces)
        close()
    assert model.complete(ask()).text.strip(), "the next call is answered"


def check_prompts(model: LanguageModel) -> None:
    """Any text that a user can send is answered, or a LanguageError."""
    for text in EXOTIC_TEXTS:
        _answered(model, ask(text[:_LONGEST_PROMPT], max_tokens=4))
    for turns in (
        (Turn("user", "Hello."),),
        (Turn("system", "Say hello."),),
        (Turn("user", "Hi."), Turn("assistant", "Hello."), Turn("user", "Bye.")),
        (Turn("assistant", "Hello."), Turn("user", "Bye.")),
    ):
        assert _answered(model, Prompt(turns, max_tokens=4)) is not None, "every order of turns is answered"


def check_settings(model: LanguageModel) -> None:
    """A temperature of its own choice, and a schema, are taken."""
    assert model.complete(ask(temperature=None)).text.strip(), "a prompt without temperature is answered"
    assert _answered(model, ask(schema=SCHEMA, max_tokens=64)) is not None, "a prompt with a schema is answered"


def check_threads(model: LanguageModel) -> None:
    """Calls from several threads are all answered."""
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda _: model.complete(ask(max_tokens=4)), range(6)))
    assert all(reply.text.strip() for reply in replies), "each call has its reply"


def check_reopening(model: LanguageModel) -> None:
    """A closed model may be used again, and closed twice."""
    model.close()
    model.close()
    assert model.complete(ask()).text.strip(), "a later call opens it again"


CHECKS: Final[tuple[Callable[[LanguageModel], None], ...]] = (
    check_identity,
    check_reply,
    check_stream,
    check_left_streams,
    check_prompts,
    check_settings,
    check_threads,
    check_reopening,
)
"""Checks of any language model; each is independent of the others."""


def check_served_words(opened: Opener) -> None:
    """What a model says is handed on as it is: prose, fences, a list, unknown ids, another language, a refusal."""
    for said in (
        says_json({"city": "Paris"}, before="Sure! Here it is:\n", after="\nAnything else?"),
        says_json({"city": "Paris"}, fenced=True),
        says_json([{"city": "Paris"}]),
        says_json({"city": "Paris", "evidence": ["m999"]}),
        says("\u5df4\u9ece\u662f\u6cd5\u56fd\u7684\u9996\u90fd\u3002"),
        says("I'm sorry, but I can't help with that."),
        says("A tag like <think> ends with </think>. ```code``` {curly} <|endoftext|>"),
    ):
        with ModelServer([said] * 2) as server:
            model = opened(server)
            assert (model.complete(ask()).text, heard(model).text) == (said.text, said.text), f"changed {said.text!r}"


def check_served_schema(opened: Opener) -> None:
    """A schema reaches the server, and an answer that fits comes as JSON, whole and streamed."""
    for text in ('{"city": "Paris"}', '{"city": "\u5df4\u9ece </think> {"}'):
        with ModelServer([text] * 2) as server:
            model = opened(server)
            prompt = ask(schema=SCHEMA)
            assert (model.complete(prompt).text, heard(model, prompt).text) == (text, text), f"changed {text!r}"
            assert [request.schema for request in server.requests] == [SCHEMA] * 2, "the schema is asked for"


def check_served_thoughts(opened: Opener) -> None:
    """Thoughts are no part of a reply, in whichever form they come."""
    for said in (
        says("<think>They want Paris.</think>\n\nParis."),
        says("They want Paris.\n</think>\n\nParis."),
        says("Paris.", thoughts="They want Paris."),
    ):
        with ModelServer([said] * 3) as server:
            model = opened(server)
            *_, streamed = model.stream(ask())
            assert isinstance(streamed, Reply), "a stream ends with its reply"
            assert (model.complete(ask()).text, streamed.text) == ("Paris.", "Paris."), f"thoughts in {said}"


def check_served_nothing(opened: Opener) -> None:
    """An answer without text, and a refusal, are errors and never replies."""
    for said in (says(""), says(" \n"), says(None), says_nothing(), says("<think>only"), calls_tool("search")):
        with ModelServer([said] * 2) as server:
            _fault(opened(server), passing=True)
    with ModelServer([refuses()] * 2) as server:
        _fault(opened(server), passing=False)


def check_served_limit(opened: Opener) -> None:
    """A reply that ended at its limit of tokens says so; so does one to a schema."""
    with ModelServer([says("Par", finish="length")] * 3) as server:
        model = opened(server)
        assert model.complete(ask()).cut, "a cut reply is marked"
        assert heard(model).cut, "a cut stream is marked"
        assert model.complete(ask(schema=SCHEMA)).cut, "a cut object is marked"


def check_served_counts(opened: Opener) -> None:
    """Tokens are the server's count, and an estimate when it has none."""
    with ModelServer([Said(text="Paris.", cached=5)] * 2 + [says("Paris.", usage=False)] * 2) as server:
        model = opened(server)
        for reply in (model.complete(ask()), heard(model)):
            assert (reply.tokens_in > 5, reply.tokens_cached, reply.tokens_out) == (True, 5, 2), f"{reply}"
        for reply in (model.complete(ask()), heard(model)):
            assert (reply.tokens_in > 5, reply.tokens_cached, reply.tokens_out) == (True, 0, 2), f"{reply}"


def check_served_refusals(opened: Opener) -> None:
    """What will not pass by itself is told at once, with its status."""
    for status in (400, 401, 403, 404):
        with ModelServer(default=fails(status, f"{KEY} is wrong")) as server:
            error = _fault(opened(server), passing=False)
            assert error.fields["status"] == status, f"{error.fields}"
            assert len(server.requests) == 2, "one request for each call"


def check_served_outages(opened: Opener) -> None:
    """What may pass is tried again, then told with its status and the wait that is asked for."""
    for status in (429, 500, 503):
        with ModelServer([fails(status, headers=_SOON), "Paris.", fails(status, headers=_SOON), "Rome."]) as server:
            model = opened(server)
            assert (model.complete(ask()).text, heard(model).text) == ("Paris.", "Rome."), "it passed"
        with ModelServer(default=fails(status, headers={"retry-after": "3600"})) as server:
            error = _fault(opened(server), passing=True)
            assert (error.fields["status"], error.fields["retry_after"]) == (status, 3600.0), f"{error.fields}"


def check_served_silence(opened: Opener) -> None:
    """A server that says nothing, or too slowly, is a timeout."""
    for said in (hangs(), trickles("word " * 100, 0.05)):
        with ModelServer(default=said) as server:
            model = opened(server, timeout=0.3)
            _faults(model, lambda model: list(model.stream(ask())), passing=True)
    with ModelServer(default=hangs()) as server:
        _faults(opened(server, timeout=0.3), lambda model: model.complete(ask()), passing=True)


def check_served_cuts(opened: Opener) -> None:
    """A stream that breaks off is an error after the pieces that came, and not asked for again."""
    for chunked in (False, True):
        with ModelServer([cuts(chunked=chunked)]) as server:
            pieces = opened(server).stream(ask())
            assert isinstance(next(pieces), str), "what came before is shown"
            _faults(pieces, list, passing=True)
            assert len(server.requests) == 1, "what was shown is not asked for again"
    with ModelServer([says("Paris.", finish=None)]) as server:
        _faults(opened(server), lambda model: list(model.stream(ask())), passing=True)


def check_served_garbage(opened: Opener) -> None:
    """An answer that is no JSON, or none of this API, is an error."""
    for garbage in (
        babbles(),
        babbles(b"", "application/json"),
        babbles(b"\xff\xfe\0", "application/json"),
        babbles(b'{"a": ', "application/json"),
        babbles(b"[1]", "application/json"),
        babbles(b"null", "application/json"),
        babbles(b"[" * 100_000, "application/json"),
        babbles(b"event: message_start\ndata: {broken\n\n", "text/event-stream"),
        babbles(b"event: message_start\ndata: [1]\n\n", "text/event-stream"),
    ):
        with ModelServer([garbage] * 2) as server:
            _fault(opened(server), passing=True)


def check_served_leaving(opened: Opener) -> None:
    """Closing a stream ends its connection."""
    with ModelServer([trickles("word " * 200, 0.02)]) as server:
        pieces = opened(server).stream(ask())
        next(pieces)
        getattr(pieces, "close", lambda: None)()
        assert server.saw_leave(5.0), "the server was not left"


def check_served_absence(opened: Opener) -> None:
    """A server that is not there is an error that passes."""
    server = ModelServer()
    with server:
        model = opened(server)
    _fault(model, passing=True)


SERVED_CHECKS: Final[tuple[Callable[[Opener], None], ...]] = (
    check_served_words,
    check_served_schema,
    check_served_thoughts,
    check_served_nothing,
    check_served_limit,
    check_served_counts,
    check_served_refusals,
    check_served_outages,
    check_served_silence,
    check_served_cuts,
    check_served_garbage,
    check_served_leaving,
    check_served_absence,
)
"""Checks of a language model at a server; each is independent of the others."""


def heard(model: LanguageModel, prompt: Prompt | None = None) -> Reply:
    """Return the reply of a stream whose pieces, together, are its text."""
    *pieces, reply = model.stream(prompt or ask())
    assert isinstance(reply, Reply), "a stream ends with its reply"
    texts = [piece for piece in pieces if isinstance(piece, str)]
    assert len(texts) == len(pieces), "a stream has one reply, at its end"
    assert all(texts), "no piece is empty"
    assert "".join(texts) == reply.text, "the pieces are the reply's text"
    return reply


def _answered(model: LanguageModel, prompt: Prompt) -> Reply | None:
    try:
        return model.complete(prompt)
    except LanguageError:
        return None


def _fault(model: LanguageModel, *, passing: bool) -> LanguageError:
    """Return the error of a call whose whole answer and whose stream both have to fail."""
    _faults(model, lambda model: list(model.stream(ask())), passing=passing)
    return _faults(model, lambda model: model.complete(ask()), passing=passing)


def _faults(model: Any, call: Callable[[Any], Reply | Sequence[object]], *, passing: bool) -> LanguageError:
    try:
        found = call(model)
    except LanguageError as error:
        caught = error
    else:
        raise AssertionError(f"expected a LanguageError, found {found!r}")
    told = f"{caught} {caught.fields}"
    assert KEY not in told, "an error never tells the key"
    assert caught.fields["passing"] is passing, f"passing must be {passing}: {told}"
    assert {"retry_after", "status"} <= set(caught.fields), f"fields are missing: {told}"
    return caught
