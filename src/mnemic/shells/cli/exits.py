"""What a command's end says to the shell: one table from the error to the exit code, and what to do next.

Scripts rely on the numbers: they never change their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mnemic.errors import (
    AccessError,
    BusyError,
    ConflictError,
    EmbedderError,
    EvaluationError,
    FetchError,
    InputError,
    JobError,
    KeyRefusedError,
    LanguageError,
    MnemicError,
    ModelError,
    NotFoundError,
    QueueError,
    RateError,
    ReadError,
    StoreError,
    StoreModelError,
    StoreVersionError,
    UnreachableError,
    WaitTimeoutError,
)

OK: Final = 0
NOTHING: Final = 1
BAD_INPUT: Final = 2
FORBIDDEN: Final = 3
STORE: Final = 4
MODEL: Final = 5
UNFINISHED: Final = 6

EXIT_CODES: Final[Mapping[type[MnemicError], int]] = {
    NotFoundError: NOTHING,
    InputError: BAD_INPUT,
    ConflictError: BAD_INPUT,
    AccessError: FORBIDDEN,
    KeyRefusedError: FORBIDDEN,
    RateError: UNFINISHED,
    BusyError: UNFINISHED,
    UnreachableError: UNFINISHED,
    StoreError: STORE,
    ModelError: MODEL,
    ReadError: UNFINISHED,
    FetchError: UNFINISHED,
    JobError: UNFINISHED,
    QueueError: UNFINISHED,
    WaitTimeoutError: UNFINISHED,
    EvaluationError: UNFINISHED,
}
"""The exit code of each branch of the tree in `mnemic.errors`; a class below a branch ends as the branch does."""

HINTS: Final[Mapping[type[MnemicError], str]] = {
    StoreModelError: "run `mnemic reindex` to bring it over to this embedder",
    StoreVersionError: "upgrade Mnemic, or name another folder with --home",
    StoreError: "`mnemic doctor` checks the folder",
    EmbedderError: "`mnemic doctor` checks the embedder",
    LanguageError: "`mnemic models test llm` shows whether it answers, and how fast",
    NotFoundError: "`mnemic list`, `mnemic sessions` and `mnemic cubes list` show what is there for this --user",
    JobError: "`mnemic jobs list` shows what failed",
    QueueError: "`mnemic doctor` shows whether Redis answers; jobs wait in the store",
    WaitTimeoutError: "`mnemic jobs wait` goes on waiting",
}
"""What to type next, where the error's own message does not say it."""


def exit_code(error: MnemicError) -> int:
    """Return the exit code for an error: that of its class, else of the nearest class above."""
    return next((EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES), STORE)


def hint(error: MnemicError) -> str | None:
    """Return what to type next, or None when the message names a command itself."""
    found = next((HINTS[kind] for kind in type(error).__mro__ if kind in HINTS), None)
    return None if "`mnemic " in str(error) else found
