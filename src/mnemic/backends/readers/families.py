"""Which module reads which kind of file; inside the child, where one is imported for the file at hand.

What goes wrong is told in words for people: a fault of a library by its name only, since its message may hold content.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, BinaryIO, Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.kinds import Kind, kind_by_name
from mnemic.backends.readers.sniffing import kind_of
from mnemic.errors import ReadError

_FAMILIES: Final[Mapping[str, str]] = {
    "pdf": "pdf",
    "docx": "word",
    "pptx": "slides",
    "xlsx": "sheets",
    "csv": "delimited",
    "tsv": "delimited",
    "html": "web",
    "xhtml": "web",
    "xml": "xml",
    "markdown": "marked",
    "text": "plain",
    "code": "plain",
    "json": "jsons",
    "jsonl": "jsons",
    "ipynb": "jsons",
    "epub": "epub",
    "eml": "mail",
    "picture": "pictures",
    "office": "office",
}
_EXTRAS: Final[Mapping[str, str]] = {
    "faster_whisper": "audio",
    "av": "audio",
    "PIL": "vision",
    "rapidocr": "vision",
    "cv2": "vision",
    "onnxruntime": "vision",
}
_DEPTH: Final = 1
"""How deep files inside files are read: what is attached to a mail, not what is attached to that."""


def answer(request: Mapping[str, Any], out: BinaryIO) -> None:
    """Read what is asked for and tell it. A fault that nobody expected is told by its name."""

    def write(what: Mapping[str, Any]) -> None:
        out.write(json.dumps(what).encode() + b"\n")
        if "block" not in what:
            out.flush()

    asked = Asked.of_json(request)
    telling = Telling(write, asked.limits)
    try:
        if asked.only == "lines":
            _lines(asked, telling)
        elif asked.only == "speech":
            importlib.import_module("mnemic.backends.readers.speech").tell(asked, telling)
        elif asked.only:
            _copies(asked, telling)
        else:
            read(asked, telling)
        telling.end()
    except ReadError as error:
        write({"failed": {"message": error.message, "page": error.page or telling.page}})
    except ImportError as error:
        write({"failed": {"message": _missing(error), "page": None}})
    except (MemoryError, RecursionError) as error:
        most = f"more than {asked.limits.memory_megabytes:,} MB of memory, which is the limit (read_megabytes)"
        why = f"it needs {most}" if isinstance(error, MemoryError) else "what is in it is nested too deeply"
        write({"failed": {"message": why, "page": telling.page}})
    except Exception as error:  # boundary: the process of one file; any library may raise anything of a damaged one
        fault = type(error).__name__
        write({"failed": {"message": f"it is damaged, or not what it seems to be ({fault})", "page": telling.page}})
        out.flush()
        raise SystemExit(1) from error


def read(asked: Asked, telling: Telling) -> None:
    """Read one file by its bytes. Raises `ReadError`, and what a damaged file makes a library raise."""
    kind = kind_of(asked.path, asked.name, asked.media)
    module = _FAMILIES.get(kind.name)
    if module is None:
        raise ReadError(f"it is {kind.told}, which is not read{kind.hint}")
    telling.media = kind.media
    _compare(asked, kind, telling)
    family: Callable[[Asked, Telling], None] = importlib.import_module(f"mnemic.backends.readers.{module}").read
    family(replace(asked, kind=kind), telling)
    telling.title = telling.title.strip() or telling.heading or PurePath(asked.name).stem or asked.name


def read_inside(asked: Asked, telling: Telling, content: bytes, name: str, media: str) -> bool:
    """Read a file that is inside another; tell whether that was possible. Why not becomes a note."""
    if asked.depth >= _DEPTH:
        telling.note(f"{name} was not read: files are read one level deep")
        return False
    path = asked.folder / f"inside-{len(list(asked.folder.iterdir()))}"  # its own name is never a path
    path.write_bytes(content)
    inner = telling.inside(name)
    given = Asked(
        path, name, asked.folder, media, limits=asked.limits, office=asked.office, depth=asked.depth + 1
    )  # fmt: skip
    try:
        read(given, inner)
    except ReadError as error:
        if error.fields.get("limit") == "text":
            raise
        telling.note(f"{name} was not read: {error.message}")
        return False
    except ImportError as error:
        telling.note(f"{name} was not read: {_missing(error)}")
        return False
    finally:
        telling.took(inner)
        path.unlink()
    return True


def _copies(asked: Asked, telling: Telling) -> None:
    kind = kind_of(asked.path, asked.name, asked.media)
    if kind.name != "picture":
        raise ReadError(f"it is {kind.told}, and no picture that is read{kind.hint}")
    from mnemic.backends.readers.examined import examine, plain  # noqa: PLC0415 - needs Pillow

    made = examine(asked.path, asked.folder) if asked.only == "copies" else plain(asked.path, asked.folder)
    for name, value in made.items():
        telling.fact(name, value)


def _lines(asked: Asked, telling: Telling) -> None:
    from mnemic.backends.readers.ocr import OcrWords  # noqa: PLC0415 - hundreds of milliseconds
    from mnemic.backends.readers.pictures import checked  # noqa: PLC0415 - needs Pillow

    kind = kind_of(asked.path, asked.name, asked.media)
    if kind.name != "picture":
        raise ReadError(f"it is {kind.told}, not a picture")
    checked(asked.path).close()
    for line in OcrWords().lines(asked.path):
        telling.line(line.text, line.confidence, line.box)


def _compare(asked: Asked, kind: Kind, telling: Telling) -> None:
    """Tell when the name says something else than the bytes."""
    named = kind_by_name(asked.name)
    if named is not None and named.media != kind.media and {named.name, kind.name} not in _ALIKE:
        telling.note(f"its name says that it is {named.told}; by its content it is {kind.told}, and was read as that")


_ALIKE: Final = ({"text", "code"}, {"html", "xhtml"}, {"xml", "xhtml"}, {"xml", "text"}, {"csv", "tsv"}, {"text"})


def _missing(error: ImportError) -> str:
    package = (error.name or "a package").split(".")[0]
    extra = _EXTRAS.get(package, "documents")
    return f"the package {package} is needed to read it: pip install 'mnemic[{extra}]'"
