"""A memory as MemoryOS (BAI-LAB) shows it: pages of a turn and its reply, lines of knowledge, a profile as text.

The class `mnemic.compat.memoryos.Memoryos` and the MCP tools of MemoryOS answer with these. Times are written as
MemoryOS writes them, without a zone; what is in memory is never changed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from mnemic.errors import InputError
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.model.message import MessageRole, StoredMessage
from mnemic.model.profile import ProfileEntry

if TYPE_CHECKING:
    from mnemic.api import Memory  # the process answers before that is imported

SESSION: Final = "memoryos"
"""Where turns go: MemoryOS knows no sessions. Its files are imported under this name, too."""

ASSISTANT: Final = "default_assistant_profile"
"""The assistant when none is named, as in MemoryOS."""

NONE: Final = "None"
"""What stands for a profile of which nothing is known."""

_BLOCK: Final = 100  # messages looked at together on the way back
_BESIDE: Final = 8  # messages before and after one that may belong to its page
_MEMORY: Final = "memory"

Page = dict[str, str]
Knowledge = dict[str, str]


def moment(at: datetime) -> str:
    """Return a time as MemoryOS writes it."""
    return at.strftime("%Y-%m-%d %H:%M:%S")


@dataclass(frozen=True, slots=True)
class Views:
    """What is shown of one user's memory. `assistant` is whom statements of the assistant about itself name."""

    memory: Memory
    user: str
    assistant: str = ASSISTANT
    cube: str | None = None

    def add(self, user_input: object, agent_response: object, timestamp: str | None, metadata: Any) -> Sequence[str]:
        """Store a turn and its reply, an empty side left out; return the notes of the receipt."""
        sides = (("user", user_input), ("assistant", agent_response))
        turn = [
            {"role": role, "content": text, "at": timestamp or None, "metadata": metadata or None}
            for role, text in sides
            if not isinstance(text, str) or text.strip()
        ]
        if not turn:
            raise InputError("user_input", "is empty, and agent_response too; there is nothing to keep")
        added = self.memory.add(turn, user=self.user, session=SESSION, agent=self.assistant, cube=self.cube)
        return added.notes

    def short_term(self, pages: int) -> list[Page]:
        """Return the last pages, oldest first."""
        found: dict[str, list[StoredMessage]] = {}
        for message in self._back():
            key = message.page_id or message.id
            if key not in found and len(found) == pages:
                break
            found.setdefault(key, []).append(message)
        return [_page(messages[::-1]) for messages in reversed(found.values())]

    def pages(self, query: str, limit: int, *, threshold: float | None = None) -> list[Page]:
        """Return the pages that answer a query best, best first; `meta_info` sums up the topic that holds each."""
        found = self.memory.search(
            query, user=self.user, cubes=self.cube, kinds="message", limit=min(3 * limit, 100), threshold=threshold
        )
        pages: dict[str, Page] = {}
        for hit in found:
            if len(pages) == limit:
                break
            message = self.memory.get(hit.id, user=self.user, cube=self.cube)
            if not isinstance(message, StoredMessage) or (message.page_id or message.id) in pages:
                continue
            told = self.memory.explain(hit.id, user=self.user, cube=self.cube)
            page = _page(self._around(message))
            page["meta_info"] = "" if told.segment is None else told.segment.summary
            pages[page["page_id"]] = page
        return list(pages.values())

    def found_knowledge(
        self, query: str, limit: int, *, of_assistant: bool, threshold: float | None = None
    ) -> list[Knowledge]:
        """Return the statements that answer a query best: about the assistant, or about the user and everyone else."""
        about = {"subject": self.assistant}
        found = self.memory.search(
            query, user=self.user, cubes=self.cube, kinds=_MEMORY, limit=limit, threshold=threshold,
            where=about if of_assistant else {"not": about},
        )  # fmt: skip
        return [{"knowledge": hit.text, "timestamp": moment(hit.said_at)} for hit in found if hit.valid_to is None]

    def knowledge(self, limit: int, *, of_assistant: bool) -> list[Knowledge]:
        """Return the newest statements, oldest first: about the assistant, or about the user and everyone else."""
        found: list[Knowledge] = []
        after: str | None = None
        while len(found) < limit:
            block = self.memory.list(
                user=self.user, kinds=_MEMORY, after=after, limit=_BLOCK, newest=True, cube=self.cube
            )
            for each in block:
                if isinstance(each, MemoryRecord) and (each.subject == self.assistant) == of_assistant:
                    found += [] if each.current.valid_to else [_knowledge(each)]
            if not block:
                break
            after = block[-1].id
        return found[:limit][::-1]

    def profile(self) -> str:
        """Return what is known about people as lines of text; "None" when nothing is."""
        known = self.memory.profile(user=self.user, cube=self.cube)
        people: dict[str, list[ProfileEntry]] = {}
        for entry in known:
            if entry.subject != self.assistant:
                people.setdefault(entry.subject, []).append(entry)
        told = [line for person, entries in people.items() for line in (f"{person}:", *map(_line, entries))]
        return "\n".join(told) or NONE

    def _back(self) -> Iterator[StoredMessage]:
        """Yield messages, the newest first."""
        after: str | None = None
        while block := self.memory.list(
            user=self.user, kinds="message", after=after, limit=_BLOCK, newest=True, cube=self.cube
        ):
            yield from (each for each in block if isinstance(each, StoredMessage))
            after = block[-1].id

    def _around(self, message: StoredMessage) -> list[StoredMessage]:
        """Return the messages of a message's page, in order."""
        sides: list[list[StoredMessage]] = []
        for newest in (True, False):
            beside = self.memory.list(
                user=self.user, kinds="message", session=message.session, after=message.id, limit=_BESIDE,
                newest=newest, cube=self.cube,
            )  # fmt: skip
            of_page = [each for each in beside if isinstance(each, StoredMessage) and _same_page(each, message)]
            sides.append(of_page)
        return [*reversed(sides[0]), message, *sides[1]]


def _same_page(one: StoredMessage, other: StoredMessage) -> bool:
    return one.page_id is not None and one.page_id == other.page_id


def _page(messages: Sequence[StoredMessage]) -> Page:
    said = [each.text for each in messages if each.role is not MessageRole.ASSISTANT]
    replied = [each.text for each in messages if each.role is MessageRole.ASSISTANT]
    first = messages[0]
    return {
        "page_id": first.page_id or first.id,
        "user_input": "\n".join(said),
        "agent_response": "\n".join(replied),
        "timestamp": moment(first.said_at),
        "meta_info": "",
    }


def _knowledge(memory: MemoryRecord) -> Knowledge:
    current = memory.current
    said_at = current.sources[0].said_at if current.sources else current.valid_from
    return {"knowledge": current.text, "timestamp": moment(said_at)}


def _line(entry: ProfileEntry) -> str:
    denied = "not " if entry.polarity < 0 else ""
    return f"- {entry.label}: {denied}{entry.value} (since {entry.since:%Y-%m-%d})"
