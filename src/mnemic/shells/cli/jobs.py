"""The commands about background work: looking at jobs, waiting for them, ordering them about."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from mnemic.shells.cli import showing_jobs
from mnemic.shells.cli.commands import group
from mnemic.shells.cli.face import Cube, face_of, leave_when_nothing
from mnemic.wire.values import plain

JOBS: Final = group("Background work: what there is, what failed and why, waiting for it, ordering it about.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The job's id.")]


@JOBS.command("list")
def list_jobs(
    context: typer.Context,
    *,
    unfinished: Annotated[bool, typer.Option("--open", help="Only those that are not finished.")] = False,
    states: Annotated[list[str] | None, typer.Option("--state", help="Only of this state; may be repeated.")] = None,
    kinds: Annotated[list[str] | None, typer.Option("--kind", help="Only of this kind; may be repeated.")] = None,
    after: Annotated[str | None, typer.Option(help="Only those before this job: the next page.")] = None,
    limit: Annotated[int, typer.Option(help="How many.")] = 100,
    cube: Cube = None,
) -> None:
    """List background work, newest first."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = memory.jobs.list(
            user=face.user, open_only=unfinished, states=states, kinds=kinds, after=after, limit=limit, cube=cube
        )
    face.show(found, lambda: showing_jobs.jobs(found))


@JOBS.command("dead")
def list_dead(context: typer.Context, *, limit: Annotated[int, typer.Option(help="How many.")] = 100,
              cube: Cube = None) -> None:  # fmt: skip
    """List what has failed for good, with the reason."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = memory.jobs.list(user=face.user, states="dead", limit=limit, cube=cube)
    face.show(found, lambda: showing_jobs.jobs(found))


@JOBS.command("show")
def show_job(context: typer.Context, job: Id, *, cube: Cube = None) -> None:
    """Show one job whole, with the traceback when it failed."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = memory.jobs.get(job, user=face.user, cube=cube)
    face.show(found, lambda: showing_jobs.job(found))


@JOBS.command("task")
def show_task(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="The name that `add` was given.")],
    *,
    cube: Cube = None,
) -> None:
    """Show a task of your own: its jobs and what they led to."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = memory.jobs.task(task, user=face.user, cube=cube)
    face.show(found, lambda: showing_jobs.task(found))


@JOBS.command("counts")
def count_jobs(context: typer.Context, *, cube: Cube = None) -> None:
    """Count jobs by state."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = memory.jobs.counts(user=face.user, cube=cube)
    face.show(found, lambda: showing_jobs.counts(found))


@JOBS.command("wait")
def wait_for_jobs(
    context: typer.Context,
    *,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Jobs (default: all open ones).")] = None,
    task: Annotated[str | None, typer.Option(help="A task of your own.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds to wait.")] = 60,
    cube: Cube = None,
) -> None:
    """Wait until background work is finished; without a worker elsewhere, do it."""
    face = face_of(context)
    with face.memory() as memory, face.progress("refining"):
        found = memory.jobs.wait(ids or None, user=face.user, task=task, timeout=timeout, cube=cube)
    face.confirm(found, lambda: showing_jobs.jobs(found))


@JOBS.command("watch")
def watch_jobs(
    context: typer.Context,
    *,
    timeout: Annotated[float | None, typer.Option(help="End when nothing has changed for so many seconds.")] = None,
    cube: Cube = None,
) -> None:
    """Print jobs as they change, one a line, until interrupted."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        for job in memory.jobs.events(user=face.user, timeout=timeout, cube=cube):
            if face.json:
                face.print_json(plain(job))
            else:
                face.out.print(showing_jobs.line(job), soft_wrap=True)  # one job is one line, however long


@JOBS.command("cancel")
def cancel_job(context: typer.Context, job: Id, *, cube: Cube = None) -> None:
    """Cancel a job that waits."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = memory.jobs.cancel(job, user=face.user, cube=cube)
    face.confirm(found, lambda: showing_jobs.jobs([found]))


@JOBS.command("retry")
def retry_jobs(
    context: typer.Context,
    *,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Jobs (default: all dead ones).")] = None,
    cube: Cube = None,
) -> None:
    """Let jobs that are dead, failed or cancelled be tried again at once."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        wanted = ids or [job.id for job in memory.jobs.list(user=face.user, states="dead", limit=1_000, cube=cube)]
        found = [memory.jobs.retry(each, user=face.user, cube=cube) for each in wanted]
    face.confirm(found, lambda: showing_jobs.jobs(found))
    leave_when_nothing(found)


@JOBS.command("drop")
def drop_job(context: typer.Context, job: Id, *, cube: Cube = None) -> None:
    """Erase a job that has ended, such as a dead letter that nobody needs."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        found = memory.jobs.drop(job, user=face.user, cube=cube)
    face.confirm(found, lambda: f"dropped {found.kind} {found.id}")


@JOBS.command("share")
def share_workers(
    context: typer.Context,
    *,
    weight: Annotated[float | None, typer.Option(help="Turns beside other cubes; 1 is usual.")] = None,
    running: Annotated[int | None, typer.Option(help="Jobs at one time; 0: as the settings say.")] = None,
    per_minute: Annotated[int | None, typer.Option(help="Jobs begun in a minute; 0: as the settings say.")] = None,
    cube: Cube = None,
) -> None:
    """Show how much of the workers a cube may have, or change what is given."""
    face = face_of(context)
    with face.memory(worker=False) as memory:
        known = memory.jobs.share(user=face.user, cube=cube)
        if weight is not None or running is not None or per_minute is not None:
            known = memory.jobs.set_share(
                user=face.user,
                weight=known.weight if weight is None else weight,
                running=known.running if running is None else running,
                per_minute=known.per_minute if per_minute is None else per_minute,
                cube=cube,
            )
    face.show(known, lambda: showing_jobs.share(known))
