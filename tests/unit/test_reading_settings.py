"""What the settings have to do with reading: limits are checked, OCR can be off, and no secret goes to a reader."""

from __future__ import annotations

import pytest

from mnemic.config import Settings, load, process_environment
from mnemic.errors import InputError
from mnemic.wiring.readers import words_of


@pytest.mark.parametrize(
    "name, value", [("file_pages", 0), ("read_megabytes", 100), ("read_seconds", 0.5), ("read_seconds", 1e9)]
)
def test_limits_that_make_no_sense_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InputError, match=name):
        load(None, {name: value})


def test_nothing_looks_for_words_in_pictures_when_ocr_is_off() -> None:
    assert words_of(Settings(ocr=False)) is None
    assert words_of(Settings()) is not None


def test_a_reader_is_given_where_programs_lie_and_nothing_of_mnemic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_LLM_API_KEY", "secret")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("PATH", "/somewhere")
    told = process_environment()
    assert told["PATH"] == "/somewhere"
    assert "secret" not in told.values()
