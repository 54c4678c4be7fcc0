"""The tools that only read: from the library's values to results that fit into a context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mnemic.errors import InputError
from mnemic.model import attachment, job, memory, message, profile, query, scope
from mnemic.shells.mcp import arguments as given
from mnemic.shells.mcp import results as told
from mnemic.shells.mcp.acts import Act
from mnemic.shells.mcp.documents import place_of
from mnemic.shells.mcp.fitting import FRAME, SHARE, cut, fit, written
from mnemic.text import estimate_tokens, shorten

if TYPE_CHECKING:
    from mnemic.api import Memory  # the process answers before that is imported

_METADATA: Final = 200  # tokens of metadata that come along; more of it is left out
_SOURCES: Final = 3  # messages named as what a memory stands on
_QUOTE: Final = 200  # characters of a quote
_OPEN_JOBS: Final = 50


def recall(act: Act, args: given.Recall) -> told.Recalled:
    """Find what was said and learned."""
    found = act.memory.search(
        args.query, user=act.user, cubes=_cubes(act, args.cubes), limit=args.limit,
        kinds=None if args.kinds is None else list(args.kinds), where=args.where, as_of=args.as_of,
    )  # fmt: skip
    hits, left = fit((hit_of(hit, args.budget) for hit in found), args.budget)
    confidence = None if found.confidence is None else round(found.confidence, 3)
    return told.Recalled(hits=hits, confidence=confidence, left_out=left, notes=list(found.notes))


def context(act: Act, args: given.ContextFor) -> told.Contextual:
    """Pack what a prompt needs."""
    room = max(50, (args.budget - FRAME) * 2 // 3)  # the rest is for ids, and for what JSON adds to the text
    found = act.memory.context(args.query, user=act.user, budget=room, cubes=_cubes(act, args.cubes), as_of=args.as_of)
    ids = [hit.id for hit in found.hits]
    fitting = max(0, args.budget - FRAME - estimate_tokens(written(found.text))) // 14  # tokens of an id
    return told.Contextual(text=found.text, tokens=found.tokens, ids=ids[:fitting], notes=list(found.notes))


def ask(act: Act, args: given.Ask) -> told.Answered:
    """Answer from memory, or say that it is not there."""
    answer = act.memory.ask(args.question, user=act.user, cubes=_cubes(act, args.cubes), as_of=args.as_of)
    text = cut(answer.text, args.budget // 2)
    room = args.budget - FRAME - estimate_tokens(written(text))
    citations, left = fit((hit_of(hit, room) for hit in answer.citations), room, least=0)
    return told.Answered(
        answer=text, found=answer.found, confidence=round(answer.confidence, 3),
        written_by=answer.mode, citations=citations, left_out=left, notes=list(answer.notes),
    )  # fmt: skip


def show_profile(act: Act, args: given.ProfileOf) -> told.Profiled:
    """Tell what is known about people."""
    known = act.memory.profile(user=act.user, subject=args.subject, as_of=args.as_of, cube=act.cube)
    entries, left = fit((_entry(each, args.budget) for each in known), args.budget)
    return told.Profiled(entries=entries, left_out=left)


def history(act: Act, args: given.One) -> told.Historied:
    """Tell what a memory said, and when."""
    found = act.memory.history(args.id, user=act.user, cube=act.cube)
    versions, left = fit((_version(each, args.budget) for each in found), args.budget)
    return told.Historied(id=args.id, versions=versions, left_out=left)


def read(act: Act, args: given.Read) -> told.ReadItem:
    """Give an item whole, or the part of it that fits."""
    item = act.memory.get(args.id, user=act.user, cube=act.cube)
    text = item.text if isinstance(item, message.StoredMessage) else item.current.text
    if args.offset and args.offset >= len(text):
        raise InputError("offset", f"lies behind the end: the text has {len(text)} characters")
    part = cut(text[args.offset :], max(50, (args.budget - 3 * FRAME) * 3 // 4))
    end = args.offset + len(part)
    rest: dict[str, Any] = {"text": part, "total": len(text), "next_offset": end if end < len(text) else None}
    if isinstance(item, message.StoredMessage):
        return told.ReadItem(
            id=item.id, kind="message", said_at=item.said_at.isoformat(), speaker=item.speaker, session=item.session,
            role=item.role.value, metadata=_little(item.metadata, args.budget), **rest,
        )  # fmt: skip
    current = item.current
    speaker = current.sources[0].speaker if current.sources else item.subject
    return told.ReadItem(
        id=item.id, kind=item.kind.value, said_at=current.valid_from.isoformat(), speaker=speaker,
        subject=item.subject, attribute=item.attribute, **rest,
    )  # fmt: skip


def jobs(act: Act, args: given.Jobs) -> told.JobsFound:
    """Tell how background work stands."""
    if args.id is not None:
        one = _job(act.memory.jobs.get(args.id, user=act.user, cube=act.cube))
        return told.JobsFound(counts={one.state: 1}, jobs=[one])
    counts = act.memory.jobs.counts(user=act.user, cube=act.cube)
    states = [job.JobState.QUEUED, job.JobState.RUNNING, job.JobState.FAILED, job.JobState.DEAD]
    found = act.memory.jobs.list(user=act.user, states=states, limit=_OPEN_JOBS, cube=act.cube)
    kept, left = fit(map(_job, found), args.budget)
    return told.JobsFound(counts={each.state.value: each.count for each in counts}, jobs=kept, left_out=left)


def cubes(opened: Memory, user: str) -> list[told.CubeOf]:
    """Return the cubes that a user may read."""
    return [cube_of(each) for each in opened.cubes.list(user=user)]


def cube_of(cube: scope.Cube) -> told.CubeOf:
    """Return a cube as a result."""
    return told.CubeOf(
        id=cube.id, name=shorten(cube.name, _QUOTE), kind=cube.kind.value, owner=cube.owner,
        created_at=cube.created_at.isoformat(),
    )  # fmt: skip


def hit_of(hit: query.Hit, budget: int) -> told.Hit:
    """Return a hit as a result, its text cut where it would take more than its share of the budget."""
    text = cut(hit.text, max(40, int((budget - 2 * FRAME) * SHARE)))
    return told.Hit(
        id=hit.id, kind=hit.kind, text=text, score=round(hit.score, 3), said_at=hit.said_at.isoformat(),
        speaker=hit.speaker, session=hit.session, cube=hit.cube, truncated=len(text) < len(hit.text),
        valid_to=None if hit.valid_to is None else hit.valid_to.isoformat(), note=hit.note or None,
        sources=[] if hit.kind == "message" else _sources(hit.sources), metadata=_little(hit.metadata, budget),
        place=None if hit.locator is None else place_of(hit.locator), attachments=_attached(hit.attachments),
    )  # fmt: skip


def shortened(item: told.RecentItem, budget: int) -> told.RecentItem:
    """Return an item with its text cut to a small share of a budget."""
    text = cut(item.text, max(40, budget // 8))
    return item.model_copy(update={"text": text, "truncated": len(text) < len(item.text)})


def _cubes(act: Act, named: Sequence[str] | None) -> list[str] | None:
    if named is not None and act.place.cube is not None and set(named) != {act.place.cube}:
        raise InputError("cubes", f"this connection is about cube {act.place.cube!r}; leave `cubes` out")
    return [act.cube] if act.cube is not None else None if named is None else list(named)


def _sources(found: Iterable[memory.Source]) -> list[told.SourceOf]:
    return [
        told.SourceOf(
            message_id=each.message_id or None, place=None if each.locator is None else place_of(each.locator),
            quote=shorten(each.quote, _QUOTE), said_at=each.said_at.isoformat(), speaker=each.speaker,
        )
        for each in list(found)[:_SOURCES]
    ]  # fmt: skip


def _attached(found: Sequence[attachment.Attachment]) -> list[told.AttachedTo]:
    return [
        told.AttachedTo(
            id=each.id, kind=each.kind.value, name=shorten(each.name, _QUOTE) or None,
            caption=shorten(each.caption, _QUOTE) or None, text=shorten(each.text, _QUOTE) or None,
            description=shorten(each.description, _QUOTE) or None,
        )
        for each in found[:_SOURCES]
    ]  # fmt: skip


def _little(metadata: Mapping[str, Any], budget: int) -> dict[str, Any]:
    """Return metadata when it is small: it may be anything, and comes with every hit."""
    most = min(_METADATA, budget // 6)
    return dict(metadata) if metadata and estimate_tokens(written(dict(metadata))) <= most else {}


def _entry(entry: profile.ProfileEntry, budget: int) -> told.Entry:
    earlier = [each for each in entry.history if each.valid_to != each.valid_from and each.value != entry.value]
    share = max(40, budget // 6)
    return told.Entry(
        id=entry.memory_id, subject=entry.subject, attribute=entry.attribute, label=entry.label,
        value=cut(entry.value, share), text=cut(entry.text, share), denied=entry.polarity < 0,
        since=entry.since.isoformat(), confidence=round(entry.confidence, 3), locked=entry.locked,
        before=[shorten(each.value, _QUOTE) for each in reversed(earlier)][:_SOURCES],
    )  # fmt: skip


def _version(version: memory.Version, budget: int) -> told.VersionOf:
    return told.VersionOf(
        number=version.number, text=cut(version.text, max(40, int(budget * SHARE))),
        valid_from=version.valid_from.isoformat(),
        valid_to=None if version.valid_to is None else version.valid_to.isoformat(), change=version.change.value,
        confidence=round(version.confidence, 3), drawn_by=version.drawn_by or None,
        reason=shorten(version.reason, _QUOTE) or None, sources=_sources(version.sources),
    )  # fmt: skip


def _job(found: job.Job) -> told.JobOf:
    return told.JobOf(
        id=found.id, kind=found.kind, state=found.state.value, attempts=found.attempts,
        created_at=found.created_at.isoformat(),
        finished_at=None if found.finished_at is None else found.finished_at.isoformat(),
        error=shorten(found.reason, _QUOTE) or None,
    )  # fmt: skip
