"""What MemOS cloud's calls do here, each a blocking function from a body to the `data` of its reply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mnemic.api import Memory
from mnemic.errors import InputError, MnemicError, NotFoundError
from mnemic.ids import new_id
from mnemic.model.answer import Answer
from mnemic.model.caller import Caller
from mnemic.model.job import JobState
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.model.message import StoredMessage
from mnemic.shells.doors import cloud_bodies as asked
from mnemic.shells.doors import recalling, shapes
from mnemic.shells.doors.asking import data_line
from mnemic.shells.doors.cloud_telling import CODE, NO_TASK
from mnemic.shells.doors.filtering import where_of
from mnemic.shells.doors.recalling import Within
from mnemic.shells.doors.subjects import Place, one_subject, place_of, subjects, user_for

_DEFAULT: Final = {"max_tokens": 8192, "temperature": 0.7}  # what the client sends when its user said nothing
_DONE: Final = (JobState.DONE,)


class CloudCalls:
    """The calls of one request: who makes them, and the user that its header names."""

    def __init__(self, memory: Memory, caller: Caller | None, named: str | None) -> None:
        self._memory = memory
        self._caller = caller
        self._named = named

    def add(self, body: asked.AddMessage) -> dict[str, Any]:
        """Store messages, in the memory of each user that is named."""
        users, agent = subjects(body.user_id, body.agent_id)
        beside = {"tags": body.tags, "app_id": body.app_id, "source": body.source}
        messages = shapes.messages_of(body.messages, shapes.metadata_of(body.info, beside))
        task, wait, notes, jobs, first = new_id(), body.given("async_mode") is False, [], 0, ""
        for user in users:
            added = self._memory.add(
                messages, user=user, session=body.conversation_id, agent=agent, task=task, wait=wait
            )
            notes += [note for note in added.notes if note not in notes]
            notes += [f"messages[{each.index}] was not stored: {each.reason}" for each in added.skipped]
            jobs += added.job is not None
            first = first or next(iter(added.message_ids), "")
        status = "running" if jobs and not wait else "completed"
        name = self._task(task if jobs or not first else first, users)
        return {"success": True, "task_id": name, "status": status, "notes": notes}

    def search(self, body: asked.SearchMemory) -> dict[str, Any]:
        """Search a user's memory, and knowledge bases that are named."""
        user = one_subject(body.user_id, body.agent_id)
        views = body.include_memory_view
        places = [Within(user), *recalling.bases_of(body.knowledgebase_ids, self._caller, self._named)]
        options = {"where": where_of(body.filter), "threshold": shapes.threshold_of(body.relativity)}
        data: dict[str, Any] = {
            **{
                f"{name}_list": []
                for name in ("memory_detail", "preference_detail", "tool_memory_detail", "skill_detail")
            },
            "message_detail_list": None,
            "preference_note": "",
        }
        facts = (
            None if views is None else [*(["message", "fact", "insight", "chunk"] if "detail_factual" in views else [])]
        )
        if facts is None or facts:
            most = body.given("memory_limit_number")
            hits = recalling.found_in(
                self._memory, places, body.query, limit=most, kinds=facts or recalling.FACTS, **options
            )
            data["memory_detail_list"] = [shapes.flat_hit(hit, self._name(hit.id, at, hit.cube)) for hit, at in hits]
        if body.given("include_preference") and (views is None or "preference" in views):
            self._add_preferences(data, body, places, options)
        if views is not None and "event" in views:
            hits = recalling.found_in(
                self._memory, places, body.query, limit=body.given("memory_limit_number"), kinds="event", **options
            )
            data["event_detail_list"] = [
                shapes.flat_event(record, self._name(hit.id, at, hit.cube), shapes.relativity(hit.score))
                for record, hit, at in recalling.records_of(self._memory, hits)
            ]
        if views is not None and "profile" in views:
            data["profile_detail_list"] = self._profile(user)
        return data

    def messages(self, body: asked.GetMessage) -> dict[str, Any]:
        """Return the last messages of a conversation, or of the last conversations."""
        most = body.given("message_limit_number")
        if body.conversation_id:
            names = [body.conversation_id]
        else:
            sessions = self._memory.sessions(user=body.user_id)
            names = [session.name for session in sessions[-body.given("conversation_limit_number") :]]
        found: list[dict[str, Any]] = []
        for name in names:
            items = self._memory.list(user=body.user_id, kinds="message", session=name, limit=most, newest=True)
            found += [shapes.flat_message(item) for item in reversed(items) if isinstance(item, StoredMessage)]
        return {"message_detail_list": found}

    def memories(self, body: asked.GetMemory) -> dict[str, Any]:
        """Return a page of what is remembered, newest first."""
        user, views = one_subject(body.user_id, body.agent_id), body.include_memory_view
        page, size, where, place = body.given("page"), body.given("size"), where_of(body.filter), Within(user)

        def listed(kinds: tuple[str, ...]) -> list[MemoryRecord]:
            found = recalling.listed(self._memory, user, kinds=kinds, where=where)
            return [each for each in found if isinstance(each, MemoryRecord)]

        def named(record: MemoryRecord) -> str:
            return self._name(record.id, place, "")

        facts = listed(("fact", "insight") if views is not None else recalling.MEMORIES)
        if views is not None and "detail_factual" not in views:
            facts = []
        shown = recalling.page_of(facts, page, size)
        data: dict[str, Any] = {
            "memory_detail_list": [shapes.flat_memory(each, named(each)) for each in shown],
            "preference_detail_list": [],
            "tool_memory_detail_list": [],
            "skill_detail_list": [],
            "total": len(facts), "size": size, "current": page, "pages": -(-len(facts) // size),
        }  # fmt: skip
        if body.given("include_preference") and (views is None or "preference" in views):
            wanted = listed(recalling.PREFERENCES)
            data["preference_total"] = len(wanted)
            shown = recalling.page_of(wanted, page, size)
            data["preference_detail_list"] = [shapes.flat_preference(each, named(each)) for each in shown]
        if views is not None and "event" in views:
            events = listed(("event",))
            data["event_total"] = len(events)
            shown = recalling.page_of(events, page, size)
            data["event_detail_list"] = [shapes.flat_event(each, named(each)) for each in shown]
        if views is not None and "profile" in views:
            data["profile_detail_list"] = self._profile(user)
        return data

    def memory(self, name: str) -> dict[str, Any]:
        """Return a memory or a message by its id."""
        place = place_of(name, "memory_id")
        item = self._memory.get(place.id, user=self._user(place), cube=place.cube)
        if isinstance(item, MemoryRecord):
            return shapes.flat_memory(item, name)
        flat = shapes.flat_message(item)
        return {**flat, "id": name, "memory_value": item.text, "memory_type": shapes.LONG_TERM, "kind": "message",
                "status": "activated"}  # fmt: skip

    def update(self, body: asked.UpdateMemory) -> dict[str, Any]:
        """Correct a memory; `status` activated makes an archived one hold again."""
        place = place_of(body.memory_id, "memory_id")
        user = self._user(place)
        if not body.content and body.status is None:
            raise InputError("content", "is missing; give content or status")
        if body.status == "archived":
            raise InputError(
                "status",
                "memories are not archived by hand: correct one by its content, delete it, or take it back in words "
                "by add/feedback, which can be undone",
            )
        item = self._memory.get(place.id, user=user, cube=place.cube)
        if isinstance(item, StoredMessage):
            raise InputError(
                "memory_id", "is a message: what was said is kept as it was said; delete it to be rid of it"
            )
        if body.status == "activated" and not item.stands:
            item = self._memory.restore(place.id, user=user, cube=place.cube)
        if body.content:
            item = self._memory.update(place.id, body.content, user=user, cube=place.cube)
        return {"success": True, "memory": shapes.flat_memory(item, body.memory_id)}

    def delete(self, body: asked.DeleteMemory) -> dict[str, Any]:
        """Erase by exactly one condition, for good."""
        conditions = {"memory_ids": body.memory_ids, "user_id": body.user_id, "agent_id": body.agent_id,
                      "filter": body.filter}  # fmt: skip
        given = [name for name, value in conditions.items() if value is not None and value != ""]
        if len(given) != 1:
            told = f"got {' and '.join(given)}" if given else "got none"
            raise InputError("memory_ids", f"give exactly one of memory_ids, user_id, agent_id, filter; {told}")
        if body.memory_ids is not None:
            removed = self._delete_ids(body.memory_ids)
        elif body.filter is not None:
            removed = self._delete_matching(body.filter)
        else:
            removed = dict(self._memory.forget(user=one_subject(body.user_id, body.agent_id), everything=True).removed)
        return {"success": True, "removed": removed}

    def feedback(self, body: asked.AddFeedback) -> dict[str, Any]:
        """Change memories as plain words ask."""
        given = self._memory.feedback(body.feedback_content, user=body.user_id, session=body.conversation_id)
        return {
            "success": given.understood,
            "task_id": self._task(given.message or new_id(), [body.user_id]),
            "status": "completed",
            "understood": given.understood,
            "applied": given.applied,
            "changes": [{"memory_id": step.memory_id, "before": step.before, "after": step.after}
                        for step in given.steps],
            "suggestions": [{"memory_id": each.memory_id, "memory_value": each.text} for each in given.suggestions],
            "notes": list(given.notes),
        }  # fmt: skip

    def status(self, body: asked.GetStatus) -> dict[str, Any]:
        """Return where the background work of an add is."""
        place = place_of(body.task_id, "task_id")
        users = place.users or (self._user(place),)
        states = [state for user in users for state in self._states(place.id, user)]
        if not states:
            raise NotFoundError(f"there is no task {body.task_id!r} here", **{CODE: NO_TASK})
        return {"task_id": body.task_id, "status": shapes.cloud_word(states), "memory_views": None}

    def chat(self, body: asked.CloudChat) -> dict[str, Any]:
        """Reply with what was said before in mind, and keep both."""
        answer = self._memory.chat(body.query, user=body.user_id, **self._chat_options(body))
        self._settle(answer, body)
        return {"response": answer.text, "mode": answer.mode, "found": answer.found, "notes": list(answer.notes),
                "memory_ids": [hit.id for hit in answer.citations]}  # fmt: skip

    def chat_lines(self, body: asked.CloudChat) -> Iterator[str | Answer]:
        """Begin a reply that is written piece by piece."""
        return self._memory.chat_stream(body.query, user=body.user_id, **self._chat_options(body))

    def extract(self, body: asked.ExtractMemory) -> dict[str, Any]:
        """Return what would be remembered of messages; nothing is stored."""
        found = self._memory.extract(shapes.messages_of(body.messages, {}), user=self._user())
        return shapes.extracted(found, body.extraction_types)

    def _add_preferences(
        self, data: dict[str, Any], body: asked.SearchMemory, places: list[Within], options: dict[str, Any]
    ) -> None:
        most = body.given("preference_limit_number")
        hits = recalling.found_in(self._memory, places, body.query, limit=most, kinds=recalling.PREFERENCES, **options)
        data["preference_detail_list"] = [
            shapes.flat_preference(record, self._name(hit.id, at, hit.cube), shapes.relativity(hit.score))
            for record, hit, at in recalling.records_of(self._memory, hits)
        ]
        if data["preference_detail_list"]:
            data["preference_note"] = shapes.PREFERENCE_NOTE

    def _profile(self, user: str) -> list[dict[str, Any]]:
        place = Within(user)
        return [
            shapes.flat_profile(entry, self._name(entry.memory_id, place, ""))
            for entry in self._memory.profile(user=user)
        ]

    def _chat_options(self, body: asked.CloudChat) -> dict[str, Any]:
        options: dict[str, Any] = {"session": body.conversation_id, "agent": body.agent_id}
        options["store"] = body.given("add_message_on_answer")
        said = {"system": body.system_prompt or None, "model": body.model_name or None}
        said |= {name: value for name, usual in _DEFAULT.items() if (value := getattr(body, name)) != usual}
        options |= {name: value for name, value in said.items() if value is not None}
        bases = recalling.bases_of(body.knowledgebase_ids, self._caller, self._named)
        if bases:
            options["cubes"] = self._own_and(body.user_id, bases)
        return options

    def _own_and(self, user: str, bases: list[Within]) -> list[str]:
        """Return the ids of the user's own cube and of knowledge bases, which a chat reads as one."""
        for each in bases:
            if each.user != user:
                self._let_read(user, each)
        own = [cube.id for cube in self._memory.cubes.list(user=user) if cube.kind == "personal"]
        return [*own, *(cube for each in bases for cube in each.cubes or ())]

    def _let_read(self, user: str, base: Within) -> None:
        """Make a user a reader of bases of another's, such as the project's, for whom the key may call as well."""
        for cube in base.cubes or ():
            if user not in {each.principal for each in self._memory.cubes.members(cube, user=base.user)}:
                self._memory.cubes.share(cube, user, "reader", user=base.user)

    def _settle(self, answer: Answer, body: asked.CloudChat) -> None:
        """Wait for what a chat left to be done, when the client said so."""
        jobs = [added.job for added in answer.stored if added.job is not None]
        if body.given("async_mode") is False and jobs:
            self._memory.jobs.wait(jobs, user=body.user_id)

    def _delete_ids(self, names: list[str]) -> dict[str, int]:
        by_place: dict[tuple[str, str | None], list[str]] = {}
        for at, name in enumerate(names):
            place = place_of(name, f"memory_ids[{at}]")
            by_place.setdefault((self._user(place), place.cube), []).append(place.id)
        removed: dict[str, int] = {}
        for (user, cube), ids in by_place.items():
            for kind, count in self._memory.forget(ids, user=user, cube=cube).removed.items():
                removed[kind] = removed.get(kind, 0) + count
        return removed

    def _delete_matching(self, given: dict[str, Any]) -> dict[str, int]:
        user, left = _whose(given)
        if user is None and (self._named or (self._caller is not None and self._caller.user)):
            user = self._user()
        if user is None:
            raise InputError(
                "filter.user_id", "is missing: name whose memories are meant, or give the header X-Mnemic-User"
            )
        where = where_of(left)
        found = recalling.listed(self._memory, user, kinds=("message", "memory"), where=where)
        if not found:
            return {}
        return dict(self._memory.forget([item.id for item in found], user=user).removed)

    def _states(self, task: str, user: str) -> list[JobState]:
        """Return the states of a task's jobs; of what was over when it came, its message tells that it is there."""
        try:
            return [job.state for job in self._memory.jobs.task(task, user=user).jobs]
        except NotFoundError:
            pass
        try:
            self._memory.get(task, user=user)
        except NotFoundError:
            return []
        return list(_DONE)

    def _task(self, task: str, users: list[str]) -> str:
        if self._caller is not None and [self._caller.user] == users:
            return task
        return str(Place(task, tuple(users)))

    def _user(self, place: Place | None = None) -> str:
        return user_for(self._caller, self._named, place)

    def _name(self, item: str, place: Within, cube: str) -> str:
        return recalling.name_of(item, place, self._caller, cube)


def _whose(given: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Return the user that a filter names, and the filter without it."""
    if isinstance(given.get("user_id"), str):
        return given["user_id"], {name: value for name, value in given.items() if name != "user_id"}
    parts = given.get("and")
    if not isinstance(parts, list) or len(given) != 1:
        return None, given
    named = [each["user_id"] for each in parts if isinstance(each, dict) and isinstance(each.get("user_id"), str)]
    if len(set(named)) != 1:
        return None, given
    left = [{name: value for name, value in each.items() if name != "user_id"} if isinstance(each, dict) else each
            for each in parts]  # fmt: skip
    return named[0], {"and": [each for each in left if each]}


def lines_of(piece: str | Answer) -> str:
    """Return a piece of a reply as the event that clients of MemOS read."""
    if isinstance(piece, str):
        return data_line({"type": "text", "data": piece})
    return data_line({"type": "end", "mode": piece.mode, "found": piece.found, "notes": list(piece.notes)})


def error_line(error: MnemicError) -> str:
    """Return the event that tells of a reply that broke off."""
    return data_line({"type": "error", "data": str(error)})
