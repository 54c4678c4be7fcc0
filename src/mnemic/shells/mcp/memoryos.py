"""The three tools of MemoryOS's MCP server: the same names, arguments and fields of their replies.

What an agent was told about them by its prompts stays true. Their errors are replies with status `error`, as they are
there.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, TypeVar

from mnemic.compat.views import ASSISTANT, NONE, Knowledge, Page, Views, moment
from mnemic.errors import InputError
from mnemic.shells.mcp import arguments as given
from mnemic.shells.mcp import results as told
from mnemic.shells.mcp.acts import Act
from mnemic.shells.mcp.fitting import cut, fit

E = TypeVar("E", told.PageOf, told.KnowledgeOf)

NO_PROFILE: Final = "No detailed user profile"
"""What MemoryOS says where nothing is known."""

_QUEUE: Final = 7  # pages that MemoryOS looks for at least (retrieval_queue_capacity)
_KNOWLEDGE: Final = 100  # statements of a profile at most, as in MemoryOS (long_term_knowledge_capacity)
_FOUND: Final = 20  # statements that a query finds at most (top_k_knowledge)
_BUDGET: Final = 6_000  # tokens of a reply: these tools have no argument for it
_TEXT: Final = 600  # tokens of one side of a turn


def add_memory(act: Act, args: given.AddMemory) -> told.MemoryAdded:
    """Store a turn and its reply."""
    for name, text in (("user_input", args.user_input), ("agent_response", args.agent_response)):
        if not text.strip():
            raise InputError(name, "is needed")
    at = args.timestamp or _now(act)
    notes = Views(act.memory, act.user, cube=act.cube).add(
        args.user_input, args.agent_response, args.timestamp, args.meta_data
    )
    details = told.TurnDetails(
        user_input_length=len(args.user_input),
        agent_response_length=len(args.agent_response),
        has_meta_data=args.meta_data is not None,
    )
    message = "; ".join(("Stored; it can be found from now on", *notes))
    return told.MemoryAdded(status="success", message=message, timestamp=at, details=details)


def retrieve_memory(act: Act, args: given.RetrieveMemory) -> told.MemoryRetrieved:
    """Find turns and statements that answer a query, beside the last turns and the profile."""
    views = Views(act.memory, act.user, cube=act.cube)
    recent = views.short_term(act.memory.settings.stm_pages)
    latest = {page["page_id"] for page in recent}
    pages = [each for each in views.pages(args.query, max(args.max_results, _QUEUE)) if each["page_id"] not in latest]
    user = views.found_knowledge(args.query, _FOUND, of_assistant=False)
    own = views.found_knowledge(args.query, _FOUND, of_assistant=True)
    profile = cut(_profile(views), _BUDGET // 4)
    share = _BUDGET // 4
    return told.MemoryRetrieved(
        status="success", query=cut(args.query, _TEXT), timestamp=_now(act), user_profile=profile,
        short_term_memory=_newest([_page(each, topic=False) for each in recent], share), short_term_count=len(recent),
        retrieved_pages=fit([_page(each) for each in pages[: args.max_results]], share)[0],
        retrieved_user_knowledge=_known(user[: args.max_results], share // 2),
        retrieved_assistant_knowledge=_known(own[: args.max_results], share // 2),
        total_pages_found=len(pages), total_user_knowledge_found=len(user), total_assistant_knowledge_found=len(own),
    )  # fmt: skip


def get_user_profile(act: Act, args: given.GetUserProfile) -> told.UserProfileGot:
    """Tell what is known about the user."""
    views = Views(act.memory, act.user, cube=act.cube)
    got = told.UserProfileGot(
        status="success", timestamp=_now(act), user_id=act.user, assistant_id=ASSISTANT,
        user_profile=cut(_profile(views), _BUDGET // 3),
    )  # fmt: skip
    if args.include_knowledge:
        known = views.knowledge(_KNOWLEDGE, of_assistant=False)
        got.user_knowledge, got.user_knowledge_count = _newest(_known(known, None), _BUDGET // 3), len(known)
    if args.include_assistant_knowledge:
        known = views.knowledge(_KNOWLEDGE, of_assistant=True)
        got.assistant_knowledge = _newest(_known(known, None), _BUDGET // 3)
        got.assistant_knowledge_count = len(known)
    return got


def _now(act: Act) -> str:
    return moment(datetime.now(act.memory.settings.zone))


def _profile(views: Views) -> str:
    known = views.profile()
    return NO_PROFILE if known == NONE else known


def _page(page: Page, *, topic: bool = True) -> told.PageOf:
    return told.PageOf(
        user_input=cut(page["user_input"], _TEXT), agent_response=cut(page["agent_response"], _TEXT),
        timestamp=page["timestamp"], meta_info=cut(page["meta_info"], _TEXT) if topic else None,
    )  # fmt: skip


def _known(found: list[Knowledge], budget: int | None) -> list[told.KnowledgeOf]:
    entries = [told.KnowledgeOf(knowledge=cut(each["knowledge"], _TEXT), timestamp=each["timestamp"]) for each in found]
    return entries if budget is None else fit(entries, budget)[0]


def _newest(entries: list[E], budget: int) -> list[E]:
    """Return the newest entries that fit, in their order."""
    return fit(entries[::-1], budget)[0][::-1]
