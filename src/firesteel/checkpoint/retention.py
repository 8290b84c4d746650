"""Retention: which epochs are kept, and the removal of what no kept epoch needs.

A manifest says, in `oldest`, from which epoch on its writer keeps manifests; only what lies before the `oldest` of
a committed manifest is ever removed. An epoch is kept with everything needed to read it: the layers it names, the
runs of the epochs that are not in its layers yet, and the manifests that list those.

Removal can be stopped at any point and done again from the start, since it looks at what is there. It goes from
what refers to what is referred to: manifests, oldest first, then runs. Runs are removed if no kept manifest
names them and their file's name has an epoch that the one who removes knows to be committed: later ones are in
flight, of an epoch or of a compaction, which names its files by an epoch after the last. So a driver that is behind
removes nothing of what its successor is making.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.manifest import ManifestRuns, manifest_path, runs_of, split_runs
from firesteel.checkpoint.objects import Storage

RUNS: Final = "runs"


@dataclass(frozen=True, slots=True)
class Collected:
    """What a removal found: files removed, and their bytes."""

    files: int = 0
    bytes: int = 0


def kept_epochs(reader: ManifestReader) -> list[int]:
    """Return the epochs that a job can be started from or read at, in order."""
    epochs = reader.epochs()
    if not epochs:
        return []
    oldest = reader.read(epochs[-1]).oldest
    return [epoch for epoch in epochs if epoch >= oldest]


def collect_garbage(storage: Storage, committed: int, pinned: Iterable[str] = ()) -> Collected:
    """Remove what no epoch needs that was kept when epoch `committed`, the last that the caller knows of, was written.

    Epochs that were committed since then are left alone, and so is what they replaced: a savepoint may still be copying
    that. `pinned` runs stay: a compaction of the caller's has written them, and no manifest names them yet.
    Raises StateCorruptedError, having removed nothing, if a kept manifest is damaged: what it named is not known.
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
        file for file in storage.entries(RUNS) if file.path not in live and _epoch_of(file.path) <= committed
    ]
    storage.delete_all(file.path for file in left)
    return Collected(len(left), sum(file.size for file in left))


def _paths(listing: ManifestRuns, oldest: int) -> Iterable[str]:
    """The runs that a manifest names; of one before the `oldest` that is kept, those that later ones build on."""
    for snapshot in listing.operators.values():
        for run in snapshot.runs:
            yield run.path
    for run in runs_of(listing.layers):
        yield run.path
    if listing.epoch >= oldest:
        for run in split_runs(listing.sources):
            yield run.path


def _epoch_of(path: str) -> int:
    """Return the epoch in a run's name; a file of another kind of name is nobody's."""
    digits = path.rpartition("/")[2].partition("-")[0]
    return int(digits) if digits.isdecimal() else 0
