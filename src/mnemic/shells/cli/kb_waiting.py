"""Waiting until documents are read, with a bar that shows how far each is; where no worker runs, it does the work."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from mnemic.errors import JobError, NotFoundError, WaitTimeoutError
from mnemic.model.document import Document, DocumentState
from mnemic.shells.cli.face import Face
from mnemic.shells.cli.wording import one_line

if TYPE_CHECKING:
    from mnemic.api import Memory

ENDED: Final = (DocumentState.READY, DocumentState.FAILED)

_LOOK: Final = 0.3  # seconds between two looks
_JOBS: Final = 20  # jobs that are waited for at a time
_PAGE: Final = 1_000


class Told(Protocol):
    """Shows how many documents are done, and what is done with one of the others."""

    def __call__(self, done: int, whole: int, about: str) -> None:
        """Show it."""
        ...


def until_read(
    face: Face, memory: Memory, documents: Collection[Document], *, cube: str, timeout: float
) -> Sequence[Document]:
    """Return documents when they are ready or have failed. Raises `WaitTimeoutError`; the work goes on by itself."""
    wanted = {document.id: document for document in documents}
    deadline = time.monotonic() + timeout
    with _bar(face, len(wanted)) as told:
        while True:
            wanted = _looked(face, memory, wanted, cube)
            waiting = [each for each in wanted.values() if each.state not in ENDED]
            told(len(wanted) - len(waiting), len(wanted), _about(waiting))
            if not waiting:
                return list(wanted.values())
            if time.monotonic() >= deadline:
                raise WaitTimeoutError(
                    f"{len(waiting)} of {len(wanted)} documents are not read after {timeout:g} s; the work goes on "
                    "where a worker runs (`mnemic kb docs` shows how far it is)"
                )
            _wait(face, memory, waiting, cube)


def _wait(face: Face, memory: Memory, waiting: Sequence[Document], cube: str) -> None:
    """Let some time pass, or some jobs be done."""
    jobs = [each.job for each in waiting if each.job is not None][:_JOBS]
    if not jobs:
        time.sleep(_LOOK)
        return
    try:
        memory.jobs.wait(jobs, user=face.user, cube=cube, timeout=_LOOK)
    except (WaitTimeoutError, JobError, NotFoundError):  # the documents themselves tell what became of them
        time.sleep(_LOOK / 3)


def _looked(face: Face, memory: Memory, wanted: Mapping[str, Document], cube: str) -> dict[str, Document]:
    """Return documents as they are now; those that are gone are left out."""
    if len(wanted) <= _JOBS:
        present = [_present(face, memory, each, cube) for each in wanted]
        return {document.id: document for document in present if document is not None}
    found: dict[str, Document] = {}
    after = None
    while page := memory.knowledge.documents(cube, user=face.user, after=after, limit=_PAGE):
        found |= {document.id: document for document in page if document.id in wanted}
        after = page[-1].id
    return {each: found[each] for each in wanted if each in found}


def _present(face: Face, memory: Memory, document: str, cube: str) -> Document | None:
    try:
        return memory.knowledge.get(document, cube=cube, user=face.user)
    except NotFoundError:
        return None


def _about(waiting: Sequence[Document]) -> str:
    """Return what is done at this moment, in a few words: the document that is furthest."""
    busy = [each for each in waiting if each.state is not DocumentState.QUEUED]
    if not busy:
        return "queued" if waiting else "read"
    first, latest = busy[0], busy[0].latest
    about = f"{latest.state.value} {one_line(first.name, 30)}"
    if latest.state is DocumentState.READING and latest.pages:
        return f"{about}, page {latest.done_pages} of {latest.pages}"
    if latest.state is DocumentState.EMBEDDING and latest.chunks:
        return f"{about}, {latest.embedded} of {latest.chunks} chunks"
    return about


@contextmanager
def _bar(face: Face, whole: int) -> Iterator[Told]:
    from rich import progress  # noqa: PLC0415 - rich is imported by those who print

    columns = (
        progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}"),
    )  # fmt: skip
    hidden = face.quiet or not face.err.is_terminal
    with progress.Progress(*columns, console=face.err, transient=True, disable=hidden) as bar:
        task = bar.add_task("", total=whole)

        def told(done: int, whole: int, about: str) -> None:
            bar.update(task, completed=done, total=whole, description=about)

        yield told
