"""Knowledge bases and profiles as MemOS cloud's clients know them: cubes of kind knowledge, and attributes of people.

A knowledge base belongs to the key's user, and to a user of the project's own where the key may call for anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mnemic.api import Memory
from mnemic.errors import InputError, MnemicError
from mnemic.model.caller import Caller
from mnemic.shells.doors import cloud_bodies as asked
from mnemic.shells.doors.subjects import Place, one_subject, place_of, user_for

ABOUT: Final = "about"
"""The session of a knowledge base that holds its description."""

_DEPTH: Final = 3


class CloudBases:
    """The calls of one request about knowledge bases and profiles."""

    def __init__(self, memory: Memory, caller: Caller | None, named: str | None) -> None:
        self._memory = memory
        self._caller = caller
        self._named = named

    def create(self, body: asked.CreateKnowledgebase) -> dict[str, Any]:
        """Make a knowledge base; its description is the first thing that it knows. It is searched where it is named."""
        owner = user_for(self._caller, self._named)
        described = body.knowledgebase_description or ""
        cube = self._memory.knowledge.create(body.knowledgebase_name, user=owner, description=described).cube
        self._memory.knowledge.unbind(cube.id, user=owner)
        if body.knowledgebase_description:
            told = {"role": "system", "content": body.knowledgebase_description, "id": ABOUT}
            self._memory.add([told], user=owner, cube=cube.id, session=ABOUT)
        own = self._caller is not None and self._caller.user == owner
        return {"id": cube.id if own else str(Place(cube.id, (owner,))), "name": cube.name}

    def delete(self, body: asked.DeleteKnowledgebase) -> dict[str, Any]:
        """Erase a knowledge base with all that is in it."""
        place = place_of(body.knowledgebase_id, "knowledgebase_id")
        removed = self._memory.cubes.delete(place.id, user=user_for(self._caller, self._named, place)).removed
        return {"success": True, "removed": dict(removed)}

    def edit_profile(self, body: asked.EditProfile) -> dict[str, Any]:
        """Set and take back attributes of a person, named by dots or as objects inside one another."""
        user = one_subject(body.user_id, body.agent_id)
        wanted = list(_attributes(body.metadata or {}, "metadata"))
        removed = list(body.remove_fields or ())
        if not wanted and not removed:
            raise InputError("metadata", "is missing; give metadata or remove_fields")
        self._check_template(body.profile_template_id, user)
        done: list[str] = []
        for attribute, value in wanted:
            self._set(done, attribute, user, value=value)
        for attribute in removed:
            self._set(done, attribute, user, remove=True)
        return {"success": True, "fields": done}

    def delete_profile(self, body: asked.DeleteProfile) -> dict[str, Any]:
        """Take back all that a template shows of a person."""
        user = one_subject(body.user_id, body.agent_id)
        shown = self._memory.profile(user=user, template=body.profile_template_id)
        done: list[str] = []
        for attribute in dict.fromkeys(entry.attribute for entry in shown):
            self._set(done, attribute, user, remove=True)
        return {"success": True, "fields": done}

    def _check_template(self, template: str, user: str) -> None:
        self._memory.profile(user=user, template=template)

    def _set(self, done: list[str], attribute: str, user: str, **edit: Any) -> None:
        """Edit one attribute; an error says which were edited before it."""
        try:
            self._memory.set_profile(attribute, user=user, **edit)
        except MnemicError as error:
            if done and isinstance(error, InputError):
                told = f"{error.message.partition(': ')[2]}; edited before it: {', '.join(done)}"
                raise InputError(error.field, told) from error
            raise
        done.append(attribute)


def _attributes(given: Mapping[str, Any], place: str, before: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield each attribute with its value; a list has several values of one."""
    for name, value in given.items():
        at, path = f"{place}.{name}", (*before, name)
        if isinstance(value, Mapping) and len(path) < _DEPTH:
            yield from _attributes(value, at, path)
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, bool) or not isinstance(each, str | int | float):
                raise InputError(at, f"needs a text, a number, or a list of them, got {type(each).__name__}")
            yield ".".join(path), str(each)
