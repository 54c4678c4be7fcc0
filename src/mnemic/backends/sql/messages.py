"""Sessions and messages in SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, func, insert, select, text, update

from mnemic.backends.sql import filters, rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.model.message import Page, Session, StoredMessage
from mnemic.model.moment import offset_minutes, to_micros
from mnemic.model.query import Filter
from mnemic.ports.store import SessionTail

_MESSAGES = select(s.message, s.session.c.name.label("session_name")).join(s.session)
_BY_ID = Prepared(
    _MESSAGES.where(s.message.c.cube_key == bindparam("cube"), s.message.c.id.in_(bindparam("ids", expanding=True))),
    lists=["ids"],
)
_SESSION = Prepared(
    select(s.session).where(s.session.c.cube_key == bindparam("cube"), s.session.c.name == bindparam("session"))
)
_LAST_PAGE = Prepared(
    select(s.page)
    .where(s.page.c.cube_key == bindparam("cube"), s.page.c.session_id == bindparam("session_id"))
    .order_by(s.page.c.position.desc())
    .limit(1)
)
_KNOWN = Prepared(
    select(s.message.c.dedupe, s.message.c.id).where(
        s.message.c.cube_key == bindparam("cube"),
        s.message.c.session_id == bindparam("session_id"),
        s.message.c.dedupe.in_(bindparam("keys", expanding=True)),
    ),
    lists=["keys"],
)
_NEW_SESSION = Prepared(insert(s.session))
_NEW_MESSAGE = Prepared(insert(s.message))
_END_SESSION = Prepared(
    update(s.session)
    .where(s.session.c.cube_key == bindparam("cube"), s.session.c.id == bindparam("session_id"))
    .values(messages=bindparam("count"), started_at=bindparam("started"), ended_at=bindparam("ended"))
)
_NEW_PAGE = Prepared(insert(s.page))
_GROW_PAGE = Prepared(
    update(s.page)
    .where(s.page.c.cube_key == bindparam("cube"), s.page.c.id == bindparam("page_id"))
    .values(
        replied=bindparam("has_reply"),
        messages=bindparam("count"),
        last_role=bindparam("role"),
        started_at=bindparam("started"),
        ended_at=bindparam("ended"),
    )
)
_EXTRACTED = (
    update(s.message)
    .where(s.message.c.cube_key == bindparam("cube"), s.message.c.id.in_(bindparam("ids", expanding=True)))
    .values(extracted=1)
)
_REFINED = (
    update(s.message)
    .where(s.message.c.cube_key == bindparam("cube"), s.message.c.id.in_(bindparam("ids", expanding=True)))
    .values(refined=bindparam("state"))
)
_CHUNK = 500  # ids in one statement


class SqlMessages:
    """Implements `ports.store.Messages`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def tail(self, cube_key: int, session: str, *, session_id: str, at: datetime) -> SessionTail:
        """Return the session's end, after creating the session under `session_id` when it is new."""
        row = _SESSION.first(self._connection, {"cube": cube_key, "session": session})
        if row is None:
            now = to_micros(at)
            values = {"id": session_id, "cube_key": cube_key, "name": session, "messages": 0}
            _NEW_SESSION.run(self._connection, {**values, "started_at": now, "ended_at": now})
            return SessionTail(Session(session_id, cube_key, session, 0, at, at), None)
        page = _LAST_PAGE.first(self._connection, {"cube": cube_key, "session_id": row.id})
        return SessionTail(rows.session(row), rows.page(page) if page else None)

    def known(self, cube_key: int, session_id: str, dedupe: Sequence[str]) -> Mapping[str, str]:
        """Return, for those of the keys that the session holds already, the ids of their messages."""
        found: dict[str, str] = {}
        for start in range(0, len(dedupe), _CHUNK):
            keys = list(dedupe[start : start + _CHUNK])
            held = _KNOWN.rows(self._connection, {"cube": cube_key, "session_id": session_id, "keys": keys})
            found.update({row.dedupe: row.id for row in held})
        return found

    def named_at(self, cube_key: int, session_id: str, times: Collection[datetime]) -> Sequence[StoredMessage]:
        """Return the messages of a session that came with an id of their own and were said at one of these times."""
        found: list[StoredMessage] = []
        asked = sorted({to_micros(each) for each in times})
        for start in range(0, len(asked), _CHUNK):
            query = _MESSAGES.where(
                s.message.c.cube_key == cube_key,
                s.message.c.session_id == session_id,
                s.message.c.dedupe.between("id:", "id;"),  # the keys of messages with an id, by the index on these
                s.message.c.said_at.in_(asked[start : start + _CHUNK]),
            )
            found += [rows.message(row) for row in self._connection.execute(query)]
        return found

    def known_in(self, cube_key: int, session: str, dedupe: Sequence[str]) -> Mapping[str, str]:
        """As `known`, by the session's name."""
        row = _SESSION.first(self._connection, {"cube": cube_key, "session": session})
        return self.known(cube_key, row.id, dedupe) if row else {}

    def append(self, messages: Sequence[tuple[StoredMessage, str]], pages: Sequence[Page], session: Session) -> None:
        """Store messages (each with its dedupe key), the pages that they make, and the session's new end."""
        grown = bool(pages) and _GROW_PAGE.run(self._connection, _page_change(pages[0])) == 1
        new = [_page_values(page) for page in (pages[1:] if grown else pages)]  # only the first can be older
        _NEW_PAGE.run_each(self._connection, new)
        _NEW_MESSAGE.run_each(self._connection, [_message_values(message, key) for message, key in messages])
        span = {"started": to_micros(session.started_at), "ended": to_micros(session.ended_at)}
        this = {"cube": session.cube_key, "session_id": session.id}
        _END_SESSION.run(self._connection, {**this, "count": session.messages, **span})

    def get(self, cube_key: int, ids: Sequence[str]) -> Mapping[str, StoredMessage]:
        """Return the messages with these ids, by id; ids of other cubes are absent."""
        found: dict[str, StoredMessage] = {}
        for start in range(0, len(ids), _CHUNK):
            chosen = {"cube": cube_key, "ids": list(ids[start : start + _CHUNK])}
            found.update((row.id, rows.message(row)) for row in _BY_ID.rows(self._connection, chosen))
        return found

    def list(
        self,
        cube_key: int,
        *,
        session: str | None = None,
        after: str | None = None,
        limit: int = 100,
        newest: bool = False,
    ) -> Sequence[StoredMessage]:
        """Return messages in order of id, after the given id; of one session when named. `newest` turns the order."""
        order = s.message.c.id.desc() if newest else s.message.c.id
        query = _MESSAGES.where(s.message.c.cube_key == cube_key).order_by(order).limit(limit)
        if session is not None:
            query = query.where(s.session.c.name == session)
        if after is not None:
            query = query.where(s.message.c.id < after if newest else s.message.c.id > after)
        return [rows.message(row) for row in self._connection.execute(query)]

    def around(self, cube_key: int, session_id: str, positions: Sequence[int]) -> Sequence[StoredMessage]:
        """Return the messages at these positions of a session, in order."""
        query = _MESSAGES.where(
            s.message.c.cube_key == cube_key,
            s.message.c.session_id == session_id,
            s.message.c.position.in_(list(positions)),
        ).order_by(s.message.c.position)
        return [rows.message(row) for row in self._connection.execute(query)]

    def last(self, cube_key: int, session: str, count: int) -> Sequence[StoredMessage]:
        """Return the newest messages of the session with that name, in order; none when there is no such session."""
        row = _SESSION.first(self._connection, {"cube": cube_key, "session": session})
        return self.around(cube_key, row.id, range(row.messages - count, row.messages)) if row else ()

    def find_matching(self, cube_key: int, where: Filter) -> set[str]:
        """Return the ids of all messages, memories and segments of the cube that a filter lets through."""
        return filters.matching(self._connection, cube_key, where)

    def sessions(self, cube_key: int) -> Sequence[Session]:
        """Return the sessions of a cube, oldest first."""
        query = (
            select(s.session).where(s.session.c.cube_key == cube_key).order_by(s.session.c.started_at, s.session.c.id)
        )
        return [rows.session(row) for row in self._connection.execute(query)]

    def to_extract(self, cube_key: int, limit: int) -> Sequence[StoredMessage]:
        """Return messages that extraction has not read yet, in order of id."""
        query = _MESSAGES.where(s.message.c.cube_key == cube_key, text("extracted = 0"))  # as the index says it
        return [rows.message(row) for row in self._connection.execute(query.order_by(s.message.c.id).limit(limit))]

    def set_extracted(self, cube_key: int, ids: Sequence[str]) -> None:
        """Mark messages as read by extraction."""
        for start in range(0, len(ids), _CHUNK):
            self._connection.execute(_EXTRACTED, {"cube": cube_key, "ids": list(ids[start : start + _CHUNK])})

    def to_refine(self, cube_key: int, limit: int) -> Sequence[StoredMessage]:
        """Return messages that no language model has read yet: the longest waiting, by session, in order."""
        mine = (s.message.c.cube_key == cube_key, text("refined = 0"))
        query = _MESSAGES.where(*mine).order_by(s.message.c.id).limit(limit)
        found = [rows.message(row) for row in self._connection.execute(query)]
        first = {message.session_id: place for place, message in reversed(list(enumerate(found)))}
        return sorted(found, key=lambda message: (first[message.session_id], message.position))

    def count_to_refine(self, cube_key: int) -> int:
        """Return how many messages no language model has read yet."""
        mine = (s.message.c.cube_key == cube_key, text("refined = 0"))
        return self._connection.scalar(select(func.count()).select_from(s.message).where(*mine)) or 0

    def set_refined(self, cube_key: int, ids: Sequence[str], *, given_up: bool = False) -> None:
        """Mark messages as read by a language model, or as given up: it could not make sense of them."""
        state = 2 if given_up else 1
        for start in range(0, len(ids), _CHUNK):
            some = {"cube": cube_key, "ids": list(ids[start : start + _CHUNK]), "state": state}
            self._connection.execute(_REFINED, some)


def _message_values(message: StoredMessage, dedupe: str) -> dict[str, object]:
    return {
        "id": message.id,
        "cube_key": message.cube_key,
        "session_id": message.session_id,
        "page_id": message.page_id,
        "position": message.position,
        "role": message.role.value,
        "speaker": message.speaker,
        "content": rows.to_json(message.content),
        "said_at": to_micros(message.said_at),
        "said_offset": offset_minutes(message.said_at),
        "stored_at": to_micros(message.stored_at),
        "external_id": message.external_id,
        "agent": message.agent,
        "metadata": rows.to_json(message.metadata) if message.metadata else None,
        "dedupe": dedupe,
        "extracted": 0,
    }


def _page_values(page: Page) -> dict[str, object]:
    return {
        "id": page.id,
        "cube_key": page.cube_key,
        "session_id": page.session_id,
        "position": page.position,
        "opened_by": page.opened_by,
        "replied": page.replied,
        "messages": page.messages,
        "last_role": page.last_role.value,
        "started_at": to_micros(page.started_at),
        "ended_at": to_micros(page.ended_at),
        "segment_id": None,
        "analysed": False,
    }


def _page_change(page: Page) -> dict[str, object]:
    return {
        "cube": page.cube_key,
        "page_id": page.id,
        "has_reply": page.replied,
        "count": page.messages,
        "role": page.last_role.value,
        "started": to_micros(page.started_at),
        "ended": to_micros(page.ended_at),
    }
