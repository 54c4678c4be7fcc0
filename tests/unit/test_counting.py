"""Numbers that are said in words."""

from __future__ import annotations

import pytest

from mnemic.core.counting import counts_told, numbers_said


@pytest.mark.parametrize(
    "text, whole",
    [
        ("eighty-four pianos", 84),
        ("four hundred and twelve of them", 412),
        ("the thirteenth of June", 13),
        ("until the twenty-second", 22),
        ("two thousand and five", 2_005),
        ("twice a week", 2),
    ],
)
def test_numbers_are_read_from_words(text: str, whole: int) -> None:
    assert whole in numbers_said(text)


def test_only_plain_numbers_from_three_up_are_told() -> None:
    assert counts_told("Two cats, nine lives, the third of four hundred") == {9, 400}
