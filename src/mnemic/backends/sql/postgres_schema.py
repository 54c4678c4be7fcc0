"""The tables of the first schema on PostgreSQL, made by one script beside the migrations."""

from __future__ import annotations

from importlib import resources
from typing import Any, Final

from sqlalchemy import Connection

_SCRIPT: Final = "0006_postgres.sql"


def create(connection: Connection) -> None:
    """Run the script in the open transaction: all of its statements in one message to the server."""
    words = (resources.files(__package__) / "migrations" / _SCRIPT).read_text("utf-8")
    driver: Any = connection.connection.dbapi_connection
    driver.execute(words, prepare=False)
