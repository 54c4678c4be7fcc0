"""Reads the word lists and scripts beside this file, and says where one of them is broken.

A script is a text whose turns begin with `U: ` or `A: `; `U*name: ` labels a turn as evidence. Turns alternate, the
user begins and the assistant ends. Lines without such a beginning belong to the turn above; `? ` begins a question that
recalls the labelled turn by its own words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from bench.assistants.values import CATEGORIES, Ask, Entry, Line, Script, Thread

DATA: Final = Path(__file__).parent / "data"
_TURN: Final = re.compile(r"^([UA])(?:\*(\w+))?: ", re.MULTILINE)
_NEAR: Final = re.compile(r"^\? (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sources:
    """All that the generator draws from."""

    words: Mapping[str, Sequence[Entry]]
    threads: Mapping[str, Sequence[Thread]]
    """By kind."""
    episodes: Sequence[Script]
    chatter: Sequence[Script]


@cache
def sources() -> Sources:
    """Return what lies in the folder `data`."""
    words = {**_read("words"), **_read("paragraphs")}
    kinds = [kind for kind in CATEGORIES if kind != "absent"]  # absent facts are asked of the other kinds' threads
    threads = {kind: [_thread(entry, kind) for entry in _read(kind)["thread"]] for kind in kinds}
    talk = _read("episodes")
    return Sources(words, threads, _scripts(talk["episode"]), _scripts(_read("chatter")["chatter"]))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"{name}.toml").read_text("utf-8"))


def _scripts(texts: Sequence[str]) -> list[Script]:
    return [script(text) for text in texts]


def script(text: str) -> Script:
    """Return the turns of a script. Raises `ValueError` when they do not alternate from the user to the assistant."""
    near = _NEAR.findall(text)
    parts = _TURN.split(_NEAR.sub("", text).strip())
    lines = [
        Line("user" if who == "U" else "assistant", said.strip(), label or "", near if label else ())
        for who, label, said in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    ]
    fine = bool(lines) and lines[0].role == "user" and lines[-1].role == "assistant" and not parts[0]
    if not fine or any(one.role == other.role for one, other in pairwise(lines)):
        raise ValueError(f"turns do not alternate from U to A: {text.strip()[:200]}")
    return lines


def _thread(entry: Mapping[str, Any], kind: str) -> Thread:
    given = dict(entry)
    stages = [[_way(text) for text in ways] for ways in given.pop("stages")]
    asks = [_ask(ask, kind) for ask in given.pop("ask")]
    return Thread(kind=kind, stages=stages, asks=asks, decoys=_scripts(given.pop("decoys", [])), **given)


def _way(text: str) -> Script:
    """Return a way of telling a stage; without labels its first turn is the fact."""
    labelled = any(label for _, label in _TURN.findall(text))
    return script(text if labelled else text.strip().replace("U: ", "U*fact: ", 1))


def _ask(entry: Mapping[str, Any], kind: str) -> Ask:
    given = {"category": kind, "answer": "", **entry}
    labels = given.pop("evidence", "").split()
    if given["category"] not in CATEGORIES or bool(labels) == (given["category"] == "absent"):
        raise ValueError(f"a question needs a category and evidence, or is absent: {entry}")
    return Ask(labels=labels, them=given.pop("them", ()), **given)
