"""What the jobs and turns of every `mnemic.ports.store.Store` must do, as plain functions that raise AssertionError.

Part of the contract of stores (`mnemic.testing.store_contract.CHECKS`). It relies on nothing but the ports.
"""
# ruff: noqa: D401, S101 - a contract is made of asserts, and each docstring says what holds

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from mnemic.ids import new_id
from mnemic.model.job import EMBED, ORGANIZE, QUICK, REFINE, SLOW, Job, JobState, Priority, Share, queued
from mnemic.model.scope import Cube, CubeKind
from mnemic.ports.jobs import Standing
from mnemic.ports.store import Store, Transaction

OpenStore = Callable[[], Store]

NOON: Final = datetime(2024, 5, 1, 12, tzinfo=UTC)
MINUTE: Final = timedelta(minutes=1)
KINDS: Final = (ORGANIZE, EMBED)


def _cube(tx: Transaction, owner: str = "ann") -> Cube:
    tx.enter_all()
    return tx.cubes.create(new_id(), "personal", CubeKind.PERSONAL, owner, NOON)


def _job(cube: Cube, kind: str = ORGANIZE, **changed: object) -> Job:
    return replace(queued(new_id(), cube.key, kind, NOON), **changed)  # type: ignore[arg-type]  # of a job


def _apart(cube: Cube, **changed: object) -> Job:
    """Return a job that merges with no other, and runs beside others."""
    job_id = new_id()
    return replace(_job(cube), id=job_id, merge=job_id, alone=False, **changed)  # type: ignore[arg-type]  # of a job


def _locked(tx: Transaction, cube: Cube) -> Standing:
    turn = tx.turns.lock(cube.key)
    assert turn is not None, "a cube that nobody has cannot be locked"
    return turn


def _heads(tx: Transaction, lane: str = QUICK, priority: Priority = Priority.NORMAL) -> list[str]:
    return [head.job_id for head in tx.turns.heads(lane, priority, KINDS, 100)]


def check_one_of_a_kind_waits(open_store: OpenStore) -> None:
    """What merges waits once for a cube and kind; new work is queued beside what runs; what does not merge, each."""
    with closing(open_store()) as store, store.write() as tx:
        cube = _cube(tx)
        first, again = _job(cube), _job(cube)
        assert tx.jobs.put(first) == tx.jobs.put(again) == first.id, "the same work waits twice"
        assert tx.jobs.put(_job(cube, EMBED)) not in (first.id, again.id)
        _locked(tx, cube)
        tx.turns.start(cube.key, first.id, "w1", NOON, NOON + MINUTE)
        assert tx.jobs.put(again) == again.id, "new work waits behind the running job"
        apart = _cube(tx, "bob")
        for job in (one := _apart(apart), other := _apart(apart)):
            assert tx.jobs.put(job) == job.id
        assert one.id in _heads(tx)
        assert other.id not in _heads(tx), "the second of a kind that does not merge is a head beside the first"


def check_heads_by_turn(open_store: OpenStore) -> None:
    """Heads come in the order of their cubes' turns, of their lane, priority and kinds only."""
    with closing(open_store()) as store, store.write() as tx:
        ann, bob, cid = (_cube(tx, owner) for owner in ("ann", "bob", "cid"))
        jobs = {cube.key: _job(cube) for cube in (ann, bob, cid)}
        for job in jobs.values():
            tx.jobs.put(job)
        for cube, turn in ((ann, 3.0), (bob, 1.0), (cid, 2.0)):
            tx.turns.charge(jobs[cube.key], turn, turn)
        assert _heads(tx) == [jobs[cube.key].id for cube in (bob, cid, ann)]
        tx.turns.charge(jobs[bob.key], 1.5, 1.0)
        assert tx.turns.virtual(QUICK, Priority.NORMAL) == 3.0, "the virtual time went back"
        assert tx.turns.virtual(SLOW, Priority.NORMAL) == tx.turns.virtual(QUICK, Priority.BACKGROUND) == 0.0
        assert tx.turns.turn(bob.key, QUICK, Priority.NORMAL) == 1.5
        assert tx.turns.turn(bob.key, SLOW, Priority.NORMAL) == 0.0
        assert _heads(tx, SLOW) == _heads(tx, QUICK, Priority.INTERACTIVE) == []
        assert not tx.turns.heads(QUICK, Priority.NORMAL, [EMBED], 10)
        assert len(tx.turns.heads(QUICK, Priority.NORMAL, KINDS, 2)) == 2
        late, later = _job(bob, EMBED), _job(ann, EMBED)
        tx.jobs.put(late)
        assert _heads(tx)[2:] in ([jobs[ann.key].id, late.id], [late.id, jobs[ann.key].id]), (
            "what begins anew goes first"
        )
        tx.turns.charge(jobs[ann.key], 4.0, 3.5)
        tx.jobs.put(later)
        assert set(_heads(tx)[3:]) == {jobs[ann.key].id, later.id}, "a new head does not stand under its cube's turn"
        tx.turns.spend(replace(_locked(tx, ann), tokens=0.5, refilled_at=NOON))
        found = tx.turns.find(ann.key)
        assert found is not None
        assert (found.tokens, found.refilled_at) == (0.5, NOON)


def check_leases(open_store: OpenStore) -> None:
    """A job runs for one worker, until its lease is over; who lost it can neither prolong nor end it."""
    with closing(open_store()) as store, store.write() as tx:
        cube = _cube(tx)
        job = _job(cube, payload={"file": "a"}, trace="t", parent="p")
        tx.jobs.put(job)
        _locked(tx, cube)
        held = tx.turns.start(cube.key, job.id, "w1", NOON, NOON + MINUTE)
        assert (held.id, held.state, held.attempts, held.worker) == (job.id, JobState.RUNNING, 1, "w1")
        assert (held.payload, held.trace, held.parent) == ({"file": "a"}, "t", "p")
        assert [each.id for each in tx.turns.running(cube.key)] == [job.id]
        assert not tx.turns.running(cube.key, SLOW)
        assert tx.turns.up(cube.key, job.id) is None, "a running job may be taken"
        assert not _heads(tx), "a running job is a head"
        assert tx.turns.extend([replace(held, done=7)], "w1", NOON + 2 * MINUTE) == {job.id}
        assert tx.turns.extend([held], "w2", NOON + 9 * MINUTE) == set()
        assert not tx.turns.due(QUICK, NOON + MINUTE, 10)
        assert tx.turns.next_due(QUICK) == NOON + 2 * MINUTE
        assert tx.turns.due(QUICK, NOON + 2 * MINUTE, 10) == [cube.key], "a lease that is over is not seen"
        assert [each.done for each in tx.turns.expired(cube.key, QUICK, NOON + 2 * MINUTE)] == [7]
        tx.jobs.save(replace(held, state=JobState.QUEUED, lease_until=None, not_before=NOON))
        assert not tx.turns.end(replace(held, state=JobState.DONE), "w1"), "a worker that lost its job ended it"
        tx.turns.advance(cube.key, QUICK, NOON, KINDS, anew=True)
        taken = tx.turns.start(cube.key, job.id, "w2", NOON, NOON + MINUTE)
        assert taken.attempts == 2
        assert tx.turns.extend([held], "w1", NOON + 9 * MINUTE) == set()
        assert not tx.turns.end(replace(held, state=JobState.DONE), "w1")
        ended = replace(taken, state=JobState.DONE, lease_until=None, finished_at=NOON, error="no \ud800 \0 luck")
        assert tx.turns.end(ended, "w2")
        stored = tx.jobs.get(cube.key, job.id)
        assert stored is not None
        assert stored.state is JobState.DONE
        assert stored.error in ("no \ufffd \ufffd luck", "no \ufffd \0 luck")
        assert tx.turns.next_due(QUICK) is None


def check_standing_in_line(open_store: OpenStore) -> None:
    """What is not due stands later, what is due steps behind and, first of its kind, to the head, in order of id."""
    with closing(open_store()) as store, store.write() as tx:
        cube = _cube(tx)
        jobs = [_apart(cube) for _ in range(3)]
        for job in jobs:
            tx.jobs.put(job)
        planned = _job(cube, EMBED, not_before=NOON + MINUTE)
        tx.jobs.put(planned)
        assert _heads(tx) == [jobs[0].id]
        assert tx.turns.next_due(QUICK) == NOON + MINUTE
        assert not tx.turns.due(QUICK, NOON, 10)
        assert tx.turns.due(QUICK, NOON + MINUTE, 10) == [cube.key]
        _locked(tx, cube)
        assert tx.turns.advance(cube.key, QUICK, NOON + MINUTE, KINDS, anew=True) == 1
        assert set(_heads(tx)) == {jobs[0].id, planned.id}
        tx.turns.start(cube.key, jobs[0].id, "w", NOON, NOON + MINUTE)
        assert tx.turns.advance(cube.key, QUICK, NOON, KINDS, anew=False) == 1
        assert jobs[1].id in _heads(tx), "the next of a kind is the oldest"
        tx.turns.step_back(cube.key, jobs[1].id)
        tx.turns.step_back(cube.key, planned.id, until=NOON + 3 * MINUTE)
        assert not _heads(tx)
        assert tx.turns.due(QUICK, NOON + MINUTE, 10) == [cube.key], "the lease of the running job is over"
        tx.turns.advance(cube.key, QUICK, NOON, KINDS, anew=False)
        assert _heads(tx) == [jobs[1].id]
        tx.jobs.hasten(cube.key, EMBED, NOON)
        tx.turns.advance(cube.key, QUICK, NOON, KINDS, anew=False)
        assert planned.id in _heads(tx), "what was hastened is not due"


def check_offers(open_store: OpenStore) -> None:
    """An offered job is no head and still waits; it is put back when its time is over, or when all are recalled."""
    with closing(open_store()) as store, store.write() as tx:
        cube = _cube(tx)
        job = _job(cube)
        tx.jobs.put(job)
        _locked(tx, cube)
        assert tx.turns.offer(cube.key, job.id, NOON + MINUTE).id == job.id
        assert not _heads(tx)
        assert tx.turns.up(cube.key, job.id) is not None
        assert tx.turns.recall(QUICK, NOON) == 0
        assert tx.turns.recall(QUICK, NOON + MINUTE, cube_key=cube.key + 1) == 0
        assert tx.turns.due(QUICK, NOON + MINUTE, 10) == [cube.key]
        assert tx.turns.recall(QUICK, NOON + MINUTE, cube_key=cube.key) == 1
        assert _heads(tx) == [job.id]
        tx.turns.offer(cube.key, job.id, NOON + MINUTE)
        assert tx.turns.recall(QUICK, NOON + 2 * MINUTE) == 1
        assert tx.turns.start(cube.key, job.id, "w", NOON, NOON + MINUTE).state is JobState.RUNNING


def check_looking_and_ending(open_store: OpenStore) -> None:
    """Jobs are listed by state, kind and place; families, tasks, counts and changes are told; ended ones can go."""
    with closing(open_store()) as store, store.write() as tx:
        cube, other = _cube(tx), _cube(tx, "bob")
        root = _job(cube, REFINE)
        child = _apart(cube, parent=root.id)
        grandchild = _apart(cube, parent=child.id, changed_at=NOON + MINUTE)
        stranger = _job(other)
        for job in (root, child, grandchild, stranger):
            tx.jobs.put(job)
        assert [job.id for job in tx.jobs.list(cube.key)] == [grandchild.id, child.id, root.id]
        assert [job.id for job in tx.jobs.list(cube.key, after=child.id)] == [root.id]
        assert [job.id for job in tx.jobs.list(cube.key, kinds=[REFINE])] == [root.id]
        assert [job.id for job in tx.jobs.family(cube.key, [root.id])] == [root.id, child.id, grandchild.id]
        assert not tx.jobs.family(other.key, [root.id]), "a job is reached from another cube"
        tx.jobs.note_task(cube.key, "import", root.id)
        tx.jobs.note_task(cube.key, "import", root.id)
        assert tx.jobs.of_task(cube.key, "import") == [root.id]
        assert not tx.jobs.of_task(other.key, "import")
        changed = tx.jobs.changed(cube.key, None, 10)
        assert [job.id for job in changed] == [root.id, child.id, grandchild.id]
        assert [job.id for job in tx.jobs.changed(cube.key, (NOON, child.id), 10)] == [grandchild.id]
        assert not tx.jobs.drop(cube.key, child.id), "a job that waits was dropped"
        tx.jobs.save(replace(child, state=JobState.DEAD, error="no \ud800 luck"))
        tx.jobs.save(replace(grandchild, state=JobState.CANCELLED))
        assert [job.id for job in tx.jobs.list(cube.key, states=[JobState.DEAD])] == [child.id]
        counts = {each.state: (each.count, each.oldest) for each in tx.jobs.counts(cube.key)}
        assert counts == dict.fromkeys((JobState.QUEUED, JobState.DEAD, JobState.CANCELLED), (1, NOON))
        everywhere = {(each.kind, each.state): each.count for each in tx.turns.counts()}
        assert everywhere == {
            (REFINE, JobState.QUEUED): 1,
            (ORGANIZE, JobState.QUEUED): 1,
            (ORGANIZE, JobState.DEAD): 1,
        }
        assert not tx.jobs.drop(other.key, child.id), "a job is dropped from another cube"
        assert tx.jobs.prune(cube.key, 0) == 1, "what is cancelled is old"
        assert tx.jobs.drop(cube.key, child.id)
        assert [job.id for job in tx.jobs.list(cube.key)] == [root.id]


def check_pruning_keeps_the_newest(open_store: OpenStore) -> None:
    """Pruning erases what is done beyond the newest jobs, and nothing that is open or dead."""
    with closing(open_store()) as store, store.write() as tx:
        cube = _cube(tx)
        jobs = [_apart(cube) for _ in range(6)]
        for job in jobs:
            tx.jobs.put(job)
        for job in (jobs[0], jobs[2], jobs[4]):
            tx.jobs.save(replace(job, state=JobState.DONE))
        tx.jobs.save(replace(jobs[1], state=JobState.DEAD))
        assert tx.jobs.prune(cube.key, 3) == 2
        assert [job.id for job in tx.jobs.list(cube.key)] == [jobs[each].id for each in (5, 4, 3, 1)]


def check_locks_of_cubes(open_store: OpenStore) -> None:
    """A cube that is gone cannot be locked; its share is kept; a store that has one writer needs no more."""
    with closing(open_store()) as store:
        with store.write() as tx:
            cube = _cube(tx)
            share = Share(2.5, 3, 60)
            tx.turns.set_share(cube.key, share)
        with store.write() as tx:
            tx.enter_all()
            assert _locked(tx, cube).share == share
            waited = tx.turns.wait_for(cube.key)
            assert waited is not None
            assert waited.share == share
            tx.cubes.delete(cube.key, NOON)
        with store.write() as tx:
            tx.enter_all()
            assert tx.turns.lock(cube.key) is None
            assert tx.turns.wait_for(cube.key) is None


def check_periodic_work(open_store: OpenStore) -> None:
    """Periodic work has one worker at a time, is due when it said, and is taken over when its lease is over.

    No lease reaches an hour ahead but by a clock that does.
    """
    with closing(open_store()) as store, store.write() as tx:
        due = NOON + MINUTE
        assert not tx.turns.lead("upkeep", "w1", NOON, NOON + MINUTE, due=due), "it is done before its first time"
        assert tx.turns.leaders() == {"upkeep": (None, due, "")}
        assert tx.turns.lead("upkeep", "w1", due, due + MINUTE, due=NOON)
        assert not tx.turns.lead("upkeep", "w2", due, due + MINUTE, due=NOON), "two do it at once"
        assert tx.turns.lead("upkeep", "w2", due + MINUTE, due + 2 * MINUTE, due=NOON), "it died with its worker"
        assert not tx.turns.led("upkeep", "w1", due, due + MINUTE, "late")
        assert tx.turns.led("upkeep", "w2", due + MINUTE, due + 9 * MINUTE, "all well")
        assert tx.turns.leaders() == {"upkeep": (due + MINUTE, due + 9 * MINUTE, "all well")}
        assert not tx.turns.lead("upkeep", "w1", due + 2 * MINUTE, due + 3 * MINUTE, due=NOON)
        later = due + 9 * MINUTE
        assert tx.turns.lead("upkeep", "w1", later, later + 60 * MINUTE, due=NOON)
        assert tx.turns.lead("upkeep", "w2", later, later + MINUTE, due=NOON), "a clock that was ahead keeps it"


CHECKS: Final[tuple[Callable[[OpenStore], None], ...]] = (
    check_one_of_a_kind_waits,
    check_heads_by_turn,
    check_leases,
    check_standing_in_line,
    check_offers,
    check_looking_and_ending,
    check_pruning_keeps_the_newest,
    check_locks_of_cubes,
    check_periodic_work,
)
