"""A reply as values: each item is read on its own, so that one that is malformed costs only itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, ValidationError

from mnemic.core.lenient import Flag, Lenient, Text, as_list
from mnemic.core.refining.batch import TIES, Tie, Void
from mnemic.core.replies import items_of, json_in
from mnemic.model.language import Reply


def _tie(value: Any) -> Any:
    return value if value in TIES else "new"


class When(Lenient):
    """When something holds or happened, as the model wrote it."""

    words: Text = ""
    start: Text = Field(default="", alias="from")
    end: Text = Field(default="", alias="to")


def _when(value: Any) -> Any:
    if isinstance(value, str):
        return {"words": value}
    return {} if value is None else value


class Evidence(Lenient):
    """A message's number and words of it."""

    message: Text
    quote: Text


class Statement(Lenient):
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
    evidence: Annotated[list[Evidence], BeforeValidator(as_list)] = Field(min_length=1)
    known: Text = ""
    change: Annotated[Tie, BeforeValidator(_tie)] = "new"


class Named(Lenient):
    """An entity as the model wrote it."""

    name: Text
    type: Text = "other"
    messages: Annotated[list[Text], BeforeValidator(as_list)] = Field(min_length=1)


class Related(Lenient):
    """A relation as the model wrote it."""

    start: Text = Field(alias="from")
    relation: Text
    end: Text = Field(alias="to")
    message: Text
    quote: Text


class Described(Lenient):
    """What the model wrote about a topic."""

    topic: Text
    title: Text
    summary: Text
    keywords: Annotated[list[Text], BeforeValidator(as_list)] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Answered:
    """The items of a reply that could be read, and those that could not."""

    statements: tuple[Statement, ...]
    named: tuple[Named, ...]
    related: tuple[Related, ...]
    described: tuple[Described, ...]
    void: tuple[Void, ...]


_Item = TypeVar("_Item", bound=Lenient)


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
    found: list[_Item] = []
    for item in items_of(value):
        try:
            found.append(kind.model_validate(item))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(step) for step in first["loc"])
            void.append(Void(str(item)[:200], f"malformed: {place}: {first['msg']}"))
    return tuple(found)
