"""Bytes to text: by byte-order mark, as UTF-8, by the pattern of zero bytes, else by what the bytes look like."""

from __future__ import annotations

import codecs
import re
from typing import Final

from mnemic.backends.readers.asked import Telling

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOOKED_AT: Final = 256 << 10
"""Bytes that are looked at to guess an encoding."""
_DAMAGE: Final = 50
"""One broken character for so many that are beyond ASCII is damage in UTF-8, not another encoding."""
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_KANA: Final = re.compile("[\u3040-\u30ff]")
_WESTERN: Final = frozenset("äöüßÄÖÜéèêëàâáçñóôíîïúûæåÆÅÉÀÇÑÓÍÚ¿¡«»°§£©®²³½·–—…€“”„‘’‚•\xa0")  # noqa: RUF001 - as they are written
"""Letters and signs of German, French, Spanish, Italian and the like; those of Czech, Polish and Turkish stand
elsewhere in other code pages, and would show as signs that are not here."""
_COMMON: Final = frozenset(
    "的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多然于心学么之都好看起发当"
    "没成只如事把还用第样道想作种开美总从无情己面最女但现前些所同日手又行意动方期它头经长儿回位分爱老因很给名法间斯知世什两次使身者被高已"
    "亲其进此话常与活正感见明问力理尔点文几定本公特做外孩相西果走将月十实向声车全信重三机工物气每并别真打太新比才便夫再书部水像眼等体却加"
    "电主界门利海受听表德少克代员许先口由死安写性马光白或住难望教命花结乐色更拉东神记处让母父应直字场平报友关放至张认接告入笑内英军候民岁"
    "往何度山觉路带万男边风解叫任金快原吃妈变通师立象数四失满战远格士音轻目条呢量价号单市品类订客户商城地址数据"
)
"""Characters that Chinese text is mostly made of, in their simplified form."""


def decoded(raw: bytes) -> tuple[str, str]:
    """Return a text and the encoding that it was read in; what could not be read is U+FFFD."""
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return raw.decode(encoding, "replace"), encoding.removesuffix("-sig")
    if wide := _wide(raw):
        return raw.decode(wide, "replace"), wide
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if broken * _DAMAGE <= sum(1 for character in text if character > "\x7f"):
        return text, "utf-8"
    encoding = _guessed(raw)
    return raw.decode(encoding, "replace"), encoding


def decoded_for(telling: Telling, raw: bytes) -> str:
    """Return a text, and tell when it was not in UTF-8, or not all of it."""
    text, encoding = decoded(raw)
    if encoding != "utf-8":
        telling.note(f"its characters were read as {encoding.upper()}")
        telling.fact("encoding", encoding)
    if broken := text.count("\ufffd"):
        telling.note(f"{broken:,} of its characters could not be read")
    return text


def _wide(raw: bytes) -> str:
    """Return UTF-16's name when every second byte is mostly zero, as in text of the West without a mark."""
    head = raw[: _LOOKED_AT & ~1]
    pairs = len(head) // 2
    if pairs < 2 or len(raw) % 2:
        return ""
    low, high = head[0::2].count(0), head[1::2].count(0)
    if high > 0.4 * pairs and low < 0.05 * pairs:
        return "utf-16-le"
    if low > 0.4 * pairs and high < 0.05 * pairs:
        return "utf-16-be"
    return ""


def _guessed(raw: bytes) -> str:
    head = raw[:_LOOKED_AT]
    if _is_gb(head):
        return "gb18030"
    if _is_western(head):
        return "cp1252"
    try:
        from charset_normalizer import from_bytes  # noqa: PLC0415 - the extra `documents`, tens of milliseconds
    except ImportError:
        return "cp1252"
    best = from_bytes(head).best()
    return best.encoding if best is not None else "cp1252"


def _is_western(head: bytes) -> bool:
    """Tell whether bytes are text of Western Europe: mostly ASCII, and beyond it nothing but its usual letters."""
    if sum(1 for byte in head if byte < 0x80) < 0.7 * len(head):
        return False
    return all(character in _WESTERN for character in head.decode("cp1252", "replace") if character > "\x7f")


def _is_gb(head: bytes) -> bool:
    """Tell whether bytes are Chinese in GB18030: they decode, mostly to characters that are common."""
    text = codecs.getincrementaldecoder("gb18030")("replace").decode(head)
    han = _HAN.findall(text)
    beyond = sum(1 for character in text if character > "\x7f")
    if text.count("\ufffd") > 1 or not han or len(han) < 0.6 * beyond or len(_KANA.findall(text)) > len(han) // 5:
        return False
    return sum(1 for character in han if character in _COMMON) >= 0.25 * len(han)
