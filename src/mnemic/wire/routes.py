"""Every verb's place on a server: one table, which the server, its clients and the table of permissions are made from.

What a verb takes and gives is said by its signature in `mnemic.api`; how it travels follows from that: what stands in
the path is taken from there, the rest comes in the query of a GET or DELETE, and in a JSON object otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mnemic.model.caller import Power

VERSION: Final = "/v1"
"""What each path begins with."""


@dataclass(frozen=True, slots=True)
class Route:
    """One verb. `streams`: its pieces come as server-sent events. `lines`: they come as lines of JSON.

    `power` is what a key must allow. `group` and `name` are those in `mnemic.api`.
    """

    verb: str
    method: str
    path: str
    power: Power
    status: int = 200
    streams: bool = False
    lines: bool = False

    @property
    def group(self) -> str:
        """The group of the verb; empty for those of the memory itself."""
        return self.verb.rpartition(".")[0]

    @property
    def name(self) -> str:
        """The verb's name inside its group."""
        return self.verb.rpartition(".")[2]

    @property
    def in_path(self) -> tuple[str, ...]:
        """The names of the parameters that stand in the path."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))

    @property
    def writes(self) -> bool:
        """Whether a call of it changes something, so that it matters how often it is carried out."""
        return self.power is not Power.READ and self.method != "GET"

    @property
    def in_query(self) -> bool:
        """Whether the other parameters come in the query, else in a JSON object."""
        return self.method in ("GET", "DELETE")


_READ, _WRITE, _ADMIN = Power.READ, Power.WRITE, Power.ADMIN

ROUTES: Final[tuple[Route, ...]] = (
    Route("add", "POST", "/messages", _WRITE, status=201),
    Route("extract", "POST", "/extract", _READ),
    Route("search", "POST", "/search", _READ),
    Route("search_many", "POST", "/search/many", _READ),
    Route("context", "POST", "/context", _READ),
    Route("ask", "POST", "/ask", _READ),
    Route("ask_stream", "POST", "/ask/stream", _READ, streams=True),
    Route("chat", "POST", "/chat", _WRITE),
    Route("chat_stream", "POST", "/chat/stream", _WRITE, streams=True),
    Route("list", "GET", "/items", _READ),
    Route("get", "GET", "/items/{id}", _READ),
    Route("update", "PATCH", "/items/{id}", _WRITE),
    Route("history", "GET", "/items/{id}/history", _READ),
    Route("explain", "GET", "/items/{id}/explanation", _READ),
    Route("lock", "PUT", "/items/{id}/lock", _WRITE),
    Route("restore", "POST", "/items/{id}/restore", _WRITE),
    Route("forget", "POST", "/forget", _WRITE),
    Route("feedback", "POST", "/feedback", _WRITE),
    Route("changes", "GET", "/changes", _READ),
    Route("watch", "GET", "/changes/events", _READ, streams=True),
    Route("undo", "POST", "/changes/{change}/undo", _WRITE),
    Route("profile", "GET", "/profile", _READ),
    Route("set_profile", "PUT", "/profile/{attribute}", _WRITE),
    Route("sessions", "GET", "/sessions", _READ),
    Route("entities", "GET", "/entities", _READ),
    Route("stats", "GET", "/stats", _READ),
    Route("rebuild", "POST", "/rebuild", _WRITE),
    Route("reorganize", "POST", "/reorganize", _WRITE),
    Route("export", "GET", "/export", _READ, lines=True),
    Route("load", "POST", "/load", _WRITE),
    Route("check", "GET", "/check", _ADMIN),
    Route("audit", "GET", "/audit", _ADMIN),
    Route("cubes.list", "GET", "/cubes", _READ),
    Route("cubes.create", "POST", "/cubes", _WRITE, status=201),
    Route("cubes.delete", "DELETE", "/cubes/{cube}", _WRITE),
    Route("cubes.members", "GET", "/cubes/{cube}/members", _READ),
    Route("cubes.share", "PUT", "/cubes/{cube}/members/{member}", _WRITE),
    Route("cubes.unshare", "DELETE", "/cubes/{cube}/members/{member}", _WRITE),
    Route("knowledge.list", "GET", "/knowledge", _READ),
    Route("knowledge.create", "POST", "/knowledge", _WRITE, status=201),
    Route("knowledge.update", "PATCH", "/knowledge/{cube}", _WRITE),
    Route("knowledge.delete", "DELETE", "/knowledge/{cube}", _WRITE),
    Route("knowledge.bind", "PUT", "/knowledge/{cube}/bindings", _WRITE),
    Route("knowledge.unbind", "DELETE", "/knowledge/{cube}/bindings", _WRITE),
    Route("knowledge.documents", "GET", "/knowledge/{cube}/documents", _READ),
    Route("knowledge.add", "POST", "/knowledge/{cube}/documents", _WRITE, status=201),
    Route("knowledge.get", "GET", "/knowledge/{cube}/documents/{document}", _READ),
    Route("knowledge.remove", "DELETE", "/knowledge/{cube}/documents/{document}", _WRITE),
    Route("knowledge.versions", "GET", "/knowledge/{cube}/documents/{document}/versions", _READ),
    Route("knowledge.chunks", "GET", "/knowledge/{cube}/documents/{document}/chunks", _READ),
    Route("knowledge.file", "GET", "/knowledge/{cube}/documents/{document}/file", _READ),
    Route("knowledge.refresh", "POST", "/knowledge/{cube}/documents/{document}/refresh", _WRITE),
    Route("attachments.list", "GET", "/attachments", _READ),
    Route("attachments.get", "GET", "/attachments/{id}", _READ),
    Route("attachments.file", "GET", "/attachments/{id}/file", _READ),
    Route("llm.complete", "POST", "/llm/complete", _WRITE),
    Route("llm.usage", "GET", "/llm/usage", _READ),
    Route("llm.calls", "GET", "/llm/calls", _READ),
    Route("jobs.list", "GET", "/jobs", _READ),
    Route("jobs.counts", "GET", "/jobs/counts", _READ),
    Route("jobs.share", "GET", "/jobs/share", _READ),
    Route("jobs.set_share", "PUT", "/jobs/share", _ADMIN),
    Route("jobs.wait", "POST", "/jobs/wait", _READ),
    Route("jobs.events", "GET", "/jobs/events", _READ, streams=True),
    Route("jobs.task", "GET", "/jobs/tasks/{task}", _READ),
    Route("jobs.get", "GET", "/jobs/{id}", _READ),
    Route("jobs.cancel", "POST", "/jobs/{id}/cancel", _WRITE),
    Route("jobs.retry", "POST", "/jobs/{id}/retry", _WRITE),
    Route("jobs.drop", "DELETE", "/jobs/{id}", _WRITE),
    Route("keys.list", "GET", "/keys", _ADMIN),
    Route("keys.create", "POST", "/keys", _ADMIN, status=201),
    Route("keys.rotate", "POST", "/keys/{id}/rotate", _ADMIN, status=201),
    Route("keys.revoke", "DELETE", "/keys/{id}", _ADMIN),
)
"""All verbs that a server has. Those whose paths begin alike stand with the fixed ones first."""

BY_VERB: Final[Mapping[str, Route]] = {route.verb: route for route in ROUTES}
