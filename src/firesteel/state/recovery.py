"""Bringing a working copy up to the committed epoch.

Usually it lacks one run, which the driver passes along, and no manifest is read. A copy that lacks more (on a
new machine, of a subtask that was idle, after the parallelism changed) learns from the manifests which runs
there are. They are applied epoch by epoch. Of a run that holds other key groups too, a copy takes those of its
own; broadcast state, of which every subtask of an epoch has written the same, it takes from the subtask that
held its first key group.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from firesteel.common.errors import FencedError
from firesteel.state.manifest import ManifestReader
from firesteel.state.runs import Entry, RunEntries, RunRef
from firesteel.state.storage import Storage
from firesteel.state.store import Reader, WorkingStore


def read_at(
    store: WorkingStore,
    storage: Storage,
    operator: str,
    groups: tuple[int, int],
    committed: int,
    run: RunRef | None,
) -> Reader:
    """Return a snapshot of exactly epoch `committed`, having caught up; arguments and errors: see `catch_up`."""
    catch_up(store, storage, operator, groups, committed, run)
    reader = store.read()
    if reader.version != committed:  # another process, of a newer driver, was faster
        version = reader.version
        reader.close()
        raise _fenced(store, version, committed)
    return reader


def catch_up(
    store: WorkingStore,
    storage: Storage,
    operator: str,
    groups: tuple[int, int],
    committed: int,
    run: RunRef | None,
) -> None:
    """Apply to `store` what it lacks of the state of `operator` as of epoch `committed`.

    `groups` are the first and last key group the store holds; `run` is the subtask's own run of epoch
    `committed` if it is known. Raises StateCorruptedError if a run or manifest that is needed is missing or
    damaged, FencedError if the copy is already at a later epoch that was committed. (At one that was not, the
    history has been cut: the copy starts over.)
    """
    version = store.version
    if version > committed:
        if ManifestReader(storage).committed(version):
            raise _fenced(store, version, committed)
        store.clear()
        version = 0
    if version == committed:
        return
    if version == committed - 1 and run is not None and _is_own(run, committed, groups):
        store.apply(committed, RunEntries(storage, run, *groups), since=version)
        return
    missing = ManifestReader(storage).runs(operator, *groups, version, committed)
    for epoch, runs in groupby(missing, key=lambda run: run.epoch):
        store.apply(epoch, _EpochEntries(storage, list(runs), groups), since=version)
        version = epoch
    store.apply(committed, (), since=version)


class _EpochEntries:
    """What the runs of one epoch say about a range of key groups; can be iterated more than once."""

    def __init__(self, storage: Storage, runs: list[RunRef], groups: tuple[int, int]) -> None:
        first = groups[0]
        self._parts = [
            RunEntries(storage, run, *groups, broadcast=run.first_group <= first <= run.last_group)
            for run in runs
        ]

    def __iter__(self) -> Iterator[Entry]:
        for part in self._parts:
            yield from part


def _is_own(run: RunRef, epoch: int, groups: tuple[int, int]) -> bool:
    return run.epoch == epoch and (run.first_group, run.last_group) == groups


def _fenced(store: WorkingStore, version: int, committed: int) -> FencedError:
    return FencedError(
        f"is at epoch {version}, while this driver is at epoch {committed}: the job has a new driver",
        who=f"the working copy {store.directory}",
        hint="a job is run by one driver at a time; this one ends, the other one goes on",
    )
