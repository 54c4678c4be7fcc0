"""A vision model looks at a picture: one call, within the cube's budget and accounted as every other."""

from __future__ import annotations

import base64

from mnemic.core.looking import PURPOSE, prompt_of, seen_of
from mnemic.model.language import Picture
from mnemic.model.seen import Seen
from mnemic.services.language import Language


class Looking:
    """Looks at pictures with a model that takes them."""

    def __init__(self, language: Language) -> None:
        self._language = language

    @property
    def name(self) -> str:
        """The model's name."""
        return self._language.name

    def look(self, picture: bytes, media: str, *, beside: str, cube_key: int) -> Seen:
        """Return what is to be seen; `beside` is what was said with it. Raises `LanguageError`, `BudgetError`."""
        shown = Picture(media, base64.b64encode(picture).decode())
        return seen_of(self._language.complete(prompt_of(shown, beside), purpose=PURPOSE, cube_key=cube_key))
