"""Writes the bundled model as a folder in the sentence-transformers layout, as a stand-in for a downloaded one."""

from __future__ import annotations

import json
from pathlib import Path

from mnemic.backends.models import bundled


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
