"""The line to a provider of language models through its library: opened at first use, its errors told as ours.

OpenAI's and Anthropic's libraries are made by one generator, so one module serves both. It sends bodies and returns
what was answered as plain JSON values; the libraries' part is signing in, trying again with backoff and Retry-After,
and reading event streams. What a body means is the business of `openai_chat` and `anthropic_chat`.
"""

from __future__ import annotations

import importlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from mnemic import tracing
from mnemic.backends.models.http_json import HIDDEN, HINTS, asked_wait, is_passing
from mnemic.errors import InputError, LanguageError
from mnemic.model.language import Prompt, Turn

D = TypeVar("D")

PLACEHOLDER: Final = "none"
"""The key for servers that need none: the libraries want one, and must not send the user's own in its place."""

_EXCERPT = 300
_SPENT: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_REFUSED: Final = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model is: address (empty for the provider's own), key, name; seconds and tries of a request.

    `settings` is what the names of its settings begin with, for errors that name them.
    """

    base_url: str
    api_key: str = field(repr=False)
    model: str
    timeout: float
    tries: int
    settings: str = "llm"

    def __post_init__(self) -> None:
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise InputError(f"{self.settings}_base_url", "must begin with http:// or https://")
        if self.api_key and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise InputError(
                f"{self.settings}_api_key", "must be printable ASCII: it was probably copied with something else"
            )
        if not self.model.strip():
            raise InputError(f"{self.settings}_model", "must name a model of the server")
        if self.tries < 1:
            raise InputError(f"{self.settings}_tries", "must be 1 or more")

    @property
    def shown(self) -> str:
        """The address as it may be shown: without a password in it."""
        return re.sub(r"//[^/@]*@", "//", self.base_url)


class Line:
    """Posts to one place through a library. Safe in threads; `close` ends the connections, a later post reopens them.

    `make` makes the library's client from the library and the arguments that both libraries know.
    """

    def __init__(self, library: str, place: Place, make: Callable[[Any, dict[str, Any]], Any]) -> None:
        self._name = library
        self._place = place
        self._make = make
        self._lock = threading.Lock()
        self._client: Any = None
        self._http: Any = None

    def post(self, route: str, payload: dict[str, Any], *, stream: bool) -> Any:
        """Return the answer's JSON, or text when it is no JSON; with `stream` an iterator over its events' JSON."""
        client = self._open()
        asked = {"cast_to": object, "body": payload, "options": {"headers": tracing.headers()}}
        if not stream:
            return client.post(route, **asked)
        return client.post(route, **asked, stream=True, stream_cls=self._library().Stream[object])

    def listed(self, route: str) -> list[str]:
        """Return the names of the models that the server says it has, which costs no tokens."""
        body = as_json(self._open().get(route, cast_to=object, options={"headers": tracing.headers()}))
        data = body.get("data") if isinstance(body, dict) else None
        found = [each.get("id") for each in data if isinstance(each, dict)] if isinstance(data, list) else []
        return [name for name in found if isinstance(name, str)]

    def agreed(self, post: Callable[[D], Any], way: D, plainer: Callable[[D, str], D | None]) -> tuple[Any, D]:
        """Post in one way, and in plainer ones as long as the server refuses; return the answer and what was agreed.

        `plainer` is given the way and what the server said, and knows that there is no other by returning None.
        """
        refused = self._library().APIStatusError
        while True:
            try:
                return post(way), way
            except refused as error:
                other = plainer(way, _said(error).lower()) if error.status_code in _REFUSED else None
                if other is None:
                    raise
                way = other

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Tell whatever goes wrong inside as a LanguageError, its cause kept."""
        try:
            yield
        except LanguageError:
            raise
        except Exception as error:  # broad: ValueError, TypeError and httpx2's errors come besides the library's
            told = self._told(error)
            self._take_key_out(error)
            raise told from error

    def _take_key_out(self, error: BaseException) -> None:
        """Take the key out of what an error and its causes say: they are shown with it in logs and in jobs."""
        left: BaseException | None = error
        while left is not None:
            left.args = tuple(self._without_key(each) if isinstance(each, str) else each for each in left.args)
            left = left.__cause__ or left.__context__

    def _without_key(self, text: str) -> str:
        """Return a text without the key, whether it is ours or the library found it in the environment."""
        for key in (self._place.api_key, getattr(self._client, "api_key", None)):
            text = text.replace(key, HIDDEN) if key and key != PLACEHOLDER else text
        return text

    def fault(self, what: str, *, passing: bool, status: int | None = None, wait: float | None = None) -> LanguageError:
        """Return an error that says what happened at this place, without its key."""
        place = self._place
        where = f" at {place.shown}" if place.base_url else ""
        told = self._without_key(f"{place.model}{where} {what}")
        return LanguageError(told, passing=passing, retry_after=wait, status=status, model=place.model)

    def close(self) -> None:
        """End the connections."""
        with self._lock:
            http, self._http, self._client = self._http, None, None
        if http is not None:
            http.close()

    def _library(self) -> Any:
        try:
            return importlib.import_module(self._name)
        except ImportError as error:
            raise LanguageError(
                f"the package {self._name} is not installed: pip install 'mnemic[{self._name}]'",
                passing=False, retry_after=None, status=None, model=self._place.model,
            ) from error  # fmt: skip

    def _open(self) -> Any:
        from mnemic.backends.models.bounded_http import bounded_client  # noqa: PLC0415 - imported at the first request

        library = self._library()
        with self._lock:
            if self._client is None:
                http = bounded_client(self._place.timeout)
                arguments = {"http_client": http, "timeout": self._place.timeout, "max_retries": self._place.tries - 1}
                try:
                    self._client = self._make(library, arguments)
                except BaseException:
                    http.close()
                    raise
                self._http = http
            return self._client

    def _told(self, error: Exception) -> LanguageError:
        library, place = self._library(), self._place
        if isinstance(error, library.APIStatusError):
            return self._told_status(error)
        if isinstance(error, library.APITimeoutError) or "timeout" in type(error).__name__.lower():
            return self.fault(
                f"did not answer within {place.timeout:g} s; raise {place.settings}_timeout or try again later",
                passing=True,
            )
        if isinstance(error, library.APIConnectionError) or _is_httpx(error):
            cause = error.__cause__ or error
            return self.fault(
                f"could not be reached, or broke off: {_name(cause)}; check that the server runs and that "
                f"{place.settings}_base_url is right",
                passing=True,
            )
        if isinstance(error, library.APIError):  # an event of a stream that tells an error
            return self.fault(f"broke off with an error: {_said(error).rstrip('.')}; try again later", passing=True)
        if isinstance(error, (ValueError, RecursionError)):
            return self.fault(
                f"answered with something that is not JSON ({_name(error)}); check {place.settings}_base_url",
                passing=True,
            )
        keyless = re.search("credential|api_key|authentication", _name(error), re.IGNORECASE)
        if keyless and not place.api_key:  # the libraries name settings of their own
            return self.fault(f"cannot be asked without an API key; set {place.settings}_api_key", passing=False)
        return self.fault(f"cannot be asked: {_name(error)}", passing=False)

    def _told_status(self, error: Any) -> LanguageError:
        status = int(error.status_code)
        spent = getattr(error, "code", None) in _SPENT
        passing = is_passing(status) and not spent
        if status == 200:  # an event of Anthropic's streams that tells an error
            return self.fault(f"broke off with an error: {_said(error).rstrip('.')}; try again later", passing=True)
        hint = HINTS.get(status, "try again later" if passing else f"check {self._place.settings}_base_url")
        wait = asked_wait(error.response.headers, time.time())
        if spent:
            hint = "the account behind the key has no credit left"
        elif wait is not None and passing:
            hint = f"it asks to wait {wait:.3g} s"
        return self.fault(
            f"answered with status {status}: {_said(error).rstrip('.')}; {hint}",
            passing=passing,
            status=status,
            wait=wait,
        )


def as_json(answer: Any) -> Any:
    """Return an answer that came as text, since its content type was not JSON, as the JSON that it may be all the same.

    Raises ValueError.
    """
    return json.loads(answer) if isinstance(answer, str) else answer


def sendable(prompt: Prompt) -> tuple[Turn, ...]:
    """Return the turns as text that UTF-8 and every server can take: lone surrogates and NUL replaced."""
    return tuple(Turn(turn.role, _sendable(turn.text), turn.pictures) for turn in prompt.turns)


def with_schema(turns: tuple[Turn, ...], prompt: Prompt) -> tuple[Turn, ...]:
    """Return the turns with the schema told in words, for a server that takes none."""
    told = (
        "Answer with one JSON object and nothing else: no code fence, no remark. It must fit this JSON Schema:\n"
        + json.dumps(prompt.schema, ensure_ascii=False)
    )
    for at in range(len(turns) - 1, -1, -1):
        if turns[at].role == "system":
            return (*turns[:at], Turn("system", f"{turns[at].text}\n\n{told}"), *turns[at + 1 :])
    return (Turn("system", told), *turns)


def counted(value: object, otherwise: int) -> int:
    """Return a count that a server told, or an estimate when it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise


def _sendable(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")


def _said(error: Any) -> str:
    """Return what a server said went wrong, on one line."""
    body = error.body
    found = body.get("error", body) if isinstance(body, dict) else body
    message = found.get("message") if isinstance(found, dict) else found
    param = found.get("param") if isinstance(found, dict) else None
    said = str(message) if message else str(getattr(error, "message", error))
    told = f"{said} ({param})" if param and str(param) not in said else said
    return " ".join(told.split())[:_EXCERPT]


def _name(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")[:_EXCERPT]


def _is_httpx(error: Exception) -> bool:
    return type(error).__module__.split(".")[0] in {"httpx2", "httpcore2"}
