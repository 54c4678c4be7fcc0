"""The statements that reach a database, whichever way they take, and what they say about the cubes of their rows.

`recorded` listens at the driver, so that nothing goes past it; who sent a statement is read from the stack. `crossing`
reads a statement and names its tables of cubes that it does not tie to one cube: by a condition that must hold, on the
key itself or on that of a table that is tied to it.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import psycopg
import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

import mnemic.backends.sql
from mnemic.backends.sql import schema

Tree = list[Any]
"""Words, signs and values of a statement; what stands in brackets is a tree of its own."""

VALUE = "?"
HERE = Path(mnemic.backends.sql.__file__).parent
ENGINES_OWN = {"entry_text", "near_cube", "near_vector"}
"""Tables of cubes that only PostgreSQL has; SQLite's full text is of another kind."""

OF_CUBES = ENGINES_OWN | {table.name for table in schema.CUBES}
BY_KEY = OF_CUBES | {"cube_grant"}
SEND = "prepared.py"
_TOKEN = re.compile(
    r"""(?P<value>(?:[xX]?'(?:[^']|'')*'|\b\d[\w.]*|\?\d*|(?<![:\w]):\w+|\$\d+|%\(\w+\)s|%s)(?:::\w+)?)"""
    r"""|"(?P<quoted>[^"]+)"|(?P<word>[A-Za-z_]\w*)|(?P<sign><=|>=|!=|<>|\|\||==|[-+*/%=<>(),.;])"""
)
_CLAUSES = (
    "from",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "returning",
    "set",
    "values",
    "select",
    "window",
    "for",
)


@dataclass
class Record:
    """Statements, without their values, with the functions that sent them; and all functions on the way to these."""

    sent: set[tuple[str, str]] = field(default_factory=set)
    walked: set[str] = field(default_factory=set)

    def note(self, sql: str) -> None:
        taken = way()
        self.sent.add((taken[0] if taken else "", plain(sql)))
        self.walked.update(taken)


@contextmanager
def recorded() -> Iterator[Record]:
    """Collect what is sent in the block: on SQLite connections that are opened in it, and to PostgreSQL."""
    record = Record()

    def connected(connection: object, _entry: object) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.set_trace_callback(record.note)

    with ExitStack() as ends:
        event.listen(Pool, "connect", connected)
        ends.callback(event.remove, Pool, "connect", connected)
        for kind in (psycopg.Cursor, psycopg.ServerCursor):
            for name in ("execute", "executemany", "stream"):
                ends.enter_context(_noting(record, kind, name))
        yield record


@contextmanager
def _noting(record: Record, kind: Any, name: str) -> Iterator[None]:
    """Note what a kind of cursor is given to send."""
    send = getattr(kind, name)

    def note(cursor: object, query: object, *args: Any, **kwargs: Any) -> Any:
        record.note(query.decode() if isinstance(query, bytes) else str(query))
        return send(cursor, query, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kind, name, note)
        yield


def plain(sql: str) -> str:
    """Return a statement with a mark in the place of each value."""
    return _TOKEN.sub(lambda match: VALUE if match["value"] else match[0], sql)


def way() -> list[str]:
    """Return the functions of the SQL backend that are being called, the innermost first."""
    found = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.parent == HERE and path.name != SEND:
            found.append(f"{path.stem}.{frame.f_code.co_qualname.partition('.<locals>')[0]}")
        frame = frame.f_back
    return found


def crossing(sql: str) -> list[str]:
    """Return the tables of cubes that a statement does not tie to one cube."""
    return _loose(_tree(sql), {})


def _loose(tree: Tree, outer: Mapping[str, bool]) -> list[str]:
    found: list[str] = []
    for part in _split(tree, "union", "except", "intersect"):
        at = part.index("select") if part[:1] == ["insert"] and "select" in part else len(part)
        for each in (part[:at], part[at:]):
            found += _Scope.read(each, outer).loose()
    return sorted(found)


def _tree(sql: str) -> Tree:
    """Read a statement. Names are in small letters; a value is a `VALUE`."""
    stack: list[Tree] = [[]]
    for match in _TOKEN.finditer(sql):
        if match["sign"] == "(":
            stack.append([])
        elif match["sign"] == ")":
            inner = stack.pop()
            stack[-1].append(inner)
        elif match["sign"] != ";":
            word = match["quoted"] or (match["word"] or "").lower()
            stack[-1].append(VALUE if match["value"] else word or match["sign"])
    [tree] = stack
    return tree


def _split(tree: Tree, *words: str) -> Iterator[Tree]:
    part: Tree = []
    for item in tree:
        if isinstance(item, str) and item in words:
            yield part
            part = []
        else:
            part.append(item)
    yield part


@dataclass
class _Scope:
    """One SELECT, UPDATE, DELETE or INSERT: its tables by the names that they have there, and its conditions.

    `beside` are those of outer joins: they say nothing of the tables before.
    """

    tree: Tree
    outer: Mapping[str, bool]
    tables: dict[str, str] = field(default_factory=dict)
    conditions: list[Tree] = field(default_factory=list)
    beside: list[tuple[str, Tree]] = field(default_factory=list)
    columns: Tree | None = None

    @classmethod
    def read(cls, tree: Tree, outer: Mapping[str, bool]) -> _Scope:
        scope = cls(tree, outer)
        clause = ""
        held: list[Tree] = []
        for item in [*tree, "select"]:  # the last one ends the last clause
            if isinstance(item, str) and item in _CLAUSES:
                scope._take(clause, held)
                clause, held = item, []
            else:
                held.append(item)
        return scope

    def _take(self, clause: str, held: Tree) -> None:
        if clause == "from":
            self._sources(held)
        elif clause == "where":
            self.conditions.append(held)
        elif clause == "" and held and held[0] in ("update", "insert"):
            named = [item for item in held[1:] if item not in ("or", "ignore", "replace", "into")]
            if held[0] == "update":
                self._name(named)
            else:
                [table, *rest] = named
                self.columns = next((item for item in rest if isinstance(item, list)), [])
                self.tables[table] = table

    def _sources(self, held: Tree) -> None:
        source: Tree = []
        outer = False
        for item in [*held, ","]:
            if item not in (",", "join", "left", "outer", "inner", "cross", "natural"):
                source.append(item)
            elif source:
                named, *conditions = _split(source, "on")
                name = self._name(named)
                self.beside += [(name, each) for each in conditions if outer]
                self.conditions += [each for each in conditions if not outer]
                source, outer = [], item == "left"
            else:
                outer = outer or item == "left"

    def _name(self, source: Tree) -> str:
        words = [item for item in source if item != "as"]
        name = str(words[-1])
        if isinstance(words[0], str):
            self.tables[name] = words[0]
        return name

    def loose(self) -> list[str]:
        """Return the tables that are not tied to one cube, here and further inside."""
        tied = self._tied()
        found = [table for name, table in self.tables.items() if table in OF_CUBES and not tied[name]]
        inner = {**self.outer, **tied}
        return found + [table for tree in _inside(self.tree) for table in _loose(tree, inner)]

    def _tied(self) -> dict[str, bool]:
        """Tell which of the tables are tied to a cube, by the conditions that must hold."""
        if self.columns is not None:
            return dict.fromkeys(self.tables, "cube_key" in self.columns)
        groups = {name: {name} for name in self.tables}
        tied: set[str] = set()
        for one, other in self._equations(self.conditions):
            if one in groups and self._is_tied(other):
                tied.add(one)
            if one in groups and other in groups:
                both = groups[one] | groups[other]
                groups |= dict.fromkeys(both, both)
        tied = {name for name, group in groups.items() if group & tied}
        for name, condition in self.beside:
            sides = self._equations([condition])
            if any(one == name and (other in tied or self._is_tied(other)) for one, other in sides):
                tied.add(name)
        return {name: name in tied for name in self.tables}

    def _is_tied(self, side: str) -> bool:
        """Tell whether a side of an equation is a value, or the cube of a table outside that is tied."""
        return side == VALUE or (side not in self.tables and self.outer.get(side, False))

    def _equations(self, conditions: Sequence[Tree]) -> Iterator[tuple[str, str]]:
        """Yield what the cubes of tables are equal to, both ways: the names of tables, and values."""
        for condition in conditions:
            for sides in _equal(condition):
                one, other = (self._key(side) for side in sides)
                if one and other:
                    yield one, other
                    yield other, one

    def _key(self, side: Tree) -> str | None:
        """Return the name of the table whose cube a side of an equation is, or that it is a value."""
        match side:
            case [str(value)] if value == VALUE:
                return VALUE
            case [[*inner]]:
                return self._key(inner)
            case ["cast", [*inner, "as", str()]]:
                return self._key(inner)
            case [str(name), ".", str(column)]:
                wanted = "key" if self.tables.get(name) == "cube" else "cube_key"
                return name if column == wanted else None
            case ["cube_key"]:
                able = [name for name, table in self.tables.items() if table in BY_KEY]
                return able[0] if len(able) == 1 else None
            case _:
                return None


def _inside(tree: Tree) -> Iterator[Tree]:
    """Yield the statements in brackets, not those inside of them."""
    for item in tree:
        if isinstance(item, list):
            if item and item[0] in ("select", "with"):
                yield item
            else:
                yield from _inside(item)


def _equal(condition: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Yield the equations of a condition that must all hold."""
    flat = _without_cases(condition)
    if "or" in flat:
        return
    for part in _split(flat, "and"):
        if len(part) == 1 and isinstance(part[0], list):
            yield from _equal(part[0])
        for sign in ("=", "in"):
            if part.count(sign) == 1:
                at = part.index(sign)
                yield part[:at], part[at + 1 :]


def _without_cases(tree: Tree) -> Tree:
    """Leave out what stands between CASE and END."""
    kept: Tree = []
    depth = 0
    for item in tree:
        depth += item == "case"
        if not depth:
            kept.append(item)
        elif item == "end":
            depth -= 1
    return kept
