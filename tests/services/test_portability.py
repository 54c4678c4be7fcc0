from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemic.api import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.errors import AccessError, InputError, NotFoundError
from mnemic.model.archive import KINDS
from mnemic.model.query import Hit
from tests.services.opened import Clock, open_memory, talk
from tests.services.test_forget import LONG_TALK, grant, memories

pytestmark = pytest.mark.usefixtures("engine")

HOSTILE = [
    "\u2028 separators \x85 \x0b\x0c",
    "\ud800 lone",
    "nul \0 inside",
    "\ufeffmark",
    "{x} ``` </think> \\_ | 日本語です",
]


def filled(memory: Memory, user: str = "ann") -> None:
    talk(memory, LONG_TALK, user=user)
    talk(memory, [("ann", "I live in Porto.")], user=user, session="a", day=2)
    talk(memory, [("ann", "I moved to Lisbon, I live in Lisbon now.")], user=user, session="b", day=20)
    memory.add([{"role": "system", "content": "Be kind."}, *HOSTILE, "long " * 2_000], user=user, session="odd")
    memory.add(
        [{"role": "user", "id": "m 1", "at": "2026-01-05T10:00:00+05:30", "metadata": {"a": [1, {"b": None}]},
          "content": [{"type": "text", "text": "A picture"}, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]},
         {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}],
        user=user, session="parts", agent="helper",
    )  # fmt: skip
    memory.jobs.wait(user=user)
    home = next(each for each in memories(memory, user) if "Lisbon" in each.current.text)
    memory.update(home.id, home.current.text.replace("Lisbon", "Faro"), user=user)
    memory.lock(home.id, user=user)


@pytest.fixture(scope="module")
def exported(engine: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    with open_memory(tmp_path_factory.mktemp("exported")) as opened:
        filled(opened)
        return list(opened.export(user="ann"))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "one") as opened:
        filled(opened)
        yield opened


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "two", clock=Clock()) as opened:
        yield opened


def shown(memory: Memory, query: str, user: str = "ann") -> list[tuple[Any, ...]]:
    def parts(hit: Hit) -> tuple[Any, ...]:
        return (hit.kind, hit.text, round(hit.score, 6), hit.said_at, hit.speaker, hit.session, hit.external_id,
                hit.metadata, [source.quote for source in hit.sources])  # fmt: skip

    kinds = ["message", "memory", "segment"]
    return [parts(hit) for hit in memory.search(query, user=user, limit=20, kinds=kinds)]


def test_an_export_loads_into_the_same_memory(memory: Memory, other: Memory) -> None:
    lines = list(memory.export(user="ann"))
    imported = other.load(lines, user="ann")
    again = list(other.export(user="ann"))
    assert again[1:] == lines[1:]
    first, second = json.loads(lines[0]), json.loads(again[0])
    assert first["counts"] == second["counts"] == dict(imported.stored)
    assert imported.skipped == 0 and all(count for kind, count in first["counts"].items() if kind != "entity")
    for query in ("Where does Ann live?", "garden tomatoes", "Clara", "日本語", "nurse in Porto", "picture"):
        assert shown(other, query) == shown(memory, query)
    assert other.jobs.list(user="ann", open_only=True) == ()
    assert memory.stats(user="ann").memories == other.stats(user="ann").memories


def test_loading_twice_stores_nothing_twice(memory: Memory, other: Memory) -> None:
    lines = list(memory.export(user="ann"))
    other.load(lines, user="ann")
    again = other.load(iter(lines), user="ann")
    assert not any(again.stored.values()) and again.skipped == len(lines) - 1
    mine = memory.load(lines, user="ann")
    assert not any(mine.stored.values())
    assert list(other.export(user="ann"))[1:] == lines[1:]


def test_lines_are_whole_whatever_people_wrote(exported: list[str]) -> None:
    lines = exported
    assert "\n".join(lines).splitlines() == lines
    assert "\n".join(lines).encode().decode().split("\n") == lines
    assert [json.loads(line).get("type") for line in lines] == sorted(
        (json.loads(line).get("type") for line in lines), key=lambda kind: KINDS.index(kind) if kind else -1
    )


def test_a_copy_for_another_user_of_the_same_store_is_a_memory_of_its_own(memory: Memory) -> None:
    lines = list(memory.export(user="ann"))
    imported = memory.load(lines, user="ben")
    assert dict(imported.stored) == json.loads(lines[0])["counts"]
    assert shown(memory, "Where does Ann live?", "ben") == shown(memory, "Where does Ann live?", "ann")
    ids = {item.id for item in memory.list(user="ann", limit=1000)}
    assert ids == {item.id for item in memory.list(user="ben", limit=1000)}, "ids stay: they are of their cube"
    assert list(memory.export(user="ben"))[1:] == lines[1:]
    assert not any(memory.load(lines, user="ben").stored.values()), "and loading it again changes nothing"
    memory.forget(user="ben", everything=True)
    assert list(memory.export(user="ann"))[1:] == lines[1:]
    assert memory.load(lines, user="ben").stored == imported.stored


def test_a_load_goes_on_living(exported: list[str], other: Memory) -> None:
    other.load(exported, user="ann")
    talk(other, [("ann", "My cat is called Mia."), ("bot", "Hello Mia.")], day=25)
    other.jobs.wait(user="ann")
    assert "Mia" in other.search("cat", user="ann")[0].text
    other.forget(user="ann", about="tomatoes")
    other.jobs.wait(user="ann")
    assert not any("tomato" in text for _, text, *_ in shown(other, "tomatoes"))


def test_a_session_whose_name_is_taken_gets_another_and_the_reply_says_so(exported: list[str], other: Memory) -> None:
    talk(other, [("ann", "Something of my own.")])
    imported = other.load(exported, user="ann")
    names = {session.name for session in other.sessions(user="ann")}
    assert {"s1", "s1 (loaded)"} <= names and any("s1" in note for note in imported.notes)
    assert other.stats(user="ann").messages == imported.stored["message"] + 1


def test_an_older_export_of_a_cube_that_went_on_brings_back_what_was_erased(memory: Memory) -> None:
    lines = list(memory.export(user="ann"))
    messages = memory.stats(user="ann").messages
    memory.forget(user="ann", about="Clara")
    talk(memory, [("ann", "One more thing."), ("bot", "Which one?")], day=22)
    memory.load(lines, user="ann")
    assert memory.stats(user="ann").messages == messages + 2
    assert any("Clara" in text for _, text, *_ in shown(memory, "Clara"))


def test_vectors_of_another_embedder_are_made_anew(exported: list[str], tmp_path: Path) -> None:
    lines = exported
    with open_memory(tmp_path / "wide", embedder=HashingEmbedder(128)) as wide:
        imported = wide.load(lines, user="ann")
        assert any("a job embeds them" in note for note in imported.notes)
        assert [job.kind for job in wide.jobs.wait(user="ann")] == ["embed"]
        assert "Faro" in wide.search("ann lives in Faro", user="ann", kinds="memory")[0].text
        again = [json.loads(line) for line in wide.export(user="ann")]
        assert all(len(line["vectors"]) for line in again if line.get("type") == "message")


def test_messages_that_were_not_read_yet_are_read_where_they_arrive(tmp_path: Path, other: Memory) -> None:
    with open_memory(tmp_path / "three") as fresh:
        talk(fresh, LONG_TALK)
        other.load(fresh.export(user="ann"), user="ann")
    assert [job.kind for job in other.jobs.wait(user="ann")] == ["organize"]
    assert memories(other)


def test_a_user_without_anything_exports_a_header_which_loads_as_nothing(memory: Memory) -> None:
    lines = list(memory.export(user="nobody"))
    assert len(lines) == 1
    assert not any(memory.load(lines, user="nobody").stored.values())


def test_whose_cube_it_is_decides_who_may_export_and_load(memory: Memory) -> None:
    cube = memory.cubes.create("family", user="ann")
    lines = list(memory.export(user="ann", cube=cube.id))
    with pytest.raises(NotFoundError):
        memory.export(user="ben", cube=cube.id)
    with pytest.raises(NotFoundError):
        memory.load(lines, user="ben", cube=cube.id)
    grant(memory, cube.key, "eve", "reader")
    assert list(memory.export(user="eve", cube=cube.id))
    with pytest.raises(AccessError):
        memory.load(lines, user="eve", cube=cube.id)


def changed(lines: list[str], kind: str, change: dict[str, Any]) -> list[str]:
    """Return lines with some fields of the first record of a kind replaced (None: taken away)."""
    place = next(number for number, line in enumerate(lines) if json.loads(line).get("type") == kind)
    record = {**json.loads(lines[place]), **change}
    line = json.dumps({name: value for name, value in record.items() if value is not None})
    return [*lines[:place], line, *lines[place + 1 :]]


@pytest.mark.parametrize(
    "kind,change,field",
    [
        ("session", {"name": ""}, "name"),
        ("session", {"messages": -1}, "messages"),
        ("session", {"started_at": "yesterday"}, "started_at"),
        ("session", {"started_at": "2026-01-01T00:00:00"}, "started_at"),
        ("session", {"colour": "red"}, "colour"),
        ("segment", {"centroid": "not base64!"}, "centroid"),
        ("segment", {"keywords": "one"}, "keywords"),
        ("page", {"replied": 1}, "replied"),
        ("page", {"session_id": "nothing"}, "session_id"),
        ("page", {"position": 2**40}, "position"),
        ("message", {"role": "king"}, "role"),
        ("message", {"content": {"a": 1}}, "content"),
        ("message", {"content": [{"type": "text"}]}, "content"),
        ("message", {"id": None}, "id"),
        ("message", {"id": 7}, "id"),
        ("message", {"page_id": "nothing"}, "page_id"),
        ("message", {"metadata": []}, "metadata"),
        ("message", {"dedupe": "\ud800"}, "dedupe"),
        ("memory", {"kind": "gossip"}, "kind"),
        ("memory", {"versions": []}, "versions"),
        ("memory", {"versions": [{"id": "x"}]}, r"versions\[0\].number"),
        ("memory", {"locked": "no"}, "locked"),
        ("relation", {"to_id": "nothing"}, "to_id"),
        ("message", {"type": "letter"}, "type"),
    ],
)
def test_a_bad_field_is_named_with_its_line_and_nothing_is_stored(
    exported: list[str], other: Memory, kind: str, change: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError, match=rf"lines\[\d+\]\.{field}"):
        other.load(changed(exported, kind, change), user="ann")
    assert other.stats(user="ann").messages == 0 and other.sessions(user="ann") == ()


def test_what_is_no_export_is_refused(exported: list[str], other: Memory) -> None:
    lines = exported
    for bad in ([], ["", "  "], ["{"], ["[]"], ["7"], ['{"format": "mnemic-9"}'], [b"{}"], 7, None, b"x",
                [*lines[:3], "{not json", *lines[3:]], [*lines[:1], '{"a": NaN}'], lines[:-1], [*lines, lines[1]],
                [lines[0], lines[-1], *lines[1:-1]], lines[1:]):  # fmt: skip
        with pytest.raises(InputError, match="lines"):
            other.load(bad, user="ann")  # type: ignore[arg-type]
    assert other.stats(user="ann").sessions == 0


def test_a_file_with_a_mark_blank_lines_and_other_ends_of_lines_loads(exported: list[str], other: Memory) -> None:
    text = "\ufeff" + "\r\n\r\n".join(exported) + "\r\n"
    assert dict(other.load(text, user="ann").stored) == json.loads(exported[0])["counts"]


def test_an_export_is_of_one_moment_while_others_write(memory: Memory) -> None:
    lines = memory.export(user="ann")
    header = json.loads(next(lines))
    memory.add("Said in between.", user="ann", session="late")
    records = [json.loads(line) for line in lines]
    assert sum(record["type"] == "message" for record in records) == header["counts"]["message"]
