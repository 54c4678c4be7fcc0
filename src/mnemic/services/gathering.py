"""What a model is given to answer from: the end of the session, the asker's profile, and what a search finds.

Reads only, in the snapshots of its parts. All of it is numbered so that a reply can name it, and cut to what the model
takes in; the turns of a `chat` come as turns of the prompt instead, and are not numbered.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from mnemic.core.answering import Open, person_of
from mnemic.core.generation import (
    Frame,
    Reference,
    Room,
    Wish,
    fit_talk,
    number,
    put_together,
    rules,
    say,
    shrink,
    talk_turns,
    talk_with,
    tokens_of,
)
from mnemic.core.generation.fitting import A_TURN
from mnemic.core.packing import Line, pack
from mnemic.errors import NotFoundError
from mnemic.model.language import Turn
from mnemic.model.message import MessageRole, StoredMessage
from mnemic.model.query import Context
from mnemic.model.scope import Cube, CubeKind, Role
from mnemic.ports.store import Store, Transaction
from mnemic.services.answer import entry_hit
from mnemic.services.context import Contexts
from mnemic.services.hits import message_hit
from mnemic.services.profiles import Profiles
from mnemic.services.scoping import Scoping
from mnemic.text import estimate_tokens, fold

TALK: Final = 24
"""Messages of a session that may stand in a prompt: about what short-term memory holds of it."""

_HEADINGS: Final = "profile of the person:\nthe conversation so far:\nmemories:\n"
_EMPTY: Final = Context("", (), 0, 0)


@dataclass(frozen=True, slots=True)
class Asking:
    """A question (`ask`) or a message (`chat`) with what its caller said about it, checked."""

    kind: Literal["ask", "chat"]
    words: str
    user: str
    wish: Wish
    now: datetime
    cubes: Sequence[str] | str | None = None
    as_of: datetime | None = None
    session: str | None = None
    agent: str = ""
    elsewhen: bool = False  # `now` was given and is not the clock's

    @property
    def field(self) -> str:
        """What callers know the words as."""
        return "question" if self.kind == "ask" else "message"


@dataclass(frozen=True, slots=True)
class Material:
    """A prompt's turns, the numbered memories in them, the cube that pays, and what the caller should know.

    `shown` are the cube and id of everything that was stored and stands in the turns.
    """

    turns: tuple[Turn, ...]
    references: tuple[Reference, ...]
    cube_key: int
    notes: tuple[str, ...] = ()
    shown: frozenset[tuple[str, str]] = frozenset()


class Gathering:
    """Puts the stuff of prompts together."""

    def __init__(self, store: Store, scoping: Scoping, contexts: Contexts, profiles: Profiles, *, context: int) -> None:
        self._store = store
        self._scoping = scoping
        self._contexts = contexts
        self._profiles = profiles
        self._context = context

    @property
    def context(self) -> int:
        """Tokens that the model takes in, prompt and reply together."""
        return self._context

    def gather(self, asking: Asking) -> Material:
        """Return all that a model is told. Raises `InputError` when the words alone are too long for it."""
        wish = asking.wish
        said, cubes, documents = self._said(asking)
        system = rules(
            asking.kind, wish.manner, documents=documents, searching=wish.depth > 0, suggesting=wish.suggest > 0
        )
        frame = Frame(asking.now, asking.user, asking.agent, asking.as_of, wish.depth, wish.suggest)
        room = Room.beside(
            [system, say(frame, (), "", kind=asking.kind), _HEADINGS], asking.words, asking.field,
            context=self._context, reply=wish.max_tokens, talks=asking.session is not None,
        )  # fmt: skip
        talk = _spoken(asking, [message for message, _ in said], room) if asking.kind == "chat" else []
        profile = number(self._profile(asking, cubes, room.profile), 1)
        heard = number(_heard(said, room.talk) if asking.kind == "ask" else _EMPTY, len(profile) + 1)
        left = room.left - sum(estimate_tokens(turn.text) + A_TURN for turn in talk) - tokens_of((*profile, *heard))
        most = min(wish.budget, left)
        found = self._look(asking, asking.words, most, ()) if most > 0 else _EMPTY
        known = (*profile, *heard)
        memories = shrink(number(_without(found, known), len(known) + 1), most)
        asked = say(frame, _headed((profile, heard, memories), asking.user), asking.words, kind=asking.kind)
        turns, payer = put_together(system, talk, asked), self._payer(asking.user, asking.cubes)
        numbered = (*known, *memories)
        shown = {(cube.id, message.id) for message, cube in said} | {(one.hit.cube, one.hit.id) for one in numbered}
        return Material(turns, numbered, payer, _notes(found, wish, left), frozenset(shown))

    def is_gone(self, user: str, shown: Collection[tuple[str, str]]) -> bool:
        """Tell whether something of what was shown (cube, id) has been forgotten since."""
        names = sorted({cube for cube, _ in shown})
        if not names:
            return False
        try:
            with self._store.read() as tx:
                cubes = self._scoping.for_read(tx, user, names).cubes
                return not all(_holds(tx, cube.key, {each for of, each in shown if of == cube.id}) for cube in cubes)
        except NotFoundError:  # a whole cube
            return True

    def further(
        self, asking: Asking, query: str, budget: int, known: Sequence[Reference], without: Collection[str]
    ) -> list[Reference]:
        """Return what a further search finds that is not known yet, numbered on."""
        first = max((one.number for one in known), default=0) + 1
        fresh = _without(self._look(asking, query, budget, without), known)
        return shrink(number(fresh, first), budget)

    def _look(self, asking: Asking, query: str, budget: int, without: Collection[str]) -> Context:
        return self._contexts.context(
            query, user=asking.user, budget=budget, without=without, cubes=asking.cubes, as_of=asking.as_of,
            reference_time=asking.now,
        )  # fmt: skip

    def _said(self, asking: Asking) -> tuple[list[tuple[StoredMessage, Cube]], Sequence[Cube], bool]:
        """Return the end of the session, in the first cube that has it, the cubes that are named, or else the asker's
        own, and whether there may be documents in what is read.
        """
        with self._store.read() as tx:
            read = self._scoping.for_read(tx, asking.user, asking.cubes, bound=True).cubes
            documents = any(cube.kind is CubeKind.KNOWLEDGE for cube in read)
            cubes = [cube for cube in read if asking.cubes is not None or cube.kind is not CubeKind.KNOWLEDGE]
            if asking.session is None:
                return [], cubes, documents
            for cube in cubes:
                found = tx.messages.last(cube.key, asking.session, TALK)
                if found:
                    moment = asking.as_of
                    told = [(one, cube) for one in found if moment is None or one.said_at <= moment]
                    return told, cubes, documents
        return [], cubes, documents

    def _profile(self, asking: Asking, cubes: Sequence[Cube], budget: int) -> Context:
        """Return what is known about the asker, the surest first, as lines within a budget."""
        if budget < 1:
            return _EMPTY
        entries = [
            (entry, cube)
            for cube in cubes
            for entry in self._profiles.profile(
                user=asking.user, as_of=asking.as_of, cube=None if asking.cubes is None else cube.id
            )
        ]
        person = person_of(Open(None), [entry for entry, _ in entries], asking.user)
        own = [entry_hit(entry, cube.id) for entry, cube in entries if fold(entry.subject) == person]
        return pack([Line(hit, hit.score, (place,)) for place, hit in enumerate(own)], budget)

    def _payer(self, user: str, cubes: Sequence[str] | str | None) -> int:
        """Return the cube that a call is accounted to: the first that the asker may write to, else their own."""
        with self._store.read() as tx:
            scope = self._scoping.for_read(tx, user, cubes)
        for cube, role in zip(scope.cubes, scope.roles, strict=True):
            if role.covers(Role.EDITOR):
                return cube.key
        with self._store.write() as tx:
            own = self._scoping.for_costs(tx, user)
        self._scoping.remember(own)
        return own.key


def _holds(tx: Transaction, key: int, ids: Collection[str]) -> bool:
    wanted = list(ids)
    held = {*tx.messages.get(key, wanted), *tx.memories.get(key, wanted), *tx.segments.get(key, wanted)}
    left = [each for each in wanted if each not in held]
    return not left or set(tx.chunks.get(key, left)).issuperset(left)


def _spoken(asking: Asking, messages: Sequence[StoredMessage], room: Room) -> list[Turn]:
    talkers = (MessageRole.USER, MessageRole.ASSISTANT)
    said = [(one.role, talk_with(asking.user, one)) for one in messages if one.role in talkers and one.text.strip()]
    return talk_turns(fit_talk(said, room.talk))


def _heard(said: Sequence[tuple[StoredMessage, Cube]], budget: int) -> Context:
    """Return the end of a session as lines, the newest before all others when not all fit."""
    if budget < 1:
        return _EMPTY
    lines = [
        Line(message_hit(message, cube, 1.0), place, (message.position,))
        for place, (message, cube) in enumerate(said, start=1)
    ]
    return pack(lines, budget)


def _without(context: Context, known: Sequence[Reference]) -> Context:
    """Return a context without what is told already."""
    held = {(one.hit.id, one.hit.text) for one in known}
    kept = [
        (line, hit)
        for line, hit in zip(context.text.split("\n"), context.hits, strict=False)
        if (hit.id, hit.text) not in held
    ]
    return Context("\n".join(line for line, _ in kept), tuple(hit for _, hit in kept), context.tokens, context.budget)


def _headed(sections: Sequence[Sequence[Reference]], user: str) -> list[tuple[str, list[str]]]:
    names = (f"profile of {' '.join(user.split())}", "the conversation so far", "memories")
    return [(name, [str(one) for one in section]) for name, section in zip(names, sections, strict=True)]


def _notes(found: Context, wish: Wish, left: int) -> tuple[str, ...]:
    if left >= wish.budget:
        return found.notes
    return (*found.notes, f"the model's context has room for {max(left, 0):,} tokens of memories, not {wish.budget:,}")
