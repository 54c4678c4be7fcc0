"""How fast files are read to text, each in a process of its own: `python -m bench.reading FILE...`."""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from mnemic.config import Settings
from mnemic.errors import MnemicError
from mnemic.wiring.readers import readers_of

HEADER = ("file", "kind", "KB", "pages", "blocks", "characters", "seconds", "cpu seconds", "pages/s", "notes")


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the files that are named, and all in the folders that are; print a table. 1 when one could not be read."""
    parser = argparse.ArgumentParser(prog="bench.reading", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--no-ocr", action="store_true", help="leave the words in pictures out")
    options = parser.parse_args(arguments)
    reader = readers_of(Settings(ocr=not options.no_ocr))
    print("| " + " | ".join(HEADER) + " |")
    print("|" + " --- |" * len(HEADER))
    failed = 0
    for path in _files(options.paths):
        began, before = time.monotonic(), _cpu()
        try:
            found = reader.read(path, name=path.name, told=_quiet)
        except MnemicError as error:
            failed += 1
            print(
                f"| {path.name} | not read | {path.stat().st_size / 1024:.0f} |" + " |" * 6 + f" {error} |", flush=True
            )
            continue
        seconds = time.monotonic() - began
        speed = f"{found.pages / seconds:.1f}" if found.pages else ""
        row = (
            path.name, found.media, f"{path.stat().st_size / 1024:.0f}", found.pages or "", len(found.blocks),
            len(found.text), f"{seconds:.2f}", f"{_cpu() - before:.2f}", speed, "; ".join(found.notes),
        )  # fmt: skip
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    return 1 if failed else 0


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]


def _quiet(_done: int, _of: int) -> None:
    """Hear of progress, and print nothing."""


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    raise SystemExit(main())
