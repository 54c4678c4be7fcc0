"""The project's own Python files, parsed once for all tests of conventions."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "mnemic"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """One file: `name` is its path from the root, with forward slashes."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def generated(self) -> bool:
        """Migrations are written by Alembic, once, and never changed; faces are written from the library's verbs."""
        return "/migrations/versions/" in self.name or "\nWritten by `./dev faces` " in self.text

    def at(self, node: ast.AST) -> str:
        return f"{self.name}:{getattr(node, 'lineno', 1)}"

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))


@functools.cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Return the files of the given folders in the root, ordered by name."""
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return tuple(_parse(path) for path in paths)


def package() -> tuple[Source, ...]:
    return sources("src")


def everything() -> tuple[Source, ...]:
    return sources("bench", "src", "tests", "tools")


def _parse(path: Path) -> Source:
    text = path.read_text("utf-8")
    return Source(path.relative_to(ROOT).as_posix(), path, text, ast.parse(text, str(path)))
