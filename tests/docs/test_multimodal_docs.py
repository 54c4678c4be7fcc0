"""`docs/multimodal.md` says what there is: its example runs, and its settings are those that there are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from mnemic.config import Settings
from mnemic.core.described import TEXT_LIMIT
from mnemic.core.looking import PURPOSE
from mnemic.model.parts import MEDIA, VIDEOS
from tests.conventions.sources import ROOT
from tests.services.sensing import png, sensing

TEXT = (ROOT / "docs" / "multimodal.md").read_text("utf-8")
(CODE,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
(TOML,) = re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MNEMIC_EMBEDDER", "hashing")
    monkeypatch.chdir(tmp_path)
    sensing(monkeypatch)
    (tmp_path / "boarding-pass.png").write_bytes(png("|Boarding pass|Gate B22"))
    exec(compile(CODE.replace("~/my-memory", str(tmp_path / "memory")), "docs/multimodal.md", "exec"), {})
    assert "Gate B22" in capsys.readouterr().out


def test_the_settings_and_limits_are_those_that_there_are() -> None:
    settings = Settings()
    words = " ".join(TEXT.split())
    assert f"`attachment_megabytes` ({settings.attachment_megabytes})" in words
    assert f"`attachments` ({settings.attachments})" in words
    assert f"{TEXT_LIMIT:,} characters" in words
    assert f"accounted as `{PURPOSE}`" in words
    assert not settings.fetch_attachments
    Settings(**tomllib.loads(TOML))


def test_every_type_of_part_is_told() -> None:
    for kind in MEDIA | VIDEOS - {"video"}:
        assert f"`{kind}`" in TEXT
