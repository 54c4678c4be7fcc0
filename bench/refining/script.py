"""The scripted model of this bench: it draws from a batch what stands in `gold.jsonl`, and makes some up besides.

It sees only the prompt, as any model does, and finds the messages that hold a phrase. What it makes up is a lure
written by hand (a question taken for an answer, somebody else's words) or a good item spoiled by a seeded hand.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mnemic.text import words

Item = Mapping[str, Any]

GOLD: Final = Path(__file__).with_name("gold.jsonl")
_MESSAGE: Final = re.compile(r"^(m\d+) \| [\d:]+ \| .+? \(\w+\): (.*)$", re.MULTILINE)
_KNOWN: Final = re.compile(r"^(k\d+) \| (\S+) \| (.*) \(since [^)]*\)$", re.MULTILINE)
_TOPIC: Final = re.compile(r"^(t\d+) \| [^|]* \| (.*)$", re.MULTILINE)
_PAIR: Final = re.compile(r"^(p\d+) known \(since [^)]*\): (.*)\n +new \(since [^)]*\): (.*)$", re.MULTILINE)
_NAMES: Final = ("Priya", "Tomasz", "Rosalind")


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a prompt shows: messages by number, and what is known (number, attribute, text)."""

    messages: Mapping[str, str]
    known: Sequence[tuple[str, str, str]]

    def holding(self, phrase: str) -> str | None:
        """Return the number of the message that holds a phrase."""
        return next((number for number, text in self.messages.items() if phrase in text), None)


class Script:
    """Answers prompts of refining. `made_up` has every statement that it made up, with how, `told` the others.

    `spoiled` is the share of good items beside which a spoiled one is told.
    """

    def __init__(self, *, spoiled: float = 0.1, lures: bool = True, seed: int = 7) -> None:
        self._items: list[Item] = [json.loads(line) for line in GOLD.read_text("utf-8").splitlines()]
        self._spoiled = spoiled
        self._lures = lures
        self._chance = random.Random(seed)
        self.made_up: dict[str, str] = {}
        self.told: list[str] = []

    def answer(self, asked: str) -> str:
        """Return the reply to what a prompt's last turn says."""
        if _PAIR.search(asked):
            return json.dumps({"pairs": list(self._pairs(asked))})
        _, _, read = asked.partition("Messages to read:")
        seen = _Seen(dict(_MESSAGE.findall(read)), _KNOWN.findall(asked))
        good = [found for each in self._of("good") if (found := _written(each, seen))]
        self.told += [each["statement"] for each in good]
        memories = [*good, *self._lured(seen), *self._spoil(good, seen)]
        self._chance.shuffle(memories)
        reply = {
            "memories": memories,
            "entities": list(self._entities(seen)),
            "relations": list(self._relations(seen)),
            "topics": [_described(number, keywords) for number, keywords in _TOPIC.findall(asked)],
        }
        return json.dumps(reply, ensure_ascii=False)

    def _of(self, kind: str) -> Iterator[Item]:
        return (each for each in self._items if each["is"] == kind)

    def _lured(self, seen: _Seen) -> Iterator[dict[str, Any]]:
        for each in self._of("lure") if self._lures else ():
            found = _written(each, seen, tied=False) or _beside(each, seen)
            if found:
                self.made_up[found["statement"]] = each["lure"]
                yield found

    def _spoil(self, good: Sequence[dict[str, Any]], seen: _Seen) -> Iterator[dict[str, Any]]:
        for each in good:
            if self._chance.random() >= self._spoiled:
                continue
            how, spoil = self._chance.choice(_SPOILS)
            found = {**spoil(each, self._chance), "known": "", "change": "new"}
            if how == "the wrong message":
                others = [number for number in seen.messages if number != each["evidence"][0]["message"]]
                if not others:
                    continue
                number = self._chance.choice(others)
                found["evidence"] = [{**entry, "message": number} for entry in each["evidence"]]
            self.made_up[found["statement"]] = how
            yield found

    def _entities(self, seen: _Seen) -> Iterator[dict[str, Any]]:
        for each in self._of("entity"):
            numbers = [number for number, text in seen.messages.items() if each["name"] in text]
            if numbers:
                yield {"name": each["name"], "type": each["type"], "messages": numbers}
        if self._lures and seen.messages:
            yield {"name": _NAMES[0], "type": "person", "messages": list(seen.messages)[:1]}

    def _relations(self, seen: _Seen) -> Iterator[dict[str, Any]]:
        for each in [*self._of("relation"), *(self._of("lured relation") if self._lures else ())]:
            number = seen.holding(each["quote"])
            if number is None:
                continue
            if each["is"] != "relation":
                self.made_up[f"{each['from']} {each['relation']} {each['to']}."] = "a relation nobody told"
            yield {key: each[key] for key in ("from", "relation", "to", "quote")} | {"message": number}

    def _pairs(self, asked: str) -> Iterator[dict[str, str]]:
        ties = {each["statement"]: each["tie"] for each in self._of("good") if "tie" in each}
        for number, known, new in _PAIR.findall(asked):
            tie = ties.get(new)
            change = "same" if words(known) == words(new) else "different"
            yield {"pair": number, "change": tie["change"] if tie and tie["known"] in known else change}


def _written(item: Item, seen: _Seen, *, tied: bool = True) -> dict[str, Any] | None:
    """Return an item as a reply has it; None when its first phrase is in no message of the batch."""
    evidence = [
        {"message": number, "quote": quote} for quote in item["quotes"] if (number := seen.holding(quote)) is not None
    ]
    if seen.holding(item["quotes"][0]) is None:
        return None
    known, change = _tie(item, seen) if tied else ("", "new")
    return {
        "kind": item["kind"],
        "about": item["about"],
        "attribute": item["attribute"],
        "value": item["value"],
        "statement": item["statement"],
        "negated": item.get("negated", False),
        "said": not item.get("reason"),
        "reason": item.get("reason", ""),
        "when": item.get("when", {"words": "", "from": "", "to": ""}),
        "evidence": evidence,
        "known": known,
        "change": change,
    }


def _tie(item: Item, seen: _Seen) -> tuple[str, str]:
    """Return how an item stands to what is known: as it was written down, or the same as what rules read already."""
    tie = item.get("tie")
    value = set(words(item["value"]))
    for number, attribute, text in seen.known:
        if item["about"] not in text:
            continue
        if tie and tie["known"] in text:
            return number, tie["change"]
        if tie is None and attribute == item["attribute"] and value <= set(words(text)) and not item.get("negated"):
            return number, "same"
    return "", "new"


def _beside(item: Item, seen: _Seen) -> dict[str, Any] | None:
    """Return a lure whose words nobody said, in a batch about the same person, with the first message as evidence."""
    if item["lure"] != "no such words":
        return None
    number = next((number for number, text in seen.messages.items() if item["about"] in text), None)
    if number is None:
        return None
    item = {**item, "quotes": [seen.messages[number]]}
    written = _written(item, seen, tied=False)
    return None if written is None else {**written, "evidence": [{"message": number, "quote": item["statement"]}]}


def _described(number: str, keywords: str) -> dict[str, Any]:
    named = [each for each in keywords.split(", ") if each]
    about = " and ".join(named[:2]) or "various things"
    return {"topic": number, "title": f"About {about}", "summary": f"They talk about {about}.", "keywords": named}


def _other_quote(item: dict[str, Any], _: random.Random) -> dict[str, Any]:
    evidence = [{**entry, "quote": f"{entry['quote']} to be sure"} for entry in item["evidence"]]
    return {**item, "evidence": evidence, "statement": f"{item['statement'][:-1]}, to be sure."}


def _other_message(item: dict[str, Any], _: random.Random) -> dict[str, Any]:
    return {**item, "statement": f"{item['statement'][:-1]}, it seems."}


def _other_number(item: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    return {**item, "statement": f"{item['statement'][:-1]}, for {chance.randint(61, 99)} years."}


def _other_name(item: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    return {**item, "statement": f"{item['statement'][:-1]}, with {chance.choice(_NAMES)}."}


def _other_person(item: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    name = chance.choice(_NAMES)
    return {**item, "about": name, "statement": item["statement"].replace(item["about"], name)}


def _other_value(item: dict[str, Any], _: random.Random) -> dict[str, Any]:
    return {**item, "value": "submarine captain", "statement": f"{item['about']} is a submarine captain."}


_SPOILS: Final[Sequence[tuple[str, Callable[[dict[str, Any], random.Random], dict[str, Any]]]]] = (
    ("a quote nobody said", _other_quote),
    ("the wrong message", _other_message),
    ("a number nobody said", _other_number),
    ("a name nobody said", _other_name),
    ("a person nobody named", _other_person),
    ("a value nobody said", _other_value),
)
