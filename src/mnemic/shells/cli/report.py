"""The demo as a page for the browser."""

from __future__ import annotations

from mnemic.shells.cli.demo_run import Outcome


def page(outcome: Outcome) -> str:
    """Return the report as one HTML document that needs nothing from outside."""
    return f"<html>{outcome.turns}</html>"
