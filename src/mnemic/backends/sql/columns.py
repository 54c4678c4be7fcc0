"""What the tables are made of: their metadata, kinds of columns, and references inside a cube.

Apart from the tables, so that these can stand in several files and still be one schema (`schema`).
"""

from __future__ import annotations

import re
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    SmallInteger,
    Text,
    TypeDecorator,
    text,
)

from mnemic.ids import content_hash

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_SHORT: Final = 100  # characters, of 4 bytes at most
_CUT: Final = re.compile(f".{{{_SHORT}}}\u2026[0-9a-f]{{32}}", re.DOTALL)
Key = BigInteger().with_variant(Integer, "sqlite")


FOLDED: Final = "folded"
"""In a column's `info`: the column of which it holds the words, folded."""


class Words(TypeDecorator[str]):
    """Text that was derived from what people wrote: what an engine cannot hold becomes U+FFFD.

    That is lone surrogates everywhere, and NUL on PostgreSQL.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """Return what the engine can hold."""
        return None if value is None else self.held(value, dialect.name)

    def held(self, value: str, engine: str) -> str:
        """Return what is left of words in an engine; what is left of that is the same again."""
        if "\0" in value and engine == "postgresql":
            value = value.replace("\0", "\ufffd")
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Sought(Words):
    """Words that are compared and never shown: those of another column, folded, which its `info` names.

    PostgreSQL's indexes hold 2,704 bytes: there, what is long is cut, and the hash of all of it put behind.
    """

    cache_ok = True

    def held(self, value: str, engine: str) -> str:
        """Return what an index of the engine can hold."""
        found = super().held(value, engine)
        if engine != "postgresql" or len(found.encode()) <= 4 * _SHORT or _CUT.fullmatch(found):
            return found
        return f"{found[:_SHORT]}\u2026{content_hash(found)}"


def of_cube() -> Column[int]:
    """Return the cube of a row, the first of its primary key."""
    return Column("cube_key", Key, ForeignKey("cube.key", ondelete="CASCADE"), primary_key=True, autoincrement=False)


def an_id() -> Column[str]:
    """Return the id of a row, a part of its primary key."""
    return Column("id", Text, primary_key=True)


def refers(column: str, table: str, *, cascade: bool = True) -> ForeignKeyConstraint:
    """Return a reference to a row of the same cube. Without cascade, what refers to a row is cleared before it goes."""
    return ForeignKeyConstraint(
        ["cube_key", column],
        [f"{table}.cube_key", f"{table}.id"],
        ondelete="CASCADE" if cascade else None,
    )


def flag(name: str) -> Column[int]:
    """Return a mark that is 0 or 1: a number, as a condition of a partial index is written the same for all engines."""
    return Column(name, SmallInteger, nullable=False, server_default=text("0"))


def some(condition: str) -> dict[str, Any]:
    """Return what makes an index of only the rows that meet a condition."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}
