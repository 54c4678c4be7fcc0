"""Thin faces over the library; none knows another."""
