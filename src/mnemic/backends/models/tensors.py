"""Reads tensors of a safetensors file into NumPy: enough for the small parts that some models have beside their graph.

The format is eight bytes of length, a JSON header with type, shape and place of each tensor, then the numbers.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES: Final = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "|i1", "U8": "|u1"}
_BRAIN: Final = "BF16"  # the upper half of a 32-bit float
_HEADER_LIMIT: Final = 100_000_000  # the format's own limit


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a file by name; raises EmbedderError when it is damaged or of a type that NumPy lacks."""
    try:
        data = path.read_bytes()
        size = int.from_bytes(data[:8], "little")
        if not 0 < size <= min(_HEADER_LIMIT, len(data) - 8):
            raise ValueError("its header does not fit")  # noqa: TRY301 - told with the other faults below
        header = json.loads(data[8 : 8 + size])
        body = memoryview(data)[8 + size :]
        return {name: _tensor(told, body) for name, told in header.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EmbedderError(f"{path} cannot be read ({error}); fetch the model again", file=str(path)) from error


def _tensor(told: dict[str, Any], body: memoryview) -> NDArray[Any]:
    start, end = told["data_offsets"]
    shape = tuple(told["shape"])
    if told["dtype"] == _BRAIN:
        halves = np.frombuffer(body[start:end], dtype="<u2").astype(np.uint32)
        return (halves << 16).view(np.float32).reshape(shape)
    kind = np.dtype(_TYPES[told["dtype"]])
    if end - start != math.prod(shape) * kind.itemsize:
        raise ValueError(f"a tensor of shape {shape} has {end - start} bytes")
    return np.frombuffer(body[start:end], dtype=kind).reshape(shape)
