"""(d) What it takes to be there: packages, imports, and the first calls of a process."""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from bench.child import STEPS
from bench.processes import child, run
from bench.tables import ROOT, Cell, Table
from bench.timing import quantile

HEAVY = ("alembic", "numpy", "onnxruntime", "rich", "sqlalchemy", "tokenizers", "typer")
"""What `import mnemic` must not bring along; tests/conventions holds it to that."""

_IMPORT = """
import time
wall, cpu = time.perf_counter(), time.process_time()
import {}
print(time.perf_counter() - wall, time.process_time() - cpu)
"""


def tables(*, quick: bool) -> list[Table]:
    """Measure the installation, imports and the first calls."""
    return [_packages(), _imports(1 if quick else 7), _cold(1 if quick else 5)]


def _packages() -> Table:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    sizes = {name: _size(found) for name, found in _closure(project["dependencies"]).items()}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:8]
    rows: list[list[Cell]] = [["all packages of the base install", len(sizes), sum(sizes.values()) / 1e6]]
    rows += [[name, 1, sizes[name] / 1e6] for name in largest]
    rows.append(
        [
            f"the other {len(sizes) - len(largest)}",
            len(sizes) - len(largest),
            sum(sizes[name] for name in sizes if name not in largest) / 1e6,
        ]
    )
    return Table(
        "(d) Installed packages",
        ["what", "packages", "MB"],
        rows,
        "What the base install brings besides Mnemic itself, without compiled bytecode.",
    )


def _closure(needs: Sequence[str]) -> dict[str, metadata.Distribution]:
    """Return the installed packages that these requirements bring, by name."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [*needs]
    while waiting:
        name = _plain(re.split(r"[^\w.-]", waiting.pop(), maxsplit=1)[0])
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # asked for on other systems or Pythons only
        waiting += [need for need in found[name].requires or () if "extra ==" not in need]
    return found


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _size(distribution: metadata.Distribution) -> int:
    return sum(file.size or 0 for file in distribution.files or () if file.suffix != ".pyc")


def _imports(times: int) -> Table:
    modules = {
        "json": "json",
        "numpy (the floor's only package)": "numpy",
        "mnemic": "mnemic",
        "mnemic.api (`from mnemic import Memory`)": "mnemic.api",
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in modules}
    for _ in range(times):
        for name, module in modules.items():
            wall, cpu = map(float, run("-c", _IMPORT.format(module)).split())
            taken[name].append((wall * 1e3, cpu * 1e3))
    rows: list[list[Cell]] = [
        [name, quantile([wall for wall, _ in pairs], 0.5), quantile([cpu for _, cpu in pairs], 0.5)]
        for name, pairs in taken.items()
    ]
    code = f"import sys, mnemic; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    brought = run("-c", code).split()
    return Table(
        "(d) Import in a new process",
        ["import", "wall ms", "CPU ms"],
        rows,
        f"Medians of {times}. Aim for `import mnemic`: under 200 ms of CPU. "
        f"It brings {', '.join(brought) or 'none'} of {', '.join(HEAVY)}.",
    )


def _cold(times: int) -> Table:
    runs = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            runs.append(child("cold", str(Path(folder, "store"))))
    rows: list[list[Cell]] = [
        [step, quantile([run[at][0] for run in runs], 0.5), quantile([run[at][1] for run in runs], 0.5)]
        for at, step in enumerate(STEPS)
    ]
    rows.append(["all", sum(float(str(row[1])) for row in rows), sum(float(str(row[2])) for row in rows)])
    return Table(
        "(d) First calls of a new process",
        ["step", "wall ms", "CPU ms"],
        rows,
        f"Medians of {times} processes, each with a new store and the bundled embedder, whose model the first add "
        "loads. `Open` makes the schema; a store that exists opens as in (e).",
    )
