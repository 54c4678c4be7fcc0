"""Which page a message belongs to, and which pages leave short-term memory.

A page is one speaker's turn with the replies of the others, so that what moves together was said together. All times
here are times of saying, not of storing: an import of history forms and moves the same pages as the life did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from mnemic.model.message import MessageRole, Page

CAPACITY: Final = 10
"""Pages of a session that stay in short-term memory (MemoryOS, Kang et al., EMNLP 2025: 7 in the paper, 10 in code)."""

GAP: Final = timedelta(hours=6)
"""A pause after which a new page opens."""

PAGE_MESSAGES: Final = 12
"""Messages that a page holds at most, so that a monologue or a long run of tools still becomes pages."""

_ANSWERS: Final = frozenset({MessageRole.ASSISTANT, MessageRole.TOOL})


@dataclass(frozen=True, slots=True)
class OpenPage:
    """The last page of a session as far as placing needs it.

    `opened_by` is the speaker of its first message, `last_role` the role of its last one, `replied` whether someone
    else has spoken in it, `messages` how many it holds, `ended_at` the latest time at which one of them was said.
    """

    id: str
    opened_by: str
    replied: bool
    messages: int
    last_role: MessageRole
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a message goes: into the page `page_id`, or into a new page when that is None.

    `opened_by` and `replied` are the page's state once the message is in it.
    """

    page_id: str | None
    opened_by: str
    replied: bool

    @property
    def opens(self) -> bool:
        """Tell whether a new page opens."""
        return self.page_id is None


def place(
    last: OpenPage | None, speaker: str, role: MessageRole, said_at: datetime, gap: timedelta = GAP
) -> Placement | None:
    """Return the page that a new message belongs to; None for a system message, which joins no page.

    `last` is the session's last page, None when there is none or when it has left short-term memory. A new page opens
    when the opener speaks again after a reply, when a user speaks after an assistant's or tool's reply, after a pause
    longer than `gap`, and when the page is full. Assistants and tools join the open page; a page that still waits
    for them waits through any pause. A message said earlier than the last one is placed where it arrives.
    """
    if role is MessageRole.SYSTEM:
        return None
    if last is None or last.messages >= PAGE_MESSAGES or _starts(last, speaker, role, said_at, gap):
        return Placement(page_id=None, opened_by=speaker, replied=False)
    return Placement(page_id=last.id, opened_by=last.opened_by, replied=last.replied or speaker != last.opened_by)


def _starts(last: OpenPage, speaker: str, role: MessageRole, said_at: datetime, gap: timedelta) -> bool:
    paused = said_at - last.ended_at > gap
    if role in _ANSWERS:
        awaited = last.last_role is MessageRole.USER or role is MessageRole.TOOL
        return paused and not awaited
    return paused or (last.replied and (speaker == last.opened_by or last.last_role in _ANSWERS))


def overflow(
    pages: Sequence[Page], *, capacity: int = CAPACITY, now_said: datetime, quiet: timedelta = GAP
) -> list[Page]:
    """Return the pages of one session that leave short-term memory, oldest first.

    `pages` are the session's pages in order, `now_said` the latest time of saying in the cube. Beyond the last
    `capacity` pages every page without a segment leaves; when the session has been quiet for longer than `quiet`,
    all of them do. The last page of a session that is not quiet stays while it waits for its reply.
    """
    if not pages:
        return []
    if max(page.ended_at for page in pages) < now_said - quiet:
        leaving = list(pages)
    else:
        leaving = list(pages[: max(len(pages) - capacity, 0)])
        if len(leaving) == len(pages) and not pages[-1].replied:
            leaving.pop()
    return [page for page in leaving if page.segment_id is None]
