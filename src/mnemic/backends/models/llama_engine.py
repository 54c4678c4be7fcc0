"""A GGUF file that is loaded: the process that llama.cpp runs in, who may use it when, and how it ends.

llama.cpp has a process of its own (`llama_process.py`), because some of its faults end the process they happen in, and
so that no call outlasts its time. All memories of this process that run the same file share it; calls take turns.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

from mnemic.backends.models import gguf
from mnemic.errors import LanguageError

_log = logging.getLogger(__name__)

SCRIPT: Final = Path(__file__).with_name("llama_process.py")
MISSING: Final = "missing"
"""What the process tells when xllamacpp is not installed."""
_LOADING: Final = 600.0
"""Seconds that loading may take: tens of gigabytes from a slow disk."""
_ENDING: Final = 5.0
"""Seconds in which a process that was told to end has ended, or is killed."""
_ERROR: Final = re.compile(r"[\d.]+ E (.+)")
"""A line of llama.cpp's messages that tells an error, after the time."""
_SOCKET_PATH: Final = 100
"""Bytes that the path of a socket may have: 104 on macOS, 108 on Linux."""


class Engine:
    """A file that is loaded; one call at a time runs in it. Its process ends with the engine's last reference."""

    def __init__(self, path: Path, context: int, threads: int) -> None:
        self._name = path.stem
        told = _described(path)
        self._turn = threading.Lock()
        self._calls = 0
        try:
            self._process = _Process(path, min(context, told.context or context), threads)
        except OSError as error:
            raise fault(path.stem, f"cannot be started: {error}") from error
        close = weakref.finalize(self, self._process.close)
        controls = sorted(told.controls, key=len, reverse=True)  # none hides a longer one
        self.controls = re.compile("|".join(map(re.escape, controls))) if controls else None
        try:
            self._load(path)
        except LanguageError:
            close()
            raise

    @property
    def usable(self) -> bool:
        """Whether its process lives, and is a child of this one: a fork has to start its own."""
        return self._process.usable

    def chunks(self, request: Mapping[str, Any], timeout: float) -> Iterator[Mapping[str, Any]]:
        """Yield what llama.cpp tells of a call, until it ends, the time is over, or the caller closes this."""
        if not self._turn.acquire(timeout=timeout):
            raise fault(self._name, f"was busy with other calls for {timeout:g} s (llm_timeout)", passing=True)
        try:
            self._calls += 1
            yield from self._answers(self._calls, request, timeout)
        except _GoneError as error:
            raise fault(self._name, f"is gone: {error}; the next call starts it again", passing=True) from error
        finally:
            self._turn.release()

    def _answers(self, number: int, request: Mapping[str, Any], timeout: float) -> Iterator[Mapping[str, Any]]:
        ended = False
        self._process.say({"id": number, "request": request})
        try:
            for told in self._process.told(timeout):
                if told.get("id") != number:  # of a call that was left
                    continue
                if "chunk" in told:
                    yield told["chunk"]
                    continue
                ended = True
                if told["end"] is not None:
                    raise fault(self._name, f"could not answer this prompt: {told['end']}")
                return
            raise fault(
                self._name,
                f"did not finish within {timeout:g} s: raise llm_timeout, lower refine_messages, or choose a smaller "
                "model",
                passing=True,
            )
        finally:
            if not ended and self.usable:
                with contextlib.suppress(_GoneError):
                    self._process.say({"stop": number})

    def _load(self, path: Path) -> None:
        try:
            told = next(self._process.told(_LOADING), {"failed": f"not loaded within {_LOADING:g} s"})
        except _GoneError as error:
            raise fault(self._name, f"cannot be loaded: {path} is damaged or of no known kind: {error}") from error
        if told.get("failed") == MISSING:
            raise fault(self._name, "needs llama.cpp: pip install 'mnemic[local]'")
        if "failed" in told:
            raise fault(
                self._name,
                f"cannot be loaded: {path} is too large for this machine's memory (a smaller llm_context helps), newer "
                f"than the installed xllamacpp, or damaged: {self._process.first_error() or told['failed']}",
            )


class _GoneError(Exception):
    """The process ended by itself; the message says how."""


class _Process:
    """The process that llama.cpp runs in, and the pipes to and from it; see `llama_process.py` for what is said."""

    def __init__(self, path: Path, context: int, threads: int) -> None:
        self._parent = os.getpid()
        self._folder = tempfile.mkdtemp(prefix="mnemic-llama-")
        door = str(Path(self._folder) / "llama.sock")
        if os.name != "posix" or len(os.fsencode(door)) > _SOCKET_PATH:
            door = ""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close
        self._child = subprocess.Popen(  # noqa: S603 - our own script, by this Python
            [sys.executable, "-P", str(SCRIPT), str(path.absolute()), str(context), str(threads), door],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._lines: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=_read, args=(self._child.stdout, self._lines), daemon=True)
        self._reader.start()

    @property
    def usable(self) -> bool:
        """Whether it lives and was started by this process."""
        return self._parent == os.getpid() and self._child.poll() is None

    def say(self, what: Mapping[str, Any]) -> None:
        """Say one thing to it. Raises _GoneError."""
        pipe = self._child.stdin
        assert pipe is not None  # noqa: S101 - it was started with one
        try:
            pipe.write(json.dumps(what).encode() + b"\n")
            pipe.flush()
        except OSError as error:
            raise _GoneError(self._ending()) from error

    def told(self, timeout: float) -> Iterator[Mapping[str, Any]]:
        """Yield what it tells until the time is over. Raises _GoneError."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            try:
                line = self._lines.get(timeout=left)
            except queue.Empty:
                return
            if line is None:
                raise _GoneError(self._ending())
            yield line

    def first_error(self) -> str:
        """Return what llama.cpp told as its first error: the others follow from it."""
        return next((found[1] for line in self._printed() if (found := _ERROR.match(line))), "")

    def _printed(self) -> list[str]:
        self._errors.seek(0)
        return [line.strip()[:300] for line in self._errors.read().decode("utf-8", "replace").splitlines()]

    def close(self) -> None:
        """End it, at once when it listens, by force when not."""
        if self._parent == os.getpid():
            if self._child.stdin is not None:
                with contextlib.suppress(OSError):  # it is gone already
                    self._child.stdin.close()
            try:
                self._child.wait(_ENDING)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
            self._reader.join(_ENDING)
            shutil.rmtree(self._folder, ignore_errors=True)
        self._errors.close()

    def _ending(self) -> str:
        try:
            code = self._child.wait(_ENDING)
        except subprocess.TimeoutExpired:
            return "llama.cpp said no more"
        words = next((line for line in reversed(self._printed()) if line), "")
        return f"llama.cpp ended with code {code}{words and f' ({words})'}"


def _read(pipe: IO[bytes], lines: queue.SimpleQueue[Mapping[str, Any] | None]) -> None:
    """Hand on what comes from a process, and None at its end."""
    with pipe:
        for line in pipe:
            lines.put(json.loads(line))
    lines.put(None)


_opening = threading.Lock()
_open: weakref.WeakValueDictionary[tuple[Path, int, int], Engine] = weakref.WeakValueDictionary()
"""The files that this process has loaded: a second memory would hold hundreds of megabytes twice."""


def engine_for(path: Path, context: int, threads: int) -> Engine:
    """Return the engine of a file, loaded now when it is not. Raises LanguageError."""
    key = (path.absolute(), context, threads)
    with _opening:
        engine = _open.get(key)
        if engine is None or not engine.usable:
            began = time.monotonic()
            _open[key] = engine = Engine(path, context, threads)
            _log.info("model_loaded", extra={"model": path.stem, "seconds": round(time.monotonic() - began, 3)})
        return engine


def _described(path: Path) -> gguf.GgufFile:
    try:
        told = gguf.read(path)
    except gguf.GgufError as error:
        raise fault(path.stem, f"cannot be loaded: {path} {error}") from error
    except OSError as error:
        raise fault(path.stem, f"cannot be read: {error}; see llm_model") from error
    if not told.template:
        _log.warning("model_without_template", extra={"model": path.stem})  # a plain one is used: no instruct model
    return told


def fault(name: str, message: str, *, passing: bool = False) -> LanguageError:
    """Return an error about a model; the message follows its name."""
    return LanguageError(f"{name} {message}", passing=passing, retry_after=None, status=None, model=name)
