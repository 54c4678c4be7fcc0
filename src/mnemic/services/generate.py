"""Answers that a model writes: the prompt is gathered, the reply is checked, and what cannot be trusted is not told.

A reply counts as found when it names memories that it was given, or when all its words stand in a few of them. One that
does neither, and does not say that memory holds nothing, is asked for once more with references, then left out: the
extractive answer takes its place, as it does in an outage, and a note says why. What was shown of a stream already
cannot be left out; it is told as not found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import Final, Literal, Unpack

from mnemic.core.answering import is_question
from mnemic.core.generation import EXTRACTIVE, Defaults, Read, Wish, read_reply, read_wish, standing_on
from mnemic.core.intake import check_id, check_text, read_time
from mnemic.errors import BudgetError, InputError, LanguageError
from mnemic.model.answer import Answer, AskOptions, ChatOptions
from mnemic.model.language import Spent
from mnemic.model.receipt import Added
from mnemic.ports.clock import Clock
from mnemic.services.answer import EMPTY, AnswerService
from mnemic.services.dialogue import Dialogue
from mnemic.services.gathering import Asking, Gathering, Material
from mnemic.services.language import NONE_CONFIGURED, Language

MODEL: Final = "model"

NOTED: Final = "Noted."
"""What a statement in `chat` gets when no model replies."""

NOT_NOTED: Final = "Heard, but not stored."
"""The same when the turn is not stored."""

_BY_WORDS: Final = "the model named no memory; the citations are the memories that hold the words of its answer"
_UNNAMED: Final = (
    "the model's reply names no memory that it stands on: take it as its own words, not as what memory holds"
)
_LEFT_OUT: Final = "the model's reply named no memory that it stands on and was left out; this is the extractive answer"
_NEEDS_MODEL: Final = "needs a language model, and none took part in this answer"


class Generate:
    """The use case of `ask`, with a language model when there is one."""

    def __init__(
        self,
        gathering: Gathering,
        extractive: AnswerService,
        language: Language | None,
        clock: Clock,
        *,
        defaults: Defaults,
        zone: tzinfo,
    ) -> None:
        self._gathering = gathering
        self._extractive = extractive
        self._language = language
        self._clock = clock
        self._defaults = defaults
        self._zone = zone

    def ask(self, question: object, *, user: object, **options: Unpack[AskOptions]) -> Answer:
        """Return the answer that memory holds, or one that says it holds none; see `Memory.ask`."""
        asking = self.asking("ask", question, user, options)
        return answer_of(self.write(asking, self.gather(asking), stream=False))

    def ask_stream(self, question: object, *, user: object, **options: Unpack[AskOptions]) -> Iterator[str | Answer]:
        """Yield the text of an answer as it is written, then the answer; see `Memory.ask_stream`."""
        asking = self.asking("ask", question, user, options)
        return self.write(asking, self.gather(asking), stream=True)

    def asking(
        self,
        kind: Literal["ask", "chat"],
        words: object,
        user: object,
        options: AskOptions,
        *,
        agent: object = None,
    ) -> Asking:
        """Return what is asked, checked. Raises `InputError` naming the field."""
        field, known = ("question", AskOptions) if kind == "ask" else ("message", ChatOptions)
        for name in options.keys() - known.__optional_keys__:
            raise InputError(name, f"is no option of `{kind}`; known: {', '.join(sorted(known.__optional_keys__))}")
        wish = read_wish(options, self._defaults)
        if wish.mode == MODEL and self._language is None:
            raise InputError("mode", NONE_CONFIGURED)
        now, as_of, given = self._clock.now(), options.get("as_of"), options.get("reference_time")
        session = options.get("session")
        return Asking(
            kind=kind,
            words=check_text(words, field, EMPTY if kind == "ask" else "say something"),
            user=check_id(user, "user"),
            wish=wish,
            now=read_time(given, "reference_time", now=now.astimezone(self._zone), zone=self._zone)[0],
            cubes=options.get("cubes"),
            as_of=None if as_of is None else read_time(as_of, "as_of", now=now, zone=self._zone)[0],
            session=None if session is None else check_id(session, "session"),
            agent="" if agent is None else check_id(agent, "agent"),
            elsewhen=given is not None,
        )

    def gather(self, asking: Asking) -> Material | None:
        """Return what the model is to be told; None when none is asked."""
        return None if self._asks_no_model(asking.wish) else self._gathering.gather(asking)

    def is_gone(self, user: str, material: Material | None, answer: Answer, said: Added) -> bool:
        """Tell whether something that a reply may tell of has been forgotten while it was written."""
        shown = {(hit.cube, hit.id) for hit in answer.citations} | {(said.cube, each) for each in said.message_ids}
        return self._gathering.is_gone(user, shown | (material.shown if material is not None else frozenset()))

    def write(
        self, asking: Asking, material: Material | None, *, stream: bool, without: Collection[str] = ()
    ) -> Iterator[str | Answer]:
        """Yield (with `stream`) the text piece by piece, and at last the answer.

        `without` are messages that must not stand for themselves: a `chat`'s own. Raises `LanguageError` or
        `BudgetError` when a model was demanded, and when it fails in the middle of what was shown.
        """
        if material is None or self._language is None:
            answer = self._instead(asking, without)
            yield from (answer.text,) if stream else ()
            yield answer
            return
        dialogue = Dialogue(self._language, self._gathering, asking, material, without=without)
        shown = False
        try:
            for piece in dialogue.run(stream=stream):
                shown = shown or bool(piece)
                yield piece
            answer = self._judged(asking, dialogue, shown=stream, without=without)
        except (LanguageError, BudgetError) as error:
            if shown or asking.wish.mode == MODEL:
                raise
            note = f"{self._language.name} gave no answer, this one is extractive: {error}"
            answer = self._instead(asking, without, note, dialogue)
            yield from (answer.text,) if stream else ()
        yield replace(answer, notes=tuple(dict.fromkeys((*material.notes, *answer.notes))))

    def _asks_no_model(self, wish: Wish) -> bool:
        return self._language is None or wish.mode == EXTRACTIVE

    def _judged(self, asking: Asking, dialogue: Dialogue, *, shown: bool, without: Collection[str]) -> Answer:
        """Return a model's reply as an answer, or the extractive one in its place."""
        read = self._read(asking, dialogue)
        if asking.kind == "chat" or read.cited or read.none:
            return self._told(read, dialogue, read.cited)
        held = standing_on(read.text, asking.words, dialogue.references)
        if not held and not shown and dialogue.again("cite") is not None:
            read = self._read(asking, dialogue)
            if read.cited or read.none:
                return self._told(read, dialogue, read.cited)
            held = standing_on(read.text, asking.words, dialogue.references)
        if held:
            return self._told(read, dialogue, held, _BY_WORDS)
        if shown or asking.wish.mode == MODEL:
            return self._told(read, dialogue, (), _UNNAMED)
        return self._instead(asking, without, _LEFT_OUT, dialogue)

    def _read(self, asking: Asking, dialogue: Dialogue) -> Read:
        reply = dialogue.reply
        numbers = {one.number for one in dialogue.references}
        text = reply.text if reply is not None else ""
        read = read_reply(text, numbers, marks=dialogue.marks, suggest=asking.wish.suggest)
        if not read.text:
            raise LanguageError(
                "the model replied without saying anything", passing=False, retry_after=None, status=None
            )
        return read

    def _told(self, read: Read, dialogue: Dialogue, numbers: Sequence[int], *notes: str) -> Answer:
        reply = dialogue.reply
        hits = {one.number: one.hit for one in dialogue.references}
        found = bool(numbers) and not read.none
        more = list(notes)
        if read.dropped:
            more.append(f"references that name no memory were taken out of the reply: {read.dropped}")
        if reply is not None and reply.cut:
            more.append("the reply ended at max_tokens and is not whole")
        return Answer(
            text=read.text,
            citations=tuple(hits[one] for one in numbers),
            found=found,
            mode=(reply.model if reply is not None else "") or dialogue.model,
            confidence=round(max((min(hits[one].score, 1.0) for one in numbers), default=0.0), 3) if found else 0.0,
            notes=tuple(more),
            numbers=tuple(numbers),
            searches=tuple(dialogue.searches),
            suggestions=read.suggestions,
            spent=dialogue.spent,
            cut=reply is not None and reply.cut,
        )

    def _instead(
        self, asking: Asking, without: Collection[str], note: str = "", dialogue: Dialogue | None = None
    ) -> Answer:
        """Return what is answered without a model."""
        notes = [note] if note else []
        notes += [f"{name} {_NEEDS_MODEL}" for name in ("depth", "suggest") if getattr(asking.wish, name)]
        spent = dialogue.spent if dialogue is not None else Spent()
        searches = tuple(dialogue.searches) if dialogue is not None else ()
        if asking.kind == "chat" and not is_question(asking.words):
            said = NOTED if without else NOT_NOTED
            return Answer(said, (), found=False, mode=EXTRACTIVE, notes=tuple(notes), searches=searches, spent=spent)
        answer = self._extractive.ask(
            asking.words, user=asking.user, cubes=asking.cubes, as_of=asking.as_of, reference_time=asking.now,
            without=without,
        )  # fmt: skip
        return replace(answer, notes=(*answer.notes, *notes), searches=searches, spent=spent)


def answer_of(pieces: Iterator[str | Answer]) -> Answer:
    """Return the answer that ends what is written."""
    found: Answer | None = None
    for piece in pieces:
        found = piece if isinstance(piece, Answer) else found
    if found is None:
        raise LanguageError("no answer was written", passing=False, retry_after=None, status=None)
    return found
