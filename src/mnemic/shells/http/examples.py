"""An example of each operation, for its description; a test walks through all of them in the order of this table.

Ids are made up: they stand for those that earlier calls have given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MESSAGE: Final = "01a22ef0-6653-7000-a3c0-43e3b9f48d7b"
MEMORY: Final = "01a22ef0-6742-7001-a0ab-d5a6e82f8a83"
CHANGE: Final = "01a22ef1-0c1d-7000-9d7d-174bf1bca495"
JOB: Final = "01a22ef0-666d-7000-944a-7cdbdc1c3a16"
LINE: Final = '{"format": "mnemic-1"}'
CUBE: Final = "01a22ef0-6632-7000-810b-802660c8779d"
BASE: Final = "01a22ef3-0a11-7000-9c5e-2f60b7a1d0e4"
DOCUMENT: Final = "01a22ef3-0b52-7000-8f07-5b8e21c3a9d6"
ATTACHMENT: Final = "01a22ef0-6653-7001-b2d1-94c0e7f3a815"
KEY: Final = "01a22ef2-1f00-7000-8d3c-f1c8dff01c4e"

_PROMPT: Final[Mapping[str, Any]] = {
    "turns": [{"role": "user", "text": "Say hello in Portuguese."}],
    "max_tokens": 40,
}

EXAMPLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "add": {
        "user": "ann",
        "messages": [
            {"role": "user", "content": "I moved to Porto last week.", "at": "2026-11-20T09:30:00+00:00"},
            {"role": "assistant", "content": "How do you like it there?", "at": "2026-11-20T09:30:05+00:00"},
        ],
        "session": "monday",
        "task": "first-steps",
    },
    "jobs.wait": {"user": "ann", "timeout": 30},
    "extract": {"user": "ann", "messages": "My sister is called Noor."},
    "search": {"user": "ann", "query": "Where does Ann live?", "limit": 5},
    "search_many": {"user": "ann", "queries": ["Where does Ann live?", "Since when?"], "limit": 3},
    "context": {"user": "ann", "query": "Where does Ann live?", "budget": 500},
    "ask": {"user": "ann", "question": "Where does Ann live?"},
    "ask_stream": {"user": "ann", "question": "Where does Ann live?"},
    "chat": {"user": "ann", "message": "I have a dog called Rex.", "session": "monday"},
    "chat_stream": {"user": "ann", "message": "Where do I live?", "session": "monday"},
    "list": {"user": "ann", "limit": 20},
    "get": {"user": "ann", "id": MESSAGE},
    "history": {"user": "ann", "id": MEMORY},
    "explain": {"user": "ann", "id": MEMORY},
    "update": {"user": "ann", "id": MEMORY, "text": "Ann lives in Porto, in Cedofeita."},
    "lock": {"user": "ann", "id": MEMORY, "locked": False},
    "restore": {"user": "ann", "id": MEMORY, "version": 1},
    "feedback": {"user": "ann", "text": "forget that I live in Porto", "dry_run": True},
    "set_profile": {"user": "ann", "attribute": "home.place", "value": "Braga"},
    "profile": {"user": "ann"},
    "changes": {"user": "ann", "limit": 10},
    "watch": {"user": "ann", "timeout": 0.1},
    "undo": {"user": "ann", "change": CHANGE},
    "sessions": {"user": "ann"},
    "entities": {"user": "ann"},
    "stats": {"user": "ann"},
    "rebuild": {"user": "ann"},
    "reorganize": {"user": "ann", "dry_run": True},
    "export": {"user": "ann"},
    "load": {"user": "bob", "lines": [LINE]},
    "check": {},
    "audit": {"limit": 20},
    "cubes.create": {"user": "ann", "name": "garden", "kind": "project"},
    "cubes.list": {"user": "ann"},
    "cubes.share": {"user": "ann", "cube": CUBE, "member": "bob", "role": "editor"},
    "cubes.members": {"user": "ann", "cube": CUBE},
    "cubes.unshare": {"user": "ann", "cube": CUBE, "member": "bob"},
    "cubes.delete": {"user": "ann", "cube": CUBE},
    "knowledge.create": {"user": "ann", "name": "handbook", "description": "How we work."},
    "knowledge.list": {"user": "ann"},
    "knowledge.update": {"user": "ann", "cube": BASE, "learns": True},
    "knowledge.bind": {"user": "ann", "cube": BASE, "member": "bob"},
    "knowledge.unbind": {"user": "ann", "cube": BASE, "member": "bob"},
    "knowledge.add": {
        "user": "ann",
        "cube": BASE,
        "name": "hours.md",
        "wait": True,
        "text": "# Opening hours\n\nThe office closes at six.",
    },
    "knowledge.documents": {"user": "ann", "cube": BASE},
    "knowledge.get": {"user": "ann", "cube": BASE, "document": DOCUMENT},
    "knowledge.versions": {"user": "ann", "cube": BASE, "document": DOCUMENT},
    "knowledge.chunks": {"user": "ann", "cube": BASE, "document": DOCUMENT},
    "knowledge.file": {"user": "ann", "cube": BASE, "document": DOCUMENT},
    "knowledge.refresh": {"user": "ann", "cube": BASE, "document": DOCUMENT},
    "knowledge.remove": {"user": "ann", "cube": BASE, "document": DOCUMENT},
    "knowledge.delete": {"user": "ann", "cube": BASE},
    "attachments.list": {"user": "ann", "message": MESSAGE},
    "attachments.get": {"user": "ann", "id": ATTACHMENT},
    "attachments.file": {"user": "ann", "id": ATTACHMENT},
    "llm.complete": {"user": "ann", "prompt": _PROMPT, "purpose": "greeting"},
    "llm.usage": {"user": "ann"},
    "llm.calls": {"user": "ann", "limit": 10},
    "jobs.list": {"user": "ann", "open_only": True},
    "jobs.counts": {"user": "ann"},
    "jobs.share": {"user": "ann"},
    "jobs.set_share": {"user": "ann", "weight": 1.0, "running": 2},
    "jobs.events": {"user": "ann", "timeout": 0.1},
    "jobs.task": {"user": "ann", "task": "first-steps"},
    "jobs.get": {"user": "ann", "id": JOB},
    "jobs.cancel": {"user": "ann", "id": JOB},
    "jobs.retry": {"user": "ann", "id": JOB},
    "jobs.drop": {"user": "ann", "id": JOB},
    "forget": {"user": "ann", "about": "Rex"},
    "keys.create": {"name": "the assistant of Ann", "users": ["ann"], "powers": ["read", "write"]},
    "keys.list": {},
    "keys.rotate": {"id": KEY, "overlap_hours": 24.0},
    "keys.revoke": {"id": KEY},
}
"""By verb: what it is given."""
