"""Profile templates: named lists of attributes that a profile is to show, in order, the missing ones named.

An entry is an attribute's dotted name, or a branch of the tree such as `relation.*`. Names outside the tree are refused
with those nearest to them.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from mnemic.core.extraction.attributes import ATTRIBUTES, attribute_of
from mnemic.core.intake import check_names
from mnemic.errors import InputError
from mnemic.model.profile import Profile, ProfileEntry

BUILT_IN: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "person": (
            "identity.name", "identity.age", "identity.birthday", "identity.pronouns", "identity.origin",
            "home.place", "work.job", "work.employer", "education.field", "language.speaks", "relation.*",
            "health.allergy", "health.condition", "diet.kind", "possession.pet", "interest.hobby", "preference.*",
            "habit.*", "plan.intends", "trait.character",
        ),
        "assistant": (
            "identity.name", "trait.character", "language.speaks", "agent.promise", "agent.learned", "preference.*",
        ),
        "customer": (
            "identity.name", "identity.pronouns", "language.speaks", "home.place", "work.employer", "work.job",
            "possession.item", "preference.*", "plan.intends", "note.fact",
        ),
    }
)  # fmt: skip
"""The templates that are always there."""

BRANCH: Final = ".*"
_NEAR: Final = 3  # names that an error tells


def check_attribute(name: object, field: str = "attribute") -> str:
    """Return an attribute's name. Raises `InputError` that names the nearest ones for a name outside the tree."""
    if not isinstance(name, str):
        raise InputError(field, f"needs a dotted name such as home.place, got {type(name).__name__}")
    try:
        return attribute_of(name.strip()).name
    except KeyError as error:
        near = ", ".join(nearest_names(name)) or "home.place, work.job, preference.like"
        raise InputError(field, f"{name!r} is not an attribute; near it: {near}") from error


def nearest_names(name: str) -> list[str]:
    """Return the names of attributes that are most like a name, by the name, its last step, or its label."""
    low = name.lower().strip()
    told = {key: each.name for each in ATTRIBUTES.values() for key in _keys(each.name, each.label.lower())}
    found = difflib.get_close_matches(low, told, n=2 * _NEAR, cutoff=0.6)
    found += [key for key in told if len(low) > 2 and (low in key or key in low)]
    return list(dict.fromkeys(told[key] for key in found))[:_NEAR]


def _keys(name: str, label: str) -> tuple[str, ...]:
    return (name, name.rpartition(".")[2], label)


def check_template(given: object, own: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the attributes of a template: by name, of `own` ones or built in, or given as a list of attributes."""
    if isinstance(given, str):
        found = own.get(given) or BUILT_IN.get(given)
        if found is None:
            known = ", ".join(dict.fromkeys((*BUILT_IN, *own)))
            raise InputError("template", f"{given!r} is not known; known: {known}, or give a list of attributes")
        return check_entries(found, f"template {given}")
    return check_entries(given, "template")


def check_entries(given: object, field: str) -> tuple[str, ...]:
    """Return the entries of a template, each once. Raises `InputError` naming the one that is wrong."""
    return tuple(dict.fromkeys(_entry(name, field) for name in check_names(given, field)))


def _entry(name: object, field: str) -> str:
    if isinstance(name, str) and name.endswith(BRANCH) and len(name) > len(BRANCH):
        branch = name.removesuffix(BRANCH) + "."
        if any(each.startswith(branch) for each in ATTRIBUTES) or branch in ("tie.", "custom."):
            return name
    return check_attribute(name, field)


def templated(entries: Sequence[ProfileEntry], template: Sequence[str], locked: Sequence[str] = ()) -> Profile:
    """Return the entries that a template shows, in its order, and what is missing.

    `locked` are attributes that are to stay unknown: they are not missed.
    """
    kept: dict[str, ProfileEntry] = {}
    missing: list[str] = []
    for name in template:
        found = [entry for entry in entries if fits(entry.attribute, name)]
        kept |= {entry.memory_id: entry for entry in found if entry.memory_id not in kept}
        if not found and name not in locked:
            missing.append(name)
    return Profile(tuple(kept.values()), tuple(missing))


def fits(attribute: str, name: str) -> bool:
    """Tell whether an attribute is the one that a template names, or of the branch that it names."""
    return attribute == name or (name.endswith(BRANCH) and attribute.startswith(name.removesuffix("*")))
