"""What `mnemic doctor` looks at: the machine, the settings, the models, the store with all that it stands on.

A check never changes what is stored, spends no tokens, and a failed one does not keep the next from running. What each
finding means, and what to do about it, is said in `findings`.
"""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from mnemic import config, wiring
from mnemic.config import Settings
from mnemic.errors import LanguageError, MnemicError
from mnemic.hiding import without_secrets
from mnemic.shells.cli.exits import exit_code
from mnemic.shells.cli.face import Face
from mnemic.shells.cli.findings import KNOWN, SAVE, Finding, found
from mnemic.shells.cli.wording import one_line, plural, size, took

SQLITE_WANTED: Final = (3, 35)
ROOM_WANTED: Final = 200_000_000
"""Bytes that should be free: some hundred thousand messages."""
SAMPLE: Final = [
    f"Sentence number {number} of a small test of speed, about nothing in particular." for number in range(32)
]

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_STANDS_ON: Final = {
    "database_connections": "database_url",
    "vector_index": "database_url",
    "vector_index_from": "database_url",
    "redis_prefix": "redis_url",
    "redis_shards": "redis_url",
    "metrics_host": "metrics_port",
    "embed_base_url": "embedder",
    "embed_model": "embedder",
}
"""Settings that mean nothing without another one."""

_UNLISTED: Final = frozenset({404, 405, 501})
"""What servers answer that do not tell which models they have."""


def run(face: Face) -> list[Finding]:
    """Return what was found, in the order in which parts build on each other."""
    try:
        settings = config.load(face.home)
    except MnemicError as error:
        return [_python(), found("settings", str(error), ok=False)]
    machine = [_python(), _sqlite(), *_settings(settings), _folder(settings), _room(settings.folder)]
    return [*machine, *_backups(settings), _embedder(settings), _language_model(settings), *_store(face, settings)]


def _python() -> Finding:
    told = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return found("Python", told, ok=sys.version_info >= (3, 11))


def _sqlite() -> Finding:
    with sqlite3.connect(":memory:") as connection:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    connection.close()
    full_text = "ENABLE_FTS5" in options
    told = f"{sqlite3.sqlite_version}, FTS5 {'there' if full_text else 'missing'}"
    return found("SQLite", told, ok=sqlite3.sqlite_version_info >= SQLITE_WANTED and full_text)


def _settings(settings: Settings) -> Iterator[Finding]:
    """Tell what is set, and what of it contradicts the rest."""
    changed = [name for name in _changed(settings) if name != "home"]  # the folder tells of itself
    yield found("settings", ", ".join(_told(settings, name) for name in changed) or "all as they come", ok=True)
    for name in changed:
        base = _STANDS_ON.get(name)
        if base is not None and not _is_used(settings, base):
            other = "embedder is not openai" if base == "embedder" else f"{base} is not"
            yield found("settings", f"{name} is set and not used: {other}", ok=False, warns=True)
    if settings.llm == "none" and (settings.llm_model or settings.llm_base_url):
        yield found("settings", "llm is `none`: the model that is named is not asked", ok=False, warns=True)
    if settings.database_url and settings.database_connections < 2 * settings.worker_threads + 2:
        told = f"{settings.worker_threads} worker threads a lane wait for {settings.database_connections} connections"
        yield found("settings", told, ok=False, warns=True, advice="raise database_connections")
    if settings.metrics_port and find_spec("prometheus_client") is None:
        told = "metrics_port is set, but the package prometheus-client is not installed"
        yield found("settings", told, ok=False, advice="pip install 'mnemic[metrics]'")
    if settings.metrics_port and settings.metrics_host not in _LOOPBACK:
        told = f"figures can be read by whoever reaches {settings.metrics_host}:{settings.metrics_port}"
        yield found("settings", told, ok=False, warns=True, advice="let only Prometheus reach it; no key is asked for")
    yield from _settings_file(settings.folder / config.FILE)


def _changed(settings: Settings) -> list[str]:
    plain = Settings()
    return [each.name for each in fields(Settings) if getattr(settings, each.name) != getattr(plain, each.name)]


def _is_used(settings: Settings, base: str) -> bool:
    return settings.embedder == "openai" if base == "embedder" else bool(getattr(settings, base))


def _told(settings: Settings, name: str) -> str:
    hidden = {each.name for each in fields(Settings) if not each.repr}
    return f"{name} (set)" if name in hidden else f"{name}={without_secrets(str(getattr(settings, name)))}"


def _settings_file(file: Path) -> Iterator[Finding]:
    if os.name != "posix" or not file.is_file():
        return
    secret = {each.name for each in fields(Settings) if not each.repr} & tomllib.loads(file.read_text("utf-8")).keys()
    if secret and file.stat().st_mode & 0o077:
        yield found("settings file", f"{file} holds {', '.join(sorted(secret))}, and others can read it", ok=False)


def _folder(settings: Settings) -> Finding:
    folder = settings.folder
    refused = _refusal(folder)
    if refused:
        return found("folder", f"{folder}: {refused}", ok=False)
    locked = [file.name for file in sorted(folder.glob("mnemic.db*")) if not os.access(file, os.R_OK | os.W_OK)]
    if locked:
        told = f"{folder}: {', '.join(locked)} cannot be written"
        return found("folder", told, ok=False, advice="give the files to the user that runs Mnemic (chown)")
    return found("folder", f"{folder}{'' if folder.exists() else ' (new)'}, writable", ok=True)


def _refusal(folder: Path) -> str:
    """Return why a folder, or the nearest one above it, cannot be written; "" when it can."""
    try:
        with tempfile.TemporaryFile(dir=_existing(folder)):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _room(folder: Path) -> Finding:
    free = shutil.disk_usage(_existing(folder)).free
    return found("free disk", size(free), ok=free >= ROOM_WANTED)


def _backups(settings: Settings) -> Iterator[Finding]:
    if settings.schedule_backup:
        folder = Path(settings.backup_folder).expanduser() if settings.backup_folder else settings.folder / "backups"
        refused = _refusal(folder)
        yield found("backups", f"{folder}: {refused or f'at {settings.schedule_backup!r}, writable'}", ok=not refused)


def _embedder(settings: Settings) -> Finding:
    try:
        start = time.perf_counter()
        embedder = wiring.build_embedder(settings)
        embedder.embed(SAMPLE[:1])
        loaded = time.perf_counter()
        embedder.embed(SAMPLE)
        done = time.perf_counter()
    except MnemicError as error:
        return found("embedder", str(error), ok=False)
    speed = len(SAMPLE) / max(done - loaded, 1e-9)
    told = f"{embedder.name}, {embedder.width} wide, loads in {took(loaded - start)}, {speed:,.0f} short texts a second"
    return found("embedder", told, ok=True)


def _language_model(settings: Settings) -> Finding:
    """Tell which it is, and whether its server is there; no question is put to it, which may cost money."""
    name = "language model"
    try:
        model = wiring.build_llm(settings)
    except MnemicError as error:
        return found(name, str(error), ok=False)
    if model is None:
        return found(
            name, "none: memory works by rules, answers are quotes; `mnemic models` tells how to set one", ok=True
        )
    shown = f"{model.name} ({settings.provider})"
    if missing := wiring.missing_package(settings.provider):
        told = f"{shown}, but the package {missing} is not installed"
        return found(name, told, ok=False, advice=f"pip install 'mnemic[{settings.provider}]'")
    return _reached(settings, shown)


def _reached(settings: Settings, shown: str) -> Finding:
    name, further = "language model", "`mnemic models test llm` asks it something"
    try:
        models = wiring.models_of(settings)
    except LanguageError as error:
        if error.fields.get("status") in _UNLISTED:
            return found(name, f"{shown} answers, and does not tell which models it has; {further}", ok=True)
        return found(name, f"{shown}: {error}", ok=False, warns=bool(error.fields.get("passing")))
    if models is None:
        return found(name, f"{shown}, not called; {further}", ok=True)
    if models and settings.llm_model not in models:
        told = f"{shown} answers, and has no model of that name; it has {', '.join(models[:5])}"
        return found(name, told, ok=False, warns=True)
    return found(name, f"{shown} answers, and was asked nothing; {further}", ok=True)


def _store(face: Face, settings: Settings) -> list[Finding]:
    if not settings.database_url and not settings.folder.exists():
        return [found("store", "none yet: the first add makes it", ok=True)]
    try:
        with face.memory(worker=False) as memory:
            looked = memory.check()
            stats = memory.stats(user=face.user)
    except MnemicError as error:
        return [Finding("store", False, str(error), SAVE, exit_code(error))]
    findings = [found(name, told, ok=ok) for name, ok, told in looked if name != "embedder"]
    order = list(KNOWN)
    findings.sort(key=lambda each: order.index(each.name) if each.name in KNOWN else len(order))
    told = f"{plural(stats.messages, 'message')} of {one_line(face.user)}, {size(stats.bytes_on_disk)} on disk"
    return [*findings, found("memory", told, ok=True)]


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that is there."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())
