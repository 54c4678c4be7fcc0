"""The commands that read: search, context, profile, list, show, history, sessions, stats.

None of them changes what is remembered, but for `profile` when it is told to.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Any

import typer

from mnemic.errors import InputError
from mnemic.shells.cli import people, showing, tiers
from mnemic.shells.cli.face import Cube, face_of, leave_when_nothing, read_words
from mnemic.shells.cli.wording import shown

Cubes = Annotated[list[str] | None, typer.Option("--cube", help="A cube's id; may be repeated.")]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", help="message, segment, memory, fact, preference, event, insight; may be repeated."),
]
AsOf = Annotated[str | None, typer.Option(help="Answer from what held at this time (ISO 8601).")]
Reference = Annotated[str | None, typer.Option("--now", help="What 'last week' in the question counts from.")]
Where = Annotated[str | None, typer.Option(help='A filter as JSON, such as \'{"speaker": "Ann"}\'.')]


def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="What to look for, or - to read it from stdin.")],
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Hits at most.")] = 5,
    kind: Kinds = None,
    cube: Cubes = None,
    where: Where = None,
    as_of: AsOf = None,
    now: Reference = None,
    threshold: Annotated[float | None, typer.Option(help="Leave out hits scored below this (0 to 1).")] = None,
    explain: Annotated[bool, typer.Option(help="Show each channel's rank and part of the score.")] = False,
) -> None:
    """Find what was said and learned."""
    face = face_of(context)
    with face.memory() as memory:
        found = memory.search(
            read_words(query, "query"), user=face.user, cubes=cube, limit=limit, kinds=kind, where=_filter(where),
            as_of=as_of, reference_time=now, threshold=threshold, explain=explain,
        )  # fmt: skip
    face.show(found, lambda: showing.results(found))
    face.notes(found.notes)
    leave_when_nothing(found)


def context(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="The question, or - to read it from stdin.")],
    *,
    budget: Annotated[int, typer.Option(help="Tokens at most.")] = 2_000,
    kind: Kinds = None,
    cube: Cubes = None,
    where: Where = None,
    as_of: AsOf = None,
    now: Reference = None,
) -> None:
    """Print what a prompt needs to answer a question: dated lines in order of time, within a budget."""
    face = face_of(context)
    with face.memory() as memory:
        found = memory.context(
            read_words(query, "query"), user=face.user, budget=budget, cubes=cube, kinds=kind, where=_filter(where),
            as_of=as_of, reference_time=now,
        )  # fmt: skip
    face.show(found, lambda: shown(found.text))
    face.note(f"{found.tokens} of {found.budget} tokens")
    leave_when_nothing(found.text)


def profile(
    context: typer.Context,
    *,
    subject: Annotated[str | None, typer.Argument(help="The person (default: everyone).")] = None,
    as_of: AsOf = None,
    cube: Cube = None,
    evidence: Annotated[bool, typer.Option(help="Show the words that each entry stands on.")] = False,
    template: Annotated[
        str | None, typer.Option(help="Show the attributes of a template, such as person, and what is missing.")
    ] = None,
    assign: Annotated[
        list[str] | None, typer.Option("--set", metavar="ATTRIBUTE=VALUE", help="Set an attribute; may be repeated.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="ATTRIBUTE", help="Take back what is known of an attribute.")
    ] = None,
    lock: Annotated[
        list[str] | None, typer.Option(metavar="ATTRIBUTE", help="Keep an attribute as it is, whatever is said.")
    ] = None,
    unlock: Annotated[
        list[str] | None, typer.Option(metavar="ATTRIBUTE", help="Let an attribute change again.")
    ] = None,
) -> None:
    """Show what is known about people, since when, and what held before; or set, take back and lock attributes."""
    face = face_of(context)
    with face.memory() as memory:
        edit = partial(memory.set_profile, user=face.user, subject=subject, cube=cube)
        for attribute, value in [_assigned(each) for each in assign or ()]:
            edit(attribute, value)
        for attribute in remove or ():
            edit(attribute, remove=True)
        for attribute in lock or ():
            edit(attribute, locked=True)
        for attribute in unlock or ():
            edit(attribute, locked=False)
        found = memory.profile(user=face.user, subject=subject, as_of=as_of, template=template, cube=cube)
    face.show(found, lambda: people.profile(found, evidence=evidence))


def list_items(
    context: typer.Context,
    *,
    kind: Kinds = None,
    session: Annotated[str | None, typer.Option(help="Of this session only.")] = None,
    after: Annotated[str | None, typer.Option(help="Go on after this id.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Items at most.")] = 50,
    cube: Cube = None,
) -> None:
    """List messages and memories, oldest first."""
    face = face_of(context)
    with face.memory() as memory:
        found = memory.list(user=face.user, kinds=kind, session=session, after=after, limit=limit, cube=cube)
    face.show(found, lambda: showing.items(found))
    if len(found) == limit:
        face.note(f"there may be more: the same command with --after {found[-1].id}")


def show(
    context: typer.Context,
    item: Annotated[str, typer.Argument(metavar="ID", help="A message's or a memory's id.")],
    *,
    cube: Cube = None,
) -> None:
    """Show one message or memory whole: where it lies, what it stands on, what stands on it."""
    face = face_of(context)
    with face.memory() as memory:
        found = memory.explain(item, user=face.user, cube=cube)
    face.show(found, lambda: showing.explained(found))


def history(
    context: typer.Context,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="A memory's id.")],
    *,
    cube: Cube = None,
) -> None:
    """Show all versions of a memory, in the order in which they held."""
    face = face_of(context)
    with face.memory() as memory:
        found = memory.history(memory_id, user=face.user, cube=cube)
    face.show(found, lambda: showing.versions(found))


def sessions(context: typer.Context, cube: Cube = None) -> None:
    """List the sessions, oldest first."""
    face = face_of(context)
    with face.memory() as memory:
        found = memory.sessions(user=face.user, cube=cube)
    face.show(found, lambda: showing.sessions(found))


def stats(
    context: typer.Context,
    *,
    cube: Cube = None,
    segments: Annotated[int, typer.Option(help="Topics to show.")] = 8,
) -> None:
    """Show the three tiers, the warmest topics, counts and sizes."""
    face = face_of(context)
    with face.memory() as memory:
        found = memory.stats(user=face.user, cube=cube)
    face.show(found, lambda: tiers.overview(found, segments=segments))


def _assigned(given: str) -> tuple[str, str]:
    attribute, equals, value = given.partition("=")
    if not equals:
        raise InputError("set", f"{given!r} needs the form ATTRIBUTE=VALUE, such as home.place=Porto")
    return attribute.strip(), value


def _filter(given: str | None) -> dict[str, Any] | None:
    if given is None:
        return None
    try:
        found = json.loads(given)
    except ValueError as error:
        raise InputError("where", f"is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise InputError("where", 'needs a JSON object such as {"speaker": "Ann"}')
    return found
