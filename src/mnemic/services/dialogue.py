"""One answer being written by a model: a prompt and its reply, and further searches in between when they are allowed.

As long as the model may still search, replies are taken whole, for only a whole one tells whether it is an answer; the
last one can be shown while it is written. Every call goes through the guard and is counted.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from typing import Final, cast

from mnemic.core.generation import Reference, marks_for, more_text, searches_in, visible
from mnemic.core.generation.fitting import A_TURN
from mnemic.core.prompts import load
from mnemic.errors import LanguageError
from mnemic.model.language import Prompt, Reply, Spent, Turn
from mnemic.services.gathering import Asking, Gathering, Material
from mnemic.services.language import Language
from mnemic.text import estimate_tokens

RECALL: Final = "recall"
"""The purpose of calls that follow a search of the model's own."""

_FINENESS: Final = 200  # a stream is looked at when this part of it is new: all of it each time would be quadratic
_LEAST: Final = 60  # tokens without which a further search brings nothing


class Dialogue:
    """Asks until there is a reply. `reply`, `references`, `searches` and `spent` tell how far it has come."""

    def __init__(
        self,
        language: Language,
        gathering: Gathering,
        asking: Asking,
        material: Material,
        *,
        without: Collection[str] = (),
    ) -> None:
        self._language = language
        self._gathering = gathering
        self._asking = asking
        self._cube_key = material.cube_key
        self._without = without
        self._turns = list(material.turns)
        self._marks = marks_for(depth=asking.wish.depth, suggest=asking.wish.suggest)
        self.references: list[Reference] = list(material.references)
        self.searches: list[str] = []
        self.spent = Spent()
        self.reply: Reply | None = None

    @property
    def model(self) -> str:
        """The name of the model that is asked."""
        return self._asking.wish.model or self._language.name

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks that the prompt offered."""
        return self._marks

    def run(self, *, stream: bool) -> Iterator[str]:
        """Bring about `reply`; with `stream`, yield what of its text may be shown, piece by piece."""
        left = self._asking.wish.depth
        while left or not stream:
            reply = self._whole()
            wanted = searches_in(reply.text, left)
            if not wanted:
                self.reply = reply
                if stream:
                    yield visible(reply.text, self._marks)
                return
            left = self._search(wanted, left)
        yield from self._streamed()

    def again(self, name: str) -> Reply | None:
        """Ask once more, with the prompt of that name behind the reply; None when there is no room for it, or when the
        reply was endless.
        """
        if self.reply is None or self.reply.cut:
            return None
        turns = (Turn("assistant", self.reply.text), Turn("user", load(name)))
        if self._room(turns) < 0:
            return None
        self._turns += turns
        self.reply = self._whole()
        return self.reply

    def _whole(self) -> Reply:
        began, _ = self._language.started()
        reply = self._language.complete(self._prompt(), purpose=self._purpose(), cube_key=self._cube_key)
        self._count(reply, began)
        return reply

    def _streamed(self) -> Iterator[str]:
        began, _ = self._language.started()
        pieces = self._language.stream(self._prompt(), purpose=self._purpose(), cube_key=self._cube_key)
        written, shown, looked, reply = "", "", 0, None
        with closing(cast("Generator[str | Reply, None, None]", pieces)):
            for piece in pieces:
                if isinstance(piece, Reply):
                    reply = piece
                    continue
                written += piece
                if len(written) - looked <= looked // _FINENESS:
                    continue
                looked = len(written)
                now = visible(written, self._marks, whole=False)
                if len(now) > len(shown) and now.startswith(shown):
                    yield now[len(shown) :]
                    shown = now
        if reply is None:
            raise LanguageError(
                f"{self._language.name} ended its reply without saying so",
                passing=True, retry_after=None, status=None, model=self._language.name,
            )  # fmt: skip
        self._count(reply, began)
        self.reply = reply
        rest = visible(reply.text, self._marks)
        if len(rest) > len(shown) and rest.startswith(shown):
            yield rest[len(shown) :]

    def _search(self, wanted: tuple[str, ...], left: int) -> int:
        """Run searches and put what they find behind the prompt; return how many are left."""
        found: list[Reference] = []
        asked = Turn("assistant", "\n".join(f"[search] {query}" for query in wanted))
        for place, query in enumerate(wanted, start=1):
            told = Turn("user", more_text(found, left))
            budget = min(self._asking.wish.budget // 2, self._room((asked, told)) // (len(wanted) - place + 1))
            if budget >= _LEAST:
                known = [*self.references, *found]
                found += self._gathering.further(self._asking, query, budget, known, self._without)
                self.searches.append(query)
        self.references += found
        left = left - len(wanted) if found else 0  # a search that brings nothing new ends the looking
        self._turns += [asked, Turn("user", more_text(found, left))]
        return left

    def _room(self, more: tuple[Turn, ...]) -> int:
        """Return the tokens that are left in the model's context when these turns are added."""
        taken = sum(estimate_tokens(turn.text) + A_TURN for turn in (*self._turns, *more))
        return self._gathering.context - self._asking.wish.max_tokens - taken

    def _prompt(self) -> Prompt:
        wish = self._asking.wish
        return Prompt(tuple(self._turns), max_tokens=wish.max_tokens, temperature=wish.temperature, model=wish.model)

    def _purpose(self) -> str:
        return RECALL if self.searches else self._asking.kind

    def _count(self, reply: Reply, began: float) -> None:
        spent = self.spent
        self.spent = Spent(
            spent.calls + 1, spent.failed, spent.tokens_in + reply.tokens_in, spent.tokens_out + reply.tokens_out,
            spent.seconds + self._language.lasted(began),
        )  # fmt: skip
