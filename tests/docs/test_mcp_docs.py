"""What docs/mcp.md and docs/memoryos.md tell is so: tools, options, files, and examples that run."""

from __future__ import annotations

import inspect
import re

import pytest

from mnemic.compat.memoryos import Memoryos
from mnemic.model.caller import Power
from mnemic.shells.cli.mcp_commands import mcp
from mnemic.shells.cli.mcp_install import install
from mnemic.shells.mcp.clients import CLIENTS
from mnemic.shells.mcp.prompts import PROMPTS
from mnemic.shells.mcp.resources import KINDS
from mnemic.shells.mcp.tools import TOOLS
from tests.conventions.sources import ROOT

MCP = (ROOT / "docs" / "mcp.md").read_text("utf-8")
MEMORYOS = (ROOT / "docs" / "memoryos.md").read_text("utf-8")


def test_the_table_of_tools_is_that_of_the_server() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .+ \| ?(reads|destructive)? \|$", MCP, re.MULTILINE)
    told = [
        (tool.name, "reads" if tool.power is Power.READ else "destructive" if tool.destructive else "")
        for tool in TOOLS
    ]
    assert rows == told


def test_prompts_resources_and_clients_are_named() -> None:
    for name in [prompt.name for prompt in PROMPTS] + [f"mnemic://{name}" for name in KINDS] + list(CLIENTS):
        assert f"`{name}`" in MCP, name


@pytest.mark.parametrize("command", [mcp, install])
def test_options_of_the_commands_are_named(command: object) -> None:
    for name in inspect.signature(command).parameters:  # type: ignore[arg-type]
        if name != "context":
            assert f"--{name.replace('_', '-')}" in MCP, name


def test_every_argument_of_memoryos_class_is_told() -> None:
    for method in ("add_memory", "get_response"):
        told = re.search(rf"`{method}\(([^`]*)\)`", MEMORYOS)
        assert told is not None
        names = [name for name in inspect.signature(getattr(Memoryos, method)).parameters if name != "self"]
        assert [part.partition("=")[0].strip() for part in told.group(1).split(",")] == names
    for name in inspect.signature(Memoryos).parameters:
        assert f"`{name}`" in MEMORYOS or f"`{name}=`" in MEMORYOS, name
