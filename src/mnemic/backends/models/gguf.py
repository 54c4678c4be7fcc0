"""Reads what a GGUF file says of itself, and checks that all of it is there, before llama.cpp is given it.

llama.cpp trusts its input: of a damaged file it tells nothing but that loading failed, and some faults end the whole
process. The format is that of ggml's `docs/gguf.md`, versions 2 and 3, little-endian.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final

MAGIC: Final = b"GGUF"
_SCALARS: Final = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING: Final = 8
_ARRAY: Final = 9
_MOST: Final = 1 << 24
"""Entries of a list, and bytes of a text: the largest vocabularies have under a million words."""
_MOST_TENSORS: Final = 100_000
_MOST_DIMENSIONS: Final = 4
_CONTROL: Final = 3
"""The type of tokens that steer a model, such as the end of a turn."""
_NEVER_CHAT: Final = frozenset({"clip", "mmproj", "bert", "nomic-bert", "jina-bert-v2", "t5encoder", "modern-bert"})
"""Architectures that write no text: encoders and the eyes of other models."""
_BLOCKS: Final[Mapping[int, tuple[int, int]]] = MappingProxyType({
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 10: (256, 84),
    11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 16: (256, 66), 17: (256, 74), 18: (256, 98),
    19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4),
    27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17),
})  # fmt: skip
"""Numbers in a block, and its bytes, for each of ggml's types that is in use (`ggml.h`, `ggml-common.h`)."""


class GgufError(ValueError):
    """The file cannot be used; the message says why and what to do, and stands after the file's name."""


@dataclass(frozen=True, slots=True)
class GgufFile:
    """What a file says of itself.

    `context` is the length in tokens that the model was trained for, 0 when it does not tell; `template`, whether it
    says how turns are put together; `controls` are the texts that steer it, such as the end of a turn.
    """

    context: int
    template: bool
    controls: tuple[str, ...]


def read(path: Path) -> GgufFile:
    """Return what the file says of itself. Raises GgufError for one that is no whole language model, and OSError."""
    size = path.stat().st_size
    with path.open("rb") as file:
        reader = _Reader(file, size)
        tensors, entries = reader.head()
        told = dict(reader.entry() for _ in range(entries))
        _check_kind(told)
        _check_tensors(reader, tensors, told)
    architecture = told["general.architecture"]
    return GgufFile(
        context=_whole(told.get(f"{architecture}.context_length")),
        template=bool(told.get("tokenizer.chat_template")),
        controls=_controls(told),
    )


class _Reader:
    """Takes values off the front of a file, never more than it holds."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self.size = size

    def head(self) -> tuple[int, int]:
        """Return how many tensors and how many entries there are."""
        if self._file.read(4) != MAGIC:
            raise GgufError("is no GGUF file")
        version = self.number("<I")
        if version not in (2, 3):
            raise GgufError(f"is of GGUF version {version & 0xFFFF}; versions 2 and 3 can be read (little-endian)")
        tensors, entries = self.number("<Q"), self.number("<Q")
        if not 0 < tensors <= _MOST_TENSORS or entries > _MOST:
            raise GgufError(f"names {tensors} tensors and {entries} entries, which cannot be: fetch it again")
        return tensors, entries

    def entry(self) -> tuple[str, Any]:
        """Return a key and its value."""
        return self.text(), self.value(self.number("<I"))

    def value(self, kind: int, *, nested: bool = False) -> Any:
        """Return a value of the given type."""
        if kind in _SCALARS:
            return self.number(_SCALARS[kind])
        if kind == _STRING:
            return self.text()
        if kind != _ARRAY or nested:
            raise GgufError(f"holds a value of the unknown type {kind}: it is damaged, fetch it again")
        of, count = self.number("<I"), self.number("<Q")
        if count > _MOST:
            raise GgufError(f"holds a list of {count} entries, which cannot be: fetch it again")
        if of in _SCALARS:
            form = f"<{count}{_SCALARS[of][1]}"
            return struct.unpack(form, self.take(struct.calcsize(form)))
        return tuple(self.value(of, nested=True) for _ in range(count))

    def text(self) -> str:
        """Return a text; bytes that are none are replaced."""
        length = self.number("<Q")
        if length > _MOST:
            raise GgufError(f"holds a text of {length} bytes, which cannot be: fetch it again")
        return self.take(length).decode("utf-8", "replace")

    def number(self, form: str) -> Any:
        """Return one number."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def take(self, count: int) -> bytes:
        """Return the next bytes, all of them."""
        found = self._file.read(count)
        if len(found) < count:
            raise GgufError(f"ends after {self.size:,} bytes, inside its description: fetch it again")
        return found

    def place(self) -> int:
        """Return how many bytes were taken."""
        return self._file.tell()


def _check_kind(told: Mapping[str, Any]) -> None:
    architecture = told.get("general.architecture")
    if not isinstance(architecture, str) or not architecture:
        raise GgufError("does not tell its architecture: it is damaged or no model, fetch it again")
    parts = _whole(told.get("split.count"))
    if parts > 1:
        raise GgufError(
            f"is one of {parts} parts: join them with llama.cpp's `llama-gguf-split --merge`, name the result"
        )
    if architecture in _NEVER_CHAT or f"{architecture}.pooling_type" in told:
        raise GgufError(f"is of the kind {architecture}, which writes no text: name an instruct model")
    if not isinstance(told.get("tokenizer.ggml.tokens"), tuple):
        raise GgufError("has no vocabulary: it is a part or an adapter, name a whole instruct model")


def _check_tensors(reader: _Reader, tensors: int, told: Mapping[str, Any]) -> None:
    ends = [_tensor_end(reader) for _ in range(tensors)]
    alignment = _whole(told.get("general.alignment")) or 32
    start = math.ceil(reader.place() / alignment) * alignment
    needed = start + max(ends)
    if needed > reader.size:
        raise GgufError(f"is cut off: it holds {reader.size:,} of its {needed:,} bytes, fetch it again")


def _tensor_end(reader: _Reader) -> int:
    """Return where a tensor ends in the file's data; a type that is not known here counts no bytes."""
    name = reader.text()
    dimensions = reader.number("<I")
    if not 0 < dimensions <= _MOST_DIMENSIONS:
        raise GgufError(f"gives tensor {name!r} {dimensions} dimensions: it is damaged, fetch it again")
    numbers = math.prod(reader.number("<Q") for _ in range(dimensions))
    kind, offset = reader.number("<I"), reader.number("<Q")
    block, size = _BLOCKS.get(kind, (1, 0))
    return int(offset + numbers // block * size)


def _controls(told: Mapping[str, Any]) -> tuple[str, ...]:
    tokens, kinds = told["tokenizer.ggml.tokens"], told.get("tokenizer.ggml.token_type", ())
    if not isinstance(kinds, tuple):
        return ()
    return tuple(token for token, kind in zip(tokens, kinds, strict=False) if kind == _CONTROL and len(token) > 1)


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
