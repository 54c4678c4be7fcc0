"""Fetching for real, from servers on loopback: what comes is handed out, what is too much or not the thing is not."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bench.knowledge import ssrf
from mnemic.backends.fetching.fetcher import AGENT, FetchLimits, HttpFetcher
from mnemic.backends.fetching.forbidden import opened
from mnemic.errors import FetchError, InputError
from mnemic.ports.fetch import Fetched
from mnemic.testing.loopback import Answer, Loopback, Request

TEXT = {"content-type": "text/plain"}
LIMITS = FetchLimits(size=100_000, seconds=5, pause=2)


@contextmanager
def serving(respond: Callable[[Request], Answer] | Answer) -> Iterator[Loopback]:
    server = Loopback(respond if callable(respond) else lambda _: respond)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def fetcher(limits: FetchLimits = LIMITS, **more: Any) -> HttpFetcher:
    return HttpFetcher(opened("127.0.0.0/8"), limits, **more)


def fetched(server: Loopback, path: str = "/", limits: FetchLimits = LIMITS, **marks: str) -> tuple[Fetched, bytes]:
    with fetcher(limits).fetch(f"http://127.0.0.1:{server.port}{path}", **marks) as found:
        return found, b"" if found.path is None else found.path.read_bytes()


def refused(answer: Callable[[Request], Answer] | Answer, path: str = "/", limits: FetchLimits = LIMITS) -> FetchError:
    with serving(answer) as server, pytest.raises(FetchError) as caught:
        fetched(server, path, limits)
    return caught.value


def test_every_way_to_what_is_not_public_is_refused_and_never_reached() -> None:
    found = ssrf.rows()
    assert len(found) > 400
    assert {row.address for row in found if row.way == "redirect"} >= set(ssrf.FORBIDDEN)
    assert not [row for row in found if not row.refused]


def test_what_an_address_holds_is_handed_out_as_a_file_that_is_gone_afterwards() -> None:
    marks = {"etag": '"v1"', "last-modified": "Mon, 02 Nov 2026 10:00:00 GMT"}
    with serving(Answer(raw=b"# Guide\n", headers={"content-type": "text/markdown; charset=utf-8", **marks})) as server:
        with fetcher().fetch(f"http://127.0.0.1:{server.port}/docs/guide.md?v=2#top") as found:
            assert found.path is not None and found.path.read_bytes() == b"# Guide\n"
            place = found.path
        assert not place.parent.exists()
        asked = server.requests[0]
    assert (found.name, found.media, found.etag, found.modified) == ("guide.md", "text/markdown", *marks.values())
    assert found.address == f"http://127.0.0.1:{server.port}/docs/guide.md?v=2"
    assert asked.path == "/docs/guide.md?v=2" and asked.headers["user-agent"] == AGENT
    assert not set(asked.headers) & {"cookie", "authorization", "referer", "if-none-match"}


def test_what_has_not_changed_is_not_sent_again() -> None:
    def respond(request: Request) -> Answer:
        known = request.headers.get("if-none-match") == '"v1"' and "if-modified-since" in request.headers
        return Answer(raw=b"", status=304) if known else Answer(raw=b"new", headers=TEXT)

    with serving(respond) as server:
        assert fetched(server, etag='"v1"', modified="Mon, 02 Nov 2026 10:00:00 GMT")[0].path is None
        assert fetched(server, etag='"v0"')[1] == b"new"
        assert fetched(server, etag='"v1"\r\nhost: evil', modified="Mon")[1] == b"new"


def test_that_nothing_changed_is_not_believed_of_who_was_not_asked() -> None:
    assert "304" in str(refused(Answer(raw=b"", status=304)))


def test_redirects_are_followed_with_the_name_of_each_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    def respond(request: Request) -> Answer:
        if request.path == "/a":
            location = f"http://b.example:{server.port}/b%20c"
            return Answer(status=302, raw=b"", headers={"location": location, "set-cookie": "a=1"})
        if request.path == "/b%20c":
            return Answer(status=308, raw=b"", headers={"location": "../d.txt"})
        return Answer(raw=b"there", headers=TEXT)

    def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    with serving(respond) as server, fetcher(resolve=resolve).fetch(f"http://a.example:{server.port}/a") as found:
        assert found.address == f"http://b.example:{server.port}/d.txt" and found.name == "d.txt"
    assert [each.headers["host"].partition(":")[0] for each in server.requests] == ["a.example"] + 2 * ["b.example"]
    assert all("cookie" not in each.headers for each in server.requests)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_that_do_not_end_are_given_up(status: int) -> None:
    asked: list[str] = []

    def respond(request: Request) -> Answer:
        asked.append(request.path)
        return Answer(status=status, raw=b"", headers={"location": request.path + "x"})

    error = refused(respond)
    assert "more than 5 times" in str(error) and not error.passing and len(asked) == 6


def test_a_redirect_to_nowhere_is_told() -> None:
    assert "where it leads is not said" in str(refused(Answer(status=302, raw=b"")))


class _Endless(Sequence[bytes]):
    """More pieces than anybody takes."""

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, place: Any) -> Any:
        return [b""] if isinstance(place, slice) else b"x" * 8_192


def test_an_answer_without_end_is_cut_at_the_limit() -> None:
    error = refused(Answer(pieces=_Endless(), headers=TEXT))
    assert "more than 0.1 MB" in str(error) and not error.passing


def test_an_answer_that_says_that_it_is_too_large_is_not_read() -> None:
    error = refused(Answer(pieces=[b"x"], headers={"content-length": "100001", **TEXT}))
    assert "more than" in str(error) and not error.passing


def test_a_bomb_is_counted_as_it_unpacks() -> None:
    bomb = gzip.compress(b"\0" * 10_000_000)
    assert len(bomb) < 20_000
    error = refused(Answer(raw=bomb, headers={"content-encoding": "gzip", **TEXT}))
    assert "more than" in str(error) and not error.passing


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, lambda text: zlib.compress(text, wbits=-15)])
def test_what_is_packed_as_was_asked_for_is_unpacked(pack: Callable[[bytes], bytes]) -> None:
    text = b"word " * 15_000
    answer = Answer(raw=pack(text), headers={"content-encoding": "gzip" if pack is gzip.compress else "deflate"})
    with serving(answer) as server:
        assert fetched(server)[1] == text
        assert server.requests[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    "answer, told",
    [
        (Answer(raw=b"x" * 1_000, headers=TEXT, cut=True), "broke off 500 bytes before the end"),
        (Answer(raw=gzip.compress(b"words " * 900)[:-12], headers={"content-encoding": "gzip"}), "broke off"),
        (Answer(raw=b"no gzip at all", headers={"content-encoding": "gzip"}), "cannot be unpacked"),
        (Answer(raw=b"x", headers={"content-encoding": "br"}), "not asked for"),
        (Answer(pieces=[b"5\r\nhello\r\n", b"zz\r\n"], headers={"transfer-encoding": "chunked"}), "as a web server"),
    ],
)
def test_an_answer_that_breaks_off_or_is_damaged_is_no_document_and_may_pass(answer: Answer, told: str) -> None:
    error = refused(answer)
    assert told in str(error) and error.passing


def test_a_server_that_is_silent_is_given_up() -> None:
    error = refused(Answer(stall=True), limits=FetchLimits(seconds=5, pause=0.2))
    assert "did not answer in time" in str(error) and error.passing


def test_a_server_that_trickles_is_given_up_when_the_time_of_all_is_over() -> None:
    trickle = Answer(pieces=[b"x"] * 100, pause=0.1, headers=TEXT)
    error = refused(trickle, limits=FetchLimits(seconds=0.4, pause=0.3))
    assert "0.4 s in all" in str(error) and error.passing


@contextmanager
def speaking(pieces: Iterable[bytes], pause: float = 0.0) -> Iterator[int]:
    """Answer one connection with these bytes, whatever was asked; give the port."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(5)

        def speak() -> None:
            accepted, _ = listening.accept()
            accepted.settimeout(5)
            with accepted, suppress(OSError):
                accepted.recv(65_536)
                for piece in pieces:
                    accepted.sendall(piece)
                    if over.wait(pause):
                        return

        thread = threading.Thread(target=speak)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            over.set()
            thread.join(5)


def spoken(pieces: Iterable[bytes], limits: FetchLimits, pause: float = 0.0) -> Fetched:
    with speaking(pieces, pause) as port, fetcher(limits).fetch(f"http://127.0.0.1:{port}/x") as found:
        return found


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def test_a_server_that_trickles_its_headers_is_given_up() -> None:
    drip = chain([b"HTTP/1.1 200 OK\r\n"], repeat(b"x-a: b\r\n", 90))
    with pytest.raises(FetchError, match="in time"):
        spoken(drip, FetchLimits(seconds=0.4, pause=0.3), pause=0.05)


@pytest.mark.parametrize(
    "pieces",
    [
        chain([b"HTTP/1.1 200 OK\r\nx: "], repeat(b"a" * 8_192)),
        chain([b"HTTP/1.1 200 OK\r\n"], repeat(b"x: y\r\n" * 500)),
        chain([b"HTTP/1.1 200 "], repeat(b"a" * 8_192)),
        repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
        chain([CHUNKED], repeat(b"5;" + b"a" * 8_192)),
        chain([CHUNKED, b"1\r\na\r\n0\r\n"], repeat(b"x: y\r\n" * 500)),
        [CHUNKED + b"ffffffffffffffffffff\r\nabc"],
        [CHUNKED + b"-5\r\nabc"],
        [b"hello, this is no HTTP"],
        [b"\x00\x01\x02" * 100],
        [b""],
        [b"HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\nhi"],
        [b"HTTP/1.1 99999 OK\r\n\r\n"],
    ],
    ids=["header", "headers", "status", "continue", "extension", "trailers", "huge", "negative", "old", "binary",
         "silence", "other", "number"],
)  # fmt: skip
def test_who_does_not_speak_as_a_web_server_does_is_not_listened_to_for_long(pieces: Iterable[bytes]) -> None:
    with pytest.raises(FetchError) as caught:
        spoken(pieces, FetchLimits(seconds=0.3, pause=0.3))
    assert caught.value.passing


@pytest.mark.parametrize(
    "location",
    [b"http://[::1", b"http://a\x00b/", b"/" + b"a" * 60_000, b"javascript:alert(1)", b"http://h:9x/", b"\xff"],
)
def test_a_redirect_that_is_no_address_is_refused(location: bytes) -> None:
    answer = b"HTTP/1.1 302 Found\r\nlocation: " + location + b"\r\ncontent-length: 0\r\n\r\n"
    with pytest.raises(FetchError):
        spoken([answer], LIMITS)


@pytest.mark.parametrize("media", [b";;;\xff", b"text/plain\r\n folded", b"text/pl\xed\xa0\x80ain", b"x" * 300 + b"/y"])
def test_a_type_that_is_none_is_not_passed_on(media: bytes) -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-type: " + media + b"\r\ncontent-length: 2\r\n\r\nhi"
    assert spoken([answer], LIMITS).media == ""


def test_a_name_that_is_looked_up_for_ever_is_given_up() -> None:
    over = threading.Event()

    def resolve(host: str, port: int) -> Sequence[str]:
        over.wait(5)
        return ["127.0.0.1"]

    slow = fetcher(FetchLimits(seconds=0.2, pause=0.1), resolve=resolve)
    try:
        with pytest.raises(FetchError, match="in time") as caught, slow.fetch("http://slow.example/"):
            pass
    finally:
        over.set()
    assert caught.value.passing


@pytest.mark.parametrize("number, passing", [(socket.EAI_NONAME, False), (socket.EAI_AGAIN, True)])
def test_a_name_that_is_not_there_is_told_apart_from_one_that_cannot_be_looked_up(number: int, passing: bool) -> None:
    def resolve(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(number, "no")

    with pytest.raises(FetchError, match="name") as caught, fetcher(resolve=resolve).fetch("http://none.example/"):
        pass
    assert caught.value.passing is passing


def test_a_server_that_is_down_may_come_back() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with pytest.raises(FetchError, match="cannot be reached") as caught, fetcher().fetch(f"http://127.0.0.1:{port}/"):
        pass
    assert caught.value.passing


@pytest.mark.parametrize(
    "status, passing",
    [(400, False), (401, False), (403, False), (404, False), (410, False), (418, False), (204, False), (206, False),
     (408, True), (429, True), (500, True), (502, True), (503, True), (501, False), (300, False)],
)  # fmt: skip
def test_which_refusals_may_pass(status: int, passing: bool) -> None:
    error = refused(Answer(status=status, raw=b"", headers={"retry-after": "7"}))
    assert error.passing is passing
    assert error.fields["status"] == status
    assert error.fields["retry_after"] == (7.0 if passing else None)


def test_how_long_a_server_asks_to_wait_is_bounded() -> None:
    def asked(value: str) -> object:
        return refused(Answer(status=503, raw=b"", headers={"retry-after": value})).fields["retry_after"]

    assert asked("Mon, 01 Jan 2900 00:00:00 GMT") == 86_400
    assert asked("Mon, 01 Jan 2001 00:00:00 GMT") == 0
    assert asked("99999999999999") == 86_400
    assert asked("soon") is None


def test_an_error_page_for_a_document_is_said_to_be_one() -> None:
    page = Answer(raw=b"<!DOCTYPE html><title>Sign in</title>", headers={"content-type": "text/html"})
    assert "a web page instead of a PDF" in str(refused(page, "/report.pdf"))

    def sign_in(request: Request) -> Answer:
        return page if request.path == "/login" else Answer(status=302, raw=b"", headers={"location": "/login"})

    assert "a web page instead of a PDF" in str(refused(sign_in, "/report.pdf"))


def test_an_empty_answer_is_no_document() -> None:
    assert "empty" in str(refused(Answer(raw=b"", headers=TEXT)))


def test_the_type_is_that_of_the_bytes_when_the_server_has_another() -> None:
    with serving(Answer(raw=b"%PDF-1.7 ...", headers={"content-type": "text/html"})) as server:
        assert fetched(server, "/x")[0].media == "application/pdf"


def test_an_address_that_leads_to_this_machine_is_refused_before_anything_is_stored() -> None:
    closed = HttpFetcher(opened(""), LIMITS)
    for address in ("http://127.0.0.1/", "http://localhost:8765/", "http://[::1]/", "http://169.254.169.254/latest"):
        with pytest.raises(InputError, match="fetch_private"):
            closed.check(address)
    assert closed.check("HTTPS://Example.com/a") == "https://example.com/a"
    assert fetcher().check("http://localhost:1/") == "http://localhost:1/"


def _certificate(folder: Path, name: str) -> Path:
    """Write a certificate for a name, signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / f"{name}.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return path


def test_a_certificate_is_checked_by_the_name_though_the_connection_goes_to_the_checked_address(tmp_path: Path) -> None:
    own, other = _certificate(tmp_path, "docs.example"), _certificate(tmp_path, "other.example")
    asked_for: list[str | None] = []
    with serving(Answer(raw=b"sealed", headers=TEXT)) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(own)
        context.sni_callback = lambda _, name, __: asked_for.append(name)
        server._server.socket = context.wrap_socket(server._server.socket, server_side=True)

        def get(name: str, trusted: Path) -> bytes:
            def resolve(host: str, port: int) -> Sequence[str]:
                return ["127.0.0.1"]

            found = fetcher(resolve=resolve, trust=lambda: ssl.create_default_context(cafile=trusted))
            with found.fetch(f"https://{name}:{server.port}/") as got:
                assert got.path is not None
                return got.path.read_bytes()

        assert get("docs.example", own) == b"sealed"
        for name, trusted in (("other.example", own), ("docs.example", other)):
            with pytest.raises(FetchError, match="certificate") as caught:
                get(name, trusted)
            assert not caught.value.passing
    assert asked_for[0] == "docs.example"
