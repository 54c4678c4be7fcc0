"""How keys, members and the audit look to a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.text import Text

from mnemic.model.audit import AuditRow
from mnemic.model.key import ApiKey, KeyState, NewKey
from mnemic.model.scope import Member
from mnemic.shells.cli.showing import columns, facts
from mnemic.shells.cli.wording import clock, one_line, shown

_COLOURS = {KeyState.ACTIVE: "green", KeyState.EXPIRED: "yellow", KeyState.REVOKED: "dim"}


def made(new: NewKey) -> RenderableType:
    """Return a key that was just made, with its secret on a line of its own."""
    told = facts(
        ("key", f"{shown(new.key.name)} ({new.key.prefix})"),
        ("id", new.key.id),
        ("calls for", _names(new.key.users, "anybody")),
        ("project", shown(new.key.project)),
        ("reaches", _names(new.key.cubes, "all cubes of its users")),
        ("may", ", ".join(new.key.powers)),
        ("limits", _limits(new.key)),
        ("until", clock(new.key.expires_at) if new.key.expires_at else "it is revoked"),
    )
    return Group(told, Text(""), Text(new.secret, "bold", no_wrap=True), Text("It cannot be shown again.", "yellow"))


def keys(found: Sequence[ApiKey], now: datetime) -> RenderableType:
    """Return keys, one a row."""
    if not found:
        return Text("no keys: who is at this machine needs none, and nobody else is served", "dim")
    table = columns("prefix", "name", "for", "may", "state", "last used")
    for key in found:
        state = key.state_at(now)
        whom = _names(key.users, "anybody") + (f" of {shown(key.project)}" if key.project else "")
        used = clock(key.last_used_at) if key.last_used_at else "never"
        table.add_row(
            key.prefix, one_line(key.name, 24), one_line(whom, 32), ", ".join(key.powers),
            Text(state.value, _COLOURS[state]), used,
        )  # fmt: skip
    return table


def dropped(gone: ApiKey, left: int) -> RenderableType:
    """Return that a key is erased, and what that means when it was the last."""
    told = f"erased key {gone.prefix}"
    return Text(told if left else f"{told}; it was the last: calls at this machine need none")


def members(found: Sequence[Member]) -> RenderableType:
    """Return the members of a cube."""
    table = columns("member", "role")
    for member in found:
        table.add_row(shown(member.principal), member.role.value)
    return table


def audit(found: Sequence[AuditRow], prefixes: Mapping[str, str]) -> RenderableType:
    """Return what was written down of calls; keys by their prefixes, where they are still known."""
    if not found:
        return Text("nothing is written down", "dim")
    table = columns("at", "key", "user", "verb", "cube", "outcome")
    for row in found:
        key = "" if row.key is None else prefixes.get(row.key, row.key)
        user = one_line(row.user or "", 24) + (f" of {shown(row.project)}" if row.project else "")
        outcome = row.outcome if row.calls == 1 else f"{row.outcome}, {row.calls:,} times"
        colour = "" if row.outcome == "ok" else "yellow"
        table.add_row(clock(row.at), key, user, row.verb, one_line(row.cube or "", 36), Text(outcome, colour))
    return table


def _names(names: Sequence[str] | None, everything: str) -> str:
    return everything if names is None else ", ".join(map(shown, names))


def _limits(key: ApiKey) -> str:
    told = [
        f"{count:,} calls in a {span}" for count, span in ((key.per_minute, "minute"), (key.per_day, "day")) if count
    ]
    return ", ".join(told) or "none"
