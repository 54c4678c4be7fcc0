"""Stories that are told to every face: each calls verbs, and what comes of them is noted."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from mnemic.model.job import Job
from mnemic.model.language import Prompt, Turn
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.model.message import Message
from tests.services.faces import Told

LISBON: Final = timezone(timedelta(hours=1))
HOSTILE_IDS: Final = (
    "a/b", "a?b#c", "50% of it", "a&b=c d", "'\"", "..", ".", "...", "%2F", "%252e", "+", "a\\b", "ünï", "名前",
    "a\u2028b", "👩\u200d👧", "a\r\nb: c", "x" * 512, ";", ":", "@", "~user", "http://other/", "//other", " padded ",
)  # fmt: skip
REFUSED_IDS: Final = ("", " ", "\t\n", "x" * 513, "nul\0", "lone \ud800")
HOSTILE_TEXTS: Final = (
    "only \ud800 a lone surrogate",
    "NUL \0 inside",
    "\u2028 and \u2029 and \x85 end no line",
    "\ufeffa mark",
    "\u0130stanbul \u0131",
    "e\u0301 and \u202eright to left",
    '{"json": [1, 2]} ```fence``` </s> <think>',
    "a\r\nb\rc\n\nd",
    "data: x\n\nevent: error",
    "...",
    "😀" * 40,
    "\\_ \\u0041 %s {curly} $1",
)

WRONG_MESSAGES: Final[tuple[Any, ...]] = (
    [], "", "  \n", [""], [{}], {"content": None}, {"role": "king", "content": "x"}, {"content": "x", "at": "noon"},
)  # fmt: skip
WRONG_SEARCHES: Final[tuple[dict[str, Any], ...]] = (
    {"limit": 0}, {"limit": 10**9}, {"kinds": "dreams"}, {"kinds": []}, {"where": {"moon": 1}}, {"threshold": 7.5},
)  # fmt: skip
TALK: Final = [
    {"role": role, "name": name, "content": content, "at": f"2026-01-{day:02}T09:00:00+01:00"}
    for day, role, name, content in (
        (2, "user", "ann", "I live in Porto, and I work as a nurse."),
        (3, "assistant", "bot", "What is your sister called?"),
        (4, "user", "ann", "My sister is called Clara. I like green tea."),
        (20, "user", "ann", "I moved to Faro."),
    )
]


def live(do: Told) -> None:
    """Let Ann talk, and let the work be done."""
    do("add", TALK, user="ann", session="s1", task="talk")
    do("jobs.wait", user="ann")


def memories(do: Told, user: str = "ann") -> list[MemoryRecord]:
    """Return the memories of a user."""
    return [each for each in do("list", user=user, kinds="memory") if isinstance(each, MemoryRecord)]


def writing_messages(do: Told) -> None:
    """Messages in every form, and all that is wrong with some."""
    do("add", "hello", user="ann")
    do("add", "hello", user=7, session=0, agent=12)
    do(
        "add",
        ["one", Message("user", "two", name="bo", metadata={"a": [1, None, {"b": 1.5}]}), {"content": "three"}],
        user="ann",
    )
    do("add", Message("assistant", [{"type": "text", "text": "parts"}], id="m1", at=datetime(2026, 1, 1)), user="ann")  # noqa: DTZ001
    do("add", {"role": "assistant", "content": [{"type": "text", "text": "parts"}], "id": "m1"}, user="ann")
    do("add", {"content": "other words", "id": "m1"}, user="ann")
    do("add", {"content": "times", "at": datetime(2025, 1, 1, 8, tzinfo=LISBON)}, user="ann")
    do("add", {"content": "seconds", "at": 1_700_000_000.5}, user="ann")
    do("add", {"content": "naive", "at": "2020-02-02T02:02:02"}, user="ann")
    do("add", {"content": "early", "at": "1812-06-24T00:00:00Z"}, user="ann")
    for wrong in WRONG_MESSAGES:
        do("add", wrong, user="ann")
    do(
        "add",
        [{"role": "king", "content": "x"}, "fine", {"content": "y", "id": ""}, {"content": "z", "mood": 1}],
        user="ann",
    )
    do("add", {"content": "x", "metadata": {"a": 1, "deep": [[[[{"b": "c"}]]]]}}, user="ann")
    do("add", {"content": "x", "metadata": "none"}, user="ann")
    do(
        "add",
        {"role": "user", "content": "", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
        user="ann",
    )
    do("list", user="ann")
    do("list", user=7)
    do("sessions", user="ann")
    do("sessions", user="7")


def hostile_texts(do: Told) -> None:
    """What is odd comes back as it was given."""
    do("add", list(HOSTILE_TEXTS), user="ann", session="odd")
    for each in do("list", user="ann"):
        do("get", each.id, user="ann")
    do("add", "word " * 15_000 + "needle " + "word " * 2_600, user="ann", session="big")
    do("search", "needle", user="ann", limit=3)
    for text in HOSTILE_TEXTS:
        do("search", text, user="ann", limit=2)
        do("ask", text, user="ann")
    do("search", "", user="ann")
    do("context", "what about the fence?", user="ann", budget=50)
    do("add", {"content": "meta", "metadata": {"k\u2028": "\ud800", "": None, "key": 1, "cube_key": 2}}, user="bo")
    do("list", user="bo")


def hostile_ids(do: Told) -> None:
    """Ids may hold anything that is text, wherever they stand."""
    for number, each in enumerate(HOSTILE_IDS):
        do("add", {"content": f"note {number}", "id": each}, user=each, session=each, agent=each, task=each)
        do("list", user=each, session=each)
        do("jobs.task", each, user=each)
        do("get", each, user=each)
        do("forget", session=each, user=each)
        do("cubes.delete", each, user="ann")
        do("list", user="ann", cube=each)
    for wrong in REFUSED_IDS:
        do("get", wrong, user="ann")
        do("list", user=wrong)
        do("list", user="ann", after=wrong)
        do("jobs.get", wrong, user="ann")
        do("undo", wrong, user="ann")
        do("add", "x", user=wrong)
        do("add", "x", user="ann", session=wrong)


def reading(do: Told) -> None:
    """All that can be looked at."""
    live(do)
    do("search", "Where does Ann live?", user="ann", explain=True)
    do("search", "Where does Ann live?", user="ann", as_of="2026-01-10", kinds=["fact", "message"], limit=2)
    do("search", "tea", user="ann", threshold=0.9, reference_time=datetime(2026, 2, 1, tzinfo=UTC))
    do("search", "tea", user="ann", where={"speaker": "ann", "said_at": {"gt": datetime(2026, 1, 1, tzinfo=UTC)}})
    do("search_many", ["tea", "sister", ""], user="ann", limit=1)
    do("search_many", ["tea", "sister"], user="ann", limit=1, kinds="message")
    do("context", "Where does Ann live?", user="ann", budget=200, limit=3)
    do("ask", "Where does Ann live?", user="ann")
    do("ask", "What is the boat called?", user="ann", mode="extractive")
    do("ask_stream", "Where does Ann live?", user="ann")
    do("profile", user="ann")
    do(
        "profile",
        user="ann",
        subject="ann",
        as_of=datetime(2026, 1, 10, tzinfo=UTC),
        template=["home.place", "work.job"],
    )
    for wrong in WRONG_SEARCHES:
        do("search", "tea", user="ann", **wrong)
    do("search", "tea", user="ann", as_of="some day")
    do("search", "tea", user="nobody")
    do("ask", "tea", user="ann", mode="model")
    do("list", user="ann", kinds=["message", "fact"], limit=2)
    do("list", user="ann", kinds=[])
    do("list", user="ann", newest=True)
    for where in ({"speaker": "ann"}, {"said_at": {"gt": datetime(2026, 1, 4, tzinfo=UTC)}}, {"a&b": "\u2028"}, {}):
        do("list", user="ann", where=where)
        do("iterate", user="ann", where=where)
    do("iterate", user="ann")
    do("iterate", user="ann", kinds="preference", newest=True)
    do("iterate", user="ann", kinds="dreams")
    for each in do("list", user="ann"):
        do("get", each.id, user="ann")
        do("explain", each.id, user="ann")
        do("history", each.id, user="ann")
        do("get", each.id, user="bo")
    do("sessions", user="ann")
    do("entities", user="ann")
    do("check")


def correcting(do: Told) -> None:
    """Memories change by hand, each change can be seen and taken back."""
    live(do)
    [home, *_] = [each for each in memories(do) if "Faro" in each.current.text]
    number = home.current.number
    do("update", home.id, "Ann lives in Tavira.", user="ann", if_version=number)
    do("update", home.id, "Ann lives in Lagos.", user="ann", if_version=number)
    do("update", home.id, "", user="ann")
    do("update", home.id, "x", user="ann", if_version=0)
    do("update", "nowhere", "x", user="ann")
    do("lock", home.id, user="ann")
    do("restore", home.id, user="ann")
    do("lock", home.id, user="ann", locked=False)
    do("restore", home.id, user="ann")
    do("restore", home.id, user="ann", version=99)
    do("history", home.id, user="ann")
    changes = do("changes", user="ann")
    for change in changes:
        do("undo", change.id, user="ann")
        do("undo", change.id, user="ann")
    do("feedback", "forget the tea thing", user="ann", dry_run=True)
    do("feedback", "my sister is called Beatriz, not Clara", user="ann", session="f")
    do("feedback", "", user="ann")
    do("set_profile", "home.place", "Évora", user="ann", locked=True)
    do("set_profile", "home.place", user="ann", remove=True)
    do("set_profile", "a/b", "x", user="ann")
    do("extract", "I have a dog called Rex.", user="ann")
    do("rebuild", user="ann", wait=True)
    do("reorganize", user="ann", dry_run=True)
    do("reorganize", user="ann")
    message = do("list", user="ann", kinds="message")[0]
    do("update", message.id, "x", user="ann")
    do("forget", message.id, user="ann")
    do("forget", user="ann")
    do("forget", "a", user="ann", everything=True)
    do("forget", about="tea", user="ann")
    do("forget", everything=True, user="ann")
    do("list", user="ann")


def working(do: Told) -> None:
    """Background work can be looked at, waited for and stopped."""
    do("add", "I live in Porto.", user="ann", task="t 1/2")
    [job] = do("jobs.list", user="ann")
    do("jobs.get", job.id, user="ann")
    do("jobs.task", "t 1/2", user="ann")
    do("jobs.counts", user="ann")
    do("jobs.cancel", job.id, user="ann")
    do("jobs.cancel", job.id, user="ann")
    do("jobs.wait", job.id, user="ann")
    do("jobs.retry", job.id, user="ann")
    do("jobs.wait", [job.id], user="ann", timeout=30)
    do("jobs.drop", job.id, user="ann")
    do("jobs.get", job.id, user="ann")
    do("jobs.wait", "nobody", user="ann")
    do("jobs.wait", user="ann", timeout=-1.5)
    do("jobs.wait", "a", user="ann", task="b")
    do("add", "I like tea.", user="ann")
    told: list[Job] = do("jobs.events", user="ann", timeout=0)
    do("jobs.events", user="ann", timeout=0, since=told[-1])
    do("jobs.events", user="ann", timeout=0, since="yesterday")
    do("jobs.iterate", user="ann", states=["queued", "done"])
    do("jobs.list", user="ann", states="nowhere")
    do("jobs.list", user="ann", open_only=True, states="dead")
    do("jobs.share", user="ann")
    do("jobs.set_share", user="ann", weight=2.5, running=3)
    do("jobs.set_share", user="ann", weight=1000.5)
    do("jobs.share", user="ann")
    do("watch", user="ann", timeout=0)
    do("watch", user="ann", cube="nowhere")
    do("rebuild", user="nobody")


def keeping_cubes(do: Told) -> None:
    """Cubes are made, used and deleted by their owner, and are not there for anybody else."""
    cube = do("cubes.create", "work/1", user="ann")
    do("cubes.create", "work/1", user="ann")
    do("cubes.create", "", user="ann")
    do("cubes.create", "x", user="ann", kind="castle")
    do("cubes.list", user="ann")
    do("cubes.list", user="bo")
    do("add", "We meet on Mondays.", user="ann", cube=cube.id)
    do("add", "I am let in?", user="bo", cube=cube.id)
    do("search", "Mondays", user="bo", cubes=[cube.id])
    do("search", "Mondays", user="ann", cubes=cube.id)
    do("list", user="ann", cube=cube.id)
    do("cubes.delete", cube.id, user="bo")
    do("cubes.delete", cube.id, user="ann")
    do("cubes.delete", cube.id, user="ann")


def sharing(do: Told) -> None:
    """Others are let into a cube, as far as their role goes; who may not is told so."""
    cube = do("cubes.create", "work", user="ann")
    do("cubes.share", cube.id, "b/o", user="ann")
    do("cubes.share", cube.id, "b/o", "king", user="ann")
    do("cubes.share", cube.id, "", user="ann")
    do("cubes.members", cube.id, user="b/o")
    do("search", "Mondays", user="b/o", cubes=cube.id)
    do("add", "I may not write.", user="b/o", cube=cube.id)
    do("cubes.share", cube.id, "eve", user="b/o")
    do("cubes.delete", cube.id, user="b/o")
    do("cubes.share", cube.id, "b/o", "editor", user="ann")
    do("add", "Now I may.", user="b/o", cube=cube.id)
    do("list", user="b/o", cube=cube.id)
    do("cubes.unshare", cube.id, "b/o", user="ann")
    do("list", user="b/o", cube=cube.id)
    do("cubes.members", cube.id, user="ann")
    do("cubes.unshare", cube.id, "ann", user="ann")
    do("audit", limit=0)


def keeping_keys(do: Told) -> None:
    """Keys are made, shown once, changed and ended."""
    do("keys.list")
    for options in ({}, {"users": "ann", "powers": "read"}, {"cubes": ["c"], "expires": "2027-01-01T00:00:00Z"}):
        do("keys.create", "a key", **options)
    do("keys.create", "")
    do("keys.create", "x", powers="king")
    do("keys.create", "x", expires="2020-01-01T00:00:00Z")
    [first, *_] = do("keys.list")
    do("keys.rotate", first.id, overlap_hours=1.5)
    do("keys.revoke", first.id)
    do("keys.rotate", first.id)
    do("keys.revoke", "no/body")
    do("keys.list")
    do("audit")


KEYED: Final = ("keeping_keys",)
"""Stories that are told with an admin's key."""


def moving(do: Told) -> None:
    """A cube leaves as lines and comes back as it was."""
    live(do)
    do("add", list(HOSTILE_TEXTS), user="ann", session="odd")
    lines = do("export", user="ann")
    do("load", lines, user="bo")
    do("load", iter(lines), user="bo")
    do("list", user="bo")
    do("load", ["no line of ours"], user="bo")
    do("load", lines[:1], user="cleo")
    do("load", [], user="cleo")
    do("export", user="nobody")
    do("export", user="ann", cube="nowhere")


def modelling(do: Told) -> None:
    """A language model answers, in pieces too, and what it costs is told; an outage is an error."""
    do("add", TALK, user="ann", session="s1")
    do("ask", "Where do I live?", user="ann", mode="model", budget=500)
    do("ask_stream", "Where do I live?", user="ann")
    do("chat", "Where do I live?", user="ann", session="c", persona="A poet")
    do("chat_stream", "And my sister?", user="ann", session="c")
    do("chat_stream", "This breaks off", user="ann", session="c")
    do("ask", "This fails", user="ann", mode="model")
    do("ask_stream", "This is odd: \u2028 \ud800", user="ann")
    prompt = Prompt((Turn("user", "say it"),), schema={"type": "object"}, temperature=None)
    do("llm.complete", prompt, user="ann", purpose="test")
    usage = do("llm.usage", user="ann")
    assert usage.total.calls > 5
    do("list", user="ann", session="c")
    do("chat", "", user="ann")
    do("ask", "x", user="ann", depth=99)


HANDBOOK: Final = "# Opening hours\n\nThe office closes at six.\n\n# Tea\n\nThe kettle is on the third floor.\n"
WRONG_DOCUMENTS: Final[tuple[dict[str, Any], ...]] = (
    {}, {"text": "x"}, {"text": ""}, {"text": "x", "name": "a\nb"}, {"text": "x", "name": "x" * 600},
    {"source": b"", "name": "n"}, {"source": b"x"}, {"source": b"x", "name": "n", "media": "what"}, {"source": 7},
    {"source": "/no/such/file.md"}, {"source": "ftp://docs.example/"}, {"source": "nul\0"},
    {"source": b"x", "name": "n", "refresh_hours": 1}, {"source": b"x", "text": "y", "name": "n"},
)  # fmt: skip
POINT: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def keeping_documents(do: Told) -> None:
    """Make a knowledge base, fill it in every way there is, ask it, and take it away."""
    base = do("knowledge.create", "handbook", user="ann", description="How we work.").cube.id
    at: dict[str, Any] = {"cube": base, "user": "ann"}
    do("knowledge.create", "handbook", user="ann")
    do("knowledge.update", base, user="ann", learns=True, description="How we work here.")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hand book.md"
        path.write_text(HANDBOOK, "utf-8")
        kept = do("knowledge.add", path, wait=True, metadata={"by": "Ann", "n": [1, None]}, **at)
        do("knowledge.add", str(path), **at)
        with path.open("rb") as opened:
            do("knowledge.add", opened, name="opened.md", password="secret", **at)
        with path.open("r", encoding="utf-8") as text:
            do("knowledge.add", text, name="text.md", **at)
    do("knowledge.add", HANDBOOK.encode() + b"More.", name="hand book.md", media="text/markdown", wait=True, **at)
    do("knowledge.add", io.BytesIO(b"Some bytes of text."), name="bytes.txt", **at)
    do("knowledge.add", text="A text.", name="a text", **at)
    do("knowledge.add", "https://docs.example/handbook", refresh_hours=12, **at)
    for wrong in WRONG_DOCUMENTS:
        do("knowledge.add", **wrong, **at)
    looking_at_documents(do, base, kept.id)


def looking_at_documents(do: Told, base: str, document: str) -> None:
    """Look at documents, read them back, search them, and remove them."""
    at: dict[str, Any] = {"cube": base, "user": "ann"}
    do("jobs.wait", user="ann", cube=base)
    listed = do("knowledge.documents", base, user="ann")
    do("knowledge.documents", base, user="ann", limit=2, after=listed[1].id)
    do("knowledge.documents", base, user="ann", state="failed")
    do("knowledge.documents", base, user="ann", state="asleep")
    do("knowledge.get", document, **at)
    do("knowledge.get", "nowhere", **at)
    do("knowledge.versions", document, **at)
    do("knowledge.chunks", document, **at)
    do("knowledge.chunks", document, version=1, kinds=["passage"], limit=1, **at)
    do("knowledge.chunks", document, after=0, kinds="passage", **at)
    do("knowledge.chunks", document, kinds="crumbs", **at)
    do("knowledge.file", document, **at)
    do("knowledge.file", document, version=1, **at)
    do("knowledge.file", document, version=9, **at)
    do("knowledge.refresh", document, **at)
    do("search", "Where is the kettle?", user="ann", cubes=base, limit=3)
    do("knowledge.list", user="ann")
    do("knowledge.bind", base, "bob", user="ann", role="editor")
    do("knowledge.unbind", base, "bob", user="ann")
    do("knowledge.unbind", base, user="ann")
    do("knowledge.bind", base, "bob", user="ann", role="king")
    do("knowledge.list", user="bob")
    do("knowledge.remove", [each.id for each in listed[:2]], **at)
    do("knowledge.remove", [listed[2].id, "nowhere"], **at)
    do("knowledge.remove", [], **at)
    do("knowledge.remove", listed[2].id, **at)
    do("knowledge.delete", base, user="bob")
    do("knowledge.delete", base, user="ann")
    do("knowledge.documents", base, user="ann")


def attaching(do: Told) -> None:
    """Send pictures in all the ways there are, and look at them."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "point.png"
        path.write_bytes(POINT)
        parts: tuple[dict[str, Any], ...] = (
            {"type": "image", "path": path, "caption": "A red point"},
            {"type": "image", "path": str(path), "name": "own.png"},
            {"type": "image", "data": POINT, "caption": "Another point"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(POINT).decode()}},
            {"type": "file", "file": {"file_data": base64.b64encode(b"Some words.").decode(), "filename": "a.txt"}},
        )
        said = do("add", [{"content": [{"type": "text", "text": "Look."}, part]} for part in parts], user="ann")
        do("add", {"role": "user", "content": [parts[0], parts[2]]}, user="ann", session="s2")
        do("add", [{"content": [{"type": "image", "path": "/no/such/picture.png"}]}], user="ann")
    do("add", [{"content": [{"type": "image", "data": "%%%"}]}], user="ann")
    do("jobs.wait", user="ann")
    for message in said.message_ids:
        for each in do("attachments.list", message, user="ann"):
            do("attachments.get", each.id, user="ann")
            do("attachments.file", each.id, user="ann")
            do("attachments.file", each.id, user="ann", thumbnail=True)
        do("get", message, user="ann")
    do("attachments.get", "nowhere", user="ann")
    do("attachments.list", "nowhere", user="ann")
    do("search", "red point", user="ann", limit=2)


STORIES: Final[dict[str, Callable[[Told], None]]] = {
    story.__name__: story
    for story in (
        writing_messages, hostile_texts, hostile_ids, reading, correcting, working, keeping_cubes, sharing,
        keeping_keys, moving, modelling, keeping_documents, attaching,
    )
}  # fmt: skip


def alike(value: Any) -> Any:
    """Return a note of a step without what differs in truth.

    That is seconds and bytes on disk, replies that only a server keeps, and when a key was used, told a minute late.
    """
    if isinstance(value, dict):
        told = {name: inner for name, inner in value.items() if name not in ("reply", "last_used_at")}
        return {name: 0 if name in ("seconds", "bytes_on_disk") else alike(inner) for name, inner in told.items()}
    if isinstance(value, list | tuple):
        return type(value)(alike(each) for each in value)
    return value
