"""Looking after the whole store now and then: old jobs and records go, and what was erased leaves the engine's logs."""

from __future__ import annotations

from collections.abc import Callable

from mnemic.ports.store import Store


class Upkeep:
    """The periodic work `upkeep`. It can stop anywhere, and be done twice."""

    def __init__(
        self,
        store: Store,
        *,
        kept: int,
        settle: Callable[[], None],
        sweep: Callable[[], None] = lambda: None,
        prune: Callable[[], int] = lambda: 0,
        erase: Callable[[], int] = lambda: 0,
    ) -> None:
        """`kept`: jobs of a cube of which those that are done stay.

        `settle` does what waits for a quiet moment, `sweep` puts in line what was left in lanes without a worker,
        `prune` erases old records of calls, `erase` files that nothing names; both return how many there were.
        """
        self._store = store
        self._kept = kept
        self._settle = settle
        self._sweep = sweep
        self._prune_records = prune
        self._erase_files = erase

    def run(self) -> str:
        """Do it; return what was done."""
        self._settle()
        self._sweep()
        with self._store.read() as tx:
            tx.enter_all()
            keys = tx.cubes.every_key()
        pruned = sum(self._prune(key) for key in keys)
        records = self._prune_records()
        files = self._erase_files()
        clean = self._store.scrub()
        told = f"{pruned} old jobs removed, " + (f"{records} old records of calls removed, " if records else "")
        told += f"{files} files erased that nothing named, " if files else ""
        return f"{told}logs {'folded' if clean else 'still read by others'}"

    def _prune(self, cube_key: int) -> int:
        with self._store.read() as tx:
            tx.enter(cube_key)
            if sum(each.count for each in tx.jobs.counts(cube_key)) <= self._kept:
                return 0
        with self._store.write() as tx:
            tx.enter(cube_key)
            return tx.jobs.prune(cube_key, self._kept)
