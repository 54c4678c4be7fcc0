"""One entry of somebody else's JSON file is changed, and everything else stays to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.shells.mcp.json_edit import NotPlainError, member_at, member_put, member_taken

PATH = ("mcpServers", "mnemic")
ENTRY = {"command": "python", "args": ["-m", "mnemic"]}

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))
NAMES = st.text().filter(lambda name: name not in PATH)
FILES = st.builds(
    lambda before, servers, after: {**before, **({} if servers is None else {"mcpServers": servers}), **after},
    st.dictionaries(NAMES, VALUES, max_size=3),
    st.none() | st.dictionaries(NAMES, VALUES, max_size=3),
    st.dictionaries(NAMES, VALUES, max_size=3),
)
LAYOUTS = st.sampled_from([
    {}, {"separators": (",", ":")}, {"indent": 2}, {"indent": 4}, {"indent": "\t"},
    {"indent": 2, "ensure_ascii": False},
])  # fmt: skip


@given(FILES, LAYOUTS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff", "\n "]))
def test_an_entry_put_in_and_taken_out_leaves_the_text_as_it_was(
    values: dict[str, Any], layout: dict[str, Any], line: str, front: str
) -> None:
    text = front + json.dumps(values, **layout).replace("\n", line) + line
    put = member_put(text, PATH, ENTRY)
    found = json.loads(put.removeprefix("\ufeff"))
    assert found["mcpServers"].pop("mnemic") == ENTRY
    found = found if "mcpServers" in values else {name: each for name, each in found.items() if name != "mcpServers"}
    assert found == values
    assert member_put(put, PATH, ENTRY) == put
    assert member_at(put, PATH) == ENTRY
    taken = member_taken(put, PATH)
    if values.get("mcpServers"):
        assert taken == text
    assert json.loads(taken.removeprefix("\ufeff")).get("mcpServers", {}) == values.get("mcpServers", {})


@given(FILES, LAYOUTS)
def test_everything_around_an_entry_stays_where_it_stands(values: dict[str, Any], layout: dict[str, Any]) -> None:
    text = json.dumps(values, **layout)
    put = member_put(text, PATH, ENTRY)
    front = next((at for at, (one, other) in enumerate(zip(text, put, strict=False)) if one != other), len(text))
    rest = len(text) - front
    kept = next(size for size in range(rest, -1, -1) if size == 0 or put.endswith(text[len(text) - size :]))
    assert not text[front : len(text) - kept].strip()  # at most blanks of an empty object make room


def test_it_is_laid_out_as_the_file_is() -> None:
    text = (
        '{\n    "theme": "dark",\n    "mcpServers": {\n        "other": {"command": "x"}\n    },\n    "zoom": 1.0\n}\n'
    )
    assert member_put(text, PATH, {"command": "y"}) == (
        '{\n    "theme": "dark",\n    "mcpServers": {\n        "other": {"command": "x"},\n        "mnemic": {\n'
        '            "command": "y"\n        }\n    },\n    "zoom": 1.0\n}\n'
    )
    assert member_put("{}", PATH, {"a": 1}) == '{\n  "mcpServers": {\n    "mnemic": {\n      "a": 1\n    }\n  }\n}'
    assert json.loads(member_put("", PATH, ENTRY)) == {"mcpServers": {"mnemic": ENTRY}}
    assert member_put('{"a":1}', PATH, {"b": 2}) == '{"a":1, "mcpServers": {"mnemic": {"b": 2}}}'


def test_an_entry_that_is_there_is_replaced_where_it_stands() -> None:
    text = '{"mcpServers": {"a": 1, "mnemic": {"command": "old"}, "b": [1.50, 1e3]}}'
    assert member_put(text, PATH, {"c": 1}) == '{"mcpServers": {"a": 1, "mnemic": {"c": 1}, "b": [1.50, 1e3]}}'
    assert member_taken(text, PATH) == '{"mcpServers": {"a": 1, "b": [1.50, 1e3]}}'
    assert member_taken('{"mcpServers": {"mnemic": 1, "b": 2}}', PATH) == '{"mcpServers": {"b": 2}}'
    assert member_taken('{"mcpServers": {"mnemic": 1}}', PATH) == '{"mcpServers": {}}'
    assert member_taken('{"mcpServers": {}}', PATH) == '{"mcpServers": {}}'
    assert member_taken("{}", PATH) == "{}" and member_taken("", PATH) == ""


@pytest.mark.parametrize(
    "text, told",
    [
        ("// mine\n{}", "comments"),
        ('{\n  "a": 1, // mine\n}', "comments"),
        ('{"a": 1 /* mine */}', "comments"),
        ('{"a": 1,}', "not valid JSON"),
        ("{", "not valid JSON"),
        ("[]", "no JSON object"),
        ('"text"', "no JSON object"),
        ('{"mcpServers": []}', "no JSON object"),
        ('{"mcpServers": null}', "no JSON object"),
        ('{"mcpServers": {}, "mcpServers": {}}', "twice"),
        ('{"mcpServers": {"mnemic": 1, "mnemic": 2}}', "twice"),
        ("{}{}", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str, told: str) -> None:
    with pytest.raises(NotPlainError, match=told):
        member_put(text, PATH, ENTRY)
    with pytest.raises(NotPlainError, match=told):
        member_taken(text, PATH)
