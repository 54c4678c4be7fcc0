"""What tests of all kinds share: places for stores, and the end of what a run has started."""

from __future__ import annotations

import pytest

from tests.databases import end_servers, place, postgres

__all__ = ["place", "postgres"]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the servers that this process has started."""
    end_servers()
