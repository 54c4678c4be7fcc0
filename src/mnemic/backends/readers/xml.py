"""XML of no kind that is known here: values with the path of elements that leads to them. No entity is resolved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.decoding import decoded_for
from mnemic.errors import ReadError
from mnemic.model.reading import BlockKind

if TYPE_CHECKING:
    from lxml.etree import _Element

_DECLARATION: Final = re.compile(r"\A\s*<\?xml[^>]*\?>")
_LINES: Final = 40
"""Lines of one block."""
_PROSE: Final = 0.3
"""Share of elements with words of their own beside elements, from which a text is prose with marks in it."""


def read(asked: Asked, telling: Telling) -> None:
    """Read XML. Raises `ReadError` for what is damaged, and for one whose entities refer to each other."""
    root = _root(asked.path.read_bytes(), telling)
    if root.getroottree().docinfo.internalDTD is not None and any(_entities(root)):
        telling.note("it declares entities of its own, which were not resolved")
    telling.title = next((_flat(each) for each in root.iter() if _name(each) == "title" and _flat(each)), "")
    lines = list(_lines(root, ""))
    for start in range(0, len(lines), _LINES):
        telling.block(BlockKind.LIST, "\n".join(lines[start : start + _LINES]))


def _root(raw: bytes, telling: Telling) -> _Element:
    """Return the root of XML; of XML that is damaged, as far as it goes, which is told."""
    from lxml import etree  # noqa: PLC0415 - the extra `documents`

    def parsed(given: bytes | str, *, recover: bool) -> _Element | None:
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
            remove_pis=True, recover=recover,
        )  # fmt: skip
        return etree.fromstring(given, parser)

    try:
        root = parsed(raw, recover=False)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        if re.search("amplification|entity reference loop", str(error), re.IGNORECASE):
            raise ReadError("its entities refer to each other, as those of bombs do") from error
        telling.note("it is not valid XML; what could be made out was read")
        text = _DECLARATION.sub("", decoded_for(telling, raw).replace("\0", "").lstrip("\ufeff \r\n\t"))
        root = parsed(text, recover=True) if text else None
    if root is None:
        raise ReadError("it is not valid XML, and nothing could be made out of it")
    return root


def _entities(root: _Element) -> Iterator[object]:
    dtd = root.getroottree().docinfo.internalDTD
    return iter(()) if dtd is None else dtd.iterentities()


def _lines(element: _Element, path: str) -> Iterator[str]:
    path = f"{path}/{_name(element)}" if path else _name(element)
    told = [f"{path}@{_local(name)}: {value.strip()}" for name, value in element.attrib.items() if value.strip()]
    yield from told
    children = [child for child in element if isinstance(child.tag, str)]
    if not children or _is_prose(element, children):
        if words := _flat(element):
            yield f"{path}: {words}"
        return
    for child in children:
        yield from _lines(child, path)


def _is_prose(element: _Element, children: list[_Element]) -> bool:
    between = [element.text or "", *(child.tail or "" for child in children)]
    return sum(1 for text in between if text.strip()) >= _PROSE * len(between)


def _flat(element: _Element) -> str:
    return " ".join("".join(map(str, element.itertext())).split())


def _name(element: _Element) -> str:
    return _local(str(element.tag))


def _local(name: str) -> str:
    return name.rsplit("}", 1)[-1]
