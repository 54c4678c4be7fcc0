"""Small rooms: ceilings on files, functions and the public face. They only ever go down."""

from __future__ import annotations

import ast
import subprocess
import sys

import mnemic
from tests.conventions.sources import PACKAGE, Function, everything, package

LINES_OF_A_FILE = 500
LINES_OF_A_FUNCTION = 60
FOLDERS_BELOW_THE_PACKAGE = 2
PUBLIC_NAMES = 30
LINES_WORTH_SHARING = 6
HEAVY = ("alembic", "numpy", "onnxruntime", "rich", "sqlalchemy", "tokenizers", "typer")


def test_no_file_is_longer_than_500_lines() -> None:
    long = [
        f"{source.name}: {len(source.lines)}"
        for source in everything()
        if len(source.lines) > LINES_OF_A_FILE and not source.generated
    ]
    assert not long, "split these by noun:\n" + "\n".join(long)


def test_no_function_is_longer_than_60_lines() -> None:
    long = [
        f"{source.at(function)} {function.name}: {_length(function)}"
        for source in everything()
        if not source.generated
        for function in source.functions()
        if _length(function) > LINES_OF_A_FUNCTION
    ]
    assert not long, "split these:\n" + "\n".join(long)


def test_no_module_lies_deeper_than_two_folders() -> None:
    deep = [
        source.name
        for source in package()
        if "/migrations/" not in source.name
        and len(source.path.relative_to(PACKAGE).parent.parts) > FOLDERS_BELOW_THE_PACKAGE
    ]
    assert not deep, "a path should be sayable:\n" + "\n".join(deep)


def test_no_function_is_a_copy_of_another() -> None:
    seen: dict[str, str] = {}
    copies = []
    for source in package():
        for function in source.functions():
            body = function.body[1:] if ast.get_docstring(function) else function.body
            if source.generated or not body or _span(body) < LINES_WORTH_SHARING:
                continue
            place = f"{source.at(function)} {function.name}"
            first = seen.setdefault("\n".join(ast.dump(statement) for statement in body), place)
            if first != place:
                copies.append(f"{place} = {first}")
    assert not copies, "one copy; a variant is a parameter:\n" + "\n".join(copies)


def test_the_package_has_at_most_30_public_names_and_each_is_there() -> None:
    names = list(mnemic.__all__)
    assert len(names) <= PUBLIC_NAMES
    assert len(set(names)) == len(names)
    absent = [name for name in names if not hasattr(mnemic, name)]
    assert not absent


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import sys, mnemic; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


def _length(function: Function) -> int:
    return _span([function])


def _span(statements: list[ast.stmt]) -> int:
    return (statements[-1].end_lineno or statements[-1].lineno) - statements[0].lineno + 1
