"""Which models the settings name: embedder, language model, judge, reranker. Only the chosen backend is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict, Unpack

from mnemic.config import Settings
from mnemic.errors import InputError
from mnemic.ports.embedder import Embedder
from mnemic.ports.llm import LanguageModel, ListsModels
from mnemic.ports.reranker import Reranker
from mnemic.ports.vision import Hearing
from mnemic.wiring.readers import local_hearing

if TYPE_CHECKING:
    from mnemic.backends.models.pull_gguf import Recommended

MODELS: Final = "models"
"""The folder in a memory's folder that pulled models lie in."""


_SHORT: Final = 5.0  # seconds that a server has to say which models it has

PACKAGES: Final[Mapping[str, str]] = {"openai": "openai", "anthropic": "anthropic", "local": "xllamacpp"}
"""The package that each provider of language models needs; the extra that brings it has the provider's name."""


class _Patience(TypedDict):
    """How long a hosted model is waited for; and what the names of its settings begin with."""

    timeout: float
    tries: int
    settings: NotRequired[str]


def build_embedder(settings: Settings) -> Embedder:
    """Return the embedder that the settings name; its model is read when it is first used."""
    if settings.embedder == "bundled":
        from mnemic.backends.models.onnx import OnnxEmbedder  # noqa: PLC0415 - only the chosen backend is imported

        return OnnxEmbedder.bundled(threads=settings.embed_threads)
    if settings.embedder == "hashing":
        from mnemic.backends.models.hashing import HashingEmbedder  # noqa: PLC0415

        return HashingEmbedder()
    if settings.embedder == "openai":
        from mnemic.backends.models.http_json import JsonPoster  # noqa: PLC0415
        from mnemic.backends.models.openai_embeddings import OpenAIEmbedder  # noqa: PLC0415
        from mnemic.backends.models.prefixes import Prefixes  # noqa: PLC0415

        return OpenAIEmbedder(
            JsonPoster(settings.embed_base_url, settings.embed_api_key),
            settings.embed_model,
            prefixes=Prefixes(settings.embed_query_prefix, settings.embed_passage_prefix),
        )
    if settings.embedder == "multilingual":
        from mnemic.backends.models.multilingual import MultilingualEmbedder  # noqa: PLC0415

        return MultilingualEmbedder()
    from mnemic.backends.models.local import open_folder  # noqa: PLC0415

    pulled = settings.folder / MODELS / settings.embedder.replace("/", "--")
    for folder in (Path(settings.embedder).expanduser(), pulled):
        if folder.is_dir():
            return open_folder(folder, threads=settings.embed_threads)
    raise InputError(
        "embedder",
        f"{settings.embedder!r} is not known; use bundled, multilingual, openai, a model's folder or a pulled "
        "model's name",
    )


def build_llm(settings: Settings) -> LanguageModel | None:
    """Return the language model that the settings name, None for none; it is reached when it is first used."""
    provider = settings.provider
    if provider == "none":
        return None
    if not settings.llm_model:
        raise InputError("llm_model", f"is empty; name the model that {provider} is to run, or set llm to `none`")
    if provider == "local":
        from mnemic.backends.models.llama import LlamaModel  # noqa: PLC0415 - only the chosen backend is imported

        return LlamaModel(
            _gguf(settings), context=settings.llm_context, threads=settings.llm_threads, timeout=settings.patience
        )
    return _remote_llm(
        provider, settings.llm_base_url, settings.llm_api_key, settings.llm_model,
        timeout=settings.patience, tries=settings.llm_tries,
    )  # fmt: skip


def missing_package(provider: str) -> str | None:
    """Return the package that a provider of language models needs and that is not installed, None when all is there."""
    package = PACKAGES.get(provider)
    return package if package is not None and find_spec(package) is None else None


def models_of(settings: Settings) -> Sequence[str] | None:
    """Return the models that the language model's server says it has; None where no server is asked.

    One short try, no tokens. Raises `LanguageError` when it does not answer.
    """
    model = build_llm(replace(settings, llm_timeout=_SHORT, llm_tries=1))
    if model is None:
        return None
    try:
        return model.models() if isinstance(model, ListsModels) else None
    finally:
        model.close()


def build_judge(settings: Settings) -> LanguageModel | None:
    """Return the model that judges answers, None when none is configured."""
    if not settings.judge_model:
        return None
    return _remote_llm(
        "openai", settings.judge_base_url, settings.judge_api_key, settings.judge_model,
        timeout=settings.patience, tries=settings.llm_tries, settings="judge",
    )  # fmt: skip


def build_vision(settings: Settings) -> LanguageModel | None:
    """Return the model that looks at pictures, None when none is configured; it is reached when it is first used."""
    if not settings.vision_model:
        return None
    return _remote_llm(
        "openai", settings.vision_base_url, settings.vision_api_key, settings.vision_model,
        timeout=settings.patience, tries=settings.llm_tries, settings="vision",
    )  # fmt: skip


def build_hearing(settings: Settings) -> Hearing | None:
    """Return the model that hears recordings, None when there is none; it is reached when it is first used."""
    wanted = settings.hear
    if wanted == "local" or (wanted == "auto" and not settings.hear_model):
        return local_hearing(settings)
    if wanted == "none":
        return None
    from mnemic.backends.models.hearing import ServedHearing  # noqa: PLC0415

    return ServedHearing(
        settings.hear_base_url, settings.hear_api_key, settings.hear_model,
        timeout=settings.patience, tries=settings.llm_tries,
    )  # fmt: skip


def build_reranker(settings: Settings) -> Reranker | None:
    """Return the reranker that the settings name, None for none; it is reached when it is first used."""
    if not settings.rerank_base_url:
        return None
    from mnemic.backends.models.rerank import ServedReranker  # noqa: PLC0415

    return ServedReranker(settings.rerank_base_url, settings.rerank_api_key, settings.rerank_model)


def _remote_llm(provider: str, base_url: str, api_key: str, model: str, **patience: Unpack[_Patience]) -> LanguageModel:
    if provider == "anthropic":
        from mnemic.backends.models.anthropic_chat import AnthropicChat  # noqa: PLC0415

        return AnthropicChat(base_url, api_key, model, **patience)
    from mnemic.backends.models.openai_chat import OpenAIChat  # noqa: PLC0415

    return OpenAIChat(base_url, api_key, model, **patience)


def _gguf(settings: Settings) -> Path:
    """Return the file of a local model: a path, or a pulled model's name."""
    given = Path(settings.llm_model).expanduser()
    pulled = settings.folder / MODELS / settings.llm_model.replace("/", "--")
    for place in (given, pulled):
        if place.is_file():
            return place
        files = sorted(place.glob("*.gguf")) if place.is_dir() else []
        if files:
            return files[0]
    raise InputError(
        "llm_model", f"{settings.llm_model!r} is no GGUF file and no pulled model; `mnemic models pull` brings one"
    )


def pull_model(name: str, into: Path, *, source: str | None = None) -> Path:
    """Bring a model from a hub into a folder; return where it lies.

    A sentence embedder lies in a folder of its own and may come from the folder `source`; a language model is a GGUF
    file, meant by a name that ends in GGUF or with a quantization, such as `org/model-GGUF:Q4_K_M`.
    """
    from mnemic.backends.models.pull import pull  # noqa: PLC0415 - brings the hub's client with it
    from mnemic.backends.models.pull_gguf import is_gguf, pull_gguf  # noqa: PLC0415

    if not is_gguf(name):
        return pull(name, into, source=source)
    if source is not None:
        raise InputError("source", "is for embedders; a GGUF file on this machine is named itself as llm_model")
    return pull_gguf(name, into)


def recommended_models() -> Sequence[Recommended]:
    """Return the language models that are worth a pull."""
    from mnemic.backends.models.pull_gguf import RECOMMENDED  # noqa: PLC0415

    return RECOMMENDED
