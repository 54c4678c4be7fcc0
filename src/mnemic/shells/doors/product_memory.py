"""What the calls of MemOS's open server do here, each a blocking function from a body to the `data` of its reply.

A cube is named by its id; the id of a user means the user's own cube, as it does there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mnemic.api import Memory
from mnemic.errors import InputError, NotFoundError
from mnemic.model.answer import Answer
from mnemic.model.caller import Caller
from mnemic.model.item import Item
from mnemic.model.receipt import Added
from mnemic.shells.doors import product_bodies as asked
from mnemic.shells.doors import recalling, shapes
from mnemic.shells.doors.asking import data_line
from mnemic.shells.doors.filtering import where_of
from mnemic.shells.doors.recalling import Within
from mnemic.shells.doors.subjects import place_of, user_for

NODES: Final = 200
"""Nodes of a tree, as at MemOS."""

_LATELY: Final = {"en": "What have I told you about lately?", "zh": "我最近告诉过你什么？"}  # noqa: RUF001 - Chinese


class ProductCalls:
    """The calls of one request: who makes them, and the user that its header names."""

    def __init__(self, memory: Memory, caller: Caller | None, named: str | None) -> None:
        self._memory = memory
        self._caller = caller
        self._named = named

    def add(self, body: asked.Add) -> list[dict[str, Any]]:
        """Store messages in each cube that is named."""
        given = _messages(body)
        if body.given("is_feedback"):
            words = _last_words(given)
            cubes = body.writable_cube_ids or ([body.mem_cube_id] if body.mem_cube_id else None)
            return self.feedback(
                asked.Feedback(
                    user_id=body.user_id, feedback_content=words, session_id=body.session_id, writable_cube_ids=cubes
                )
            )
        beside = {"tags": body.custom_tags, "source": body.source}
        messages = shapes.messages_of(given, shapes.metadata_of(body.info, beside))
        found: list[dict[str, Any]] = []
        for place in self._places(body.user_id, body.writable_cube_ids, body.mem_cube_id):
            added = self._memory.add(
                messages, user=body.user_id, session=body.session_id, cube=_cube(place), task=body.task_id,
                wait=body.async_mode == "sync",
            )  # fmt: skip
            found += self._added(added, place, derived=body.async_mode == "sync")
        return found

    def search(self, body: asked.Search) -> dict[str, Any]:
        """Search each cube that is named; every one makes a group."""
        least = max(body.given("relativity"), body.threshold or 0)
        options = {"where": where_of(body.filter), "threshold": shapes.threshold_of(least),
                   "reference_time": body.reference_time}  # fmt: skip
        data: dict[str, Any] = {
            name: [] for name in ("text_mem", "act_mem", "para_mem", "pref_mem", "tool_mem", "skill_mem")
        }
        notes: list[str] = []
        for place in self._places(body.user_id, body.readable_cube_ids, body.mem_cube_id):
            facts = recalling.found_in(
                self._memory, [place], body.query, limit=body.given("top_k"), kinds=recalling.FACTS, **options
            )
            data["text_mem"].append(self._group(place, [self._hit(hit, place) for hit, _ in facts]))
            if body.given("include_preference") and body.given("pref_top_k"):
                liked = recalling.found_in(
                    self._memory, [place], body.query, limit=body.given("pref_top_k"), kinds=recalling.PREFERENCES,
                    **options,
                )  # fmt: skip
                notes += [hit.text for hit, _ in liked]
                data["pref_mem"].append(self._group(place, [self._hit(hit, place) for hit, _ in liked]))
            for wanted, name in (("search_tool_memory", "tool_mem"), ("include_skill_memory", "skill_mem")):
                if body.given(wanted):
                    data[name].append(self._group(place, []))
        data["pref_string"] = "\n".join(f"- {text}" for text in notes)
        data["pref_note"] = shapes.PREFERENCE_NOTE if notes else ""
        return data

    def chat(self, body: asked.Chat) -> dict[str, Any]:
        """Reply with what was said before in mind."""
        answer = self._memory.chat(body.query, user=body.user_id, **self._chat_options(body))
        return {"response": answer.text, "reasoning": None, "mode": answer.mode, "notes": list(answer.notes)}

    def chat_pieces(self, body: asked.Chat) -> Iterator[str | Answer]:
        """Begin a reply that is written piece by piece."""
        return self._memory.chat_stream(body.query, user=body.user_id, **self._chat_options(body))

    def suggestions(self, body: asked.Suggestions) -> dict[str, Any]:
        """Return three questions that the user may want to ask next."""
        if self._memory.llm.name is None:
            raise InputError("language", "suggestions are written by a language model; set MNEMIC_LLM_MODEL")
        words = _last_words(_listed(body.message)) if body.message else _LATELY[body.given("language")]
        place = self._places(body.user_id, [body.mem_cube_id], None)[0]
        answer = self._memory.ask(words, user=body.user_id, cubes=place.cubes, suggest=3)
        return {"query": list(answer.suggestions)}

    def everything(self, body: asked.GetAll) -> list[dict[str, Any]]:
        """Return the memories of cubes as trees by type; nothing of activation and parametric memory."""
        if body.memory_type != "text_mem":
            return []
        found = []
        for place in self._places(body.user_id, body.mem_cube_ids, None):
            if body.search_query:
                hits = recalling.found_in(
                    self._memory, [place], body.search_query, limit=100, kinds=recalling.FACTS + recalling.PREFERENCES
                )
                nodes = [self._hit(hit, place) for hit, _ in hits]
            else:
                items = self._items(place, ("message", "memory"))[:NODES]
                nodes = [self._node(item, place) for item in items]
            found.append({"cube_id": _shown(place), "memories": [_tree(nodes)], "memory_statistics": _counts(nodes)})
        return found

    def memories(self, body: asked.GetMemory) -> dict[str, Any]:
        """Return the memories of a cube by kind, all or a page of each."""
        user = self._whose(body.user_id, body.mem_cube_id)
        place, where = self._places(user, [body.mem_cube_id], None)[0], where_of(body.filter)

        def group(kinds: Sequence[str]) -> dict[str, Any]:
            items = self._items(place, kinds, where)
            shown: Sequence[Item] = items
            if body.page is not None or body.page_size is not None:
                shown = recalling.page_of(items, body.page or 1, body.page_size or 10)
            return {"cube_id": _shown(place), "memories": [self._node(item, place) for item in shown],
                    "total_nodes": len(items)}  # fmt: skip

        nothing = self._group(place, [])
        return {
            "text_mem": [group(recalling.FACTS)],
            "pref_mem": [group(recalling.PREFERENCES)] if body.given("include_preference") else [],
            "tool_mem": [nothing] if body.given("include_tool_memory") else [],
            "skill_mem": [nothing] if body.given("include_skill_memory") else [],
        }

    def memory(self, name: str) -> dict[str, Any] | None:
        """Return a memory or a message by its id, None when there is none."""
        place = place_of(name, "memory_id")
        user = user_for(self._caller, self._named, place)
        try:
            item = self._memory.get(place.id, user=user, cube=place.cube)
        except NotFoundError:
            return None
        return {**shapes.node_of_item(item, place.cube or user), "id": name}

    def delete(self, body: asked.DeleteMemory) -> dict[str, Any]:
        """Erase by exactly one condition, for good."""
        session = body.session_id or body.conversation_id
        if body.session_id and body.conversation_id and body.session_id != body.conversation_id:
            raise InputError("conversation_id", "is another name of session_id, and says something else")
        chosen = body.filter is not None or bool(session) or bool(body.user_id)
        if (body.memory_ids is not None) == chosen:
            told = "give memory_ids, or filter, session_id and user_id, not both" if chosen else (
                "is missing; give memory_ids, or filter, session_id or user_id"
            )  # fmt: skip
            raise InputError("memory_ids", told)
        if body.memory_ids is not None:
            return self._delete_ids(body.memory_ids, body.writable_cube_ids)
        first = next(iter(body.writable_cube_ids or ()), None)
        user = self._whose(body.user_id, first)
        removed: dict[str, int] = {}
        for place in self._places(user, body.writable_cube_ids, None):
            _sum(removed, self._delete_in(place, body.filter, session))
        return {"status": "success", "removed": removed}

    def feedback(self, body: asked.Feedback) -> list[dict[str, Any]]:
        """Change memories as plain words ask."""
        found = []
        for place in self._places(body.user_id, body.writable_cube_ids, body.mem_cube_id):
            given = self._memory.feedback(
                body.feedback_content, user=body.user_id, session=body.session_id, cube=_cube(place)
            )
            steps = [{"id": recalling.name_of(step.memory_id, place, self._caller, _cube(place) or ""),
                      "before": step.before, "memory": step.after} for step in given.steps]  # fmt: skip
            record = {"add": [step for step in steps if step["before"] is None],
                      "update": [step for step in steps if step["before"] is not None]}  # fmt: skip
            found.append({"cube_id": _shown(place), "answer": "", "record": record, "understood": given.understood,
                          "applied": given.applied, "notes": list(given.notes)})  # fmt: skip
        return found

    # -- the parts of these ----------------------------------------------------------------------------------------

    def _places(self, user: str, cubes: Sequence[str] | None, older: str | None) -> list[Within]:
        """Return the cubes that are named, each by itself; the user's own for none, and for the user's id."""
        named = list(dict.fromkeys([*(cubes or ()), *([older] if older and not cubes else ())]))
        return [Within(user, None if each == user else (each,)) for each in named or [user]]

    def _whose(self, user: str | None, cube: str | None) -> str:
        """Return the user of a call that may name only a cube: without a cube of that name, it is a user's own."""
        known = user or self._named or (self._caller.user if self._caller is not None else None)
        if known is None and cube is None:
            raise InputError("user_id", "is missing: say whose memories are meant")
        return str(known or cube)

    def _added(self, added: Added, place: Within, *, derived: bool) -> list[dict[str, Any]]:
        found = []
        cube = _cube(place)
        for message in dict.fromkeys(added.message_ids):
            explained = self._memory.explain(message, user=place.user, cube=cube)
            found += [self._node(item, place) for item in (explained.item, *(explained.derived if derived else ()))]
        return [
            {"memory": each["memory"], "memory_id": each["id"], "memory_type": each["metadata"]["memory_type"],
             "cube_id": _shown(place)}
            for each in found
        ]  # fmt: skip

    def _items(self, place: Within, kinds: Sequence[str], where: Mapping[str, Any] | None = None) -> list[Item]:
        kinds = [kind for kind in kinds if kind != recalling.PASSAGE]  # documents are listed by their own calls
        return recalling.listed(self._memory, place.user, kinds=kinds, where=where, cube=_cube(place))

    def _node(self, item: Item, place: Within) -> dict[str, Any]:
        node = shapes.node_of_item(item, _shown(place))
        return {**node, "id": recalling.name_of(item.id, place, self._caller, _cube(place) or "")}

    def _hit(self, hit: Any, place: Within) -> dict[str, Any]:
        node = shapes.node_of_hit(hit, _shown(place))
        return {**node, "id": recalling.name_of(hit.id, place, self._caller, hit.cube)}

    def _group(self, place: Within, nodes: list[dict[str, Any]]) -> dict[str, Any]:
        return {"cube_id": _shown(place), "memories": nodes, "total_nodes": len(nodes)}

    def _chat_options(self, body: asked.Chat) -> dict[str, Any]:
        written = self._places(body.user_id, body.writable_cube_ids, body.mem_cube_id)
        if len(written) > 1:
            raise InputError("writable_cube_ids", "a chat is stored in one cube")
        options: dict[str, Any] = {"session": body.session_id, "store": body.given("add_message_on_answer")}
        options["cube"] = _cube(written[0])
        if body.readable_cube_ids:
            options["cubes"] = self._ids(self._places(body.user_id, body.readable_cube_ids, None))
        said = {"system": body.system_prompt, "model": body.model_name_or_path}
        options |= {name: value for name, value in said.items() if value}
        numbers = {"max_tokens": body.max_tokens, "temperature": body.temperature}
        return options | {name: value for name, value in numbers.items() if value is not None}

    def _ids(self, places: Sequence[Within]) -> list[str] | None:
        """Return the ids of cubes, the user's own among them; None when there is none yet."""
        found: list[str] = []
        for place in places:
            if place.cubes is not None:
                found += place.cubes
            else:
                listed = self._memory.cubes.list(user=place.user)
                found += [cube.id for cube in listed if cube.kind == "personal" and cube.owner == place.user]
        return found or None

    def _delete_ids(self, names: Sequence[str], cubes: Sequence[str] | None) -> dict[str, Any]:
        by_place: dict[tuple[str, str | None], list[str]] = {}
        only = cubes[0] if cubes and len(cubes) == 1 else None
        for at, name in enumerate(names):
            place = place_of(name, f"memory_ids[{at}]")
            user = place.user or self._whose(None, only)
            cube = place.cube or (only if only != user else None)
            by_place.setdefault((user, cube), []).append(place.id)
        removed: dict[str, int] = {}
        for (user, cube), ids in by_place.items():
            _sum(removed, self._memory.forget(ids, user=user, cube=cube).removed)
        return {"status": "success", "removed": removed}

    def _delete_in(self, place: Within, given: Mapping[str, Any] | None, session: str | None) -> Mapping[str, int]:
        cube = _cube(place)
        if given is None and session:
            return self._memory.forget(user=place.user, session=session, cube=cube).removed
        if given is None:
            return self._memory.forget(user=place.user, everything=True, cube=cube).removed
        where: dict[str, Any] = where_of(given) or {}
        if session:
            where = {"and": [where, {"session": session}]}
        found = self._items(place, ("message", "memory"), where)
        return self._memory.forget([item.id for item in found], user=place.user, cube=cube).removed if found else {}


def _cube(place: Within) -> str | None:
    return None if place.cubes is None else place.cubes[0]


def _shown(place: Within) -> str:
    """Return the id under which MemOS's clients know a cube: the user's own has the user's."""
    return _cube(place) or place.user


def _messages(body: asked.Add) -> list[Any]:
    found = _listed(body.messages)
    if body.memory_content:
        found.append({"role": "user", "content": body.memory_content})
    if not found:
        raise InputError("messages", "is missing; give messages")
    return found


def _listed(given: str | Sequence[Any] | None) -> list[Any]:
    return [given] if isinstance(given, str) else list(given or ())


def _last_words(given: Sequence[Any]) -> str:
    """Return what a user said last."""
    for each in reversed(given):
        content = each if isinstance(each, str) else each.get("content") if isinstance(each, Mapping) else None
        if isinstance(content, str) and (isinstance(each, str) or each.get("role", "user") == "user"):
            return content
    raise InputError("messages", "holds no text of a user")


def _tree(nodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return nodes with the tree that groups them by type."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for node in nodes:
        leaf = {"id": node["id"], "node_name": node["memory"][: shapes.TITLE], "value": node["memory"],
                "memory_type": node["metadata"]["memory_type"]}  # fmt: skip
        groups.setdefault(node["metadata"]["memory_type"], []).append(leaf)
    children = [
        {"id": name, "node_name": name, "memory_type": name, "children": leaves} for name, leaves in groups.items()
    ]
    return {"nodes": list(nodes), "edges": [], "total_nodes": len(nodes), "total_edges": 0,
            "tree_structure": {"id": "root", "node_name": "root", "children": children}}  # fmt: skip


def _counts(nodes: Sequence[dict[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in nodes:
        kind = str(node["metadata"]["memory_type"])
        found[kind] = found.get(kind, 0) + 1
    return found


def _sum(removed: dict[str, int], more: Mapping[str, int]) -> None:
    for kind, count in more.items():
        removed[kind] = removed.get(kind, 0) + count


def playground(pieces: Iterator[str | Answer], caller: Caller | None, user: str) -> Iterator[str]:
    """Yield a reply as the playground reads it: its states, the text, what it stands on, and the end."""
    yield data_line({"type": "status", "data": "0"})
    begun = False
    for piece in pieces:
        if not begun:
            begun = True
            yield data_line({"type": "status", "data": "2"})
        if isinstance(piece, str):
            yield data_line({"type": "text", "data": piece})
            continue
        place = Within(user)
        nodes = [shapes.node_of_hit(hit, user) | {"id": recalling.name_of(hit.id, place, caller, hit.cube)}
                 for hit in piece.citations]  # fmt: skip
        yield data_line({"type": "reference", "data": nodes})
        yield data_line({"type": "suggestion", "data": list(piece.suggestions)})
    yield data_line({"type": "end"})
