"""A process of a test: it opens a memory, adds numbered messages to one session, and searches now and then.

Run as `python adding.py FOLDER USER SESSION NAME COUNT`; each acknowledged message's id and text go to stdout at once.
"""

from __future__ import annotations

import sys

from mnemic import Memory

SETTINGS = {"embedder": "hashing", "heat_threshold": 3.0, "stm_pages": 2}
CITIES = ("Porto", "Oslo", "Rome", "Lima", "Cairo", "Quito", "Hanoi", "Perth")


def text_of(name: str, number: int) -> str:
    """A message that says something about its speaker, and has a word that no other has."""
    return f"I live in {CITIES[number % len(CITIES)]} now, says note {name}x{number} about gardens and music."


def tell(line: str) -> None:
    """Say what is acknowledged, so that it is known outside whatever happens to this process next."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    folder, user, session, name, count = sys.argv[1:]
    with Memory(folder, settings=SETTINGS) as memory:
        tell("open")
        for number in range(int(count)):
            text = text_of(name, number)
            role = "assistant" if number % 3 == 2 else "user"
            added = memory.add({"role": role, "content": text, "name": name}, user=user, session=session)
            tell(f"added {added.message_ids[0]} {text}")
            if number % 10 == 9:
                assert memory.search(f"note {name}x{number}", user=user, kinds="message", limit=1)[0].text == text
    tell("closed")


if __name__ == "__main__":
    main()
