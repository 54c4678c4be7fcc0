"""What `mnemic models` shows: which model is configured for which purpose, what is pulled, what is worth a pull.

Nothing is called. Keys stay out of it, those inside addresses too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mnemic import wiring
from mnemic.config import Settings
from mnemic.shells.cli.wording import one_line, size

PURPOSES: Final = ("embedder", "llm", "judge", "reranker")
"""What models are for, as `mnemic models test` takes it."""
_OPENAI: Final = "https://api.openai.com/v1"
_ANTHROPIC: Final = "https://api.anthropic.com"
_HERE: Final = "this machine"


@dataclass(frozen=True, slots=True)
class Configured:
    """What the settings say for one purpose; `how` tells how to set what is not configured."""

    purpose: str
    configured: bool
    provider: str = ""
    model: str = ""
    endpoint: str = ""
    with_key: bool = False
    how: str = ""


@dataclass(frozen=True, slots=True)
class Pulled:
    """A model in the memory's folder."""

    name: str
    kind: str
    bytes: int
    path: Path


def configured(settings: Settings) -> list[Configured]:
    """Return what the settings say, one entry for each purpose."""
    return [_embedder(settings), _llm(settings), _judge(settings), _reranker(settings)]


def pulled(settings: Settings) -> list[Pulled]:
    """Return the models in the memory's folder, by name."""
    folder = settings.folder / wiring.MODELS
    found: list[Pulled] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.is_file() and path.suffix == ".gguf":
            found.append(Pulled(path.name, "language model", path.stat().st_size, path))
        elif path.is_dir() and not path.name.startswith("."):
            name = path.name.replace("--", "/")
            files = sorted(path.glob("*.gguf"))
            found += [Pulled(f"{name}: {file.name}", "language model", file.stat().st_size, file) for file in files]
            if not files:
                total = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
                found.append(Pulled(name, "embedder", total, path))
    return found


def table(models: Sequence[Configured], found: Sequence[Pulled]) -> RenderableType:
    """Return what is configured and what is pulled, as tables."""
    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("purpose", "provider", "model", "where"):
        rows.add_column(title, overflow="fold")
    for model in models:
        if model.configured:
            where = f"{model.endpoint}{', with a key' if model.with_key else ''}"
            rows.add_row(model.purpose, model.provider, one_line(model.model), one_line(where))
        else:
            rows.add_row(model.purpose, Text("not configured", "dim"), Text(f"→ {model.how}", "dim"), "")
    if not found:
        return rows
    shelf = _shelf(("pulled", "kind", "size", "use it with"))
    for each in found:
        shelf.add_row(each.name, each.kind, size(each.bytes), one_line(use(each.path)))
    return Group(rows, "", shelf)


def recommended(models: Iterable[Any]) -> RenderableType:
    """Return the language models that are worth a pull, as a table."""
    shelf = _shelf(("mnemic models pull …", "size", "licence", "good for"))
    for model in models:
        shelf.add_row(model.name, size(model.bytes), model.licence, model.good_for)
    return Group(
        shelf,
        "",
        "Any repository of GGUF files can be pulled so, with NAME:QUANTIZATION for another file than Q4_K_M;",
        "and any sentence embedder, such as intfloat/multilingual-e5-small: docs/models.md names some.",
    )


def use(path: Path) -> str:
    """Return the setting that uses a pulled model."""
    return f"MNEMIC_LLM_MODEL={path}" if path.suffix == ".gguf" else f"MNEMIC_EMBEDDER={path}"


def _shelf(titles: Sequence[str]) -> Table:
    shelf = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, title in enumerate(titles):
        shelf.add_column(title, overflow="fold", no_wrap=number == 0)  # names are copied from here
    return shelf


def _embedder(settings: Settings) -> Configured:
    if settings.embedder == "openai":
        return Configured(
            "embedder",
            True,
            "openai",
            settings.embed_model,
            _bare(settings.embed_base_url),
            bool(settings.embed_api_key),
        )
    return Configured("embedder", True, "local", settings.embedder, _HERE)


def _llm(settings: Settings) -> Configured:
    provider = settings.provider
    if provider == "none":
        how = (
            "MNEMIC_LLM_MODEL: a name, with MNEMIC_LLM_BASE_URL and MNEMIC_LLM_API_KEY for its server; or a GGUF file, "
            "which `mnemic models pull` brings. Without it memory works by rules"
        )
        return Configured("llm", False, how=how)
    if provider == "local":
        return Configured("llm", True, "local", settings.llm_model, _HERE)
    own = _ANTHROPIC if provider == "anthropic" else _OPENAI
    return Configured(
        "llm", True, provider, settings.llm_model, _bare(settings.llm_base_url or own), bool(settings.llm_api_key)
    )


def _judge(settings: Settings) -> Configured:
    if not settings.judge_model:
        return Configured("judge", False, how="MNEMIC_JUDGE_MODEL; only `mnemic eval --answers` asks it")
    endpoint = _bare(settings.judge_base_url or _OPENAI)
    return Configured("judge", True, "openai", settings.judge_model, endpoint, bool(settings.judge_api_key))


def _reranker(settings: Settings) -> Configured:
    if not settings.rerank_base_url:
        return Configured("reranker", False, how="MNEMIC_RERANK_BASE_URL; search is ranked without one")
    endpoint = _bare(settings.rerank_base_url)
    return Configured("reranker", True, "served", settings.rerank_model, endpoint, bool(settings.rerank_api_key))


def _bare(address: str) -> str:
    """Return an address without what may be secret in it."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
