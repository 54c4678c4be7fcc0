"""A reply as values: each item is read on its own, so that one that is malformed costs only itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mnemic.core.refining.batch import TIES, Void
from mnemic.core.replies import json_in
from mnemic.model.language import Reply

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
    """Take what models write for a text: nothing, or a number."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _flag(value: Any) -> Any:
    if value is None:
        return False
    return _FLAGS.get(value.strip().lower(), value) if isinstance(value, str) else value


def _list(value: Any) -> Any:
    if value is None:
        return []
    return [value] if isinstance(value, str | dict) else value


def _tie(value: Any) -> Any:
    return value if value in TIES else "new"


Text = Annotated[str, BeforeValidator(_text)]
Flag = Annotated[bool, BeforeValidator(_flag)]


class _Read(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class When(_Read):
    """When something holds or happened, as the model wrote it."""

    words: Text = ""
    start: Text = Field(default="", alias="from")
    end: Text = Field(default="", alias="to")


def _when(value: Any) -> Any:
    if isinstance(value, str):
        return {"words": value}
    return {} if value is None else value


class Evidence(_Read):
    """A message's number and words of it."""

    message: Text
    quote: Text


class Statement(_Read):
    """A memory as the model wrote it."""

    kind: Text
    about: Text
    statement: Text
    value: Text = ""
    attribute: Text = ""
    negated: Flag = False
    said: Flag = True
    reason: Text = ""
    when: Annotated[When, BeforeValidator(_when)] = When()
    evidence: Annotated[list[Evidence], BeforeValidator(_list)] = Field(min_length=1)
    known: Text = ""
    change: Annotated[str, BeforeValidator(_tie)] = "new"


class Named(_Read):
    """An entity as the model wrote it."""

    name: Text
    type: Text = "other"
    messages: Annotated[list[Text], BeforeValidator(_list)] = Field(min_length=1)


class Related(_Read):
    """A relation as the model wrote it."""

    start: Text = Field(alias="from")
    relation: Text
    end: Text = Field(alias="to")
    message: Text
    quote: Text


class Described(_Read):
    """What the model wrote about a topic."""

    topic: Text
    title: Text
    summary: Text
    keywords: Annotated[list[Text], BeforeValidator(_list)] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Answered:
    """The items of a reply that could be read, and those that could not."""

    statements: tuple[Statement, ...]
    named: tuple[Named, ...]
    related: tuple[Related, ...]
    described: tuple[Described, ...]
    void: tuple[Void, ...]


_Item = TypeVar("_Item", bound=_Read)


def read(reply: Reply) -> Answered:
    """Return the items of a reply. Raises `LanguageError` when it is not the JSON that was asked for."""
    found = json_in(reply.text, cut=reply.cut, wrapped_as="memories")
    void: list[Void] = []
    return Answered(
        statements=_each(Statement, found.get("memories"), void),
        named=_each(Named, found.get("entities"), void),
        related=_each(Related, found.get("relations"), void),
        described=_each(Described, found.get("topics"), void),
        void=tuple(void),
    )


def _each(kind: type[_Item], value: Any, void: list[Void]) -> tuple[_Item, ...]:
    items: Sequence[Any] = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    found: list[_Item] = []
    for item in items:
        try:
            found.append(kind.model_validate(item))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(step) for step in first["loc"])
            void.append(Void(_words_of(item)[:200], f"malformed: {place}: {first['msg']}"))
    return tuple(found)


def _words_of(item: Any) -> str:
    """Return what a malformed item says, for a person: its sentence where it has one, else all of it."""
    sentence = item.get("statement") if isinstance(item, dict) else None
    return sentence if sentence and isinstance(sentence, str) else json.dumps(item, ensure_ascii=False)
