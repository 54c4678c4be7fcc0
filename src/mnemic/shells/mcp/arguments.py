"""What each tool takes: the words that a model reads about an argument, its limits, and nothing beside.

An argument that is not named here is refused by its name; a wrong one too, with what would be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mnemic.errors import InputError, InputFaults

A = TypeVar("A", bound="Arguments")

BUDGET: Final = 2_000
"""Tokens that a result takes at most, unless the caller says otherwise."""

MOST_TOKENS: Final = 20_000
"""Tokens that a caller may ask for in one result."""

MOST_DATA: Final = 1_000_000
"""Characters of a file in base64: a model that sends more has written them itself."""

Budget = Annotated[
    int,
    Field(
        ge=300, le=MOST_TOKENS,
        description="Most tokens the result may take in your context. What does not fit is counted in `left_out`.",
    ),
]  # fmt: skip
CubeId = Annotated[
    str | None,
    Field(description="Id of a cube, such as a knowledge base from `list_knowledge`. Leave out for the user's own."),
]
BaseId = Annotated[
    str | None, Field(min_length=1, description="Id of the knowledge base, from `list_knowledge`. Needed.")
]
Time = Annotated[
    str | None, Field(description="ISO 8601 date or time, such as 2025-03-14 or 2025-03-14T09:30:00+01:00.")
]
Query = Annotated[
    str, Field(min_length=1, description="A question or statement in plain words; a whole sentence finds best.")
]
Id = Annotated[str, Field(min_length=1, description="The `id` of an item, as another tool returned it.")]


class Arguments(BaseModel):
    """The arguments of a tool."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


class Turn(Arguments):
    """One message of a conversation."""

    role: Annotated[Literal["user", "assistant", "system", "tool"], Field(description="Who speaks.")] = "user"
    content: Annotated[str, Field(min_length=1, description="What was said, word for word.")]
    name: Annotated[str | None, Field(description="The speaker's name, when it is not the user.")] = None
    at: Time = None
    id: Annotated[str | None, Field(description="Your own id of the message, unique in its session.")] = None
    metadata: Annotated[dict[str, Any] | None, Field(description="Kept with the message and returned with it.")] = None


class Remember(Arguments):
    """Arguments of `remember`."""

    content: Annotated[
        str | None,
        Field(min_length=1, description="One thing to remember, in the user's words: 'I moved to Porto in May.'"),
    ] = None
    messages: Annotated[
        list[Turn] | None,
        Field(min_length=1, max_length=500, description="Or a conversation, oldest first. Give `content` or this."),
    ] = None
    at: Time = None
    session: Annotated[
        str | None, Field(min_length=1, description="A name for this conversation; the same name continues it.")
    ] = None
    cube: CubeId = None
    wait: Annotated[
        bool, Field(description="Wait until facts are drawn from it. Not needed: it can be found at once.")
    ] = False


class Recall(Arguments):
    """Arguments of `recall`."""

    query: Query
    limit: Annotated[int, Field(ge=1, le=50, description="Most hits.")] = 10
    kinds: Annotated[
        list[Literal["message", "memory", "fact", "preference", "event", "insight", "segment", "archived", "chunk"]]
        | None,
        Field(
            min_length=1,
            description="Only these kinds; `memory` stands for fact, preference, event and insight, `chunk` for "
            "passages of documents.",
        ),
    ] = None
    where: Annotated[
        dict[str, Any] | None,
        Field(description="Filter, such as {'speaker': 'Ann', 'said_at': {'gte': '2025-01-01'}}."),
    ] = None
    as_of: Annotated[Time, Field(description="Answer as of this moment in the past.")] = None
    cubes: Annotated[
        list[str] | None, Field(min_length=1, description="Ids of cubes to search instead of the user's own.")
    ] = None
    budget: Budget = BUDGET


class ContextFor(Arguments):
    """Arguments of `context`."""

    query: Query
    budget: Budget = BUDGET
    as_of: Annotated[Time, Field(description="As of this moment in the past.")] = None
    cubes: Annotated[
        list[str] | None, Field(min_length=1, description="Ids of cubes to read instead of the user's own.")
    ] = None


class Ask(Arguments):
    """Arguments of `ask`."""

    question: Query
    as_of: Annotated[Time, Field(description="Answer as of this moment in the past.")] = None
    cubes: Annotated[
        list[str] | None, Field(min_length=1, description="Ids of cubes to read instead of the user's own.")
    ] = None
    budget: Budget = BUDGET


class ProfileOf(Arguments):
    """Arguments of `profile`."""

    subject: Annotated[
        str | None, Field(min_length=1, description="A person's name; leave out for everyone who is known.")
    ] = None
    as_of: Annotated[Time, Field(description="As of this moment in the past.")] = None
    cube: CubeId = None
    budget: Budget = BUDGET


class One(Arguments):
    """Arguments of a tool that looks at one item."""

    id: Id
    cube: CubeId = None
    budget: Budget = BUDGET


class Read(One):
    """Arguments of `read`."""

    offset: Annotated[int, Field(ge=0, description="Character to begin at; `next_offset` of the part before.")] = 0


class Forget(Arguments):
    """Arguments of `forget`."""

    ids: Annotated[
        list[Id] | None, Field(min_length=1, max_length=200, description="Ids of messages or memories to erase.")
    ] = None
    about: Annotated[
        str | None, Field(min_length=2, description="Erase everything that mentions these words, such as a name.")
    ] = None
    session: Annotated[str | None, Field(min_length=1, description="Erase one conversation, by its name.")] = None
    cube: CubeId = None


class Feedback(Arguments):
    """Arguments of `feedback`."""

    text: Annotated[
        str, Field(min_length=1, description="What is wrong and what is right: 'My sister is called Noor, not Nora.'")
    ]
    dry_run: Annotated[bool, Field(description="Show what would change, and change nothing.")] = False
    cube: CubeId = None


class Undo(Arguments):
    """Arguments of `undo`."""

    change: Annotated[str, Field(min_length=1, description="The `change` that `feedback` returned.")]
    cube: CubeId = None


class Update(Arguments):
    """Arguments of `update`."""

    id: Id
    text: Annotated[str, Field(min_length=1, description="The whole statement as it should read from now on.")]
    cube: CubeId = None


class Listing(Arguments):
    """Arguments of a tool that lists."""

    budget: Budget = BUDGET


class NewKnowledge(Arguments):
    """Arguments of `create_knowledge`."""

    name: Annotated[str, Field(min_length=1, max_length=200, description="What to call it.")]
    description: Annotated[str, Field(max_length=2_000, description="What its documents are about.")] = ""


class AddDocument(Arguments):
    """Arguments of `add_document`."""

    cube: BaseId = None
    address: Annotated[
        str | None, Field(min_length=1, description="A public address (http, https) of a page or a file to fetch.")
    ] = None
    text: Annotated[
        str | None, Field(min_length=1, description="Or the whole text, as Markdown or plain. It needs a `name`.")
    ] = None
    data: Annotated[
        str | None,
        Field(min_length=1, max_length=MOST_DATA, description="Or a small file, in base64. It needs a `name`."),
    ] = None
    name: Annotated[
        str | None,
        Field(min_length=1, description="What to call it, with the file's ending. The same name makes a new version."),
    ] = None
    wait: Annotated[bool, Field(description="Wait until it is read, up to a minute.")] = False


class ListDocuments(Arguments):
    """Arguments of `list_documents`."""

    cube: BaseId = None
    state: Annotated[
        Literal["queued", "reading", "chunking", "embedding", "ready", "failed"] | None,
        Field(description="Only those in this state."),
    ] = None
    after: Annotated[str | None, Field(min_length=1, description="`next_after` of the part before.")] = None
    budget: Budget = BUDGET


class Jobs(Arguments):
    """Arguments of `jobs`."""

    id: Annotated[
        str | None, Field(min_length=1, description="One job, such as the `job` that `remember` returned.")
    ] = None
    cube: CubeId = None
    budget: Budget = BUDGET


class AddMemory(Arguments):
    """Arguments of MemoryOS's `add_memory`."""

    user_input: Annotated[str, Field(description="The user's input or question.")]
    agent_response: Annotated[str, Field(description="The assistant's response.")]
    timestamp: Annotated[str | None, Field(description="When, as YYYY-MM-DD HH:MM:SS; now when left out.")] = None
    meta_data: Annotated[dict[str, Any] | None, Field(description="Kept with the turn.")] = None


class RetrieveMemory(Arguments):
    """Arguments of MemoryOS's `retrieve_memory`."""

    query: Annotated[str, Field(min_length=1, description="What to look for.")]
    relationship_with_user: Annotated[str, Field(description="Taken as MemoryOS takes it; retrieval ignores it.")] = (
        "friend"
    )
    style_hint: Annotated[str, Field(description="Taken as MemoryOS takes it; retrieval ignores it.")] = ""
    max_results: Annotated[int, Field(ge=1, le=50, description="Most entries of each list.")] = 10


class GetUserProfile(Arguments):
    """Arguments of MemoryOS's `get_user_profile`."""

    include_knowledge: Annotated[bool, Field(description="Add what is known, statement by statement.")] = True
    include_assistant_knowledge: Annotated[bool, Field(description="Add what the assistant told of itself.")] = False


def checked(kind: type[A], given: Mapping[str, Any]) -> A:
    """Return a call's arguments, checked. Raises `InputError` naming each argument that is unknown or wrong."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        told = {(_place(fault["loc"]), _told(kind, fault["type"], fault["loc"], fault["msg"])): None for fault in found}
        faults = [InputError(place, message) for place, message in told]
        raise (faults[0] if len(faults) == 1 else InputFaults("arguments", faults)) from error


def _place(location: tuple[int | str, ...]) -> str:
    """Return where a fault is, such as `messages[2].content`."""
    place = ""
    for part in location:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
    return place or "arguments"


def _told(kind: type[Arguments], fault: str, location: tuple[int | str, ...], message: str) -> str:
    if fault == "extra_forbidden":
        known = Turn if len(location) > 1 else kind
        return f"is no argument here; known: {', '.join(known.model_fields) or 'none'}"
    if fault == "missing":
        return "is needed"
    return f"{message[:1].lower()}{message[1:]}"
