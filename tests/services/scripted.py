"""A memory whose language model follows a script, and what the script may look up in its prompts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from mnemic import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.config import Settings
from mnemic.model.answer import Answer
from mnemic.model.language import Prompt
from mnemic.testing.scripted_model import Scripted, ScriptedModel, said_to
from tests.databases import address_of
from tests.services.opened import Clock, open_memory, talk

TOLD = [("ann", "I moved to Porto with my dog Rex."), ("bot", "How nice!"), ("ann", "I like green tea.")]


def opened(folder: Path, replies: Sequence[Scripted] | Callable[[Prompt], Scripted] = (), **settings: Any) -> Memory:
    """Open a memory in which Ann has told three things; its model answers, and refines nothing."""
    open_memory(folder).close()  # a store that is made already
    given = Settings(home=str(folder), database_url=address_of(folder), worker=False, refine=False, **settings)
    memory = Memory(settings=given, embedder=HashingEmbedder(64), llm=ScriptedModel(replies), clock=Clock())
    talk(memory, TOLD)
    return memory


def prompts(memory: Memory) -> list[Prompt]:
    """Return what the model was given."""
    language = memory._parts.language
    assert language is not None
    model = language._model
    assert isinstance(model, ScriptedModel)
    return model.prompts


def number_of(prompt: Prompt, words: str) -> int:
    """Return the number that a memory has in a prompt."""
    line = next(line for line in said_to(prompt).split("\n") if words in line and line.startswith("["))
    return int(line[1 : line.index("]")])


def citing(words: str, text: str = "Ann lives in Porto") -> Callable[[Prompt], str]:
    """Reply with a text that names the memory that holds some words."""
    return lambda prompt: f"{text} [{number_of(prompt, words)}]."


def purposes(memory: Memory, user: str = "ann") -> list[str]:
    """Return what the model was called for, in order."""
    return [call.purpose for call in memory.llm.calls(user=user)][::-1]


def last(pieces: Iterable[str | Answer]) -> tuple[str, Answer]:
    """Return the text that a stream showed, and the answer at its end."""
    found = list(pieces)
    assert isinstance(found[-1], Answer)
    shown = [piece for piece in found[:-1] if isinstance(piece, str)]
    assert len(shown) == len(found) - 1
    return "".join(shown), found[-1]


def statement(message: str, quote: str, **changed: Any) -> dict[str, Any]:
    """Return what a model draws from a message; `changed` are fields that are not as usual."""
    plain = {
        "kind": "fact", "about": "", "attribute": "note.fact", "value": quote, "statement": f"{quote}.",
        "negated": False, "said": True, "reason": "", "when": {"words": "", "from": "", "to": ""},
        "evidence": [{"message": message, "quote": quote}], "known": "", "change": "new",
    }  # fmt: skip
    return {**plain, **changed}


def reply(*memories: dict[str, Any], **more: Any) -> str:
    """Return what a model says that draws these memories from a batch."""
    return json.dumps({"memories": memories, "entities": [], "relations": [], "topics": [], **more}, ensure_ascii=False)
