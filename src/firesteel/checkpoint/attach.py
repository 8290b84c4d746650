"""How a task reaches the durable state of its subtasks: the working copy to read, runs to write.

Contract: `attach` at the start of an epoch, `persist` at its end, `release` when the task is over (also
after a failure). The working copy is opened, and brought up to the committed epoch, only when something is
read; an operator that touches no state costs nothing.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import read_at
from firesteel.checkpoint.runs import write_run
from firesteel.state.disk.copy import Reader, open_working_store, release_working_stores
from firesteel.state.disk.scratch import local_directory
from firesteel.state.live.durable import RunRef, StateAddress, StateReader
from firesteel.state.values.chunks import Entry

ABANDONED_S: Final = 3 * 86_400
_OF_ONE_APPLICATION: Final = ("blockmgr-", "executor-", "spark-")
"""How the names of directories begin that Spark makes for an application within its local ones, and removes with it."""


class CheckpointedState:
    """State in a checkpoint directory, with working copies on this machine's disk.

    `url` is the state directory. Working copies lie in the directory of which Spark's local directories are part
    (`SPARK_LOCAL_DIRS`, or the one for temporary files); they can be removed at any time, since they are made
    from the runs. Those that nobody goes on with are removed by whoever comes next on the machine.
    """

    def __init__(self, url: str) -> None:
        self._storage = Storage.of(url)
        self._root = _work_root()
        discard_abandoned_copies()
        self._readers: list[_LazyReader] = []

    def attach(self, address: StateAddress, committed: int, run: RunRef | None) -> StateReader:
        """Return a reader of the subtask's state as of epoch `committed`, to which its own run is `run` (None: no
        changes).
        """
        reader = _LazyReader(self._storage, self._root, address, committed, run)
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

    def release(self) -> None:
        """Give back the snapshots that were read from."""
        for reader in self._readers:
            reader.close()
        self._readers.clear()


class _LazyReader:
    """Opens the working copy with the first read."""

    __slots__ = ("_address", "_committed", "_reader", "_root", "_run", "_storage")

    def __init__(
        self, storage: Storage, root: Path, address: StateAddress, committed: int, run: RunRef | None
    ) -> None:
        self._storage = storage
        self._root = root
        self._address = address
        self._committed = committed
        self._run = run
        self._reader: Reader | None = None

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a composite key."""
        if self._committed == 0:
            return None
        return (self._reader or self._open()).get(key)

    def get_many(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """Return the values of those composite keys that have one."""
        if self._committed == 0:
            return {}
        return (self._reader or self._open()).get_many(keys)

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Return the entries whose key begins with `prefix`, in order."""
        if self._committed == 0:
            return iter(())
        return (self._reader or self._open()).scan(prefix, start)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _open(self) -> Reader:
        address = self._address
        groups = (address.first_group, address.last_group)
        name = f"{address.operator_id}-{groups[0]:05d}-{groups[1]:05d}"
        store = open_working_store(self._root / address.lineage / name, address.lineage, *groups)
        self._reader = read_at(store, self._storage, address.operator_id, groups, self._committed, self._run)
        return self._reader


def discard_working_copies(lineage: str) -> None:
    """Remove this machine's working copies of a history that nobody goes on with."""
    directory = _work_root() / lineage
    release_working_stores(directory)
    shutil.rmtree(directory, ignore_errors=True)


def discard_abandoned_copies() -> None:
    """Remove this machine's working copies of histories that nobody has touched for `ABANDONED_S` seconds."""
    limit = time.time() - ABANDONED_S
    for directory in _work_root().glob("*"):
        with suppress(FileNotFoundError):  # somebody else is removing it
            if max(path.stat().st_mtime for path in (directory, *directory.rglob("*"))) < limit:
                discard_working_copies(directory.name)


def _work_root() -> Path:
    """Copies outlive the application that made them: a driver that is started again finds them."""
    directory = local_directory()
    while directory.name.startswith(_OF_ONE_APPLICATION):
        directory = directory.parent
    return directory / f"firesteel-work-{os.getuid()}"
