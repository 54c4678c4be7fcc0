"""`mnemic ask`, and how answers come to a terminal: as they are written, with what they stand on below them.

The options of an answer are here, for `chat` has them too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemic.shells.cli import showing
from mnemic.shells.cli.face import Face, face_of, leave_when_nothing, read_words
from mnemic.shells.cli.reading import AsOf, Cubes, Reference
from mnemic.shells.cli.wording import shown

if TYPE_CHECKING:
    from mnemic.api import Memory
    from mnemic.model.answer import Answer

Mode = Annotated[
    str, typer.Option(help="auto: the language model when there is one; extractive: without one; model: or fail.")
]
Depth = Annotated[int, typer.Option(help="Further searches that the model may make.")]
Suggest = Annotated[int, typer.Option(help="Next questions to suggest.")]
Budget = Annotated[int, typer.Option(help="Tokens of memories that the model is given.")]
Persona = Annotated[str | None, typer.Option(help="Who answers, in a sentence.")]
Style = Annotated[str | None, typer.Option(help="How it speaks, such as 'brief and warm'.")]
Relationship = Annotated[str | None, typer.Option(help="What it is to you, such as friend or tutor.")]
System = Annotated[str | None, typer.Option(help="Instructions of your own for the model.")]
Model = Annotated[str | None, typer.Option(help="Another model's name at the same endpoint.")]
Temperature = Annotated[float | None, typer.Option(help="0 to 2.")]
MaxTokens = Annotated[int | None, typer.Option(help="Tokens of the answer at most.")]
Stream = Annotated[bool, typer.Option(help="Show the answer while it is written (default: at a terminal).")]


def ask(
    context: typer.Context,
    question: Annotated[list[str], typer.Argument(help="The question, or - to read it from stdin.")],
    *,
    cube: Cubes = None,
    session: Annotated[str | None, typer.Option(help="A session whose last turns the question goes on from.")] = None,
    as_of: AsOf = None,
    now: Reference = None,
    mode: Mode = "auto",
    depth: Depth = 0,
    suggest: Suggest = 0,
    budget: Budget = 2_000,
    persona: Persona = None,
    style: Style = None,
    relationship: Relationship = None,
    system: System = None,
    model: Model = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    stream: Stream = True,
) -> None:
    """Answer a question from memory, with sources; it says so when memory does not hold the answer."""
    face = face_of(context)
    words = read_words(question, "question")
    wishes: dict[str, Any] = {
        "cubes": cube, "session": session, "as_of": as_of, "reference_time": now, "mode": mode, "depth": depth,
        "suggest": suggest, "budget": budget, "persona": persona, "style": style, "relationship": relationship,
        "system": system, "model": model, "temperature": temperature, "max_tokens": max_tokens,
    }  # fmt: skip
    with face.memory() as memory:
        if stream and streams(face, memory, mode):
            said = show_stream(face, memory.ask_stream(words, user=face.user, **wishes))
            face.out.print(showing.beneath(said))
        else:
            said = memory.ask(words, user=face.user, **wishes)
            face.show(said, lambda: showing.answer(said))
    face.notes(said.notes)
    leave_when_nothing(said.found)


def streams(face: Face, memory: Memory, mode: str) -> bool:
    """Tell whether a model writes and somebody is there to read it while it does."""
    return memory.llm.name is not None and mode != "extractive" and bool(face.out.is_terminal) and not face.json


def show_stream(face: Face, pieces: Iterator[str | Answer]) -> Answer:
    """Print what comes as it comes; return the answer at the end."""
    said: Any = None
    try:
        for piece in pieces:
            if isinstance(piece, str):
                face.out.print(shown(piece), end="", soft_wrap=True)  # styles would cut it up
            else:
                said = piece
    finally:
        face.out.print()
    answer: Answer = said
    return answer
