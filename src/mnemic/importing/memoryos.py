"""The files of MemoryOS (BAI-LAB): short-term and mid-term pages become the dialogue that they were cut from.

Pages stand in several files, and twice in one when they had two themes: each is read once, in order of time. Profiles
and knowledge were written by a model and name no sources, so they cannot become memories here; they are kept as
system messages, marked as what they are, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.importing.batch import Batch, Reading, as_list, as_object, reading
from mnemic.model.message import Message

FORMAT: Final = "memoryos"
SHORT_TERM, MID_TERM = "short_term.json", "mid_term.json"
LONG_TERM: Final = ("long_term_user.json", "long_term_assistant.json")
FILES: Final = (SHORT_TERM, MID_TERM, *LONG_TERM)

_KNOWLEDGE: Final = {"knowledge_base": "knowledge", "assistant_knowledge": "assistant knowledge"}
"""The lists of derived lines, and what a message says that it is."""


@dataclass(frozen=True, slots=True)
class _Page:
    said: str
    answered: str
    at: str | None
    page_id: str | None


def read(files: Mapping[str, object], *, session: str = "memoryos") -> Reading:
    """Return the dialogue and the derived lines of a user's files, parsed, by their names.

    Raises `InputError` naming the file and the place.
    """
    unknown = sorted(set(files) - set(FILES))
    if unknown or not files:
        what = f"{unknown[0]!r} is not a file of MemoryOS" if unknown else "there is none"
        raise InputError("files", f"{what}; known: {', '.join(FILES)}")
    found = [*_mid_term(files.get(MID_TERM)), *_short_term(files.get(SHORT_TERM))]
    once: dict[tuple[str, str, str | None], _Page] = {}
    for page in found:
        once.setdefault((page.said, page.answered, page.at), page)
    pages = sorted(once.values(), key=lambda page: page.at or "9999")  # those without a time come last
    talk = tuple(message for page in pages for message in _messages(page))
    derived = tuple(message for name in LONG_TERM for message in _derived(files.get(name), name))
    batches = [Batch(session, talk), Batch(f"{session}-knowledge", derived)]
    return reading(FORMAT, batches, list(_notes(len(found) - len(pages), pages, len(derived))))


def _notes(repeated: int, pages: list[_Page], derived: int) -> Iterator[str]:
    if repeated:
        yield f"{repeated} pages stand in the files more than once and were read once"
    undated = sum(page.at is None for page in pages)
    if undated:
        yield f"{undated} pages have no time; they count as said now"
    if derived:
        yield (
            f"{derived} lines of profile and knowledge name no sources: they are kept as system messages "
            "(metadata imported_from=memoryos), not as memories"
        )


def _short_term(data: object) -> list[_Page]:
    if data is None:
        return []
    return [_page(entry, f"{SHORT_TERM}[{number}]") for number, entry in enumerate(as_list(data, SHORT_TERM))]


def _mid_term(data: object) -> list[_Page]:
    if data is None:
        return []
    sessions = as_object(as_object(data, MID_TERM).get("sessions"), f"{MID_TERM}.sessions")
    pages: list[_Page] = []
    for name, segment in sessions.items():
        place = f"{MID_TERM}.sessions[{name!r}].details"
        details = as_list(as_object(segment, place).get("details", []), place)
        pages += [_page(entry, f"{place}[{number}]") for number, entry in enumerate(details)]
    return pages


def _page(entry: object, field: str) -> _Page:
    found = as_object(entry, field)
    if "user_input" not in found and "agent_response" not in found:
        raise InputError(f"{field}.user_input", "is missing, and agent_response too: this is no page of MemoryOS")
    sides = []
    for name in ("user_input", "agent_response"):
        value = found.get(name) or ""
        if not isinstance(value, str):
            raise InputError(f"{field}.{name}", f"needs a string, got {type(value).__name__}")
        sides.append(value)
    page_id = found.get("page_id")
    return _Page(sides[0], sides[1], _time(found.get("timestamp"), field), str(page_id) if page_id else None)


def _time(value: object, field: str) -> str | None:
    if value in (None, ""):
        return None
    try:
        return datetime.fromisoformat(str(value)).isoformat(sep=" ")
    except ValueError as error:
        raise InputError(f"{field}.timestamp", f"{value!r} is not a time such as 2025-03-14 09:30:00") from error


def _messages(page: _Page) -> Iterator[Message]:
    metadata = {"imported_from": FORMAT, **({"page_id": page.page_id} if page.page_id else {})}
    for role, content in (("user", page.said), ("assistant", page.answered)):
        if content.strip():
            yield Message(role=role, content=content, at=page.at, metadata=metadata)


def _derived(data: object, name: str) -> Iterator[Message]:
    if data is None:
        return
    found = as_object(data, name)
    profiles = as_object(found.get("user_profiles") or {}, f"{name}.user_profiles")
    for user, profile in profiles.items():
        place = f"{name}.user_profiles[{user!r}]"
        entry = profile if isinstance(profile, Mapping) else {"data": profile}
        yield from _line(entry.get("data"), entry.get("last_updated"), "profile", place)
    for key, kind in _KNOWLEDGE.items():
        for number, line in enumerate(as_list(found.get(key) or [], f"{name}.{key}")):
            place = f"{name}.{key}[{number}]"
            entry = as_object(line, place)
            yield from _line(entry.get("knowledge"), entry.get("timestamp"), kind, place)


def _line(text: Any, at: object, kind: str, place: str) -> Iterator[Message]:
    if isinstance(text, str) and text.strip() and text.strip().lower() != "none":
        metadata = {"imported_from": FORMAT, "kind": kind}
        yield Message(role="system", content=text, at=_time(at, place), id=place, metadata=metadata)
