"""Writes small PDFs: pages of text in the standard fonts, rules, an outline, a password; no library is needed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

_FONTS = {"F1": "Helvetica", "F2": "Helvetica-Bold", "F3": "Courier"}
_PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")  # ISO 32000-1, 7.6.3.3


@dataclass
class MadePage:
    """One page of US letter, written to from the top down."""

    ops: list[str] = field(default_factory=list)
    y: float = 720

    def text(
        self, words: str, *, size: float = 11, font: str = "F1", x: float = 72, down: float | None = None
    ) -> MadePage:
        self.y -= size * 1.2 if down is None else down
        return self.at(words, x, self.y, size=size, font=font)

    def at(self, words: str, x: float, y: float, *, size: float = 11, font: str = "F1") -> MadePage:
        words = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        self.ops.append(f"BT /{font} {size} Tf {x} {y} Td ({words}) Tj ET")
        return self

    def grid(self, rows: Sequence[Sequence[str]], *, x: float = 72, wide: float = 120, high: float = 20) -> MadePage:
        top = self.y - 10
        right, bottom = x + wide * len(rows[0]), top - high * len(rows)
        lines = [f"{x} {top - high * at} m {right} {top - high * at} l S" for at in range(len(rows) + 1)]
        lines += [f"{x + wide * at} {top} m {x + wide * at} {bottom} l S" for at in range(len(rows[0]) + 1)]
        self.ops += lines
        for down, row in enumerate(rows):
            for across, cell in enumerate(row):
                self.at(cell, x + wide * across + 4, top - high * down - 14)
        self.y = bottom - 10
        return self


def made_pdf(
    pages: Sequence[MadePage],
    *,
    info: str = "",
    outline: Sequence[tuple[str, int]] = (),
    password: str = "",
) -> bytes:
    """Return a PDF. `outline` has words and the page, from 0. With a `password` it is locked (40-bit RC4)."""
    objects: dict[int, bytes] = {}
    first = 10
    kids = [first + 2 * at for at in range(len(pages))]
    fonts = " ".join(f"/{key} {4 + at} 0 R" for at, key in enumerate(_FONTS))
    for at, name in enumerate(_FONTS.values()):
        objects[4 + at] = f"<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>".encode()
    objects[2] = f"<</Type/Pages/Count {len(pages)}/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]>>".encode()
    key, lock = _locked(password) if password else (b"", b"")
    for kid, page in zip(kids, pages, strict=True):
        stream = "\n".join(page.ops).encode("cp1252")
        stream = _rc4(_key_of(key, kid + 1), stream) if key else stream
        objects[kid] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<<{fonts}>>>>/Contents {kid + 1} 0 R>>"
        ).encode()
        objects[kid + 1] = b"<</Length %d>>stream\n%b\nendstream" % (len(stream), stream)
    after = first + 2 * len(pages)
    root = "/Type/Catalog/Pages 2 0 R"
    if outline:
        root += f"/Outlines {after} 0 R"
        entries = range(after + 1, after + 1 + len(outline))
        objects[after] = (
            f"<</Type/Outlines/First {entries[0]} 0 R/Last {entries[-1]} 0 R/Count {len(outline)}>>".encode()
        )
        for at, (words, leaf) in enumerate(outline):
            beside = f"/Prev {entries[at] - 1} 0 R" if at else ""
            beside += f"/Next {entries[at] + 1} 0 R" if at + 1 < len(outline) else ""
            target = f"/Parent {after} 0 R/Dest[{kids[leaf]} 0 R/Fit]{beside}"
            objects[entries[at]] = f"<</Title({words}){target}>>".encode()
    objects[1] = f"<<{root}>>".encode()
    objects[3] = f"<<{info}>>".encode()
    return _written(objects, lock)


def _written(objects: dict[int, bytes], lock: bytes) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = {}
    for number in sorted(objects):
        places[number] = len(out)
        out += b"%d 0 obj\n%b\nendobj\n" % (number, objects[number])
    start = len(out)
    size = max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n"
    out += b"trailer<</Size %d/Root 1 0 R/Info 3 0 R%b>>\nstartxref\n%d\n%%%%EOF\n" % (size, lock, start)
    return bytes(out)


def _locked(password: str) -> tuple[bytes, bytes]:
    """Return the key of a file and what its trailer says of it (ISO 32000-1, algorithms 2 to 4, revision 2)."""
    padded = (password.encode("latin-1") + _PAD)[:32]
    identifier, rights = b"0123456789abcdef", -4
    owner = _rc4(hashlib.md5(padded, usedforsecurity=False).digest()[:5], padded)
    told = padded + owner + (rights & 0xFFFFFFFF).to_bytes(4, "little") + identifier
    key = hashlib.md5(told, usedforsecurity=False).digest()[:5]
    user = _rc4(key, _PAD)
    rules = f"/Filter/Standard/V 1/R 2/Length 40/P {rights}/O<{owner.hex()}>/U<{user.hex()}>"
    lock = f"/Encrypt<<{rules}>>/ID[<{identifier.hex()}><{identifier.hex()}>]"
    return key, lock.encode()


def _key_of(key: bytes, number: int) -> bytes:
    return hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0", usedforsecurity=False).digest()[:10]


def _rc4(key: bytes, content: bytes) -> bytes:
    state = list(range(256))
    at = 0
    for place in range(256):
        at = (at + state[place] + key[place % len(key)]) & 255
        state[place], state[at] = state[at], state[place]
    out, one, two = bytearray(), 0, 0
    for byte in content:
        one = (one + 1) & 255
        two = (two + state[one]) & 255
        state[one], state[two] = state[two], state[one]
        out.append(byte ^ state[(state[one] + state[two]) & 255])
    return bytes(out)
