"""Documents over HTTP: forms and JSON in, files out, and whatever people send that is neither."""

from __future__ import annotations

import base64
import socket
import tempfile
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import anyio
import httpx2
import pytest
from fastapi import FastAPI

from mnemic import Memory
from mnemic.acting import acting
from mnemic.model.caller import LOCAL
from mnemic.shells.http.app import build
from mnemic.shells.http.files import disposition
from tests.interaction.http_served import asking, guarded, serving

HOURS = b"# Opening hours\n\nThe office closes at six.\n"
BOUNDARY = "----mnemic-test"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("uploads")
    with guarded(folder, worker=False, file_megabytes=1, serve_max_upload_megabytes=4) as opened:
        yield opened


@pytest.fixture(scope="module")
def app(memory: Memory) -> FastAPI:
    return build(memory)


@pytest.fixture
def base(memory: Memory, request: pytest.FixtureRequest) -> str:
    with acting(LOCAL):
        return memory.knowledge.create(request.node.name, user="ann").cube.id


def sent(app: FastAPI, method: str, path: str, **options: Any) -> httpx2.Response:
    """Return the response to one request."""

    async def call() -> httpx2.Response:
        async with asking(app) as client:
            return await client.request(method, path, **options)

    return anyio.run(call)


def part(name: str, content: bytes, filename: str | bytes | None = None, media: str = "") -> bytes:
    """Return a part of a form as it travels."""
    told = f'form-data; name="{name}"'.encode()
    if filename is not None:
        told += b'; filename="' + (filename if isinstance(filename, bytes) else filename.encode()) + b'"'
    kind = f"Content-Type: {media}\r\n".encode() if media else b""
    return f"--{BOUNDARY}\r\n".encode() + b"Content-Disposition: " + told + b"\r\n" + kind + b"\r\n" + content + b"\r\n"


def form(*parts: bytes, end: bool = True) -> bytes:
    return b"".join(parts) + (f"--{BOUNDARY}--\r\n".encode() if end else b"")


def posted(app: FastAPI, base: str, body: Any, **headers: str) -> httpx2.Response:
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    return sent(app, "POST", f"/v1/knowledge/{base}/documents", content=body, headers={**kind, **headers})


def uploaded(app: FastAPI, base: str, *files: tuple[str, bytes], **fields: str) -> httpx2.Response:
    texts = [part(name, value.encode()) for name, value in {"user": "ann", **fields}.items()]
    return posted(app, base, form(*texts, *(part("file", content, name) for name, content in files)))


def names(memory: Memory, base: str) -> Sequence[str]:
    with acting(LOCAL):
        return [each.name for each in memory.knowledge.documents(base, user="ann")]


def test_a_file_comes_as_a_form_and_is_given_out_byte_for_byte(memory: Memory, app: FastAPI, base: str) -> None:
    content = HOURS + bytes(range(256)) * 200
    reply = uploaded(app, base, ("hours.md", content), metadata='{"by": "Ann"}')
    assert reply.status_code == 201, reply.text
    told = reply.json()
    assert (told["name"], told["origin"], told["latest"]["size"]) == ("hours.md", "file", len(content))
    assert told["metadata"] == {"by": "Ann"}
    path = f"/v1/knowledge/{base}/documents/{told['id']}"
    given = sent(app, "GET", f"{path}/file", params={"user": "ann"})
    assert given.content == content
    assert given.headers["content-disposition"] == "attachment; filename=\"hours.md\"; filename*=UTF-8''hours.md"
    assert given.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in given.headers["content-security-policy"]
    gone = sent(app, "DELETE", path, params={"user": "ann"})
    assert gone.json()["removed"]["document"] == 1
    assert sent(app, "GET", f"{path}/file", params={"user": "ann"}).status_code == 404


def test_several_files_have_an_outcome_each_and_one_too_large_keeps_out_no_other(
    memory: Memory, app: FastAPI, base: str
) -> None:
    files = (("a.md", HOURS), ("large.bin", b"x" * 1_000_001), ("empty.txt", b""), ("b.md", HOURS + b"Or at five."))
    reply = uploaded(app, base, *files)
    assert reply.status_code == 207
    found = reply.json()["data"]
    assert [each["file"] for each in found] == [name for name, _ in files]
    assert [each["document"] is not None for each in found] == [each["problem"] is None for each in found]
    assert found[0]["document"]["name"] == "a.md" and found[3]["document"]["name"] == "b.md"
    assert found[1]["problem"]["code"] == "too_large" and "large.bin" in found[1]["problem"]["detail"]
    assert {"a.md", "b.md"} <= set(names(memory, base)) and "large.bin" not in names(memory, base)


def test_one_file_too_large_is_refused(memory: Memory, app: FastAPI, base: str) -> None:
    reply = uploaded(app, base, ("large.bin", b"x" * 1_000_001))
    assert (reply.status_code, reply.json()["code"], reply.json()["field"]) == (413, "too_large", "file")
    assert "1 MB" in reply.json()["detail"] and names(memory, base) == []


def test_more_files_than_one_request_may_bring_are_refused_whole(memory: Memory, app: FastAPI, base: str) -> None:
    reply = uploaded(app, base, *((f"{number}.md", HOURS + str(number).encode()) for number in range(21)))
    assert (reply.status_code, reply.json()["field"]) == (413, "file")
    assert "20" in reply.json()["detail"] and names(memory, base) == []


def test_a_form_larger_than_all_is_refused_told_or_not(memory: Memory, app: FastAPI, base: str) -> None:
    body = form(part("user", b"ann"), *(part("file", b"y" * 900_000, f"{number}.txt") for number in range(5)))

    async def pieces() -> Any:
        for start in range(0, len(body), 100_000):
            yield body[start : start + 100_000]

    for content in (body, pieces()):
        reply = posted(app, base, content)
        assert (reply.status_code, reply.json()["field"]) == (413, "body")
        assert "4 MB" in reply.json()["detail"]
    assert names(memory, base) == []


@pytest.mark.parametrize(
    "given, name",
    [
        ("../../etc/passwd", "passwd"),
        ("/etc/cron.d/job.txt", "job.txt"),
        ("C:\\Users\\ann\\plan.txt", "plan.txt"),
        ("..\\..\\win.ini", "win.ini"),
        ("Krátký přehled 花.txt", "Krátký přehled 花.txt"),
        ("a;b=c 'd' %00.txt", "a;b=c 'd' %00.txt"),
    ],
)
def test_a_files_name_is_a_name_and_no_path(memory: Memory, app: FastAPI, base: str, given: str, name: str) -> None:
    reply = uploaded(app, base, (given, HOURS))
    assert reply.status_code == 201, reply.text
    assert reply.json()["name"] == name == names(memory, base)[0]


@pytest.mark.parametrize(
    "given",
    ["", "..", ".", "a/..", "x\0y.txt", "x\x01y.txt", "x" * 5_000 + ".txt", b"caf\xe9.txt", "a/", "\u202egpj.exe"],
)
def test_what_is_no_name_is_refused_or_made_harmless(
    memory: Memory, app: FastAPI, base: str, given: str | bytes
) -> None:
    reply = posted(app, base, form(part("user", b"ann"), part("file", HOURS, given)))
    if reply.status_code == 201:
        name = reply.json()["name"]
        assert not any(char < " " for char in name) and "/" not in name and name not in ("", ".", "..")
        return
    assert reply.status_code == 422 and reply.json()["field"] in ("file", "name", "body"), reply.text
    assert names(memory, base) == []


def test_a_line_feed_in_a_name_ends_no_header(memory: Memory, app: FastAPI, base: str) -> None:
    reply = posted(app, base, form(part("user", b"ann"), part("file", HOURS, "a.txt\r\nX-Evil: 1\r\n\r\n<html>")))
    assert "x-evil" not in reply.headers and not any(char < " " for name in names(memory, base) for char in name)
    for name in (
        "a\r\nX-Evil: 1.txt",
        'a"; filename="b.exe',
        "\u2028\u202e",
        "x" * 5_000 + ".pdf",
        "..",
        "",
        "a\ud800.txt",
    ):
        told = disposition(name)
        assert told.isascii() and told.isprintable() and told.count('"') == 2 and len(told) < 1_500
    assert disposition("x" * 5_000 + ".pdf").endswith(".pdf")


_FILE = part("file", HOURS, "a.md")


@pytest.mark.parametrize(
    "body",
    [
        b"", b"garbage", form(_FILE, end=False), form(_FILE)[:-4], form(_FILE)[:40], f"--{BOUNDARY}\r\n".encode(),
        f"--{BOUNDARY}--\r\n".encode(), form(part("user", b"ann")), form(part("file", b"text")),
        form(part("attachment", HOURS, "a.md")), form(_FILE, part("user", b"ann"), part("user", b"bob")),
        form(part("user", b"ann"), part("colour", b"red"), _FILE), form(part("user", b"\xff"), _FILE),
        form(part("user", b"ann"), part("metadata", b"[]"), _FILE),
        form(part("user", b"ann"), part("wait", b"yes"), _FILE),
        form(*(part(f"f{number}", b"") for number in range(100)), _FILE), form(part("user", b"a" * 1_100_000), _FILE),
        f"--{BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\nx\r\n".encode() + form(_FILE),
        f"--{BOUNDARY}\r\n{'X-A: b' * 3_000}\r\n\r\nx\r\n".encode() + form(_FILE),
        form(part("user", b"ann"), part("source", b"/etc/passwd"), _FILE),
        form(part("user", b"ann"), part("name", b"n"), _FILE, part("file", HOURS, "b.md")),
        form(part("user", b"ann"), part("wait", b"true"), _FILE, part("file", HOURS, "b.md")),
    ],
)  # fmt: skip
def test_what_is_no_whole_form_stores_nothing(memory: Memory, app: FastAPI, base: str, body: bytes) -> None:
    reply = posted(app, base, body)
    assert reply.status_code in (413, 422), reply.text
    assert reply.json()["field"] and names(memory, base) == []


@pytest.mark.parametrize(
    "kind", ["text/plain", "multipart/form-data", "multipart/form-data; boundary=", "image/png", ""]
)
def test_other_media_types_are_refused(memory: Memory, app: FastAPI, base: str, kind: str) -> None:
    headers = {"Content-Type": kind} if kind else {}
    reply = sent(app, "POST", f"/v1/knowledge/{base}/documents", content=form(_FILE), headers=headers)
    assert reply.status_code in (415, 422) and reply.json()["field"] == "Content-Type"
    assert names(memory, base) == []


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/knowledge", "/v1/search"])
def test_a_form_is_taken_where_files_are_and_nowhere_else(app: FastAPI, path: str) -> None:
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    assert sent(app, "POST", path, content=form(_FILE), headers=kind).status_code == 415


def raw(address: str, head: str, body: bytes) -> bytes:
    """Send bytes as they are, close the way out, and return what comes back."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port), timeout=30) as line:
        line.sendall(head.replace("\n", "\r\n").encode() + b"\r\n" + body)
        line.shutdown(socket.SHUT_WR)
        found = b""
        while more := line.recv(65_536):
            found += more
    return found


def test_a_body_that_lies_about_its_length_or_is_cut_stores_nothing(memory: Memory, base: str) -> None:
    body = form(part("user", b"ann"), _FILE)
    with serving(memory) as (address, _):
        for length in (len(body) + 50, len(body) - 30, 10**9):
            head = (
                f"POST /v1/knowledge/{base}/documents HTTP/1.1\nHost: localhost\nConnection: close\n"
                f"Content-Type: multipart/form-data; boundary={BOUNDARY}\nContent-Length: {length}\n"
            )
            assert b" 201 " not in raw(address, head, body)
            assert names(memory, base) == []


def _files_below(*folders: Path) -> set[Path]:
    return {path for folder in folders for path in folder.rglob("*") if path.is_file()}


def test_who_may_not_add_leaves_nothing_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with guarded(tmp_path / "home", worker=False) as memory:
        with acting(LOCAL):
            base = memory.knowledge.create("handbook", user="ann").cube.id
            memory.cubes.share(base, "rita", "reader", user="ann")
            expired = memory.keys.create("k", users="ann")
            memory.keys.rotate(expired.key.id, overlap_hours=0)
            keys = {
                "reader": memory.keys.create("k", users="rita").secret,
                "stranger": memory.keys.create("k", users="stan").secret,
                "only reads": memory.keys.create("k", users="ann", powers="read").secret,
                "expired": expired.secret,
                "unknown": "mnk_nobody",
            }
        before = _files_below(tmp_path)
        app = build(memory)
        body = form(part("file", b"z" * 3_000_000, "a.bin"))  # more than stays in memory
        codes = {}
        for who, key in keys.items():
            codes[who] = posted(app, base, body, Authorization=f"Bearer {key}").status_code
            assert not _files_below(temporary)
        assert codes == {"reader": 403, "stranger": 404, "only reads": 403, "expired": 401, "unknown": 401}
        assert {path for path in _files_below(tmp_path) - before if "-wal" not in path.name} == set()
        assert names(memory, base) == []


def test_a_refusal_reaches_its_client_though_the_upload_is_not_read(memory: Memory, base: str) -> None:
    with acting(LOCAL):
        other = memory.keys.create("k", users="bob")
    try:
        with serving(memory) as (address, _), httpx2.Client(base_url=address, timeout=30) as client:
            for key, status in (("mnk_nobody", 401), (other.secret, 404)):
                reply = client.post(
                    f"/v1/knowledge/{base}/documents", files={"file": ("a.bin", b"z" * 900_000)},
                    headers={"Authorization": f"Bearer {key}"},
                )  # fmt: skip
                assert reply.status_code == status
    finally:
        with acting(LOCAL):
            memory.keys.revoke(other.key.id)
            memory.keys.drop(other.key.id)


def test_the_same_form_under_one_idempotency_key_is_added_once(memory: Memory, app: FastAPI, base: str) -> None:
    first = posted(app, base, form(part("user", b"ann"), _FILE), **{"Idempotency-Key": base})
    other = form(part("user", b"ann"), _FILE).replace(BOUNDARY.encode(), b"another")
    again = sent(
        app, "POST", f"/v1/knowledge/{base}/documents", content=other,
        headers={"Content-Type": "multipart/form-data; boundary=another", "Idempotency-Key": base},
    )  # fmt: skip
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["idempotent-replayed"] == "true" and again.json() == first.json()
    changed = posted(
        app, base, form(part("user", b"ann"), part("file", HOURS + b"!", "a.md")), **{"Idempotency-Key": base}
    )
    assert (changed.status_code, changed.json()["code"]) == (409, "conflict")
    assert len(names(memory, base)) == 1


def test_a_large_upload_is_not_held_in_memory(tmp_path: Path) -> None:
    block = b"w" * 100_000

    async def pieces() -> Any:
        yield part("user", b"ann") + part("file", b"", "large.txt")[:-2]
        for _ in range(300):
            yield block
        yield b"\r\n" + form()

    with guarded(tmp_path, worker=False) as memory:
        with acting(LOCAL):
            base = memory.knowledge.create("handbook", user="ann").cube.id
        app = build(memory)
        tracemalloc.start()
        try:
            reply = posted(app, base, pieces())
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert reply.status_code == 201 and reply.json()["latest"]["size"] == 30_000_000
        assert peak < 12_000_000


# -- JSON ------------------------------------------------------------------------------------------------------------


def told(app: FastAPI, base: str, **body: Any) -> httpx2.Response:
    return sent(app, "POST", f"/v1/knowledge/{base}/documents", json={"user": "ann", **body})


def test_a_document_comes_as_json_too(memory: Memory, app: FastAPI, base: str) -> None:
    file = {"name": "in/base64.md", "media": "text/markdown", "data": base64.b64encode(HOURS).decode()}
    assert told(app, base, file=file).json()["name"] == "base64.md"
    text = told(app, base, text=HOURS.decode(), name="text.md").json()
    assert (text["name"], text["origin"]) == ("text.md", "text")
    address = told(app, base, source="HTTPS://docs.example/Page", refresh_hours=24).json()
    assert (address["origin"], address["latest"]["state"], address["refresh"]["hours"]) == ("address", "queued", 24)
    assert address["address"].lower().startswith("https://docs.example/")


@pytest.mark.parametrize(
    "body, field",
    [
        ({"source": "/etc/passwd"}, "source"),
        ({"source": "file:///etc/passwd"}, "source"),
        ({"source": "~/notes.md"}, "source"),
        ({"source": "\thttps:/docs.example/"}, "source"),
        ({"source": "ftp://docs.example/"}, "source"),
        ({"source": ""}, "source"),
        ({"source": {"path": "/etc/passwd"}}, "source"),
        ({}, "source"),
        ({"text": "a", "source": "https://docs.example/"}, "text"),
        ({"file": {"data": "YQ==", "path": "/etc/passwd"}}, "file.path"),
        ({"file": {"name": "a"}}, "file.data"),
        ({"file": {"name": "a", "data": "%%%"}}, "file.data"),
        ({"file": {"name": "a", "data": "YQ"}}, "file.data"),
        ({"file": {"data": "YQ=="}}, "name"),
        ({"text": "a"}, "name"),
        ({"file": "YQ=="}, "file"),
        ({"path": "/etc/passwd"}, "path"),
    ],
)
def test_a_path_and_what_is_no_document_is_refused(
    memory: Memory, app: FastAPI, base: str, body: dict[str, Any], field: str
) -> None:
    reply = told(app, base, **body)
    assert (reply.status_code, reply.json()["field"]) == (422, field), reply.text
    assert names(memory, base) == []


def test_a_file_in_json_has_the_limit_of_a_file(app: FastAPI, base: str) -> None:
    reply = told(app, base, file={"name": "a.bin", "data": base64.b64encode(b"x" * 1_000_001).decode()})
    assert (reply.status_code, reply.json()["code"]) == (413, "too_large")


def test_documents_are_looked_at_and_read_back_over_http(memory: Memory, app: FastAPI, base: str) -> None:
    ids = [told(app, base, text=f"{HOURS.decode()}{number}", name=f"{number}.md").json()["id"] for number in range(3)]
    with acting(LOCAL):
        memory.jobs.wait(user="ann", cube=base)
    path = f"/v1/knowledge/{base}/documents"
    first = sent(app, "GET", path, params={"user": "ann", "limit": 2}).json()
    rest = sent(app, "GET", path, params={"user": "ann", "limit": 2, "after": first["next"]}).json()
    assert [each["id"] for each in (*first["data"], *rest["data"])] == ids and rest["next"] is None
    one = sent(app, "GET", f"{path}/{ids[0]}", params={"user": "ann"}).json()
    assert one["latest"]["state"] == "ready", one
    chunks = sent(app, "GET", f"{path}/{ids[0]}/chunks", params={"user": "ann"}).json()
    assert "closes at six" in str(chunks["data"]) and chunks["next"] is None
    assert [
        each["number"] for each in sent(app, "GET", f"{path}/{ids[0]}/versions", params={"user": "ann"}).json()["data"]
    ] == [1]
    gone = sent(app, "DELETE", f"{path}/{quote(','.join(ids))}", params={"user": "ann"})
    assert gone.json()["removed"]["document"] == 3
    assert sent(app, "GET", path, params={"user": "ann"}).json()["data"] == []
