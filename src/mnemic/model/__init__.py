"""Frozen values: the glossary of Mnemic in code. No I/O, no decisions."""
