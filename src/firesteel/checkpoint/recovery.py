"""Advances a working copy to the committed epoch.

Usually the copy lacks one run, which the driver names, and no manifest is read. A copy that lacks more (on a new
machine, of a subtask that was idle, after a change of the parallelism) reads the layers from the manifests, and applies
them one by one. From a run with other key groups too, a copy takes only its own. Every run of a layer has the same
broadcast state; a copy takes it from the run with its first key group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from firesteel.checkpoint.fetching import fetching_ahead
from firesteel.checkpoint.log import ManifestReader, fenced_error, job_in
from firesteel.checkpoint.manifest import MANIFESTS, Layer, manifest_path
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.runs import RunEntries
from firesteel.common.errors import FencedError, StateCorruptedError
from firesteel.state.disk.copy import Reader, WorkingStore
from firesteel.state.live.durable import RunRef
from firesteel.state.values.chunks import Entry


def read_at(
    store: WorkingStore,
    storage: Storage,
    operator: str,
    groups: tuple[int, int],
    committed: int,
    run: RunRef | None,
) -> Reader:
    """Catch up, and return a snapshot of exactly epoch `committed`; `catch_up` documents arguments and errors."""
    catch_up(store, storage, operator, groups, committed, run)
    reader = store.read()
    if reader.version != committed:  # a process of a newer driver was faster
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
    """Apply the missing changes up to epoch `committed` of the state of `operator` to `store`.

    `groups` are the first and last key group of the store; `run` is the subtask's own run of epoch `committed` if it is
    known. Raises StateCorruptedError if a required run or manifest is missing or damaged, FencedError if it, or the
    copy itself, belongs to a later epoch: then the job has a new driver, and retention may have removed files that this
    one needs. (A copy ahead of all epochs starts over: the history was cut.)
    """
    version = store.version
    if version > committed:
        if _has_gone_on(storage, committed):
            raise _fenced(store, version, committed)
        store.clear()
        version = 0
    if version == committed:
        return
    with not_left_behind(storage, committed):
        _apply_layers(store, storage, operator, groups, version, committed, run)


@contextmanager
def not_left_behind(storage: Storage, committed: int) -> Iterator[None]:
    """Raise FencedError instead of StateCorruptedError if epochs after `committed` exist: retention removes files."""
    try:
        yield
    except StateCorruptedError as error:
        if _has_gone_on(storage, committed):
            raise _left_behind(storage, committed) from error
        raise


def _apply_layers(
    store: WorkingStore,
    storage: Storage,
    operator: str,
    groups: tuple[int, int],
    version: int,
    committed: int,
    run: RunRef | None,
) -> None:
    if version == committed - 1 and run is not None and _is_own(run, committed, groups):
        store.apply(committed, RunEntries(storage, run, *groups), since=version)
        return
    layers = ManifestReader(storage).layers(operator, version, committed)
    with fetching_ahead(storage, runs_within(layers, groups)) as source:
        for layer in layers:
            entries = LayerEntries(source, layer, groups)
            if layer.whole:
                store.load(layer.last, entries)
            else:
                store.apply(layer.last, entries, since=version)
            version = layer.last
    store.apply(committed, (), since=version)


def runs_within(layers: Sequence[Layer], groups: tuple[int, int]) -> list[RunRef]:
    """Return the runs of layers, in order, with key groups in a range (both ends inclusive)."""
    first, last = groups
    return [
        run for layer in layers for run in layer.runs if run.first_group <= last and first <= run.last_group
    ]


class LayerEntries:
    """The entries of a layer in a range of key groups; can be iterated more than once."""

    def __init__(self, storage: Storage, layer: Layer, groups: tuple[int, int]) -> None:
        first, _ = groups
        self._parts = [
            RunEntries(storage, run, *groups, broadcast=run.first_group <= first <= run.last_group)
            for run in runs_within([layer], groups)
        ]

    def __iter__(self) -> Iterator[Entry]:
        for part in self._parts:
            yield from part

    def runs(self) -> Iterator[Iterator[pa.RecordBatch]]:
        """Yield for each run its entries, in order, as Arrow batches."""
        for part in self._parts:
            yield part.batches()


def _is_own(run: RunRef, epoch: int, groups: tuple[int, int]) -> bool:
    return run.epoch == epoch and (run.first_group, run.last_group) == groups


def _has_gone_on(storage: Storage, committed: int) -> bool:
    return bool(storage.names_after(MANIFESTS, manifest_path(committed)))


def _left_behind(storage: Storage, committed: int) -> FencedError:
    return fenced_error(
        f"has a new driver: epochs after {committed}, at which this one is, have been committed",
        job_in(storage),
    )


def _fenced(store: WorkingStore, version: int, committed: int) -> FencedError:
    return fenced_error(
        f"is at epoch {version}, while this driver is at epoch {committed}: the job has a new driver",
        f"the working copy {store.directory}",
    )
