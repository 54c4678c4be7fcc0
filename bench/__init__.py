"""Measures speed and size, always as a ratio to a floor in the same run: `python -m bench --help`."""
