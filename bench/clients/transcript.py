"""What two sides said, as text that can be compared: ids that chance made are numbered, and folders have no names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import wrap
from typing import Any

WIDTH = 116  # characters of a line
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NOW = re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:\+00:00|Z)?")


class Transcript:
    """Prints what is said, and keeps it."""

    def __init__(self, title: str, *, hidden: dict[str, str] | None = None) -> None:
        self._ids: dict[str, str] = {}
        self._hidden = hidden or {}
        self._said: set[str] = set()
        self.lines: list[str] = []
        self.say(title)
        self.say("=" * len(title))

    def keep(self, *times: str) -> None:
        """Let these times stand as they are: the run says them itself."""
        self._said.update(times)

    def part(self, title: str) -> None:
        """Begin a part."""
        self.say("")
        self.say(title)
        self.say("-" * len(title))

    def asked(self, what: str, given: Any = None) -> None:
        """Write what the client asked."""
        self._lines(f"> {what}" + ("" if given is None else f" {_json(given)}"))

    def answered(self, what: Any) -> None:
        """Write what the server answered."""
        self._lines(f"< {what if isinstance(what, str) else _json(what)}")

    def say(self, text: str) -> None:
        """Write a line of our own."""
        text = self._plain(text)
        print(text)
        self.lines.append(text.rstrip())

    def write(self, path: Path) -> None:
        """Keep it in a file."""
        path.write_text("\n".join(self.lines) + "\n", "utf-8")

    def _plain(self, text: str) -> str:
        for real, shown in self._hidden.items():
            text = text.replace(real, shown)
        text = _ID.sub(lambda found: self._ids.setdefault(found[0], f"<id {len(self._ids) + 1}>"), text)
        return _NOW.sub(lambda found: found[0] if found[0] in self._said else "<now>", text)

    def _lines(self, text: str) -> None:
        lines = [
            part
            for line in self._plain(text).splitlines()
            for part in wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False)
        ]
        for number, line in enumerate(lines):
            self.say(line if number == 0 else f"  {line}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
