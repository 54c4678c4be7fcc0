"""The commands that move memories in and out: import and export.

Both work through files or pipes, a piece at a time, with progress on stderr.
"""

from __future__ import annotations
