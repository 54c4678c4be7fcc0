"""What language models are told, as files beside the code: `load` returns one.

A file opens with a comment that says what it is for; the comment is not sent. No file has a place for values: what was
said, asked and found travels in turns of its own, so that no brace in it can be taken for a place.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Final

_INTENT: Final = re.compile(r"\A<!--(?P<intent>.+?)-->\s*", re.DOTALL)


@cache
def load(name: str, package: str = __name__) -> str:
    """Return the text of a prompt, without its intent; `ask` is the file `ask.md` of this package, or of another."""
    return _INTENT.sub("", _read(name, package)).strip()


def intent(name: str) -> str:
    """Return what a prompt is for; empty when its file does not say so."""
    match = _INTENT.match(_read(name))
    return " ".join(match["intent"].split()) if match else ""


def names() -> list[str]:
    """Return the names of all prompts, in order."""
    files = (file.name for file in resources.files(__name__).iterdir())
    return sorted(file.removesuffix(".md") for file in files if file.endswith(".md"))


def _read(name: str, package: str = __name__) -> str:
    return resources.files(package).joinpath(f"{name}.md").read_text("utf-8")
