"""All the ways in which a model server fails, by name: for drills of whoever asks one.

Each makes the answer to every request, for `ModelServer`; `killed` has none, for nobody listens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from mnemic.testing.loopback import Answer
from mnemic.testing.model_says import Said, babbles, cuts, fails, hangs, refuses, says, says_nothing

Fault = Callable[[], Said | Answer] | None

FAULTS: Final[Mapping[str, Fault]] = MappingProxyType(
    {
        "killed": None,
        "slow": hangs,
        "busy": lambda: fails(503, "overloaded"),
        "limited": lambda: fails(429, "too many requests", headers={"retry-after-ms": "1"}),
        "without the model": lambda: fails(404, "no such model"),
        "without a right": lambda: fails(401, "invalid key"),
        "talking rubbish": lambda: says("Sure! Here is what I think about that: blah (blah)."),
        "talking HTML": babbles,
        "refusing in words": lambda: says("I'm sorry, but I can't help with that."),
        "refusing": refuses,
        "silent": says_nothing,
        "empty": lambda: says("   "),
        "breaking off": lambda: cuts('{"memories": [{"kind": "fact", "about": "user", "statement": "ann is a spy'),
        "saying null": lambda: says(None),
        "saying an error": lambda: says("Error: rate limit exceeded, please try again later."),
    }
)

TELLTALE: Final = ("rate limit", "can't help", "blah", "overloaded", "invalid key", "a proxy", "spy", "such model")
"""Words of these faults, none of which may ever be found in what was stored."""

UNREACHABLE: Final = "http://127.0.0.1:9/v1"
"""An address at which nobody listens: port 9 is `discard` (RFC 863), which no system serves any more."""
