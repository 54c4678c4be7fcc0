"""Results as tables: printed, kept as JSON, and written into RESULTS.md between its markers."""

from __future__ import annotations

import os
import platform
import sqlite3
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
RESULTS: Final = ROOT / "bench" / "RESULTS.md"
BEGIN: Final = "<!-- written by `./dev bench --write`: begin -->"
END: Final = "<!-- written by `./dev bench --write`: end -->"

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `note` says how its figures came about and what they aim at; None is a figure that does not apply."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def markdown(self) -> str:
        """Return the table with its title and note."""
        rows = [[_cell(value) for value in row] for row in self.rows]
        widths = [max(len(line[at]) for line in [list(self.columns), *rows]) for at in range(len(self.columns))]
        lines = [_line(self.columns, widths), _line(["-" * width for width in widths], widths)]
        lines += [_line(row, widths) for row in rows]
        note = f"\n{self.note}\n" if self.note else ""
        return f"### {self.title}\n{note}\n" + "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, object]:
        """Return the table as JSON holds it."""
        return {"title": self.title, "note": self.note, "columns": list(self.columns), "rows": [*map(list, self.rows)]}


def _cell(value: Cell) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else value


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"


def circumstances(arguments: Sequence[str]) -> str:
    """Return where and how this run was made, in words that hold for any reader."""
    machine = f"{os.cpu_count()} cores, {_memory()}, {platform.system()} {platform.machine()}"
    software = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    return (
        f"`./dev bench {' '.join(Path(argument).name for argument in arguments)}`".replace(" `", "`")
        + f" on {datetime.now(UTC):%Y-%m-%d}, commit {_commit()}; {machine}, shared with others (load average {load}); "
        f"{software}. Read ratios and CPU first: wall times are those of a busy machine."
    )


def write_results(tables: Sequence[Table], circumstance: str) -> None:
    """Put the tables between the markers of RESULTS.md; what a person wrote around them stays."""
    text = RESULTS.read_text("utf-8") if RESULTS.exists() else f"# Bench results\n\n{BEGIN}\n{END}\n"
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    body = "\n".join(table.markdown() for table in tables)
    RESULTS.write_text(f"{before}{BEGIN}\n\n{circumstance}\n\n{body}\n{END}{after}", "utf-8")


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB memory"
    except (ValueError, OSError, AttributeError):
        return "memory unknown"


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short=10", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"
