"""Markdown: its structure as CommonMark has it, with tables; front matter becomes metadata."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.decoding import decoded_for
from mnemic.backends.readers.rows import tell_table
from mnemic.model.reading import BlockKind

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

_YAML: Final = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML: Final = re.compile(r"\A\+\+\+[ \t]*\n(.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD: Final = re.compile(r"([A-Za-z_][\w .-]*):(?:[ \t]+(.*)|[ \t]*)")
_TAG: Final = re.compile(r"<[^>]*>")
_HIDDEN: Final = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_NAMES: Final = {"lang": "language", "authors": "author", "tags": "keywords", "updated": "modified"}


def read(asked: Asked, telling: Telling) -> None:
    """Read a Markdown file."""
    text = decoded_for(telling, asked.path.read_bytes()).replace("\r\n", "\n").lstrip("\ufeff")
    rest, facts = _front(text)
    for name, value in facts.items():
        if name.lower() == "title":
            telling.title = value
        else:
            telling.fact(_NAMES.get(name.lower(), name.lower()), value)
    tell_markdown(telling, rest)


def tell_markdown(telling: Telling, text: str) -> None:
    """Tell the blocks of a Markdown text."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - for Markdown only
    from markdown_it.tree import SyntaxTreeNode  # noqa: PLC0415

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for node in SyntaxTreeNode(parser.parse(text)).children:
        _tell(telling, node)


def _tell(telling: Telling, node: SyntaxTreeNode) -> None:
    if node.type == "heading":
        words = _inline(telling, node)
        level = int(node.tag[1])
        if level == 1 and not telling.title:
            telling.title = words
        telling.block(BlockKind.HEADING, words, level=level)
    elif node.type in ("fence", "code_block"):
        telling.block(BlockKind.CODE, node.content)
    elif node.type in ("bullet_list", "ordered_list"):
        _tell_list(telling, node)
    elif node.type == "table":
        tell_table(telling, [[_inline(telling, cell) for cell in row.children] for row in _rows(node)], named=True)
    elif node.type == "blockquote":
        for child in node.children:
            _tell(telling, child)
    elif node.type == "html_block":
        telling.block(BlockKind.PARAGRAPH, _bare(node.content))
    elif node.type == "paragraph":
        telling.block(BlockKind.PARAGRAPH, _inline(telling, node))


def _rows(table: SyntaxTreeNode) -> Iterator[SyntaxTreeNode]:
    for part in table.children:
        yield from part.children


def _tell_list(telling: Telling, node: SyntaxTreeNode) -> None:
    """Tell a list with the lists in it; code and tables that stand in it follow it."""
    later: list[SyntaxTreeNode] = []
    telling.block(BlockKind.LIST, "\n".join(_items(telling, node, "", later)))
    for each in later:
        _tell(telling, each)


def _items(telling: Telling, node: SyntaxTreeNode, indent: str, later: list[SyntaxTreeNode]) -> Iterator[str]:
    start = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else 0
    for at, item in enumerate(node.children):
        mark = f"{start + at}." if node.type == "ordered_list" else "-"
        words: list[str] = []
        inner: list[str] = []
        for child in item.children:
            if child.type in ("bullet_list", "ordered_list"):
                inner += _items(telling, child, indent + "  ", later)
            elif child.type in ("fence", "code_block", "table"):
                later.append(child)
            else:
                words.append(_inline(telling, child))
        yield f"{indent}{mark} {' '.join(filter(None, words))}"
        yield from inner


def _inline(telling: Telling, node: SyntaxTreeNode) -> str:
    return " ".join("".join(_words(telling, node)).split())


def _words(telling: Telling, node: SyntaxTreeNode) -> Iterator[str]:
    if node.type == "link":
        telling.link(str(node.attrs.get("href", "")))
    if node.type in ("text", "code_inline"):
        yield node.content
    elif node.type in ("softbreak", "hardbreak"):
        yield " "
    elif node.type == "html_inline":
        yield ""
    elif node.type == "image":
        yield node.content
    else:
        for child in node.children:
            yield from _words(telling, child)
            if node.type in ("blockquote", "list_item"):
                yield " "


def _bare(html: str) -> str:
    import html as entities  # noqa: PLC0415 - for HTML inside Markdown only

    return " ".join(entities.unescape(_TAG.sub(" ", _HIDDEN.sub(" ", html))).split())


def _front(text: str) -> tuple[str, Mapping[str, str]]:
    """Return the text without its front matter, and what that says: plain fields and lists; deeper ones as they are."""
    if found := _TOML.match(text):
        try:
            told = tomllib.loads(found[1])
        except tomllib.TOMLDecodeError:
            return text, {}
        return text[found.end() :], {name: _shown(value) for name, value in told.items()}
    if found := _YAML.match(text):
        fields = _fields(found[1].split("\n"))
        if fields:
            return text[found.end() :], fields
    return text, {}


def _fields(lines: Sequence[str]) -> Mapping[str, str]:
    """Read the part of YAML that front matter is written in: no library of YAML, and none of its tricks."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field:
            name = field[1]
            found[name] = [_unquoted(field[2] or "")]
        elif name and line.strip() and not line.lstrip().startswith("#"):
            found[name].append(_unquoted(line.strip().removeprefix("- ")))
    return {name: ", ".join(part for part in parts if part not in ("", "|", ">")) for name, parts in found.items()}


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    if value.startswith("[") and value.endswith("]"):
        return ", ".join(_unquoted(part) for part in value[1:-1].split(","))
    return value


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
