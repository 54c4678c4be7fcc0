"""How background work looks to a person."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from mnemic.model.job import Job, JobState, Share, StateCount, Task
from mnemic.shells.cli.showing import columns, facts
from mnemic.shells.cli.wording import clock, one_line, shown

_COLOURS = {JobState.DEAD: "red", JobState.FAILED: "yellow", JobState.DONE: "green", JobState.CANCELLED: "dim"}


def jobs(found: Sequence[Job]) -> RenderableType:
    """Return background work, one job a row, and below why some of it failed."""
    if not found:
        return Text("no jobs", "dim")
    table = columns("id", "kind", "state", "done", "tries", "made")
    for job in found:
        state = Text(job.state.value, _COLOURS.get(job.state, ""))
        table.add_row(job.id, job.kind, state, str(job.done), str(job.attempts), clock(job.created_at))
    failed = [Text(f"{job.id}: {one_line(job.reason, 300)}", "red") for job in found if job.error]
    return Group(table, *failed)


def job(found: Job) -> RenderableType:
    """Return one job whole."""
    told = facts(
        ("id", found.id),
        ("kind", found.kind),
        ("state", found.state.value),
        ("priority", f"{found.priority.name.lower()}, lane {found.lane}"),
        ("tries", str(found.attempts)),
        ("done", str(found.done)),
        ("made", clock(found.created_at)),
        ("not before", clock(found.not_before) if found.state in (JobState.QUEUED, JobState.FAILED) else ""),
        ("begun", clock(found.started_at) if found.started_at else ""),
        ("ended", clock(found.finished_at) if found.finished_at else ""),
        ("worker", found.worker or ""),
        ("caused by", found.parent or ""),
        ("trace", found.trace),
    )
    return Group(told, Text(shown(found.error), "red")) if found.error else told


def task(found: Task) -> RenderableType:
    """Return a task with its jobs."""
    return Group(Text(f"{shown(found.id)}: {found.state.value}", _COLOURS.get(found.state, "")), jobs(found.jobs))


def counts(found: Sequence[StateCount]) -> RenderableType:
    """Return how many jobs are in each state."""
    if not found:
        return Text("no jobs", "dim")
    table = columns("state", "jobs", "oldest")
    for each in found:
        table.add_row(each.state.value, f"{each.count:,}", clock(each.oldest) if each.oldest else "")
    return table


def line(found: Job) -> RenderableType:
    """Return a job's present state in a line."""
    told = f"{clock(found.changed_at or found.created_at)}  {found.state.value:9}  {found.kind:10}  {found.id}"
    reason = f"  {one_line(found.reason, 120)}" if found.error else ""
    return Text(told + reason, _COLOURS.get(found.state, ""))


def share(found: Share) -> RenderableType:
    """Return how much of the workers a cube may have."""
    return facts(
        ("weight", f"{found.weight:g}"),
        ("running", f"{found.running} at one time" if found.running else "as the settings say"),
        ("per minute", str(found.per_minute) if found.per_minute else "as the settings say"),
    )
