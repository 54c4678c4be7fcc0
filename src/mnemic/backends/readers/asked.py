"""What a child is asked to read, and how it tells what it finds: one JSON value a line.

    in   {"paths": […], "path": …, "limits": {…}, …}   what to read; see `Asked`
    out  {"at": [3, 12]}      page 3 of 12 is begun
         {"block": {…}}       a block, without the fields that have their default
         {"line": […]}        a line of words in a picture, when these are asked for
         {"said": […]}        a stretch of speech, when that is asked for
         {"end": {…}}         all is read: title, media, pages, metadata, links, notes
         {"failed": {…}}      it cannot be read: message and page

`Telling` keeps the limits of pages and text, so that no family of files has to think of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Protocol

from mnemic.backends.readers.kinds import TEXT, Kind
from mnemic.errors import ReadError
from mnemic.model.reading import Block, BlockKind
from mnemic.ports.reader import Limits

LINKS: Final = 1_000
"""Links that are kept of a file."""
NOTES: Final = 50
"""Notes that are kept: of a file with more faults than that, the rest says nothing new."""
_MEGABYTE: Final = 1 << 20
_FACT: Final = 2_000
"""Characters of one value of the metadata."""
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_TRAILING: Final = re.compile(r"[ \t]+\n")
_DEFAULTS: Final = {each.name: each.default for each in fields(Block)}


@dataclass(frozen=True, slots=True)
class Asked:
    """One file to read: where it lies, what it is called, its password, and the limits.

    `office` is the program of LibreOffice, empty where there is none; `folder` may be written to and is removed at the
    end. `only` is `lines` when only the words of a picture are wanted, `copies` or `plain` when copies of it are, and
    `speech` when what is said in a recording is. `depth` counts files inside files. `kind` is what it turned out to be.
    """

    path: Path
    name: str
    folder: Path
    media: str = ""
    password: str = field(default="", repr=False)
    limits: Limits = field(default_factory=Limits)
    office: str = ""
    only: str = ""
    depth: int = 0
    kind: Kind = TEXT

    def as_json(self) -> dict[str, Any]:
        """Return it as what is written to the child."""
        told = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "kind"}
        told["limits"] = {each.name: getattr(self.limits, each.name) for each in fields(self.limits)}
        return {**told, "path": str(self.path), "folder": str(self.folder)}

    @classmethod
    def of_json(cls, told: Mapping[str, Any]) -> Asked:
        """Return what was written."""
        known = {each.name: told[each.name] for each in fields(cls) if each.name != "kind"}
        paths = {name: Path(told[name]) for name in ("path", "folder")}
        return cls(**{**known, **paths, "limits": Limits(**told["limits"])})


class Tells(Protocol):
    """What parts of a family tell their blocks and links to."""

    def block(self, kind: BlockKind, text: str, **more: Any) -> None:
        """Tell a block; one without words is left out."""
        ...

    def link(self, address: str) -> None:
        """Keep a link to the web."""
        ...


class Telling:
    """What a family of files tells: blocks as they are read, and what is known at the end.

    `page` is the page that is being read, for errors. `heading` is the first of all: a title where there is no other.
    `part` is set by those that read parts; a block may name its own.
    """

    def __init__(self, write: Callable[[Mapping[str, Any]], None], limits: Limits) -> None:
        self._write = write
        self.limits = limits
        self.title = ""
        self.heading = ""
        self.media = ""
        self.page: int | None = None
        self.pages = 0
        self.part = ""
        self.facts: dict[str, str] = {}
        self.links: dict[str, None] = {}
        self.notes: dict[str, None] = {}
        self.blocks = 0
        self._left = limits.text_megabytes * _MEGABYTE

    def at(self, page: int, of: int) -> None:
        """Say which page is read now. Raises `ReadError` when there are more than may be."""
        if of > self.limits.pages:
            raise ReadError(f"it has {of:,} pages, and {self.limits.pages:,} are the limit (file_pages)", limit="pages")
        self.page, self.pages = page, of
        self._write({"at": [page, of]})

    def block(self, kind: BlockKind, text: str, **more: Any) -> None:
        """Tell a block; one without words is left out. Raises `ReadError` when there is too much text."""
        text = clean(text)
        if not text.strip():
            return
        more["header"] = clean(more.get("header", ""))
        more["part"] = "/".join(filter(None, (self.part, clean(more.get("part", "")))))
        self._left -= len(text.encode()) + len(more["header"])
        if self._left < 0:
            most = self.limits.text_megabytes
            raise ReadError(f"it holds more than {most} MB of text, which is the limit", page=self.page, limit="text")
        self.blocks += 1
        if kind is BlockKind.HEADING and not self.heading and not more["part"]:
            self.heading = text
        told = {name: value for name, value in more.items() if value != _DEFAULTS[name]}
        self._write({"block": {"kind": kind.value, "text": text, **told}})

    def line(self, text: str, confidence: float, box: tuple[float, float, float, float]) -> None:
        """Tell a line of words in a picture."""
        self._write({"line": [clean(text), confidence, list(box)]})

    def said(self, start: float, end: float, text: str) -> None:
        """Tell a stretch of speech."""
        self._write({"said": [start, end, clean(text)]})

    def note(self, text: str) -> None:
        """Tell people what was not read, or read otherwise."""
        if len(self.notes) < NOTES:
            self.notes[clean(text)] = None

    def fact(self, name: str, value: object) -> None:
        """Keep what the file says about itself; nothing is kept of what is empty."""
        text = " ".join(clean(str(value)).split())[:_FACT] if value is not None else ""
        if text:
            self.facts[name] = text

    def link(self, address: str) -> None:
        """Keep a link to the web."""
        address = clean(address).strip()
        if address.startswith(("http://", "https://")) and len(address) <= _FACT and len(self.links) < LINKS:
            self.links[address] = None

    def end(self) -> None:
        """Tell that all is read."""
        self._write(
            {
                "end": {
                    "title": " ".join(clean(self.title).split())[:500],
                    "media": self.media,
                    "pages": self.pages,
                    "metadata": self.facts,
                    "links": list(self.links),
                    "notes": list(self.notes),
                }
            }
        )

    def inside(self, part: str) -> Telling:
        """Return the telling of a file inside this one: its blocks are this one's, its title and pages are not."""
        inner = Telling(self._tell_inner, self.limits)
        inner.part = "/".join(filter(None, (self.part, part)))
        inner.links = self.links
        inner._left = self._left
        return inner

    def took(self, inner: Telling) -> None:
        """Take over what a file inside came to."""
        self._left = inner._left
        self.blocks += inner.blocks
        for note in inner.notes:
            self.note(f"{inner.part}: {note}")

    def _tell_inner(self, told: Mapping[str, Any]) -> None:
        if "block" in told:
            self._write(told)


def clean(text: str) -> str:
    """Return a text as blocks have it: no control characters, no halves of characters, lines end in a line feed."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))
    return _TRAILING.sub("\n", text).strip("\n").rstrip()
