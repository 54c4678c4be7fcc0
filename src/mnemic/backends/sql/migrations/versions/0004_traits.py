"""Entries tell what their passage is like: whether it asks, holds a number, a time or a name, and who says it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_REPLY = 256


def upgrade() -> None:
    """Add the column; replies are marked here, and the rest is read when the text is indexed anew."""
    if not sa.inspect(op.get_bind()).has_table("cube"):
        return  # a new store: 0006 makes all
    op.add_column("entry", sa.Column("traits", sa.Integer(), server_default=sa.text("0"), nullable=False))
    op.execute(
        sa.text(
            "UPDATE entry SET traits = :reply WHERE owner IN (SELECT id FROM message WHERE role = 'assistant')"
        ).bindparams(reply=_REPLY)
    )
