"""What a language model is asked about feedback, and what of its reply can be done.

Nothing is believed: a memory must be one that was shown, and names and numbers in a new statement must stand in the
feedback or in the memory that it changes. What fails is left out and told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import BeforeValidator, ValidationError

from mnemic.core.changing import Wording
from mnemic.core.extraction.attributes import ATTRIBUTES, attribute_of, kind_of
from mnemic.core.feedback_plan import Intent, Learn, Plan, Remove, Restate, Reword, Shown
from mnemic.core.grounding import shares_a_word, unsaid
from mnemic.core.lenient import Flag, Lenient, Text
from mnemic.core.prompts import load, on_one_line
from mnemic.core.refining.prompting import OPEN
from mnemic.core.replies import items_of, json_in, number_in, picked
from mnemic.core.shapes import FLAG, TEXT, WHOLE, list_of, object_of, one_of
from mnemic.model.change import Action
from mnemic.model.language import Prompt, Reply, Turn
from mnemic.model.memory import Candidate, Memory, MemoryKind
from mnemic.text import fold

MAX_TOKENS: Final = 1_500
"""Tokens of an answer at most."""

LONGEST: Final = 600
"""Characters of a statement that a model may write."""

ACTIONS: Final = ("correct", "replace", "change", "supplement", "remove", "add")
_FALLBACK: Final = "note.fact"


class _Operation(Lenient):
    """An operation as the model wrote it."""

    action: Text
    memory: Annotated[int, BeforeValidator(number_in)] = 0
    statement: Text = ""
    value: Text = ""
    negated: Flag = False
    about: Text = ""
    attribute: Text = ""
    reason: Text = ""


def prompt_of(shown: Shown) -> Prompt:
    """Return what the model is asked. The feedback is a turn of its own."""
    names = ", ".join([*(name for name in ATTRIBUTES if name != "interest.topic"), *OPEN])
    told = f"{load('feedback')}\n\nAttributes: {names}."
    lines = [f"Memories, as of {shown.said_at:%A %Y-%m-%d}:"] if shown.memories else ["There are no memories yet."]
    lines += [_line(number, memory) for number, memory in enumerate(shown.memories, 1)]
    said = f"Feedback of {on_one_line(shown.speaker, 80)}:\n{shown.text}"
    turns = (Turn("system", told), Turn("user", "\n".join(lines)), Turn("user", said))
    return Prompt(turns, schema=SCHEMA, max_tokens=MAX_TOKENS)


def plan_reply(reply: Reply, shown: Shown, *, model: str) -> Plan:
    """Return the plan in a reply; notes say what of it was left out. Raises `LanguageError` when it holds no JSON."""
    found = json_in(reply.text, cut=reply.cut, wrapped_as="operations")
    intents: list[Intent] = []
    notes: list[str] = []
    touched: set[int] = set()
    for item in items_of(found.get("operations")):
        try:
            operation = _Operation.model_validate(item)
        except ValidationError:
            notes.append("an operation of the model's was malformed and is left out")
            continue
        intent = _intent(operation, shown, model, touched)
        if isinstance(intent, str):
            notes.append(f"an operation of the model's is left out: {intent}")
        else:
            touched.add(operation.memory)
            intents.append(intent)
    understood = bool(intents) and found.get("understood") is not False
    return Plan(tuple(intents) if understood else (), notes=tuple(dict.fromkeys(notes)), understood=understood)


def _line(number: int, memory: Memory) -> str:
    current = memory.current
    lock = ", locked" if memory.locked else ""
    over = f" until {current.valid_to:%Y-%m-%d}" if current.valid_to else ""
    about = f"about {on_one_line(memory.subject, 80)}, {memory.attribute}, since {current.valid_from:%Y-%m-%d}"
    return f"{number} | {about}{over}{lock} | {on_one_line(current.text, 300)}"


def _intent(operation: _Operation, shown: Shown, model: str, touched: set[int]) -> Intent | str:
    """Return what an operation asks for, or why it cannot be done."""
    action = operation.action.strip().lower()
    if action not in ACTIONS:
        return f"{operation.action[:40]!r} is no action"
    statement = " ".join(operation.statement.split())
    if action == "add":
        return _added(operation, statement, shown, model)
    memory = picked(operation.memory, shown.memories)
    if memory is None:
        return f"there is no memory {operation.memory}"
    if operation.memory in touched:
        return f"memory {operation.memory} is changed by another one"
    if action == "remove":
        return Remove(memory.id, operation.reason[:200])
    why = _unfit(statement, operation.value, [shown.text, memory.current.text, memory.current.value, memory.subject])
    if why is not None:
        return why
    return _reworded(action, operation, memory, shown, model)


def _reworded(action: str, operation: _Operation, memory: Memory, shown: Shown, model: str) -> Intent:
    statement = " ".join(operation.statement.split())
    value = operation.value.strip() or memory.current.value
    polarity = -1 if operation.negated else 1
    reason = operation.reason[:200]
    candidate = _candidate(memory.subject, memory.attribute, statement, value, shown, operation, model)
    if action == "change" and memory.kind is not MemoryKind.INSIGHT:
        return Learn(candidate, onto=memory.id)
    if action == "correct" and polarity != memory.current.polarity:
        return Restate(memory.id, candidate, reason)
    known = {"replace": Action.REPLACE, "supplement": Action.SUPPLEMENT}
    return Reword(memory.id, known.get(action, Action.CORRECT), Wording(statement, value, model, reason))


def _added(operation: _Operation, statement: str, shown: Shown, model: str) -> Intent | str:
    about = operation.about.strip() or shown.speaker
    people = {fold(shown.speaker), *(fold(memory.subject) for memory in shown.memories)}
    if fold(about) not in people and fold(about) not in fold(shown.text):
        return f"nobody spoke of {about[:40]!r}"
    why = _unfit(statement, operation.value, [shown.text, about])
    if why is not None:
        return why
    if not shares_a_word(operation.value or statement, [shown.text]):
        return "it says something that the feedback does not"
    value = operation.value.strip() or statement.rstrip(".")
    return Learn(_candidate(about, _known(operation.attribute), statement, value, shown, operation, model))


def _known(attribute: str) -> str:
    name = attribute.strip()
    try:
        return attribute_of(name).name
    except KeyError:
        return _FALLBACK


def _unfit(statement: str, value: str, said: Sequence[str]) -> str | None:
    if not statement:
        return "it has no statement"
    if len(statement) > LONGEST or len(value) > LONGEST:
        return "its statement is too long"
    extra = unsaid(statement, value, said, None)
    return None if extra is None else f"nobody said {extra[:40]!r}"


def _candidate(
    subject: str, attribute: str, statement: str, value: str, shown: Shown, operation: _Operation, model: str
) -> Candidate:
    try:
        single = attribute_of(attribute).single
    except KeyError:
        single = False
    return Candidate(
        kind=kind_of(attribute),
        subject=subject,
        attribute=attribute,
        value=value,
        text=statement,
        polarity=-1 if operation.negated else 1,
        single=single,
        time=None,
        valid_from=shown.said_at,
        valid_to=None,
        confidence=0.9,
        quote=shown.text,
        start=0,
        end=len(shown.text),
        drawn_by=model,
        reason=operation.reason[:200],
    )


SCHEMA: Final = object_of(
    understood=FLAG,
    operations=list_of(
        object_of(
            action=one_of(ACTIONS),
            memory=WHOLE,
            about=TEXT,
            attribute=TEXT,
            statement=TEXT,
            value=TEXT,
            negated=FLAG,
            reason=TEXT,
        )
    ),
)
"""The shape of a reply."""
