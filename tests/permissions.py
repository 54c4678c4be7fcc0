"""Who may do what: a row for every operation, a column for every kind of caller, and a memory to try it in.

A face that lets callers in walks this table: the embedded one in `tests/services/test_permissions.py`, a server's with
the same arguments over HTTP. An operation without a row fails those tests.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mnemic import Memory
from mnemic.model.key import NewKey
from mnemic.model.language import Prompt, Turn

OK, FORBIDDEN, HIDDEN, UNKNOWN = "ok", "forbidden", "not_found", "unauthenticated"
"""How a call may end: it is carried out, or refused by an error of this code. What is hidden does not exist."""

OWNER, EDITOR, READER, STRANGER = "olga", "eddy", "rita", "stan"

CALLERS: Final[tuple[str, ...]] = (
    "nobody", "stranger", "reader", "editor", "owner", "write_only", "read_only", "expired", "revoked",
    "other_project", "other_cube", "admin",
)  # fmt: skip
"""Those who call: with no key; for one who is no member; for members by their role; as the owner with less than all
powers, with keys that are over, with a key to everything of another project, to another cube of hers; and all powers.
"""

_USERS: Final = {"stranger": STRANGER, "reader": READER, "editor": EDITOR}

WORD: Final = "marmalade"
"""What only those may find who may read the cube."""

MANUAL: Final = f"# Making {WORD}\n\nBoil the {WORD} for an hour.\n"
PICTURE: Final = {
    "type": "image",
    "caption": f"A jar of {WORD}",
    "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
}
"""A picture of one point, in base64."""

SIGHTLESS: Final = ("nobody", "stranger", "expired", "revoked", "other_project", "other_cube")
"""Callers to whom no reply may tell anything of the cube."""


def _row(told: str) -> Mapping[str, str]:
    letters = {".": OK, "F": FORBIDDEN, "-": HIDDEN, "U": UNKNOWN}
    return dict(zip(CALLERS, [letters[each] for each in told.split()], strict=True))


#                  nob str rea edi own wri rea exp rev prj cub adm
READ: Final = _row("U   -   .   .   .   F   .   U   U   -   -   .")
WRITE: Final = _row("U   -   F   .   .   .   F   U   U   -   -   .")
CHAT: Final = _row("U   -   F   .   .   F   F   U   U   -   -   .")  # it reads what it answers from
OWN: Final = _row("U   -   F   F   .   .   F   U   U   -   -   .")
ANY_READ: Final = _row("U   .   .   .   .   F   .   U   U   .   .   .")  # about no cube: what is shown is one's own
ANY_MAKE: Final = _row("U   .   .   .   .   .   F   U   U   .   F   .")
TUNE: Final = _row("U   F   F   F   F   F   F   U   U   -   F   .")
ADMIN: Final = _row("U   F   F   F   F   F   F   U   U   F   F   .")  # of the whole store
KEYS: Final = _row("U   F   F   F   F   F   F   U   U   .   F   .")
KEY: Final = _row("U   F   F   F   F   F   F   U   U   -   F   .")  # one that is of no project

TABLE: Final[Mapping[str, Mapping[str, str]]] = {
    "add": WRITE,
    "extract": READ,
    "search": READ,
    "search_many": READ,
    "context": READ,
    "ask": READ,
    "ask_stream": READ,
    "chat": CHAT,
    "chat_stream": CHAT,
    "list": READ,
    "iterate": READ,
    "get": READ,
    "update": WRITE,
    "history": READ,
    "explain": READ,
    "lock": WRITE,
    "restore": WRITE,
    "forget": WRITE,
    "feedback": WRITE,
    "changes": READ,
    "watch": READ,
    "undo": WRITE,
    "profile": READ,
    "set_profile": WRITE,
    "sessions": READ,
    "entities": READ,
    "stats": READ,
    "rebuild": WRITE,
    "reorganize": WRITE,
    "export": READ,
    "load": WRITE,
    "check": ADMIN,
    "metrics": ADMIN,
    "audit": KEYS,
    "cubes.list": ANY_READ,
    "cubes.create": ANY_MAKE,
    "cubes.delete": OWN,
    "cubes.members": READ,
    "cubes.share": OWN,
    "cubes.unshare": OWN,
    "knowledge.list": ANY_READ,
    "knowledge.create": ANY_MAKE,
    "knowledge.update": OWN,
    "knowledge.delete": OWN,
    "knowledge.bind": OWN,
    "knowledge.unbind": OWN,
    "knowledge.add": WRITE,
    "knowledge.documents": READ,
    "knowledge.get": READ,
    "knowledge.versions": READ,
    "knowledge.chunks": READ,
    "knowledge.file": READ,
    "knowledge.refresh": WRITE,
    "knowledge.remove": WRITE,
    "attachments.list": READ,
    "attachments.get": READ,
    "attachments.file": READ,
    "llm.complete": WRITE,
    "relay.send": WRITE,
    "relay.stream": WRITE,
    "llm.usage": READ,
    "llm.calls": READ,
    "jobs.list": READ,
    "jobs.iterate": READ,
    "jobs.counts": READ,
    "jobs.share": READ,
    "jobs.set_share": TUNE,
    "jobs.wait": READ,
    "jobs.events": READ,
    "jobs.task": READ,
    "jobs.get": READ,
    "jobs.cancel": WRITE,
    "jobs.retry": WRITE,
    "jobs.drop": WRITE,
    "keys.list": KEYS,
    "keys.create": KEYS,
    "keys.rotate": KEY,
    "keys.revoke": KEY,
    "keys.drop": KEY,
}

LOCAL_ONLY: Final = frozenset({
    "close", "expose", "ready", "relay.check", "keys.any", "keys.caller_of", "knowledge.sync", "knowledge.watch_folder",
})  # fmt: skip
"""Methods for who runs the memory: they end it, show its figures, ask who calls, or look into folders of this machine.
No door offers them, and those that look into folders refuse whoever calls from outside."""


@dataclass
class World:
    """A memory with a shared cube and a shared knowledge base, with one of everything, and a key for each caller."""

    cube: str
    base: str
    keys: Mapping[str, NewKey | None]
    ids: dict[str, Any] = field(default_factory=dict)

    def user_of(self, caller: str) -> str:
        """Return the user that a caller calls for."""
        return _USERS.get(caller, OWNER)

    def secret_of(self, caller: str) -> str | None:
        """Return the secret that a caller gives."""
        key = self.keys[caller]
        return None if key is None else key.secret


def build(memory: Memory) -> World:
    """Fill an empty memory, in which calls at the machine are allowed; without a worker of its own."""
    cube = memory.cubes.create("trip", user=OWNER).id
    memory.cubes.share(cube, EDITOR, "editor", user=OWNER)
    memory.cubes.share(cube, READER, "reader", user=OWNER)
    memory.cubes.share(cube, "guest", user=OWNER)
    other = memory.cubes.create("other", user=OWNER).id
    keys = _keys(memory, other)
    here: dict[str, Any] = {"user": OWNER, "cube": cube}
    said = memory.add(
        [f"I live in Porto and I like {WORD}.", "I moved to Faro.", "My dog is called Rex."],
        session="s1", task="t1", wait=True, **here,
    )  # fmt: skip
    facts = memory.list(kinds="fact", **here)
    memory.update(facts[0].id, f"Olga lives in the town of {WORD}.", **here)
    memory.set_profile("preference.like", f"soup with {WORD}", **here)
    picture = memory.add([{"role": "user", "content": [PICTURE]}], session="s3", **here).message_ids[0]
    base = memory.knowledge.create("manual", user=OWNER).cube.id
    for member, role in ((EDITOR, "editor"), (READER, "reader"), ("guest", "reader")):
        memory.cubes.share(base, member, role, user=OWNER)
    document = memory.knowledge.add(text=MANUAL, name="manual.md", cube=base, user=OWNER, wait=True)
    memory.jobs.wait(**here)
    done = memory.jobs.list(states="done", **here)[0].id
    memory.add(f"More {WORD}.", session="s1", **here)
    cancelled = memory.jobs.cancel(memory.jobs.list(states="queued", **here)[0].id, **here).id
    memory.add(f"Still more {WORD}.", session="s1", **here)
    ids = {
        "message": said.message_ids[0],
        "memory": facts[0].id,
        "change": memory.changes(**here)[0].id,
        "done": done,
        "cancelled": cancelled,
        "queued": memory.jobs.list(states="queued", **here)[0].id,
        "picture": picture,
        "attachment": memory.attachments.list(picture, **here)[0].id,
        "document": document.id,
        "lines": list(memory.export(**here)),
        "key": memory.keys.create("of the machine").key.id,
        "over": memory.keys.revoke(memory.keys.create("over").key.id).id,
    }
    return World(cube, base, keys, ids)


def _keys(memory: Memory, other: str) -> dict[str, NewKey | None]:
    all_powers = ("read", "write", "admin")
    revoked = memory.keys.create("revoked", powers=all_powers)
    memory.keys.revoke(revoked.key.id)
    expired = memory.keys.create("expired", powers=all_powers)
    memory.keys.rotate(expired.key.id, overlap_hours=0)
    return {
        "nobody": None,
        "stranger": memory.keys.create("k", users=STRANGER),
        "reader": memory.keys.create("k", users=READER),
        "editor": memory.keys.create("k", users=EDITOR),
        "owner": memory.keys.create("k", users=OWNER),
        "write_only": memory.keys.create("k", users=OWNER, powers="write"),
        "read_only": memory.keys.create("k", users=OWNER, powers="read"),
        "expired": expired,
        "revoked": revoked,
        "other_project": memory.keys.create("k", project="elsewhere", powers=all_powers),
        "other_cube": memory.keys.create("k", users=OWNER, cubes=other),
        "admin": memory.keys.create("k", powers=all_powers),
    }


def arguments(world: World, verb: str, caller: str) -> dict[str, Any]:
    """Return what an operation is called with, by the names of its parameters."""
    user, cube = world.user_of(caller), world.cube
    given = _ARGUMENTS[verb](world)
    if verb in ("check", "metrics", "audit") or verb.startswith("keys."):
        return given
    if verb in ("search", "search_many", "context", "ask", "ask_stream"):
        return {**given, "user": user, "cubes": cube}
    if verb in ("cubes.list", "cubes.create", "knowledge.list", "knowledge.create"):
        return {**given, "user": user}
    if verb.startswith("knowledge."):
        return {**given, "user": user, "cube": world.base}
    return {**given, "user": user, "cube": cube}


def by_id(world: World, verb: str, caller: str) -> dict[str, Any] | None:
    """Return the arguments without the cube, of an operation that takes an id of something in one; else None."""
    given = arguments(world, verb, caller)
    known = {"id", "change", "jobs", "task"} & given.keys() or verb == "attachments.list"
    if verb.startswith("keys.") or not known:
        return None
    return {name: value for name, value in given.items() if name != "cube"}


_Given = Callable[[World], dict[str, Any]]

_QUERY: Final[_Given] = lambda _: {"query": WORD}  # noqa: E731 - a table of them
_NONE: Final[_Given] = lambda _: {}  # noqa: E731


def _id(name: str, **more: Any) -> _Given:
    return lambda world: {"id": world.ids[name], **more}


_REQUEST: Final = {"model": "m", "messages": [{"role": "user", "content": "Say hello."}]}

_ARGUMENTS: Final[Mapping[str, _Given]] = {
    "add": lambda _: {"messages": "I was here."},
    "extract": lambda _: {"messages": "I moved to Oslo."},
    "search": _QUERY,
    "search_many": lambda _: {"queries": [WORD, "Porto"]},
    "context": _QUERY,
    "ask": lambda _: {"question": f"Who likes {WORD}?"},
    "ask_stream": lambda _: {"question": f"Who likes {WORD}?"},
    "chat": lambda _: {"message": "Hello", "session": "s2"},
    "chat_stream": lambda _: {"message": "Hello", "session": "s2"},
    "list": _NONE,
    "iterate": _NONE,
    "get": _id("message"),
    "update": _id("memory", text="Olga lives in Rome."),
    "history": _id("memory"),
    "explain": _id("message"),
    "lock": _id("memory"),
    "restore": _id("memory"),
    "forget": _id("message"),
    "feedback": lambda _: {"text": f"forget the {WORD} thing"},
    "changes": _NONE,
    "watch": lambda _: {"timeout": 0},
    "undo": lambda world: {"change": world.ids["change"]},
    "profile": _NONE,
    "set_profile": lambda _: {"attribute": "preference.like", "value": "tea"},
    "sessions": _NONE,
    "entities": _NONE,
    "stats": _NONE,
    "rebuild": _NONE,
    "reorganize": _NONE,
    "export": _NONE,
    "load": lambda world: {"lines": world.ids["lines"]},
    "check": _NONE,
    "metrics": _NONE,
    "audit": _NONE,
    "cubes.list": _NONE,
    "cubes.create": lambda _: {"name": "mine"},
    "cubes.delete": _NONE,
    "cubes.members": _NONE,
    "cubes.share": lambda _: {"member": "newcomer"},
    "cubes.unshare": lambda _: {"member": "guest"},
    "knowledge.list": _NONE,
    "knowledge.create": lambda _: {"name": "mine"},
    "knowledge.update": lambda _: {"description": "another"},
    "knowledge.delete": _NONE,
    "knowledge.bind": lambda _: {"member": "guest"},
    "knowledge.unbind": lambda _: {"member": "guest"},
    "knowledge.add": lambda _: {"text": "Wash the jars.", "name": "jars.md"},
    "knowledge.documents": _NONE,
    "knowledge.get": lambda world: {"document": world.ids["document"]},
    "knowledge.versions": lambda world: {"document": world.ids["document"]},
    "knowledge.chunks": lambda world: {"document": world.ids["document"]},
    "knowledge.file": lambda world: {"document": world.ids["document"]},
    "knowledge.refresh": lambda world: {"document": world.ids["document"]},
    "knowledge.remove": lambda world: {"document": world.ids["document"]},
    "attachments.list": lambda world: {"message": world.ids["picture"]},
    "attachments.get": _id("attachment"),
    "attachments.file": _id("attachment"),
    "llm.complete": lambda _: {"prompt": Prompt((Turn("user", "Say hello."),))},
    "relay.send": lambda _: {"request": _REQUEST},
    "relay.stream": lambda _: {"request": _REQUEST},
    "llm.usage": _NONE,
    "llm.calls": _NONE,
    "jobs.list": _NONE,
    "jobs.iterate": _NONE,
    "jobs.counts": _NONE,
    "jobs.share": _NONE,
    "jobs.set_share": lambda _: {"weight": 2.0},
    "jobs.wait": lambda world: {"jobs": [world.ids["done"]], "timeout": 5},
    "jobs.events": lambda _: {"timeout": 0},
    "jobs.task": lambda _: {"task": "t1"},
    "jobs.get": _id("queued"),
    "jobs.cancel": _id("queued"),
    "jobs.retry": _id("cancelled"),
    "jobs.drop": _id("done"),
    "keys.list": _NONE,
    "keys.create": lambda _: {"name": "new"},
    "keys.rotate": _id("key"),
    "keys.revoke": _id("key"),
    "keys.drop": _id("over"),
}


def written() -> str:
    """Return the table as Markdown: `ok`, or the code of the error."""
    told = {verb: [code.replace("_", " ") for code in row.values()] for verb, row in TABLE.items()}
    rows = [["operation", *(caller.replace("_", " ") for caller in CALLERS)], ["---"] * (len(CALLERS) + 1)]
    rows += [[f"`{verb}`", *codes] for verb, codes in told.items()]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    count = f"{len(TABLE)} operations x {len(CALLERS)} callers = {len(TABLE) * len(CALLERS)} permissions"
    return "\n".join([*lines, "", count])


if __name__ == "__main__":
    sys.stdout.write(f"{written()}\n")
