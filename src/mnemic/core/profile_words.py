"""What an attribute of somebody is called in a sentence: "ann lives in Porto." of home.place and Porto."""

from __future__ import annotations

from typing import Final

from mnemic.core.profile import described

_ROWS: Final = """
identity.name is called {}
identity.nickname is also called {}
identity.age is {} years old
identity.birthday 's birthday is on {}
identity.birthplace was born in {}
identity.origin is from {}
home.place lives in {}
home.kind lives in a {}
home.with lives with {}
work.job works as {a}
work.employer works at {}
work.field works in {}
education.field studies {}
education.school goes to {}
education.degree has {a}
language.speaks speaks {}
language.learning is learning {}
relation.status is {}
relation.partner 's partner is {}
health.allergy is allergic to {}
health.condition has {}
health.phobia is afraid of {}
health.medication takes {}
diet.kind is {}
diet.consumes eats or drinks {}
possession.pet has {a}
possession.vehicle has {a}
possession.item has {a}
plan.intends plans to {}
preference.like likes {}
preference.prefers prefers {}
interest.hobby enjoys {}
interest.topic talks about {}
trait.character is {}
agent.promise promised to {}
agent.learned learned that {}
note.fact : {}
"""
_PREDICATES: Final = dict(row.split(" ", 1) for row in _ROWS.strip().splitlines())
_DETERMINERS: Final = ("a ", "an ", "the ", "my ", "her ", "his ", "their ", "our ", "some ", "two ", "three ")


def sentence_of(subject: str, attribute: str, value: str) -> str:
    """Return a value of somebody's attribute as one sentence."""
    words = value.strip().rstrip(".")
    predicate = _PREDICATES.get(attribute)
    if predicate is None:
        return f"{subject}'s {described(attribute).label.lower()} is {words}."
    told = predicate.replace("{a}", _with_article(words)).replace("{}", words)
    return f"{subject}{'' if told[0] in chr(39) + ':' else ' '}{told}."


def _with_article(value: str) -> str:
    if not value[:1].islower() or value.startswith(_DETERMINERS) or not value.isascii():
        return value
    return f"{'an' if value[0] in 'aeiou' else 'a'} {value}"
