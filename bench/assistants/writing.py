"""Makes the whole set: who the people are, which threads each of them lives through, how much is asked of a kind."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from bench.assistants.asking import ask
from bench.assistants.composing import Composer, Person, Told, tell
from bench.assistants.habits import HABITS
from bench.assistants.sources import Sources, sources
from bench.assistants.values import Ask, Message, Question, Thread
from bench.assistants.wording import Deck, form

PEOPLE: Final = 24
DEVELOPMENT: Final = 10
"""The first so many people are for tuning, the others for testing."""
THREADS: Final[Mapping[str, float]] = {
    "single": 3, "update": 2, "preference": 2, "assistant": 2.25, "list": 1.5, "date": 1.75, "several-hop": 1.125,
}  # fmt: skip
"""For each person, on average."""
ASKED: Final[Mapping[str, float]] = {**THREADS, "absent": 2.25}
_PRONOUNS: Final[Mapping[str, Mapping[str, str]]] = {
    "f": {"they": "she", "them": "her", "their": "her"},
    "m": {"they": "he", "them": "him", "their": "his"},
}


@dataclass(frozen=True, slots=True)
class Chat:
    """One person's conversation and what is asked about it."""

    messages: Sequence[Message]
    questions: Sequence[Question]


def split(conversation: str) -> Literal["dev", "test"]:
    """Return the part that a conversation belongs to: p01 to p10 are for tuning; later ones and those by hand test."""
    number = conversation.removeprefix("p")
    return "dev" if number.isdecimal() and int(number) <= DEVELOPMENT else "test"


def generate(seed: int = 7) -> list[Chat]:
    """Return the chats of all people, the same for the same seed."""
    chance = random.Random(seed)
    given = sources()
    names = chance.sample(given.words["people"], PEOPLE)
    piles: dict[str, list[Thread]] = {kind: [] for kind in THREADS}
    chats = []
    for number, entry in enumerate(names):
        own = random.Random(f"{seed} {number}")
        dealt: list[Thread] = []
        for kind, rate in THREADS.items():
            for _ in range(_share(rate, number)):
                dealt.append(_deal(piles[kind], given.threads[kind], dealt, chance))
        chats.append(_chat(number, entry, dealt, given, own))
    return chats


def _share(rate: float, number: int) -> int:
    """Return how many fall to a person so that the average is the rate."""
    return int((number + 1) * rate) - int(number * rate)


def _deal(pile: list[Thread], all_: Sequence[Thread], dealt: Sequence[Thread], chance: random.Random) -> Thread:
    """Take a thread that goes with those dealt, from a pile that is filled up as needed, so that each is used often."""
    place = next((place for place, thread in enumerate(pile) if _fits(thread, dealt)), None)
    if place is None:
        place = len(pile)
        pile += sorted(chance.sample(all_, len(all_)), key=lambda thread: not _fits(thread, dealt))
        if not _fits(pile[place], dealt):
            raise ValueError(f"no thread goes with {', '.join(thread.name for thread in dealt)}")
    return pile.pop(place)


def _fits(thread: Thread, dealt: Sequence[Thread]) -> bool:
    return not any(
        thread.name == other.name or other.name in thread.not_with or thread.name in other.not_with for other in dealt
    )


def _chat(number: int, entry: Any, dealt: Sequence[Thread], given: Sources, chance: random.Random) -> Chat:
    name = form(entry)
    forms = {"name": name, **_PRONOUNS[form(entry, "sex")]}
    person = Person(f"p{number + 1:02}", name, forms, chance.choice(HABITS))
    deck = Deck(given.words, chance)
    told = [tell(thread, deck, chance) for thread in dealt]
    spoken = Composer(person, given, deck, chance).write(told)
    asked = [ask(person, one, ask_, spoken, deck, chance) for one, ask_ in _chosen(told, number, chance)]
    return Chat(spoken, asked)


def _chosen(told: Sequence[Told], number: int, chance: random.Random) -> Iterator[tuple[Told, Ask]]:
    """Yield what is asked: so many of a kind, of as many different threads as there are."""
    for kind, rate in ASKED.items():
        open_ = [(one, [ask_ for ask_ in one.thread.asks if ask_.category == kind]) for one in told]
        piles = [(one, chance.sample(asks, len(asks))) for one, asks in chance.sample(open_, len(open_)) if asks]
        rounds = [(one, asks[turn]) for turn in range(4) for one, asks in piles if turn < len(asks)]
        yield from rounds[: _share(rate, number)]


def as_lines(chats: Sequence[Chat]) -> Iterator[str]:
    """Yield the file's lines: each chat's turns, then its questions."""
    for chat in chats:
        for turn in chat.messages:
            yield _line(
                conversation=turn.conversation, session=turn.session, role=turn.role, name=turn.name or None,
                content=turn.content, at=turn.at.isoformat(), id=turn.id,
            )  # fmt: skip
        for one in chat.questions:
            yield _line(
                conversation=one.conversation, question=one.question, evidence=list(one.evidence),
                category=one.category, answer=one.answer, at=one.at.isoformat(),
                absent=True if one.category == "absent" else None,
            )  # fmt: skip


def _line(**fields: Any) -> str:
    return json.dumps({name: value for name, value in fields.items() if value is not None}, ensure_ascii=False)
