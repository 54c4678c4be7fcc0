"""Reads files, each in a child process that has limits of memory and time, no network where the system allows that,
and a folder of its own that is removed with it.

A library that crashes, a bomb or a file that never ends so fails that one document. Nothing but paths of Python and the
few variables that are handed in reach the child's environment: no keys, no settings. A password goes through a pipe.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Final, Literal, Protocol

from mnemic.backends.readers.asked import Asked
from mnemic.backends.readers.nursery import AT_HAND, Nursery
from mnemic.errors import BusyError, ModelError, ReadError
from mnemic.model.reading import Block, BlockKind, Reading
from mnemic.model.seen import Line, Utterance
from mnemic.ports.reader import Limits, Progress

SCRIPT: Final = Path(__file__).with_name("child.py")
_LINE: Final = 256 << 20
"""Bytes of one line that the child may tell: the largest text of one block, escaped."""
_PICTURE: Final = 60.0
"""Seconds that looking at one picture may take."""
_ENDING: Final = 5.0
"""Seconds in which a child that has told the end has ended, or is killed."""
_OFFICE: Final = (
    "/Applications/LibreOffice.app/Contents/MacOS/soffice",
    "C:/Program Files/LibreOffice/program/soffice.exe",
)


class Readers:
    """A `Reader` over the families of files in this folder. Threads may share it; each read is a process.

    `environment` is all that a child finds in its own. Raises `BusyError` when no process can be started, which may
    pass; what is wrong with a file is a `ReadError`.
    """

    def __init__(self, limits: Limits, *, environment: Mapping[str, str], office: str | None = None) -> None:
        self._limits = limits
        self._environment = dict(environment)
        self._office = find_office() if office is None else office
        self._nursery = Nursery(environment) if AT_HAND else None

    def read(self, path: Path, *, name: str, media: str = "", password: str = "", told: Progress) -> Reading:
        """Return what a file says."""
        blocks: list[Block] = []
        with self._folder() as folder:
            asked = Asked(path.absolute(), name, folder, media, password, self._limits, self._office)
            for what in self._told(asked):
                if "at" in what:
                    told(*what["at"])
                elif "block" in what:
                    blocks.append(Block(**{**what["block"], "kind": BlockKind(what["block"]["kind"])}))
                elif "end" in what:
                    return Reading(blocks=tuple(blocks), **what["end"])
        raise ReadError(f"{_named(name)} cannot be read: the reader said no more")

    def lines(self, picture: Path) -> Sequence[Line]:
        """Return the lines of words in a picture, in reading order. Raises `ReadError`."""
        found: list[Line] = []
        with self._folder() as folder:
            asked = Asked(picture.absolute(), picture.name, folder, limits=self._limits, only="lines")
            for what in self._told(asked):
                if "line" in what:
                    text, confidence, box = what["line"]
                    found.append(Line(text, confidence, tuple(box)))
        return found

    def speech(self, sound: Path) -> Sequence[Utterance]:
        """Return what is said in a recording. Raises `ReadError`."""
        found: list[Utterance] = []
        with self._folder() as folder:
            asked = Asked(sound.absolute(), "the recording", folder, limits=self._limits, only="speech")
            found += [Utterance(*what["said"]) for what in self._told(asked) if "said" in what]
        return found

    def copies(
        self, picture: Path, wanted: Literal["copies", "plain"]
    ) -> tuple[Mapping[str, str], Mapping[str, bytes]]:
        """Return what a picture is, and the files that were made of it (`examined.py`). Raises `ReadError`."""
        limits = replace(self._limits, seconds=min(self._limits.seconds, _PICTURE))
        with self._folder() as folder:
            asked = Asked(picture.absolute(), "the picture", folder, limits=limits, only=wanted)
            for what in self._told(asked):
                if "end" in what:
                    made = {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}
                    return what["end"]["metadata"], made
        raise ReadError("the picture cannot be read: the reader said no more")

    @contextlib.contextmanager
    def _folder(self) -> Iterator[Path]:
        try:
            folder = Path(tempfile.mkdtemp(prefix="mnemic-read-"))
        except OSError as error:
            raise BusyError(f"no folder for reading a file: {error}; it is tried again later") from error
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _process(self, folder: Path) -> _Process:
        try:
            return _Started(folder, self._environment) if self._nursery is None else self._nursery.fork(folder)
        except OSError as error:
            raise BusyError(f"no process for reading a file: {error}; it is tried again later") from error

    def _told(self, asked: Asked) -> Iterator[Mapping[str, Any]]:
        """Yield what the child tells, to its end. Raises `ReadError`."""
        child = _Child(asked, self._process(asked.folder))
        try:
            page: int | None = None
            for what in child.told():
                page = what["at"][0] if "at" in what else page
                if "failed" in what:
                    failed = what["failed"]
                    raise _unreadable(asked.name, failed["message"], failed["page"])
                yield what
                if "end" in what:
                    return
            raise _unreadable(asked.name, child.ending(), page)
        finally:
            child.close()


class WordsApart:
    """`WordsInPictures` in a child process, for pictures that came from outside."""

    name = "rapidocr"

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def lines(self, picture: Path) -> Sequence[Line]:
        """Return the lines of words, in reading order. Raises `ModelError`."""
        try:
            return self._readers.lines(picture)
        except ReadError as error:
            raise ModelError(f"no words were read from the picture: {error}") from error


class _Process(Protocol):
    """What one file is read in, by what `apart.py` needs of it. Its pipes are closed by who has it."""

    stdin: IO[bytes]
    stdout: IO[bytes]

    def wait(self, timeout: float) -> int:
        """Return what it ended with; below 0, the signal. Raises `TimeoutExpired`, `OSError` when nobody knows."""
        ...

    def kill(self) -> None:
        """Let it be ended, with all that it has started."""
        ...

    def close(self) -> None:
        """End it, and wait for that."""
        ...


class _Started:
    """A process that was started for one file, where none can be forked."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own script, by this Python
            [sys.executable, "-I", "-S", "-X", "utf8", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**environment, **dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), str(folder))},
            start_new_session=True,
        )
        self.stdin, self.stdout = _of(self._process.stdin), _of(self._process.stdout)

    def wait(self, timeout: float) -> int:
        """Return what it ended with."""
        return self._process.wait(timeout)

    def kill(self) -> None:
        """End it, with all that it has started."""
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):  # all of it is gone
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()

    def close(self) -> None:
        """End it, and wait for that."""
        self.kill()
        self._process.wait()


class _Child:
    """The process that reads one file, what is said to it and what it tells."""

    def __init__(self, asked: Asked, process: _Process) -> None:
        self._asked = asked
        self._late = False
        self._process = process
        self._clock = threading.Timer(asked.limits.seconds, self._end)
        self._clock.daemon = True
        self._clock.start()
        with contextlib.suppress(OSError):  # it is gone already: its ending says why
            self._say({**asked.as_json(), "paths": [each for each in sys.path if Path(each).is_absolute()]})

    def _say(self, what: Mapping[str, Any]) -> None:
        self._process.stdin.write(json.dumps(what).encode() + b"\n")
        self._process.stdin.flush()

    def told(self) -> Iterator[Mapping[str, Any]]:
        """Yield what it tells, until it says no more."""
        while line := self._process.stdout.readline(_LINE):
            try:
                what = json.loads(line)
            except ValueError:
                return  # cut off in the middle: the process is gone, or too much is on the line
            yield what

    def ending(self) -> str:
        """Return in words how it ended without having told the end."""
        limits = self._asked.limits
        if self._late:
            return f"it takes longer than {limits.seconds:g} seconds, which is the limit (read_seconds)"
        try:
            code = self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            return "the reader said no more"
        except OSError as error:
            raise BusyError(f"the process that read a file is gone: {error}; it is tried again later") from error
        memory = f"it may need more than {limits.memory_megabytes:,} MB of memory (read_megabytes)"
        if code < 0:
            what = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            return f"the reader of this kind of file crashed ({what}); it is damaged, or {memory}"
        return f"the reader of this kind of file ended with code {code}; {memory}"

    def close(self) -> None:
        """End it, and all that it has started."""
        self._clock.cancel()
        self._process.close()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what was not written is of no use now
                pipe.close()

    def _end(self) -> None:
        self._late = True
        self._process.kill()


def find_office() -> str:
    """Return the program of LibreOffice on this machine, empty when there is none."""
    for name in ("soffice", "libreoffice"):
        if found := shutil.which(name):
            return found
    return next((path for path in _OFFICE if Path(path).is_file()), "")


def _unreadable(name: str, message: str, page: int | None) -> ReadError:
    where = f", page {page}" if page is not None else ""
    return ReadError(f"{_named(name)}{where} cannot be read: {message}", page=page)


def _named(name: str) -> str:
    return " ".join(name.split())[:200] or "the file"


def _of(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - it was started with one
    return pipe
