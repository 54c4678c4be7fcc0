"""The programs that can be set up to use a memory: where each keeps its configuration, and how an entry looks there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from mnemic.errors import InputError

LINUX, MACOS, WINDOWS = "Linux", "Darwin", "Windows"
NAME: Final = "mnemic"
"""What the entry is called, unless the owner says otherwise."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a person's files lie: the system by its `platform.system` name, home, and Windows' folder of settings."""

    system: str
    home: Path
    roaming: Path

    @property
    def settings(self) -> Path:
        """The folder in which programs keep settings."""
        if self.system == WINDOWS:
            return self.roaming
        return self.home / ("Library/Application Support" if self.system == MACOS else ".config")


@dataclass(frozen=True, slots=True)
class Local:
    """A server that the client starts: a command with its arguments."""

    command: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remote:
    """A server at an address, the key for it, and for whom to call where the key leaves that open."""

    url: str
    key: str | None = None
    user: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers that the client has to send."""
        found = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return found if self.user is None else {**found, "X-Mnemic-User": quote(self.user, safe="@+ ")}


@dataclass(frozen=True, slots=True)
class Client:
    """One program. `path` is below home, or below its system's folder of settings when not `at_home`.

    `servers` is the name that its entries stand under. `local` and `remote` are what each entry has beside the usual;
    `remote` None means that it cannot be given an address there, and `instead` says what to do. `address` is what it
    calls an address.
    """

    name: str
    title: str
    path: str
    at_home: bool = True
    servers: str = "mcpServers"
    local: Mapping[str, Any] | None = None
    remote: Mapping[str, Any] | None = None
    address: str = "url"
    instead: str = ""

    def file(self, machine: Machine) -> Path:
        """Return where its configuration lies."""
        return (machine.home if self.at_home else machine.settings) / self.path

    def entry(self, server: Local | Remote) -> dict[str, Any]:
        """Return the entry for a server. Raises `InputError` for an address that it cannot be given."""
        if isinstance(server, Local):
            return {**(self.local or {}), "command": server.command, "args": list(server.arguments)}
        if self.remote is None:
            raise InputError("url", f"{self.title} takes no address in its configuration; {self.instead}")
        headers = {"headers": server.headers} if server.headers else {}
        return {**self.remote, self.address: server.url, **headers}


CLIENTS: Final[Mapping[str, Client]] = {
    client.name: client
    for client in (
        Client(
            "claude-desktop", "Claude Desktop", "Claude/claude_desktop_config.json", at_home=False,
            instead="add it there under Settings, Connectors, or leave --url out to run the memory on this machine",
        ),
        Client("claude-code", "Claude Code", ".claude.json", local={"type": "stdio"}, remote={"type": "http"}),
        Client("cursor", "Cursor", ".cursor/mcp.json", remote={}),
        Client(
            "cline", "Cline",
            "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", at_home=False,
            local={"disabled": False}, remote={"type": "streamableHttp", "disabled": False},
        ),
        Client(
            "vscode", "Visual Studio Code", "Code/User/mcp.json", at_home=False, servers="servers",
            local={"type": "stdio"}, remote={"type": "http"},
        ),
        Client("windsurf", "Windsurf", ".codeium/windsurf/mcp_config.json", remote={}, address="serverUrl"),
    )
}  # fmt: skip
"""Every client that can be set up, by its name."""


def client_of(name: str) -> Client:
    """Return a client by its name. Raises `InputError`."""
    if name not in CLIENTS:
        raise InputError("client", f"{name!r} is not known; known: {', '.join(CLIENTS)}")
    return CLIENTS[name]
