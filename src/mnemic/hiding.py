"""What must not be shown of a text: passwords in addresses, keys, and what is named like one.

For logs and for what is told to strangers. It hides what looks like a secret, and whatever values it is given; it is no
reason to put a secret into a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

HIDDEN: Final = "[hidden]"

_SHORTEST: Final = 4  # letters of a known secret: shorter ones would take words apart

_NAMES: Final = r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)"
_PATTERNS: Final = (
    # user and password of an address, up to the last @: passwords hold @ and / unescaped, sometimes
    (re.compile(r"(?<=://)[^\s/?#'\"<>@:]*:[^\s'\"<>]*@(?=[\w.\[-])"), f"{HIDDEN}@"),
    (re.compile(r"(?<=://)[^\s/?#'\"<>]*@"), f"{HIDDEN}@"),
    (re.compile(r"(?i)(\bauthorization\b['\"]?\s*[:=]\s*['\"]?)(?:\w+\s+)?[^\s'\",;]+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w+/=.~-]{8,}"), rf"\1 {HIDDEN}"),
    (re.compile(rf"(?i)(\b[\w-]*{_NAMES}['\"]?\s*[:=]\s*)('[^']*'|\"[^\"]*\"|[^\s'\",;&)}}\]]+)"), rf"\1{HIDDEN}"),
    (re.compile(r"\b(?:sk|pk|rk|xox[a-z]|gh[a-z]|glpat|hf|AKIA|AIza)[-_]?[A-Za-z0-9_-]{16,}"), HIDDEN),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"), HIDDEN),  # JSON Web Tokens
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), HIDDEN),
)
_NAMED: Final = re.compile(rf"(?i)(?:authorization|dsn|{_NAMES})$")


def without_secrets(text: str, known: Collection[str] = ()) -> str:
    """Return a text with what looks like a secret, and these known ones, hidden."""
    for secret in known:
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text


def is_secret_name(name: str) -> bool:
    """Tell whether a value of this name is a secret whatever it looks like, such as `api_key`."""
    return _NAMED.search(name) is not None
