"""Retention: which epochs are kept, and the removal of files that no kept epoch needs.

`oldest` in a manifest is the first epoch whose manifest is kept. Only files from before the `oldest` of a committed
manifest are ever removed. An epoch is kept with everything needed to read it: its layers, the runs of the epochs that
are not in its layers yet, and the manifests that list those runs.

Removal can be stopped at any point and repeated, since it lists the existing files. References are removed before the
files they refer to: first manifests, oldest first, then runs. A run is removed if no kept manifest names it and if the
epoch in its file name is known to be committed. Later ones are in flight, of an epoch or of a compaction, which names
its files after the next epoch. So a driver that is behind never removes files of its successor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import ManifestRuns, manifest_path, runs_of, split_runs
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.outputs import OUTPUTS

RUNS: Final = "runs"


@dataclass(frozen=True, slots=True)
class Collected:
    """The result of a removal: the number of removed files, and their bytes."""

    files: int = 0
    bytes: int = 0


def kept_epochs(reader: ManifestReader) -> list[int]:
    """Return the epochs from which a job can be started or read, in order."""
    epochs = reader.epochs()
    if not epochs:
        return []
    oldest = reader.read(epochs[-1]).oldest
    return [epoch for epoch in epochs if epoch >= oldest]


def collect_garbage(storage: Storage, committed: int, pinned: Iterable[str] = ()) -> Collected:
    """Remove files that no epoch needs which was kept by epoch `committed`, the last one that the caller knows.

    That epoch is published. Epochs that were committed since then stay, and so do the files that they replaced: a
    savepoint may still be copying them. `pinned` runs stay: a compaction of the caller wrote them, and no manifest
    names them yet. Raises StateCorruptedError, and removes nothing, if a kept manifest is damaged, because its files
    are unknown.
    """
    reader = ManifestReader(storage)
    epochs = [epoch for epoch in reader.epochs() if epoch <= committed]
    if not epochs:
        return Collected()
    latest = reader.read(epochs[-1])
    kept = [epoch for epoch in epochs if epoch >= latest.oldest]
    floor = min(kept[0], reader.listing(kept[0]).compacted + 1)
    needed = reader.listings([epoch for epoch in epochs if epoch >= floor])
    live = {path for listing in needed for path in _paths(listing, kept[0])} | set(pinned)
    storage.delete_all(manifest_path(epoch) for epoch in epochs if epoch < floor)
    left = [
        file
        for directory in (RUNS, OUTPUTS)
        for file in storage.entries(directory)
        if file.path not in live and _epoch_of(file.path) <= committed
    ]
    storage.delete_all(file.path for file in left)
    return Collected(len(left), sum(file.size for file in left))


def _paths(listing: ManifestRuns, oldest: int) -> Iterable[str]:
    """Return the runs that a manifest names; for one before the `oldest` kept, only those that later ones need."""
    for snapshot in listing.operators.values():
        for run in snapshot.runs:
            yield run.path
    for run in runs_of(listing.layers):
        yield run.path
    if listing.epoch >= oldest:
        for run in split_runs(listing.sources):
            yield run.path


def _epoch_of(path: str) -> int:
    """Return the epoch in a run's name; a file with another kind of name is unused."""
    digits = path.rpartition("/")[2].partition("-")[0]
    return int(digits) if digits.isdecimal() else 0
