"""What can be read by an address: a profile, the cubes, what came last, one item. Always JSON: what was said is data.

`mnemic://profile` is that of the user for whom the connection calls. Where it may call for several, addresses begin
with the user: `mnemic://users/ann/profile`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote, urlsplit

import mcp_types as types

from mnemic.errors import InputError, NotFoundError
from mnemic.model.caller import Power
from mnemic.model.message import StoredMessage
from mnemic.shells.mcp import arguments as given
from mnemic.shells.mcp import documents, reading
from mnemic.shells.mcp import results as told
from mnemic.shells.mcp.acts import Act
from mnemic.shells.mcp.fitting import dumped, fit, written
from mnemic.shells.mcp.place import Place

if TYPE_CHECKING:
    from mnemic.api import Memory  # the process answers before that is imported

MIME: Final = "application/json"
SCHEME: Final = "mnemic"
BUDGET: Final = 6_000
"""Tokens of a resource at most."""

_RECENT: Final = 50  # items

PROFILE, CUBES, RECENT, DOCUMENTS = "profile", "cubes", "recent", "documents"
KINDS: Final = {
    PROFILE: ("Profile", "What is known about the user and the people around them."),
    CUBES: ("Cubes", "The cubes that the user may read: their own memory, projects, knowledge bases."),
    RECENT: ("Recent memories", "What was said and learned last, the newest first."),
}


def listed(place: Place) -> list[types.Resource]:
    """Return the resources of the user for whom the connection calls; none when that is left open."""
    if place.user is None or not place.may(Power.READ):
        return []
    return [
        types.Resource(name=name, uri=f"{SCHEME}://{name}", title=title, description=told_, mime_type=MIME)
        for name, (title, told_) in KINDS.items()
    ]


def templates(place: Place) -> list[types.ResourceTemplate]:
    """Return the shapes of addresses that name something."""
    if not place.may(Power.READ):
        return []
    shapes: list[tuple[str, str, str]] = []
    if place.user is None:
        shapes += [(f"users/{{user}}/{name}", title, told_) for name, (title, told_) in KINDS.items()]
    front = "users/{user}/" if place.user is None else ""
    shapes.append((f"{front}memories/{{id}}", "A memory or message", "One item whole, by its id."))
    if place.cube is None:
        for name in (PROFILE, RECENT):
            title, told_ = KINDS[name]
            shapes.append((f"{front}cubes/{{cube}}/{name}", f"{title} of a cube", told_))
        shapes.append((f"{front}cubes/{{cube}}/{DOCUMENTS}", "Documents", "The documents of a knowledge base."))
    return [
        types.ResourceTemplate(
            name=shape.replace("/", " "), uri_template=f"{SCHEME}://{shape}", title=title, description=told_,
            mime_type=MIME,
        )
        for shape, title, told_ in shapes
    ]  # fmt: skip


def address(*parts: str) -> str:
    """Return the address of a resource."""
    return f"{SCHEME}://" + "/".join(quote(part, safe="") for part in parts)


def read(memory: Memory, place: Place, uri: str) -> str:
    """Return a resource as JSON. Raises `NotFoundError` for an address that is none of ours."""
    user, parts = _parts(place, uri)
    match parts:
        case [name] if name in KINDS:
            return written(dumped(_read(Act(memory, place, user, place.cube), name)))
        case ["memories", item]:
            act = Act(memory, place, user, place.cube)
            return written(dumped(reading.read(act, given.Read(id=item, budget=BUDGET))))
        case ["cubes", cube, name] if name in (PROFILE, RECENT):
            return written(dumped(_read(Act(memory, place, user, place.cube_of(cube)), name)))
        case ["cubes", cube, name] if name == DOCUMENTS:
            act = Act(memory, place, user, place.cube_of(cube))
            return written(dumped(documents.list_documents(act, given.ListDocuments(cube=cube, budget=BUDGET))))
    raise NotFoundError(f"there is no resource {uri!r}; list the resources and their templates", uri=uri)


def recent(act: Act, budget: int = BUDGET) -> told.Recent:
    """Return what was said and learned last, the newest first."""
    found = act.memory.list(user=act.user, limit=_RECENT, newest=True, cube=act.cube)
    items = [
        told.RecentItem(
            id=each.id, kind="message", text=each.text, at=each.said_at.isoformat(), who=each.speaker,
            session=each.session,
        )
        if isinstance(each, StoredMessage)
        else told.RecentItem(
            id=each.id, kind=each.kind.value, text=each.current.text, at=each.current.valid_from.isoformat(),
            who=each.subject,
        )
        for each in found
    ]  # fmt: skip
    kept, left = fit((reading.shortened(each, budget) for each in items), budget)
    return told.Recent(items=kept, left_out=left)


def _read(act: Act, name: str) -> told.Result:
    if name == PROFILE:
        return reading.show_profile(act, given.ProfileOf(budget=BUDGET))
    if name == RECENT:
        return recent(act)
    kept, left = fit(reading.cubes(act.memory, act.user), BUDGET)
    return told.Cubes(cubes=kept, left_out=left)


def _parts(place: Place, uri: str) -> tuple[str, list[str]]:
    """Return whose memory an address is about, and the rest of it."""
    split = urlsplit(uri)
    if split.scheme != SCHEME:
        raise InputError("uri", f"needs an address such as {SCHEME}://{PROFILE}, got {uri!r}")
    parts = [unquote(part) for part in (split.netloc, *split.path.strip("/").split("/")) if part]
    if len(parts) > 2 and parts[0] == "users":
        return place.user_of(parts[1]), parts[2:]
    return place.user_of(None), parts
