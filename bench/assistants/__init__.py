"""Chats between made-up people and their assistant, with questions about them: an evaluation set of our own.

`generate(seed)` writes them anew, the same for the same seed; `by_hand.jsonl` beside this file was written by hand.
README.md tells what counts as evidence and what the set is good for. Nothing here knows Mnemic.
"""

from bench.assistants.writing import PEOPLE, Chat, as_lines, generate, split

__all__ = ["PEOPLE", "Chat", "as_lines", "generate", "split"]
