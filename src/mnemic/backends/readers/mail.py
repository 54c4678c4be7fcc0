"""Mails (EML): headers, the body as plain text or HTML, and attached files, which are read one level deep."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from datetime import datetime
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.decoding import decoded
from mnemic.backends.readers.families import read_inside
from mnemic.backends.readers.plain import tell_text
from mnemic.errors import ReadError
from mnemic.model.reading import BlockKind

_SHOWN: Final = ("from", "to", "cc", "date")
_FACTS: Final = {"from": "author", "to": "to", "cc": "cc", "message-id": "message_id", "in-reply-to": "in_reply_to"}
_ATTACHED: Final = 50
"""Attached files that are read."""
_PARTS: Final = 500
"""Parts of a mail that are looked at."""


def read(asked: Asked, telling: Telling) -> None:
    """Read a mail. Raises `ReadError` for one without headers."""
    raw = asked.path.read_bytes()
    if raw.startswith(b"From ") and b"\n" in raw:
        raw = raw.split(b"\n", 1)[1]
    message = email.message_from_bytes(raw, policy=email.policy.default)
    assert isinstance(message, EmailMessage)  # noqa: S101 - what the policy makes
    if not message.keys():
        raise ReadError("it is no mail: it has no headers")
    _tell_headers(telling, message)
    body = _body(message)
    if body is not None:
        _tell_body(telling, body)
    attached = [part for part in _attached(message) if part is not body]
    names = [_name(part, number) for number, part in enumerate(attached, start=1)]
    telling.fact("attachments", ", ".join(names))
    for part, name in list(zip(attached, names, strict=True))[:_ATTACHED]:
        telling.block(BlockKind.CAPTION, f"Attached: {name}", part=name)
        read_inside(asked, telling, _content(part), name, part.get_content_type())
    if len(attached) > _ATTACHED:
        telling.note(f"{len(attached)} files are attached, the first {_ATTACHED} were read")


def _tell_headers(telling: Telling, message: EmailMessage) -> None:
    telling.title = _header(message, "subject")
    telling.block(BlockKind.HEADING, telling.title, level=1)
    lines = [f"{name.capitalize()}: {value}" for name in _SHOWN if (value := _header(message, name))]
    telling.block(BlockKind.PARAGRAPH, "\n".join(lines))
    for name, known in _FACTS.items():
        telling.fact(known, _header(message, name))
    if (sent := _sent(message)) is not None:
        telling.fact("created", sent.isoformat())


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = message.get(name)
    except (ValueError, IndexError, LookupError, AttributeError, TypeError):  # the library falls over some of them
        return ""
    return "" if value is None else " ".join(str(value).split())


def _sent(message: EmailMessage) -> datetime | None:
    try:
        return parsedate_to_datetime(_header(message, "date"))
    except (ValueError, TypeError, IndexError):
        return None


def _body(message: EmailMessage) -> EmailMessage | None:
    """Return the part that is the mail's text: plain where it is there, HTML otherwise."""
    try:
        part = message.get_body(preferencelist=("plain", "html"))
    except (AttributeError, KeyError, ValueError):
        part = None
    if part is not None:
        return part if isinstance(part, EmailMessage) else None
    return next((each for each in _leaves(message) if each.get_content_maintype() == "text"), None)


def _tell_body(telling: Telling, part: EmailMessage) -> None:
    text = _text(part)
    if part.get_content_subtype() == "html":
        from mnemic.backends.readers.tree import Walk, parsed  # noqa: PLC0415 - the extra `documents`

        Walk(telling).tell(parsed(text).find("body"))
    else:
        tell_text(telling, text)


def _text(part: EmailMessage) -> str:
    raw = _content(part)
    try:
        return raw.decode(part.get_content_charset() or "utf-8")
    except (LookupError, UnicodeDecodeError):
        return decoded(raw)[0]


def _content(part: EmailMessage) -> bytes:
    if part.get_content_maintype() == "message":
        inner = part.get_payload()
        return (
            b"".join(each.as_bytes() for each in inner if isinstance(each, EmailMessage))
            if isinstance(inner, list)
            else str(inner).encode()
        )
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _leaves(message: EmailMessage) -> Iterator[EmailMessage]:
    """Yield parts that hold no others; a mail that is attached is one."""
    waiting = [message]
    for _ in range(_PARTS):
        if not waiting:
            return
        part = waiting.pop(0)
        if part.is_multipart() and part.get_content_maintype() != "message":
            inner = part.get_payload()
            waiting[:0] = [each for each in inner if isinstance(each, EmailMessage)] if isinstance(inner, list) else []
        else:
            yield part


def _attached(message: EmailMessage) -> Iterator[EmailMessage]:
    for part in _leaves(message):
        shown = part.get_content_disposition() == "attachment" or part.get_filename() is not None
        if shown or part.get_content_maintype() not in ("text", "multipart"):
            yield part


def _name(part: EmailMessage, number: int) -> str:
    """Return what an attached file is called: a name to show, never a path."""
    name = " ".join((part.get_filename() or "").split()).replace("\\", "/").rsplit("/", 1)[-1]
    return name[:200] or f"attachment {number}"
