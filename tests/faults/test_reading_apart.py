"""Reading in a process of its own: what crashes, hangs, takes too much or looks around fails that one file alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mnemic.backends.readers.apart import Readers
from mnemic.errors import BusyError, ReadError
from mnemic.model.reading import BlockKind
from mnemic.ports.reader import Limits
from tests.unit.made_pdf import MadePage, made_pdf

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits and groups of processes are those of POSIX")

ENVIRONMENT: Mapping[str, str] = {"PATH": os.defpath}
ANOTHER_SECRET = "sk-of-this-process"


def _reader(**limits: object) -> Readers:
    return Readers(Limits(**{"seconds": 60.0, **limits}), environment=ENVIRONMENT, office="")  # type: ignore[arg-type] # a test's few


def _given(tmp_path: Path, content: bytes, name: str = "given.md") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


def _quiet(done: int, of: int) -> None:
    """Hear of progress and say nothing."""


def _library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str) -> None:
    """Put a library of that name in front of the real one, for the child."""
    folder = tmp_path / "in-front"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(code)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])


_PDF = """
import ctypes, os, time
class PdfiumError(Exception):
    pass
class PdfDocument:
    def __init__(self, *given, **more): pass
    def get_metadata_dict(self, **more): return {}
    def __len__(self): return 3
    def close(self): pass
    def __getitem__(self, at):
        if at == 1:
            ACT
        raise PdfiumError
"""


def test_a_file_is_read_with_its_progress_told(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    content = made_pdf([MadePage().text(f"Page number {number}.") for number in (1, 2, 3)])
    path = _given(tmp_path, content, "a.pdf")
    found = _reader().read(path, name="a.pdf", told=lambda done, of: heard.append((done, of)))
    assert [(block.text, block.page) for block in found.blocks] == [(f"Page number {at}.", at) for at in (1, 2, 3)]
    assert found.blocks[0].kind is BlockKind.PARAGRAPH
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_a_library_that_crashes_fails_the_file_and_names_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _library(tmp_path, monkeypatch, "pypdfium2", _PDF.replace("ACT", "ctypes.string_at(0)"))
    path = _given(tmp_path, made_pdf([MadePage()]), "a.pdf")
    with pytest.raises(ReadError, match=r"a\.pdf, page 2 cannot be read: .*crashed \(SIGSEGV\)") as caught:
        _reader().read(path, name="a.pdf", told=_quiet)
    assert caught.value.page == 2


def test_a_file_that_never_ends_is_given_up_after_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _library(tmp_path, monkeypatch, "pypdfium2", _PDF.replace("ACT", "\n            while True: pass"))
    path = _given(tmp_path, made_pdf([MadePage()]), "a.pdf")
    began = time.monotonic()
    with pytest.raises(ReadError, match=r"page 2 cannot be read: it takes longer than 2 seconds.*\(read_seconds\)"):
        _reader(seconds=2.0).read(path, name="a.pdf", told=_quiet)
    assert time.monotonic() - began < 30


def test_a_file_that_takes_too_much_memory_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _library(tmp_path, monkeypatch, "markdown_it", "held = bytearray(1 << 30)")
    with pytest.raises(ReadError, match=r"more than 300 MB of memory.*\(read_megabytes\)"):
        _reader(memory_megabytes=300).read(_given(tmp_path, b"# x"), name="a.md", told=_quiet)


def test_a_fault_is_told_by_its_name_and_without_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    code = "import sys; print('a secret of the file'); print('another', file=sys.stderr); raise KeyError('the content')"
    _library(tmp_path, monkeypatch, "markdown_it", code)
    with pytest.raises(ReadError, match=r"damaged, or not what it seems to be \(KeyError\)") as caught:
        _reader().read(_given(tmp_path, b"# x"), name="a.md", told=_quiet)
    assert "content" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_library_that_is_missing_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _library(tmp_path, monkeypatch, "pypdfium2", "raise ModuleNotFoundError(name='pypdfium2')")
    path = _given(tmp_path, made_pdf([MadePage()]), "a.pdf")
    with pytest.raises(ReadError, match=r"pypdfium2 is needed to read it: pip install 'mnemic\[documents\]'"):
        _reader().read(path, name="a.pdf", told=_quiet)


_SPY = """
import json, os, socket, sys
def reached():
    try:
        socket.create_connection(("127.0.0.1", PORT), 2).close()
        return True
    except OSError:
        return False
told = {"environment": dict(os.environ), "arguments": sys.orig_argv, "reached": reached(), "at": os.getcwd()}
with open(OUT, "w") as out:
    json.dump(told, out)
raise KeyError
"""


def test_what_reads_sees_no_secrets_and_has_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_LLM_API_KEY", ANOTHER_SECRET)
    out = tmp_path / "seen.json"
    with socket.create_server(("127.0.0.1", 0)) as door:
        code = _SPY.replace("PORT", str(door.getsockname()[1])).replace("OUT", repr(str(out)))
        _library(tmp_path, monkeypatch, "markdown_it", code)
        with pytest.raises(ReadError):
            _reader().read(_given(tmp_path, b"# x"), name="a.md", password="open sesame", told=_quiet)
    seen = out.read_text()
    assert ANOTHER_SECRET not in seen
    assert "open sesame" not in seen
    if _may_leave_the_network():
        assert '"reached": false' in seen


def _may_leave_the_network() -> bool:
    done = subprocess.run(["unshare", "--user", "--net", "true"], capture_output=True, check=False)
    return done.returncode == 0


def test_its_folder_and_all_that_it_started_are_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = tmp_path / "temporary"
    folders.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    started = tmp_path / "started"
    code = f"""
import pathlib, subprocess, sys
pathlib.Path("left-behind").write_text("x")
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
pathlib.Path({str(started)!r}).write_text(str(child.pid))
raise KeyError
"""
    _library(tmp_path, monkeypatch, "markdown_it", code)
    with pytest.raises(ReadError):
        _reader().read(_given(tmp_path, b"# x"), name="a.md", told=_quiet)
    assert list(folders.iterdir()) == []
    assert _ends(int(started.read_text()))


def _ends(pid: int, within: float = 10.0) -> bool:
    """Tell whether a process ends, or waits only to be told as ended."""
    deadline = time.monotonic() + within
    gone = threading.Event()
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        gone.wait(0.02)
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_it_ends_when_whoever_started_it_is_killed(tmp_path: Path) -> None:
    started = tmp_path / "started"
    front = tmp_path / "in-front"
    front.mkdir()
    (front / "markdown_it.py").write_text(
        f"import os, pathlib, time\npathlib.Path({str(started)!r}).write_text(str(os.getpid()))\ntime.sleep(60)\n"
    )
    code = f"""
import sys
from pathlib import Path
from mnemic.backends.readers.apart import Readers
from mnemic.ports.reader import Limits
sys.path.insert(0, {str(front)!r})
Readers(Limits(), environment={{}}, office="").read(Path({str(_given(tmp_path, b"# x"))!r}), name="a.md", told=print)
"""
    paths = os.pathsep.join(each for each in sys.path if each)
    parent = subprocess.Popen([sys.executable, "-c", code], env={**ENVIRONMENT, "PYTHONPATH": paths})
    try:
        deadline = time.monotonic() + 30
        waiting = threading.Event()
        while not (started.exists() and started.read_text()) and time.monotonic() < deadline:
            waiting.wait(0.02)
        child = int(started.read_text())
        parent.send_signal(signal.SIGKILL)
        parent.wait(10)
        assert _ends(child)
    finally:
        parent.kill()
        parent.wait(10)


def test_files_are_read_side_by_side_and_one_that_fails_disturbs_none(tmp_path: Path) -> None:
    reader = _reader()
    paths = [_given(tmp_path, f"# Number {at}".encode() if at != 2 else b"", f"{at}.md") for at in range(4)]

    def read(path: Path) -> str:
        try:
            return reader.read(path, name=path.name, told=_quiet).text
        except ReadError as error:
            return str(error)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, paths))
    assert found == ["Number 0", "Number 1", "2.md cannot be read: it is empty: it has no bytes", "Number 3"]


def test_a_process_that_cannot_be_started_may_be_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(BusyError, match="tried again later"):
        _reader().read(_given(tmp_path, b"# x"), name="a.md", told=_quiet)


def test_a_name_is_shown_and_never_a_path(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"^\.\./\.\./etc/passwd cannot be read: it is empty"):
        _reader().read(_given(tmp_path, b""), name="../../etc/passwd", told=_quiet)
