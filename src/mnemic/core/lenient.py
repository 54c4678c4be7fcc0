"""What language models write for a text, a flag or a list, taken as that: types for fields that read their replies."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict

from mnemic.text import clean

_FLAGS: Final = {
    "true": True,
    "yes": True,
    "1": True,
    "false": False,
    "no": False,
    "0": False,
    "": False,
    "none": False,
}


def _text(value: Any) -> Any:
    """Take what models write for a text: nothing, or a number; without what no index can hold."""
    if value is None:
        return ""
    if isinstance(value, str):
        return clean(value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _flag(value: Any) -> Any:
    if value is None:
        return False
    return _FLAGS.get(value.strip().lower(), value) if isinstance(value, str) else value


def as_list(value: Any) -> Any:
    """Take what models write for a list: nothing, or its only item."""
    if value is None:
        return []
    return [value] if isinstance(value, str | dict) else value


Text = Annotated[str, BeforeValidator(_text)]
Flag = Annotated[bool, BeforeValidator(_flag)]


class Lenient(BaseModel):
    """An item of a reply; fields that nobody asked for are left out."""

    model_config = ConfigDict(extra="ignore", frozen=True)
