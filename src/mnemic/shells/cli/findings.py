"""What `mnemic doctor` can find, each with what to do about it: one table, which `docs/operating.md` repeats.

What is wrong ends the command with an exit code of `exits`; a warning is shown, and the command ends well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from mnemic.shells.cli.exits import BAD_INPUT, MODEL, STORE
from mnemic.shells.cli.wording import one_line


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked. `exit_code` is what the command ends with when it is wrong.

    With `warns` it is well enough to work, and better looked at.
    """

    name: str
    ok: bool
    told: str
    advice: str = ""
    exit_code: int = STORE
    warns: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """A finding as the documents tell of it: when it is not well, and what to do; `warns` when that is no more."""

    unwell: str
    advice: str
    warns: bool = False
    exit_code: int = STORE


SAVE: Final = "keep a copy of the folder before you try to mend it; `mnemic backup` or an export restores"
START: Final = "run `mnemic worker`, or a program whose `worker` is on; its log tells why nothing is taken"

KNOWN: Final[Mapping[str, Known]] = {
    "Python": Known("older than 3.11", "Mnemic needs Python 3.11 or newer"),
    "SQLite": Known("older than 3.35, or without FTS5", "use a Python whose SQLite is 3.35 or newer and has FTS5"),
    "settings": Known(
        "one is unknown or impossible, or (a warning) set and not used",
        "correct mnemic.toml or the environment",
        exit_code=BAD_INPUT,
    ),
    "settings file": Known(
        "mnemic.toml holds keys, and others on this machine can read it", "chmod 600 mnemic.toml", warns=True
    ),
    "folder": Known(
        "it, or a file of the store in it, cannot be written", "name a folder you may write to with --home"
    ),
    "free disk": Known("less than 200 MB are free", "free some space: 200 MB or more"),
    "backups": Known("backups are planned, and their folder cannot be written", "see MNEMIC_BACKUP_FOLDER"),
    "embedder": Known("its model cannot be loaded or reached", "see MNEMIC_EMBEDDER", exit_code=MODEL),
    "language model": Known(
        "it is configured wrongly or refuses the key; or (a warning) its server does not answer, or lacks the model",
        "see MNEMIC_LLM_MODEL, and `mnemic models`",
        exit_code=MODEL,
    ),
    "store": Known("it cannot be opened", SAVE),
    "database file": Known("SQLite's quick check finds damage", SAVE),
    "references": Known("rows refer to others that are not there", SAVE),
    "full-text index": Known("passages are missing in it", SAVE),
    "database server": Known("PostgreSQL does not answer", "see MNEMIC_DATABASE_URL"),
    "durability": Known(
        "fsync, full_page_writes or synchronous_commit is off: what was acknowledged may be lost",
        "turn it on in postgresql.conf",
    ),
    "row-level checks": Known(
        "they are off, for the role may pass them by: the second line of defence is missing",
        "let Mnemic have a role that is neither superuser nor has BYPASSRLS",
        warns=True,
    ),
    "pgvector": Known("never: it tells the version", "CREATE EXTENSION vector, by an administrator"),
    "clock": Known(
        "the database's and this machine's are 2 s apart or more: work goes by the database's, the log by this one",
        "let both follow a time server (NTP)",
        warns=True,
    ),
    "queue": Known(
        "Redis does not answer; jobs are taken from the database meanwhile", "see MNEMIC_REDIS_URL, and Redis' own log"
    ),
    "queue memory": Known(
        "Redis may throw away streams when its memory is full, and jobs come late; or nine tenths of it are used",
        "set maxmemory-policy to noeviction; raise maxmemory",
        warns=True,
    ),
    "queue disk": Known(
        "Redis' last snapshot failed: it may refuse what is written", "see Redis' log, and the room on its disk",
        warns=True,
    ),
    "queue shards": Known(
        "in a cluster, another process has a larger redis_shards: jobs of some cubes wait to be found",
        "set redis_shards to one number in all processes", warns=True,
    ),
    "dead jobs": Known(
        "jobs have failed for good", "`mnemic jobs dead --user …` shows why; `mnemic jobs retry` or `drop` ends it"
    ),
    "due jobs": Known("the first has been due for ten minutes: nobody does them", START, warns=True),
    "leases": Known("a worker fell silent, and nobody has taken over its jobs", START, warns=True),
    "periodic work": Known("it is an hour late, or failed last time", START, warns=True),
    "files": Known(
        "one that a document or a message names is not there, or is cut; or their place does not answer",
        "`mnemic backup list` names copies that have them; see MNEMIC_BLOBS_URL",
    ),
    "memory": Known("never: it tells how much the user has stored", ""),
}  # fmt: skip
"""Everything that is checked, in the order in which it is shown."""


def found(name: str, told: str, *, ok: bool, advice: str = "", warns: bool | None = None) -> Finding:
    """Return a finding of the table; what is given here goes before what the table says."""
    known = KNOWN.get(name, Known("", SAVE))
    warning = not ok and (known.warns if warns is None else warns)
    return Finding(name, ok or warning, told, advice or known.advice, known.exit_code, warning)


def table(findings: Sequence[Finding]) -> RenderableType:
    """Return the findings, one a row, with advice below what is not well."""
    rows = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for _ in range(3):
        rows.add_column(overflow="fold")  # a path is wrapped, never cut
    for each in findings:
        rows.add_row(_mark(each), each.name, Text(one_line(each.told)))
        if each.advice and (each.warns or not each.ok):
            rows.add_row("", "", Text(f"→ {each.advice}", "yellow"))
    return rows


def _mark(finding: Finding) -> Text:
    if not finding.ok:
        return Text("wrong", "bold red")
    return Text("look", "bold yellow") if finding.warns else Text("ok", "bold green")
