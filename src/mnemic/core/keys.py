"""What a secret looks like, how it is kept, and how fast a key may call: pure, given chance and time.

A secret has more than 256 random bits, so a plain SHA-256 of it cannot be guessed back: slow hashes are for passwords.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from mnemic.model.key import MARK, PREFIX_LENGTH

LETTERS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""What secrets are made of: a click marks all of one."""

SECRET_LENGTH: Final = 44
"""Letters of a secret's own part: 262 bits."""

_FORM: Final = re.compile(rf"{MARK}_([0-9A-Za-z]{{{PREFIX_LENGTH}}})_[0-9A-Za-z]{{{SECRET_LENGTH}}}", re.ASCII)
NO_PREFIX: Final = "-" * PREFIX_LENGTH
"""A prefix that no key has: what is no secret is looked for under it, so that this takes as long as a look-up."""

_NO_DIGEST: Final = hashlib.sha256(b"no key").hexdigest()
_MINUTE: Final = timedelta(minutes=1)


def secret_of(prefix: str, own: str) -> str:
    """Return the secret that is made of these random letters."""
    return f"{MARK}_{prefix}_{own}"


def prefix_of(secret: object) -> str:
    """Return the prefix of a secret; one that no key has for what is none."""
    found = _FORM.fullmatch(secret) if isinstance(secret, str) else None
    return found[1] if found else NO_PREFIX


def digest_of(secret: str) -> str:
    """Return what is kept of a secret: the hexadecimal digits of its SHA-256."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def matches(secret: object, digest: str | None) -> bool:
    """Tell whether a secret is the one that was kept, in a time that does not depend on either."""
    given = digest_of(secret if isinstance(secret, str) else "")
    return hmac.compare_digest(given, digest or _NO_DIGEST) and digest is not None


@dataclass(frozen=True, slots=True)
class Bucket:
    """A token bucket: it holds the calls of a minute, each call takes one, and it fills evenly."""

    tokens: float
    at: datetime

    def taken(self, per_minute: int, now: datetime) -> tuple[Bucket, float]:
        """Return the bucket after a call, and 0; or the bucket, and the seconds until it has enough for one."""
        since = max(now - self.at, timedelta(0)) / _MINUTE
        held = min(float(per_minute), self.tokens + since * per_minute)
        if held >= 1:
            return Bucket(held - 1, now), 0.0
        return Bucket(held, now), (1 - held) * 60 / per_minute


def full(per_minute: int, now: datetime) -> Bucket:
    """Return the bucket of a key that has not called yet."""
    return Bucket(float(per_minute), now)
