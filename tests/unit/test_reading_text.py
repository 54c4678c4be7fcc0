"""Text of all kinds: plain, Markdown, JSON, JSON Lines, CSV; encodings; files without text."""

from __future__ import annotations

import json

import pytest

from mnemic.errors import ReadError
from mnemic.model.reading import BlockKind
from tests.unit.reading_here import kinds, of_kind, read_here


def test_plain_text_has_headings_paragraphs_and_lists() -> None:
    text = """Harbour
=======

The harbour was built in 1721 by merchants of the town, who paid for it with
a tax on salt and wine.

2.1 The lighthouse

Roses are red,
violets are blue.

- first
  goes on
- second
"""
    found = read_here(text.encode(), "harbour.txt")
    assert kinds(found) == [
        ("heading", "Harbour"),
        (
            "paragraph",
            "The harbour was built in 1721 by merchants of the town, who paid for it with a tax on salt and wine.",
        ),
        ("heading", "2.1 The lighthouse"),
        ("paragraph", "Roses are red,\nviolets are blue."),
        ("list", "- first goes on\n- second"),
    ]
    assert [block.level for block in of_kind(found, BlockKind.HEADING)] == [1, 2]
    assert found.title == "Harbour"


def test_form_feeds_part_pages() -> None:
    found = read_here(b"On page one.\n\fOn page two.\n\f", "rfc.txt")
    assert [(block.text, block.page) for block in found.blocks] == [("On page one.", 1), ("On page two.", 2)]
    assert found.pages == 2


def test_source_is_code_in_pieces_that_end_between_functions() -> None:
    source = "\n\n".join(f"def number_{at}():\n    return {at}\n\n    # {'x' * 200}" for at in range(60))
    found = read_here(source.encode(), "numbers.py")
    assert {block.kind for block in found.blocks} == {BlockKind.CODE}
    assert len(found.blocks) > 3
    assert all(block.text.startswith("def number_") for block in found.blocks)


CHINESE = "城市,人口\n北京,两千万人\n上海,我们的城市很大\n"
GERMAN = "Müller wohnt in Köln und hört gerne Bäche rauschen, später für Gäste."


@pytest.mark.parametrize(
    "encoding, name",
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-16", "UTF-16"),
        ("utf-16-be", "UTF-16-BE"),
        ("gb18030", "GB18030"),
    ],
)
def test_a_csv_is_read_in_the_encoding_that_it_has(encoding: str, name: str) -> None:
    content = CHINESE.encode(encoding) if encoding != "utf-16-be" else "city,people\nRome,3\nOslo,1\n".encode(encoding)
    found = read_here(content, "cities.csv")
    header, text = ("城市 | 人口", "北京 | 两千万人\n上海 | 我们的城市很大")
    if encoding == "utf-16-be":
        header, text = "city | people", "Rome | 3\nOslo | 1"
    assert [(block.header, block.text, block.row) for block in found.blocks] == [(header, text, 2)]
    assert (not name) or f"its characters were read as {name}" in found.notes


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le"])
def test_text_of_the_west_is_read_whatever_wrote_it(encoding: str) -> None:
    assert read_here(GERMAN.encode(encoding), "a.txt").text == GERMAN


def test_a_broken_byte_in_utf_8_is_damage_and_not_another_encoding() -> None:
    found = read_here(("ä" * 200).encode() + b"\xff" + ("ö" * 200).encode(), "a.txt")
    assert found.text == "ä" * 200 + "\ufffd" + "ö" * 200
    assert "1 of its characters could not be read" in found.notes


@pytest.mark.parametrize(
    "content, why",
    [
        (b"", "is empty"),
        (b" \n\t\r\n ", "has no text"),
        (b"\0" * 5_000, "no kind that is known|has no text"),
        (bytes(range(256)) * 40, "no kind that is known"),
    ],
)
def test_what_has_no_text_is_an_error(content: bytes, why: str) -> None:
    with pytest.raises(ReadError, match=why):
        read_here(content, "a.txt")


def test_blocks_have_no_control_characters_and_no_halves_of_characters() -> None:
    found = read_here(b"One\x00 two\x07 three.\r\nfour\rfive", "a.txt")
    assert found.text == "One two three.\nfour\nfive"


MARKDOWN = """---
title: "The harbour"
author: Ann Lee
tags: [sea, salt]
date: 2024-03-05
links:
  - one
---

# Harbour & *sea*

Some **bold** words and `code`, a [link](https://example.com/a) and
an ![anchor](anchor.png).

| Ship | Crew |
| ---- | ---: |
| Anna | 12 |
| Berta | 7 |

1. first
2. second
   - inner

```python
def crew():

    return 12
```

> Said the captain.

<div><script>alert(1)</script>kept</div>
"""


def test_markdown_has_its_structure_and_front_matter_is_metadata() -> None:
    found = read_here(MARKDOWN.encode(), "harbour.md")
    assert kinds(found) == [
        ("heading", "Harbour & sea"),
        ("paragraph", "Some bold words and code, a link and an anchor."),
        ("table", "Anna | 12\nBerta | 7"),
        ("list", "1. first\n2. second\n  - inner"),
        ("code", "def crew():\n\n    return 12"),
        ("paragraph", "Said the captain."),
        ("paragraph", "kept"),
    ]
    assert of_kind(found, BlockKind.TABLE)[0].header == "Ship | Crew"
    assert found.title == "The harbour"
    assert dict(found.metadata) == {"author": "Ann Lee", "keywords": "sea, salt", "date": "2024-03-05", "links": "one"}
    assert list(found.links) == ["https://example.com/a"]


def test_front_matter_in_toml_is_read_too_and_a_rule_is_none() -> None:
    assert read_here(b'+++\ntitle = "T"\nauthors = ["A", "B"]\n+++\nText.', "a.md").metadata == {"author": "A, B"}
    assert kinds(read_here(b"---\n\nText.\n\n---\n", "a.md")) == [("paragraph", "Text.")]


def test_json_is_paths_with_values_and_tables_of_like_objects() -> None:
    value = {
        "name": "harbour",
        "built": 1721,
        "place": {"town": "Husum", "at": [54.4, 9.0]},
        "ships": [{"ship": "Anna", "crew": 12}, {"ship": "Berta", "crew": None}],
        "log": [{"by": "Ann", "said": {"text": "hello"}}],
    }
    found = read_here(json.dumps(value).encode(), "a.json")
    assert kinds(found) == [
        ("list", "name: harbour\nbuilt: 1721"),
        ("list", "place.town: Husum\nplace.at: 54.4, 9.0"),
        ("caption", "ships"),
        ("table", "Anna | 12\nBerta | null"),
        ("list", "log[0].by: Ann\nlog[0].said.text: hello"),
    ]
    assert (of_kind(found, BlockKind.TABLE)[0].header, found.title) == ("ship | crew", "harbour")


def test_json_that_is_cut_off_or_commented_is_read_as_text_and_that_is_told() -> None:
    found = read_here(b'{"a": 1, // why\n "b": [1, 2', "a.json")
    assert (found.media, found.text) == ("text/plain", '{"a": 1, // why\n "b": [1, 2')
    assert "its name says that it is a JSON file" in found.notes[0]


def test_a_long_json_that_is_cut_off_says_where() -> None:
    content = json.dumps([{"word": f"word {at}"} for at in range(5_000)], indent=1).encode()
    with pytest.raises(ReadError, match=r"not valid JSON \(line \d+, column \d+\)"):
        read_here(content[:-2], "a.json")


def test_json_lines_keep_separators_inside_and_lines_that_are_none() -> None:
    lines = [
        json.dumps({"text": "one\u2028two\u2029three\x85four", "n": 1}, ensure_ascii=False),
        "",
        "[1, 2]",
        "{broken",
        '{"deep": {"key": "value"}}',
    ]
    found = read_here("\n".join(lines).encode(), "a.jsonl")
    assert [(block.text.split("\n"), block.row) for block in found.blocks] == [
        (["text: one two three four | n: 1", "1, 2", "{broken", "deep.key: value"], 1)
    ]
    assert any("the first is line 4" in note for note in found.notes)
    assert found.metadata["rows"] == "4"


def test_json_lines_of_one_shape_have_a_header_and_the_numbers_of_their_lines() -> None:
    rows = "\n".join(json.dumps({"id": at, "city": f"city {at}"}) for at in range(250))
    found = read_here(rows.encode(), "a.ndjson")
    assert [(block.header, block.row, block.text.count("\n") + 1) for block in found.blocks] == [
        ("id | city", 1, 100),
        ("id | city", 101, 100),
        ("id | city", 201, 50),
    ]


def test_a_notebook_is_its_text_and_code() -> None:
    book = {
        "nbformat": 4,
        "metadata": {"kernelspec": {"language": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# Ships\n", "Some text."]},
            {"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"]}}]},
        ],
    }
    found = read_here(json.dumps(book).encode(), "a.ipynb")
    assert kinds(found) == [("heading", "Ships"), ("paragraph", "Some text."), ("code", "1 + 1"), ("code", "2")]


def test_a_csv_keeps_rows_with_line_breaks_and_numbers_them_as_in_the_file() -> None:
    content = 'name;note\nAnn;"says\n""hi"""\n\nBob;plain\n'
    found = read_here(content.encode(), "a.csv")
    assert [(block.header, block.text, block.row) for block in found.blocks] == [
        ("name | note", 'Ann | says "hi"\nBob | plain', 2)
    ]
    assert found.metadata["delimiter"] == "semicolon"


def test_a_csv_without_a_header_keeps_its_first_row() -> None:
    found = read_here(b"1,2.5,x\n3,4.5,y\n", "a.csv")
    assert [(block.header, block.text, block.row) for block in found.blocks] == [("", "1 | 2.5 | x\n3 | 4.5 | y", 1)]


def test_a_long_csv_is_told_in_blocks_with_the_header_and_the_right_rows() -> None:
    content = "id,word\n" + "".join(f"{at},word{at}\n" for at in range(1, 1_001))
    found = read_here(content.encode(), "a.csv")
    assert {block.header for block in found.blocks} == {"id | word"}
    for block in found.blocks:
        assert block.row is not None
        assert block.text.startswith(f"{block.row - 1} | ")


def test_too_much_text_is_an_error_that_names_the_limit() -> None:
    with pytest.raises(ReadError, match="more than 1 MB of text"):
        read_here(b"words and words\n\n" * 100_000, "a.txt", text_megabytes=1)


def test_json_nested_beyond_measure_is_an_error_and_no_crash() -> None:
    with pytest.raises((ReadError, RecursionError)):
        read_here(b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "a.json")
