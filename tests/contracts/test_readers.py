"""The contract of readers, for the one that reads each file in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemic.backends.readers.apart import Readers
from mnemic.ports.reader import Limits, Reader
from mnemic.testing.reader_contract import CHECKS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_readers_keep_the_contract(check: Callable[[Reader, Path], None], tmp_path: Path) -> None:
    check(Readers(Limits(seconds=60), environment={"PATH": os.defpath}, office=""), tmp_path)
