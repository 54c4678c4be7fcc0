"""Writes what was learned as a table that people can read: `core/learned.py`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

from mnemic.core.fusion import Fusion, Row

TABLE: Final = Path(__file__).parents[2] / "src" / "mnemic" / "core" / "learned.py"

_HEAD: Final = '''"""The weights that `python -m bench.fitting --write` learned; `core.features` has the features.

A row reads: weight below the knee, knee, weight above it. Written by the script, not by hand.
"""

from __future__ import annotations

from typing import Final

from mnemic.core.fusion import Fusion, Row

LEARNED: Final = Fusion(
    rows={
'''


def written(fusion: Fusion) -> str:
    """Return the module that holds a fusion."""
    rows = "".join(f'        "{name}": Row({_numbers(row)}),\n' for name, row in fusion.rows.items())
    sureness = "".join(f'        "{name}": {weight},\n' for name, weight in fusion.sureness.items())
    return f"{_HEAD}{rows}    }},\n    sureness={{\n{sureness}    }},\n    offset={fusion.offset},\n)\n"


def _numbers(row: Row) -> str:
    return f"{row.below}" if math.isinf(row.knee) else f"{row.below}, {row.knee}, {row.above}"
