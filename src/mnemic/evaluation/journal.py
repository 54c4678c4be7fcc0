"""Where a run keeps what it has done, line by line, so that the next one goes on after an interruption.

The first line says what the run depends on: the file, the settings, the embedder, the code, the options. When any of
it differs, what was done is not comparable: the journal starts anew and says what changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import mnemic
from mnemic.evaluation import answered as answers
from mnemic.evaluation.answered import Answered, Failed, Judged, Key
from mnemic.evaluation.records import Asked, Stored, asked, plain, stored

FILE: Final = "progress.jsonl"
BEFORE: Final = "progress-before.jsonl"
"""Where the answers of a run lie that are not comparable any more: they may have cost money."""

MEMORIES: Final = "memories"
FORMAT: Final = "mnemic-eval-progress-1"


def code_version() -> str:
    """Return a hash of the package's code and prompts, its faces left out: what could change a figure changes it."""
    root = Path(mnemic.__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.md")]):
        name = path.relative_to(root).as_posix()
        if not name.startswith("shells/"):
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


class Journal:
    """The record of one run in a folder; a context manager. One process at a time may use a folder.

    `changed` names what the run depends on and the last one did not; `resumed` tells whether there was something to go
    on from.
    """

    def __init__(self, folder: Path, depends: Mapping[str, Any], *, fresh: bool = False) -> None:
        self.folder = folder
        self.stored: dict[str, Stored] = {}
        self.asked: dict[str, Asked] = {}
        self.answered: dict[Key, Answered] = {}
        self.judged: dict[Key, Judged] = {}
        self.changed: tuple[str, ...] = ()
        self._path = folder / FILE
        self._depends = json.loads(json.dumps(depends))
        whole = 0 if fresh else self._load()
        self.resumed = bool(self.stored or self.asked or self.answered)
        if not whole:
            self._start()
        else:
            os.truncate(self._path, whole)  # a line that a kill cut short is written again
        self._file = self._path.open("a", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def place(self, number: int, conversation: str) -> Path:
        """Return the folder of a conversation's memories."""
        kept = "".join(char if char.isalnum() and char.isascii() else "-" for char in conversation)[:40]
        return self.folder / MEMORIES / f"{number:04d}-{kept}"

    def keep_stored(self, record: Stored) -> None:
        """Record that a conversation is stored whole."""
        self.stored[record.conversation] = record
        self._write({"stored": plain(record)})

    def keep_asked(self, record: Asked) -> None:
        """Record what a question found."""
        self.asked[record.id] = record
        self._write({"asked": plain(record)})

    def keep_answered(self, record: Answered) -> None:
        """Record an answer."""
        self.answered[record.key] = record
        self._write({"answered": answers.plain(record)})

    def keep_judged(self, record: Judged) -> None:
        """Record a judgement; it takes the place of another judge's."""
        self.judged[record.key] = record
        self._write({"judged": answers.plain(record)})

    def keep_failed(self, record: Failed) -> None:
        """Record that a model failed, for whoever reads the file: the next run asks again."""
        self._write({"failed": answers.plain(record)})

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line, ensure_ascii=True) + "\n")
        self._file.flush()

    def _load(self) -> int:
        """Read what is there; return how many bytes of it count, none when it is of another run."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return 0
        whole = content.rfind(b"\n") + 1
        try:
            lines = [json.loads(line) for line in content[:whole].splitlines()]
            before = lines[0]["depends"] if lines and lines[0]["format"] == FORMAT else {}
            self.changed = tuple(key for key in self._depends if before.get(key) != self._depends[key])
            if not self.changed:
                self._take(lines[1:])
        except (ValueError, KeyError, TypeError):  # somebody else wrote it
            self.changed = ("the journal",)
            for held in (self.stored, self.asked, self.answered, self.judged):
                held.clear()
        if self.changed and b'{"answered"' in content:
            (self.folder / BEFORE).write_bytes(content)
        return 0 if self.changed else whole

    def _take(self, lines: Sequence[Mapping[str, Any]]) -> None:
        for line in lines:
            if "stored" in line:
                record = stored(line["stored"])
                self.stored[record.conversation] = record
            elif "answered" in line:
                answer = answers.answered(line["answered"])
                self.answered[answer.key] = answer
            elif "judged" in line:
                judgement = answers.judged(line["judged"])
                self.judged[judgement.key] = judgement
            elif "failed" not in line:
                found = asked(line["asked"])
                self.asked[found.id] = found

    def _start(self) -> None:
        shutil.rmtree(self.folder / MEMORIES, ignore_errors=True)
        line = json.dumps({"format": FORMAT, "depends": self._depends})
        self._path.write_text(line + "\n", "utf-8")
