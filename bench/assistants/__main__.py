"""The command: `python -m bench.assistants --seed 7 --out FILE`, which writes the set and tells its counts."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.assistants.writing import as_lines, generate, split


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; return the exit status."""
    parser = argparse.ArgumentParser(prog="bench.assistants", description="Write chats and questions as JSON Lines.")
    parser.add_argument("--seed", type=int, default=7, help="another seed gives other people (default: 7)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where to write")
    parser.add_argument("--split", choices=("dev", "test"), help="only this part (default: both)")
    options = parser.parse_args(arguments)
    chats = [chat for chat in generate(options.seed) if options.split in {None, split(chat.messages[0].conversation)}]
    lines = list(as_lines(chats))
    options.out.write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
    turns = [turn for chat in chats for turn in chat.messages]
    kinds = Counter(question.category for chat in chats for question in chat.questions)
    sessions = len({turn.session for turn in turns})
    print(f"{len(chats)} people, {sessions} sessions, {len(turns)} turns, {kinds.total()} questions")
    print(", ".join(f"{kind} {count}" for kind, count in kinds.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
