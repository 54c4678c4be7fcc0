"""Runs a GGUF file through llama.cpp, in this process, by the package `xllamacpp` of the extra `mnemic[local]`.

The library brings llama.cpp's server; it is called directly, and the door that it opens all the same is a socket in a
folder of this user's, locked with a key that nobody is told. What is said stays on this machine. Weights are read at
the first call and shared by all memories of the process that run the same file; calls take turns.
"""

from __future__ import annotations

import logging
import os
import queue
import re
import secrets
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from mnemic.backends.models import gguf
from mnemic.backends.models.thoughts import ThoughtFilter
from mnemic.errors import LanguageError
from mnemic.model.language import Prompt, Reply

_log = logging.getLogger(__name__)

_BATCH: Final = 128
"""Tokens of a prompt that are read at once: between batches a call can be ended. More make it no faster on a CPU."""
_SILENT: Final = -1
"""llama.cpp's level of messages below all of them."""
_SOCKET_PATH: Final = 100
"""Bytes that the path of a socket may have: 104 on macOS, 108 on Linux."""
_BROKEN: Final = "\u200b"
"""A space of no width: inside a text that would steer the model it makes plain text of it."""
_OVERFLOW: Final = "exceed_context_size_error"


class LlamaModel:
    """A `LanguageModel` over a GGUF file; nothing is loaded before the first call.

    `context` is how many tokens prompt and reply may have together, at most what the model was trained for. `timeout`
    bounds the wait for a turn, and then the call; the first call loads the file before that. Another `model` in a
    prompt is refused: a file answers as what it is.
    """

    def __init__(self, path: Path, *, context: int, threads: int, timeout: float) -> None:
        self._path = path
        self._context = context
        self._threads = threads
        self._timeout = timeout
        self._engine: _Engine | None = None

    @property
    def name(self) -> str:
        """The file's name without its ending: it tells the quantization too, which the name inside does not."""
        return self._path.stem

    def complete(self, prompt: Prompt) -> Reply:
        """Return the reply to a prompt."""
        heard = _Heard(self.name, wary=True)
        for _ in self._heard(prompt, heard):
            pass
        return heard.reply()

    def stream(self, prompt: Prompt) -> Iterator[str | Reply]:
        """Yield the reply's text piece by piece, and at last the whole `Reply`."""
        heard = _Heard(self.name, wary=False)
        yield from self._heard(prompt, heard)
        if rest := heard.end():
            yield rest
        yield heard.reply()

    def _heard(self, prompt: Prompt, heard: _Heard) -> Iterator[str]:
        """Yield the reply's text as it is heard."""
        if prompt.model and prompt.model != self.name:
            raise _error(self.name, f"cannot answer as {prompt.model!r}: name another file as llm_model")
        self._engine = engine = self._engine or _engine(self._path, self._context, self._threads)
        for chunk in engine.chunks(_request(prompt, engine.controls), self._timeout):
            if piece := heard.piece(chunk):
                yield piece

    def close(self) -> None:
        """Let go of the weights; they are freed when no other memory of the process uses them."""
        self._engine = None


class _Heard:
    """Puts together what comes from the engine, without thoughts; llama.cpp has set apart those that it knows."""

    def __init__(self, name: str, *, wary: bool) -> None:
        self._name = name
        self._filter = ThoughtFilter(wary=wary)
        self._text: list[str] = []
        self._ending = ""
        self._usage: Mapping[str, Any] = {}

    def piece(self, chunk: Mapping[str, Any]) -> str:
        """Return what a chunk adds to the text."""
        if "error" in chunk:
            raise _refused(self._name, chunk["error"])
        self._usage = chunk.get("usage") or self._usage
        piece = ""
        for choice in chunk.get("choices", ()):
            self._ending = choice.get("finish_reason") or self._ending
            piece += self._filter.feed(choice["delta"].get("content") or "")
        self._text.append(piece)
        return piece

    def end(self) -> str:
        """Return what was held back until the end."""
        self._text.append(rest := self._filter.end())
        return rest

    def reply(self) -> Reply:
        """Return the whole. Raises LanguageError when there is none."""
        self.end()
        text = "".join(self._text)
        cut = self._ending == "length"
        if not self._ending:
            raise _error(self._name, "stopped before the end of its reply", passing=True)
        if not text.strip():
            raise _error(self._name, f"said nothing{' within max_tokens: raise it' if cut else ''}")
        return Reply(
            text=text,
            model=self._name,
            tokens_in=self._usage.get("prompt_tokens", 0),
            tokens_out=self._usage.get("completion_tokens", 0),
            tokens_cached=(self._usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0),
            cut=cut,
        )


@dataclass(frozen=True, slots=True)
class _Ended:
    """The engine has ended a call; with what error, when one ended it."""

    error: BaseException | None = None


class _Engine:
    """A loaded file; one call at a time runs in it. It is freed with its last reference."""

    def __init__(self, path: Path, context: int, threads: int) -> None:
        self._name = path.stem
        told = _described(path)
        folder = tempfile.mkdtemp(prefix="mnemic-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._server = _loaded(path, min(context, told.context or context), threads, folder)
        self._turn = threading.Lock()
        controls = sorted(told.controls, key=len, reverse=True)  # none hides a longer one
        self.controls = re.compile("|".join(map(re.escape, controls))) if controls else None

    def chunks(self, request: Mapping[str, Any], timeout: float) -> Iterator[Mapping[str, Any]]:
        """Yield what the library tells of a call, until it ends, the time is over, or the caller closes this."""
        if not self._turn.acquire(timeout=timeout):
            raise _error(self._name, f"was busy with other calls for {timeout:g} s (llm_timeout)", passing=True)
        deadline = time.monotonic() + timeout
        told: queue.SimpleQueue[Mapping[str, Any] | _Ended] = queue.SimpleQueue()
        left = threading.Event()

        def hear(chunk: Mapping[str, Any]) -> bool:
            told.put(chunk)
            return left.is_set() or time.monotonic() > deadline  # True ends the call

        def run() -> None:
            error: BaseException | None = None
            try:
                self._server.handle_chat_completions(request, hear)
            except (RuntimeError, ValueError) as raised:
                error = raised
            finally:
                self._turn.release()
                told.put(_Ended(error))

        try:
            threading.Thread(target=run, name="mnemic-llama").start()
        except RuntimeError as error:
            self._turn.release()
            raise _error(self._name, f"could not be asked: {error}", passing=True) from error
        try:
            yield from self._until(told, deadline, timeout)
        finally:
            left.set()

    def _until(
        self, told: queue.SimpleQueue[Mapping[str, Any] | _Ended], deadline: float, timeout: float
    ) -> Iterator[Mapping[str, Any]]:
        while True:
            try:
                chunk = told.get(timeout=max(deadline - time.monotonic(), 0.001))
            except queue.Empty as error:
                raise _slow(self._name, timeout) from error
            if not isinstance(chunk, _Ended):
                yield chunk
                continue
            if chunk.error is not None:
                raise _error(self._name, f"could not answer this prompt: {chunk.error}") from chunk.error
            if time.monotonic() > deadline:
                raise _slow(self._name, timeout)
            return


_opening = threading.Lock()
_open: weakref.WeakValueDictionary[tuple[Path, int, int], _Engine] = weakref.WeakValueDictionary()
"""The files loaded in this process: a second memory would hold hundreds of megabytes twice."""


def _engine(path: Path, context: int, threads: int) -> _Engine:
    key = (path.absolute(), context, threads)
    with _opening:
        engine = _open.get(key)
        if engine is None:
            started = time.monotonic()
            _open[key] = engine = _Engine(path, context, threads)
            _log.info("model_loaded", extra={"model": path.stem, "seconds": round(time.monotonic() - started, 3)})
        return engine


def _described(path: Path) -> gguf.GgufFile:
    try:
        told = gguf.read(path)
    except gguf.GgufError as error:
        raise _error(path.stem, f"cannot be loaded: {path} {error}") from error
    except OSError as error:
        raise _error(path.stem, f"cannot be read: {error}; see llm_model") from error
    if not told.template:
        _log.warning(
            "model_without_template", extra={"model": path.stem}
        )  # a plain template is used: no instruct model
    return told


def _loaded(path: Path, context: int, threads: int, folder: str) -> Any:
    try:
        library = import_module("xllamacpp")
    except ImportError as error:
        raise _error(path.stem, "needs llama.cpp: pip install 'mnemic[local]'") from error
    settings = library.CommonParams()
    settings.model.path = str(path)
    settings.n_ctx = context
    settings.n_batch = settings.n_ubatch = _BATCH
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    settings.cache_ram_mib = 0  # up to 8 GiB of prompts otherwise
    settings.fit_params = settings.warmup = settings.ui = settings.endpoint_slots = False
    settings.verbosity = _SILENT
    settings.n_threads_http = 1
    settings.api_keys = [secrets.token_urlsafe(32)]
    door = str(Path(folder) / "llama.sock")
    if os.name == "posix" and len(os.fsencode(door)) <= _SOCKET_PATH:
        settings.hostnames = [door]
    try:
        return library.Server(settings)
    except (RuntimeError, ValueError) as error:
        raise _error(
            path.stem,
            f"cannot be loaded by llama.cpp: {path} may be too large for this machine's memory (a smaller llm_context "
            "helps), or newer than the installed xllamacpp (pip install --upgrade xllamacpp)",
        ) from error


def _request(prompt: Prompt, controls: re.Pattern[str] | None) -> dict[str, Any]:
    request: dict[str, Any] = {
        "messages": [{"role": turn.role, "content": _plain(turn.text, controls)} for turn in prompt.turns],
        "max_tokens": prompt.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # a sign of life after each batch of the prompt
        "chat_template_kwargs": {"enable_thinking": False},  # thoughts would be dropped, and cost minutes on a CPU
    }
    if prompt.temperature is not None:
        request["temperature"] = prompt.temperature
    if prompt.schema is not None:
        request["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": dict(prompt.schema)},
        }
    return request


def _plain(text: str, controls: re.Pattern[str] | None) -> str:
    """Return a text that steers nothing: what would end a turn or begin one is broken by a space of no width."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text if controls is None else controls.sub(lambda found: found[0][0] + _BROKEN + found[0][1:], text)


def _refused(name: str, told: Mapping[str, Any]) -> LanguageError:
    if told.get("type") == _OVERFLOW:
        return _error(
            name,
            f"takes in {told.get('n_ctx')} tokens, and the prompt has {told.get('n_prompt_tokens')}: lower "
            "refine_messages, raise llm_context, or choose a model that was trained for more",
        )
    return _error(name, f"could not answer this prompt: {told.get('message', told)}", passing=told.get("code") == 503)


def _slow(name: str, timeout: float) -> LanguageError:
    return _error(
        name,
        f"did not finish within {timeout:g} s: raise llm_timeout, lower refine_messages, or choose a smaller model",
        passing=True,
    )


def _error(name: str, message: str, *, passing: bool = False) -> LanguageError:
    return LanguageError(f"{name} {message}", passing=passing, retry_after=None, status=None, model=name)
