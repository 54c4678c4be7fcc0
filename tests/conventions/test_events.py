"""What is logged: an event's name, a plain word, and fields that a record can hold."""

from __future__ import annotations

import ast
import logging
import re
from collections.abc import Iterator

from tests.conventions.sources import ROOT, Source, package

LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
TAKEN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def test_an_event_is_a_name_and_its_values_are_fields() -> None:
    wordy = [
        f"{source.at(call)} {ast.unparse(event)}"
        for source in package()
        for call in _calls(source)
        if (event := _event(call)) is not None and not _is_name(event)
    ]
    assert not wordy, "log a name such as job_ended, and values in extra=:\n" + "\n".join(wordy)


def test_no_field_has_the_name_of_something_that_every_record_has() -> None:
    taken = [
        f"{source.at(key)} {key.value}"
        for source in package()
        for fields in _fields(source)
        for key in fields.keys
        if isinstance(key, ast.Constant) and key.value in TAKEN
    ]
    assert not taken, "logging refuses these with an error:\n" + "\n".join(taken)


def _calls(source: Source) -> Iterator[ast.Call]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS:
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id in ("_log", "log"):
                yield node


def _event(call: ast.Call) -> ast.expr | None:
    place = 1 if isinstance(call.func, ast.Attribute) and call.func.attr == "log" else 0
    return call.args[place] if len(call.args) > place else None


def _is_name(event: ast.expr) -> bool:
    return isinstance(event, ast.Constant) and re.fullmatch(r"[a-z]+(_[a-z]+)*", str(event.value)) is not None


def _fields(source: Source) -> Iterator[ast.Dict]:
    """Yield the dictionaries that are given as fields: in place, or by a name in the same function."""
    for function in source.functions():
        inside = list(ast.walk(function))
        given = [node.value for node in inside if isinstance(node, ast.keyword) and node.arg == "extra"]
        names = {name.id for value in given for name in ast.walk(value) if isinstance(name, ast.Name)}
        for node in inside if given else ():
            named = isinstance(node, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id in names for target in node.targets
            )
            if isinstance(node, ast.Assign) and named and isinstance(node.value, ast.Dict):
                yield node.value
        for value in given:
            yield from (node for node in ast.walk(value) if isinstance(node, ast.Dict))


def test_the_finder_of_fields_finds_them() -> None:
    code = """
def a():
    told = {"process": 1}
    _log.info("begun", extra={**told, "module": 2})
def b():
    return {"process": 1}
"""
    source = Source("x.py", ROOT / "x.py", code, ast.parse(code))
    assert [node.lineno for node in _fields(source)] == [3, 4]
