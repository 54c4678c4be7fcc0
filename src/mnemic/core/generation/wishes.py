"""What a caller may wish of an answer, checked, with the settings in the place of what was not said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from mnemic.core.generation.prompting import Manner
from mnemic.core.intake import check_count, check_tokens
from mnemic.errors import InputError
from mnemic.model.answer import AskOptions

EXTRACTIVE: Final = "extractive"
"""The mode of an answer that no model wrote."""

MODES: Final = ("auto", EXTRACTIVE, "model")
MOST: Final = 10
"""Further searches and next questions at most."""

BUDGET: Final = 2_000
"""Tokens of memories in a prompt, unless the caller says otherwise."""

SHORTEST: Final = 512
"""Tokens of its context that a reply must leave for the prompt."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the settings say: `context` is how many tokens the model takes in, prompt and reply together."""

    manner: Manner = field(default_factory=Manner)
    temperature: float = 0.0
    max_tokens: int = 1_024
    context: int = 8_192


@dataclass(frozen=True, slots=True)
class Wish:
    """A checked wish. `model` empty means the configured one."""

    mode: str
    depth: int
    suggest: int
    budget: int
    manner: Manner
    model: str
    temperature: float
    max_tokens: int


def read_wish(options: AskOptions, defaults: Defaults) -> Wish:
    """Return a caller's options, checked; see `Memory.ask`. Raises `InputError`."""
    mode = options.get("mode", "auto")
    if mode not in MODES:
        raise InputError("mode", f"{mode!r} is not known; known: {', '.join(MODES)}")
    own = defaults.manner
    return Wish(
        mode=mode,
        depth=check_count(options.get("depth", 0), "depth", least=0, most=MOST),
        suggest=check_count(options.get("suggest", 0), "suggest", least=0, most=MOST),
        budget=check_tokens(options.get("budget", BUDGET), "budget"),
        manner=Manner(
            _words("persona", options.get("persona"), own.persona),
            _words("style", options.get("style"), own.style),
            _words("relationship", options.get("relationship"), own.relationship),
            _words("system", options.get("system"), own.system),
        ),
        model=_words("model", options.get("model"), ""),
        temperature=_temperature(options.get("temperature"), defaults.temperature),
        max_tokens=_max_tokens(options.get("max_tokens"), defaults),
    )


def _words(name: str, given: object, default: str) -> str:
    if given is None:
        return default
    if not isinstance(given, str):
        raise InputError(name, f"needs a string, got {type(given).__name__}")
    return given.strip()


def _temperature(given: object, default: float) -> float:
    if given is None:
        return default
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 2:
        raise InputError("temperature", f"needs a number from 0 to 2, got {given!r}")
    return float(given)


def _max_tokens(given: object, defaults: Defaults) -> int:
    if given is None:
        return min(defaults.max_tokens, defaults.context // 2)
    asked = check_tokens(given, "max_tokens")
    most = defaults.context - SHORTEST
    if asked > most:
        raise InputError(
            "max_tokens", f"leaves no room for the prompt: of llm_context {defaults.context} at most {most}"
        )
    return asked
