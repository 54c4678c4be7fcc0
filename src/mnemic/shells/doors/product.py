"""The paths of MemOS's open server under `/product`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from mnemic.api import Memory
from mnemic.api.threads import Threads
from mnemic.errors import InputError, MnemicError
from mnemic.model.answer import Answer
from mnemic.shells.doors import product_bodies as asked
from mnemic.shells.doors.asking import STREAMED, Json, caller_of, data_line, named_user, telling
from mnemic.shells.doors.product_jobs import ProductJobs
from mnemic.shells.doors.product_memory import ProductCalls, playground
from mnemic.wire.problems import plain_error

__all__ = ["PREFIXES", "router", "tell"]

PREFIX: Final = "/product"
PREFIXES: Final = (PREFIX,)
"""Below these, errors are told in the door\'s way."""

_BUSINESS: Final = "who calls is said by the key; use chat/stream"
_RECORDS: Final = "what is deleted is erased and cannot be recovered; use delete_memory, or undo a change"

Seconds = Annotated[float, Query(ge=0, le=600)]
Name = Annotated[str, Query(min_length=1)]


def tell(error: MnemicError, status: int, request_id: str) -> Response:
    """Tell an error: the code is the HTTP status."""
    told = plain_error(error)
    body = {"code": status, "message": str(error), "data": None, "error": told, "request_id": request_id}
    return Json(body, status)


class _Door:
    """Runs calls on threads, for who makes the request."""

    def __init__(self, memory: Memory, threads: Threads) -> None:
        self.memory = memory
        self.threads = threads

    def calls(self, request: Request) -> ProductCalls:
        return ProductCalls(self.memory, caller_of(request), named_user(request))

    def jobs(self, request: Request) -> ProductJobs:
        return ProductJobs(self.memory, caller_of(request), named_user(request))

    async def run(self, request: Request, do: Callable[[], Any], message: str) -> Response:
        data = await self.threads.call(do, who=caller_of(request))
        return Json({"code": 200, "message": message, "data": data})

    async def stream(self, request: Request, begin: Callable[[], Iterator[str]]) -> Response:
        pieces = await self.threads.pieces(begin, who=caller_of(request))
        return StreamingResponse(_until_error(pieces), media_type="text/event-stream")


def router(memory: Memory, threads: Threads) -> APIRouter:
    """Return the paths of this door."""
    found = APIRouter(prefix=PREFIX, tags=["MemOS open server"], route_class=telling(tell))
    door = _Door(memory, threads)
    _main(found, door)
    _chats(found, door)
    _memories(found, door)
    _scheduler(found, door)
    _cubes(found, door)
    for path, field, why in (
        ("/chat/stream/business_user", "business_key", _BUSINESS),
        ("/delete_memory_by_record_id", "record_id", _RECORDS),
        ("/recover_memory_by_record_id", "delete_record_id", _RECORDS),
    ):
        found.add_api_route(path, _refusing(field, why), methods=["POST"], include_in_schema=False)
    return found


def _main(found: APIRouter, door: _Door) -> None:
    @found.post("/add")
    async def add(request: Request, body: asked.Add) -> Response:
        """Store messages in cubes."""
        return await door.run(request, lambda: door.calls(request).add(body), "Memory added successfully")

    @found.post("/search")
    async def search(request: Request, body: asked.Search) -> Response:
        """Search cubes."""
        return await door.run(request, lambda: door.calls(request).search(body), "Search completed successfully")

    @found.post("/feedback")
    async def feedback(request: Request, body: asked.Feedback) -> Response:
        """Change memories as plain words ask."""
        return await door.run(request, lambda: door.calls(request).feedback(body), "Memory feedback successfully")

    @found.post("/suggestions")
    async def suggestions(request: Request, body: asked.Suggestions) -> Response:
        """Return questions that the user may want to ask next."""
        told = "Suggestions retrieved successfully"
        return await door.run(request, lambda: door.calls(request).suggestions(body), told)


def _chats(found: APIRouter, door: _Door) -> None:
    @found.post("/chat/complete")
    async def chat_complete(request: Request, body: asked.Chat) -> Response:
        """Reply with what was said before in mind."""
        data = await door.threads.call(lambda: door.calls(request).chat(body), who=caller_of(request))
        return Json({"message": "Chat completed successfully", "data": data})  # no code, as at MemOS

    @found.post("/chat/stream", responses=STREAMED)
    async def chat_stream(request: Request, body: asked.Chat) -> Response:
        """Reply piece by piece, as server-sent events."""
        calls = door.calls(request)

        def begin() -> Iterator[str]:
            return _lines(calls.chat_pieces(body))

        return await door.stream(request, begin)

    @found.post("/chat/stream/playground", responses=STREAMED)
    async def chat_playground(request: Request, body: asked.PlaygroundChat) -> Response:
        """Reply piece by piece, and tell what the reply stands on."""
        calls, who = door.calls(request), caller_of(request)

        def begin() -> Iterator[str]:
            return playground(calls.chat_pieces(body), who, body.user_id)

        return await door.stream(request, begin)


def _memories(found: APIRouter, door: _Door) -> None:
    told = "Memories retrieved successfully"

    @found.post("/get_all")
    async def get_all(request: Request, body: asked.GetAll) -> Response:
        """Return all memories of cubes as trees, or those that a search finds."""
        return await door.run(request, lambda: door.calls(request).everything(body), told)

    @found.post("/get_memory")
    @found.post("/get_memory_dashboard", include_in_schema=False)
    async def get_memory(request: Request, body: asked.GetMemory) -> Response:
        """Return the memories of a cube by kind."""
        return await door.run(request, lambda: door.calls(request).memories(body), told)

    @found.get("/get_memory/{memory_id:path}")
    async def get_memory_by_id(request: Request, memory_id: str) -> Response:
        """Return one memory; `data` is null when there is none."""
        data = await door.threads.call(lambda: door.calls(request).memory(memory_id), who=caller_of(request))
        message = f"Memory with ID {memory_id} not found" if data is None else "Memory retrieved successfully"
        return Json({"code": 200, "message": message, "data": data})

    @found.post("/get_memory_by_ids")
    async def get_memory_by_ids(request: Request, body: list[str]) -> Response:
        """Return memories by id; those that are not there are left out."""

        def read() -> dict[str, Any]:
            calls = door.calls(request)
            return {"memories": [each for each in map(calls.memory, body) if each is not None]}

        return await door.run(request, read, told)

    @found.post("/delete_memory")
    async def delete_memory(request: Request, body: asked.DeleteMemory) -> Response:
        """Erase memories by exactly one condition."""
        return await door.run(request, lambda: door.calls(request).delete(body), "Memories deleted successfully")


def _scheduler(found: APIRouter, door: _Door) -> None:
    @found.get("/scheduler/allstatus")
    async def allstatus(request: Request, user_id: Name | None = None) -> Response:
        """Return how many jobs are in each state."""
        told = "Scheduler status summary retrieved successfully"
        return await door.run(request, lambda: door.jobs(request).all_status(user_id), told)

    @found.get("/scheduler/status")
    async def status(request: Request, user_id: Name, task_id: Name | None = None) -> Response:
        """Return the state of a task, or of all jobs of a user."""
        told = "Memory get status successfully"
        return await door.run(request, lambda: door.jobs(request).status(user_id, task_id), told)

    @found.get("/scheduler/task_queue_status")
    async def task_queue_status(request: Request, user_id: Name) -> Response:
        """Return how much waits and runs for a user."""
        told = "Scheduler task queue status retrieved successfully"
        return await door.run(request, lambda: door.jobs(request).queue(user_id), told)

    @found.post("/scheduler/wait")
    async def wait(
        request: Request, user_name: Name, timeout_seconds: Seconds = 120.0, poll_interval: Seconds = 0.5
    ) -> Response:
        """Wait until nothing is left to be done for a user. The interval is that of streams; nothing is polled here."""
        del poll_interval
        jobs = door.jobs(request)
        told = await door.threads.wait(lambda: jobs.wait(user_name, timeout_seconds), who=caller_of(request))
        return Json(told)  # no code, as at MemOS

    @found.get("/scheduler/wait/stream", responses=STREAMED)
    async def wait_stream(
        request: Request, user_name: Name, timeout_seconds: Seconds = 120.0, poll_interval: Seconds = 0.5
    ) -> Response:
        """Tell how much is left to be done, until nothing is."""
        jobs = door.jobs(request)
        return await door.stream(request, lambda: jobs.progress(user_name, timeout_seconds, poll_interval))


def _cubes(found: APIRouter, door: _Door) -> None:
    @found.post("/create_cube")
    async def create_cube(request: Request, body: asked.CreateCube) -> Response:
        """Make a cube that a user owns."""
        return await door.run(request, lambda: door.jobs(request).create_cube(body), "Cube created successfully")

    @found.post("/register_cube")
    async def register_cube(request: Request, body: asked.RegisterCube) -> Response:
        """Find a cube; nothing is loaded."""
        return await door.run(request, lambda: door.jobs(request).register_cube(body), "Cube registered successfully")

    @found.post("/exist_mem_cube_id")
    async def exist_mem_cube_id(request: Request, body: asked.ExistsCube) -> Response:
        """Tell whether a cube is there."""
        return await door.run(request, lambda: door.jobs(request).exists(body.mem_cube_id), "Successfully")

    @found.post("/get_user_names_by_memory_ids")
    async def get_user_names(request: Request, body: asked.NamesByIds) -> Response:
        """Tell whose memories are."""
        return await door.run(request, lambda: door.jobs(request).user_names(body.memory_ids), "Successfully")


def _lines(pieces: Iterator[str | Answer]) -> Iterator[str]:
    """Yield the text of a reply as its clients read it; they know no other end than the end of the stream."""
    for piece in pieces:
        if isinstance(piece, str):
            yield data_line({"type": "text", "data": piece})


async def _until_error(pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    try:
        async for piece in pieces:
            yield piece
    except MnemicError as error:
        yield data_line({"type": "error", "content": str(error)})


def _refusing(field: str, why: str) -> Callable[[], Any]:
    async def refuse() -> Response:
        raise InputError(field, why)

    return refuse
