"""A process of a test: it opens a memory, adds numbered messages to one session, and searches now and then.

Run as `python adding.py FOLDER USER SESSION NAME COUNT`; each acknowledged message's id and text go to stdout at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from mnemic import Memory

SETTINGS: Final = {"embedder": "hashing", "heat_threshold": 3.0, "stm_pages": 2}
CITIES: Final = ("Porto", "Oslo", "Rome", "Lima", "Cairo", "Quito", "Hanoi", "Perth")

Tell = Callable[[str], None]
"""Says a line at once, so that it is known outside whatever happens to this process next."""


def text_of(name: str, number: int) -> str:
    """A message that says something about its speaker, and has a word that no other has."""
    return f"I live in {CITIES[number % len(CITIES)]} now, says note {name}x{number} about gardens and music."


def add(memory: Memory, name: str, count: int, tell: Tell, *, user: str, session: str) -> None:
    """Add messages one by one, telling the id and text of each that was acknowledged."""
    for number in range(count):
        text = text_of(name, number)
        role = "assistant" if number % 3 == 2 else "user"
        added = memory.add({"role": role, "content": text, "name": name}, user=user, session=session)
        tell(f"added {added.message_ids[0]} {text}")
        if number % 10 == 9:
            assert memory.search(f"note {name}x{number}", user=user, kinds="message", limit=1)[0].text == text


def say(line: str) -> None:
    """A `Tell` to stdout."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    folder, user, session, name, count = sys.argv[1:]
    with Memory(folder, settings=SETTINGS) as memory:
        say("open")
        add(memory, name, int(count), say, user=user, session=session)


if __name__ == "__main__":
    main()
