"""A conversation with memory: what is said is stored, answered with what was said before, and the reply is stored too.

What memory says to a message is looked up before the message is stored, so that nothing is evidence for itself; then it
is stored, before the model is asked, so that nothing said is lost. A reply is stored only when a model wrote it whole,
and without its references, which mean nothing later; not when something that it may tell of was forgotten meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Unpack

from mnemic.core.generation import EXTRACTIVE, without_references
from mnemic.core.intake import check_flag
from mnemic.model.answer import Answer, ChatOptions
from mnemic.model.message import Message
from mnemic.model.parts import check_content, searchable_text
from mnemic.model.receipt import Added
from mnemic.services.gathering import Asking, Material
from mnemic.services.generate import Generate, answer_of
from mnemic.services.remember import DEFAULT_SESSION, Remember

_GONE: Final = "it was not stored: something that it may tell of was forgotten while the model wrote"


class Chat:
    """The use case of `chat`."""

    def __init__(self, generate: Generate, remember: Remember) -> None:
        self._generate = generate
        self._remember = remember

    def chat(self, message: object, *, user: object, **options: Unpack[ChatOptions]) -> Answer:
        """Return the reply to a message; see `Memory.chat`."""
        return answer_of(self._begin(message, user, options, stream=False))

    def chat_stream(self, message: object, *, user: object, **options: Unpack[ChatOptions]) -> Iterator[str | Answer]:
        """Yield the text of a reply as it is written, then the answer; see `Memory.chat_stream`."""
        return self._begin(message, user, options, stream=True)

    def _begin(self, message: object, user: object, options: ChatOptions, *, stream: bool) -> Iterator[str | Answer]:
        words = message if isinstance(message, str) else _words_of(message)
        store, cube, wishes = check_flag(options.get("store", True), "store"), options.get("cube"), options.copy()
        if options.get("session") is None:
            wishes["session"] = DEFAULT_SESSION
        if options.get("cubes") is None and cube is not None:
            wishes["cubes"] = cube
        asking = self._generate.asking("chat", words, user, wishes, agent=options.get("agent"))
        material = self._generate.gather(asking)
        said = self._keep("user", asking.words if words is message else message, asking, cube) if store else None
        return self._replied(asking, material, said, cube=cube, stream=stream)

    def _replied(
        self, asking: Asking, material: Material | None, said: Added | None, *, cube: str | None, stream: bool
    ) -> Iterator[str | Answer]:
        without = said.message_ids if said is not None else ()
        for piece in self._generate.write(asking, material, stream=stream, without=without):
            yield self._kept(piece, asking, material, said, cube) if isinstance(piece, Answer) else piece

    def _kept(
        self, answer: Answer, asking: Asking, material: Material | None, said: Added | None, cube: str | None
    ) -> Answer:
        """Store a model's whole reply beside the message; return the answer with its receipts."""
        if said is None:
            return answer
        if answer.mode == EXTRACTIVE:
            return replace(answer, stored=(said,))
        if answer.cut:
            return replace(answer, stored=(said,), notes=(*answer.notes, "it was not stored"))
        if self._generate.is_gone(asking.user, material, answer, said):
            return replace(answer, stored=(said,), notes=(*answer.notes, _GONE))
        return replace(answer, stored=(said, self._keep("assistant", without_references(answer.text), asking, cube)))

    def _keep(self, role: str, content: object, asking: Asking, cube: str | None) -> Added:
        """Store a turn, said now, or at the reference time when one was given."""
        return self._remember.add(
            [Message(role, content, at=asking.now if asking.elsewhen else None)],
            user=asking.user, session=asking.session, agent=asking.agent or None, cube=cube,
        )  # fmt: skip


def _words_of(parts: object) -> str:
    """Return what parts say in words: captions and names of what comes along included. Raises `InputError`."""
    check_content(parts, "message")
    return searchable_text(parts)
