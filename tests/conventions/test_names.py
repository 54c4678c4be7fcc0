"""Modules say what they decide: a telling name, and a docstring that opens the file."""

from __future__ import annotations

import ast
import re

from tests.conventions.sources import everything, package

EMPTY_WORDS = {
    "base", "common", "factory", "helper", "helpers", "manager", "managers", "misc", "shared", "util", "utils",
}  # fmt: skip


def test_no_module_or_folder_has_a_name_that_says_nothing() -> None:
    empty = [
        source.name
        for source in everything()
        if EMPTY_WORDS & set(re.split(r"[^a-z]+", source.name.removesuffix(".py").lower()))
    ]
    assert not empty, "name these after what they decide or hold:\n" + "\n".join(empty)


def test_every_module_of_the_package_opens_with_a_docstring() -> None:
    silent = [source.name for source in package() if not ast.get_docstring(source.tree)]
    assert not silent, "say in two or three sentences what these decide:\n" + "\n".join(silent)


def test_no_class_is_called_a_manager_or_a_helper() -> None:
    empty = [
        f"{source.at(node)} {node.name}"
        for source in package()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and re.search(r"(Manager|Helper|Util|Utils|Factory)$", node.name)
    ]
    assert not empty, "name these after what they are:\n" + "\n".join(empty)
