"""Messages with what came with them: one look at the store for many, and none for those that are words alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mnemic.core.described import read_text
from mnemic.model.attachment import Attachment
from mnemic.model.index import Entry, Vector
from mnemic.model.message import MessageRole, StoredMessage
from mnemic.model.moment import to_micros
from mnemic.model.parts import is_attached, media_parts
from mnemic.ports.store import Transaction
from mnemic.text import Trait, passages


def attachments_of(
    tx: Transaction, cube_key: int, messages: Iterable[StoredMessage]
) -> Mapping[str, tuple[Attachment, ...]]:
    """Return the attachments of messages, by the messages' ids; those that have none are absent."""
    ids = [each.id for each in messages if any(is_attached(part) for _, part in media_parts(each.content))]
    if not ids:
        return {}
    return {message: tuple(found) for message, found in tx.attachments.of_messages(cube_key, ids).items()}


def with_attachments(tx: Transaction, cube_key: int, messages: Sequence[StoredMessage]) -> list[StoredMessage]:
    """Return messages with their attachments."""
    found = attachments_of(tx, cube_key, messages)
    return [replace(each, attachments=found[each.id]) if each.id in found else each for each in messages]


def attachment_spans(attachment: Attachment) -> list[tuple[int, int]]:
    """Return the passages of what was read from an attachment; none when nothing was."""
    text = read_text(attachment)
    return passages(text) if text else []


def attachment_entries(
    message: StoredMessage,
    attachment: Attachment,
    spans: Sequence[tuple[int, int]],
    vectors: Sequence[Vector | None],
) -> list[Entry]:
    """Return the entries of what was read from an attachment: found as its message, of the version that it is.

    `start:end` are characters of `core.described.read_text`.
    """
    text = read_text(attachment)
    return [
        Entry(
            kind="message",
            owner=message.id,
            text=text[start:end],
            speaker=message.speaker,
            said_at=to_micros(message.said_at),
            vector=vector,
            version_id=attachment.id,
            session_id=message.session_id,
            position=message.position,
            start=start,
            end=end,
            traits=Trait.REPLY if message.role is MessageRole.ASSISTANT else 0,
        )
        for (start, end), vector in zip(spans, vectors, strict=True)
    ]
