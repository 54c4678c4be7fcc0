"""What tests of all kinds share: places for stores, how examples are drawn, and the end of what a run has started."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from tests.databases import databases_of_a_test, end_servers, engine, place, postgres

__all__ = ["databases_of_a_test", "engine", "place", "postgres"]

settings.register_profile("fixed", derandomize=True, database=None)
settings.register_profile("exploring", max_examples=1_000)
settings.load_profile("exploring" if os.environ.get("MNEMIC_EXPLORE") else "fixed")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the servers that this process has started."""
    end_servers()
