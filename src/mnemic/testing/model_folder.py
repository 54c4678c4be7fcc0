"""Writes folders of models as stand-ins for downloaded ones: the bundled model in the sentence-transformers layout, a
static model of random token vectors, and tensors in a safetensors file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mnemic.backends.models import bundled

_TYPES: Final = {"<f4": "F32", "<f2": "F16", "<f8": "F64", "|i1": "I8", "<i8": "I64"}


def write_model_folder(path: Path, *, prompts: dict[str, str] | None = None, pooling: str = "mean_tokens") -> Path:
    """Create the folder with graph (a link to the installed one), tokenizer and descriptions, and return it."""
    (path / "onnx").mkdir(parents=True)
    (path / "1_Pooling").mkdir()
    (path / "onnx" / "model.onnx").symlink_to(bundled.weights_path())
    bundled.bert_uncased_tokenizer().save(str(path / "tokenizer.json"))
    described: dict[str, dict[str, object]] = {
        "config.json": {"model_type": "bert", "hidden_size": 384, "max_position_embeddings": 512, "pad_token_id": 0},
        "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": prompts or {}},
        "1_Pooling/config.json": {"word_embedding_dimension": 384, f"pooling_mode_{pooling}": True},
    }
    for name, content in described.items():
        (path / name).write_text(json.dumps(content), encoding="utf-8")
    return path


def add_layer(path: Path, name: str, weight: NDArray[np.float32], *, activation: str = "Identity") -> None:
    """Give a model folder a dense layer after pooling, without a bias."""
    (path / name).mkdir()
    write_tensors(path / name / "model.safetensors", {"linear.weight": weight})
    config = {"out_features": len(weight), "activation_function": f"torch.nn.modules.activation.{activation}"}
    (path / name / "config.json").write_text(json.dumps(config), encoding="utf-8")
    places = {"Transformer": "", "Pooling": "1_Pooling", "Dense": name, "Normalize": "3_Normalize"}
    modules = [{"type": f"sentence_transformers.models.{kind}", "path": place} for kind, place in places.items()]
    (path / "modules.json").write_text(json.dumps(modules), encoding="utf-8")


def write_static_folder(path: Path, *, width: int = 64, kind: str = "<f4") -> Path:
    """Create the folder of a model2vec model with a random vector for each of BERT's tokens, and return it."""
    path.mkdir(parents=True)
    tokenizer = bundled.bert_uncased_tokenizer()
    tokenizer.save(str(path / "tokenizer.json"))
    vectors = np.random.default_rng(7).normal(size=(tokenizer.get_vocab_size(), width)) * 20
    write_tensors(path / "model.safetensors", {"embeddings": vectors.astype(kind)})
    (path / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}), encoding="utf-8")
    return path


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as a safetensors file."""
    header: dict[str, object] = {"__metadata__": {"format": "np"}}
    body = b""
    for name, array in tensors.items():
        data = array.tobytes()
        header[name] = {
            "dtype": _TYPES[array.dtype.str],
            "shape": list(array.shape),
            "data_offsets": [len(body), len(body) + len(data)],
        }
        body += data
    told = json.dumps(header).encode()
    path.write_bytes(len(told).to_bytes(8, "little") + told + body)
