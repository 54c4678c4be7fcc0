"""Puts a person's threads into sessions, between other talk: where each stage falls, what stands around it, when.

A thread's stages fall into different sessions, in order. Half of what is planted interrupts another topic.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from bench.assistants import habits
from bench.assistants.sources import Sources
from bench.assistants.values import Block, Entry, Line, Message, Script, Thread
from bench.assistants.wording import Deck, fill

SESSIONS: Final = 19
FEWEST: Final = 4
MOST: Final = 30
"""Turns of a session."""
_AIMS: Final = (FEWEST, 4, 6, 8, 8, 10, 12, 14, 16, 20, 26, MOST)
"""How long sessions want to become."""
_FULL: Final = 22
"""Turns of planted talk after which a session takes no more."""
_CHATTER: Final = 0.25
"""The share of small talk in what stands around."""
_ZONES: Final = (0, 0, 60, 60, 120, 330, -300, -480, 600)
"""Minutes east of Greenwich."""


@dataclass(frozen=True, slots=True)
class Person:
    """Whose chat it is."""

    conversation: str
    name: str
    forms: Mapping[str, str]
    """Pronouns, for questions about the person."""
    habit: str


@dataclass(frozen=True, slots=True)
class Told:
    """A thread with the values that this person's chat fills it with."""

    thread: Thread
    values: Mapping[str, Any]
    items: Sequence[Entry] = ()


def tell(thread: Thread, deck: Deck, chance: random.Random) -> Told:
    """Draw the values of a thread."""
    values = {name: deck.draw(source) for name, source in thread.slots.items()}
    count = chance.randint(thread.least, thread.most) if thread.each else 0
    return Told(thread, values, [deck.draw(thread.each) for _ in range(count)])


def _blocks(told: Told, chance: random.Random) -> list[Block]:
    """Return the thread's stages, each in one of its ways."""
    thread = told.thread
    if thread.each:
        ways = chance.sample(thread.stages[0], len(told.items))
        return [
            Block(way, {**told.values, "item": item}, thread.name) for way, item in zip(ways, told.items, strict=True)
        ]
    stages = [Block(chance.choice(ways), told.values, thread.name) for ways in thread.stages]
    if thread.shuffled:
        chance.shuffle(stages)
    return stages


class Composer:
    """Writes one person's chat."""

    def __init__(self, person: Person, sources: Sources, deck: Deck, chance: random.Random) -> None:
        self._person = person
        self._deck = deck
        self._chance = chance
        self._episodes = chance.sample(sources.episodes, len(sources.episodes))
        self._chatter = chance.sample(sources.chatter, len(sources.chatter))
        self._planted: list[list[Block]] = [[] for _ in range(SESSIONS)]

    def write(self, threads: Sequence[Told]) -> list[Message]:
        """Return the turns of all sessions, in order."""
        for told in sorted(threads, key=lambda told: -len(told.thread.stages) - len(told.items)):
            self._plant(_blocks(told, self._chance), told.thread.apart)
            for decoy in told.thread.decoys:
                self._plant([Block(decoy, told.values)])
        spoken: list[Message] = []
        for number, begin in enumerate(self._times()):
            spoken += self._session(number, begin)
        return spoken

    def _plant(self, blocks: Sequence[Block], apart: int = 0) -> None:
        """Put blocks into different sessions, in order, the emptiest first."""
        open_ = [place for place in range(SESSIONS) if self._turns(place) < _FULL]
        weights = {place: self._turns(place) + self._chance.random() * 6 for place in open_}
        if apart:
            begin = self._chance.choice(open_[: -len(blocks)])
            open_ = [place for place in open_ if begin <= place <= begin + apart * (len(blocks) - 1)]
        chosen = sorted(sorted(open_, key=weights.__getitem__)[: len(blocks)])
        for place, block in zip(chosen, blocks, strict=True):
            self._planted[place].append(block)

    def _turns(self, place: int) -> int:
        return sum(len(block.script) for block in self._planted[place])

    def _times(self) -> Iterator[datetime]:
        """Yield when the sessions begin: over one to two years, at waking hours."""
        chance = self._chance
        zone = timezone(timedelta(minutes=chance.choice(_ZONES)))
        first = datetime(2024, 1, 8, tzinfo=zone) + timedelta(days=chance.randrange(150))
        for day in sorted(chance.sample(range(chance.randint(370, 700)), SESSIONS)):
            yield first + timedelta(days=day, hours=chance.randint(7, 21), minutes=chance.randrange(60))

    def _session(self, number: int, begin: datetime) -> Iterator[Message]:
        """Yield the turns of a session, with their times and ids."""
        at = begin
        chance = self._chance
        for place, (block, line, begins) in enumerate(self._lines(number)):
            if line.role == "user":
                text = habits.typed(line.text, self._person.habit, chance)
                if begins and place:
                    text = habits.shifted(text, chance, back=begins == "again")
            else:
                text = habits.dressed(line.text, chance, first=line is block.script[1])
            at += timedelta(seconds=chance.randint(20, 240) if line.role == "user" else chance.randint(4, 30))
            conversation = self._person.conversation
            yield Message(
                conversation=conversation,
                session=f"{conversation}-s{number + 1:02}",
                role=line.role,
                name=self._person.name if line.role == "user" else "",
                content=fill(text, block.values, self._deck, at),
                at=at,
                id=f"{conversation}-s{number + 1:02}-{place + 1:02}",
                line=line,
                thread=block.thread,
            )

    def _lines(self, number: int) -> Iterator[tuple[Block, Line, str]]:
        """Yield the turns of a session: the block, its line, and whether a topic is new, taken up again or goes on."""
        for block, part in self._order(self._planted[number]):
            for place, line in enumerate(part):
                yield block, line, "" if place else "new" if line is block.script[0] else "again"

    def _order(self, planted: Sequence[Block]) -> list[tuple[Block, Script]]:
        """Return what is planted between other talk, some of it in the middle of another topic."""
        chance = self._chance
        around = self._around(sum(len(block.script) for block in planted))
        parts: list[tuple[Block, Script]] = [(block, block.script) for block in around]
        for block in chance.sample(planted, len(planted)):
            place = chance.randint(0, len(parts))
            host = parts[place - 1] if place else None
            if host and host[0] in around and len(host[1]) >= 4 and chance.random() < 0.5:
                cut = 2 * chance.randint(1, len(host[1]) // 2 - 1)
                parts[place - 1 : place] = [(host[0], host[1][:cut]), (block, block.script), (host[0], host[1][cut:])]
            else:
                parts.insert(place, (block, block.script))
        return parts

    def _around(self, taken: int) -> list[Block]:
        """Return other talk, so that a session comes to a length that occurs."""
        chance = self._chance
        aim = max(chance.choice(_AIMS), taken)
        found: list[Block] = []
        while taken < aim:
            piles = [self._episodes, self._chatter]
            if chance.random() < _CHATTER:
                piles.reverse()
            fitting = [(pile, script) for pile in piles for script in pile if taken + len(script) <= min(aim + 4, MOST)]
            if not fitting:
                break
            pile, script = fitting[0]
            pile.remove(script)
            found.append(Block(script, {}))
            taken += len(script)
        return found
