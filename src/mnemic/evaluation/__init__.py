"""Runners that measure quality and speed."""
