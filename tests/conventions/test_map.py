"""The map is true: what the documents name exists, and `dev` has the verbs that it tells of."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conventions.sources import PACKAGE, ROOT

DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
VERBS = ("demo", "test", "check", "bench", "faults", "serve", "shell", "faces", "model", "cli", "clean", "help")
SPAN = re.compile(r"`([^`\s]+)`")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
PLAIN = re.compile(r"\.?[\w-][\w./-]*")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_that_a_document_names_exists(document: str) -> None:
    path = ROOT / document
    if not path.exists():
        pytest.skip(f"{document} is not written yet")
    absent = [name for name in _named_paths(path.read_text("utf-8")) if not _exists(name)]
    assert not absent


def test_paths_in_prose_links_and_trees_are_found() -> None:
    text = """
See `src/mnemic/absent.py`, `core/absent/`, `dev`, `and/or`, `/v1/absent.py`, `application/json`
and [this](docs/absent.md).

```text
src/mnemic/
  errors.py        every error
  absent.py ids.py two files
  core/            decisions: heat.py, absent
    hollow.py
tests/
  nothing/
```
"""
    absent = [name for name in _named_paths(text) if not _exists(name)]
    assert absent == [
        "src/mnemic/absent.py",
        "core/absent/",
        "docs/absent.md",
        "src/mnemic/absent.py",
        "src/mnemic/core/hollow.py",
        "tests/nothing/",
    ]


def test_dev_tells_of_every_verb_and_refuses_others() -> None:
    told = _dev("help")
    assert told.returncode == 0
    assert [line.split()[0] for line in told.stdout.splitlines() if line.startswith("  ")] == list(VERBS)
    refused = _dev("frobnicate")
    assert refused.returncode == 2
    assert "no such verb: frobnicate" in refused.stderr


def _dev(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(ROOT / "dev"), *arguments], capture_output=True, text=True, check=False, timeout=60, cwd="/"
    )


def _exists(name: str) -> bool:
    return (ROOT / name).exists() or (PACKAGE / name).exists()


def _named_paths(text: str) -> Iterator[str]:
    prose = FENCE.sub("", text)
    for span in SPAN.findall(prose):
        if _is_path(span.removeprefix("./")):
            yield span.removeprefix("./")
    for target in LINK.findall(prose):
        if "://" not in target and not target.startswith(("../", "mailto:")):
            yield target
    for fence in FENCE.findall(text):
        lines = fence.splitlines()[1:-1]
        if lines and re.match(r"[\w./-]+/(\s|$)", lines[0]):
            yield from _tree(lines)


def _is_path(span: str) -> bool:
    """Tell whether a span of code is a path here: it starts in a folder that we have, or is a file of ours by kind."""
    if not PLAIN.fullmatch(span):
        return False
    first, slash, _ = span.partition("/")
    if slash and any((folder / first).is_dir() for folder in (ROOT, PACKAGE)):
        return True
    return Path(span).suffix in {".py", ".md"}


def _tree(lines: list[str]) -> Iterator[str]:
    """Yield the paths of a drawn tree: names, then two spaces or more, then a caption; two spaces deeper is inside."""
    folders: list[tuple[int, str]] = []
    for line in lines:
        depth = len(line) - len(line.lstrip())
        while folders and folders[-1][0] >= depth:
            folders.pop()
        inside = folders[-1][1] if folders else ""
        for name in re.split(r"\s{2,}", line.strip())[0].split():
            if not re.fullmatch(r"([\w.-]+/)*([\w-]*\.[\w.-]+|dev)?", name):
                break
            yield inside + name
            if name.endswith("/"):
                folders.append((depth, inside + name))
