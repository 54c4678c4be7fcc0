"""One memory, four faces: what a verb gives and refuses is the same in the same process and over HTTP, async or not."""

from __future__ import annotations

import functools
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from mnemic.errors import LanguageError
from mnemic.testing.scripted_model import Broken, ScriptedModel
from tests.services.faces import EMBEDDED, FACES, Told, opened
from tests.services.stories import KEYED, STORIES, alike


def replies() -> list[Any]:
    """What the language model says, in order."""
    return [
        "You live in Faro [1].",
        "You live in [1] Faro.",
        "In Faro, I hear [1].",
        "Clara, \u2028 dear [1].",
        Broken("It was ", LanguageError("the model cannot be reached", passing=False, retry_after=None, status=None)),
        LanguageError("the model refuses", passing=True, retry_after=3.5, status=418),
        "Odd \u2028\u2029\x85 [1].",
        '{"said": "it"}',
    ]


def told_by(face: str, story: str, folder: Path) -> list[tuple[str, Any]]:
    """Return what a face tells of a story."""
    llm = ScriptedModel(replies()) if story == "modelling" else None
    with opened(face, folder, llm, keyed=story in KEYED) as opened_face:
        do = Told(opened_face)
        STORIES[story](do)
        return [(verb, without(alike(given), str(folder))) for verb, given in do.steps]


def without(told: Any, folder: str) -> Any:
    """Return what was told without the folder that each face has for itself."""
    if isinstance(told, str):
        return told.replace(folder, "…")
    return [without(each, folder) for each in told] if isinstance(told, list) else told


@functools.cache
def embedded(story: str) -> list[tuple[str, Any]]:
    with TemporaryDirectory() as folder:
        return told_by(EMBEDDED, story, Path(folder))


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("face", FACES)
def test_every_face_tells_the_same_story(face: str, story: str, tmp_path: Path) -> None:
    told = told_by(face, story, tmp_path)
    for number, (step, (verb, expected)) in enumerate(zip(told, embedded(story), strict=True)):
        assert step == (verb, expected), f"step {number}: {verb}"
