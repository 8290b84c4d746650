"""How a task accesses the durable state of its subtasks: it reads the working copy and writes runs.

Contract: `attach` at the start of an epoch, `persist` at its end, `release` when the task ends (also after
a failure). The working copy is opened, and advanced to the committed epoch, only at the first read; an operator that
uses no state costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from firesteel.checkpoint.arranged import changes_between, write_level
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.outputs import StoredOutputs
from firesteel.checkpoint.recovery import read_at
from firesteel.checkpoint.runs import write_run
from firesteel.state.arrangements.changes import Changes
from firesteel.state.arrangements.levels import Shelf
from firesteel.state.arrangements.live import ArrangementAddress, Missing
from firesteel.state.disk.copy import Reader, open_working_store, release_working_stores
from firesteel.state.disk.root import discard_abandoned_copies, existing_work_root, work_root
from firesteel.state.live.durable import RunRef, StateAddress, StateReader, StateVersion, StoreUse
from firesteel.state.live.handed import hand_over, missed
from firesteel.state.live.handover import Changed
from firesteel.state.values.chunks import Entry


class CheckpointedState:
    """State in a checkpoint directory, with working copies on this machine's disk.

    `url` is the state directory. Working copies are next to Spark's local directories (in `SPARK_LOCAL_DIRS`, or in the
    directory for temporary files). They can be removed at any time, since they are created from the runs. The next job
    on the machine removes abandoned ones. With `shared`, other processes of the machine run the same subtasks, and each
    hands over to the others what it has changed.
    """

    def __init__(self, url: str, *, shared: bool = False) -> None:
        self._shared = shared
        self._storage = Storage.of(url)
        self.outputs = StoredOutputs(self._storage)
        discard_abandoned_copies()
        self._lineage: str | None = None
        self._readers: list[_LazyReader] = []

    def attach(self, address: StateAddress, committed: int, run: RunRef | None) -> StateReader:
        """Return a reader of the subtask's state as of epoch `committed`, whose own run is `run` (None: no changes)."""
        if address.lineage != self._lineage:  # copies of a history that the job has left
            self.close()
            self._lineage = address.lineage
        reader = _LazyReader(self._storage, address, committed, run)
        self._readers.append(reader)
        return reader

    def persist(
        self, address: StateAddress, epoch: int, attempt: str, changes: Iterable[Entry]
    ) -> RunRef | None:
        """Write the changes of an epoch as a run; return None, and write nothing, if there are none."""
        path = f"runs/{address.operator_id}/{epoch:012d}-{address.subtask:05d}-{attempt}.run"
        return write_run(
            self._storage,
            path,
            changes,
            epoch=epoch,
            operator=address.operator_id,
            subtask=address.subtask,
            first_group=address.first_group,
            last_group=address.last_group,
        )

    def changes_between(
        self, arrangement: ArrangementAddress, since: int, until: int, run: RunRef | None, shelf: Shelf
    ) -> Missing:
        """Return the changes of an arrangement after epoch `since` up to epoch `until`, whose own run is `run`."""
        return changes_between(self._storage, arrangement, since, until, run, shelf)

    def store_changes(
        self, arrangement: ArrangementAddress, epoch: int, attempt: str, changes: Changes
    ) -> RunRef | None:
        """Write the changes of an arrangement as a run; return None, and write nothing, if there are none."""
        owner, state = arrangement.owner, arrangement.state
        return write_level(
            self._storage,
            f"runs/{state}/{epoch:012d}-{owner.subtask:05d}-{attempt}.run",
            arrangement.layout,
            changes.level,
            changes.drops,
            state=state,
            epoch=epoch,
            subtask=owner.subtask,
            groups=owner.groups,
            max_parallelism=owner.max_parallelism,
        )

    def hand_over(
        self, address: StateAddress, before: StateVersion, after: StateVersion, changed: list[Changed] | None
    ) -> None:
        """Leave an epoch's changes for the caches of other processes of this machine (None: they are too large)."""
        if self._shared and changed is not None:
            hand_over(_copy_of(address), before, after, changed)

    def missed(
        self, address: StateAddress, since: StateVersion, until: StateVersion
    ) -> Sequence[Iterable[Changed]] | None:
        """Return what others changed between two versions, epoch by epoch; None if that is not known."""
        return missed(_copy_of(address), since, until)

    def shared_directory(self, address: StateAddress) -> Path | None:
        """Return where processes of this machine share arrangements of a subtask; None if they do not."""
        return _copy_of(address).with_suffix(".arranged") if self._shared else None

    def use_of(self, address: StateAddress) -> StoreUse:
        """Return how this task has used the working copy of a subtask."""
        return next((reader.use() for reader in self._readers if reader.address == address), StoreUse(0))

    def close(self) -> None:
        """Release the working copies: this process no longer reads from them."""
        self.release()
        if self._lineage is not None and (root := existing_work_root()) is not None:
            release_working_stores(root / self._lineage)
        self._lineage = None

    def release(self) -> None:
        """Release the snapshots."""
        for reader in self._readers:
            reader.close()
        self._readers.clear()


class _LazyReader:
    """Opens the working copy at the first read; `reads` counts the keys that were looked for."""

    __slots__ = ("_committed", "_reader", "_run", "_storage", "address", "reads")

    def __init__(self, storage: Storage, address: StateAddress, committed: int, run: RunRef | None) -> None:
        self._storage = storage
        self.address = address
        self.reads = 0
        self._committed = committed
        self._run = run
        self._reader: Reader | None = None

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a composite key."""
        if self._committed == 0:
            return None
        self.reads += 1
        return (self._reader or self._open()).get(key)

    def get_many(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """Return the values of the composite keys that have one."""
        if self._committed == 0:
            return {}
        self.reads += len(keys)
        return (self._reader or self._open()).get_many(keys)

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Return the entries whose key starts with `prefix`, in order."""
        if self._committed == 0:
            return iter(())
        return (self._reader or self._open()).scan(prefix, start)

    def use(self) -> StoreUse:
        return StoreUse(0) if self._reader is None else StoreUse(self.reads, *self._reader.size())

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _open(self) -> Reader:
        address = self.address
        groups = (address.first_group, address.last_group)
        store = open_working_store(_copy_of(address), address.lineage, *groups)
        self._reader = read_at(store, self._storage, address.operator_id, groups, self._committed, self._run)
        return self._reader


def _copy_of(address: StateAddress) -> Path:
    """Return the directory of a subtask's working copy."""
    name = f"{address.operator_id}-{address.first_group:05d}-{address.last_group:05d}"
    return work_root() / address.lineage / name
