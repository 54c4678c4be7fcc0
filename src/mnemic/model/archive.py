"""The layout of an exported cube (format `mnemic-1`): which records there are, in which order, with which fields.

One JSON object a line. The first is the header; each of the others names its kind as `type`. Times are ISO 8601 with
a zone, vectors and centroids base64 of little-endian floats (16 and 32 bits). Ids, and what is looked up by, are
bounded: an index of PostgreSQL holds 2,704 bytes. A file comes in parts of at most `PART` bytes, one a line, in order.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mnemic.model.attachment import AttachmentKind, AttachmentState
from mnemic.model.document import ChunkKind, DocumentState, Origin
from mnemic.model.memory import Change, MemoryKind
from mnemic.model.message import MessageRole

FORMAT: Final = "mnemic-1"

PART: Final = 720_000
"""Bytes of a file in a line: less than a megabyte as base64."""

Record = Mapping[str, Any]
"""One thing of a cube: field names to values as they are inside (times are datetimes, vectors bytes)."""


class FieldType(enum.Enum):
    """What a field holds."""

    ID = "an id"
    KEY = "an id of at most 500 bytes"
    NAME = "a string of at most 520 characters"
    TEXT = "a string"
    COUNT = "a whole number from 0"
    NUMBER = "a number"
    SIZE = "a number of bytes"
    POLARITY = "1 or -1"
    SHARE = "a number from 0 to 1"
    FLAG = "true or false"
    TIME = "a time in ISO 8601 with a zone"
    SPAN = "a span: [start, end, grain, words]"
    JSON = "a JSON value"
    CONTENT = "a message's content"
    OBJECT = "an object"
    WORDS = "a list of strings"
    BYTES = "base64"
    VECTORS = "a list of base64 or null"
    CHOICE = "one of the known words"
    RECORDS = "a list of objects"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record; `of` names the kind of record that a list holds, `to` the kind that an id refers to."""

    name: str
    type: FieldType
    optional: bool = False
    choices: tuple[str, ...] = ()
    of: str = ""
    to: str = ""


_T = FieldType


def _time(name: str, *, optional: bool = False) -> Field:
    return Field(name, _T.TIME, optional)


def _words_of(kinds: type[enum.StrEnum]) -> tuple[str, ...]:
    return tuple(kind.value for kind in kinds)


LAYOUT: Final[Mapping[str, tuple[Field, ...]]] = {
    "session": (
        Field("id", _T.KEY),
        Field("name", _T.ID),
        Field("messages", _T.COUNT),
        _time("started_at"),
        _time("ended_at"),
    ),
    "segment": (
        Field("id", _T.KEY),
        Field("title", _T.TEXT, optional=True),
        Field("summary", _T.TEXT),
        Field("described", _T.COUNT, optional=True),
        Field("keywords", _T.WORDS),
        Field("centroid", _T.BYTES),
        Field("pages", _T.COUNT),
        Field("visits", _T.COUNT),
        _time("started_at"),
        _time("ended_at"),
        _time("touched_at"),
        Field("archived", _T.FLAG),
    ),
    "page": (
        Field("id", _T.KEY),
        Field("session_id", _T.KEY, to="session"),
        Field("position", _T.COUNT),
        Field("opened_by", _T.TEXT),
        Field("replied", _T.FLAG),
        Field("messages", _T.COUNT),
        Field("last_role", _T.CHOICE, choices=_words_of(MessageRole)),
        _time("started_at"),
        _time("ended_at"),
        Field("segment_id", _T.KEY, optional=True, to="segment"),
        Field("chain_id", _T.KEY, optional=True),
        Field("analysed", _T.FLAG),
    ),
    "message": (
        Field("id", _T.KEY),
        Field("session_id", _T.KEY, to="session"),
        Field("page_id", _T.KEY, optional=True, to="page"),
        Field("position", _T.COUNT),
        Field("role", _T.CHOICE, choices=_words_of(MessageRole)),
        Field("speaker", _T.TEXT),
        Field("content", _T.CONTENT),
        _time("said_at"),
        _time("stored_at"),
        Field("external_id", _T.ID, optional=True),
        Field("agent", _T.ID, optional=True),
        Field("metadata", _T.OBJECT, optional=True),
        Field("dedupe", _T.NAME),
        Field("extracted", _T.FLAG),
        Field("refined", _T.COUNT, optional=True),
        Field("vectors", _T.VECTORS, optional=True),
    ),
    "memory": (
        Field("id", _T.KEY),
        Field("kind", _T.CHOICE, choices=_words_of(MemoryKind)),
        Field("subject", _T.TEXT),
        Field("attribute", _T.NAME),
        Field("value_key", _T.TEXT),
        Field("locked", _T.FLAG),
        _time("created_at"),
        Field("versions", _T.RECORDS, of="version"),
    ),
    "entity": (
        Field("id", _T.KEY),
        Field("name", _T.TEXT),
        Field("kind", _T.NAME),
        _time("created_at"),
        Field("mentions", _T.RECORDS, of="mention"),
    ),
    "relation": (
        Field("kind", _T.KEY),
        Field("from_id", _T.KEY),
        Field("to_id", _T.KEY),
        _time("created_at"),
    ),
    "blob": (
        Field("digest", _T.KEY),
        Field("size", _T.SIZE),
        _time("stored_at"),
        Field("part", _T.COUNT),
        Field("data", _T.BYTES),
    ),
    "document": (
        Field("id", _T.KEY),
        Field("name", _T.TEXT),
        Field("origin", _T.CHOICE, choices=_words_of(Origin)),
        Field("address", _T.TEXT),
        Field("metadata", _T.OBJECT, optional=True),
        _time("created_at"),
        Field("refresh_hours", _T.NUMBER, optional=True),
        _time("refresh_due", optional=True),
        _time("checked_at", optional=True),
        Field("etag", _T.TEXT),
        Field("modified", _T.TEXT),
        Field("found", _T.TEXT),
    ),
    "document_version": (
        Field("id", _T.KEY),
        Field("document_id", _T.KEY),
        Field("number", _T.COUNT),
        Field("state", _T.CHOICE, choices=_words_of(DocumentState)),
        _time("stored_at"),
        Field("digest", _T.TEXT),
        Field("size", _T.SIZE),
        Field("media", _T.TEXT),
        Field("title", _T.TEXT),
        Field("summary", _T.TEXT),
        Field("pages", _T.COUNT),
        Field("done_pages", _T.COUNT),
        Field("chunks", _T.COUNT),
        Field("embedded", _T.COUNT),
        Field("reused", _T.COUNT),
        _time("valid_from", optional=True),
        _time("valid_to", optional=True),
        _time("ready_at", optional=True),
        Field("error", _T.TEXT),
        Field("error_page", _T.COUNT, optional=True),
        Field("seconds", _T.OBJECT, optional=True),
        Field("metadata", _T.OBJECT, optional=True),
        Field("notes", _T.WORDS, optional=True),
    ),
    "chunk": (
        Field("id", _T.KEY),
        Field("document_id", _T.KEY),
        Field("kind", _T.CHOICE, choices=_words_of(ChunkKind)),
        Field("text", _T.TEXT),
        Field("hash", _T.KEY),
        Field("tokens", _T.COUNT),
        Field("vectors", _T.VECTORS, optional=True),
    ),
    "chunk_place": (
        Field("version_id", _T.KEY),
        Field("chunk_id", _T.KEY),
        Field("position", _T.COUNT),
        Field("parent", _T.KEY, optional=True),
        Field("headings", _T.WORDS),
        Field("page", _T.COUNT, optional=True),
        Field("last_page", _T.COUNT, optional=True),
        Field("row", _T.COUNT, optional=True),
        Field("part", _T.TEXT),
        Field("start", _T.COUNT),
        Field("end", _T.COUNT),
    ),
    "attachment": (
        Field("id", _T.KEY),
        Field("message_id", _T.KEY),
        Field("part", _T.COUNT),
        Field("kind", _T.CHOICE, choices=_words_of(AttachmentKind)),
        Field("state", _T.CHOICE, choices=_words_of(AttachmentState)),
        Field("digest", _T.TEXT),
        Field("size", _T.SIZE),
        Field("media", _T.TEXT),
        Field("name", _T.TEXT),
        Field("caption", _T.TEXT),
        Field("text", _T.TEXT),
        Field("description", _T.TEXT),
        Field("seen", _T.OBJECT, optional=True),
        Field("thumbnail", _T.TEXT),
        _time("taken_at", optional=True),
        Field("latitude", _T.NUMBER, optional=True),
        Field("longitude", _T.NUMBER, optional=True),
        Field("error", _T.TEXT),
        Field("vectors", _T.VECTORS, optional=True),
    ),
}
"""The fields of each kind of line; the kinds stand in the order that they come in."""

NESTED: Final[Mapping[str, tuple[Field, ...]]] = {
    "version": (
        Field("id", _T.KEY),
        Field("number", _T.COUNT),
        Field("text", _T.TEXT),
        Field("value", _T.TEXT),
        Field("polarity", _T.POLARITY),
        _time("valid_from"),
        _time("valid_to", optional=True),
        Field("time", _T.SPAN, optional=True),
        _time("recorded_at"),
        Field("confidence", _T.SHARE),
        Field("change", _T.CHOICE, choices=_words_of(Change)),
        Field("drawn_by", _T.TEXT, optional=True),
        Field("reason", _T.TEXT, optional=True),
        Field("vector", _T.BYTES, optional=True),
        Field("sources", _T.RECORDS, of="source"),
    ),
    "mention": (
        Field("message_id", _T.KEY, to="message"),
        Field("quote", _T.TEXT),
    ),
    "source": (
        Field("message_id", _T.KEY, to="message"),
        Field("quote", _T.TEXT),
        _time("holds_from", optional=True),
        _time("holds_to", optional=True),
    ),
}
"""The records that stand inside others."""

KINDS: Final = tuple(LAYOUT)

SHELVED: Final = KINDS[KINDS.index("blob") :]
"""The kinds that only cubes with files have: a header tells no counts of them where there are none."""
