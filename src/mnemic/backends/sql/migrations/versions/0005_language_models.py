"""Language models: which messages one has read, what it said of segments and why, entities, changes, and its calls."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns and tables."""
    if not sa.inspect(op.get_bind()).has_table("cube"):
        return  # a new store: 0006 makes all
    empty, none = sa.text("''"), sa.text("0")
    op.add_column("message", sa.Column("refined", sa.Integer(), server_default=none, nullable=False))
    op.create_index("ix_message_to_refine", "message", ["cube_key", "id"], sqlite_where=sa.text("refined = 0"))
    op.add_column("segment", sa.Column("title", sa.Text(), server_default=empty, nullable=False))
    op.add_column("segment", sa.Column("described", sa.Integer(), server_default=none, nullable=False))
    op.add_column("memory_version", sa.Column("drawn_by", sa.Text(), server_default=empty, nullable=False))
    op.add_column("memory_version", sa.Column("reason", sa.Text(), server_default=empty, nullable=False))
    _create_entities()
    _create_logs()


def _create_entities() -> None:
    op.create_table(
        "entity",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("cube_key", _KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_entity"),
        sa.ForeignKeyConstraint(["cube_key"], ["cube.key"], name="fk_entity_cube_key", ondelete="CASCADE"),
        sa.UniqueConstraint("cube_key", "name_key", "type", name="uq_entity_cube_key_name_key_type"),
    )
    op.create_table(
        "mention",
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("entity_id", "message_id", name="pk_mention"),
        sa.ForeignKeyConstraint(["entity_id"], ["entity.id"], name="fk_mention_entity_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["message_id"], ["message.id"], name="fk_mention_message_id", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_mention_message_id", "mention", ["message_id"])


def _create_logs() -> None:
    op.create_table(
        "change",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("cube_key", _KEY, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("asked", sa.Text(), nullable=False),
        sa.Column("steps", sa.Text(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("undone_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_change"),
        sa.ForeignKeyConstraint(["cube_key"], ["cube.key"], name="fk_change_cube_key", ondelete="CASCADE"),
    )
    op.create_index("ix_change_cube_key_id", "change", ["cube_key", "id"])
    op.create_table(
        "model_call",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("cube_key", _KEY, nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_model_call"),
        sa.ForeignKeyConstraint(["cube_key"], ["cube.key"], name="fk_model_call_cube_key", ondelete="CASCADE"),
    )
    op.create_index("ix_model_call_cube_key_at", "model_call", ["cube_key", "at"])


_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
