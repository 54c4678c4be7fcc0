"""Text is read by its language: a cube notes up to which entry its full text is still of an older reading."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0001"


def upgrade() -> None:
    """Add the note; what opens the store sets it."""
    if not sa.inspect(op.get_bind()).has_table("cube"):
        return  # a new store: 0006 makes all
    op.add_column("cube", sa.Column("stale_text", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
