"""The process that forks one for each file: it is started again when it dies, ends with who started it, and what it
forks gets nothing of it or of each other."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mnemic.backends.readers import apart, nursery
from mnemic.backends.readers.apart import Readers
from mnemic.errors import BusyError, ReadError
from mnemic.ports.reader import Limits

pytestmark = pytest.mark.skipif(not nursery.AT_HAND, reason="nothing is forked on this system")


def _reader(**limits: float) -> Readers:
    return Readers(Limits(**limits), environment={"PATH": os.defpath}, office="")  # type: ignore[arg-type] # a test's few


def _text(reader: Readers, path: Path) -> str:
    return reader.read(path, name=path.name, told=lambda done, of: None).text


def _given(tmp_path: Path, text: str, name: str = "a.txt") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def _forker(reader: Readers) -> int:
    return _running(reader).pid


def _running(reader: Readers) -> subprocess.Popen[bytes]:
    assert reader._nursery is not None
    found = reader._nursery._running
    assert found is not None
    return found.process


def _until(holds: Callable[[], bool], within: float = 20.0) -> bool:
    deadline, waiting = time.monotonic() + within, threading.Event()
    while not holds() and time.monotonic() < deadline:
        waiting.wait(0.01)
    return holds()


def _gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def _library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    folder = tmp_path / "in-front"
    folder.mkdir()
    (folder / "markdown_it.py").write_text(code)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])


def _sleeping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let reading Markdown never end; return where the number of the process is written."""
    started = tmp_path / "started"
    code = f"import os, pathlib, time\npathlib.Path({str(started)!r}).write_text(f'{{os.getpid()}} ')\ntime.sleep(60)\n"
    _library(tmp_path, monkeypatch, code)
    return started


def _number(started: Path) -> int:
    assert _until(lambda: started.exists() and started.read_text().endswith(" "))
    return int(started.read_text())


def test_one_process_forks_for_all_files_and_is_started_again_when_it_died(tmp_path: Path) -> None:
    reader, path = _reader(), _given(tmp_path, "One boat.")
    assert _text(reader, path) == "One boat."
    first = _forker(reader)
    assert (_text(reader, path), _forker(reader)) == ("One boat.", first)
    os.kill(first, signal.SIGKILL)
    assert (_text(reader, path), _forker(reader) == first) == ("One boat.", False)


def test_a_file_whose_process_dies_with_the_one_that_forked_it_may_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, reader = _sleeping(tmp_path, monkeypatch), _reader()
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(_text, reader, _given(tmp_path, "# x", "a.md"))
        child = _number(started)
        os.kill(_forker(reader), signal.SIGKILL)
        os.kill(child, signal.SIGKILL)
        with pytest.raises(BusyError, match="tried again later"):
            reading.result(30)


def test_a_file_that_never_ends_is_given_up_when_the_one_that_forked_is_gone_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, reader = _sleeping(tmp_path, monkeypatch), _reader(seconds=3.0)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(_text, reader, _given(tmp_path, "# x", "a.md"))
        child = _number(started)
        os.kill(_forker(reader), signal.SIGKILL)
        with pytest.raises(ReadError, match="takes longer than 3 seconds"):
            reading.result(30)
    assert _until(lambda: _gone(child))


def test_it_ends_with_the_readers_that_it_forks_for(tmp_path: Path) -> None:
    reader = _reader()
    _text(reader, _given(tmp_path, "One boat."))
    process = _running(reader)
    del reader
    gc.collect()
    assert process.returncode == 0


def test_it_ends_with_all_that_it_forked_when_whoever_started_it_is_killed(tmp_path: Path) -> None:
    started = tmp_path / "started"
    front = tmp_path / "in-front"
    front.mkdir()
    told = "f'{os.getpid()} {os.getppid()} '"
    (front / "markdown_it.py").write_text(
        f"import os, pathlib, time\npathlib.Path({str(started)!r}).write_text({told})\ntime.sleep(60)\n"
    )
    code = f"""
import sys
from pathlib import Path
from mnemic.backends.readers.apart import Readers
from mnemic.ports.reader import Limits
sys.path.insert(0, {str(front)!r})
Readers(Limits(), environment={{}}, office="").read(
    Path({str(_given(tmp_path, "# x", "a.md"))!r}), name="a.md", told=print
)
"""
    environment = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    parent = subprocess.Popen([sys.executable, "-c", code], env=environment)
    try:
        assert _until(lambda: started.exists() and started.read_text().endswith(" "))
        child, forker = map(int, started.read_text().split())
        assert forker != parent.pid
    finally:
        parent.kill()
        parent.wait(10)
    assert _until(lambda: _gone(child) and _gone(forker))


_SPY = """
import json, os, threading, time
open(OUT + str(os.getpid()), "w").write("x")
while len([each for each in os.listdir(os.path.dirname(OUT)) if each.startswith("spied")]) < 3:
    time.sleep(0.01)  # until all are there side by side
own = {each: os.readlink(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd")
       if os.path.lexists(f"/proc/self/fd/{each}")}
with open(os.environ["HOME"] + "/../told-" + str(os.getpid()), "w") as out:
    json.dump({"own": own, "home": os.environ["HOME"], "at": os.getcwd(), "group": os.getpgrp(), "pid": os.getpid(),
               "threads": threading.active_count()}, out)
raise KeyError
"""


def test_files_that_are_read_side_by_side_share_no_pipe_folder_or_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = tmp_path / "temporary"
    folders.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folders))
    _library(tmp_path, monkeypatch, _SPY.replace("OUT", repr(str(tmp_path / "spied"))))
    reader = _reader(seconds=60.0)
    paths = [_given(tmp_path, f"# {at}", f"{at}.md") for at in range(3)]

    def read(path: Path) -> None:
        with pytest.raises(ReadError, match="KeyError"):
            _text(reader, path)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(read, paths))
    told = [json.loads(each.read_text()) for each in folders.glob("told-*")]
    assert len(told) == 3
    pipes = [{end for end in each["own"].values() if end.startswith(("pipe", "socket"))} for each in told]
    assert [len(each) for each in pipes] == [2, 2, 2]
    assert len(set.union(*pipes)) == 6
    assert len({each["home"] for each in told}) == 3
    assert all(each["home"] == each["at"] and each["group"] == each["pid"] for each in told)


def test_a_process_that_was_forked_from_one_that_reads_starts_its_own(tmp_path: Path) -> None:
    code = f"""
import os
from pathlib import Path
from mnemic.backends.readers.apart import Readers
from mnemic.ports.reader import Limits
readers = Readers(Limits(), environment={{}}, office="")
def read():
    return readers.read(Path({str(_given(tmp_path, "One boat."))!r}), name="a.txt", told=print).text
read()
if (pid := os.fork()) == 0:
    print("child", read(), flush=True)
else:
    os.waitpid(pid, 0)
    print("parent", read(), flush=True)
"""
    environment = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("child One boat.\nparent One boat.\n", "")


def test_where_nothing_can_be_forked_each_file_has_a_process_that_is_started_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "AT_HAND", False)
    reader = _reader()
    assert _text(reader, _given(tmp_path, "One boat.")) == "One boat."
    assert reader._nursery is None
    with pytest.raises(ReadError, match="it is empty"):
        _text(reader, _given(tmp_path, "", "empty.txt"))
    _sleeping(tmp_path, monkeypatch)
    slow = _reader(seconds=1.0)
    with pytest.raises(ReadError, match=r"takes longer than 1 second"):
        _text(slow, _given(tmp_path, "# x", "a.md"))
