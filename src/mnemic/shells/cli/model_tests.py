"""What `mnemic models test` does: calls each configured model as Mnemic does, times it, says what to do when it fails.

A language model is asked three short questions; what that costs at a provider is told in tokens.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from mnemic import wiring
from mnemic.config import Settings
from mnemic.errors import InputError, MnemicError
from mnemic.model.language import Prompt, Reply, Turn
from mnemic.shells.cli.checkup import SAMPLE
from mnemic.shells.cli.model_lists import Configured
from mnemic.shells.cli.wording import DASH, one_line, took

_LONGEST: Final = 512
"""Tokens that a reply to a test may have: a model that thinks aloud needs some hundred."""
_QUESTION: Final = "In one or two sentences: what is a diary good for?"
_FACT: Final = "Ann said on Monday that she moved to Porto. Where does Ann live now? Answer as JSON."
_ASKED: Final = "Where does Ann live?"
_ANSWERS: Final = ("Ann lives in Porto.", "The kettle is on the second shelf.")
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"person": {"type": "string"}, "city": {"type": "string"}},
    "required": ["person", "city"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Tested:
    """How one model did. `figures` are seconds, counts and rates by name; empty when it failed."""

    purpose: str
    model: str
    ok: bool
    told: str
    advice: str = ""
    figures: Mapping[str, float | bool] = field(default_factory=dict)


def run(settings: Settings, one: Configured) -> Tested:
    """Call a configured model, and time it."""
    try:
        return _TESTS[one.purpose](settings)
    except InputError as error:
        return Tested(one.purpose, one.model, False, str(error), f"see {_SETTINGS[one.purpose]}")
    except MnemicError as error:
        return Tested(one.purpose, one.model, False, str(error), f"see {_SETTINGS[one.purpose]}, and docs/models.md")


def table(found: list[Tested], missing: list[Configured]) -> RenderableType:
    """Return how the models did, one a row, with advice below those that failed."""
    rows = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for _ in range(3):
        rows.add_column(overflow="fold")  # a path is wrapped, never cut
    for one in found:
        rows.add_row(Text("ok", "bold green") if one.ok else Text("wrong", "bold red"), one.purpose, one_line(one.told))
        if one.advice:
            rows.add_row("", "", Text(f"→ {one.advice}", "yellow"))
    for left in missing:
        rows.add_row(Text(DASH, "dim"), left.purpose, Text(f"not configured: {left.how}", "dim"))
    return rows


def _embedder(settings: Settings) -> Tested:
    began = time.perf_counter()
    embedder = wiring.build_embedder(settings)
    try:
        embedder.embed(SAMPLE[:1])
        cold = time.perf_counter() - began
        warm = _seconds(lambda: embedder.embed([SAMPLE[1]]))
        many = _seconds(lambda: embedder.embed(SAMPLE))
    finally:
        getattr(embedder, "close", lambda: None)()
    rate = len(SAMPLE) / max(many, 1e-9)
    told = (
        f"{embedder.name}, {embedder.width} wide: first text in {took(cold)}, the next in {took(warm)}, "
        f"{rate:,.0f} short texts a second"
    )
    figures = {"width": embedder.width, "cold_seconds": cold, "warm_seconds": warm, "texts_per_second": rate}
    return Tested("embedder", embedder.name, True, told, figures=figures)


def _llm(settings: Settings) -> Tested:
    return _language_model("llm", settings, wiring.build_llm(settings))


def _judge(settings: Settings) -> Tested:
    return _language_model("judge", settings, wiring.build_judge(settings))


def _reranker(settings: Settings) -> Tested:
    reranker = wiring.build_reranker(settings)
    if reranker is None:
        raise InputError("rerank_base_url", "is empty")
    try:
        began = time.perf_counter()
        scores = reranker.rerank(_ASKED, _ANSWERS)
        cold = time.perf_counter() - began
        warm = _seconds(lambda: reranker.rerank(_ASKED, SAMPLE))
    finally:
        reranker.close()
    right = scores[0] > scores[1]
    rate = len(SAMPLE) / max(warm, 1e-9)
    told = f"{reranker.name}: two texts in {took(cold)}, {rate:,.0f} short texts a second"
    advice = "" if right else "it put the wrong one of two texts first: see whether the model is a reranker"
    figures = {"cold_seconds": cold, "texts_per_second": rate, "right": right}
    return Tested("reranker", reranker.name, right, told, advice, figures)


def _language_model(purpose: str, settings: Settings, model: Any) -> Tested:
    most = min(settings.llm_max_tokens, _LONGEST)
    try:
        cold, _, first = _timed(model, Prompt((Turn("user", "Say hello."),), max_tokens=most))
        warm, rest, second = _timed(model, Prompt((Turn("user", _QUESTION),), max_tokens=most))
        kept, third = _schema_kept(model, most)
    finally:
        model.close()
    rate = second.tokens_out / max(rest, 1e-9)
    spent = sum(reply.tokens_in + reply.tokens_out for reply in (first, second, third))
    told = (
        f"{second.model}: first token after {took(cold)} cold and {took(warm)} warm, {rate:,.0f} tokens a second, "
        f"{'keeps' if kept else 'does not keep'} a JSON schema; the test took {spent:,} tokens"
    )
    advice = "" if kept else "answers work; for refining, choose a model or server that can be held to a JSON schema"
    figures = {
        "cold_seconds": cold, "warm_seconds": warm, "tokens_per_second": rate, "keeps_schema": kept, "tokens": spent,
    }  # fmt: skip
    return Tested(purpose, second.model, True, told, advice, figures)


def _timed(model: Any, prompt: Prompt) -> tuple[float, float, Reply]:
    """Return the seconds until the first piece came, those from there to the end, and the reply."""
    began = time.perf_counter()
    first = 0.0
    for piece in model.stream(prompt):
        first = first or time.perf_counter() - began
        if isinstance(piece, Reply):
            return first, time.perf_counter() - began - first, piece
    raise AssertionError  # a stream ends with its reply or raises


def _schema_kept(model: Any, most: int) -> tuple[bool, Reply]:
    reply = model.complete(Prompt((Turn("user", _FACT),), schema=_SCHEMA, max_tokens=most))
    try:
        told = json.loads(reply.text)
    except ValueError:
        return False, reply
    fits = isinstance(told, dict) and set(told) == set(_SCHEMA["required"])
    return fits and all(isinstance(value, str) for value in told.values()), reply


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


_TESTS: Final[Mapping[str, Callable[[Settings], Tested]]] = {
    "embedder": _embedder,
    "llm": _llm,
    "judge": _judge,
    "reranker": _reranker,
}
_SETTINGS: Final[Mapping[str, str]] = {
    "embedder": "MNEMIC_EMBEDDER and MNEMIC_EMBED_…",
    "llm": "MNEMIC_LLM_…",
    "judge": "MNEMIC_JUDGE_…",
    "reranker": "MNEMIC_RERANK_…",
}
