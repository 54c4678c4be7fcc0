"""Addresses as they are read: one spelling, no second meaning; and which of them are not of the public internet."""

from __future__ import annotations

import contextlib
from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.backends.fetching.addresses import NoAddressError, read
from mnemic.backends.fetching.forbidden import opened, special
from mnemic.backends.fetching.kinds import settled
from mnemic.backends.fetching.naming import LONGEST, name_of
from mnemic.errors import InputError


@pytest.mark.parametrize(
    "given_as, kept_as",
    [
        ("HTTP://Example.COM", "http://example.com/"),
        ("https://example.com:443/a?b=c#part", "https://example.com/a?b=c"),
        ("http://example.com:8080", "http://example.com:8080/"),
        ("http://example.com:0080/", "http://example.com/"),
        ("https://example.com./a b/ü?q=ß x", "https://example.com/a%20b/%C3%BC?q=%C3%9F%20x"),
        ("https://example.com/a%20b%2Fc", "https://example.com/a%20b%2Fc"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://EXAMPLE。com/", "https://example.com/"),
        ("http://[2606:2800:220:1:248:1893:25C8:1946]:8080/x", "http://[2606:2800:220:1:248:1893:25c8:1946]:8080/x"),
        ("  https://example.com/\n", "https://example.com/"),
        ("http://93.184.216.34", "http://93.184.216.34/"),
        ("http://a_b.example/", "http://a_b.example/"),
    ],
)
def test_an_address_is_kept_in_one_spelling(given_as: str, kept_as: str) -> None:
    assert str(read(given_as)) == kept_as
    assert str(read(kept_as)) == kept_as


@pytest.mark.parametrize(
    "address, why",
    [
        ("", "empty"),
        ("example.com", "http"),
        ("ftp://example.com/", "http"),
        ("javascript:alert(1)", "http"),
        ("file:///etc/passwd", "http"),
        ("http://", "no host"),
        ("http:///path", "no host"),
        ("http:example.com", "no host"),
        ("http://user@example.com/", "password"),
        ("http://user:pass@example.com/", "password"),
        ("http://@example.com/", "password"),
        ("http://example.com:65536/", "port"),
        ("http://example.com:0/", "port"),
        ("http://example.com:99999999999999999999/", "port"),
        ("http://example.com:8o/", "host"),
        ("http://exa mple.com/", "spaces"),
        ("http://example.com\\@evil.example/", "backslashes"),
        ("http://example.com/\x00", "control"),
        ("http://example.com/\r\nHost: evil", "control"),
        ("http://[::1/", "cannot be read"),
        ("http://[fe80::1%25eth0]/", "host"),
        ("http://[::1]evil.example/", "read"),
        ("http://%31%32%37.0.0.1/", "host"),
        ("http://127.1/", "number"),
        ("http://0x7f.0.0.1/", "number"),
        ("http://127.0.0.0x1/", "number"),
        ("http://0177.0.0.1/", "number"),
        ("http://2130706433/", "number"),
        ("http://1.2.3.4.5/", "number"),
        ("http://256.1.1.1/", "number"),
        ("http://..example/", "no name"),
        ("http://" + "a" * 64 + ".example/", "no name"),
        ("http://" + "a." * 200 + "example/", "no name"),
        ("http://-a.example/", "no name"),
        ("http://exa\u2024mple.com/", "no name"),
        ("http://example.com/" + "a" * 5_000, "longer"),
    ],
)
def test_what_can_be_read_in_two_ways_is_not_read(address: str, why: str) -> None:
    with pytest.raises(NoAddressError, match=why):
        read(address)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_is_refused(text: str) -> None:
    for address in (text, f"http://{text}", f"https://example.com/{text}"):
        try:
            found = read(address)
        except NoAddressError:
            continue
        assert str(read(str(found))) == str(found)
        assert str(found).isascii() and not set(str(found)) & set(' \r\n\t\\<>"')


@given(st.text(max_size=40))
def test_a_redirect_leads_to_an_address_or_is_refused(location: str) -> None:
    with contextlib.suppress(NoAddressError):
        assert str(read("https://example.com/a/b").joined(location)).startswith(("http://", "https://"))


@given(st.ip_addresses(v=4))
def test_what_the_standard_library_calls_special_is_special_here_whatever_it_stands_in(ip: object) -> None:
    text = str(ip)
    found = ip_address(text)
    if not found.is_global or found.is_multicast:
        assert special(found)
    whole = int(found)
    for form in (f"::ffff:{text}", f"64:ff9b::{whole >> 16:x}:{whole & 0xFFFF:x}"):
        assert special(ip_address(form)) == special(found)


@given(st.ip_addresses(v=6))
def test_no_special_ipv6_address_passes_for_a_public_one(ip: object) -> None:
    found = ip_address(str(ip))
    if special(found) is None and found not in ip_network("64:ff9b::/96"):
        assert found.is_global or getattr(found, "ipv4_mapped", None) is not None
        assert not found.is_multicast and not getattr(found, "is_site_local", False)


@pytest.mark.parametrize(
    "ip", ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::101:101", "::ffff:1.1.1.1"]
)
def test_public_addresses_are_public(ip: str) -> None:
    assert special(ip_address(ip)) is None


def test_the_setting_opens_hosts_by_their_whole_name_and_networks() -> None:
    found = opened(" intranet.example, 10.0.0.0/8,fd12::/16 ,192.168.7.7")
    assert found.refusal("any.example", [ip_address("10.1.2.3"), ip_address("fd12::1")]) is None
    assert found.refusal("192.168.7.7", [ip_address("192.168.7.7")]) is None
    assert found.refusal("any.example", [ip_address("::ffff:10.1.2.3")]) is None
    assert found.refusal("intranet.example", [ip_address("192.168.1.1"), ip_address("127.0.0.1")]) is None
    assert "private" in str(found.refusal("sub.intranet.example", [ip_address("192.168.1.1")]))
    assert "metadata" in str(found.refusal("intranet.example", [ip_address("169.254.169.254")]))
    assert found.named("localhost") and not opened("127.0.0.0/8").named("localhost")


@pytest.mark.parametrize(
    "setting", ["10.0.0.0/33", "10.0.0.1/8", "127.1", "a b", "http://intranet.example", "*.example"]
)
def test_a_setting_that_names_no_host_and_no_network_is_refused(setting: str) -> None:
    with pytest.raises(InputError, match="fetch_private"):
        opened(setting)


@pytest.mark.parametrize(
    "disposition, path, name",
    [
        ('attachment; filename="annual report.pdf"', "/x", "annual report.pdf"),
        ("attachment; filename*=UTF-8''J%C3%A4hrlich.pdf; filename=x.pdf", "/x", "Jährlich.pdf"),
        ('attachment; filename="../../etc/passwd"', "/x", "passwd"),
        ('attachment; filename="C:\\\\temp\\\\a.txt"', "/x", "a.txt"),
        ('attachment; filename="..."', "/a.txt", "a.txt"),
        ("attachment; filename*=KOI9''x%2Fy.pdf; filename=z.pdf", "/a.txt", "z.pdf"),
        ('attachment; filename="gpj\u202e.exe"', "/x", "gpj.exe"),
        ("inline", "/docs/guide.html?x=/y", "guide.html"),
        ("", "/a%2F..%2Fetc%2Fpasswd", "passwd"),
        ("", "/caf%C3%A9%00.txt", "café.txt"),
        ("", "/", "example.com"),
        ("", "/../..", "example.com"),
        ("", "/docs/", "docs"),
        ("", f"/{'x' * 500}.pdf", f"{'x' * (LONGEST - 4)}.pdf"),
    ],
)  # fmt: skip
def test_a_file_is_named_by_its_server_and_its_name_is_never_a_path(disposition: str, path: str, name: str) -> None:
    assert name_of(disposition, read(f"https://example.com{path}")) == name


PDF, HTML, DOCX = b"%PDF-1.7\n%\xe2\xe3", b"\xef\xbb\xbf\n<!-- x --><!DOCTYPE html><html>", b"PK\x03\x04"


@pytest.mark.parametrize(
    "first, name, media, found, wrong",
    [
        (PDF, "a.pdf", "application/pdf", "application/pdf", ""),
        (PDF, "page", "text/html", "application/pdf", ""),
        (PDF, "a.pdf", "application/octet-stream", "application/pdf", ""),
        (HTML, "a.html", "text/html", "text/html", ""),
        (HTML, "page", "text/plain", "text/html", ""),
        (HTML, "a.pdf", "application/pdf", "text/html", "web page instead of a PDF"),
        (HTML, "a.pdf", "text/html", "text/html", "web page instead of a PDF"),
        (HTML, "get", "application/pdf", "text/html", "web page instead of a PDF"),
        (b"<html><title>Sign in</title>", "a.docx", "text/html", "text/html", "instead of a Word document"),
        (b"<HTML>", "a.png", "image/png", "text/html", "instead of a picture"),
        (b'{"error": "not found"}', "a.pdf", "application/json", "application/json", "words instead of a PDF"),
        ("Nicht gefunden: ü".encode()[:-1], "a.pdf", "text/plain", "text/plain", "words instead of a PDF"),
        (b"\x00\x01\x02", "a.pdf", "application/pdf", "application/pdf", ""),
        (DOCX, "a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
         "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ""),
        (DOCX, "a.docx", "", "application/zip", ""),
        (b"\x89PNG\r\n\x1a\n", "a.jpg", "image/jpeg", "image/png", ""),
        (b"<svg xmlns='x'/>", "a.svg", "image/svg+xml", "image/svg+xml", ""),
        (b"# Title", "a.md", "text/plain", "text/plain", ""),
        (b'{"a": 1}', "a.json", "application/json", "application/json", ""),
    ],
)  # fmt: skip
def test_the_bytes_decide_what_came_and_an_error_page_is_not_the_document(
    first: bytes, name: str, media: str, found: str, wrong: str
) -> None:
    told = settled(first, [name], media)
    assert told[0] == found
    assert wrong in told[1] and bool(wrong) == bool(told[1])
