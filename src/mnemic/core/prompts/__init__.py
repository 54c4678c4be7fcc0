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

SHOWN: Final = 2_000
"""Characters of a message that are shown; what is longer is a document."""


@cache
def load(name: str, package: str = __name__) -> str:
    """Return the text of a prompt, without its intent; `ask` is the file `ask.md` of this package, or of another."""
    return _INTENT.sub("", _read(name, package)).strip()


def on_one_line(text: str, limit: int = SHOWN) -> str:
    """Return a text on one line; of a long one its beginning, and how much was left out."""
    line = " ".join(text[:limit].split())
    left = len(text) - limit
    return f"{line} [{left:,} more characters]" if left > 0 else line


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
