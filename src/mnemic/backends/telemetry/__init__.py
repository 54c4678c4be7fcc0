"""Backends of spans."""
