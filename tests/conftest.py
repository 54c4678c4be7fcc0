"""What tests of all kinds share: places for stores, and the end of what a run has started."""

from __future__ import annotations

import pytest

from tests.databases import databases_of_a_test, end_servers, engine, place, postgres

__all__ = ["databases_of_a_test", "engine", "place", "postgres"]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the servers that this process has started."""
    end_servers()
