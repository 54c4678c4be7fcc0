"""Where the outside may be touched: environment, clock, output, and errors that are caught whatever they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.conventions.sources import package

READS_THE_ENVIRONMENT = "src/mnemic/config.py"
SET_THEIR_OWN_ENVIRONMENT = (
    "src/mnemic/backends/models/llama_process.py",  # a process whose library reads it
    "src/mnemic/backends/readers/forking.py",  # a process for one file, forked: its folder is its home
)
HANDS_IT_ON = "src/mnemic/testing/servers.py"  # to the tests that it runs beside servers
MAY_PRINT = "src/mnemic/shells/cli/"
PURE = ("src/mnemic/core/", "src/mnemic/model/", "src/mnemic/text/")
BOUNDARIES = 10
BOUNDARY = re.compile(r"#.*\bboundary: \w+")
BROAD = {"Exception", "BaseException"}


def test_only_the_settings_read_the_environment() -> None:
    readers = [
        source.at(node)
        for source in package()
        if source.name not in (READS_THE_ENVIRONMENT, *SET_THEIR_OWN_ENVIRONMENT, HANDS_IT_ON)
        for node in ast.walk(source.tree)
        if _is_attribute(node, "os", {"environ", "environb", "getenv", "getenvb", "putenv"})
        or _imports_from(node, "os", {"environ", "environb", "getenv", "getenvb", "putenv"})
    ]
    assert not readers, f"take these values as arguments; {READS_THE_ENVIRONMENT} reads them:\n" + "\n".join(readers)


def test_only_the_command_line_prints() -> None:
    printers = [
        source.at(node)
        for source in package()
        if not source.name.startswith(MAY_PRINT)
        for node in ast.walk(source.tree)
        if (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print")
        or _is_attribute(node, "sys", {"stdout"})
    ]
    assert not printers, "log these, or return them:\n" + "\n".join(printers)


def test_pure_layers_never_ask_for_the_time() -> None:
    askers = [
        source.at(node)
        for source in package()
        if source.name.startswith(PURE)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and node.attr in {"now", "today", "utcnow", "perf_counter"}
        if isinstance(node.value, ast.Name) and node.value.id in {"datetime", "date", "time", "dt"}
    ]
    assert not askers, "time comes in as an argument:\n" + "\n".join(askers)


def test_broad_handlers_stand_only_at_ten_named_boundaries() -> None:
    handlers = [(source, node) for source in package() for node in _swallowers(source.tree)]
    unnamed = [source.at(node) for source, node in handlers if not BOUNDARY.search(source.lines[node.lineno - 1])]
    assert not unnamed, "catch what can happen, or name the `# boundary: ...` on the line:\n" + "\n".join(unnamed)
    assert len(handlers) <= BOUNDARIES, "\n".join(source.at(node) for source, node in handlers)


def _swallowers(tree: ast.Module) -> Iterator[ast.ExceptHandler | ast.Call]:
    """Yield what catches any error and does not end by raising it, or a better one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            if (node.type is None or _is_broad(node.type)) and not isinstance(node.body[-1], ast.Raise):
                yield node
        elif isinstance(node, ast.Call) and _name(node.func) == "suppress" and any(map(_is_broad, node.args)):
            yield node


def _is_broad(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return any(_is_broad(element) for element in node.elts)
    return _name(node) in BROAD


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_attribute(node: ast.AST, module: str, names: set[str]) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr in names
        and isinstance(node.value, ast.Name)
        and node.value.id == module
    )


def _imports_from(node: ast.AST, module: str, names: set[str]) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == module and any(a.name in names for a in node.names)


def test_the_finder_of_broad_handlers_finds_them() -> None:
    code = """
import contextlib
try: pass
except Exception: pass
try: pass
except (ValueError, BaseException) as error: print(error)
try: pass
except: pass
with contextlib.suppress(Exception): pass
try: pass
except Exception: raise
try: pass
except ValueError: pass
"""
    tree = ast.parse(code)
    assert [node.lineno for node in _swallowers(tree)] == [4, 6, 8, 9]
