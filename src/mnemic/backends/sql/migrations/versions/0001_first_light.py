"""The first schema, of which nothing is made any more: a new store gets its tables in 0006, in their present form.

Stores that hold its tables are brought up by the migrations after it.
"""

from __future__ import annotations

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Do nothing."""
