"""Alembic's entry: runs the migrations on the connection that the store opened, inside its transaction."""

from __future__ import annotations

from alembic import context

from mnemic.backends.sql.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
