"""Vectors of large cubes, compared by the engine: this process holds none of them (`CubeView.apart`)."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mnemic.model.index import Vector

Keys = NDArray[np.int64]
"""Keys of entries."""

Cosines = NDArray[np.float32]
"""Cosines, in the order of what was asked."""


class Near(Protocol):
    """An index of the engine over vectors. Engines without one have no view whose vectors are apart."""

    def outgrown(self, cube_key: int) -> bool:
        """Tell whether a cube has grown so large that its vectors are to go to the engine's index, and are not yet."""
        ...

    def spread(self, cube_key: int, limit: int) -> int:
        """Put so many of a cube's vectors into the index; return how many, 0 when all are there. Under its lock."""
        ...

    def nearest(self, cube_key: int, vector: Vector, limit: int) -> Keys:
        """Return entries whose vectors are nearest, the nearest first; a few of them may be missed."""
        ...

    def cosines(self, cube_key: int, vector: Vector, keys: Keys) -> Cosines:
        """Return the true cosine of a vector with each of these entries, 0 for one that has none."""
        ...

    def pairs(self, cube_key: int, first: Keys, second: Keys) -> Cosines:
        """Return the true cosine of each of these entries with one other, 0 where one of the two has no vector."""
        ...
