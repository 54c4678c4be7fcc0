"""`mnemic mcp install` at homes that a test made: each client's file, on each system."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from mnemic.errors import InputError
from mnemic.shells.cli import mcp_install
from mnemic.shells.mcp.clients import CLIENTS, LINUX, MACOS, WINDOWS, Local, Machine, Remote
from mnemic.shells.mcp.installing import installed
from tests.interaction.terminal import Said, Terminal

MAC = "Library/Application Support"
PLACES = {
    "claude-desktop": {
        LINUX: ".config/Claude/claude_desktop_config.json",
        MACOS: f"{MAC}/Claude/claude_desktop_config.json",
        WINDOWS: "AppData/Roaming/Claude/claude_desktop_config.json",
    },
    "claude-code": dict.fromkeys((LINUX, MACOS, WINDOWS), ".claude.json"),
    "cursor": dict.fromkeys((LINUX, MACOS, WINDOWS), ".cursor/mcp.json"),
    "windsurf": dict.fromkeys((LINUX, MACOS, WINDOWS), ".codeium/windsurf/mcp_config.json"),
    "vscode": {
        LINUX: ".config/Code/User/mcp.json",
        MACOS: f"{MAC}/Code/User/mcp.json",
        WINDOWS: "AppData/Roaming/Code/User/mcp.json",
    },
    "cline": {
        LINUX: ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        MACOS: f"{MAC}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        WINDOWS: "AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    },
}


def machine_of(home: Path, system: str = LINUX) -> Machine:
    return Machine(system, home, home / "AppData" / "Roaming")


class Desk:
    """A person at a machine whose home is a folder of the test."""

    def __init__(self, home: Path, system: str = LINUX) -> None:
        self.home = home
        self.machine = machine_of(home, system)
        self._terminal = Terminal(home / "memory")

    def file(self, client: str) -> Path:
        return CLIENTS[client].file(self.machine)

    def install(self, client: str, *options: str) -> Said:
        return self._terminal.type("mcp", "install", "--client", client, *options)

    def entry(self, client: str) -> Any:
        return installed(CLIENTS[client], self.machine, "mnemic")


@pytest.fixture(params=[LINUX, MACOS, WINDOWS])
def desk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    found = Desk(tmp_path, request.param)
    monkeypatch.setattr(mcp_install, "this_machine", lambda: found.machine)
    return found


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    found = Desk(tmp_path)
    monkeypatch.setattr(mcp_install, "this_machine", lambda: found.machine)
    return found


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_set_up_where_it_looks_on_each_system(desk: Desk, client: str) -> None:
    done = desk.install(client)
    assert done.code == 0, done.err
    assert PurePosixPath(desk.file(client).relative_to(desk.home)) == PurePosixPath(PLACES[client][desk.machine.system])
    entry = desk.entry(client)
    assert entry["command"] == sys.executable
    assert entry["args"] == ["-m", "mnemic", "--home", str(desk.home / "memory"), "--user", "ann", "mcp"]
    outer = "servers" if client == "vscode" else "mcpServers"
    assert json.loads(desk.file(client).read_text("utf-8")) == {outer: {"mnemic": entry}}
    assert stat.S_IMODE(desk.file(client).stat().st_mode) == 0o600


@pytest.mark.parametrize("client", [name for name in CLIENTS if name != "claude-desktop"])
def test_a_client_is_given_an_address_and_a_key(linux: Desk, client: str) -> None:
    assert linux.install(client, "--url", "http://127.0.0.1:8765/mcp", "--key", "mn_secret").code == 0
    entry = linux.entry(client)
    assert entry["serverUrl" if client == "windsurf" else "url"] == "http://127.0.0.1:8765/mcp"
    assert entry["headers"] == {"Authorization": "Bearer mn_secret", "X-Mnemic-User": "ann"}
    assert entry.get("type") == {
        "claude-code": "http", "vscode": "http", "cline": "streamableHttp",
    }.get(client)  # fmt: skip


def test_claude_desktop_takes_no_address_and_says_what_to_do(linux: Desk) -> None:
    done = linux.install("claude-desktop", "--url", "http://127.0.0.1:8765/mcp")
    assert done.code == 2 and "Connectors" in done.err
    assert not linux.file("claude-desktop").exists()


def test_everything_else_in_the_file_stays_and_it_is_kept_beside(linux: Desk) -> None:
    file = linux.file("cursor")
    file.parent.mkdir(parents=True)
    text = '{\r\n\t"mcpServers": {"other": {"command": "x", "n": 1.50}},\r\n\t"caf\u00e9": "\\u00e9"\r\n}'
    file.write_bytes(text.encode())
    file.chmod(0o640)
    assert linux.install("cursor").code == 0
    changed = file.read_bytes().decode()
    assert '"other": {"command": "x", "n": 1.50}' in changed and '"caf\u00e9": "\\u00e9"' in changed
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    kept = [path for path in file.parent.iterdir() if path.suffix == ".bak"]
    assert [path.read_bytes() for path in kept] == [text.encode()]
    assert linux.install("cursor", "--uninstall").code == 0
    assert file.read_bytes() == text.encode()


def test_a_second_time_nothing_is_written(linux: Desk) -> None:
    linux.install("vscode")
    file = linux.file("vscode")
    before = (file.read_bytes(), file.stat().st_mtime_ns, sorted(file.parent.iterdir()))
    done = linux.install("vscode")
    assert done.code == 0 and "already" in done.out
    assert (file.read_bytes(), file.stat().st_mtime_ns, sorted(file.parent.iterdir())) == before


def test_a_dry_run_shows_the_difference_and_writes_nothing(linux: Desk) -> None:
    done = linux.install("cursor", "--dry-run")
    assert done.code == 0
    assert '+    "mnemic": {' in done.out and "would change" in done.out
    assert not linux.file("cursor").parent.exists()


def test_keys_are_never_shown(linux: Desk) -> None:
    file = linux.file("cursor")
    file.parent.mkdir(parents=True)
    file.write_text('{"mcpServers": {"other": {"env": {"OPENAI_API_KEY": "sk-theirs"}}}}')
    for options in (("--dry-run",), (), ("--json", "--uninstall"), ("--json",)):
        done = linux.install("cursor", "--url", "http://127.0.0.1:1/mcp", "--key", "mn_ours", *options)
        assert done.code == 0
        assert "sk-theirs" not in done.out + done.err and "mn_ours" not in done.out + done.err
    assert "mn_ours" in file.read_text() and "sk-theirs" in file.read_text()


@pytest.mark.parametrize(
    "content, told",
    [(b"// mine\n{}", "comments"), (b"{,}", "not valid JSON"), (b"[]", "no JSON object"), (b"\xff\xfe{", "UTF-8")],
)
def test_a_file_that_is_no_plain_json_is_left_alone_and_the_entry_is_shown(
    linux: Desk, content: bytes, told: str
) -> None:
    file = linux.file("vscode")
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    for options in ((), ("--uninstall",)):
        done = linux.install("vscode", *options)
        assert done.code == 2 and told in done.err
        assert file.read_bytes() == content and list(file.parent.iterdir()) == [file]
    if told != "UTF-8":
        assert "by hand" in linux.install("vscode").err


def test_a_link_to_a_file_elsewhere_stays_a_link(linux: Desk) -> None:
    real = linux.home / "dotfiles.json"
    real.write_text("{}")
    file = linux.file("cursor")
    file.parent.mkdir(parents=True)
    file.symlink_to(real)
    assert linux.install("cursor").code == 0
    assert file.is_symlink() and "mnemic" in real.read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_told(linux: Desk) -> None:
    file = linux.file("cursor")
    file.parent.mkdir(parents=True)
    file.parent.chmod(0o500)
    assert linux.install("cursor").code == 2


def test_a_place_that_is_no_folder_is_told_and_nothing_is_left(linux: Desk) -> None:
    (linux.home / ".cursor").write_text("a file")
    done = linux.install("cursor")
    assert done.code == 2 and "cannot be" in done.err
    assert (linux.home / ".cursor").read_text() == "a file"


@pytest.mark.parametrize(
    "options, told",
    [
        (("--key", "x"), "--url"),
        (("--url", "ftp://x"), "http://"),
        (("--url", "http://x/mcp", "--read-only"), "read_only"),
        (("--url", "http://x/mcp", "--cube", "c"), "cube"),
    ],
)
def test_options_that_do_not_go_together_are_refused(linux: Desk, options: tuple[str, ...], told: str) -> None:
    done = linux.install("cursor", *options)
    assert done.code == 2 and told in done.err


def test_an_unknown_client_is_refused_by_its_name(linux: Desk) -> None:
    done = linux.install("emacs")
    assert done.code == 2 and "emacs" in done.err and "cursor" in done.err


def test_options_of_the_server_go_into_the_entry(linux: Desk) -> None:
    linux.install("cursor", "--read-only", "--cube", "c1", "--name", "team")
    entry = installed(CLIENTS["cursor"], linux.machine, "team")
    assert entry["args"][-4:] == ["mcp", "--cube", "c1", "--read-only"]


def test_an_entry_is_made_of_what_is_known() -> None:
    assert CLIENTS["cursor"].entry(Local("py", ("a",))) == {"command": "py", "args": ["a"]}
    assert CLIENTS["cursor"].entry(Remote("http://x/mcp", user="\u00e9 b")) == {
        "url": "http://x/mcp", "headers": {"X-Mnemic-User": "%C3%A9 b"},
    }  # fmt: skip
    with pytest.raises(InputError, match="url"):
        CLIENTS["claude-desktop"].entry(Remote("http://x/mcp"))
