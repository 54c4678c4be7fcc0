"""Writes small GGUF files: real ones in form, with no model inside that could run."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DESCRIBED: Mapping[str, Any] = {
    "general.architecture": "llama",
    "general.name": "Tiny",
    "llama.context_length": 4096,
    "tokenizer.chat_template": "{{ messages }}",
    "tokenizer.ggml.tokens": ["<|end|>", "a", "b"],
    "tokenizer.ggml.token_type": [3, 1, 1],
}
F32, Q8_0 = 0, 8


def write_gguf(path: Path, *, version: int = 3, tensors: int = 2, kind: int = F32, **changed: Any) -> Path:
    """Write a file; `changed` are entries with `__` for a dot, None leaves one out."""
    entries = {**DESCRIBED, **{key.replace("__", "."): value for key, value in changed.items()}}
    entries = {key: value for key, value in entries.items() if value is not None}
    head = b"GGUF" + struct.pack("<IQQ", version, tensors, len(entries))
    head += b"".join(_text(key) + _typed(value) for key, value in entries.items())
    for number in range(tensors):
        head += _text(f"tensor.{number}") + struct.pack("<IQQIQ", 2, 32, 4, kind, number * 512)
    head += b"\0" * (-len(head) % 32)
    path.write_bytes(head + b"\1" * (tensors * 512))
    return path


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _typed(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if value and isinstance(value[0], str):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))
    return struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
