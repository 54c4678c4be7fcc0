"""What PostgreSQL says, in our words: each error with what to do next.

Once a connection stands, errors come with a code (https://www.postgresql.org/docs/current/errcodes-appendix.html).
Those of connecting have none: they are told apart by the server's words, which are English unless it was set up
otherwise. Neither passwords nor rows are told.
"""

from __future__ import annotations

from typing import Any, Final

from mnemic.errors import StoreError

_NOTHING: Final = "nothing of this call was stored"
_AWAY: Final = f"the PostgreSQL server at {{place}} is away; {_NOTHING}, try it again when the server is back"
_FULL: Final = f"the disk of the PostgreSQL server is full; {_NOTHING}, make room there and try it again"
_REFUSED: Final = "the PostgreSQL server at {place} refuses this role or its password; check them in `database_url`"
_NO_DATABASE: Final = "there is no such database at {place}; make it with `createdb`, or correct `database_url`"
_CROWDED: Final = (
    "the PostgreSQL server at {place} has no connection left; lower `database_connections` here or in other "
    "processes, or raise `max_connections` there"
)
_STARTING: Final = "the PostgreSQL server at {place} is starting up or shutting down; try it again in a moment"
_DAMAGED: Final = "the server's data is damaged; restore it from a backup, and see the server's log"
_SETUP: Final = "the server's tables are not as this version made them; `mnemic doctor` shows more"

_BY_CODE: Final = {
    "25006": f"the PostgreSQL server at {{place}} only reads (it may be a standby); {_NOTHING}, name the primary",
    "3D000": _NO_DATABASE,
    "40001": f"this call came into another's way; {_NOTHING}, try it again",
    "40P01": f"this call and another waited for each other; {_NOTHING}, try it again",
    "42501": "the role in `database_url` may not do this; let it own the database, or grant it what is missing",
    "53100": _FULL,
    "53200": f"the PostgreSQL server is out of memory; {_NOTHING}, try it again",
    "53300": _CROWDED,
    "55P03": f"another process held for a minute what this call needs; {_NOTHING}, try it again",
    "57014": f"the server cancelled the call, by `statement_timeout` or by hand; {_NOTHING}, try it again",
    "57P01": _AWAY,
    "57P02": _AWAY,
    "57P03": _STARTING,
    "57P05": _AWAY,
    "58030": "the PostgreSQL server cannot read or write its files; see its log",
}
_BY_CLASS: Final = {
    "08": _AWAY,
    "28": _REFUSED,
    "42": _SETUP,
    "53": f"the PostgreSQL server lacks what this call needs; {_NOTHING}, try it again",
    "XX": _DAMAGED,
}
_BY_WORDS: Final = (
    ("password authentication failed", _REFUSED),
    ("no password supplied", _REFUSED),
    ("no pg_hba.conf entry", _REFUSED),
    ("role ", _REFUSED),  # role "x" does not exist, is not permitted to log in
    ("database ", _NO_DATABASE),  # database "x" does not exist
    ("too many", _CROWDED),
    ("remaining connection slots", _CROWDED),
    ("starting up", _STARTING),
    ("shutting down", _STARTING),
    ("not yet accepting connections", _STARTING),
    ("in recovery mode", _STARTING),
    ("SSL", "the PostgreSQL server at {place} and `sslmode` in `database_url` do not agree"),
)
_OTHERWISE: Final = f"the store could not do it; {_NOTHING}"


def store_error(error: Any, place: str) -> StoreError:
    """Return ours for an error of the driver; `place` names the server without the password."""
    reason = reason_of(error)
    code = getattr(error, "sqlstate", None)
    if code is not None:
        advice = _BY_CODE.get(code) or _BY_CLASS.get(code[:2], _OTHERWISE)
    elif is_outage(error):
        advice = next((told for words, told in _BY_WORDS if words in reason.rpartition("FATAL:")[2]), _AWAY)
    else:
        advice = _OTHERWISE
    return StoreError(f"{advice.format(place=place)} ({reason})", reason=reason, code=code or "")


def reason_of(error: Any) -> str:
    """Return what the server or the driver says in its first line; the lines after it may quote rows."""
    told = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    return str(told).strip().partition("\n")[0]


def is_outage(error: Any) -> bool:
    """Tell whether an error says that a connection could not be made or is gone, not that a statement is wrong."""
    return (
        type(error).__name__ in ("OperationalError", "ConnectionTimeout") and getattr(error, "sqlstate", None) is None
    )


def is_starting(error: Any) -> bool:
    """Tell whether a server that could not be reached will be there in a moment."""
    return is_outage(error) and any(
        words in str(error) for words, told in _BY_WORDS if told is _STARTING and words != "shutting down"
    )
