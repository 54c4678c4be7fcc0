"""Clients that send files: piece by piece, again when they can be read again, and never more than was meant."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from mnemic import AsyncClient, Client
from mnemic.client.uploading import PIECE, form_of, with_bytes
from mnemic.errors import InputError, TooLargeError, UnreachableError
from mnemic.model.document import Document
from tests.interaction.scripted_http import answering, problem, reply

DOCUMENT: dict[str, Any] = {
    "id": "d", "cube": "b", "name": "a.md", "origin": "file", "address": "", "created_at": "2026-03-01T12:00:00+00:00",
    "latest": {
        "id": "v", "document_id": "d", "number": 1, "state": "queued", "stored_at": "2026-03-01T12:00:00+00:00",
    },
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / 'ä "b"\nc.md'
    found.write_bytes(b"The office closes at six.\r\n--" * 20_000)
    return found


def _sent(body: bytes) -> tuple[dict[str, str], bytes]:
    """Return the fields of a form, and the content of its file."""
    boundary = body.partition(b"\r\n")[0]
    fields: dict[str, str] = {}
    file = b""
    for part in body.split(boundary)[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = head.partition(b'name="')[2].partition(b'"')[0].decode()
        if b"filename" in head:
            file = content.removesuffix(b"\r\n")
        else:
            fields[name] = content.removesuffix(b"\r\n").decode()
    return fields, file


def test_a_file_is_sent_again_under_one_key_when_the_server_was_busy(path: Path) -> None:
    with answering(problem(503, "busy", after="0"), reply(201, DOCUMENT)) as server, Client(server.url) as client:
        client._line.pause = lambda _: None
        found = client.knowledge.add(path, cube="b", user="ann", metadata={"n": 1}, wait=True)
    assert isinstance(found, Document)
    assert [each.headers["idempotency-key"] for each in server.asked] == [
        server.asked[0].headers["idempotency-key"]
    ] * 2
    for each in server.asked:
        assert each.path == "/v1/knowledge/b/documents" and each.method == "POST"
        assert int(each.headers["content-length"]) == len(each.body)
        fields, file = _sent(each.body)
        assert file == path.read_bytes()
        assert fields == {"name": path.name, "user": "ann", "metadata": '{"n": 1}', "wait": "true"}
        assert str(path.parent).encode() not in each.body


def test_an_async_client_sends_files_too(path: Path) -> None:
    async def send(url: str) -> Document:
        async with AsyncClient(url, user="ann") as client:
            client._line.pause = lambda _: anyio.lowlevel.checkpoint()
            return await client.knowledge.add(path, cube="b")

    with answering(problem(503, "busy", after="0"), reply(201, DOCUMENT)) as server:
        assert anyio.run(send, server.url).id == "d"
    assert [_sent(each.body)[1] for each in server.asked] == [path.read_bytes()] * 2


def test_what_can_be_read_only_once_is_sent_only_once() -> None:
    out, into = os.pipe()
    os.write(into, b"through a pipe")
    os.close(into)
    with (
        os.fdopen(out, "rb") as pipe,
        answering(problem(503, "busy", after="0")) as server,
        Client(server.url) as client,
        pytest.raises(Exception, match="no"),
    ):
        client.knowledge.add(pipe, cube="b", user="ann", name="a")
    assert len(server.asked) == 1
    assert b"through a pipe" in server.asked[0].body and "content-length" not in server.asked[0].headers


def test_an_open_file_is_read_from_where_it_stands_and_left_open() -> None:
    file = io.BytesIO(b"skipped, sent")
    file.seek(9)
    with answering(reply(201, DOCUMENT)) as server, Client(server.url) as client:
        client.knowledge.add(file, cube="b", user="ann", name="a")
        assert not file.closed
    assert _sent(server.asked[0].body)[1] == b"sent"


def test_a_refusal_of_a_file_is_the_error_that_it_is(path: Path) -> None:
    refused = problem(413, "too_large", "file: is too large", field="file", per="file")
    with answering(refused) as server, Client(server.url) as client, pytest.raises(TooLargeError) as caught:
        client.knowledge.add(path, cube="b", user="ann")
    assert (caught.value.field, caught.value.fields["per"]) == ("file", "file")


def test_a_file_is_read_in_pieces_and_no_more_than_that() -> None:
    class Endless(io.RawIOBase):
        asked: list[int] = []  # noqa: RUF012 - of this test

        def read(self, size: int = -1) -> bytes:
            self.asked.append(size)
            return b"x" * size if len(self.asked) < 8 else b""

        def tell(self) -> int:
            raise OSError("a stream")

    body = form_of(Endless(), [])
    pieces = list(body.pieces())  # type: ignore[arg-type]  # those of a file are no async ones
    assert set(Endless.asked) == {PIECE} and max(map(len, pieces)) <= PIECE
    assert body.length is None and not body.again


@pytest.mark.parametrize(
    "given", ["", ".", "~nobody-there/x", "a\0b", "x" * 5_000, 7, 1.5, object(), [b"x"], {"path": "x"}]
)
def test_what_is_no_file_is_refused_before_anything_is_sent(given: Any) -> None:
    with answering(reply(201, DOCUMENT)) as server, Client(server.url) as client, pytest.raises(InputError) as caught:
        client.knowledge.add(given, cube="b", user="ann", name="n")
    assert caught.value.field == "source" and server.asked == []


def test_bytes_that_come_back_are_bytes_and_a_strange_page_is_not_taken_for_them() -> None:
    page = reply(502, b"<html>bad gateway</html>", kind="text/html")
    given = reply(200, b"\x00\xff<html>", kind="text/html")
    with answering(given, page) as server, Client(server.url, retries=0) as client:
        assert client.knowledge.file("d", cube="b", user="ann") == b"\x00\xff<html>"
        with pytest.raises(UnreachableError):
            client.knowledge.file("d", cube="b", user="ann")
    assert server.asked[0].headers["accept"] == "*/*"


def test_ids_of_several_documents_stand_in_one_path() -> None:
    with (
        answering(reply(200, {"removed": {"document": 2}, "ids": ["a", "b/c"]})) as server,
        Client(server.url) as client,
    ):
        client.knowledge.remove(["a", "b/c"], cube="x/y", user="ann")
    assert server.asked[0].path == "/v1/knowledge/x%2Fy/documents/a%2Cb%2Fc?user=ann"


def test_files_in_messages_travel_in_base64_and_nothing_else_of_them(tmp_path: Path) -> None:
    picture = tmp_path / "secret-folder" / "tram.png"
    picture.parent.mkdir()
    picture.write_bytes(b"\x89PNG")
    told = base64.b64encode(b"\x89PNG").decode()
    messages = with_bytes([
        {"content": [{"type": "image", "path": picture, "caption": "c"}, "words", {"type": "text", "text": "t"}]},
        {"content": [{"type": "file", "file": {"path": str(picture)}}, {"type": "image", "data": b"\x89PNG"}]},
        {"content": [{"type": "image_url", "image_url": {"url": b"\x89PNG"}}]},
        {"content": [{"type": "tool_result", "content": [{"type": "image", "path": picture}]}]},
        "a string",
        {"content": "words", "metadata": {"path": "kept"}},
    ])  # fmt: skip
    assert messages[0]["content"][0] == {"type": "image", "caption": "c", "data": told, "name": "tram.png"}
    assert messages[0]["content"][1:] == ["words", {"type": "text", "text": "t"}]
    assert messages[1]["content"][0]["file"] == {"data": told, "name": "tram.png"}
    assert messages[1]["content"][1]["data"] == told
    assert messages[2]["content"][0]["image_url"]["url"] == f"data:application/octet-stream;base64,{told}"
    assert messages[3]["content"][0]["content"][0]["data"] == told
    assert messages[4:] == ["a string", {"content": "words", "metadata": {"path": "kept"}}]
    assert "secret-folder" not in str(messages)
