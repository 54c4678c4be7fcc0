"""Prompts that a person picks in a client: they ask the model for something, and bring what it needs from memory.

What comes from memory is attached as a resource, so that it stays apart from the request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import mcp_types as types

from mnemic.errors import InputError
from mnemic.model.caller import Power
from mnemic.shells.mcp import arguments as given
from mnemic.shells.mcp import reading, resources
from mnemic.shells.mcp.acts import Act
from mnemic.shells.mcp.fitting import dumped
from mnemic.shells.mcp.fitting import written as as_json
from mnemic.shells.mcp.place import Place
from mnemic.text import sound

if TYPE_CHECKING:
    from mnemic.api import Memory  # the process answers before that is imported

_BUDGET: Final = 3_000  # tokens of what is attached
_LONG: Final = 500  # characters of an argument

Attached = list[tuple[str, str]]
"""What is attached: addresses and their JSON."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt. `arguments`: name, description, whether it is needed. `power` is what its advice needs."""

    name: str
    title: str
    description: str
    arguments: tuple[tuple[str, str, bool], ...]
    ask: Callable[[Mapping[str, str]], str]
    attach: Callable[[Act, Mapping[str, str]], Attached]
    power: Power = Power.READ


def _nothing(_act: Act, _given: Mapping[str, str]) -> Attached:
    return []


def _profile(act: Act, args: Mapping[str, str]) -> Attached:
    found = reading.show_profile(act, given.ProfileOf(budget=_BUDGET))
    attached = [(resources.address("profile"), as_json(dumped(found)))]
    if topic := args.get("topic"):
        attached += _about(act, topic)
    return attached


def _about(act: Act, words: str) -> Attached:
    found = reading.context(act, given.ContextFor(query=words, budget=_BUDGET))
    return [(resources.address("context", words), as_json(dumped(found)))]


def _meeting(act: Act, args: Mapping[str, str]) -> Attached:
    person, topic = args["with"], args.get("about")
    known = reading.show_profile(act, given.ProfileOf(subject=person, budget=_BUDGET // 3))
    attached = [(resources.address("profile", person), as_json(dumped(known)))]
    attached += _about(act, f"What did we talk about, promise or plan with {person}?")
    return attached + (_about(act, f"{person} {topic}") if topic else [])


def _recent(act: Act, _args: Mapping[str, str]) -> Attached:
    return [(resources.address("recent"), as_json(dumped(resources.recent(act, _BUDGET))))]


def _topic(args: Mapping[str, str]) -> str:
    return f" about {args['about']!r}" if args.get("about") else ""


def _focus(args: Mapping[str, str], words: str) -> str:
    """Return what is said about an argument when it was given."""
    value = next(iter(args.values()), "")
    return f" {words} {value!r}." if value else ""


PROMPTS: Final = (
    Prompt(
        "remember-this-conversation", "Remember this conversation", "Keep what matters of this conversation.",
        (("focus", "What to look out for, such as decisions.", False),),
        lambda args: (
            "Look through this conversation and store what will matter later with the `remember` tool: facts about me "
            "and my people, preferences, decisions, plans with their dates. Make one `remember` call with a list of "
            "messages in my own words, each with who said it. Leave out small talk and secrets. Then tell me in a few "
            "lines what you kept." + _focus(args, "Look out above all for")
        ),
        _nothing, Power.WRITE,
    ),
    Prompt(
        "what-do-you-know-about-me", "What do you know about me?", "Tell what memory holds about the user.",
        (("topic", "Only about this, such as work or health.", False),),
        lambda args: (
            "Tell me what you know about me, from the attached memory and nothing else. Group it, say since when each "
            "thing holds, and mark what you are unsure of or what has changed. Ask me whether anything is wrong; if I "
            "correct something, use the `feedback` tool." + _focus(args, "I mean only")
        ),
        _profile,
    ),
    Prompt(
        "prepare-for-meeting", "Prepare for a meeting", "Gather what memory holds about somebody before a meeting.",
        (("with", "Whom the meeting is with.", True), ("about", "What it is about.", False)),
        lambda args: (
            f"I have a meeting with {args['with']!r}{_topic(args)}. Prepare me from the attached memory and nothing "
            "else: who they are, what we said last and when, what was promised on either side, what is open. Use "
            "`recall` for what is missing, and say what memory does not hold."
        ),
        _meeting,
    ),
    Prompt(
        "where-were-we", "Where were we?", "Pick up from the last conversations.",
        (),
        lambda _args: (
            "Tell me in a few lines where we left off, from the attached recent memories: what we worked on, what was "
            "decided, what is open. Then ask me what to go on with."
        ),
        _recent,
    ),
)  # fmt: skip

_USER: Final = ("user", "Whose memory: this connection may call for several users.", True)


def listed(place: Place) -> list[types.Prompt]:
    """Return the prompts that a caller may use."""
    return [
        types.Prompt(
            name=prompt.name, title=prompt.title, description=prompt.description,
            arguments=[
                types.PromptArgument(name=name, description=told, required=needed)
                for name, told, needed in _arguments(prompt, place)
            ],
        )
        for prompt in PROMPTS
        if _offered(prompt, place)
    ]  # fmt: skip


def written(memory: Memory, place: Place, name: str, args: Mapping[str, str]) -> types.GetPromptResult:
    """Return a prompt with what it attaches. Raises `InputError` for an unknown name or argument."""
    prompt = next((each for each in PROMPTS if each.name == name and _offered(each, place)), None)
    if prompt is None:
        known = ", ".join(each.name for each in PROMPTS if _offered(each, place))
        raise InputError("name", f"there is no prompt {name!r}; known: {known}")
    rest = {key: value for key, value in args.items() if key != "user"}
    user = place.user_of(args.get("user"))
    _check(prompt, rest)
    act = Act(memory, place, user, place.cube)
    asked: types.ContentBlock = types.TextContent(type="text", text=sound(prompt.ask(rest)))
    blocks: list[types.ContentBlock] = [asked]
    blocks += [
        types.EmbeddedResource(
            type="resource", resource=types.TextResourceContents(uri=uri, mime_type=resources.MIME, text=text)
        )
        for uri, text in prompt.attach(act, rest)
    ]
    messages = [types.PromptMessage(role="user", content=block) for block in blocks]
    return types.GetPromptResult(description=prompt.description, messages=messages)


def _offered(prompt: Prompt, place: Place) -> bool:
    return place.may(Power.READ) and place.may(prompt.power)


def _arguments(prompt: Prompt, place: Place) -> tuple[tuple[str, str, bool], ...]:
    return prompt.arguments if place.user is not None else (_USER, *prompt.arguments)


def _check(prompt: Prompt, args: Mapping[str, str]) -> None:
    known = {name: needed for name, _, needed in prompt.arguments}
    for name, value in args.items():
        if name not in known:
            raise InputError(name, f"is no argument here; known: {', '.join(known) or 'none'}")
        if len(value) > _LONG:
            raise InputError(name, f"has {len(value)} characters; {_LONG} at most")
    for name, needed in known.items():
        if needed and not args.get(name, "").strip():
            raise InputError(name, "is needed")
