"""Reads the library's verbs from its source: names, arguments with types and defaults as written, first sentences.

What does not travel is named here, with its reason; a new verb that is neither routed nor named here is an error.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Final

from mnemic.api import memory
from mnemic.wire.routes import BY_VERB

AT_THE_MACHINE: Final[Mapping[str, str]] = {
    "path": "a client has no folder",
    "settings": "those of a server are its own",
    "close": "each face closes what it has opened itself",
    "metrics": "a server shows its figures at /metrics",
    "expose": "a server is exposed as it is",
    "ready": "a server tells at /ready",
    "knowledge.sync": "a folder is of the machine that has it; clients add files",
    "knowledge.watch_folder": "a folder is of the machine that has it; clients add files",
    "llm.name": "replies name the model that wrote them",
    "relay": "OpenAI's own clients speak to the server's door for them",
    "keys.caller_of": "it is how a server knows a key: no call of anybody's",
    "keys.drop": "it is for who has the machine: a server that has no key left would ask for none",
    "keys.any": "it is how a server knows whether to ask for keys",
}
"""What does not travel, with the reason. An embedded memory has it: `await memory.opened()` in an `AsyncMemory`."""

PAGED: Final[Mapping[str, str]] = {"iterate": "list", "jobs.iterate": "jobs.list"}
"""Verbs that have no place on a server of their own: clients ask for one page after the other."""


@dataclass(frozen=True)
class Method:
    """A verb as its source says it. Parameters are (name, type, default or "")."""

    verb: str
    positional: tuple[tuple[str, str, str], ...]
    named: tuple[tuple[str, str, str], ...]
    options: str
    returns: str
    sentence: str

    @property
    def name(self) -> str:
        return self.verb.rpartition(".")[2]

    @property
    def element(self) -> str:
        """The type of the pieces, "" when it does not come in pieces."""
        found = re.fullmatch(r"Iterator\[(.*)\]", self.returns)
        return found[1] if found else ""


@dataclass(frozen=True)
class Group:
    """A class of verbs: the memory itself, whose name is empty, or a group of it."""

    name: str
    cls: str
    doc: str
    methods: tuple[Method, ...]
    origins: Mapping[str, tuple[str, str]] = field(repr=False)


def read() -> tuple[Group, ...]:
    """Return the memory and its groups. Raises `SystemExit` for a verb that is neither routed nor excused."""
    whole = ast.parse(inspect.getsource(memory))
    homes = [each.module for each in whole.body if isinstance(each, ast.ImportFrom) and each.module]
    classes = _classes(memory)
    for home in homes:
        if home.startswith("mnemic.api."):
            classes |= _classes(importlib.import_module(home))
    found = [_group("", *classes["Memory"])]
    init = next(node for node in _class(whole, "Memory").body if getattr(node, "name", "") == "__init__")
    for node in ast.walk(init):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            target, made = node.targets[0], node.value.func.id
            if isinstance(target, ast.Attribute) and made in classes:
                found.append(_group(target.attr, *classes[made]))
    return tuple(group for group in found if group.methods)


def _classes(module: ModuleType) -> dict[str, tuple[ast.ClassDef, str, dict[str, tuple[str, str]]]]:
    source = inspect.getsource(module)
    tree = ast.parse(source)
    origins = {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    own = {node.name: (module.__name__, node.name) for node in tree.body if isinstance(node, ast.ClassDef)}
    return {node.name: (node, source, {**origins, **own}) for node in tree.body if isinstance(node, ast.ClassDef)}


def _class(tree: ast.Module, name: str) -> ast.ClassDef:
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)


def _group(name: str, node: ast.ClassDef, source: str, origins: dict[str, tuple[str, str]]) -> Group:
    methods = []
    for each in node.body:
        if not isinstance(each, ast.FunctionDef) or each.name.startswith("_"):
            continue
        verb = f"{name}.{each.name}" if name else each.name
        if verb in AT_THE_MACHINE or name in AT_THE_MACHINE:
            continue
        if verb not in BY_VERB and verb not in PAGED:
            raise SystemExit(f"{verb}: give it a route in mnemic.wire.routes, or say in tools/verbs.py why it has none")
        methods.append(_method(verb, each, source))
    return Group(name, node.name, _sentence(ast.get_docstring(node) or ""), tuple(methods), origins)


def _method(verb: str, node: ast.FunctionDef, source: str) -> Method:
    def text(part: ast.expr | None) -> str:
        return "" if part is None else " ".join((ast.get_source_segment(source, part) or "").split())

    given = node.args.args[1:]
    missing: list[ast.expr | None] = [None] * (len(given) - len(node.args.defaults))
    positional = [
        (each.arg, text(each.annotation), text(default))
        for each, default in zip(given, [*missing, *node.args.defaults], strict=True)
    ]
    named = [
        (each.arg, text(each.annotation), text(default))
        for each, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    ]
    options = text(node.args.kwarg.annotation) if node.args.kwarg else ""
    sentence = _sentence(ast.get_docstring(node) or "")
    return Method(verb, tuple(positional), tuple(named), options, text(node.returns), sentence)


def _sentence(doc: str) -> str:
    """Return the first sentence of a docstring on one line."""
    whole = " ".join(doc.split("\n\n", maxsplit=1)[0].split())
    return re.split(r"(?<=\.)\s", whole, maxsplit=1)[0]
