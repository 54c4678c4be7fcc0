"""Reads a folder in the sentence-transformers layout into a recipe: which files, which pooling, how many tokens, which
prefixes. It relies on the small JSON files that such folders carry and loads no weights; a folder that leaves a
needed thing unsaid is an error that names the file.
"""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.backends.models.batches import Pooling
from mnemic.backends.models.sentence import Recipe
from mnemic.errors import EmbedderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

GRAPHS: Final = ("onnx/model.onnx", "model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")
"""In order of preference: full weights first, as dynamically quantized ones run text by text (see `onnx_graph`)."""

SAFETENSORS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
_EDGE_BYTES = 1 << 20
_DEFAULT_TOKENS = 512
_QUERY_PROMPTS = ("query", "search_query")
_PASSAGE_PROMPTS = ("passage", "document", "search_document")


def find_graph(folder: Path) -> Path | None:
    """Return the preferred ONNX graph of a folder, or None."""
    return next((folder / name for name in GRAPHS if (folder / name).is_file()), None)


def need_graph(folder: Path) -> Path:
    """Return the preferred ONNX graph; raises EmbedderError that says what the folder has instead."""
    graph = find_graph(folder)
    if graph is None:
        raise EmbedderError(
            f"{folder} holds {SAFETENSORS} but no ONNX graph: add onnx/model.onnx, or install the extra "
            "mnemic[parametric] to run it with torch"
            if (folder / SAFETENSORS).is_file()
            else f"{folder} is no model folder: it has none of {', '.join(GRAPHS)} and no {SAFETENSORS}",
            folder=str(folder),
        )
    return graph


def describe(folder: Path, weights: Path) -> Recipe:
    """Return what the JSON files of a folder say about its model, for weights of any kind."""
    if not (folder / TOKENIZER).is_file():
        raise EmbedderError(
            f"{folder} has no {TOKENIZER}; fetch the model again or export its tokenizer", folder=str(folder)
        )
    pooling = _read(folder, "1_Pooling/config.json")
    model = _read(folder, "config.json")
    prompts = _read(folder, "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    max_tokens = _max_tokens(folder, model)
    return Recipe(
        name=f"{folder.resolve().name}-{_fingerprint(folder, weights)}",
        width=_width(folder, pooling, model),
        max_tokens=max_tokens,
        pooling=_pooling(folder, pooling),
        tokenizer=partial(load_tokenizer, folder / TOKENIZER, max_tokens),
        passage_prefix=_prompt(prompts, _PASSAGE_PROMPTS),
        query_prefix=_prompt(prompts, _QUERY_PROMPTS),
        pad_id=_whole(model.get("pad_token_id")) or 0,
    )


def load_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    """Return the tokenizer of a file, truncating and unpadded; special tokens inside a text are read as text."""
    from tokenizers import Tokenizer  # noqa: PLC0415 - paid only by who embeds

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # broad: the library raises bare Exception; translated, its cause kept
        raise EmbedderError(f"{path} is not a tokenizer ({error}); fetch the model again", file=str(path)) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    tokenizer.encode_special_tokens = True
    return tokenizer


def _read(folder: Path, name: str) -> dict[str, object]:
    """Return the JSON object of a file, empty when the file is absent."""
    path = folder / name
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EmbedderError(
            f"{path} cannot be read as JSON ({error}); fetch the model again", file=str(path)
        ) from error
    if not isinstance(content, dict):
        raise EmbedderError(f"{path} must hold a JSON object; fetch the model again", file=str(path))
    return content


def _pooling(folder: Path, config: dict[str, object]) -> Pooling:
    """Return the pooling that a folder asks for: mean when it says nothing, an error when it is one we lack."""
    asked = sorted(key for key, value in config.items() if key.startswith("pooling_mode_") and value is True)
    named = config.get("pooling_mode")
    if isinstance(named, str):
        asked = [f"pooling_mode_{named}"]
    if asked in ([], ["pooling_mode_mean_tokens"], ["pooling_mode_mean"]):
        return "mean"
    if asked in (["pooling_mode_cls_token"], ["pooling_mode_cls"]):
        return "cls"
    raise EmbedderError(
        f"{folder}/1_Pooling/config.json asks for {', '.join(asked)}; Mnemic has mean and cls", folder=str(folder)
    )


def _width(folder: Path, pooling: dict[str, object], model: dict[str, object]) -> int:
    keys = (
        pooling.get("word_embedding_dimension"),
        pooling.get("embedding_dimension"),
        model.get("hidden_size"),
        model.get("dim"),
    )
    width = next((found for found in map(_whole, keys) if found), None)
    if width is None:
        raise EmbedderError(
            f"{folder} does not say how wide its vectors are: add word_embedding_dimension to 1_Pooling/config.json",
            folder=str(folder),
        )
    return width


def _max_tokens(folder: Path, model: dict[str, object]) -> int:
    """Return what sentence-transformers says, else the tokenizer, and never more than the model has positions."""
    asked = _whole(_read(folder, "sentence_bert_config.json").get("max_seq_length"))
    asked = asked or _whole(_read(folder, "tokenizer_config.json").get("model_max_length")) or _DEFAULT_TOKENS
    positions = _whole(model.get("max_position_embeddings"))
    return min(asked, positions or _DEFAULT_TOKENS)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _prompt(prompts: dict[str, object], names: tuple[str, ...]) -> str:
    return next((text for name in names if isinstance(text := prompts.get(name), str)), "")


def _fingerprint(folder: Path, weights: Path) -> str:
    """Return eight hex digits of the weights' size, first and last MiB, and of the files that change vectors.

    Not the whole file: a name must be known before a model of gigabytes is read, and training changes all layers.
    """
    digest = hashlib.sha256(str(weights.stat().st_size).encode())
    with weights.open("rb") as file:
        digest.update(file.read(_EDGE_BYTES))
        file.seek(max(0, weights.stat().st_size - _EDGE_BYTES))
        digest.update(file.read(_EDGE_BYTES))
    for name in ("1_Pooling/config.json", "config_sentence_transformers.json", "sentence_bert_config.json", TOKENIZER):
        path = folder / name
        digest.update(path.read_bytes() if path.is_file() else b"-")
    return digest.hexdigest()[:8]
