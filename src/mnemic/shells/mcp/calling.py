"""From a call of a tool to its result: who it is for, what is wrong with its arguments, and how errors are told.

An error that a caller can do something about is a result that says what; others are the server's own, go to its log,
and show nothing of what is inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types

from mnemic.errors import AccessError, InputError, MnemicError, NotFoundError
from mnemic.model.caller import Power
from mnemic.shells.mcp.acts import Act
from mnemic.shells.mcp.arguments import checked
from mnemic.shells.mcp.fitting import dumped, written
from mnemic.shells.mcp.place import Place
from mnemic.shells.mcp.results import MemoryAdded
from mnemic.shells.mcp.schemas import plain_schema
from mnemic.shells.mcp.tools import THEIRS, Tool
from mnemic.text import shorten, sound

if TYPE_CHECKING:
    from mnemic.api import Memory  # the process answers before that is imported

USER: Final = {
    "type": "string",
    "minLength": 1,
    "description": "Whose memory: this connection may call for several users.",
}
"""The argument that tools have where it is not settled for whom a connection calls."""

_CUBES: Final = "`list_knowledge` shows the knowledge bases; leave `cube` out for the user's own memory"
_ITEMS: Final = "Use `recall` to find the id of what is meant"
_MESSAGE: Final = 2_000  # characters of an error


def listed(tools: Sequence[Tool], place: Place) -> list[types.Tool]:
    """Return the tools that a caller may use, with the arguments that are left open for it."""
    return [
        types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=schema_of(tool, place),
            output_schema=dict(plain_schema(tool.result)),
            annotations=types.ToolAnnotations(
                title=tool.title,
                read_only_hint=tool.power is Power.READ,
                destructive_hint=tool.destructive,
                idempotent_hint=tool.idempotent or tool.power is Power.READ,
                open_world_hint=tool.outside,
            ),
        )
        for tool in tools
        if place.may(tool.power)
    ]


def schema_of(tool: Tool, place: Place) -> dict[str, Any]:
    """Return the schema of a tool's arguments, without those that are settled for a caller."""
    schema = dict(plain_schema(tool.arguments))
    properties = dict(schema.get("properties", {}))
    if place.cube is not None:
        for name in ("cube", "cubes"):
            properties.pop(name, None)
    if place.user is None:
        properties["user"] = USER
        schema["required"] = ["user", *schema.get("required", [])]
    return {**schema, "properties": properties}


def run(tool: Tool, memory: Memory, place: Place, arguments: dict[str, Any]) -> types.CallToolResult:
    """Make a call; an error of Mnemic's becomes a result that says what to do."""
    try:
        if not place.may(tool.power):
            raise AccessError(f"`{tool.name}` changes memory, and this connection may only read", needed=tool.power)
        given = dict(arguments)
        user = place.user_of(given.pop("user", None))
        args = checked(tool.arguments, given)
        cube = place.cube_of(getattr(args, "cube", None)) if tool.about_cube or tool.family == THEIRS else place.cube
        return _told(dumped(tool.run(Act(memory, place, user, cube), args)))
    except MnemicError as error:
        return failed(tool, error)


def failed(tool: Tool, error: MnemicError) -> types.CallToolResult:
    """Return an error as a result, in MemoryOS's form for its tools."""
    told = advice(error)
    if tool.family == THEIRS:
        return _told(dumped(MemoryAdded(status="error", message=told)), is_error=True)
    return types.CallToolResult(content=[types.TextContent(type="text", text=told)], is_error=True)


def advice(error: MnemicError) -> str:
    """Return an error as a model reads it: what was wrong, and what to do."""
    text = sound(shorten(str(error), _MESSAGE))
    if isinstance(error, NotFoundError):  # what it says behind the semicolon is for programs
        text = text.partition(";")[0] + ". " + (_CUBES if "cube" in error.fields else _ITEMS)
    elif isinstance(error, InputError):
        text += ". Nothing was done; call again with this put right"
    return f"{error.code}: {text}."


def _told(content: dict[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    text = types.TextContent(type="text", text=written(content))
    return types.CallToolResult(content=[text], structured_content=content, is_error=is_error)
