"""Setting a client up: a plan of what its configuration would be, shown as a difference, and then written whole.

A file is never half written: the new one is made beside it and takes its place, with its permissions; what was there
before is kept beside it. A file that cannot be read as JSON is left alone.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import mkstemp
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.shells.mcp.clients import Client, Local, Machine, Remote
from mnemic.shells.mcp.json_edit import NotPlainError, member_at, member_put, member_taken

_PRIVATE: Final = 0o600  # of a new file: it may hold a key
_SECRET: Final = re.compile(
    r'(?i)("(?:[^"\\]*(?:key|token|secret|password|authorization)[^"\\]*)"\s*:\s*)"(?:[^"\\]|\\.)*"'
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a client's configuration is, and what it would be. `file` is where it lies, links followed."""

    client: Client
    file: Path
    before: str
    after: str
    is_new: bool

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after

    def difference(self) -> Sequence[str]:
        """Return the lines that go and come, without secrets."""
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), str(self.file), str(self.file), n=1, lineterm=""
        )
        return [_SECRET.sub(r'\1"…"', line) for line in lines]


def plan_install(client: Client, machine: Machine, server: Local | Remote, name: str) -> Plan:
    """Return the plan that puts an entry into a client's configuration. Raises `InputError`."""
    entry = client.entry(server)
    return _plan(client, machine, name, entry)


def plan_uninstall(client: Client, machine: Machine, name: str) -> Plan:
    """Return the plan that takes the entry out again."""
    return _plan(client, machine, name, None)


def installed(client: Client, machine: Machine, name: str) -> Any:
    """Return the entry as it stands; None when there is none."""
    _, text, _ = _read(client, machine)
    return member_at(text, (client.servers, name))


def carry_out(plan: Plan, now: datetime) -> Path | None:
    """Write what was planned; return where the file as it was is kept, None when there was none."""
    kept = None
    try:
        plan.file.parent.mkdir(parents=True, exist_ok=True)
        mode = _PRIVATE
        if not plan.is_new:
            mode = stat.S_IMODE(plan.file.stat().st_mode)
            kept = _beside(plan.file, now)
            _write(kept, plan.file.read_bytes(), mode)
        _write(plan.file, plan.after.encode("utf-8"), mode)
    except OSError as error:
        raise InputError("client", f"{plan.file} cannot be written: {error.strerror}; nothing was changed") from error
    return kept


def _plan(client: Client, machine: Machine, name: str, entry: dict[str, Any] | None) -> Plan:
    file, before, is_new = _read(client, machine)
    path = (client.servers, name)
    try:
        after = member_taken(before, path) if entry is None else member_put(before, path, entry)
    except NotPlainError as error:
        told = f"{file}: {error}; it was left as it is"
        if entry is None:
            raise InputError(
                "client", f"{told}. Take the entry {name!r} under {client.servers!r} out by hand"
            ) from error
        shown = _SECRET.sub(r'\1"…"', json.dumps({name: entry}))
        raise InputError("client", f"{told}. Put this under {client.servers!r} by hand: {shown}") from error
    return Plan(client, file, before, after, is_new)


def _read(client: Client, machine: Machine) -> tuple[Path, str, bool]:
    file = Path(os.path.realpath(client.file(machine)))
    try:
        return file, file.read_bytes().decode("utf-8"), False
    except FileNotFoundError:
        return file, "", True
    except UnicodeDecodeError as error:
        raise InputError("client", f"{file} is not UTF-8; it was left as it is") from error
    except OSError as error:
        raise InputError("client", f"{file} cannot be read: {error.strerror}") from error


def _beside(file: Path, now: datetime) -> Path:
    """Return a name for the file as it was that nothing has yet."""
    stamp = f"{file.name}.{now:%Y%m%d-%H%M%S}"
    tries = (file.with_name(f"{stamp}{more}.bak") for more in ("", *(f"-{number}" for number in range(2, 1_000))))
    return next(path for path in tries if not path.exists())


def _write(path: Path, content: bytes, mode: int) -> None:
    """Write a file whole, or not at all."""
    handle, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
