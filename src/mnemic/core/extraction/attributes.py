"""The closed tree of attributes that statements can be about, with how each is shown and grouped in a profile.

A single attribute holds one value at a time (a city); the others hold many (pets). The last step of
`preference.favourite.*` and of `relation.*` names the thing or the kin and comes from the words themselves; that of
`tie.*` how two things are related, and that of `custom.*` a category of the owner's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mnemic.model.memory import MemoryKind


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: its dotted name, whether it holds one value at a time, a label for people, its profile group."""

    name: str
    single: bool
    label: str
    group: str


_ROWS: Final = """
identity.name single | Name | identity
identity.nickname many | Nickname | identity
identity.age single | Age | identity
identity.birthday single | Birthday | identity
identity.birthplace single | Born in | identity
identity.origin single | From | identity
identity.nationality many | Nationality | identity
identity.gender single | Gender | identity
identity.pronouns single | Pronouns | identity
identity.religion single | Religion | identity
language.speaks many | Speaks | languages
language.learning many | Learning | languages
home.place single | Lives in | home
home.kind single | Kind of home | home
home.with many | Lives with | home
work.job single | Job | work
work.employer single | Works at | work
work.field single | Works in | work
work.status single | Work status | work
education.field many | Studies | education
education.school many | School | education
education.degree many | Degree | education
relation.status single | Relationship | relations
relation.partner single | Partner | relations
relation.children single | Children | relations
health.allergy many | Allergic to | health
health.condition many | Condition | health
health.phobia many | Afraid of | health
health.injury many | Injury | health
health.medication many | Medication | health
diet.kind many | Diet | diet
diet.consumes many | Eats and drinks | diet
possession.pet many | Pet | possessions
possession.vehicle many | Vehicle | possessions
possession.home many | Owns a home | possessions
possession.item many | Thing owned | possessions
habit.regular many | Habit | habits
habit.current many | Doing now | habits
plan.intends many | Plan | plans
event.happened many | Event | events
preference.like many | Likes | preferences
preference.prefers many | Prefers | preferences
interest.hobby many | Interest | interests
interest.topic many | Talks about | interests
trait.character many | Character | traits
agent.promise many | Promised | agent
agent.learned many | Learned | agent
note.fact many | Also known | notes
"""


_KINDS: Final = {
    "preference": MemoryKind.PREFERENCE,
    "interest": MemoryKind.PREFERENCE,
    "event": MemoryKind.EVENT,
    "plan": MemoryKind.EVENT,
}


def kind_of(name: str) -> MemoryKind:
    """Return what kind of memory is about an attribute."""
    return _KINDS.get(name.split(".", 1)[0], MemoryKind.FACT)


def _read(row: str) -> Attribute:
    left, label, group = (part.strip() for part in row.split("|"))
    name, holds = left.split()
    return Attribute(name, holds == "single", label, group)


ATTRIBUTES: Final = {attribute.name: attribute for attribute in map(_read, _ROWS.strip().splitlines())}
"""Every attribute with a fixed name, in the order in which a profile shows them."""


_OPEN: Final = {"relation": "relations", "tie": "ties", "custom": "custom"}


def attribute_of(name: str) -> Attribute:
    """Return the attribute of a dotted name; `KeyError` for a name outside the tree."""
    known = ATTRIBUTES.get(name)
    if known is not None:
        return known
    parent, _, leaf = name.rpartition(".")
    words = leaf.replace("_", " ")
    if parent == "preference.favourite" and leaf:
        return Attribute(name, single=True, label=f"Favourite {words}", group="preferences")
    if parent in _OPEN and leaf:
        return Attribute(name, single=False, label=words.capitalize(), group=_OPEN[parent])
    raise KeyError(name)
