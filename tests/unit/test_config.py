"""Settings are checked however they come, and keys are not shown."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.config import Settings, load
from mnemic.errors import InputError


@pytest.mark.parametrize(
    "field, value",
    [
        ("stm_pages", 0),
        ("mtm_segments", "many"),
        ("page_gap_hours", float("nan")),
        ("segment_threshold", float("nan")),
        ("segment_threshold", -0.1),
        ("answer_threshold", 1.5),
        ("heat_threshold", float("inf")),
        ("timezone", "Mars/Olympus"),
        ("worker", "perhaps"),
    ],
)
def test_a_setting_that_cannot_be_is_named_whether_given_as_a_mapping_or_as_a_value(field: str, value: Any) -> None:
    given: dict[str, Any] = {field: value}
    with pytest.raises(InputError) as from_mapping:
        load(None, given)
    with pytest.raises(InputError) as from_value:
        load(None, Settings(**given))
    assert from_mapping.value.field == from_value.value.field == field


def test_settings_that_are_given_as_a_value_stay_as_they_are(tmp_path: Any) -> None:
    given = Settings(home=str(tmp_path), stm_pages=3, page_gap_hours=1.5)
    assert load(None, given) == given
    assert load(tmp_path / "other", given).home == str(tmp_path / "other")


def test_a_key_does_not_stand_in_what_is_logged() -> None:
    assert "secret" not in repr(Settings(embed_api_key="secret"))
