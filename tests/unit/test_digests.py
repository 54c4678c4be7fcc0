"""Digests of rows: alike for the same rows in whatever order, other for any other rows."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.digests import Digest, digest

values = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False),
    st.text(max_size=20), st.binary(max_size=20),
)  # fmt: skip
tables = st.lists(st.tuples(values, values, values), max_size=8)


def of(rows: Any) -> Digest:
    return digest("table", rows)[0]


def typed(rows: Any) -> Any:
    """Rows in one order, in which 1, 1.0 and True are three things, and 0.0 and -0.0 two."""
    return sorted(repr([(type(value).__name__, value) for value in row]) for row in rows)


@given(tables, st.randoms())
def test_the_order_of_rows_says_nothing(rows: list[Any], chance: Any) -> None:
    mixed = list(rows)
    chance.shuffle(mixed)
    assert of(mixed) == of(rows)


@given(tables, tables)
def test_other_rows_have_other_digests(rows: list[Any], others: list[Any]) -> None:
    assert (of(rows) == of(others)) == (typed(rows) == typed(others))


@given(tables, tables)
def test_digests_of_parts_add_up(rows: list[Any], others: list[Any]) -> None:
    assert of(rows) + of(others) == of(rows + others)
    assert of(rows).rows == len(rows) and len(of(rows).hex) == 16


def test_what_seems_alike_is_told_apart() -> None:
    rows = [(1,), (True,), (1.0,), ("1",), (b"1",), (None,), ("",), (b"",), ("1", ""), ("", "1"), (0.0,), (-0.0,)]
    assert len({of([row]) for row in rows}) == len(rows)
    assert of([("a",), ("a",)]) != of([("a",)])
    assert digest("one", [("a",)]) != digest("other", [("a",)])


def test_a_digest_is_the_same_in_every_process_and_for_texts_of_any_birth() -> None:
    row = "('Porto', 1, 2.5, b'x', None, True, '\\u00fc\\ud800')"
    code = f"from mnemic.core.digests import digest; print(digest('t', [{row}])[0].hex)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    joined = (bytes([80, 111, 114, 116, 111]).decode(), 1, 2.5, b"x", None, True, "\u00fc\ud800")
    assert digest("t", [joined])[0].hex == done.stdout.strip() == "2b363646e1d15242"
