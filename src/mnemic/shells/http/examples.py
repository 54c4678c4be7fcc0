"""An example of each operation, for its description and for a walk through all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

EXAMPLES: Final[Mapping[str, Mapping[str, Any]]] = {}
"""By verb: what it is given."""
