"""MemOS cloud's paths under `/api/openmem/v1`, which the public client `MemOSClient` speaks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from mnemic.api import Memory
from mnemic.api.threads import Threads
from mnemic.errors import InputError, MnemicError
from mnemic.model.answer import Answer
from mnemic.shells.doors import cloud_bodies as asked
from mnemic.shells.doors.asking import STREAMED, caller_of, checked, named_user, telling
from mnemic.shells.doors.cloud_bases import CloudBases
from mnemic.shells.doors.cloud_files import CloudFiles, TakesForms
from mnemic.shells.doors.cloud_memory import CloudCalls, error_line, lines_of
from mnemic.shells.doors.cloud_telling import answered, tell
from mnemic.shells.doors.subjects import place_of
from mnemic.wire.forms import FORM, FormLimits

__all__ = ["PREFIXES", "router", "tell"]

PREFIX: Final = "/api/openmem/v1"
PREFIXES: Final = (PREFIX,)
"""Below these, errors are told in the door\'s way."""

FORMS: Final = (f"{PREFIX}/add/knowledgebase-file",)
"""Paths that take forms with files."""

_TEMPLATES: Final = "a template is named where a profile is read, edited or deleted; nothing is bound before"
_RERANK: Final = "documents are not ranked by themselves; search ranks what is in memory"


class _Door:
    """Runs calls on threads, for who makes the request."""

    def __init__(self, memory: Memory, threads: Threads, limits: FormLimits) -> None:
        self.memory = memory
        self.threads = threads
        self._limits = limits

    def calls(self, request: Request) -> CloudCalls:
        return CloudCalls(self.memory, caller_of(request), named_user(request))

    def bases(self, request: Request) -> CloudBases:
        return CloudBases(self.memory, caller_of(request), named_user(request))

    def files(self, request: Request) -> CloudFiles:
        return CloudFiles(self.memory, caller_of(request), named_user(request), self._limits)

    async def run(self, request: Request, do: Callable[[], Any]) -> Response:
        return answered(await self.threads.call(do, who=caller_of(request)))

    async def stream(self, request: Request, body: asked.CloudChat) -> Response:
        calls = self.calls(request)
        pieces = await self.threads.pieces(lambda: calls.chat_lines(body), who=caller_of(request))
        return StreamingResponse(_lines(pieces), media_type="text/event-stream")


def router(memory: Memory, threads: Threads, limits: FormLimits, takes_forms: TakesForms) -> APIRouter:
    """Return the paths of this door."""
    found = APIRouter(prefix=PREFIX, tags=["MemOS cloud"], route_class=telling(tell))
    door = _Door(memory, threads, limits)
    _messages(found, door)
    _memories(found, door)
    _bases(found, door)
    _files(found, door, takes_forms)
    _lacking(found)
    return found


def _messages(found: APIRouter, door: _Door) -> None:
    @found.post("/add/message")
    async def add_message(request: Request, body: asked.AddMessage) -> Response:
        """Store messages of a conversation."""
        return await door.run(request, lambda: door.calls(request).add(body))

    @found.post("/get/message")
    async def get_message(request: Request, body: asked.GetMessage) -> Response:
        """Return the last messages of a conversation."""
        return await door.run(request, lambda: door.calls(request).messages(body))

    @found.post("/get/status")
    async def get_status(request: Request, body: asked.GetStatus) -> Response:
        """Return where the background work of an add is, or a file."""
        place = place_of(body.task_id, "task_id")
        if place.cube is None:
            return await door.run(request, lambda: door.calls(request).status(body))
        word = await door.threads.call(lambda: door.files(request).status(place), who=caller_of(request))
        return answered({"task_id": body.task_id, "status": word, "memory_views": None})

    @found.post("/add/feedback")
    async def add_feedback(request: Request, body: asked.AddFeedback) -> Response:
        """Change memories as plain words ask."""
        return await door.run(request, lambda: door.calls(request).feedback(body))

    @found.post("/chat", responses=STREAMED)
    async def chat(request: Request, body: asked.CloudChat) -> Response:
        """Reply with what was said before in mind, whole or as server-sent events."""
        if body.given("stream"):
            return await door.stream(request, body)
        return await door.run(request, lambda: door.calls(request).chat(body))

    @found.post("/extract/memory")
    async def extract_memory(request: Request, body: asked.ExtractMemory) -> Response:
        """Return what would be remembered of messages."""
        return await door.run(request, lambda: door.calls(request).extract(body))


def _memories(found: APIRouter, door: _Door) -> None:
    @found.post("/search/memory")
    async def search_memory(request: Request, body: asked.SearchMemory) -> Response:
        """Search memories, preferences, and knowledge bases that are named."""
        return await door.run(request, lambda: door.calls(request).search(body))

    @found.post("/get/memory")
    async def get_memory(request: Request, body: asked.GetMemory) -> Response:
        """Return a page of what is remembered, newest first."""
        return await door.run(request, lambda: door.calls(request).memories(body))

    @found.get("/get/memory/{memory_id:path}")
    async def get_memory_by_id(request: Request, memory_id: str) -> Response:
        """Return one memory or message."""
        return await door.run(request, lambda: door.calls(request).memory(memory_id))

    @found.post("/update/memory")
    async def update_memory(request: Request, body: asked.UpdateMemory) -> Response:
        """Correct a memory."""
        return await door.run(request, lambda: door.calls(request).update(body))

    @found.post("/delete/memory")
    async def delete_memory(request: Request, body: asked.DeleteMemory) -> Response:
        """Erase memories by exactly one condition."""
        return await door.run(request, lambda: door.calls(request).delete(body))


def _bases(found: APIRouter, door: _Door) -> None:
    @found.post("/create/knowledgebase")
    async def create_knowledgebase(request: Request, body: asked.CreateKnowledgebase) -> Response:
        """Make a knowledge base."""
        return await door.run(request, lambda: door.bases(request).create(body))

    @found.post("/delete/knowledgebase")
    async def delete_knowledgebase(request: Request, body: asked.DeleteKnowledgebase) -> Response:
        """Erase a knowledge base."""
        return await door.run(request, lambda: door.bases(request).delete(body))

    @found.post("/edit/profile")
    async def edit_profile(request: Request, body: asked.EditProfile) -> Response:
        """Set and take back attributes of a person."""
        return await door.run(request, lambda: door.bases(request).edit_profile(body))

    @found.post("/delete/profile")
    async def delete_profile(request: Request, body: asked.DeleteProfile) -> Response:
        """Take back all that a template shows of a person."""
        return await door.run(request, lambda: door.bases(request).delete_profile(body))


def _files(found: APIRouter, door: _Door, takes_forms: TakesForms) -> None:
    @found.post("/add/knowledgebase-file", openapi_extra=dict(asked.FILES))
    async def add_knowledgebase_file(
        request: Request,
        knowledgebase_id: str | None = None,
        type: Annotated[Any, asked.NO_FILE_TYPE] = None,  # noqa: A002 - its name there
    ) -> Response:
        """Add files to a knowledge base: addresses and base64 as JSON, or a form whose parts are named `file`."""
        del type  # it may only be absent
        files = door.files(request)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
            body = checked(asked.AddKnowledgebaseFile, await request.body())
            return await door.run(request, lambda: files.add(body))
        async with takes_forms(request) as form:
            base = knowledgebase_id or next(iter(form.texts.get("knowledgebase_id", ())), "")
            if not base:
                raise InputError("knowledgebase_id", "is missing")
            return await door.run(request, lambda: files.add_form(base, form.files))

    @found.post("/get/knowledgebase-file")
    async def get_knowledgebase_file(request: Request, body: asked.GetKnowledgebaseFile) -> Response:
        """Return files with how far they are, by their ids or of a knowledge base."""
        return await door.run(request, lambda: door.files(request).files(body))

    @found.post("/delete/knowledgebase-file")
    async def delete_knowledgebase_file(request: Request, body: asked.DeleteKnowledgebaseFile) -> Response:
        """Erase files of knowledge bases."""
        return await door.run(request, lambda: door.files(request).delete(body))


def _lacking(found: APIRouter) -> None:
    """Refuse the calls that nothing here answers to, each with what to do instead."""
    found.add_api_route("/bind/profile_template", _refusing("bind_list", _TEMPLATES), methods=["POST"],
                        include_in_schema=False)  # fmt: skip
    found.add_api_route("/rerank", _refusing("documents", _RERANK), methods=["POST"], include_in_schema=False)


def _refusing(field: str, why: str) -> Callable[[], Any]:
    async def refuse() -> Response:
        raise InputError(field, why)

    return refuse


async def _lines(pieces: AsyncIterator[str | Answer]) -> AsyncIterator[str]:
    try:
        async for piece in pieces:
            yield lines_of(piece)
    except MnemicError as error:
        yield error_line(error)
        return
    yield "data: [DONE]\n\n"
