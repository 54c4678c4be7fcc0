"""Why a job failed, as it is told in one line."""

from __future__ import annotations

import traceback
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mnemic.errors import LanguageError
from mnemic.model.job import REFINE, queued

JOB = queued("a", 1, REFINE, datetime(2025, 1, 1, tzinfo=UTC))


def traced(error: Exception) -> str:
    with pytest.raises(type(error)) as caught:
        raise error
    return "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "error, reason",
    [
        (traced(LanguageError("the server is gone")), "the server is gone"),
        (traced(RuntimeError("the disk of the moon is full")), "RuntimeError: the disk of the moon is full"),
        ("the process died 5 times while it ran this job", "the process died 5 times while it ran this job"),
        (None, ""),
    ],
)
def test_a_failed_job_tells_why_in_one_line(error: str | None, reason: str) -> None:
    assert replace(JOB, error=error).reason == reason
