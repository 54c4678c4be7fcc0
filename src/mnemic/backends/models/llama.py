"""A language model that is a GGUF file, run by llama.cpp through the package `xllamacpp` of the extra `mnemic[local]`.

Nothing that is said to it leaves the machine. What runs it, and in which process, is in `llama_engine.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mnemic.backends.models.llama_engine import Engine, engine_for, fault
from mnemic.backends.models.thoughts import ThoughtFilter
from mnemic.errors import LanguageError
from mnemic.model.language import Prompt, Reply

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
        self._engine: Engine | None = None

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
            raise fault(self.name, f"cannot answer as {prompt.model!r}: name another file as llm_model")
        if any(turn.pictures for turn in prompt.turns):
            raise fault(self.name, "is run without eyes: pictures need a server with a vision model (vision_model)")
        engine = self._engine
        if engine is None or not engine.usable:
            self._engine = engine = engine_for(self._path, self._context, self._threads)
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
            raise fault(self._name, "stopped before the end of its reply", passing=True)
        if not text.strip():
            raise fault(self._name, f"said nothing{' within max_tokens: raise it' if cut else ''}")
        return Reply(
            text=text,
            model=self._name,
            tokens_in=self._usage.get("prompt_tokens", 0),
            tokens_out=self._usage.get("completion_tokens", 0),
            tokens_cached=(self._usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0),
            cut=cut,
        )


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
        return fault(
            name,
            f"takes in {told.get('n_ctx')} tokens, and the prompt has {told.get('n_prompt_tokens')}: lower "
            "refine_messages, raise llm_context, or choose a model that was trained for more",
        )
    return fault(name, f"could not answer this prompt: {told.get('message', told)}", passing=told.get("code") == 503)
