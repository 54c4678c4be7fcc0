"""Reads a folder in the sentence-transformers layout into a recipe: which files, which pooling, how many tokens, which
prefixes. It relies on the small JSON files that such folders carry and loads no weights; a folder that leaves a
needed thing unsaid is an error that names the file. What the folder's `mnemic.json` says goes before all of them.
"""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.backends.models.batches import Pooling
from mnemic.backends.models.layers import DensePlan, plan_layer
from mnemic.backends.models.overrides import Overrides, read_overrides
from mnemic.backends.models.prefixes import Prefixes, known_prefixes
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
_MODULES = frozenset({"Transformer", "Pooling", "Dense", "Normalize"})


def find_graph(folder: Path) -> Path | None:
    """Return the ONNX graph that a folder's `mnemic.json` names, else the preferred one, or None."""
    named = read_overrides(folder).graph
    if named is not None:
        if not (folder / named).is_file():
            raise EmbedderError(
                f"{folder}/mnemic.json names the graph {named!r}, which is not there", folder=str(folder)
            )
        return folder / named
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
    said = read_overrides(folder)
    layers = _layers(folder)
    prefixes, marks = _prefixes(folder, said)
    max_tokens = _max_tokens(folder, model, said.max_tokens)
    return Recipe(
        name=f"{folder.resolve().name}-{fingerprint(folder, weights, marks)}",
        width=layers[-1].width if layers else _width(folder, pooling, model),
        max_tokens=max_tokens,
        pooling=said.pooling or _pooling(folder, pooling),
        tokenizer=partial(load_tokenizer, folder / TOKENIZER, max_tokens),
        passage_prefix=prefixes.passage,
        query_prefix=prefixes.query,
        pad_id=_whole(model.get("pad_token_id")) or 0,
        layers=layers,
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


def _layers(folder: Path) -> tuple[DensePlan, ...]:
    """Return the dense layers after pooling; raises EmbedderError when the model has a module that Mnemic lacks."""
    path = folder / "modules.json"
    if not path.is_file():
        return ()
    try:
        modules = json.loads(path.read_text(encoding="utf-8"))
        told = [(str(module["type"]).rsplit(".", 1)[-1], str(module["path"])) for module in modules]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderError(f"{path} cannot be read ({error}); fetch the model again", file=str(path)) from error
    lacking = sorted({kind for kind, _ in told} - _MODULES)
    if lacking:
        raise EmbedderError(
            f"{path} asks for {', '.join(lacking)}; Mnemic has {', '.join(sorted(_MODULES))}", file=str(path)
        )
    return tuple(
        plan_layer(folder / place, _read(folder, f"{place}/config.json")) for kind, place in told if kind == "Dense"
    )


def _prefixes(folder: Path, said: Overrides) -> tuple[Prefixes, str]:
    """Return what goes before questions and passages, and marks of what of it no file of the model's own says."""
    marks = said.marks
    told = _read(folder, "config_sentence_transformers.json").get("prompts")
    prompts = told if isinstance(told, dict) else {}
    found = Prefixes(_prompt(prompts, _QUERY_PROMPTS), _prompt(prompts, _PASSAGE_PROMPTS))
    if not any(found):
        found = known_prefixes(folder.resolve().name)
        marks += found.passage
    return Prefixes(
        found.query if said.query_prefix is None else said.query_prefix,
        found.passage if said.passage_prefix is None else said.passage_prefix,
    ), marks


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


def _max_tokens(folder: Path, model: dict[str, object], said: int | None) -> int:
    """Return what was said, else sentence-transformers, else the tokenizer; never more than the model has positions."""
    asked = said or _whole(_read(folder, "sentence_bert_config.json").get("max_seq_length"))
    asked = asked or _whole(_read(folder, "tokenizer_config.json").get("model_max_length")) or _DEFAULT_TOKENS
    positions = _whole(model.get("max_position_embeddings"))
    return min(asked, positions or _DEFAULT_TOKENS)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _prompt(prompts: dict[str, object], names: tuple[str, ...]) -> str:
    return next((text for name in names if isinstance(text := prompts.get(name), str)), "")


def fingerprint(folder: Path, weights: Path, marks: str = "") -> str:
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
    for name in sorted(path.relative_to(folder).as_posix() for path in folder.glob("*_Dense/*")):
        digest.update((folder / name).read_bytes())
    digest.update(marks.encode())
    return digest.hexdigest()[:8]
